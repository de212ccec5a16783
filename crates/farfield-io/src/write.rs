//! Named arrays into a file of any format.

use std::collections::HashSet;
use std::path::Path;

use crate::atomic::write_atomically;
use crate::column_names;
use crate::file_format::FileFormat;
use crate::{Array, Error, NamedArray, Precision, csv, npy, npz};

/// Writes named arrays in the format of the file's extension.
///
/// * `.npz`: one uncompressed array under each name.
/// * `.csv`: a line of column names and one line for each row. A single column keeps the array's
///   name; a vector `gradient` becomes `gradient_x`, `gradient_y`, `gradient_z`; more columns
///   are numbered from `_0`; the columns of an array `points` are `x`, `y`, `z`. Every number
///   has the fewest digits that read back to the same value.
/// * `.npy`: the columns of all arrays side by side in one array; the names are not kept.
///
/// In `.npy` and `.npz` a single column is a one-dimensional array. With [`Precision::Single`],
/// numbers beyond the range of 32-bit floats become infinite or zero.
///
/// The file is written completely or not at all; see
/// [`write_bytes_atomically`](crate::write_bytes_atomically).
///
/// # Errors
///
/// Before anything is written: [`Error::UnknownExtension`], [`Error::NothingToWrite`],
/// [`Error::InconsistentArray`], [`Error::Shape`] for an array without columns,
/// [`Error::BadName`], and [`Error::RowsDiffer`] where the format needs rows of all arrays to
/// match. Afterwards [`Error::NoFolder`] and [`Error::Write`].
pub fn write_arrays(path: impl AsRef<Path>, arrays: &[NamedArray], precision: Precision) -> Result<(), Error> {
    let path = path.as_ref();
    let format = FileFormat::of(path)?;
    check_shapes(path, format, arrays)?;
    write_atomically(path, |file| match (format, arrays) {
        (FileFormat::Npz, _) => npz::write(file, arrays, precision),
        (FileFormat::Csv, _) => csv::write(file, arrays, precision),
        (FileFormat::Npy, [only]) => npy::write(file, &only.array, precision),
        (FileFormat::Npy, _) => {
            let all: Vec<_> = arrays.iter().map(|named| &named.array).collect();
            npy::write(file, &Array::side_by_side(&all), precision)
        }
    })
}

/// Checks all but the numbers.
pub(crate) fn check_shapes(path: &Path, format: FileFormat, arrays: &[NamedArray]) -> Result<(), Error> {
    check_arrays(path, arrays)?;
    check_names(path, arrays)?;
    if format != FileFormat::Npz {
        check_rows(path, arrays)?;
    }
    if format == FileFormat::Csv {
        check_column_names(path, arrays)?;
    }
    Ok(())
}

fn check_arrays(path: &Path, arrays: &[NamedArray]) -> Result<(), Error> {
    if arrays.is_empty() {
        return Err(Error::NothingToWrite { path: path.to_owned() });
    }
    for NamedArray { name, array } in arrays {
        if !array.is_consistent() {
            return Err(Error::InconsistentArray {
                path: path.to_owned(),
                name: name.clone(),
                rows: array.rows,
                columns: array.columns,
                values: array.values.len(),
            });
        }
        if array.columns == 0 {
            return Err(Error::Shape {
                path: path.to_owned(),
                array: Some(name.clone()),
                shape: format!("({}, 0)", array.rows),
                expected: "at least one column".to_owned(),
                hint: "",
            });
        }
    }
    Ok(())
}

fn check_names(path: &Path, arrays: &[NamedArray]) -> Result<(), Error> {
    for (index, NamedArray { name, .. }) in arrays.iter().enumerate() {
        let reason = if !name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
            "a name starts with a letter"
        } else if name.contains(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))) {
            "a name has only letters, digits and _ - ."
        } else if name.parse::<f64>().is_ok() {
            "it would read back as a number"
        } else if arrays[..index].iter().any(|earlier| earlier.name == *name) {
            "there are two of them"
        } else {
            continue;
        };
        return Err(Error::BadName {
            path: path.to_owned(),
            name: name.clone(),
            reason,
        });
    }
    Ok(())
}

/// Different arrays may still have columns of the same name: `u_x` and the first one of `u`.
fn check_column_names(path: &Path, arrays: &[NamedArray]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for NamedArray { name, array } in arrays {
        let columns = column_names::of_array(name, array.columns);
        if !columns.into_iter().all(|column| seen.insert(column)) {
            return Err(Error::BadName {
                path: path.to_owned(),
                name: name.clone(),
                reason: "another array has a column of the same name",
            });
        }
    }
    Ok(())
}

fn check_rows(path: &Path, arrays: &[NamedArray]) -> Result<(), Error> {
    let first = &arrays[0];
    match arrays.iter().find(|other| other.array.rows != first.array.rows) {
        None => Ok(()),
        Some(other) => Err(Error::RowsDiffer {
            path: path.to_owned(),
            first: first.name.clone(),
            first_rows: first.array.rows,
            second: other.name.clone(),
            second_rows: other.array.rows,
        }),
    }
}
