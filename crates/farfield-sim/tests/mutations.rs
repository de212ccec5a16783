//! Feeds damaged cases, checkpoints, tables, particles, meshes and pictures to their readers, which may return errors
//! but must not panic.

use farfield_damage::{Dice, feed, feed_bytes, feed_text, text};
use farfield_io::{Array, NamedArray, Precision, write_arrays};
use farfield_plot::{Color, Image};
use farfield_sim::case::{self, BuiltIn, Override, SCHEMA};
use farfield_sim::checkpoint::Checkpoint;
use farfield_sim::diagnostics::{Table, read_columns};
use farfield_sim::gravity::GravityModel;
use farfield_sim::run::{Control, Run, Silent};
use std::path::Path;

const ROUNDS: u64 = 1500;

/// A flow around a tetrahedron of side 1.
const FLOW: &str = "[time]\nend = 0.1\nstep = 0.05\n[flow]\nreynolds = 100.0\nstream = [1.0, 0.0, 0.0]\n\
                    [grid]\norigin = [-2.0, -2.0, -2.0]\nroots = [1, 1, 1]\nside = 5.0\nlevel = 3\n";

/// Feeds damaged files to a reader.
fn fuzz_file(name: &str, file: &str, rounds: u64, seeds: &[Vec<u8>], mut read: impl FnMut(&Path) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    feed_bytes(name, rounds, seeds, |bytes| {
        std::fs::write(&path, bytes).unwrap();
        read(&path)
    });
}

#[test]
fn damaged_cases() {
    let mut seeds: Vec<&str> = BuiltIn::ALL.iter().map(|case| case.text).collect();
    seeds.push(SCHEMA);
    feed_text("cases", ROUNDS, &seeds, |text| case::read(text, "damaged", &[]).is_ok());
}

#[test]
fn damaged_overrides() {
    let keys = [
        "time.end=2",
        "vortex.rings.0.radius=0.5",
        "size=large",
        "output.views=[]",
        "tracers.count=1e6",
    ];
    let text = BuiltIn::find("leapfrog").unwrap().text;
    feed_text("overrides", ROUNDS, &keys, |changed| {
        Override::parse(changed).is_ok_and(|change| case::read(text, "leapfrog", &[change]).is_ok())
    });
}

#[test]
fn damaged_checkpoints_with_valid_checksums() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[time]\nend = 0.02\nstep = 0.01\nscheme = \"leapfrog\"\n[output]\nviews = []\n[[gravity.plummer]]\ncount = 5\n";
    let case = case::read(text, "test", &[]).unwrap();
    let run = Run::new(case, folder.path(), farfield::tuning::MachineProfile::default()).unwrap();
    run.go(&Control::default(), &mut Silent).unwrap();
    let seed = std::fs::read(folder.path().join("checkpoints/checkpoint-000000002.ckpt")).unwrap();
    let body = seed[..seed.len() - 4].to_vec();
    let make = |dice: &mut Dice| {
        let mut bytes = farfield_damage::bytes(&body, dice);
        // Mostly with a valid checksum, because otherwise only the checksum would be tested.
        if dice.below(4) > 0 {
            bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        }
        bytes
    };
    let show = |bytes: &Vec<u8>| bytes.escape_ascii().to_string();
    feed("checkpoints", ROUNDS, make, show, |bytes| {
        Checkpoint::from_bytes(bytes).is_ok()
    });
}

#[test]
fn damaged_diagnostics() {
    let seed =
        b"step,time,dt,dt_limit,wall_seconds,energy\n0,0,0.1,fixed,0,1\n1,0.1,0.1,fixed,0.2,1\n2,0.2,0.1,end,0.3,\n";
    fuzz_file("diagnostics", "diagnostics.csv", ROUNDS / 3, &[seed.to_vec()], |path| {
        if let Ok(columns) = read_columns(path) {
            assert!(columns.iter().all(|(_, values)| values.len() == columns[0].1.len()));
        }
        Table::reopen(path, 2).is_ok()
    });
}

