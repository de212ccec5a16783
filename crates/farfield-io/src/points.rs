//! Reads positions, with or without strengths in the same file.

use std::path::Path;

use crate::column_names::{self, AXES, Role};
use crate::csv::{self, CsvTable, Names};
use crate::file_format::FileFormat;
use crate::npy::{self, Stored};
use crate::npz::Archive;
use crate::strengths::only_candidate;
use crate::{Array, Error, Part};

/// Points of `D` coordinates, as read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct PointsFile<const D: usize = 3> {
    /// The positions.
    pub points: Vec<[f64; D]>,
    /// Charges, masses or vector strengths, one row per point, if the file has any.
    pub strengths: Option<Array>,
    /// Names of the other arrays or columns, in the order of the file.
    pub unused: Vec<String>,
}

/// Reads points in three dimensions, and their strengths if the file has them.
///
/// * `.npy`: one array of shape (N, 3).
/// * `.npz`: the first of the arrays `points`, `sources`, `positions` and `targets` that exists,
///   or three arrays `x`, `y`, `z`. Strengths are an array `charges`, `masses`,
///   `strengths` or `gamma` (or the singular, or `q`), or three arrays `gx`, `gy`, `gz`. If
///   `arr_0` is the only array, it holds the points.
/// * `.csv` with a line of column names: columns `x`, `y`, `z` in any order; strengths are
///   columns named as above, `gx`, `gy`, `gz`, or for instance `gamma_x`, `gamma_y`, `gamma_z`
///   or `charges_0`, `charges_1`. Case does not matter, nor does a unit in brackets.
/// * `.csv` without names: the first three columns are the point, all others are strengths.
///   A comment before the data that names every column, including `x`, `y` and `z`, counts
///   as a line of column names.
///
/// # Errors
///
/// Any [`Error`] about reading: an unknown extension, an unreadable or malformed file, a file without points, points of
/// another dimension, strengths that are ambiguous or differ in number from the points.
pub fn read_points(path: impl AsRef<Path>) -> Result<PointsFile, Error> {
    read_points_dim::<3>(path)
}

/// Reads points in `D` dimensions, and their strengths if the file has them; otherwise as
/// [`read_points`].
///
/// # Errors
///
/// See [`read_points`].
pub fn read_points_dim<const D: usize>(path: impl AsRef<Path>) -> Result<PointsFile<D>, Error> {
    Ok(read(path.as_ref(), Role::Sources, Part::ALL)?.0)
}

/// Reads a part of the points, and of their strengths if the file has them, and returns it with the number of all
/// points.
///
/// # Errors
///
/// See [`read_points`].
pub fn read_points_part<const D: usize>(path: impl AsRef<Path>, part: Part) -> Result<(PointsFile<D>, usize), Error> {
    read(path.as_ref(), Role::Sources, part)
}

/// Reads points in three dimensions and ignores any strengths. If a file has several sets of
/// points, `targets` is preferred, then `points`, `positions` and `sources`; otherwise as
/// [`read_points`].
///
/// # Errors
///
/// See [`read_points`].
pub fn read_targets(path: impl AsRef<Path>) -> Result<Vec<[f64; 3]>, Error> {
    read_targets_dim::<3>(path)
}

/// Reads points in `D` dimensions and ignores any strengths; otherwise as [`read_targets`].
///
/// # Errors
///
/// See [`read_points`].
pub fn read_targets_dim<const D: usize>(path: impl AsRef<Path>) -> Result<Vec<[f64; D]>, Error> {
    Ok(read_targets_part(path, Part::ALL)?.0)
}

/// Reads a part of the points, ignores any strengths, and returns the points with the number of all points; otherwise
/// as [`read_targets`].
///
/// # Errors
///
/// See [`read_points`].
pub fn read_targets_part<const D: usize>(path: impl AsRef<Path>, part: Part) -> Result<(Vec<[f64; D]>, usize), Error> {
    let (file, all) = read(path.as_ref(), Role::Targets, part)?;
    Ok((file.points, all))
}

fn read<const D: usize>(path: &Path, role: Role, part: Part) -> Result<(PointsFile<D>, usize), Error> {
    match FileFormat::of(path)? {
        FileFormat::Npy => {
            let stored = npy::read(path, part)?;
            let file = PointsFile {
                points: as_points(path, None, &stored)?,
                strengths: None,
                unused: Vec::new(),
            };
            Ok((file, stored.all))
        }
        FileFormat::Npz => from_npz(path, role, part),
        FileFormat::Csv => {
            let table = csv::read(path, part)?;
            let all = table.all;
            Ok((from_csv(path, table, role)?, all))
        }
    }
}

