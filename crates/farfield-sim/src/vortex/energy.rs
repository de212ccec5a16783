//! The kinetic energy $E = \frac12\int\psi\cdot\omega$ of the elements.

use super::Elements;
use super::borrowed::Borrowed;
use super::neighbours::Neighbours;
use super::profile::{PotentialTable, reach};
use crate::error::Error;
use crate::ranks::{Ranks, largest, sum_all};
use crate::summation::{ENERGY_SUM, Summation, Task};
use crate::vec3::{dot, norm, sub};
use farfield::Request;
use farfield::kernel::{Core, Kernel};
use farfield::memory::{ArrayPoints, Memory};
use rayon::prelude::*;
use std::f64::consts::PI;

/// $E = \frac{1}{8\pi}\sum_{ij}\gamma_i\cdot\gamma_j\\,q_{\sigma_j}(|x_i-x_j|)$ with $q$ the core's potential, $i=j$
/// included.
///
/// The engine sums the three components of $\sum_j\gamma_j/r$ as three vectors of charges. Near pairs, the only ones
/// affected by the core, are then corrected from $1/r$ to $q$.
///
/// # Errors
/// [`Error::Sum`] if the engine rejects the sum.
pub fn energy(elements: &Elements, core: Core, summation: &mut Summation) -> Result<f64, Error> {
    let n = elements.len();
    let mut charges = vec![0.0; 3 * n];
    for (i, strength) in elements.strengths.iter().enumerate() {
        for axis in 0..3 {
            charges[axis * n + i] = strength[axis];
        }
    }
    let host = Memory::host();
    let [potentials] = summation.evaluate(&Task {
        what: ENERGY_SUM,
        request: Request {
            vectors: 3,
            ..Request::new(Kernel::Coulomb)
        },
        points: ArrayPoints::of(&host.store(elements.positions.as_flattened().to_vec())?),
        strengths: &host.store(charges)?,
    })?;
    let potentials = potentials.values()?;
    let ranks = &*summation.ranks;
    let corrections = core_corrections(elements, core, ranks);
    let singular: f64 = (0..n)
        .map(|i| {
            (0..3)
                .map(|axis| elements.strengths[i][axis] * potentials[axis * n + i])
                .sum::<f64>()
        })
        .sum();
    let mut energy = [(singular + corrections.iter().sum::<f64>()) / (8.0 * PI)];
    sum_all(ranks, &mut energy);
    Ok(energy[0])
}

/// For each element, the sum of $\gamma_i\cdot\gamma_j(q-1/r)$ over itself and its neighbours. The engine skips pairs
/// at distance 0, so these contribute the whole $q$ here. Called by all ranks together.
fn core_corrections(elements: &Elements, core: Core, ranks: &dyn Ranks) -> Vec<f64> {
    let size = largest(ranks, elements.sizes.iter().copied().fold(0.0, f64::max));
    let radius = reach(core, size);
    if radius <= 0.0 {
        return Vec::new();
    }
    let elements = Borrowed::of(elements).with_near_ones(ranks, radius);
    let neighbours = Neighbours::new(&elements.positions, radius);
    let table = PotentialTable::new(core);
    elements.positions[..elements.own]
        .par_iter()
        .enumerate()
        .with_min_len(64)
        .map(|(i, x)| {
            let mut sum = 0.0;
            neighbours.for_each_near(*x, |j| {
                let r = norm(sub(*x, elements.positions[j]));
                if r < radius {
                    let singular = if r > 0.0 { 1.0 / r } else { 0.0 };
                    let difference = table.at(r, elements.sizes[j]) - singular;
                    sum += difference * dot(elements.strengths[i], elements.strengths[j]);
                }
            });
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::SumSettings;
    use crate::vec3::Vec3;
    use crate::vortex::profile::potential;
    use farfield::points::{PointSet, Random};
    use farfield::tuning::MachineProfile;

    #[test]
    fn the_energy_is_the_sum_over_all_pairs() {
        let mut random = Random::new(4);
        let positions = PointSet::Ring.generate::<f64>(700, 2);
        let strengths: Vec<Vec3> = (0..700).map(|_| std::array::from_fn(|_| random.normal())).collect();
        for core in [Core::Gaussian, Core::WinckelmansLeonard, Core::HuPolynomial] {
            let elements = Elements {
                positions: positions.clone(),
                strengths: strengths.clone(),
                sizes: (0..700).map(|k| if k % 2 == 0 { 0.02 } else { 0.01 }).collect(),
                ..Elements::default()
            };
            let mut expected = 0.0;
            for i in 0..700 {
                for j in 0..700 {
                    let r = norm(sub(positions[i], positions[j]));
                    expected += dot(strengths[i], strengths[j]) * potential(core, r, elements.sizes[j]);
                }
            }
            expected /= 8.0 * PI;
            let settings = SumSettings {
                tolerance: 1e-9,
                ..SumSettings::default()
            };
            let found = energy(
                &elements,
                core,
                &mut Summation::new(settings, MachineProfile::default()),
            )
            .unwrap();
            assert!(
                (found - expected).abs() < 5e-5 * expected.abs(),
                "{core:?}: {found} {expected}"
            );
        }
    }
}
