//! Writes the files of a solution: blocks, fields on a uniform grid, and pictures.

use super::field_on_grid::FieldOnGrid;
use crate::failure::Failure;
use farfield::simd::Real;
use farfield_grid::{BLOCK_POINTS, BLOCK_SIDE, Grid};
use farfield_io::vtk::{Attributes, Hexahedra, RegularGrid, write_pvd, write_vti, write_vtu};
use farfield_io::write_bytes_atomically;
use farfield_io::{Array, AtomicFile, NamedArray, Precision, write_arrays};
use farfield_plot::{FieldMap, Figure};
use std::path::{Path, PathBuf};

/// The largest number of points along a side for written fields.
const MOST_POINTS: usize = 128;

/// Makes the folder and tries to write to it, so that an unusable folder is reported before the work.
pub fn prepare(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Data(format!("{}: cannot create the folder: {error}", folder.display())))?;
    // The trial file is never finished, so none remains.
    AtomicFile::create(folder.join("fields.vti"))?;
    Ok(())
}

/// Writes `blocks.vtu`, `fields.vti`, `fields.pvd`, `fields.npz` and a picture of each channel, and returns their names.
pub fn files<T: Real>(folder: &Path, problem: &FieldOnGrid<T>) -> Result<Vec<PathBuf>, Failure> {
    let grid = &problem.grid;
    let mut written = Vec::new();
    let mut next = |name: &str| {
        written.push(folder.join(name));
        folder.join(name)
    };
    write_blocks(&next("blocks.vtu"), grid)?;
    let fields = Fields::of(grid)?;
    fields.write_vti(&next("fields.vti"))?;
    fields.write_npz(&next("fields.npz"))?;
    write_pvd(next("fields.pvd"), &[(0.0, "fields.vti")])?;
    for channel in ["omega", "psi", "velocity"] {
        if grid.channel(channel).is_ok() {
            let png = picture(grid, channel)?;
            write_bytes_atomically(next(&format!("{channel}.png")), &png)?;
        }
    }
    Ok(written)
}

/// One voxel for each block.
fn write_blocks<T: Real>(path: &Path, grid: &Grid<T>) -> Result<(), Failure> {
    let leaves = grid.forest().leaves();
    let (mut points, mut cells) = (Vec::new(), Vec::new());
    let mut levels = Vec::new();
    let mut largest = Vec::new();
    let omega = grid.channel("omega")?;
    for (leaf, block) in leaves.iter().enumerate() {
        let (low, side) = (
            grid.domain().corner(*block),
            BLOCK_SIDE as f64 * grid.domain().spacing(block.level),
        );
        cells.push(std::array::from_fn(|corner| points.len() + corner));
        points.extend((0..8).map(|corner: usize| [0, 1, 2].map(|a| low[a] + side * (corner >> a & 1) as f64)));
        levels.push(f64::from(block.level));
        let sizes = (0..BLOCK_POINTS).map(|point| size(omega, leaf, point));
        largest.push(sizes.fold(0.0, f64::max));
    }
    let blocks = Hexahedra {
        points: &points,
        cells: &cells,
        cell_data: Attributes {
            scalars: vec![("level", &levels), ("largest_omega", &largest)],
            ..Attributes::default()
        },
        ..Hexahedra::default()
    };
    Ok(write_vtu(path, &blocks, Precision::Double)?)
}

/// The Euclidean norm of a channel's components at a point.
fn size<T: Real>(channel: &farfield_grid::Channel<T>, leaf: usize, point: usize) -> f64 {
    let squares = (0..channel.components()).map(|c| channel.block(leaf, c)[point].to_f64().powi(2));
    squares.sum::<f64>().sqrt()
}

