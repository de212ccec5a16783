//! Reads arrays written by other programs, and checks the messages about broken ones.
//!
//! The files in `tests/data` were written by numpy 2.4 with `save`, `lib.format.write_array`
//! (versions 2.0 and 3.0), `savez` and `savez_compressed`.

use crate::fixtures::{OneFile, f8, from_numpy, npy, npy_with_header, npz};
use farfield_io::{Array, Error, read_points, read_strengths, read_table, read_targets};

const POINTS: [[f64; 3]; 2] = [[0.0, 0.5, 1.0], [10.0, 10.5, 11.0]];

fn message_for_points(name: &'static str, bytes: impl AsRef<[u8]>) -> String {
    let file = OneFile::new(name, bytes);
    file.message(&read_points(file.path()).unwrap_err())
}

#[test]
fn files_from_numpy_are_read() {
    for name in ["numpy-fortran-f4.npy", "numpy-version-2-big-endian.npy"] {
        assert_eq!(read_points(from_numpy(name)).unwrap().points, POINTS, "{name}");
    }
    let integers = read_points(from_numpy("numpy-version-3-integers.npy")).unwrap();
    assert_eq!(integers.points, [[1.0, 2.0, 3.0], [-4.0, 5.0, 6.0]]);

    let plain = read_points(from_numpy("numpy-savez.npz")).unwrap();
    assert_eq!(plain.points, POINTS);
    assert_eq!(plain.strengths, Some(Array::column(vec![1.0, -1.0])));

    let compressed = read_points(from_numpy("numpy-savez-compressed.npz")).unwrap();
    assert_eq!(compressed.points, POINTS.repeat(50));
    assert_eq!(compressed.strengths, Some(Array::column(vec![1.0; 100])));
    assert_eq!(compressed.unused, ["note"]);
}

#[test]
fn fortran_order_is_converted_to_rows() {
    let by_columns = f8(&[0.0, 10.0, 0.5, 10.5, 1.0, 11.0]);
    let file = OneFile::new("a.npy", npy("<f8", true, "(2, 3)", &by_columns));
    assert_eq!(read_points(file.path()).unwrap().points, POINTS);
}

#[test]
fn big_endian_numbers_are_read() {
    let bytes: Vec<u8> = POINTS.as_flattened().iter().flat_map(|v| v.to_be_bytes()).collect();
    let file = OneFile::new("a.npy", npy(">f8", false, "(2, 3)", &bytes));
    assert_eq!(read_points(file.path()).unwrap().points, POINTS);
    let bytes: Vec<u8> = [1.5_f32, -2.0].iter().flat_map(|v| v.to_be_bytes()).collect();
    let file = OneFile::new("a.npy", npy(">f4", false, "(2,)", &bytes));
    assert_eq!(read_strengths(file.path()).unwrap(), Array::column(vec![1.5, -2.0]));
}

#[test]
fn arrays_longer_than_the_buffer_are_read() {
    let values: Vec<f64> = (0..30_000).map(f64::from).collect();
    for deflated in [false, true] {
        let array = npy("<f8", false, "(10000, 3)", &f8(&values));
        let file = OneFile::new("a.npz", npz(&[("positions", array)], deflated));
        let points = read_points(file.path()).unwrap().points;
        assert_eq!(points.as_flattened(), values);
    }
}

#[test]
fn scalars_and_bytes_after_the_array_are_accepted() {
    let file = OneFile::new("a.npy", npy("<f8", false, "()", &f8(&[2.5])));
    assert_eq!(read_strengths(file.path()).unwrap(), Array::column(vec![2.5]));
    let file = OneFile::new("a.npy", npy("<f8", false, "(1,)", &f8(&[2.5, 3.5])));
    assert_eq!(read_strengths(file.path()).unwrap(), Array::column(vec![2.5]));
}

#[test]
fn nan_and_infinity_are_read() {
    let array = npy("<f8", false, "(1, 3)", &f8(&[f64::NAN, f64::INFINITY, 0.0]));
    let file = OneFile::new("a.npy", array);
    let points = read_points(file.path()).unwrap().points;
    assert!(points[0][0].is_nan() && points[0][1].is_infinite());
}

