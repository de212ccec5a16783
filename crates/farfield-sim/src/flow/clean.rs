//! Keeps the vorticity divergence-free and inside the box.

use super::model::{DIVERGENCE, OMEGA, POTENTIAL, Solver};
use crate::error::Error;
use farfield_grid::operators::{Divergence, Stencil};
use farfield_grid::poisson::Precision;
use farfield_grid::{BLOCK_POINTS, BLOCK_SIDE, BlockId, Domain, Read};
use rayon::prelude::*;
use std::f64::consts::PI;

/// The number of spacings over which vorticity fades to zero at the boundary of the box.
pub(super) const FADE: f64 = 6.0;

/// Vorticity below this fraction of the source cutoff is set to zero.
const NOTHING: f64 = 1e-3;

impl<T: Precision> Solver<T> {
    /// Projects the vorticity to a divergence-free one, $\omega+\nabla\phi$ with $\nabla^2\phi=-\nabla\cdot\omega$,
    /// where it is not negligible. Uses two temporary scalar channels.
    pub(super) fn clean(&mut self) -> Result<(), Error> {
        let [before, _] = self.grid.integrals(OMEGA)?;
        let least = self.setup.flow.source_cutoff * self.grid.largest(OMEGA)?;
        self.grid.add_channel(DIVERGENCE, 1)?;
        self.grid.add_channel(POTENTIAL, 1)?;
        let done = self.project(least);
        self.grid.remove_channel(DIVERGENCE)?;
        self.grid.remove_channel(POTENTIAL)?;
        done?;
        self.grid.restore_integrals(OMEGA, &before)?;
        Ok(())
    }

    fn project(&mut self, least: f64) -> Result<(), Error> {
        self.grid.apply(&Divergence(Stencil::Fourth), OMEGA, DIVERGENCE)?;
        let threshold = 1e-6 * self.grid.largest(DIVERGENCE)?;
        let poisson = self.poisson().threshold(threshold);
        poisson.solve(&mut self.grid, DIVERGENCE, POTENTIAL)?;
        self.grid.sweep(&[Read::new(POTENTIAL, 2)], OMEGA, |inputs, output| {
            let (input, side) = (&inputs[0], inputs[0].side());
            let (phi, h) = (input.values(0), input.spacing());
            for k in 0..BLOCK_POINTS {
                let size = (0..3)
                    .map(|c| output[c * BLOCK_POINTS + k].to_f64().abs())
                    .fold(0.0, f64::max);
                if size <= least {
                    continue;
                }
                let point = [k % BLOCK_SIDE, k / BLOCK_SIDE % BLOCK_SIDE, k / BLOCK_SIDE / BLOCK_SIDE];
                let at = input.index(point.map(|c| c as isize));
                for (axis, s) in [1, side, side * side].into_iter().enumerate() {
                    let near = phi[at + s].to_f64() - phi[at - s].to_f64();
                    let far = phi[at + 2 * s].to_f64() - phi[at - 2 * s].to_f64();
                    output[axis * BLOCK_POINTS + k] += T::from_f64((8.0 * near - far) / (12.0 * h));
                }
            }
        })?;
        Ok(())
    }

    /// The integral of $|\nabla\cdot\omega|h$ over that of $|\omega|$: zero for a divergence-free field, about one for
    /// noise.
    pub(super) fn divergence(&self) -> Result<f64, Error> {
        let [divergence, size] = self.grid.divergence_and_size(OMEGA)?;
        Ok(if size > 0.0 { divergence / size } else { 0.0 })
    }

    /// Fades vorticity at the boundary of the box and sets traces to zero. Returns the fraction of the vorticity that
    /// this removed.
    pub(super) fn fade(&mut self) -> Result<f64, Error> {
        let domain = *self.grid.domain();
        let offset = self.grid.wavelet().offset();
        let leaves = self.grid.forest().leaves().to_vec();
        let [_, absolute] = self.grid.integrals(OMEGA)?;
        let least = T::from_f64(NOTHING * self.setup.flow.source_cutoff * self.grid.largest(OMEGA)?);
        let taken: Vec<f64> = self
            .grid
            .values_mut(OMEGA)?
            .par_chunks_exact_mut(3 * BLOCK_POINTS)
            .zip(&leaves)
            .map(|(values, block)| {
                // Finite differences spread ever weaker traces outwards. Removing them keeps distant blocks empty and
                // cheap.
                let mut traces = 0.0;
                for value in values.iter_mut() {
                    if *value < least && *value > -least {
                        traces += value.to_f64().abs();
                        *value = T::ZERO;
                    }
                }
                traces * domain.spacing(block.level).powi(3) + fade_block(&domain, offset, *block, values)
            })
            .collect();
        let (taken, size): (f64, f64) = (taken.iter().sum(), absolute.iter().sum());
        Ok(if size > 0.0 { taken / size } else { 0.0 })
    }
}

fn fade_block<T: Precision>(domain: &Domain, offset: f64, block: BlockId, values: &mut [T]) -> f64 {
    let last = domain.roots().map(|roots| (roots << block.level) - 1);
    if (0..3).all(|axis| block.at[axis] != 0 && block.at[axis] != last[axis]) {
        return 0.0;
    }
    let h = domain.spacing(block.level);
    let factor = |axis: usize, c: usize| {
        let from_low = if block.at[axis] == 0 { c as f64 + offset } else { FADE };
        let from_high = if block.at[axis] == last[axis] {
            BLOCK_SIDE as f64 - c as f64 - offset
        } else {
            FADE
        };
        let share = (from_low.min(from_high) / FADE).clamp(0.0, 1.0);
        0.5 * (1.0 - (PI * share).cos())
    };
    let factors: [[f64; BLOCK_SIDE]; 3] = std::array::from_fn(|axis| std::array::from_fn(|c| factor(axis, c)));
    let mut taken = 0.0;
    for (k, value) in values.iter_mut().enumerate() {
        let k = k % BLOCK_POINTS;
        let f = factors[0][k % BLOCK_SIDE]
            * factors[1][k / BLOCK_SIDE % BLOCK_SIDE]
            * factors[2][k / BLOCK_SIDE / BLOCK_SIDE];
        if f < 1.0 {
            taken += (1.0 - f) * value.to_f64().abs();
            *value = T::from_f64(f * value.to_f64());
        }
    }
    taken * h * h * h
}
