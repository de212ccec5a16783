//! Fields on cells with eight corners: `.vtu`.

use std::path::Path;

use super::attributes::Attributes;
use super::document::{Document, Section};
use super::encoding::{Encoding, Numbers};
use crate::Error;

/// The order of a cell's eight corners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellShape {
    /// An axis-parallel box; its corners with x running fastest, then y, then z.
    #[default]
    Voxel,
    /// Any hexahedron; four corners around the bottom, then those above them.
    Hexahedron,
}

impl CellShape {
    /// The number VTK gives to the shape.
    fn code(self) -> u8 {
        match self {
            Self::Voxel => 11,
            Self::Hexahedron => 12,
        }
    }
}

/// Cells with eight corners each, for instance the cells of an adapted grid.
#[derive(Clone, Debug, Default)]
pub struct Hexahedra<'a> {
    /// Where the corners are. Cells may share them.
    pub points: &'a [[f64; 3]],
    /// The shape of all cells.
    pub shape: CellShape,
    /// The corners of each cell, as indices of `points`.
    pub cells: &'a [[usize; 8]],
    /// Fields on the points.
    pub point_data: Attributes<'a>,
    /// Fields on the cells.
    pub cell_data: Attributes<'a>,
}

/// Writes cells as a `.vtu` file (`UnstructuredGrid`), completely or not at all.
///
/// # Errors
///
/// Before anything is written: [`Error::BadGrid`] for a cell with a corner that does not exist,
/// [`Error::RowsDiffer`] for a field with another length than the points or cells,
/// [`Error::BadName`] for an empty or repeated name. Afterwards [`Error::NoFolder`] and
/// [`Error::Write`].
pub fn write_vtu(path: impl AsRef<Path>, grid: &Hexahedra<'_>, encoding: impl Into<Encoding>) -> Result<(), Error> {
    let (path, points, cells) = (path.as_ref(), grid.points.len(), grid.cells.len());
    let missing = |corners: &[usize; 8]| corners.iter().any(|&corner| corner >= points);
    if let Some(index) = grid.cells.iter().position(missing) {
        return Err(Error::BadGrid {
            path: path.to_owned(),
            expected: format!("corners below {points}, the number of points"),
            found: format!("cell {index} with corners {:?}", grid.cells[index]),
        });
    }
    grid.point_data.check(path, "points", points)?;
    grid.cell_data.check(path, "cells", cells)?;

    let piece = format!(" NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\"");
    let mut document = Document::new("UnstructuredGrid", String::new(), piece);
    grid.point_data.add_to(&mut document, Section::PointData);
    grid.cell_data.add_to(&mut document, Section::CellData);
    document.points(grid.points);
    document.open(Section::Cells);
    document.array("connectivity", Numbers::Corners(grid.cells.as_flattened()));
    let ends = Numbers::Sequence {
        first: 8,
        step: 8,
        count: cells,
    };
    document.array("offsets", ends);
    let value = grid.shape.code();
    document.array("types", Numbers::Bytes { value, count: cells });
    document.close(Section::Cells);
    document.write(path, encoding.into())
}
