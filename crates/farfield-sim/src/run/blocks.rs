//! A flow for viewers: all blocks as one unstructured grid, `.vtu`; all points of one level, `.vti` and arrays; the surfaces of
//! vortices, `.vtp`.

use super::isosurface::{Lattice, surface};
use crate::error::Error;
use crate::model::{Blocks, Cut};
use crate::vec3::norm;
use farfield_io::vtk::{Attributes, Hexahedra, RegularGrid, Triangles, write_surface, write_vti, write_vtu};
use farfield_io::{Array, NamedArray, Precision};
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

/// Writes all points of one level with vorticity, velocity and the Q criterion.
pub fn write_cut(path: &Path, cut: &Cut) -> Result<(), Error> {
    let grid = RegularGrid {
        origin: cut.origin,
        spacing: [cut.spacing; 3],
        points: cut.size,
        point_data: Attributes {
            scalars: vec![("Q", &cut.q)],
            vectors: vec![("vorticity", &cut.vorticity), ("velocity", &cut.velocity)],
        },
        cell_data: Attributes::default(),
    };
    Ok(write_vti(path, &grid, Precision::Single)?)
}

/// Writes the surface on which the Q criterion has the value that shows vortices, with the size of the vorticity on it.
pub fn write_vortices(path: &Path, cut: &Cut) -> Result<(), Error> {
    let lattice = Lattice {
        origin: cut.origin,
        spacing: cut.spacing,
        size: cut.size,
    };
    let magnitude: Vec<f64> = cut.vorticity.iter().map(|w| norm(*w)).collect();
    let found = surface(&lattice, &cut.q, cut.q_level, &magnitude);
    let triangles = Triangles {
        points: &found.points,
        corners: &found.triangles,
        point_data: Attributes {
            scalars: vec![("vorticity magnitude", &found.values)],
            vectors: Vec::new(),
        },
    };
    Ok(write_surface(path, &triangles, Precision::Single)?)
}

/// The same for numpy; `size` has the points along x, y and z, x fastest in the others.
pub fn arrays_of_cut(cut: &Cut) -> Vec<NamedArray> {
    vec![
        NamedArray::new("origin", Array::from_rows(&[cut.origin])),
        NamedArray::new("spacing", Array::column(vec![cut.spacing])),
        NamedArray::new("size", Array::from_rows(&[cut.size.map(|n| n as f64)])),
        NamedArray::new("vorticity", Array::from_rows(&cut.vorticity)),
        NamedArray::new("velocity", Array::from_rows(&cut.velocity)),
        NamedArray::new("Q", Array::column(cut.q.clone())),
    ]
}
