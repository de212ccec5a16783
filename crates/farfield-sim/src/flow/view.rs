//! The fields of a flow for pictures and files.

use super::model::{OMEGA, Solver, VELOCITY};
use crate::error::Error;
use crate::model::{Cut, FlowField, Glow, GridFields, Slice, Snapshot};
use crate::vec3::{Vec3, add_scaled, norm};
use farfield_grid::poisson::Precision;
use farfield_grid::{BLOCK_POINTS, BLOCK_SIDE};
use rayon::prelude::*;
use std::ops::Range;

/// The largest number of points of a cut.
const MOST_CUT: usize = 4_000_000;
/// The largest number of points in the picture of the whole flow.
const MOST_GLOW: usize = 1_000_000;
/// The isovalue of the Q criterion, in units of (speed / length)^2.
const Q_LEVEL: f64 = 1.0;

impl<T: Precision> Solver<T> {
    /// Slices through the centre of the flow, and a coarse volume of the whole.
    pub(super) fn view(&self) -> Result<Snapshot, Error> {
        let middle = match self.setup.bodies.first() {
            Some(body) => body.centre(self.time),
            None => self.middle_of_vorticity()?,
        };
        let slices = vec![self.slice(2, middle[2])?, self.slice(1, middle[1])?];
        Ok(Snapshot {
            clouds: Vec::new(),
            slices,
            glow: Some(self.glow()?),
        })
    }

    /// The magnitude of the vorticity on the finest level that has at most [`MOST_GLOW`] points.
    fn glow(&self) -> Result<Glow, Error> {
        let (level, domain) = (self.level_of(MOST_GLOW), self.setup.domain);
        let [x, y, z] = [0, 1, 2].map(|c| self.grid.uniform(OMEGA, c, level));
        let (x, y, z) = (x?, y?, z?);
        let (size, h) = (self.grid.points_of_level(level), domain.spacing(level));
        let first = domain.origin().map(|c| c + self.grid.wavelet().offset() * h);
        let bodies = &self.setup.bodies;
        let distance = |k: usize| {
            let at = [k % size[0], k / size[0] % size[1], k / size[0] / size[1]];
            let place = std::array::from_fn(|a| first[a] + at[a] as f64 * h);
            let distances = bodies.iter().map(|body| body.distance(place, self.time));
            (distances.fold(f64::INFINITY, f64::min) / h) as f32
        };
        let magnitude: Vec<f32> = (0..x.len())
            .into_par_iter()
            .map(|k| norm([x[k].to_f64(), y[k].to_f64(), z[k].to_f64()]) as f32)
            .collect();
        let largest = magnitude.iter().copied().fold(0.0, f32::max);
        Ok(Glow {
            size,
            distance: if bodies.is_empty() {
                Vec::new()
            } else {
                (0..x.len()).into_par_iter().map(distance).collect()
            },
            // Otherwise thin layers at walls would hide the wake.
            bright: (if bodies.is_empty() { 1.0 } else { 0.3 } * largest).max(f32::MIN_POSITIVE),
            magnitude,
        })
    }

    /// The finest level with at most `most` points.
    fn level_of(&self, most: usize) -> u8 {
        let finest = self.grid.forest().finest_level();
        let points = |level: u8| self.grid.points_of_level(level).iter().product::<usize>();
        let levels = finest.saturating_sub(4)..=finest;
        let fits = levels.rev().find(|level| points(*level) <= most);
        fits.unwrap_or(finest.saturating_sub(4))
    }

    /// The mean position weighted by the magnitude of vorticity, for instance the current centre of a ring.
    fn middle_of_vorticity(&self) -> Result<Vec3, Error> {
        let omega = self.grid.channel(OMEGA)?;
        let (mut weight, mut sum) = (0.0, [0.0; 3]);
        for (leaf, block) in self.grid.forest().leaves().iter().enumerate() {
            let volume = self.setup.domain.spacing(block.level).powi(3);
            for k in 0..BLOCK_SIDE.pow(3) {
                let share = volume * norm([0, 1, 2].map(|c| omega.block(leaf, c)[k].to_f64()));
                let point = [k % BLOCK_SIDE, k / BLOCK_SIDE % BLOCK_SIDE, k / BLOCK_SIDE / BLOCK_SIDE];
                weight += share;
                sum = add_scaled(sum, share, self.grid.position(leaf, point));
            }
        }
        let (origin, size) = (self.setup.domain.origin(), self.setup.domain.size());
        Ok(std::array::from_fn(|axis| match weight > 0.0 {
            true => sum[axis] / weight,
            false => origin[axis] + 0.5 * size[axis],
        }))
    }

