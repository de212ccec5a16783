//! The initial vorticity: vortex rings.

use super::model::{OMEGA, Solver};
use crate::case::FlowRing;
use crate::error::Error;
use crate::vec3::{Vec3, cross, dot, norm, scale, sub, unit};
use farfield_grid::Sampling;
use farfield_grid::poisson::Precision;
use std::f64::consts::PI;

impl<T: Precision> Solver<T> {
    /// Puts the rings on the grid and adapts it to rings and bodies until both are resolved.
    pub(super) fn fill_initial(&mut self) -> Result<(), Error> {
        let rings = self.setup.rings.clone();
        for _ in 0..2 * usize::from(self.setup.grid.level) + 2 {
            let before = self.grid.forest().clone();
            self.fill_rings(&rings)?;
            self.adapt()?;
            if *self.grid.forest() == before {
                break;
            }
        }
        self.fill_rings(&rings)
    }

    fn fill_rings(&mut self, rings: &[FlowRing]) -> Result<(), Error> {
        if rings.is_empty() {
            return Ok(());
        }
        Ok(self
            .grid
            .fill_vector(OMEGA, Sampling::Point, |x| vorticity_of(rings, x))?)
    }
}

fn vorticity_of(rings: &[FlowRing], x: Vec3) -> Vec3 {
    let mut sum = [0.0; 3];
    for ring in rings {
        let axis = unit(ring.axis);
        let p = sub(x, ring.centre);
        let along = dot(p, axis);
        let outward = sub(p, scale(axis, along));
        let radius = norm(outward);
        if radius < 1e-12 * ring.radius {
            continue;
        }
        let d2 = (radius - ring.radius).powi(2) + along * along;
        // Beyond six core radii the Gaussian is below round-off.
        if d2 > 36.0 * ring.core * ring.core {
            continue;
        }
        // The image on the other side of the axis makes the field smooth there.
        let mirrored = (radius + ring.radius).powi(2) + along * along;
        let core2 = ring.core * ring.core;
        let size = ring.circulation / (PI * core2) * ((-d2 / core2).exp() - (-mirrored / core2).exp());
        let around = cross(axis, scale(outward, 1.0 / radius));
        for c in 0..3 {
            sum[c] += size * around[c];
        }
    }
    sum
}
