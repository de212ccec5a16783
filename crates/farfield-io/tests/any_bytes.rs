//! No input makes a reader panic, and accepted arrays are consistent.

use crate::fixtures::{OneFile, f8, npy, npy_with_header, npz};
use farfield_io::{read_points, read_points_dim, read_strengths, read_table};
use proptest::prelude::*;

/// Calls every reader on the same file.
fn read_all(name: &'static str, bytes: &[u8]) {
    let file = OneFile::new(name, bytes);
    let path = file.path();
    if let Ok(read) = read_points(&path) {
        assert!(read.strengths.is_none_or(|array| array.rows == read.points.len()));
    }
    let _ = read_points_dim::<2>(&path);
    if let Ok(array) = read_strengths(&path) {
        assert!(array.is_consistent() && array.columns > 0);
    }
    if let Ok(table) = read_table(&path) {
        assert!(table.arrays.iter().all(|named| named.array.is_consistent()));
        let _ = table.get("points");
    }
}

fn small_npy() -> Vec<u8> {
    npy("<f8", true, "(2, 3)", &f8(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
}

fn small_npz(deflated: bool) -> Vec<u8> {
    let charges = npy("<f4", false, "(2,)", &[0; 8]);
    npz(&[("points", small_npy()), ("charges", charges)], deflated)
}

#[test]
fn npy_cut_at_every_byte_is_an_error() {
    let bytes = small_npy();
    for length in 0..bytes.len() {
        let file = OneFile::new("cut.npy", &bytes[..length]);
        let message = file.message(&read_points(file.path()).unwrap_err());
        assert!(message.starts_with("cut.npy: truncated "), "{length}: {message}");
    }
}

#[test]
fn npz_cut_at_every_byte_is_an_error() {
    for deflated in [false, true] {
        let bytes = small_npz(deflated);
        for length in 0..bytes.len() {
            let file = OneFile::new("cut.npz", &bytes[..length]);
            assert!(read_points(file.path()).is_err(), "{length}");
        }
    }
}

#[test]
fn csv_cut_at_every_byte_does_not_panic() {
    let text = "\u{feff}# é\n\"x\",y,z,q # ü\n1,2,3,4\n\n5,6,7,8e0\n";
    for length in 0..text.len() {
        read_all("cut.csv", &text.as_bytes()[..length]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for name in ["random.npy", "random.npz", "random.csv"] {
            read_all(name, &bytes);
        }
    }

    #[test]
    fn random_text_in_csv_does_not_panic(text in "[-+0-9a-zD_.,;# \t\r\n\"é]{0,200}") {
        read_all("random.csv", text.as_bytes());
    }

    #[test]
    fn random_headers_in_npy_do_not_panic(
        header in "[{]('(descr|shape|fortran_order)' ?: ?('[<>|]?[fiu][1248]'|True|False|\\([0-9]{0,25},? ?[0-9]{0,25}L?\\)|é),? ?){0,4}[}]?",
        data in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        read_all("random.npy", &npy_with_header(&header, &data));
    }

    #[test]
    fn damaged_files_do_not_panic(
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        deflated in any::<bool>(),
    ) {
        for (name, mut bytes) in [("bad.npy", small_npy()), ("bad.npz", small_npz(deflated))] {
            for (index, value) in &damage {
                let position = index.index(bytes.len());
                bytes[position] = *value;
            }
            read_all(name, &bytes);
        }
    }

    #[test]
    fn any_numbers_read_back_from_csv(values in proptest::collection::vec(any::<f64>(), 1..20)) {
        use farfield_io::{Array, NamedArray, Precision, write_arrays};
        let file = OneFile::absent("numbers.csv");
        let written = NamedArray::new("q", Array::column(values.clone()));
        write_arrays(file.path(), &[written], Precision::Double).unwrap();
        let read = read_strengths(file.path()).unwrap().values;
        prop_assert!(read.len() == values.len());
        for (read, written) in read.iter().zip(&values) {
            prop_assert!(read.to_bits() == written.to_bits() || (read.is_nan() && written.is_nan()));
        }
    }
}
