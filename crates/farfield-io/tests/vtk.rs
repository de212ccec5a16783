//! Reads VTK files back: with a strict reader in this file, and with PyVista if it is available.
//!
//! Set `FARFIELD_PYVISTA` to a Python interpreter that can import pyvista to run the test with
//! PyVista; without it the test prints that it is skipped and passes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use farfield_io::Precision::{Double, Single};
use farfield_io::vtk::{
    Attributes, CellBlocks, CellShape, Compression, Encoding, Hexahedra, PointSet, PvdSeries, RegularGrid, read_pvd,
    read_vtp, read_vtu, write_blocks, write_pvd, write_vti, write_vtp, write_vtu,
};
use farfield_io::{Error, Precision, Rows};
use proptest::prelude::*;

/// The parsed content of a VTK file.
struct VtkFile {
    data_set: String,
    attributes: BTreeMap<String, String>,
    piece: BTreeMap<String, String>,
    /// Arrays by section and name: the type, the number of components and the values.
    arrays: BTreeMap<(String, String), (String, usize, Vec<f64>)>,
}

impl VtkFile {
    /// Reads a file and panics on any deviation from the expected bytes.
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let marker = b"  <AppendedData encoding=\"raw\">\n_";
        let split = bytes.windows(marker.len()).position(|window| window == marker).unwrap();
        let head = std::str::from_utf8(&bytes[..split]).unwrap();
        let data = bytes[split + marker.len()..]
            .strip_suffix(b"\n  </AppendedData>\n</VTKFile>\n")
            .unwrap();

        let mut lines = head.lines().map(str::trim);
        assert_eq!(lines.next(), Some("<?xml version=\"1.0\"?>"));
        let (name, file) = element(lines.next().unwrap());
        assert_eq!(
            (name.as_str(), &*file["byte_order"], &*file["header_type"]),
            ("VTKFile", "LittleEndian", "UInt64")
        );
        let compressed = match file.get("compressor").map(String::as_str) {
            None => false,
            Some("vtkZLibDataCompressor") => true,
            Some(other) => panic!("{other}"),
        };
        let (data_set, attributes) = element(lines.next().unwrap());
        assert_eq!(file["type"], data_set);
        let (name, piece) = element(lines.next().unwrap());
        assert_eq!(name, "Piece");

        let (mut arrays, mut section, mut expected_offset) = (BTreeMap::new(), None, 0);
        for line in lines.by_ref() {
            if line == "</Piece>" {
                break;
            }
            if let Some(name) = section.clone() {
                if line == format!("</{name}>") {
                    section = None;
                    continue;
                }
                let (tag, array) = element(line.strip_suffix("/>").unwrap());
                assert_eq!((tag.as_str(), &*array["format"]), ("DataArray", "appended"));
                let offset: usize = array["offset"].parse().unwrap();
                assert_eq!(offset, expected_offset, "arrays follow each other without gaps");
                let (raw, used) = if compressed {
                    inflated(&data[offset..])
                } else {
                    counted(&data[offset..])
                };
                expected_offset += used;
                let numbers = numbers(&array["type"], &raw);
                let components = array["NumberOfComponents"].parse().unwrap();
                let old = arrays.insert(
                    (name, array["Name"].clone()),
                    (array["type"].clone(), components, numbers),
                );
                assert!(old.is_none(), "two arrays with the same name");
            } else {
                section = Some(element(line).0);
            }
        }
        assert_eq!(lines.collect::<Vec<_>>(), [format!("</{data_set}>")]);
        assert_eq!(expected_offset, data.len(), "nothing after the last array");
        Self {
            data_set,
            attributes,
            piece,
            arrays,
        }
    }

    fn array(&self, section: &str, name: &str) -> &(String, usize, Vec<f64>) {
        &self.arrays[&(section.to_owned(), name.to_owned())]
    }
}

/// The name and the attributes of `<Name a="b" c="d">`.
fn element(line: &str) -> (String, BTreeMap<String, String>) {
    let inner = line.strip_prefix('<').unwrap().trim_end_matches('>');
    let (name, mut rest) = inner.split_once(' ').unwrap_or((inner, ""));
    let mut attributes = BTreeMap::new();
    while !rest.is_empty() {
        let (key, after) = rest.split_once("=\"").unwrap();
        let (value, after) = after.split_once('"').unwrap();
        let replaced = [
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
            ("&apos;", "'"),
            ("&#10;", "\n"),
            ("&amp;", "&"),
        ];
        let value = replaced
            .iter()
            .fold(value.to_owned(), |text, (from, to)| text.replace(from, to));
        assert!(attributes.insert(key.to_owned(), value).is_none());
        rest = after.trim_start();
    }
    (name.to_owned(), attributes)
}

