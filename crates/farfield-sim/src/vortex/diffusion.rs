//! Viscosity by particle strength exchange.

use super::borrowed::Borrowed;
use super::neighbours::Neighbours;
use crate::ranks::Ranks;
use crate::vec3::{Vec3, add_scaled, dot, scale, sub};
use rayon::prelude::*;
use std::f64::consts::PI;

/// The rate of change of the strengths by viscosity (Degond and Mas-Gallic):
///
/// $$\frac{d\gamma_i}{dt} =
///   \sum_j \frac{\nu}{\epsilon_{ij}^2}(V_i\gamma_j - V_j\gamma_i)\\,\eta_{\epsilon_{ij}}(x_i-x_j),
///   \qquad \eta_\epsilon(r) = \frac{2}{(2\pi)^{3/2}\epsilon^3}e^{-r^2/2\epsilon^2},$$
///
/// with $\epsilon_{ij}^2 = (\sigma_i^2+\sigma_j^2)/2$. The exchange is antisymmetric, so the total strength is
/// conserved.
///
/// `largest` is the largest core size on any rank. Called by all ranks together.
pub fn strength_exchange(ranks: &dyn Ranks, elements: Borrowed<'_>, largest: f64, viscosity: f64) -> Vec<Vec3> {
    /// Beyond this many core sizes the exchange is below 4e-6 of its maximum.
    const REACH: f64 = 5.0;
    if largest <= 0.0 {
        return vec![[0.0; 3]; elements.own];
    }
    let elements = elements.with_near_ones(ranks, REACH * largest);
    let (positions, strengths) = (&elements.positions[..], &elements.strengths[..]);
    let (sizes, volumes) = (&elements.sizes[..], &elements.volumes[..]);
    let neighbours = Neighbours::new(positions, REACH * largest);
    let factor = 2.0 * viscosity / (2.0 * PI).powf(1.5);
    positions[..elements.own]
        .par_iter()
        .enumerate()
        .with_min_len(64)
        .map(|(i, x)| {
            let mut rate = [0.0; 3];
            neighbours.for_each_near(*x, |j| {
                let d = sub(*x, positions[j]);
                let size2 = 0.5 * (sizes[i] * sizes[i] + sizes[j] * sizes[j]);
                let r2 = dot(d, d);
                if j != i && r2 < REACH * REACH * size2 {
                    let weight = factor * (-0.5 * r2 / size2).exp() / (size2 * size2 * size2.sqrt());
                    let exchanged = add_scaled(scale(strengths[j], volumes[i]), -volumes[j], strengths[i]);
                    rate = add_scaled(rate, weight, exchanged);
                }
            });
            rate
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::Alone;
    use crate::vec3::{norm, sum};

    /// A Gaussian blob on a grid: its second moment along each axis grows at the rate 2 nu, and its total is constant.
    #[test]
    fn a_blob_spreads_at_the_right_rate() {
        let (h, viscosity) = (0.1, 0.01);
        let mut positions = Vec::new();
        let mut strengths = Vec::new();
        for i in -12..=12 {
            for j in -12..=12 {
                for k in -12..=12 {
                    let x = [f64::from(i) * h, f64::from(j) * h, f64::from(k) * h];
                    positions.push(x);
                    strengths.push([0.0, 0.0, (-dot(x, x) / (2.0 * 0.09)).exp() * h * h * h]);
                }
            }
        }
        let sizes = vec![1.2 * h; positions.len()];
        let volumes = vec![h * h * h; positions.len()];
        let rates = strength_exchange(
            &Alone,
            Borrowed::own(&positions, &strengths, &sizes, &volumes),
            1.2 * h,
            viscosity,
        );
        let total = sum(strengths.iter().copied())[2];
        assert!(norm(sum(rates.iter().copied())) < 1e-14 * total);
        let moment: f64 = positions
            .iter()
            .zip(&rates)
            .map(|(x, rate)| x[0] * x[0] * rate[2])
            .sum();
        assert!(
            (moment / (2.0 * viscosity * total) - 1.0).abs() < 0.01,
            "{}",
            moment / (2.0 * viscosity * total)
        );
    }
}
