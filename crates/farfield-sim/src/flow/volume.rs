//! A scalar quantity of a flow on a regular grid of bounded size, for the live view.

use super::model::{OMEGA, Solver, VELOCITY};
use crate::error::Error;
use crate::model::Volume;
use farfield_grid::BLOCK_SIDE;
use farfield_grid::poisson::Precision;
use rayon::prelude::*;

/// The names of the quantities: magnitudes of vectors, and their components.
pub const NAMES: [&str; 8] = [
    "vorticity",
    "vorticity_x",
    "vorticity_y",
    "vorticity_z",
    "velocity",
    "velocity_x",
    "velocity_y",
    "velocity_z",
];

impl<T: Precision> Solver<T> {
    /// The quantity `what` on the finest level that has at most `most` points. If even the coarsest available level has
    /// more, every second of its points is used, or every fourth, and so on.
    pub(super) fn volume_of(&self, what: &str, most: usize) -> Result<Option<Volume>, Error> {
        let Some((channel, component)) = parse(what) else {
            return Ok(None);
        };
        let (level, stride) = self.level_for(most);
        let full = self.grid.points_of_level(level);
        let size = full.map(|n| n.div_ceil(stride));
        let thinned = |component: usize| -> Result<Vec<f32>, Error> {
            let values = self.grid.uniform(channel, component, level)?;
            let at = |k: usize| {
                let [x, y, z] = [k % size[0], k / size[0] % size[1], k / size[0] / size[1]].map(|i| i * stride);
                values[(z * full[1] + y) * full[0] + x].to_f64() as f32
            };
            Ok((0..size.iter().product()).into_par_iter().map(at).collect())
        };
        let values = match component {
            Some(component) => thinned(component)?,
            None => {
                let [x, y, z] = [thinned(0)?, thinned(1)?, thinned(2)?];
                (0..x.len()).map(|k| x[k].hypot(y[k]).hypot(z[k])).collect()
            }
        };
        let (domain, offset) = (self.setup.domain, self.grid.wavelet().offset());
        let h = domain.spacing(level);
        let mut volume = Volume {
            origin: domain.origin().map(|c| c + offset * h),
            spacing: h * stride as f64,
            size,
            values,
            inside: Vec::new(),
            blocks: Vec::new(),
        };
        volume.inside = self.inside_bodies(&volume);
        volume.blocks = self
            .grid
            .forest()
            .leaves()
            .iter()
            .map(|block| {
                let side = BLOCK_SIDE as f64 * domain.spacing(block.level);
                (domain.corner(*block), side, block.level)
            })
            .collect();
        Ok(Some(volume))
    }

    /// The level, and the stride along each axis.
    fn level_for(&self, most: usize) -> (u8, usize) {
        let finest = self.grid.forest().finest_level();
        let lowest = finest.saturating_sub(4);
        let size = |level: u8, stride: usize| -> usize {
            let points = self.grid.points_of_level(level);
            points.iter().map(|n| n.div_ceil(stride)).product()
        };
        let most = most.max(1);
        if let Some(level) = (lowest..=finest).rev().find(|level| size(*level, 1) <= most) {
            return (level, 1);
        }
        let mut stride = 2;
        while size(lowest, stride) > most {
            stride *= 2;
        }
        (lowest, stride)
    }

    fn inside_bodies(&self, volume: &Volume) -> Vec<f32> {
        if self.setup.bodies.is_empty() {
            return Vec::new();
        }
        let size = volume.size;
        let inside = |k: usize| {
            let at = [k % size[0], k / size[0] % size[1], k / size[0] / size[1]];
            let x = std::array::from_fn(|axis| volume.origin[axis] + at[axis] as f64 * volume.spacing);
            let bodies = self.setup.bodies.iter();
            bodies
                .map(|body| body.inside(x, self.time, volume.spacing) as f32)
                .fold(0.0, f32::max)
        };
        (0..volume.values.len()).into_par_iter().map(inside).collect()
    }
}

/// The channel of a name, and the component; `None` for the magnitude.
fn parse(what: &str) -> Option<(&'static str, Option<usize>)> {
    let (name, axis) = match what.split_once('_') {
        Some((name, axis)) => (name, Some(["x", "y", "z"].iter().position(|a| *a == axis)?)),
        None => (what, None),
    };
    match name {
        "vorticity" => Some((OMEGA, axis)),
        "velocity" => Some((VELOCITY, axis)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_and_no_others_are_parsed() {
        assert!(NAMES.iter().all(|name| parse(name).is_some()));
        assert_eq!(parse("velocity_y"), Some((VELOCITY, Some(1))));
        assert!(
            ["", "vorticity_w", "pressure", "velocity_"]
                .iter()
                .all(|name| parse(name).is_none())
        );
    }
}