fn word(bytes: &[u8], index: usize) -> usize {
    u64::from_le_bytes(bytes[8 * index..8 * index + 8].try_into().unwrap()) as usize
}

/// The bytes of an array, and the number of bytes it takes in the file.
fn counted(data: &[u8]) -> (Vec<u8>, usize) {
    let length = word(data, 0);
    (data[8..8 + length].to_vec(), 8 + length)
}

fn inflated(data: &[u8]) -> (Vec<u8>, usize) {
    let (blocks, whole, last) = (word(data, 0), word(data, 1), word(data, 2));
    let (mut at, mut raw) = (24 + 8 * blocks, Vec::new());
    for block in 0..blocks {
        let size = word(data, 3 + block);
        let before = raw.len();
        flate2::read::ZlibDecoder::new(&data[at..at + size])
            .read_to_end(&mut raw)
            .unwrap();
        let expected = if block + 1 == blocks && last > 0 { last } else { whole };
        assert_eq!(raw.len() - before, expected);
        at += size;
    }
    (raw, at)
}

fn numbers(kind: &str, raw: &[u8]) -> Vec<f64> {
    fn each<const N: usize>(raw: &[u8], number: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        assert_eq!(raw.len() % N, 0);
        raw.chunks_exact(N)
            .map(|bytes| number(bytes.try_into().unwrap()))
            .collect()
    }
    match kind {
        "Float32" => each(raw, |b| f32::from_le_bytes(b).into()),
        "Float64" => each(raw, f64::from_le_bytes),
        "Int64" => each(raw, |b| i64::from_le_bytes(b) as f64),
        "UInt8" => each(raw, |[b]: [u8; 1]| b.into()),
        _ => panic!("{kind}"),
    }
}

fn encodings() -> impl Iterator<Item = Encoding> {
    let with = |precision: Precision| {
        [Compression::None, Compression::Zlib].map(|compression| Encoding { precision, compression })
    };
    [Single, Double].into_iter().flat_map(with)
}

fn rounded(values: &[f64], precision: Precision) -> Vec<u64> {
    let round = |&v: &f64| if precision == Single { f64::from(v as f32) } else { v };
    values.iter().map(round).map(f64::to_bits).collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn count_up(count: usize, step: usize) -> Vec<f64> {
    (1..=count).map(|i| (i * step) as f64).collect()
}

#[test]
fn points_read_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tracers.vtp");
    // Enough points for several compressed blocks.
    let points: Vec<[f64; 3]> = (0..20_000)
        .map(f64::from)
        .map(|i| [i.sin(), i.cos() * 1e3, -i / 7.0])
        .collect();
    let mut speed: Vec<f64> = points.iter().map(|p| p[0] * p[1]).collect();
    speed[7] = f64::NAN;
    speed[8] = f64::NEG_INFINITY;
    let set = PointSet {
        points: &points,
        scalars: vec![("speed", &speed), ("a < b & \"c\"", &speed)],
        vectors: vec![("velocity", &points)],
    };
    for encoding in encodings() {
        write_vtp(&path, &set, encoding).unwrap();
        let file = VtkFile::read(&path);
        assert_eq!(file.data_set, "PolyData");
        assert_eq!(
            (&*file.piece["NumberOfPoints"], &*file.piece["NumberOfVerts"]),
            ("20000", "20000")
        );
        let float = if encoding.precision == Single {
            "Float32"
        } else {
            "Float64"
        };
        let expect = |section: &str, name: &str, components: usize, values: &[f64]| {
            let (kind, found, stored) = file.array(section, name);
            assert_eq!((kind.as_str(), *found), (float, components), "{name}");
            assert!(bits(stored) == rounded(values, encoding.precision), "{name}");
        };
        expect("Points", "Points", 3, points.as_flattened());
        expect("PointData", "speed", 1, &speed);
        expect("PointData", "a < b & \"c\"", 1, &speed);
        expect("PointData", "velocity", 3, points.as_flattened());
        let ends = count_up(points.len(), 1);
        let corners: Vec<f64> = ends.iter().map(|i| i - 1.0).collect();
        assert_eq!(file.array("Verts", "connectivity").2, corners);
        assert_eq!(file.array("Verts", "offsets").2, ends);
    }
}

