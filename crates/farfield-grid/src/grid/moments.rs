//! Moments and integrals over all points.

use super::Grid;
use super::fill::point_coordinates;
use crate::error::Error;
use crate::forest::BLOCK_POINTS;
use farfield::simd::Real;
use rayon::prelude::*;

impl<T: Real> Grid<T> {
    /// The moment $\sum h^3 x^a y^b z^c f$ of one component of a channel.
    ///
    /// For cell averages the zeroth moment is the exact integral. At nodes the weight of a point is the volume of a
    /// cell of its level, whatever the levels of its neighbours.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn moment(&self, channel: &str, component: usize, powers: [i32; 3]) -> Result<f64, Error> {
        self.integrate(channel, component, |x, value| {
            value * (0..3).map(|axis| x[axis].powi(powers[axis])).product::<f64>()
        })
    }

    /// The integral $\sum h^3 g(x, f)$ over one component of a channel; it does not depend on the number of threads.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn integrate(
        &self,
        channel: &str,
        component: usize,
        integrand: impl Fn([f64; 3], f64) -> f64 + Sync,
    ) -> Result<f64, Error> {
        let channel = self.channel(channel)?;
        let sums: Vec<f64> = (0..self.forest.leaves().len())
            .into_par_iter()
            .map(|leaf| {
                let volume = self.domain.spacing(self.leaf(leaf).level).powi(3);
                let values = channel.block(leaf, component);
                let sum: f64 = (0..BLOCK_POINTS)
                    .map(|point| integrand(self.position(leaf, point_coordinates(point)), values[point].to_f64()))
                    .sum();
                volume * sum
            })
            .collect();
        Ok(sums.iter().sum())
    }
}
