//! The self term of the singular kernel: the contribution of a point to itself.

use super::kernel::LATTICE_SELF_TERM;
use crate::forest::BLOCK_POINTS;
use crate::grid::{Channel, Grid};
use crate::operators::{CURL_GHOSTS, add_curl};
use farfield::simd::Real;
use rayon::prelude::*;
use std::f64::consts::PI;

/// Adds the self term of the potential, $\frac{2.8373}{4\pi h}\omega h^3$, at the points that are sources.
pub(super) fn add_to_potential<T: Real>(grid: &Grid<T>, source: &Channel<T>, threshold: f64, values: &mut [T]) {
    let components = source.components();
    values
        .par_chunks_exact_mut(components * BLOCK_POINTS)
        .enumerate()
        .for_each(|(leaf, values)| {
            let h = grid.domain().spacing(grid.forest().leaves()[leaf].level);
            let factor = LATTICE_SELF_TERM * h * h / (4.0 * PI);
            for point in 0..BLOCK_POINTS {
                let omega = |component: usize| source.block(leaf, component)[point].to_f64();
                if (0..components).all(|component| omega(component).abs() <= threshold) {
                    continue;
                }
                for component in 0..components {
                    values[component * BLOCK_POINTS + point] += T::from_f64(factor * omega(component));
                }
            }
        });
}

/// Adds the self term of the velocity, $\frac{2.8373}{12\pi}h^2\nabla\times\omega$. It follows from the linear part of
/// $\omega$ around a point: the lattice sum of $y_iy_k/r^3$ is a third of that of $1/r$ for $i=k$, and zero otherwise.
pub(super) fn add_to_velocity<T: Real>(grid: &Grid<T>, vorticity: &Channel<T>, values: &mut [T]) {
    let nonzero = grid.nonzero_leaves(vorticity, CURL_GHOSTS);
    values
        .par_chunks_exact_mut(vorticity.block_len())
        .zip(&nonzero)
        .enumerate()
        .filter(|(_, (_, nonzero))| **nonzero)
        .for_each(|(leaf, (values, _))| {
            let ghosted = grid.with_ghosts(vorticity, leaf, CURL_GHOSTS);
            let factor = LATTICE_SELF_TERM * ghosted.spacing().powi(2) / (12.0 * PI);
            add_curl(factor, &ghosted, values);
        });
}