/// All channels on the points of one level.
struct Fields<'a> {
    scalars: Vec<(&'a str, Vec<f64>)>,
    vectors: Vec<(&'a str, Vec<[f64; 3]>)>,
    origin: [f64; 3],
    spacing: f64,
    points: [usize; 3],
}

impl<'a> Fields<'a> {
    fn of<T: Real>(grid: &'a Grid<T>) -> Result<Self, Failure> {
        let mut level = grid.forest().finest_level();
        while level > 0 && grid.points_of_level(level).iter().any(|n| *n > MOST_POINTS) {
            level -= 1;
        }
        let mut scalars: Vec<(&str, Vec<f64>)> = Vec::new();
        let mut vectors: Vec<(&str, Vec<[f64; 3]>)> = Vec::new();
        for channel in grid.channels() {
            let mut components = Vec::new();
            for component in 0..channel.components() {
                components.push(grid.uniform(channel.name(), component, level)?);
            }
            match &components[..] {
                [x, y, z] => {
                    let rows = x.iter().zip(y).zip(z).map(|((x, y), z)| [x, y, z].map(|c| c.to_f64()));
                    vectors.push((channel.name(), rows.collect()));
                }
                [one, ..] => scalars.push((channel.name(), one.iter().map(|c| c.to_f64()).collect())),
                [] => {}
            }
        }
        let h = grid.domain().spacing(level);
        Ok(Self {
            scalars,
            vectors,
            origin: grid.domain().origin().map(|c| c + grid.wavelet().offset() * h),
            spacing: h,
            points: grid.points_of_level(level),
        })
    }

    fn write_vti(&self, path: &Path) -> Result<(), Failure> {
        let fields = RegularGrid {
            origin: self.origin,
            spacing: [self.spacing; 3],
            points: self.points,
            point_data: Attributes {
                scalars: self.scalars.iter().map(|(name, values)| (*name, &values[..])).collect(),
                vectors: self.vectors.iter().map(|(name, values)| (*name, &values[..])).collect(),
                ..Attributes::default()
            },
            cell_data: Attributes::default(),
        };
        Ok(write_vti(path, &fields, Precision::Single)?)
    }

    /// Writes the fields for numpy: a row for each point, x fastest, and `size`, `origin`, `spacing`.
    fn write_npz(&self, path: &Path) -> Result<(), Failure> {
        let scalars = self
            .scalars
            .iter()
            .map(|(name, values)| NamedArray::new(*name, Array::column(values.clone())));
        let vectors = self
            .vectors
            .iter()
            .map(|(name, values)| NamedArray::new(*name, Array::from_rows(values)));
        let place = [
            ("size", self.points.map(|n| n as f64).to_vec()),
            ("origin", self.origin.to_vec()),
            ("spacing", vec![self.spacing]),
        ];
        let place = place.map(|(name, values)| NamedArray::new(name, Array::column(values)));
        let arrays: Vec<NamedArray> = scalars.chain(vectors).chain(place).collect();
        Ok(write_arrays(path, &arrays, Precision::Double)?)
    }
}

/// The norm of a channel in the plane across y through the middle of the vorticity, with the outlines of the blocks.
fn picture<T: Real>(grid: &Grid<T>, channel: &str) -> Result<Vec<u8>, Failure> {
    let y = plane(grid)?;
    let channel = grid.channel(channel)?;
    let (low, size_of_box) = (grid.domain().origin(), grid.domain().size());
    let mut map = FieldMap::new(format!("|{}| and the blocks at y = {y:.4}", channel.name()))
        .axes("x", "z")
        .extent([low[0], low[2]], [low[0] + size_of_box[0], low[2] + size_of_box[2]])
        .fitted(1180);
    for (leaf, block) in grid.forest().leaves().iter().enumerate() {
        let (corner, h) = (grid.domain().corner(*block), grid.domain().spacing(block.level));
        let row = ((y - corner[1]) / h).floor();
        if !(0.0..BLOCK_SIDE as f64).contains(&row) {
            continue;
        }
        for k in 0..BLOCK_SIDE * BLOCK_SIDE {
            let (x, z) = (k % BLOCK_SIDE, k / BLOCK_SIDE);
            let point = (z * BLOCK_SIDE + row as usize) * BLOCK_SIDE + x;
            let cell = [corner[0] + x as f64 * h, corner[2] + z as f64 * h];
            map = map.cell(cell, [cell[0] + h, cell[1] + h], size(channel, leaf, point));
        }
        let side = BLOCK_SIDE as f64 * h;
        map = map.outline([corner[0], corner[2]], [corner[0] + side, corner[2] + side]);
    }
    Ok(map.to_png()?)
}

/// The y coordinate of the middle of the vorticity: the plane through a ring's centre, not along its rim. If no plane
/// cuts all rings, the middle of the strongest.
fn plane<T: Real>(grid: &Grid<T>) -> Result<f64, Failure> {
    let omega = grid.channel("omega")?;
    let (low, length) = (grid.domain().origin()[1], grid.domain().size()[1]);
    let h = grid.domain().spacing(grid.forest().finest_level());
    let mut layers = vec![0.0; (length / h).round().max(1.0) as usize];
    for (leaf, block) in grid.forest().leaves().iter().enumerate() {
        let spacing = grid.domain().spacing(block.level);
        for point in 0..BLOCK_POINTS {
            let y = grid.position(leaf, [0, point / BLOCK_SIDE % BLOCK_SIDE, 0])[1];
            // A coarse point covers several layers.
            let first = (((y - 0.5 * spacing - low) / h).round().max(0.0) as usize).min(layers.len() - 1);
            let last = (first + (spacing / h).round() as usize).clamp(first + 1, layers.len());
            let share = size(omega, leaf, point) * spacing.powi(3) / (last - first) as f64;
            layers[first..last].iter_mut().for_each(|layer| *layer += share);
        }
    }
    Ok(low + h * heaviest_middle(&layers).unwrap_or(0.5 * layers.len() as f64))
}

/// The middle of the heaviest run of consecutive layers.
fn heaviest_middle(layers: &[f64]) -> Option<f64> {
    let most = layers.iter().copied().fold(0.0, f64::max);
    let runs = layers.iter().enumerate();
    let mut heaviest = (0.0, 0.0);
    let mut run = (0.0, 0.0);
    for (k, weight) in runs {
        // Weak layers are a gap: rings end smoothly.
        run = if *weight > 1e-3 * most {
            (run.0 + weight, run.1 + weight * (k as f64 + 0.5))
        } else {
            (0.0, 0.0)
        };
        if run.0 > heaviest.0 {
            heaviest = run;
        }
    }
    (heaviest.0 > 0.0).then(|| heaviest.1 / heaviest.0)
}

#[cfg(test)]
mod tests {
    use super::heaviest_middle;

    #[test]
    fn the_plane_goes_through_the_middle_of_the_heaviest_part() {
        assert_eq!(heaviest_middle(&[0.0; 4]), None);
        assert_eq!(heaviest_middle(&[0.0, 1.0, 2.0, 1.0, 0.0]), Some(2.5));
        // Two rings: the middle between them shows neither.
        assert_eq!(heaviest_middle(&[1.0, 1.0, 0.0, 3.0, 3.0, 3.0]), Some(4.5));
    }
}