#[test]
fn npz_with_separate_coordinates_and_targets_is_read() {
    let column = |values: &[f64]| npy("<f8", false, "(2,)", &f8(values));
    let arrays = [
        ("z", column(&[1.0, 11.0])),
        ("x", column(&[0.0, 10.0])),
        ("y", column(&[0.5, 10.5])),
        ("gx", column(&[1.0, 4.0])),
        ("gy", column(&[2.0, 5.0])),
        ("gz", column(&[3.0, 6.0])),
        ("targets", npy("<f8", false, "(1, 3)", &f8(&[7.0, 8.0, 9.0]))),
    ];
    let file = OneFile::new("a.npz", npz(&arrays, true));
    let read = read_points(file.path()).unwrap();
    assert_eq!(read.points, POINTS);
    let vectors = Array::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(read.strengths, Some(vectors.clone()));
    assert_eq!(read.unused, ["targets"]);
    assert_eq!(read_targets(file.path()).unwrap(), [[7.0, 8.0, 9.0]]);
    assert_eq!(read_strengths(file.path()).unwrap(), vectors);
}

#[test]
fn the_only_array_of_savez_without_names_is_read() {
    let array = npy("<f8", false, "(2, 3)", &f8(POINTS.as_flattened()));
    let file = OneFile::new("a.npz", npz(&[("arr_0", array)], false));
    assert_eq!(read_points(file.path()).unwrap().points, POINTS);
    assert_eq!(read_strengths(file.path()).unwrap(), Array::from_rows(&POINTS));
}

