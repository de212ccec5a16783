//! Reads all arrays of a file by name.

use std::path::Path;

use crate::column_names;
use crate::csv::{self, Names};
use crate::file_format::FileFormat;
use crate::npy;
use crate::npz::Archive;
use crate::{Array, Error, NamedArray, Part, vtk};

/// The name of an array that has no name in the file.
const UNNAMED: &str = "values";

/// Named arrays, as read from a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The arrays of an archive or the columns of a table, in the order of the file.
    pub arrays: Vec<NamedArray>,
}

impl Table {
    /// The names of all arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|named| named.name.as_str())
    }

    /// The array called `name`. In a table of columns, `gradient` also finds `gradient_x`,
    /// `gradient_y`, `gradient_z` together (and `points` finds `x`, `y`, `z`), so that an array
    /// reads back from every format under the name it was written with.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Array> {
        let names: Vec<_> = self.names().map(str::to_owned).collect();
        let indices = column_names::find_array(&names, name)?;
        let arrays: Vec<_> = indices.iter().map(|&index| &self.arrays[index].array).collect();
        match arrays.as_slice() {
            [only] => Some((*only).clone()),
            [first, rest @ ..] => rest
                .iter()
                .all(|array| array.rows == first.rows && array.is_consistent())
                .then(|| Array::side_by_side(&arrays)),
            [] => None,
        }
    }
}

/// Reads points and their fields: the point arrays of a `.vtp` file, or every array of a file that [`read_table`]
/// reads.
///
/// # Errors
/// As [`read_table`] and [`vtk::read_vtp`].
pub fn read_particles(path: impl AsRef<Path>) -> Result<Table, Error> {
    let path = path.as_ref();
    let is_vtp = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("vtp"));
    if is_vtp { vtk::read_vtp(path) } else { read_table(path) }
}

/// Reads every array of a file: all arrays of an `.npz`, all columns of a `.csv` with a line of
/// column names. The array of an `.npy`, or of a `.csv` without names, is called `values`.
///
/// Arrays of three or four dimensions hold the points of a grid: the first three dimensions become rows, the fourth
/// columns.
///
/// # Errors
///
/// Any [`Error`] about reading: an unknown extension, an unreadable or malformed file, or an
/// array that does not hold numbers or has more than four dimensions.
pub fn read_table(path: impl AsRef<Path>) -> Result<Table, Error> {
    let path = path.as_ref();
    let arrays = match FileFormat::of(path)? {
        FileFormat::Npy => vec![NamedArray::new(UNNAMED, npy::read(path, Part::ALL)?.array)],
        FileFormat::Npz => {
            let mut archive = Archive::open(path)?;
            let names = archive.names().to_vec();
            names
                .into_iter()
                .enumerate()
                .map(|(index, name)| Ok(NamedArray::new(name, archive.read(index, Part::ALL)?.array)))
                .collect::<Result<_, Error>>()?
        }
        FileFormat::Csv => {
            let table = csv::read(path, Part::ALL)?;
            match table.names {
                Some(Names::Header(names)) => names
                    .into_iter()
                    .enumerate()
                    .map(|(column, name)| NamedArray::new(name, table.array.select(&[column])))
                    .collect(),
                _ => vec![NamedArray::new(UNNAMED, table.array)],
            }
        }
    };
    Ok(Table { arrays })
}
