//! Writes named arrays to a file of any format.

use std::collections::HashSet;
use std::path::Path;

use crate::atomic::write_atomically;
use crate::column_names;
use crate::file_format::FileFormat;
use crate::{Array, Error, NamedArray, Precision, Rows, csv, npy, npz};

/// Writes named arrays in the format of the file's extension.
///
/// * `.npz`: one uncompressed array under each name.
/// * `.csv`: a line of column names and one line for each row. A single column keeps the array's
///   name; a vector `gradient` becomes `gradient_x`, `gradient_y`, `gradient_z`; more columns
///   are numbered from `_0`; the columns of an array `points` are `x`, `y`, `z`. Every value
///   has the fewest digits that read back to the same value.
/// * `.npy`: the columns of all arrays side by side in one array; the names are not stored.
///
/// In `.npy` and `.npz` a single column is a one-dimensional array. With [`Precision::Single`],
/// values beyond the range of 32-bit floats become infinite or zero.
///
/// The file is written completely or not at all; see
/// [`write_bytes_atomically`](crate::write_bytes_atomically).
///
/// # Errors
///
/// Before anything is written: [`Error::UnknownExtension`], [`Error::NothingToWrite`],
/// [`Error::InconsistentArray`], [`Error::Shape`] for an array without columns,
/// [`Error::BadName`], and [`Error::RowsDiffer`] if the format requires equal numbers of rows.
/// Afterwards [`Error::NoFolder`] and [`Error::Write`].
pub fn write_arrays(path: impl AsRef<Path>, arrays: &[NamedArray], precision: Precision) -> Result<(), Error> {
    let path = path.as_ref();
    let format = FileFormat::of(path)?;
    check_shapes(path, format, arrays)?;
    write_atomically(path, |file| match (format, arrays) {
        (FileFormat::Npz, _) => {
            let named = arrays.iter().map(|named| (&*named.name, Rows::of(&named.array)));
            npz::write(file, &named.collect::<Vec<_>>(), precision)
        }
        (FileFormat::Csv, _) => csv::write(file, arrays, precision),
        (FileFormat::Npy, [only]) => npy::write(file, &Rows::of(&only.array), precision),
        (FileFormat::Npy, _) => {
            let all: Vec<_> = arrays.iter().map(|named| &named.array).collect();
            npy::write(file, &Rows::of(&Array::side_by_side(&all)), precision)
        }
    })
}

/// Writes named rows as an `.npz` file, completely or not at all; rows may be computed while they are written.
/// Otherwise as [`write_arrays`].
///
/// # Errors
///
/// Before anything is written: [`Error::NothingToWrite`], [`Error::Shape`] for rows without columns,
/// [`Error::BadName`]. Afterwards [`Error::NoFolder`] and [`Error::Write`].
pub fn write_npz(path: impl AsRef<Path>, arrays: &[(&str, Rows<'_>)], precision: Precision) -> Result<(), Error> {
    let path = path.as_ref();
    if arrays.is_empty() {
        return Err(Error::NothingToWrite { path: path.to_owned() });
    }
    for (name, rows) in arrays {
        check_columns(path, name, rows.rows(), rows.columns())?;
    }
    check_names(path, &arrays.iter().map(|(name, _)| *name).collect::<Vec<_>>())?;
    write_atomically(path, |file| npz::write(file, arrays, precision))
}

/// Checks names and shapes.
pub(crate) fn check_shapes(path: &Path, format: FileFormat, arrays: &[NamedArray]) -> Result<(), Error> {
    check_arrays(path, arrays)?;
    check_names(path, &arrays.iter().map(|named| &*named.name).collect::<Vec<_>>())?;
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
        check_columns(path, name, array.rows, array.columns)?;
    }
    Ok(())
}

fn check_columns(path: &Path, name: &str, rows: usize, columns: usize) -> Result<(), Error> {
    match columns {
        0 => Err(Error::Shape {
            path: path.to_owned(),
            array: Some(name.to_owned()),
            shape: format!("({rows}, 0)"),
            expected: "at least one column".to_owned(),
            hint: "",
        }),
        _ => Ok(()),
    }
}

fn check_names(path: &Path, names: &[&str]) -> Result<(), Error> {
    for (index, name) in names.iter().enumerate() {
        let reason = if !name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
            "a name must start with a letter or _"
        } else if name.contains(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))) {
            "a name may contain only letters, digits and _ - ."
        } else if name.parse::<f64>().is_ok() {
            "it would read back as a number"
        } else if names[..index].contains(name) {
            "the name is used twice"
        } else {
            continue;
        };
        return Err(Error::BadName {
            path: path.to_owned(),
            name: (*name).to_owned(),
            reason,
        });
    }
    Ok(())
}

/// Rejects equal column names of different arrays, such as `u_x` and the first column of `u`.
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
