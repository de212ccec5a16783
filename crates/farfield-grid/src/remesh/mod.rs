//! Convects values with a flow: every grid point becomes a particle that moves, and particles are then remeshed.
//!
//! This is the gather form: each block takes its own particles and those of the ghost layers around it, moves them and
//! gathers their contributions to its own points. No point is written by two blocks, so the result does not depend on
//! the number of threads. On one level the contributions of a particle add up to its value, so the sum of all values is
//! conserved to round-off. Where levels meet, each side sees the particles of the other interpolated to its own
//! spacing, and the sums differ by interpolation errors; [`Grid::restore_integrals`] measures and removes the
//! difference.

mod gather;
mod kernel;

pub use kernel::RemeshKernel;

use crate::error::Error;
use crate::forest::BLOCK_POINTS;
use crate::grid::{Grid, MAX_GHOSTS};
use crate::operators::Read;
use farfield::simd::{Real, SimdLevel};
use rayon::prelude::*;

/// The integrals of a channel's components before and after a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Balance {
    /// The integral before the step, component by component.
    pub before: Vec<f64>,
    /// The integral after the step, without the correction.
    pub after: Vec<f64>,
    /// The integral of the absolute values after the step.
    pub absolute: Vec<f64>,
}

impl Balance {
    /// The largest change of a component's integral, divided by the integral of all absolute values; zero if that is
    /// zero.
    pub fn lost(&self) -> f64 {
        self.share(&self.after, &self.before)
    }

    /// The largest difference between two sets of integrals, divided by the integral of all absolute values.
    pub fn share(&self, one: &[f64], other: &[f64]) -> f64 {
        let absolute: f64 = self.absolute.iter().sum();
        let largest = one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if absolute > 0.0 { largest / absolute } else { 0.0 }
    }
}

impl<T: Real> Grid<T> {
    /// Sets channel `output` to `carried` after its points moved by `time` times `velocity`.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::InPlace`], [`Error::Components`]; [`Error::Displacement`] if points move
    /// farther than a ghost layer allows.
    pub fn remesh(
        &mut self,
        kernel: RemeshKernel,
        carried: &str,
        velocity: &str,
        time: f64,
        output: &str,
    ) -> Result<(), Error> {
        self.expect_components(velocity, 3)?;
        let components = self.channel(carried)?.components();
        self.expect_components(carried, components.min(3))?;
        self.expect_components(output, components)?;
        let cells = self.most_cells(velocity, time)?;
        let limit = MAX_GHOSTS - kernel.reach();
        // A NaN must not pass.
        if cells.is_nan() || cells > limit as f64 {
            return Err(Error::Displacement { cells, limit });
        }
        let ghosts = kernel.reach() + cells.ceil() as usize;
        let simd = SimdLevel::best();
        self.sweep_linear(
            &[Read::new(carried, ghosts), Read::new(velocity, ghosts)],
            output,
            |inputs, output| gather::collect(simd, kernel, &inputs[0], &inputs[1], time, output),
        )
    }

    /// The largest displacement in `time`, in spacings of the block it starts from.
    fn most_cells(&self, velocity: &str, time: f64) -> Result<f64, Error> {
        let channel = self.channel(velocity)?;
        let leaves = self.forest().leaves();
        let cells: Vec<f64> = channel
            .values()
            .par_chunks_exact(channel.block_len())
            .zip(leaves)
            .map(|(values, leaf)| {
                let mut largest = 0.0f64;
                for value in values {
                    let size = value.to_f64().abs();
                    // `f64::max` would drop a NaN.
                    if size > largest || size.is_nan() {
                        largest = size;
                    }
                }
                largest * time.abs() / self.domain().spacing(leaf.level)
            })
            .collect();
        Ok(cells
            .into_iter()
            .fold(0.0, |a, b| if b > a || b.is_nan() { b } else { a }))
    }

    /// The integrals of a channel's components and of their absolute values.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn integrals(&self, channel: &str) -> Result<[Vec<f64>; 2], Error> {
        let channel = self.channel(channel)?;
        let components = channel.components();
        let parts: Vec<[f64; 2]> = channel
            .values()
            .par_chunks_exact(BLOCK_POINTS)
            .enumerate()
            .map(|(k, values)| {
                let level = self.forest().leaves()[k / components].level;
                let volume = self.domain().spacing(level).powi(3);
                // Sixteen independent sums, which fit into registers.
                let (mut sums, mut sizes) = ([0.0; 16], [0.0; 16]);
                for values in values.as_chunks::<16>().0 {
                    for k in 0..16 {
                        let value = values[k].to_f64();
                        sums[k] += value;
                        sizes[k] += value.abs();
                    }
                }
                [volume * sums.iter().sum::<f64>(), volume * sizes.iter().sum::<f64>()]
            })
            .collect();
        let mut totals = [vec![0.0; components], vec![0.0; components]];
        for (k, part) in parts.iter().enumerate() {
            totals[0][k % components] += part[0];
            totals[1][k % components] += part[1];
        }
        Ok(totals)
    }

    /// Restores the integrals of a channel's components to `before`: the difference is distributed over all points in
    /// proportion to their absolute values. Returns the integrals before and after the step.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn restore_integrals(&mut self, channel: &str, before: &[f64]) -> Result<Balance, Error> {
        let [after, absolute] = self.integrals(channel)?;
        let components = after.len();
        let shares: Vec<f64> = (0..components)
            .map(|c| {
                if absolute[c] > 0.0 {
                    (before[c] - after[c]) / absolute[c]
                } else {
                    0.0
                }
            })
            .collect();
        self.values_mut(channel)?
            .par_chunks_exact_mut(BLOCK_POINTS)
            .enumerate()
            .for_each(|(k, values)| {
                let share = shares[k % components];
                if share != 0.0 {
                    for value in values {
                        let v = value.to_f64();
                        *value = T::from_f64(v + share * v.abs());
                    }
                }
            });
        Ok(Balance {
            before: before.to_vec(),
            after,
            absolute,
        })
    }
}
