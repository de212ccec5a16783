//! The wake of a sphere: how long it is, and where the flow leaves the wall.

use super::body::Body;
use super::model::{OMEGA, Solver, VELOCITY};
use crate::error::Error;
use crate::vec3::{Vec3, add_scaled, cross, dot, unit};
use farfield_grid::forest::Cover;
use farfield_grid::poisson::Precision;
use farfield_grid::{BLOCK_SIDE, BlockId};
use std::f64::consts::PI;

/// Spacings outside the wall at which the sense of its vorticity is looked at.
const AWAY: f64 = 1.0;
/// Half-planes through the axis over which is averaged.
const PLANES: usize = 8;
/// Angles in steps of half a degree.
const ANGLES: usize = 360;

/// The wake of a sphere.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Wake {
    /// The length of the zone of flow towards the sphere behind it, over its diameter.
    pub length: f64,
    /// Where the vorticity of the wall changes its sense, in degrees from the front; 180 if nowhere.
    pub separation: f64,
}

impl<T: Precision> Solver<T> {
    /// The wake of the first body, if it is a sphere at rest in a stream; else nothing.
    pub(super) fn wake(&self) -> Result<Wake, Error> {
        let Some((radius, centre)) = self.setup.bodies.first().and_then(Body::sphere_at_rest) else {
            return Ok(Wake::default());
        };
        Ok(Wake {
            length: self.wake_length(radius, centre)? / (2.0 * radius),
            separation: self.separation(radius, centre)?,
        })
    }

    fn wake_length(&self, radius: f64, centre: Vec3) -> Result<f64, Error> {
        let (along, h) = (self.setup.along, self.setup.finest());
        let velocity = |away: f64| -> Result<Option<f64>, Error> {
            let u = self.sample(VELOCITY, add_scaled(centre, radius + away, along))?;
            Ok(u.map(|u| dot(u, along)))
        };
        let (mut last, mut seen) = (0.0, false);
        // From two spacings behind the wall on, where the body no longer holds the flow.
        for k in 0..100_000 {
            let away = (2.0 + 0.5 * f64::from(k)) * h;
            let Some(u) = velocity(away)? else { break };
            if seen && u >= 0.0 {
                return Ok(away - 0.5 * h * u / (u - last));
            }
            if !seen && u >= 0.0 {
                break;
            }
            (last, seen) = (u, true);
        }
        Ok(0.0)
    }

    fn separation(&self, radius: f64, centre: Vec3) -> Result<f64, Error> {
        let along = self.setup.along;
        let other = if along[0].abs() < 0.9 {
            [1.0, 0.0, 0.0]
        } else {
            [0.0, 1.0, 0.0]
        };
        let across = unit(cross(along, other));
        let up = cross(along, across);
        let distance = radius + AWAY * self.setup.finest();
        let mut before: Option<f64> = None;
        for k in ANGLES / 3..ANGLES {
            let angle = PI * f64::from(k as u32) / f64::from(ANGLES as u32);
            let mut sum = 0.0;
            for plane in 0..PLANES {
                let (s, c) = (2.0 * PI * (plane as f64 + 0.5) / PLANES as f64).sin_cos();
                let outward: Vec3 = std::array::from_fn(|a| c * across[a] + s * up[a]);
                let x = add_scaled(
                    add_scaled(centre, -distance * angle.cos(), along),
                    distance * angle.sin(),
                    outward,
                );
                let omega = self.sample(OMEGA, x)?.unwrap_or_default();
                sum += dot(omega, cross(along, outward));
            }
            // Attached flow has one sense; the first place with the other is where it leaves.
            if let Some(last) = before
                && last * sum <= 0.0
                && last != 0.0
            {
                return Ok(180.0 / f64::from(ANGLES as u32) * (f64::from(k as u32) - sum / (sum - last)));
            }
            before = Some(sum);
        }
        Ok(180.0)
    }

    /// A vector channel at a place, linear between the points of its block; nothing outside the box.
    fn sample(&self, channel: &str, x: Vec3) -> Result<Option<Vec3>, Error> {
        let (domain, forest) = (self.grid.domain(), self.grid.forest());
        let level = forest.finest_level();
        let side = BLOCK_SIDE as f64 * domain.spacing(level);
        let at = std::array::from_fn(|a| ((x[a] - domain.origin()[a]) / side).floor());
        if at.iter().any(|c: &f64| *c < 0.0) {
            return Ok(None);
        }
        let place = BlockId {
            level,
            at: at.map(|c| c as u32),
        };
        let (Some(Cover::Leaf(leaf)) | Some(Cover::Coarser(leaf))) = forest.cover(place) else {
            return Ok(None);
        };
        let block = forest.leaves()[leaf];
        let (h, corner, offset) = (
            domain.spacing(block.level),
            domain.corner(block),
            self.grid.wavelet().offset(),
        );
        let last = (BLOCK_SIDE - 2) as f64;
        let q: Vec3 = std::array::from_fn(|a| ((x[a] - corner[a]) / h - offset).clamp(0.0, last + 1.0));
        let low = q.map(|c| c.floor().min(last));
        let channel = self.grid.channel(channel)?;
        Ok(Some(std::array::from_fn(|c| {
            let values = channel.block(leaf, c);
            let mut sum = 0.0;
            for k in 0..8 {
                let (mut weight, mut index) = (1.0, 0);
                for a in (0..3).rev() {
                    let far = k >> a & 1;
                    let share = q[a] - low[a];
                    weight *= if far == 1 { share } else { 1.0 - share };
                    index = index * BLOCK_SIDE + low[a] as usize + far;
                }
                sum += weight * values[index].to_f64();
            }
            sum
        })))
    }
}
