//! Parts of files: together they give the whole file, and each holds only its own rows.

use farfield_io::{
    Array, NamedArray, Part, Precision, read_points_dim, read_points_part, read_strengths, read_strengths_part,
    read_targets_dim, read_targets_part, write_arrays,
};
use std::path::{Path, PathBuf};

const ROWS: usize = 1000;

/// Files with the same points; the first two also hold strengths.
fn files(folder: &Path) -> Vec<PathBuf> {
    let points = Array {
        rows: ROWS,
        columns: 3,
        values: (0..3 * ROWS).map(|k| (k as f64).sin()).collect(),
    };
    let charges = Array {
        rows: ROWS,
        columns: 2,
        values: (0..2 * ROWS).map(|k| (k as f64).cos()).collect(),
    };
    let mut files = Vec::new();
    for name in ["both.npz", "both.csv"] {
        let arrays = [
            NamedArray::new("points", points.clone()),
            NamedArray::new("charges", charges.clone()),
        ];
        files.push(folder.join(name));
        write_arrays(&files[files.len() - 1], &arrays, Precision::Double).unwrap();
    }
    files.push(folder.join("points.npy"));
    write_arrays(
        &files[2],
        &[NamedArray::new("points", points.clone())],
        Precision::Double,
    )
    .unwrap();
    // Column by column, as in Fortran and in transposed arrays of numpy.
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': ({ROWS}, 3), }}");
    bytes.extend(format!("{header:<117}\n").into_bytes());
    for column in 0..3 {
        bytes.extend((0..ROWS).flat_map(|row| points.values[3 * row + column].to_le_bytes()));
    }
    files.push(folder.join("fortran.npy"));
    std::fs::write(&files[3], bytes).unwrap();
    files
}

#[test]
fn parts_together_give_the_whole_and_hold_no_other_rows() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(folder.path()) {
        let whole = read_points_dim::<3>(&path).unwrap();
        assert_eq!(whole.points.len(), ROWS, "{}", path.display());
        for of in [1, 3, 7] {
            let (mut points, mut strengths, mut targets) = (Vec::new(), Vec::new(), Vec::new());
            for index in 0..of {
                let part = Part { index, of };
                let (own, all) = read_points_part::<3>(&path, part).unwrap();
                assert_eq!((all, own.points.len()), (ROWS, part.rows(ROWS).len()));
                // The memory of a part does not depend on the other parts.
                assert!(
                    own.points.capacity() <= 2 * own.points.len(),
                    "{}",
                    own.points.capacity()
                );
                points.extend(own.points);
                if let Some(array) = own.strengths {
                    assert_eq!(array.rows, part.rows(ROWS).len());
                    assert!(array.values.capacity() <= 2 * array.values.len().max(8));
                    strengths.extend(array.values);
                }
                targets.extend(read_targets_part::<3>(&path, part).unwrap().0);
            }
            assert_eq!(points, whole.points, "{}", path.display());
            assert_eq!(targets, read_targets_dim::<3>(&path).unwrap());
            assert_eq!(
                strengths,
                whole
                    .strengths
                    .as_ref()
                    .map_or(Vec::new(), |array| array.values.clone())
            );
        }
    }
}

#[test]
fn parts_of_strengths_together_give_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let paths = files(folder.path());
    for path in [&paths[0], &paths[1], &paths[3]] {
        let whole = read_strengths(path).unwrap();
        let mut values = Vec::new();
        for index in 0..4 {
            let (own, all) = read_strengths_part(path, Part { index, of: 4 }).unwrap();
            assert_eq!((all, own.rows, own.columns), (ROWS, ROWS / 4, whole.columns));
            values.extend(own.values);
        }
        assert_eq!(values, whole.values);
    }
}

#[test]
fn a_truncated_file_is_an_error_for_every_part() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(folder.path()).iter().skip(2) {
        let bytes = std::fs::read(path).unwrap();
        std::fs::write(path, &bytes[..bytes.len() - 9]).unwrap();
        for index in 0..3 {
            let error = read_points_part::<3>(path, Part { index, of: 3 }).unwrap_err();
            assert!(error.to_string().contains("truncated data"), "{error}");
        }
    }
}
