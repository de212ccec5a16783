//! Fields on cells with eight corners in `.vtu` files.

use std::ops::Range;
use std::path::Path;

use super::attributes::Attributes;
use super::document::{Document, Section};
use super::encoding::{Encoding, Numbers};
use crate::{Error, Rows};

/// The order of a cell's eight corners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellShape {
    /// An axis-parallel box. In the order of its corners x runs fastest, then y, then z.
    #[default]
    Voxel,
    /// Any hexahedron: four corners around the bottom, then the four above them.
    Hexahedron,
}

impl CellShape {
    /// VTK's number for the shape.
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
    /// The positions of the corners, which cells may share.
    pub points: &'a [[f64; 3]],
    /// The shape of all cells.
    pub shape: CellShape,
    /// The corners of each cell, as indices into `points`.
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
/// [`Error::RowsDiffer`] for a field of the wrong length,
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

    let corners = Numbers::Corners(grid.cells.as_flattened());
    let fields = (&grid.point_data, &grid.cell_data);
    let sizes = (points, cells, grid.shape);
    document(sizes, fields, Numbers::Vectors(grid.points), corners).write(path, encoding.into())
}

/// The document of points and cells of one shape.
fn document<'a>(
    (points, cells, shape): (usize, usize, CellShape),
    (point_data, cell_data): (&Attributes<'a>, &Attributes<'a>),
    coordinates: Numbers<'a>,
    corners: Numbers<'a>,
) -> Document<'a> {
    let piece = format!(" NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\"");
    let mut document = Document::new("UnstructuredGrid", String::new(), piece);
    point_data.add_to(&mut document, Section::PointData);
    cell_data.add_to(&mut document, Section::CellData);
    document.points(coordinates);
    document.open(Section::Cells);
    document.array("connectivity", corners);
    let ends = Numbers::Sequence {
        first: 8,
        step: 8,
        count: cells,
    };
    document.array("offsets", ends);
    let value = shape.code();
    document.array("types", Numbers::Bytes { value, count: cells });
    document.close(Section::Cells);
    document
}

/// Cubic blocks with equal numbers of cells. Cells are ordered block by block; within a block x runs fastest, then y,
/// then z. Neighbouring cells of a block share their corners.
#[derive(Clone, Debug, Default)]
pub struct CellBlocks<'a> {
    /// Cells along a side of a block.
    pub side: usize,
    /// The lower corner of each block and the side of its cells.
    pub blocks: &'a [([f64; 3], f64)],
    /// Fields on the cells.
    pub cell_data: Attributes<'a>,
}

/// Writes blocks of cells as a `.vtu` file (`UnstructuredGrid` of voxels), completely or not at all. Points and cells
/// are computed while they are written: only the list of blocks is in memory.
///
/// # Errors
///
/// As [`write_vtu`].
pub fn write_blocks(path: impl AsRef<Path>, grid: &CellBlocks<'_>, encoding: impl Into<Encoding>) -> Result<(), Error> {
    let (path, side) = (path.as_ref(), grid.side);
    let ends = side + 1;
    let (of_points, of_cells) = (ends * ends * ends, side * side * side);
    let (points, cells) = (grid.blocks.len() * of_points, grid.blocks.len() * of_cells);
    grid.cell_data.check(path, "cells", cells)?;
    let place = |rows: Range<usize>, out: &mut Vec<f64>| {
        for row in rows {
            let (corner, h) = grid.blocks[row / of_points];
            let k = row % of_points;
            let at = [k % ends, k / ends % ends, k / ends / ends];
            out.extend((0..3).map(|axis| corner[axis] + at[axis] as f64 * h));
        }
    };
    let corner = |number: usize| {
        let (cell, c) = (number / 8, number % 8);
        let (block, k) = (cell / of_cells, cell % of_cells);
        let at = [k % side, k / side % side, k / side / side];
        let [x, y, z] = [0, 1, 2].map(|axis| at[axis] + (c >> axis & 1));
        block * of_points + (z * ends + y) * ends + x
    };
    let coordinates = Numbers::Rows(Rows::made(points, 3, &place));
    let corners = Numbers::Indices {
        count: 8 * cells,
        at: &corner,
    };
    let sizes = (points, cells, CellShape::Voxel);
    document(sizes, (&Attributes::default(), &grid.cell_data), coordinates, corners).write(path, encoding.into())
}