#[test]
fn a_file_without_points_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nothing.vtp");
    for encoding in encodings() {
        let set = PointSet {
            scalars: vec![("mass", &[])],
            ..PointSet::default()
        };
        write_vtp(&path, &set, encoding).unwrap();
        let file = VtkFile::read(&path);
        assert_eq!(file.piece["NumberOfPoints"], "0");
        assert!(file.arrays.values().all(|(_, _, numbers)| numbers.is_empty()));
    }
}

fn grid_fields() -> (Vec<f64>, Vec<[f64; 3]>) {
    let points = (0..4 * 3 * 2).map(f64::from).collect();
    let cells = (0..3 * 2).map(f64::from).map(|i| [i, -i, 0.5]).collect();
    (points, cells)
}

fn grid<'a>(points: &'a [f64], cells: &'a [[f64; 3]]) -> RegularGrid<'a> {
    RegularGrid {
        origin: [-1.0, 0.25, 1e-3],
        spacing: [0.5, 0.1, 2.0],
        points: [4, 3, 2],
        point_data: Attributes {
            scalars: vec![("potential", points)],
            ..Attributes::default()
        },
        cell_data: Attributes {
            vectors: vec![("vorticity", cells)],
            ..Attributes::default()
        },
    }
}

#[test]
fn regular_grids_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("field.vti");
    let (points, cells) = grid_fields();
    for encoding in encodings() {
        write_vti(&path, &grid(&points, &cells), encoding).unwrap();
        let file = VtkFile::read(&path);
        assert_eq!(file.data_set, "ImageData");
        assert_eq!(file.attributes["WholeExtent"], "0 3 0 2 0 1");
        assert_eq!(file.piece["Extent"], "0 3 0 2 0 1");
        assert_eq!(
            (&*file.attributes["Origin"], &*file.attributes["Spacing"]),
            ("-1 0.25 0.001", "0.5 0.1 2")
        );
        assert_eq!(file.array("PointData", "potential").2, points);
        assert_eq!(file.array("CellData", "vorticity").2, cells.as_flattened());
    }
}

/// Two boxes side by side.
const CORNERS: [[f64; 3]; 12] = {
    let mut corners = [[0.0; 3]; 12];
    let mut i = 0;
    while i < 12 {
        corners[i] = [(i % 3) as f64, (i / 3 % 2) as f64, (i / 6) as f64];
        i += 1;
    }
    corners
};
const VOXELS: [[usize; 8]; 2] = [[0, 1, 3, 4, 6, 7, 9, 10], [1, 2, 4, 5, 7, 8, 10, 11]];
const HEXAHEDRA: [[usize; 8]; 2] = [[0, 1, 4, 3, 6, 7, 10, 9], [1, 2, 5, 4, 7, 8, 11, 10]];

fn boxes<'a>(shape: CellShape, cells: &'a [[usize; 8]], heights: &'a [f64]) -> Hexahedra<'a> {
    Hexahedra {
        points: &CORNERS,
        shape,
        cells,
        point_data: Attributes {
            scalars: vec![("height", heights)],
            vectors: vec![("place", &CORNERS)],
            ..Attributes::default()
        },
        cell_data: Attributes {
            scalars: vec![("level", &[3.0, 4.0])],
            ..Attributes::default()
        },
    }
}

fn heights() -> Vec<f64> {
    CORNERS.iter().map(|corner| corner[2]).collect()
}

