//! All blocks of a flow as one unstructured grid, `.vtu`.

use crate::error::Error;
use crate::model::Blocks;
use farfield_io::Precision;
use farfield_io::vtk::{Attributes, Hexahedra, write_vtu};
use std::path::Path;

/// Cells along a side of a block.
const SIDE: usize = 16;

/// Writes all cells with vorticity and velocity; cells of a block share their corners.
pub fn write(path: &Path, blocks: &Blocks) -> Result<(), Error> {
    let corners = SIDE + 1;
    let (mut points, mut cells) = (Vec::new(), Vec::new());
    for (block, (corner, h)) in blocks.corners.iter().zip(&blocks.spacings).enumerate() {
        let first = block * corners * corners * corners;
        for k in 0..corners * corners * corners {
            let at = [k % corners, k / corners % corners, k / corners / corners];
            points.push(std::array::from_fn(|a| corner[a] + at[a] as f64 * h));
        }
        for k in 0..SIDE * SIDE * SIDE {
            let at = [k % SIDE, k / SIDE % SIDE, k / SIDE / SIDE];
            cells.push(std::array::from_fn(|c| {
                let [x, y, z] = [0, 1, 2].map(|a| at[a] + (c >> a & 1));
                first + (z * corners + y) * corners + x
            }));
        }
    }
    let cell_data = Attributes {
        scalars: vec![("vorticity magnitude", &blocks.magnitude)],
        vectors: vec![("vorticity", &blocks.vorticity), ("velocity", &blocks.velocity)],
    };
    let grid = Hexahedra {
        points: &points,
        cells: &cells,
        cell_data,
        ..Hexahedra::default()
    };
    Ok(write_vtu(path, &grid, Precision::Single)?)
}
