//! The files of a flow: all cells of all blocks (`.vtu`), all points of one level (`.vti` and `.npz`), and the surfaces
//! of vortices (`.vtp`). They are written piece by piece, without copies of the fields, before the next step.

use super::cut::Layers;
use super::isosurface::{Lattice, surface};
use crate::case::Case;
use crate::error::Error;
use crate::model::{FlowField, GridFields};
use crate::vec3::norm;
use farfield_io::vtk::{
    Attributes, CellBlocks, PvdSeries, RegularGrid, Triangles, write_blocks, write_surface, write_vti,
};
use farfield_io::{Array, Precision, Rows, write_npz};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Writes the files of a flow, and lists of them with their times.
pub struct GridFiles {
    folder: PathBuf,
    vtk: bool,
    npz: bool,
    series: Series,
}

impl GridFiles {
    /// Files in the folder of a run.
    pub fn new(case: &Case, folder: &Path) -> Self {
        let folder = folder.join("fields");
        Self {
            series: Series::new(&folder),
            folder,
            vtk: case.output.vtk,
            npz: case.output.npz,
        }
    }

    /// Writes the files of one step.
    pub fn write(&mut self, step: u64, time: f64, fields: &dyn GridFields) -> Result<(), Error> {
        let layers = Layers::new(fields);
        let path = |file: &str| self.folder.join(file);
        if self.vtk {
            let files = ["blocks", "cut", "vortices"].map(|kind| {
                let extension = match kind {
                    "blocks" => "vtu",
                    "cut" => "vti",
                    _ => "vtp",
                };
                (kind, format!("{kind}-{step:06}.{extension}"))
            });
            all_blocks(&path(&files[0].1), fields)?;
            cut(&path(&files[1].1), &layers)?;
            vortices(&path(&files[2].1), &layers)?;
            for (kind, file) in files {
                self.series.list(kind, time, file)?;
            }
        }
        if self.npz {
            cut_for_numpy(&self.folder.join(format!("cut-{step:06}.npz")), &layers)?;
        }
        Ok(())
    }
}

/// Lists of files with their times, one for each kind. A list is opened when its first file is added.
pub struct Series {
    folder: PathBuf,
    lists: Vec<(&'static str, PvdSeries)>,
}

impl Series {
    /// Lists in `folder`.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            lists: Vec::new(),
        }
    }

    /// Adds a file to the list of its kind.
    pub fn list(&mut self, kind: &'static str, time: f64, file: String) -> Result<(), Error> {
        let at = match self.lists.iter().position(|(known, _)| *known == kind) {
            Some(at) => at,
            None => {
                // A resumed run continues the list from this time on.
                let path = self.folder.join(format!("{kind}.pvd"));
                let list = PvdSeries::resume(path, time.next_down())?;
                self.lists.push((kind, list));
                self.lists.len() - 1
            }
        };
        Ok(self.lists[at].1.push(time, file)?)
    }
}

/// Writes all cells with vorticity and velocity. Cells of a block share their corners.
fn all_blocks(path: &Path, fields: &dyn GridFields) -> Result<(), Error> {
    let (blocks, side) = (fields.blocks(), fields.side());
    let cells = blocks.len() * side * side * side;
    let magnitude = |cells: Range<usize>, out: &mut Vec<f64>| {
        let mut vorticity = Vec::with_capacity(3 * cells.len());
        fields.at_cells(FlowField::Vorticity, cells, &mut vorticity);
        out.extend(vorticity.as_chunks().0.iter().map(|w| norm(*w)));
    };
    let vorticity = |cells: Range<usize>, out: &mut Vec<f64>| fields.at_cells(FlowField::Vorticity, cells, out);
    let velocity = |cells: Range<usize>, out: &mut Vec<f64>| fields.at_cells(FlowField::Velocity, cells, out);
    let grid = CellBlocks {
        side,
        blocks: &blocks,
        cell_data: Attributes {
            made: vec![
                ("vorticity magnitude", Rows::made(cells, 1, &magnitude)),
                ("vorticity", Rows::made(cells, 3, &vorticity)),
                ("velocity", Rows::made(cells, 3, &velocity)),
            ],
            ..Attributes::default()
        },
    };
    Ok(write_blocks(path, &grid, Precision::Single)?)
}

/// Writes all points of one level with vorticity, velocity and the Q criterion.
fn cut(path: &Path, layers: &Layers<'_>) -> Result<(), Error> {
    let points = layers.points();
    let q = |points: Range<usize>, out: &mut Vec<f64>| layers.q(points, out);
    let vorticity = |points: Range<usize>, out: &mut Vec<f64>| layers.vectors(FlowField::Vorticity, points, out);
    let velocity = |points: Range<usize>, out: &mut Vec<f64>| layers.vectors(FlowField::Velocity, points, out);
    let grid = RegularGrid {
        origin: layers.cut.origin,
        spacing: [layers.cut.spacing; 3],
        points: layers.cut.size,
        point_data: Attributes {
            made: vec![
                ("Q", Rows::made(points, 1, &q)),
                ("vorticity", Rows::made(points, 3, &vorticity)),
                ("velocity", Rows::made(points, 3, &velocity)),
            ],
            ..Attributes::default()
        },
        cell_data: Attributes::default(),
    };
    Ok(write_vti(path, &grid, Precision::Single)?)
}

/// Writes these points for numpy. `size` has the numbers of points along x, y and z; in the other arrays x is fastest.
fn cut_for_numpy(path: &Path, layers: &Layers<'_>) -> Result<(), Error> {
    let (points, shape) = (layers.points(), &layers.cut);
    let q = |points: Range<usize>, out: &mut Vec<f64>| layers.q(points, out);
    let vorticity = |points: Range<usize>, out: &mut Vec<f64>| layers.vectors(FlowField::Vorticity, points, out);
    let velocity = |points: Range<usize>, out: &mut Vec<f64>| layers.vectors(FlowField::Velocity, points, out);
    let origin = Array::from_rows(&[shape.origin]);
    let spacing = Array::column(vec![shape.spacing]);
    let size = Array::from_rows(&[shape.size.map(|n| n as f64)]);
    let arrays = [
        ("origin", Rows::of(&origin)),
        ("spacing", Rows::of(&spacing)),
        ("size", Rows::of(&size)),
        ("vorticity", Rows::made(points, 3, &vorticity)),
        ("velocity", Rows::made(points, 3, &velocity)),
        ("Q", Rows::made(points, 1, &q)),
    ];
    Ok(write_npz(path, &arrays, Precision::Single)?)
}

/// Writes the isosurface of the Q criterion that shows vortices, with the magnitude of the vorticity on it.
fn vortices(path: &Path, layers: &Layers<'_>) -> Result<(), Error> {
    let lattice = Lattice {
        origin: layers.cut.origin,
        spacing: layers.cut.spacing,
        size: layers.cut.size,
    };
    let layer = |z: usize| {
        let vorticity = layers.layer(FlowField::Vorticity, z)?;
        let magnitude: Vec<f64> = vorticity.values().iter().map(|w| norm(*w)).collect();
        let mut q = Vec::with_capacity(magnitude.len());
        layers.q_of_layer(z, 0..magnitude.len(), &mut q)?;
        Ok([q, magnitude])
    };
    let found = surface(&lattice, layers.cut.q_level, layer)?;
    let triangles = Triangles {
        points: &found.points,
        corners: &found.triangles,
        point_data: Attributes {
            scalars: vec![("vorticity magnitude", &found.values)],
            ..Attributes::default()
        },
    };
    Ok(write_surface(path, &triangles, Precision::Single)?)
}