#[test]
fn messages_about_broken_npy() {
    let message = |bytes: Vec<u8>| message_for_points("a.npy", bytes);
    assert_eq!(
        message(b"hello, world".to_vec()),
        "a.npy: not an npy file: it does not start with \\x93NUMPY"
    );
    assert_eq!(
        message(b"\x93NUMPY\x04\x00\x00\x00".to_vec()),
        "a.npy: npy format version 4.0; supported versions: 1.0, 2.0 and 3.0"
    );
    assert_eq!(
        message(Vec::new()),
        "a.npy: truncated npy file: expected 8 bytes, found 0"
    );
    assert_eq!(
        message(b"\x93NUMPY\x01\x00\x76".to_vec()),
        "a.npy: truncated header length: expected 2 bytes, found 1"
    );
    assert_eq!(
        message(b"\x93NUMPY\x01\x00\x76\x00{'descr'".to_vec()),
        "a.npy: truncated header: expected 118 bytes, found 8"
    );
    assert_eq!(
        message(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'".to_vec()),
        "a.npy: truncated header: expected 4294967295 bytes, found 8"
    );
    assert_eq!(
        message(npy("<f8", false, "(2, 3)", &f8(&[1.0, 2.0, 3.0, 4.0, 5.0]))),
        "a.npy: truncated data: expected 48 bytes, found 40"
    );
    assert_eq!(
        message(npy_with_header("{'descr': '<f8', 'shape': (2, 3), }", &[])),
        "a.npy: malformed npy header: no fortran_order"
    );
    assert_eq!(
        message(npy("<c16", false, "(2, 3)", &[])),
        "a.npy: unsupported dtype \"<c16\"; supported types: floats (f2, f4, f8) and integers (i1 to i8, u1 to u8)"
    );
}

#[test]
fn huge_shapes_are_rejected_without_allocating() {
    let message = |shape: &str| message_for_points("a.npy", npy("<f8", false, shape, &[0; 8]));
    assert_eq!(
        message("(1000000000000, 3)"),
        "a.npy: truncated data: expected 24000000000000 bytes, found 8"
    );
    let largest = "(18446744073709551615, 18446744073709551615)";
    assert!(message(largest).starts_with("a.npy: truncated data: expected "));
    assert_eq!(
        message("(18446744073709551615, 0)"),
        "a.npy: shape (18446744073709551615, 0), expected (N, 3)"
    );

    // Archives claim sizes too: in the header of the inner file and in their own directory.
    let array = npy("<f8", false, "(1000000000000, 3)", &[0; 8]);
    for deflated in [false, true] {
        let mut bytes = npz(&[("points", array.clone())], deflated);
        let directory = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
        bytes[directory + 24..directory + 28].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
        let message = message_for_points("a.npz", bytes);
        assert!(
            message.contains("array points: truncated data: expected 24000000000000 bytes"),
            "{message}"
        );
    }
}

#[test]
fn messages_about_shapes() {
    let message = |shape: &str| message_for_points("a.npy", npy("<f8", false, shape, &[0; 800]));
    assert_eq!(message("(5, 2)"), "a.npy: shape (5, 2), expected (N, 3)");
    assert_eq!(
        message("(3, 7)"),
        "a.npy: shape (3, 7), expected (N, 3); was it transposed?"
    );
    assert_eq!(message("(9,)"), "a.npy: shape (9,), expected (N, 3); was it flattened?");
    assert_eq!(message("(2, 2, 3)"), "a.npy: shape (2, 2, 3), expected (N, 3)");
    let empty = OneFile::new("a.npy", npy("<f8", false, "(4, 0)", &[]));
    assert_eq!(
        empty.message(&read_strengths(empty.path()).unwrap_err()),
        "a.npy: shape (4, 0), expected (N,) or (N, k)"
    );
    let inside = npz(&[("points", npy("<f8", false, "(5, 2)", &[0; 80]))], false);
    assert_eq!(
        message_for_points("a.npz", inside),
        "a.npz: array points: shape (5, 2), expected (N, 3)"
    );
}

#[test]
fn messages_about_names_in_npz() {
    let array = || npy("<f8", false, "(1, 3)", &f8(&[1.0, 2.0, 3.0]));
    let strength = |rows: usize| npy("<f8", false, &format!("({rows},)"), &f8(&vec![1.0; rows]));
    let file = OneFile::new("a.npz", npz(&[("a", array()), ("b", array())], false));
    assert_eq!(
        file.message(&read_points(file.path()).unwrap_err()),
        "a.npz: no array named points, sources, positions, targets (or x, y, z); the file has a, b"
    );
    assert_eq!(
        file.message(&read_strengths(file.path()).unwrap_err()),
        "a.npz: no array named charges, masses, strengths or gamma; the file has a, b"
    );
    assert_eq!(
        message_for_points("a.npz", npz(&[], false)),
        "a.npz: no array named points, sources, positions, targets (or x, y, z); the file has no arrays"
    );
    let both = [("points", array()), ("charges", strength(1)), ("masses", strength(1))];
    assert_eq!(
        message_for_points("a.npz", npz(&both, false)),
        "a.npz: charges, masses could each be the strengths; keep one, or rename the others"
    );
    let uneven = [("points", array()), ("charges", strength(2))];
    assert_eq!(
        message_for_points("a.npz", npz(&uneven, false)),
        "a.npz: 1 rows in the array of points but 2 in the array of strengths"
    );
    let uneven = [("x", strength(2)), ("y", strength(3)), ("z", strength(2))];
    assert_eq!(
        message_for_points("a.npz", npz(&uneven, false)),
        "a.npz: 2 rows in x but 3 in y"
    );
}

#[test]
fn messages_about_broken_archives() {
    let message = message_for_points("a.npz", "not a zip");
    assert!(
        message.starts_with("a.npz: not a readable npz (zip) archive: "),
        "{message}"
    );

    let array = npy("<f8", false, "(2, 3)", &f8(POINTS.as_flattened()));
    let mut bytes = npz(&[("points", array)], false);
    let position = bytes.windows(2).position(|w| w == b"\x25\x40").unwrap();
    bytes[position] ^= 1;
    let message = message_for_points("a.npz", bytes);
    assert!(
        message.starts_with("a.npz: array points: not a readable npz (zip) archive: "),
        "{message}"
    );

    let text = npz(&[("points", npy("<U4", false, "()", &[0; 16]))], false);
    let file = OneFile::new("a.npz", text);
    let message = file.message(&read_table(file.path()).unwrap_err());
    assert!(
        message.starts_with("a.npz: array points: unsupported dtype \"<U4\""),
        "{message}"
    );
}

#[test]
fn messages_about_missing_files_extensions_and_folders() {
    let absent = OneFile::absent("a.npy");
    let message = absent.message(&read_points(absent.path()).unwrap_err());
    assert!(message.starts_with("a.npy: cannot read: "), "{message}");
    for (name, found) in [("points.xyz", "unknown extension .xyz"), ("points", "no extension")] {
        let error = read_strengths(name).unwrap_err();
        let expected = format!("{name}: {found}; supported extensions: .npy, .npz and .csv");
        assert_eq!(error.to_string(), expected);
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.npy", "a.npz", "a.csv"] {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        let error = read_table(&path).unwrap_err();
        assert!(matches!(error, Error::Read { .. }), "{error}");
    }
}
