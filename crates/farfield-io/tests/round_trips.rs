//! Written arrays read back the same, in every format and precision.

use std::fs;

use crate::fixtures::OneFile;
use farfield_io::{
    Array, Error, NamedArray, PointsFile, Precision, Table, read_points, read_points_dim, read_strengths, read_table,
    read_targets, write_arrays,
};

const FORMATS: [&str; 3] = ["file.npy", "file.npz", "file.csv"];

fn potential_and_gradient() -> [NamedArray; 2] {
    let potential = vec![0.1, -1e-300, 1e300, f64::NAN];
    let gradient = [
        [1.0, 2.0 / 3.0, -0.0],
        [f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE],
        [5e-324, f64::MAX, 123_456_789.123_456_79],
        [0.1 + 0.2, 1e16, 1e-5],
    ];
    [
        NamedArray::new("potential", Array::column(potential)),
        NamedArray::new("gradient", Array::from_rows(&gradient)),
    ]
}

fn assert_same_bits(found: &Array, expected: &Array) {
    assert_eq!((found.rows, found.columns), (expected.rows, expected.columns));
    for (found, expected) in found.values.iter().zip(&expected.values) {
        let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
        assert!(same, "{found:?} is not {expected:?}");
    }
}

fn rounded(array: &Array) -> Array {
    let values = array.values.iter().map(|&value| f64::from(value as f32));
    Array {
        values: values.collect(),
        ..*array
    }
}

#[test]
fn named_arrays_read_back_in_every_format_and_precision() {
    let written = potential_and_gradient();
    for precision in [Precision::Double, Precision::Single] {
        for format in ["file.npz", "file.csv"] {
            let file = OneFile::absent(format);
            write_arrays(file.path(), &written, precision).unwrap();
            let table = read_table(file.path()).unwrap();
            for NamedArray { name, array } in &written {
                let found = table.get(name).unwrap();
                match precision {
                    Precision::Double => assert_same_bits(&found, array),
                    // Text holds the digits of the 32-bit number, which read as 64 bits give another number.
                    Precision::Single => assert_same_bits(&rounded(&found), &rounded(array)),
                }
            }
            assert_eq!(table.get("absent"), None);
        }
    }
}

#[test]
fn npy_stores_all_columns_side_by_side() {
    let [potential, gradient] = potential_and_gradient();
    let file = OneFile::absent("file.npy");
    write_arrays(file.path(), &[potential, gradient], Precision::Double).unwrap();
    let array = read_strengths(file.path()).unwrap();
    assert_eq!((array.rows, array.columns), (4, 4));
    assert_eq!(array.values[..4], [0.1, 1.0, 2.0 / 3.0, -0.0]);
    assert_eq!(array.values[8..12], [1e300, 5e-324, f64::MAX, 123_456_789.123_456_79]);
}

#[test]
fn single_column_is_one_dimensional_and_aligned() {
    let file = OneFile::absent("file.npy");
    let column = NamedArray::new("potential", Array::column(vec![1.5, 2.5]));
    write_arrays(file.path(), &[column], Precision::Single).unwrap();
    let bytes = fs::read(file.path()).unwrap();
    let header = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    assert!(bytes.starts_with(header));
    assert_eq!(bytes.len(), 128 + 8);
    assert_eq!(bytes[127], b'\n');
    assert_eq!(bytes[128..132], 1.5_f32.to_le_bytes());
}

#[test]
fn csv_text_is_exact() {
    let file = OneFile::absent("file.csv");
    let arrays = [
        NamedArray::new("points", Array::from_rows(&[[0.1, 1e-7, -2.0]])),
        NamedArray::new("potential", Array::column(vec![1.0 / 3.0])),
        NamedArray::new("gradient", Array::from_rows(&[[1.0, 1e22, f64::NAN]])),
        NamedArray::new("modes", Array::from_rows(&[[1.0, 2.0, 3.0, f64::INFINITY]])),
    ];
    let expected = "x,y,z,potential,gradient_x,gradient_y,gradient_z,modes_0,modes_1,modes_2,modes_3\n";
    write_arrays(file.path(), &arrays, Precision::Double).unwrap();
    let double = "0.1,1e-7,-2.0,0.3333333333333333,1.0,1e22,NaN,1.0,2.0,3.0,inf\n";
    assert_eq!(fs::read_to_string(file.path()).unwrap(), format!("{expected}{double}"));
    write_arrays(file.path(), &arrays, Precision::Single).unwrap();
    let single = "0.1,1e-7,-2.0,0.33333334,1.0,1e22,NaN,1.0,2.0,3.0,inf\n";
    assert_eq!(fs::read_to_string(file.path()).unwrap(), format!("{expected}{single}"));
}

