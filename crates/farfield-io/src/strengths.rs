//! Reads charges, masses and vector strengths.

use std::path::Path;

use crate::column_names::{self, Role};
use crate::csv::{self, Names};
use crate::file_format::FileFormat;
use crate::npy;
use crate::npz::Archive;
use crate::{Array, Error, Part};

const WANTED: &str = "charges, masses, strengths or gamma";

/// Reads strengths: one row for each point, one column for a charge or mass, three for a vector.
///
/// * `.npy`: an array of shape (N,) or (N, k).
/// * `.npz`: the array `charges`, `masses`, `strengths` or `gamma` (or the singular, or `q`), or
///   three arrays `gx`, `gy`, `gz`. If `arr_0` is the only array, it holds the strengths.
/// * `.csv` with a line of column names: the columns with such names, or the only column of the file.
/// * `.csv` without names: all columns.
///
/// # Errors
///
/// Any [`Error`] about reading: an unknown extension, an unreadable or malformed file, a file
/// without strengths, several candidates for them, or an array without columns.
pub fn read_strengths(path: impl AsRef<Path>) -> Result<Array, Error> {
    Ok(read_strengths_part(path, Part::ALL)?.0)
}

/// Reads a part of the rows of strengths, and returns it with the total number of rows.
///
/// # Errors
///
/// See [`read_strengths`].
pub fn read_strengths_part(path: impl AsRef<Path>, part: Part) -> Result<(Array, usize), Error> {
    let path = path.as_ref();
    match FileFormat::of(path)? {
        FileFormat::Npy => with_columns(path, None, npy::read(path, part)?),
        FileFormat::Npz => from_npz(path, part),
        FileFormat::Csv => from_csv(path, part),
    }
}

fn from_npz(path: &Path, part: Part) -> Result<(Array, usize), Error> {
    let mut archive = Archive::open(path)?;
    let names = archive.names();
    let only_unnamed = (names == ["arr_0"]).then(|| vec![0]);
    let found = only_candidate(path, column_names::find_strengths(names))?;
    let Some(indices) = found.or(only_unnamed) else {
        return Err(Error::MissingName {
            path: path.to_owned(),
            wanted: format!("array named {WANTED}"),
            found: names.to_vec(),
        });
    };
    let name = names[indices[0]].clone();
    let stored = archive.read_side_by_side(&indices, part)?;
    with_columns(path, Some(name), stored)
}

fn from_csv(path: &Path, part: Part) -> Result<(Array, usize), Error> {
    let table = csv::read(path, part)?;
    let (names, optional) = match table.names {
        None => return Ok((table.array, table.all)),
        Some(Names::Header(names)) => (names, false),
        Some(Names::Comment(names)) => (names, true),
    };
    if let Some(columns) = only_candidate(path, column_names::find_strengths(&names))? {
        return Ok((table.array.select(&columns), table.all));
    }
    let positions_are_named = [2, 3]
        .into_iter()
        .any(|dimension| column_names::find_points(&names, Role::Sources, dimension, false).is_some());
    if table.array.columns == 1 || (optional && !positions_are_named) {
        return Ok((table.array, table.all));
    }
    Err(Error::MissingName {
        path: path.to_owned(),
        wanted: format!("columns named {WANTED}"),
        found: names,
    })
}

fn with_columns(path: &Path, name: Option<String>, stored: npy::Stored) -> Result<(Array, usize), Error> {
    if stored.array.columns == 0 || stored.shape.len() > 2 {
        return Err(Error::Shape {
            path: path.to_owned(),
            array: name,
            shape: stored.shape_text(),
            expected: "(N,) or (N, k)".to_owned(),
            hint: "",
        });
    }
    Ok((stored.array, stored.all))
}

/// The only candidate for strengths, or `None` without candidates; several are an error.
pub(crate) fn only_candidate(
    path: &Path,
    mut candidates: Vec<(String, Vec<usize>)>,
) -> Result<Option<Vec<usize>>, Error> {
    if candidates.len() > 1 {
        return Err(Error::AmbiguousStrengths {
            path: path.to_owned(),
            names: candidates.into_iter().map(|(name, _)| name).collect(),
        });
    }
    Ok(candidates.pop().map(|(_, columns)| columns))
}