#[test]
fn cells_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("blocks.vtu");
    let heights = heights();
    for (shape, cells, code) in [
        (CellShape::Voxel, &VOXELS, 11.0),
        (CellShape::Hexahedron, &HEXAHEDRA, 12.0),
    ] {
        for encoding in encodings() {
            write_vtu(&path, &boxes(shape, cells, &heights), encoding).unwrap();
            let file = VtkFile::read(&path);
            assert_eq!(file.data_set, "UnstructuredGrid");
            assert_eq!(
                (&*file.piece["NumberOfPoints"], &*file.piece["NumberOfCells"]),
                ("12", "2")
            );
            let corners: Vec<f64> = cells.as_flattened().iter().map(|&c| c as f64).collect();
            assert_eq!(file.array("Cells", "connectivity").2, corners);
            assert_eq!(file.array("Cells", "offsets").2, [8.0, 16.0]);
            assert_eq!(file.array("Cells", "types").2, [code; 2]);
            assert_eq!(file.array("Points", "Points").2, CORNERS.as_flattened());
            assert_eq!(file.array("PointData", "height").2, heights);
            assert_eq!(file.array("CellData", "level").2, [3.0, 4.0]);
            // The crate's own reader agrees.
            let mesh = read_vtu(&path).unwrap();
            let points = mesh.points.names().collect::<Vec<_>>();
            assert_eq!(points, ["height", "place", "points"]);
            assert_eq!(mesh.points.get("points").unwrap().values, CORNERS.as_flattened());
            assert_eq!(mesh.points.get("height").unwrap().values, heights);
            assert_eq!(mesh.cells.names().collect::<Vec<_>>(), ["level"]);
            assert_eq!(mesh.cells.get("level").unwrap().values, [3.0, 4.0]);
            assert!(
                read_vtp(&path)
                    .unwrap_err()
                    .to_string()
                    .contains("UnstructuredGrid, not PolyData")
            );
        }
    }
}

#[test]
fn invalid_input_is_rejected_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.vtk");
    let points = [[0.0; 3]; 2];
    let ends_with = |outcome: Result<(), Error>, end: &str| {
        let message = outcome.unwrap_err().to_string();
        assert_eq!(message, format!("{}: {end}", path.display()));
        assert!(!path.exists());
    };
    let set = |scalars| PointSet {
        points: &points,
        scalars,
        vectors: vec![],
    };
    ends_with(
        write_vtp(&path, &set(vec![("mass", &[1.0])]), Double),
        "2 rows in points but 1 in mass",
    );
    ends_with(
        write_vtp(&path, &set(vec![("m", &[1.0, 2.0]), ("m", &[1.0, 2.0])]), Double),
        "cannot write an array named \"m\": the name is used twice",
    );
    ends_with(
        write_vtp(&path, &set(vec![("", &[1.0, 2.0])]), Double),
        "cannot write an array named \"\": a name must have at least one character",
    );
    ends_with(
        write_vtp(&path, &set(vec![("a\u{1}", &[1.0, 2.0])]), Double),
        "cannot write an array named \"a\\u{1}\": XML cannot hold control characters",
    );
    let (values, cells) = grid_fields();
    let flat = RegularGrid {
        points: [4, 0, 2],
        ..grid(&values, &cells)
    };
    ends_with(
        write_vti(&path, &flat, Double),
        "cannot write the grid: expected at least one point along each axis, found [4, 0, 2] points",
    );
    let narrow = RegularGrid {
        spacing: [0.1, 0.0, 1.0],
        ..grid(&values, &cells)
    };
    ends_with(
        write_vti(&path, &narrow, Double),
        "cannot write the grid: expected a positive spacing, found spacing [0.1, 0.0, 1.0]",
    );
    ends_with(
        write_vti(&path, &grid(&values, &cells[1..]), Double),
        "6 rows in the grid's cells but 5 in vorticity",
    );
    let heights = heights();
    let broken = [[0, 1, 3, 4, 6, 7, 9, 12]; 2];
    ends_with(
        write_vtu(&path, &boxes(CellShape::Voxel, &broken, &heights), Double),
        "cannot write the grid: expected corners below 12, the number of points, found cell 0 with corners [0, 1, 3, 4, 6, 7, 9, 12]",
    );
    let missing = folder.path().join("missing").join("a.vtp");
    assert!(matches!(
        write_vtp(&missing, &set(vec![]), Single),
        Err(Error::NoFolder { .. })
    ));
}