#[test]
fn points_and_charges_read_back_together() {
    let points = vec![[0.25, 0.5, 1.0], [-1.0, 2.0, 1e-9]];
    let charges = Array::column(vec![1.0, -2.0]);
    for format in ["file.npz", "file.csv"] {
        let file = OneFile::absent(format);
        let arrays = [
            NamedArray::new("points", Array::from_rows(&points)),
            NamedArray::new("charges", charges.clone()),
        ];
        write_arrays(file.path(), &arrays, Precision::Double).unwrap();
        let expected = PointsFile {
            points: points.clone(),
            strengths: Some(charges.clone()),
            unused: Vec::new(),
        };
        assert_eq!(read_points(file.path()).unwrap(), expected, "{format}");
        assert_eq!(read_targets(file.path()).unwrap(), points);
        assert_eq!(read_strengths(file.path()).unwrap(), charges);
    }
}

#[test]
fn points_in_two_and_three_dimensions_and_empty_files_read_back() {
    let flat = [[1.0, 2.0], [3.0, 4.0]];
    for format in FORMATS {
        let file = OneFile::absent(format);
        let points = NamedArray::new("points", Array::from_rows(&flat));
        write_arrays(file.path(), &[points], Precision::Double).unwrap();
        assert_eq!(read_points_dim::<2>(file.path()).unwrap().points, flat);
        assert!(read_points(file.path()).is_err());

        let none = NamedArray::new("points", Array::from_rows::<3>(&[]));
        write_arrays(file.path(), &[none], Precision::Double).unwrap();
        assert_eq!(read_points(file.path()).unwrap().points, [[0.0; 3]; 0]);
    }
}

#[test]
fn vector_strengths_keep_their_columns() {
    let gamma = Array::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    for format in FORMATS {
        let file = OneFile::absent(format);
        let named = NamedArray::new("gamma", gamma.clone());
        write_arrays(file.path(), &[named], Precision::Double).unwrap();
        assert_eq!(read_strengths(file.path()).unwrap(), gamma, "{format}");
    }
}

#[test]
fn upper_case_extension_is_the_same_format() {
    let file = OneFile::absent("file.CSV");
    let named = NamedArray::new("q", Array::column(vec![1.0]));
    write_arrays(file.path(), std::slice::from_ref(&named), Precision::Double).unwrap();
    let expected = Table { arrays: vec![named] };
    assert_eq!(read_table(file.path()).unwrap(), expected);
}

#[test]
fn rejected_arrays_leave_the_old_file() {
    let column = |name: &str, rows| NamedArray::new(name, Array::column(vec![0.0; rows]));
    let wrong = Array {
        rows: 2,
        columns: 3,
        values: vec![0.0; 5],
    };
    let vector = NamedArray::new("u", Array::from_rows(&[[0.0; 3]; 2]));
    let cases = [
        (vec![], "old.csv: no arrays to write"),
        (
            vec![NamedArray::new("u", wrong)],
            "old.csv: cannot write u: 2 x 3 array with 5 values",
        ),
        (
            vec![NamedArray::new(
                "u",
                Array {
                    rows: 2,
                    ..Array::default()
                },
            )],
            "old.csv: array u: shape (2, 0), expected at least one column",
        ),
        (vec![column("a", 2), column("b", 3)], "old.csv: 2 rows in a but 3 in b"),
        (
            vec![column("a", 2), column("a", 2)],
            "old.csv: cannot write an array named \"a\": the name is used twice",
        ),
        (
            vec![vector, column("u_x", 2)],
            "old.csv: cannot write an array named \"u_x\": another array has a column of the same name",
        ),
        (
            vec![column("", 2)],
            "old.csv: cannot write an array named \"\": a name must start with a letter or _",
        ),
        (
            vec![column("a,b", 2)],
            "old.csv: cannot write an array named \"a,b\": a name may contain only letters, digits and _ - .",
        ),
        (
            vec![column("nan", 2)],
            "old.csv: cannot write an array named \"nan\": it would read back as a number",
        ),
    ];
    let file = OneFile::new("old.csv", "old");
    for (arrays, expected) in cases {
        let error = write_arrays(file.path(), &arrays, Precision::Double).unwrap_err();
        assert_eq!(file.message(&error), expected);
        assert_eq!(fs::read_to_string(file.path()).unwrap(), "old");
    }
    let uneven = [column("a", 2), column("b", 3)];
    let npz = OneFile::absent("uneven.npz");
    write_arrays(npz.path(), &uneven, Precision::Double).unwrap();
    assert_eq!(read_table(npz.path()).unwrap().arrays, uneven);
    let unknown = write_arrays("result.txt", &uneven, Precision::Double);
    assert!(matches!(unknown, Err(Error::UnknownExtension { .. })));
}
