//! Runs that start from arrays in files.

use farfield::tuning::MachineProfile;
use farfield_io::{Array, NamedArray, Precision, write_arrays};
use farfield_sim::case::{self, Case};
use farfield_sim::run::{Control, Run, Silent};
use std::path::Path;

const RING: &str = "[time]\nend = 0.2\nstep = 0.05\n[sum]\ntolerance = 1e-9\n[output]\nviews = []\ncheckpoint_every = 2\n\
                    [vortex]\naround = 48\nlayers = 1\n[[vortex.rings]]\nradius = 1.0\ncore = 0.3\n[tracers]\ncount = 30\n";

fn read(text: &str) -> Case {
    case::read(text, "test", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn run(case: Case, folder: &Path) -> Result<Vec<f64>, String> {
    let run = Run::new(case, folder, MachineProfile::default()).map_err(|error| error.to_string())?;
    let outcome = run
        .go(&Control::default(), &mut Silent)
        .map_err(|error| error.to_string())?;
    Ok(outcome.last)
}

#[test]
fn a_field_file_starts_a_new_run() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("first");
    run(read(RING), &first).unwrap();
    // From the end of the first run: elements from npz or vtp, tracers from npz.
    let mut impulses = Vec::new();
    for kind in ["npz", "vtp"] {
        let text = format!(
            "[time]\nend = 0.1\nstep = 0.05\n[output]\nviews = []\n[[vortex.particles]]\nfile = {:?}\n\
             [[tracers.particles]]\nfile = {:?}\n",
            first.join(format!("fields/elements-000004.{kind}")),
            first.join("fields/tracers-000004.npz")
        );
        let second = folder.path().join(kind);
        let last = run(read(&text), &second).unwrap();
        impulses.push(last[6]);
        // The run has its own copies of the files, so its folder can be moved and resumed.
        let moved = folder.path().join(format!("moved-{kind}"));
        std::fs::rename(&second, &moved).unwrap();
        let longer = |mut case: Case| {
            case.time.end = 0.2;
            Ok(case)
        };
        let (resumed, _) = Run::resume(&moved, longer).unwrap();
        assert!(resumed.go(&Control::default(), &mut Silent).unwrap().finished);
    }
    // impulse_z of a ring of radius 1 and circulation 1 is about pi; vtp files have seven digits.
    assert!((impulses[0] - std::f64::consts::PI).abs() < 0.2, "{impulses:?}");
    assert!((impulses[0] - impulses[1]).abs() < 1e-4, "{impulses:?}");
}

#[test]
fn elements_from_a_table_are_added_to_rings() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("two.csv");
    std::fs::write(&table, "x,y,z,gx,gy,gz\n0,0,3,0,0,0.1\n0.1,0,3,0,0,-0.1\n").unwrap();
    let text = format!("{RING}[[vortex.particles]]\nfile = {:?}\ncore = 0.2\n", table);
    let out = folder.path().join("out");
    let last = run(read(&text), &out).unwrap();
    assert_eq!(last[0], 48.0 * 7.0 + 2.0);
    assert!(out.join("input/vortex-1.csv").exists());
    let without = text.replace("core = 0.2\n", "");
    let error = run(read(&without), &folder.path().join("no")).unwrap_err();
    assert!(
        error.contains("core_size") && error.contains("vortex.particles.0.core"),
        "{error}"
    );
}

#[test]
fn bodies_are_read_from_arrays_and_errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bodies.npz");
    let write = |mass: Vec<f64>| {
        let arrays = [
            NamedArray::new("points", Array::from_rows(&[[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])),
            NamedArray::new("velocity", Array::from_rows(&[[0.0, 0.5, 0.0], [0.0, -0.5, 0.0]])),
            NamedArray::new("mass", Array::column(mass)),
        ];
        write_arrays(&file, &arrays, Precision::Double).unwrap();
    };
    let text = format!(
        "[time]\nend = 0.1\nstep = 0.01\nscheme = \"leapfrog\"\n[output]\nviews = []\n[[gravity.particles]]\nfile = {file:?}\n"
    );
    write(vec![1.0, 1.0]);
    let last = run(read(&text), &folder.path().join("two")).unwrap();
    // energy: 2 x 0.125 - 0.5
    assert!((last[0] + 0.25).abs() < 1e-6, "{last:?}");
    let fails = |says: &[&str]| {
        let error = run(read(&text), &folder.path().join("fails")).unwrap_err();
        assert!(says.iter().all(|part| error.contains(part)), "{error}");
        assert!(!folder.path().join("fails").exists(), "no folder is created");
    };
    write(vec![1.0, f64::NAN]);
    fails(&["bodies.npz", "mass[1]", "NaN"]);
    write(vec![1.0]);
    fails(&["mass", "1 rows", "2 rows"]);
    std::fs::remove_file(&file).unwrap();
    fails(&["gravity.particles.0.file", "bodies.npz"]);
    write_arrays(
        &file,
        &[NamedArray::new("mass", Array::column(vec![1.0]))],
        Precision::Double,
    )
    .unwrap();
    fails(&["no array `points`", "mass"]);
}