#[test]
fn a_series_grows_and_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.pvd");
    let mut series = PvdSeries::create(&path).unwrap();
    assert_eq!(read_pvd(&path).unwrap(), []);
    for step in 0..5 {
        series
            .push(0.1 * f64::from(step), format!("a & <b> {step}.vtp"))
            .unwrap();
        assert_eq!(read_pvd(&path).unwrap(), series.files());
    }
    assert!(matches!(series.push(f64::NAN, "x.vtp"), Err(Error::BadSeries { .. })));
    assert!(matches!(series.push(1.0, ""), Err(Error::BadName { .. })));
    assert_eq!(series.files().len(), 5, "rejected files are not added");

    let mut resumed = PvdSeries::resume(&path, 0.2).unwrap();
    assert_eq!(resumed.files(), &series.files()[..3]);
    resumed.push(0.3, "again.vtp").unwrap();
    assert_eq!(read_pvd(&path).unwrap().len(), 4);
    let fresh = PvdSeries::resume(folder.path().join("new.pvd"), 1.0).unwrap();
    assert!(fresh.files().is_empty());

    fs::write(&path, "<Collection><DataSet timestep=\"x\" file=\"a\"/></Collection>").unwrap();
    let message = read_pvd(&path).unwrap_err().to_string();
    assert!(message.ends_with("entry 1 lacks a timestep or a file"), "{message}");
    fs::write(&path, "<VTKFile>").unwrap();
    assert!(matches!(read_pvd(&path), Err(Error::BadSeries { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_times_and_names_of_a_series_read_back(files in prop::collection::vec((-1e300..1e300_f64, "[ -~äω\n\t]{1,12}"), 0..20)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.pvd");
        write_pvd(&path, &files).unwrap();
        prop_assert_eq!(read_pvd(&path).unwrap(), files);
    }
}

/// Opens every kind of file with PyVista and compares the content.
const SCRIPT: &str = r#"
import sys, pathlib
import numpy as np, pyvista as pv
folder = pathlib.Path(sys.argv[1])
for tag in ("single-none", "single-zlib", "double-none", "double-zlib"):
    p = pv.read(folder / f"{tag}.vtp")
    assert p.n_points == 5000 and p.n_verts == 5000, p
    i = np.arange(5000.0)
    expected = np.stack([np.sin(i), np.cos(i), i], axis=1)
    tolerance = 1e-6 if tag.startswith("single") else 0
    kind = np.float32 if tag.startswith("single") else np.float64
    assert p.points.dtype == kind and p["speed"].dtype == kind
    assert np.allclose(p.points, expected, rtol=tolerance, atol=tolerance if tolerance else 1e-15)
    assert np.isnan(p["speed"][3]) and np.allclose(p["speed"][4:], 2 * i[4:], rtol=1e-6)
    assert p["a < b & c"].shape == (5000,) and np.allclose(p["velocity"], expected, rtol=1e-6, atol=1e-6)
    g = pv.read(folder / f"{tag}.vti")
    assert g.dimensions == (4, 3, 2) and np.allclose(g.origin, (-1, 0.25, 1e-3)) and np.allclose(g.spacing, (0.5, 0.1, 2.0))
    assert np.array_equal(g.point_data["potential"], np.arange(24.0))
    assert np.array_equal(g.cell_data["vorticity"][:, 1], -np.arange(6.0))
    for kind, code in (("voxel", 11), ("hexahedron", 12)):
        u = pv.read(folder / f"{kind}-{tag}.vtu")
        assert u.n_cells == 2 and list(u.celltypes) == [code, code]
        assert np.allclose(u.compute_cell_sizes()["Volume"], 1.0)
        assert np.array_equal(u.point_data["height"], u.points[:, 2])
        assert np.array_equal(u.point_data["place"], u.points)
        assert np.array_equal(u.cell_data["level"], [3.0, 4.0])
reader = pv.get_reader(folder / "run.pvd")
assert np.allclose(reader.time_values, [0.0, 0.5, 1.0, 1.5])
for value in reader.time_values:
    reader.set_active_time_value(value)
    assert reader.read()[0].n_points == 5000
print("pyvista", pv.__version__, "read everything")
"#;

#[test]
fn pyvista_reads_every_kind_of_file() {
    let Some(python) = std::env::var_os("FARFIELD_PYVISTA") else {
        eprintln!("skipped: set FARFIELD_PYVISTA to a Python interpreter with pyvista");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: String| -> PathBuf { folder.path().join(name) };
    let points: Vec<[f64; 3]> = (0..5000).map(f64::from).map(|i| [i.sin(), i.cos(), i]).collect();
    let mut speed: Vec<f64> = (0..5000).map(|i| 2.0 * f64::from(i)).collect();
    speed[3] = f64::NAN;
    let set = PointSet {
        points: &points,
        scalars: vec![("speed", &speed), ("a < b & c", &speed)],
        vectors: vec![("velocity", &points)],
    };
    let (values, cells) = grid_fields();
    let heights = heights();
    let mut series = PvdSeries::create(file("run.pvd".to_owned())).unwrap();
    for (step, encoding) in encodings().enumerate() {
        let precision = if encoding.precision == Single {
            "single"
        } else {
            "double"
        };
        let compression = if encoding.compression == Compression::None {
            "none"
        } else {
            "zlib"
        };
        let tag = format!("{precision}-{compression}");
        write_vtp(file(format!("{tag}.vtp")), &set, encoding).unwrap();
        write_vti(file(format!("{tag}.vti")), &grid(&values, &cells), encoding).unwrap();
        let voxels = boxes(CellShape::Voxel, &VOXELS, &heights);
        write_vtu(file(format!("voxel-{tag}.vtu")), &voxels, encoding).unwrap();
        let hexahedra = boxes(CellShape::Hexahedron, &HEXAHEDRA, &heights);
        write_vtu(file(format!("hexahedron-{tag}.vtu")), &hexahedra, encoding).unwrap();
        series.push(0.5 * step as f64, format!("{tag}.vtp")).unwrap();
    }
    let output = Command::new(python)
        .arg("-c")
        .arg(SCRIPT)
        .arg(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    eprintln!("{said}");
}

#[test]
fn blocks_computed_while_written_match_blocks_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (made, stored) = (folder.path().join("made.vtu"), folder.path().join("stored.vtu"));
    let blocks: Vec<([f64; 3], f64)> = (0..40)
        .map(|k| ([f64::from(k), 0.5, -1.0], 1.0 / f64::from(k + 1)))
        .collect();
    let side = 5;
    let value = |cell: usize, component: usize| (3 * cell + component) as f64;
    let vectors = |cells: std::ops::Range<usize>, out: &mut Vec<f64>| {
        out.extend(cells.flat_map(|cell| [0, 1, 2].map(|c| value(cell, c))));
    };
    let count = blocks.len() * side * side * side;
    assert!(count > Rows::PIECE, "several pieces");
    let lazy = CellBlocks {
        side,
        blocks: &blocks,
        cell_data: Attributes {
            made: vec![("field", Rows::made(count, 3, &vectors))],
            ..Attributes::default()
        },
    };
    let (mut points, mut cells) = (Vec::new(), Vec::new());
    for (corner, h) in &blocks {
        let first = points.len();
        for (z, y, x) in triples(side + 1) {
            let at = [x, y, z];
            points.push([0, 1, 2].map(|a| corner[a] + at[a] as f64 * h));
        }
        for (z, y, x) in triples(side) {
            let corner = |c: usize| (c / 4 + z) * (side + 1) * (side + 1) + (c / 2 % 2 + y) * (side + 1) + c % 2 + x;
            cells.push([0, 1, 2, 3, 4, 5, 6, 7].map(|c| first + corner(c)));
        }
    }
    let field: Vec<[f64; 3]> = (0..count).map(|cell| [0, 1, 2].map(|c| value(cell, c))).collect();
    let eager = Hexahedra {
        points: &points,
        cells: &cells,
        cell_data: Attributes {
            vectors: vec![("field", &field)],
            ..Attributes::default()
        },
        ..Hexahedra::default()
    };
    for encoding in encodings() {
        write_blocks(&made, &lazy, encoding).unwrap();
        write_vtu(&stored, &eager, encoding).unwrap();
        assert!(
            std::fs::read(&made).unwrap() == std::fs::read(&stored).unwrap(),
            "{encoding:?}"
        );
    }
    // Too few values are an error, not a damaged file.
    let short = |_: std::ops::Range<usize>, out: &mut Vec<f64>| out.push(1.0);
    let broken = CellBlocks {
        cell_data: Attributes {
            made: vec![("field", Rows::made(count, 3, &short))],
            ..Attributes::default()
        },
        ..lazy.clone()
    };
    let other = folder.path().join("broken.vtu");
    assert!(write_blocks(&other, &broken, Precision::Single).is_err());
    assert!(!other.exists());
}

fn triples(count: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..count * count * count).map(move |k| (k / count / count, k / count % count, k % count))
}