#[test]
fn damaged_particles_in_npz() {
    fuzz_particles("npz");
}

#[test]
fn damaged_particles_in_csv() {
    fuzz_particles("csv");
}

fn fuzz_particles(extension: &str) {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<[f64; 3]> = (0..5).map(|k| [f64::from(k), 0.5, -1.0]).collect();
    let arrays = [
        NamedArray::new("points", Array::from_rows(&rows)),
        NamedArray::new("velocity", Array::from_rows(&rows)),
        NamedArray::new("mass", Array::column(vec![1.0; 5])),
    ];
    let file = format!("bodies.{extension}");
    let seed = folder.path().join(&file);
    write_arrays(&seed, &arrays, Precision::Double).unwrap();
    let seeds = [std::fs::read(&seed).unwrap()];
    fuzz_file(
        &format!("particles in {extension}"),
        &file,
        ROUNDS / 3,
        &seeds,
        |path| {
            let text = format!(
                "[time]\nend = 1.0\nstep = 0.1\nscheme = \"leapfrog\"\n[[gravity.particles]]\nfile = {:?}\n",
                path.display().to_string()
            );
            let case = case::read(&text, "test", &[]);
            case.is_ok_and(|case| GravityModel::new(&case, farfield::tuning::MachineProfile::default()).is_ok())
        },
    );
}

/// A tetrahedron: corners and outward faces.
const CORNERS: [[u8; 3]; 4] = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

#[test]
fn damaged_stl_meshes() {
    let (mut text, mut binary) = ("solid t\n".to_owned(), vec![b' '; 80]);
    binary.extend(4u32.to_le_bytes());
    for face in FACES {
        text.push_str("facet normal 0 0 0\nouter loop\n");
        binary.extend([0; 12]);
        for [x, y, z] in face.map(|corner| CORNERS[corner]) {
            text.push_str(&format!("vertex {x} {y} {z}\n"));
            binary.extend([x, y, z].map(|c| f32::from(c).to_le_bytes()).concat());
        }
        text.push_str("endloop\nendfacet\n");
        binary.extend([0, 0]);
    }
    text.push_str("endsolid t\n");
    fuzz_mesh("stl", &[text.into_bytes(), binary]);
}

#[test]
fn damaged_obj_meshes() {
    let corners = CORNERS.map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    let faces = FACES.map(|face| format!("f {} {} {}\n", face[0] + 1, face[1] + 1, face[2] + 1));
    fuzz_mesh("obj", &[(corners.concat() + &faces.concat()).into_bytes()]);
}

fn fuzz_mesh(extension: &str, seeds: &[Vec<u8>]) {
    let mut read = 0;
    // Few rounds, because accepted meshes are also measured, which takes time.
    fuzz_file(extension, &format!("mesh.{extension}"), ROUNDS / 15, seeds, |path| {
        let file = path.display().to_string();
        let text = format!("{FLOW}[[body]]\nshape = \"mesh\"\nfile = {file:?}\n");
        let accepted = case::read(&text, "test", &[]).is_ok();
        read += u64::from(accepted);
        accepted
    });
    assert!(read > 0, "{extension}: no mesh was accepted");
}

#[test]
fn damaged_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed.png");
    let (dark, light) = (Image::new(9, 7, Color::hex(0)), Image::new(5, 7, Color::WHITE));
    dark.beside(&light, 2).write_png(&path).unwrap();
    let seeds = [std::fs::read(&path).unwrap()];
    fuzz_file("png", "frame.png", ROUNDS / 3, &seeds, |path| {
        Image::read_png(path).is_ok()
    });
}

#[test]
fn some_mutated_texts_are_accepted() {
    // Mutations that always broke the syntax would test only the parser.
    let mut dice = Dice::new(5);
    let seed = BuiltIn::find("kepler").unwrap().text;
    let read = (0..300).filter(|_| case::read(&text(seed, &mut dice), "damaged", &[]).is_ok());
    assert!(read.count() > 30);
}
