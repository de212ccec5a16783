//! Feeds damaged files to every reader: it may accept or reject them; it must not panic or allocate memory that the
//! file cannot fill.

use farfield_damage::feed_bytes;
use farfield_io::vtk::{
    Attributes, Compression, Encoding, Hexahedra, PointSet, PvdSeries, read_pvd, read_vtp, read_vtu, write_vtp,
    write_vtu,
};
use farfield_io::{
    Array, Error, NamedArray, Precision, read_points, read_points_dim, read_strengths, read_table, read_targets,
    write_arrays,
};
use std::path::Path;

/// Feeds mutations of `seeds` to a reader of files.
fn fuzz(extension: &str, seeds: &[Vec<u8>], mut read: impl FnMut(&Path) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("damaged.{extension}"));
    feed_bytes(extension, 600, seeds, |bytes| {
        std::fs::write(&path, bytes).unwrap();
        read(&path)
    });
}

fn arrays() -> Vec<NamedArray> {
    let points: Vec<[f64; 3]> = (0..7).map(|k| [f64::from(k), 0.5, -1.0 / f64::from(k + 1)]).collect();
    vec![
        NamedArray::new("points", Array::from_rows(&points)),
        NamedArray::new("charges", Array::column(points.iter().map(|p| p[0]).collect())),
    ]
}

fn written(extension: &str) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("seed.{extension}"));
    [Precision::Single, Precision::Double]
        .map(|precision| {
            write_arrays(&path, &arrays(), precision).unwrap();
            std::fs::read(&path).unwrap()
        })
        .to_vec()
}

/// Calls all readers of points and tables; returns whether the table was accepted.
fn read_all(path: &Path) -> bool {
    let table = read_table(path).is_ok();
    let _ = (
        read_points(path).is_ok(),
        read_points_dim::<2>(path).is_ok(),
        read_targets(path).is_ok(),
        read_strengths(path).is_ok(),
    );
    table
}

#[test]
fn damaged_npy_files_do_not_panic() {
    fuzz("npy", &written("npy"), read_all);
}

#[test]
fn damaged_npz_files_do_not_panic() {
    fuzz("npz", &written("npz"), read_all);
}

#[test]
fn damaged_csv_files_do_not_panic() {
    fuzz("csv", &written("csv"), read_all);
}

/// The bytes of a file written uncompressed and compressed.
fn in_each_encoding(path: &Path, write: impl Fn(Encoding) -> Result<(), Error>) -> [Vec<u8>; 2] {
    [Compression::None, Compression::Zlib].map(|compression| {
        let precision = Precision::Double;
        write(Encoding { precision, compression }).unwrap();
        std::fs::read(path).unwrap()
    })
}

#[test]
fn damaged_vtp_files_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed.vtp");
    let points: Vec<[f64; 3]> = (0..9).map(|k| [f64::from(k), 1.0, 2.0]).collect();
    let set = PointSet {
        points: &points,
        scalars: vec![("core_size", &[0.5; 9])],
        vectors: vec![("strength", &points)],
    };
    let seeds = in_each_encoding(&path, |encoding| write_vtp(&path, &set, encoding));
    fuzz("vtp", &seeds, |path| read_vtp(path).is_ok());
}

#[test]
fn damaged_vtu_files_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed.vtu");
    let corners: Vec<[f64; 3]> = (0..8).map(|k| [0, 1, 2].map(|axis| f64::from(k >> axis & 1))).collect();
    let boxes = Hexahedra {
        points: &corners,
        cells: &[std::array::from_fn(|k| k)],
        cell_data: Attributes {
            scalars: vec![("level", &[3.0])],
            ..Attributes::default()
        },
        ..Hexahedra::default()
    };
    let seeds = in_each_encoding(&path, |encoding| write_vtu(&path, &boxes, encoding));
    fuzz("vtu", &seeds, |path| read_vtu(path).is_ok());
}

#[test]
fn damaged_pvd_files_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed.pvd");
    let mut series = PvdSeries::create(&path).unwrap();
    (0..3).for_each(|k| series.push(f64::from(k), format!("tracers-{k}.vtp")).unwrap());
    let seed = std::fs::read(&path).unwrap();
    fuzz("pvd", &[seed], |path| read_pvd(path).is_ok());
}
