//! Writes named arrays whose rows arrive in pieces; only one piece is in memory at a time.

use std::io;
use std::path::Path;

use crate::atomic::write_atomically;
use crate::file_format::FileFormat;
use crate::write::check_shapes;
use crate::{Array, Error, NamedArray, Precision, csv, npy, npz};

/// The pieces of the rows of a file.
pub(crate) struct Pieces<'a> {
    /// The number of pieces of each array, or of all arrays side by side.
    count: usize,
    next: &'a mut dyn FnMut() -> io::Result<Array>,
}

impl Pieces<'_> {
    /// Writes every piece of an array of `rows` rows and `columns` columns.
    pub(crate) fn each(
        &mut self,
        (rows, columns): (usize, usize),
        mut write: impl FnMut(&Array) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut found = 0;
        for _ in 0..self.count {
            let piece = (self.next)()?;
            if piece.columns != columns || !piece.is_consistent() {
                let what = format!("a piece has {} columns, expected {columns}", piece.columns);
                return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
            }
            found += piece.rows;
            write(&piece)?;
        }
        match found == rows {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("the pieces have {found} rows in total, expected {rows}"),
            )),
        }
    }
}

/// Whether each piece passed to [`write_in_pieces`] for a file of this format holds the columns of all arrays side by
/// side. Otherwise the pieces of one array follow those of the array before it.
///
/// # Errors
///
/// [`Error::UnknownExtension`].
pub fn takes_arrays_side_by_side(path: impl AsRef<Path>) -> Result<bool, Error> {
    Ok(FileFormat::of(path.as_ref())? != FileFormat::Npz)
}

/// Writes the same file as [`write_arrays`](crate::write_arrays) for `arrays` of (name, columns) with `rows` rows each.
/// The rows come from `next` in `pieces` pieces, in ascending order and laid out as [`takes_arrays_side_by_side`]
/// returns.
///
/// # Errors
///
/// As [`write_arrays`](crate::write_arrays); also [`Error::Write`] for an error of `next` and for pieces of the wrong
/// shape.
pub fn write_in_pieces(
    path: impl AsRef<Path>,
    arrays: &[(String, usize)],
    (rows, pieces): (usize, usize),
    precision: Precision,
    next: &mut dyn FnMut() -> io::Result<Array>,
) -> Result<(), Error> {
    let path = path.as_ref();
    let format = FileFormat::of(path)?;
    let shape = |(name, columns): &(String, usize)| {
        let array = Array {
            rows: 0,
            columns: *columns,
            values: Vec::new(),
        };
        NamedArray::new(name, array)
    };
    let arrays: Vec<NamedArray> = arrays.iter().map(shape).collect();
    check_shapes(path, format, &arrays)?;
    let mut pieces = Pieces { count: pieces, next };
    let shapes = (&arrays[..], rows);
    write_atomically(path, |file| match format {
        FileFormat::Npz => npz::write_pieces(file, shapes, precision, &mut pieces),
        FileFormat::Csv => csv::write_pieces(file, shapes, precision, &mut pieces),
        FileFormat::Npy => {
            let columns = arrays.iter().map(|named| named.array.columns).sum();
            npy::write_pieces(file, (rows, columns), precision, &mut pieces)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_arrays;

    /// Two arrays of seven rows.
    fn arrays() -> Vec<NamedArray> {
        let gradient = Array {
            rows: 7,
            columns: 3,
            values: (0..21).map(|k| f64::from(k).sqrt()).collect(),
        };
        let potential = Array::column((0..7).map(|k| 0.1 * f64::from(k)).collect());
        vec![
            NamedArray::new("potential", potential),
            NamedArray::new("gradient", gradient),
        ]
    }

    fn rows_of(array: &Array, rows: std::ops::Range<usize>) -> Array {
        Array {
            rows: rows.len(),
            columns: array.columns,
            values: array.values[rows.start * array.columns..rows.end * array.columns].to_vec(),
        }
    }

    #[test]
    fn pieces_make_the_same_file_as_whole_arrays() {
        let folder = tempfile::tempdir().unwrap();
        let arrays = arrays();
        let all: Vec<&Array> = arrays.iter().map(|named| &named.array).collect();
        let columns: Vec<(String, usize)> = arrays.iter().map(|n| (n.name.clone(), n.array.columns)).collect();
        for extension in ["npz", "csv", "npy"] {
            for precision in [Precision::Single, Precision::Double] {
                let [whole, made] = ["whole", "made"].map(|name| folder.path().join(format!("{name}.{extension}")));
                write_arrays(&whole, &arrays, precision).unwrap();
                let cuts = [0..2, 2..2, 2..7];
                let mut pieces: Vec<Array> = match takes_arrays_side_by_side(&made).unwrap() {
                    true => {
                        let together = Array::side_by_side(&all);
                        cuts.iter().map(|rows| rows_of(&together, rows.clone())).collect()
                    }
                    false => all
                        .iter()
                        .flat_map(|array| cuts.iter().map(|rows| rows_of(array, rows.clone())))
                        .collect(),
                };
                pieces.reverse();
                let mut next = || pieces.pop().ok_or_else(|| io::Error::other("no more"));
                write_in_pieces(&made, &columns, (7, 3), precision, &mut next).unwrap();
                assert_eq!(
                    std::fs::read(&whole).unwrap(),
                    std::fs::read(&made).unwrap(),
                    "{extension}"
                );
            }
        }
    }

    #[test]
    fn missing_or_wrong_pieces_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lost.npz");
        let columns = [("potential".to_owned(), 1)];
        let mut lost = || Err(io::Error::other("a rank is gone"));
        let error = write_in_pieces(&path, &columns, (4, 2), Precision::Double, &mut lost).unwrap_err();
        assert!(error.to_string().contains("a rank is gone"), "{error}");
        let mut short = || Ok(Array::column(vec![1.0]));
        let error = write_in_pieces(&path, &columns, (4, 2), Precision::Double, &mut short).unwrap_err();
        assert!(error.to_string().contains("2 rows in total, expected 4"), "{error}");
        assert!(!path.exists());
    }
}