    /// The component of vorticity normal to a plane of constant coordinate, and the outlines of the blocks that it
    /// cuts.
    fn slice(&self, axis: usize, at: f64) -> Result<Slice, Error> {
        let (right, up) = [(1, 2), (0, 2), (0, 1)][axis];
        let (domain, offset) = (self.setup.domain, self.grid.wavelet().offset());
        let omega = self.grid.channel(OMEGA)?;
        let names = ["x", "y", "z"];
        let plane = |p: [f64; 3]| [p[right], p[up]];
        let (origin, size) = (domain.origin(), domain.size());
        let mut slice = Slice {
            name: ["x", "y", "z"][axis],
            title: format!("vorticity component {} at {} = {at:.3}", names[axis], names[axis]),
            axes: [names[right], names[up]],
            low: plane(origin),
            high: plane(std::array::from_fn(|a| origin[a] + size[a])),
            cells: Vec::new(),
            outlines: Vec::new(),
        };
        for (leaf, block) in self.grid.forest().leaves().iter().enumerate() {
            let (h, corner) = (domain.spacing(block.level), domain.corner(*block));
            let layer = ((at - corner[axis]) / h).floor();
            if !(0.0..BLOCK_SIDE as f64).contains(&layer) {
                continue;
            }
            let side = BLOCK_SIDE as f64 * h;
            slice.outlines.push((plane(corner), plane(corner.map(|c| c + side))));
            let values = omega.block(leaf, axis);
            for k in 0..BLOCK_SIDE * BLOCK_SIDE {
                let mut point = [0; 3];
                (point[axis], point[right], point[up]) = (layer as usize, k % BLOCK_SIDE, k / BLOCK_SIDE);
                let value = values[(point[2] * BLOCK_SIDE + point[1]) * BLOCK_SIDE + point[0]].to_f64();
                let low: [f64; 3] = std::array::from_fn(|a| corner[a] + (point[a] as f64 + offset - 0.5) * h);
                // The sign shows the sense of rotation. The slice with normal y is mirrored, so its sign changes.
                let sign = if axis == 1 { -1.0 } else { 1.0 };
                slice.cells.push((plane(low), h, (sign * value) as f32));
            }
        }
        Ok(slice)
    }
}

impl<T: Precision> GridFields for Solver<T> {
    fn side(&self) -> usize {
        BLOCK_SIDE
    }

    fn blocks(&self) -> Vec<(Vec3, f64)> {
        let domain = &self.setup.domain;
        let leaves = self.grid.forest().leaves().iter();
        leaves
            .map(|block| (domain.corner(*block), domain.spacing(block.level)))
            .collect()
    }

    fn at_cells(&self, field: FlowField, cells: Range<usize>, out: &mut Vec<f64>) {
        let Ok(channel) = self.grid.channel(channel_of(field)) else {
            return;
        };
        for cell in cells {
            let (leaf, point) = (cell / BLOCK_POINTS, cell % BLOCK_POINTS);
            out.extend((0..3).map(|c| channel.block(leaf, c)[point].to_f64()));
        }
    }

    fn cut(&self) -> Cut {
        let level = self.level_of(MOST_CUT);
        let (h, offset) = (self.setup.domain.spacing(level), self.grid.wavelet().offset());
        Cut {
            origin: self.setup.domain.origin().map(|c| c + offset * h),
            spacing: h,
            size: self.grid.points_of_level(level),
            q_level: Q_LEVEL * (self.setup.speed / self.setup.length).powi(2),
        }
    }

    fn slab(&self, field: FlowField, slab: usize) -> Result<Vec<Vec3>, Error> {
        let (level, channel) = (self.level_of(MOST_CUT), channel_of(field));
        let of = |component: usize| self.grid.uniform_slab(channel, component, level, slab);
        let (x, (y, z)) = rayon::join(|| of(0), || rayon::join(|| of(1), || of(2)));
        let (x, y, z) = (x?, y?, z?);
        Ok((0..x.len())
            .map(|k| [x[k].to_f64(), y[k].to_f64(), z[k].to_f64()])
            .collect())
    }
}

fn channel_of(field: FlowField) -> &'static str {
    match field {
        FlowField::Vorticity => OMEGA,
        FlowField::Velocity => VELOCITY,
    }
}
