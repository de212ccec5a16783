//! Measurements of a flow, on the host.

use super::VortexModel;
use super::energy::energy;
use super::motion::vorticity;
use crate::diagnostics::{Invariants, Members, RingMeasure, measure_ring};
use crate::error::Error;
use crate::model::Model;
use crate::ranks::{count_all, largest, of_all, sum_all};
use crate::vec3::{Vec3, dot, norm};

impl VortexModel {
    /// Position, radius and speed of every ring and knot.
    ///
    /// # Errors
    /// [`Error::Sum`] if the velocities are not known yet and the engine rejects the sum.
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
        let one =
            |(k, (_, axis)): (usize, &(String, Vec3))| measure_ring(&members, k as u32, *axis, &*self.summation.ranks);
        Ok(self.parts.iter().enumerate().map(one).collect())
    }

    /// The largest velocity gradient on any rank, and the name of its element and rank.
    pub(super) fn largest_gradient(&self) -> Result<(f64, String), Error> {
        let (own, at) = match &self.evaluated {
            Some(evaluated) => evaluated.gradients.longest(9)?,
            None => (0.0, 0),
        };
        let ranks = &*self.summation.ranks;
        if ranks.size() == 1 {
            return Ok((own, format!("element {at}")));
        }
        let all = of_all(ranks, &[own, at as f64]);
        let of_ranks = all.as_chunks::<2>().0.iter().enumerate();
        // The first of several equal ones.
        let (rank, [largest, at]) = of_ranks.fold((0, [0.0, 0.0]), |best, (rank, found)| {
            if found[0] > best.1[0] { (rank, *found) } else { best }
        });
        Ok((largest, format!("element {at} of rank {rank}")))
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
        let mut sums = Vec::with_capacity(11);
        for vector in [
            invariants.total_vorticity,
            invariants.impulse,
            invariants.angular_impulse,
        ] {
            sums.extend(vector);
        }
        let enstrophy = self.enstrophy(evaluated.gradients.vectors()?, strengths);
        sums.extend([invariants.helicity, enstrophy]);
        let ranks = &*self.summation.ranks;
        sum_all(ranks, &mut sums);
        let fastest = largest(ranks, fastest);
        let mut values = vec![count_all(ranks, positions.len()) as f64];
        values.extend(&sums[..9]);
        values.extend([energy, sums[9], sums[10], fastest, self.largest_gradient()?.0]);
        for ring in self.rings()? {
            values.extend(ring.centre);
            values.extend([ring.radius, ring.speed]);
        }
        Ok(values)
    }
}