fn from_npz<const D: usize>(path: &Path, role: Role, part: Part) -> Result<(PointsFile<D>, usize), Error> {
    let mut archive = Archive::open(path)?;
    let names = archive.names().to_vec();
    let only_unnamed = (names == ["arr_0"]).then(|| vec![0]);
    let Some(position) = column_names::find_points(&names, role, D, true).or(only_unnamed) else {
        return Err(Error::MissingName {
            path: path.to_owned(),
            wanted: format!("array named {} (or {})", role.names().join(", "), axes::<D>()),
            found: names,
        });
    };
    let stored = archive.read_side_by_side(&position, part)?;
    let label = labels(&names, &position);
    let points = as_points(path, Some(label), &stored)?;
    let strength = match role {
        Role::Sources => only_candidate(path, column_names::find_strengths(&names))?,
        Role::Targets => None,
    };
    let strengths = match &strength {
        Some(indices) => Some(archive.read_side_by_side(indices, part)?),
        None => None,
    };
    if let Some(strengths) = &strengths
        && strengths.all != stored.all
    {
        return Err(Error::RowsDiffer {
            path: path.to_owned(),
            first: "the array of points".to_owned(),
            first_rows: stored.all,
            second: "the array of strengths".to_owned(),
            second_rows: strengths.all,
        });
    }
    let file = PointsFile {
        points,
        strengths: strengths.map(|strengths| strengths.array),
        unused: others(&names, &[position, strength.unwrap_or_default()].concat()),
    };
    Ok((file, stored.all))
}

fn from_csv<const D: usize>(path: &Path, table: CsvTable, role: Role) -> Result<PointsFile<D>, Error> {
    let CsvTable { names, array, all } = table;
    let (names, optional) = match names {
        Some(Names::Header(names)) => (names, false),
        Some(Names::Comment(names)) => (names, true),
        None => (Vec::new(), true),
    };
    let Some(position) = column_names::find_points(&names, role, D, false) else {
        if optional {
            return by_position(path, &array, all);
        }
        return Err(Error::MissingName {
            path: path.to_owned(),
            wanted: format!("columns named {}", axes::<D>()),
            found: names,
        });
    };
    let strength = match role {
        Role::Sources => only_candidate(path, column_names::find_strengths(&names))?,
        Role::Targets => None,
    };
    Ok(PointsFile {
        points: as_points(path, None, &stored(array.select(&position), all))?,
        strengths: strength.as_ref().map(|columns| array.select(columns)),
        unused: others(&names, &[position, strength.unwrap_or_default()].concat()),
    })
}

/// The points of a table without names: first the coordinates, then the strengths.
fn by_position<const D: usize>(path: &Path, array: &Array, all: usize) -> Result<PointsFile<D>, Error> {
    if array.columns < D {
        return Err(Error::Shape {
            path: path.to_owned(),
            array: None,
            shape: format!("({all}, {})", array.columns),
            expected: format!("{D} columns {}, then any strengths", axes::<D>()),
            hint: "",
        });
    }
    let position: Vec<_> = (0..D).collect();
    let strength: Vec<_> = (D..array.columns).collect();
    Ok(PointsFile {
        points: as_points(path, None, &stored(array.select(&position), all))?,
        strengths: (!strength.is_empty()).then(|| array.select(&strength)),
        unused: Vec::new(),
    })
}

fn stored(array: Array, all: usize) -> Stored {
    let shape = vec![all as u64, array.columns as u64];
    Stored { array, all, shape }
}

fn as_points<const D: usize>(path: &Path, name: Option<String>, stored: &Stored) -> Result<Vec<[f64; D]>, Error> {
    let (rows, columns) = (stored.all, stored.array.columns);
    let rows_of_points = stored.array.to_rows().filter(|_| stored.shape.len() <= 2);
    rows_of_points.ok_or_else(|| Error::Shape {
        path: path.to_owned(),
        array: name,
        shape: stored.shape_text(),
        expected: format!("(N, {D})"),
        hint: match (rows, columns) {
            (rows, 1) if D > 1 && rows > 0 && rows % D == 0 && stored.shape.len() < 3 => "; was it flattened?",
            (rows, _) if rows == D => "; was it transposed?",
            _ => "",
        },
    })
}

fn axes<const D: usize>() -> String {
    AXES[..D.min(AXES.len())].join(", ")
}

fn labels(names: &[String], indices: &[usize]) -> String {
    let labels: Vec<_> = indices.iter().map(|&index| names[index].as_str()).collect();
    labels.join("+")
}

fn others(names: &[String], used: &[usize]) -> Vec<String> {
    let unused = names.iter().enumerate();
    unused
        .filter(|(index, _)| !used.contains(index))
        .map(|(_, name)| name.clone())
        .collect()
}
