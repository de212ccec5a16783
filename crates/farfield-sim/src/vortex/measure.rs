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
        let Some(evaluated) = &self.evaluated else {
            return Ok(Vec::new());
        };
        let members = Members {
            positions: self.flow.positions.vectors()?,
            strengths: self.flow.strengths.vectors()?,
            velocities: evaluated.rates.positions.vectors()?,
            strength_rates: evaluated.rates.strengths.vectors()?,
            groups: &self.groups,
        };
        let one = |(k, (_, axis)): (usize, &(String, Vec3))| measure_ring(&members, k as u32, *axis);
        Ok(self.parts.iter().enumerate().map(one).collect())
    }

    /// The largest velocity gradient, and its element.
    pub(super) fn largest_gradient(&self) -> Result<(f64, usize), Error> {
        match &self.evaluated {
            Some(evaluated) => Ok(evaluated.gradients.longest(9)?),
            None => Ok((0.0, 0)),
        }
    }

    fn enstrophy(&self, gradients: &[[f64; 9]], strengths: &[Vec3]) -> f64 {
        let parts = gradients.iter().zip(strengths).zip(&self.cores.sizes);
        parts
            .map(|((gradient, strength), size)| dot(*strength, vorticity(self.motion.core, gradient, *strength, *size)))
            .sum()
    }

    /// The values of the columns.
    pub(super) fn measured(&mut self, with_energy: bool) -> Result<Vec<f64>, Error> {
        self.evaluate()?;
        let energy = if with_energy {
            energy(&self.elements()?, self.motion.core, &mut self.summation)?
        } else {
            f64::NAN
        };
        let Some(evaluated) = &self.evaluated else {
            return Ok(Vec::new());
        };
        let (positions, strengths) = (self.flow.positions.vectors()?, self.flow.strengths.vectors()?);
        let velocities: &[Vec3] = evaluated.rates.positions.vectors()?;
        let invariants = Invariants::of(positions, strengths, velocities);
        let fastest = velocities.iter().map(|u| norm(*u)).fold(0.0, f64::max);
        let mut values = vec![positions.len() as f64];
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
            self.enstrophy(evaluated.gradients.vectors()?, strengths),
            fastest,
            self.largest_gradient()?.0,
        ]);
        for ring in self.rings()? {
            values.extend(ring.centre);
            values.extend([ring.radius, ring.speed]);
        }
        Ok(values)
    }
}
