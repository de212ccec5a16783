//! What is measured of a flow, on the host.

use super::VortexModel;
use super::energy::energy;
use super::motion::vorticity;
use crate::diagnostics::{Invariants, Members, RingMeasure, measure_ring};
use crate::error::Error;
use crate::model::Model;
use crate::vec3::{Vec3, dot, norm};

impl VortexModel {
    /// Position, radius and speed of every ring and knot.
    ///
    /// # Errors
    /// [`Error::Sum`] if the velocities are not known yet and the engine refuses.
    pub fn rings(&mut self) -> Result<Vec<RingMeasure>, Error> {
        self.evaluate()?;
        self.bring_elements()?;
        let rates = &self.evaluated.rates;
        let members = Members {
            positions: &self.flow.positions,
            strengths: &self.flow.strengths,
            velocities: &rates.positions,
            strength_rates: &rates.strengths,
            groups: &self.groups,
        };
        let one = |(k, (_, axis)): (usize, &(String, Vec3))| measure_ring(&members, k as u32, *axis);
        Ok(self.parts.iter().enumerate().map(one).collect())
    }

    /// The largest velocity gradient on the host, and its element.
    pub(super) fn largest_gradient(&self) -> (f64, usize) {
        let norm2 = |g: &[f64; 9]| g.iter().map(|x| x * x).sum::<f64>();
        let gradients = &self.evaluated.gradients;
        let largest = gradients
            .iter()
            .enumerate()
            .max_by(|a, b| norm2(a.1).total_cmp(&norm2(b.1)));
        largest.map_or((0.0, 0), |(at, gradient)| (norm2(gradient).sqrt(), at))
    }

    fn enstrophy(&self) -> f64 {
        let parts = self
            .evaluated
            .gradients
            .iter()
            .zip(&self.flow.strengths)
            .zip(&self.sizes);
        parts
            .map(|((gradient, strength), size)| dot(*strength, vorticity(self.motion.core, gradient, *strength, *size)))
            .sum()
    }

    /// The values of the columns.
    pub(super) fn measured(&mut self, with_energy: bool) -> Result<Vec<f64>, Error> {
        self.evaluate()?;
        self.bring_elements()?;
        let energy = if with_energy {
            energy(&self.elements(), self.motion.core, &mut self.summation)?
        } else {
            f64::NAN
        };
        let velocities = &self.evaluated.rates.positions;
        let invariants = Invariants::of(&self.flow.positions, &self.flow.strengths, velocities);
        let fastest = velocities.iter().map(|u| norm(*u)).fold(0.0, f64::max);
        let mut values = vec![self.flow.positions.len() as f64];
        for vector in [
            invariants.total_vorticity,
            invariants.impulse,
            invariants.angular_impulse,
        ] {
            values.extend(vector);
        }
        values.extend([
            energy,
            invariants.helicity,
            self.enstrophy(),
            fastest,
            self.largest_gradient().0,
        ]);
        for ring in self.rings()? {
            values.extend(ring.centre);
            values.extend([ring.radius, ring.speed]);
        }
        Ok(values)
    }
}
