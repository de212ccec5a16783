//! One pass over all blocks that reads several channels with their ghosts.

use crate::error::Error;
use crate::forest::BlockId;
use crate::grid::{Channel, Ghosted, Grid, MAX_GHOSTS};
use farfield::simd::Real;
use rayon::prelude::*;

/// A channel to be read, and how many ghosts of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read<'a> {
    /// The channel's name.
    pub channel: &'a str,
    /// The width of the layer around each block.
    pub ghosts: usize,
}

impl<'a> Read<'a> {
    /// So many ghosts of that channel.
    pub fn new(channel: &'a str, ghosts: usize) -> Self {
        Self { channel, ghosts }
    }
}

impl<T: Real> Grid<T> {
    /// Calls `work` for every block, in parallel: it reads the channels `inputs` with their ghosts, in that order, and
    /// changes the block of channel `output`, which still has its old numbers (component by component, point by point).
    /// Returns what `work` returned, block by block: maxima and sums are taken from there in a fixed order.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::GhostWidth`], [`Error::InPlace`] if `output` is read with ghosts.
    pub fn sweep<R: Send>(
        &mut self,
        inputs: &[Read<'_>],
        output: &str,
        work: impl Fn(&[Ghosted<T>], &mut [T]) -> R + Sync,
    ) -> Result<Vec<R>, Error> {
        let results = self.sweep_leaves(inputs, output, |_| true, work)?;
        Ok(results.into_iter().flatten().collect())
    }

    /// [`Grid::sweep`] over those blocks that are `chosen`; for the others the result is `None`.
    ///
    /// # Errors
    /// As [`Grid::sweep`].
    pub fn sweep_where<R: Send>(
        &mut self,
        inputs: &[Read<'_>],
        output: &str,
        chosen: impl Fn(BlockId) -> bool + Sync,
        work: impl Fn(&[Ghosted<T>], &mut [T]) -> R + Sync,
    ) -> Result<Vec<Option<R>>, Error> {
        let chosen: Vec<bool> = self.forest().leaves().par_iter().map(|block| chosen(*block)).collect();
        self.sweep_leaves(inputs, output, |leaf| chosen[leaf], work)
    }

    /// [`Grid::sweep`] over those leaves that are `chosen` by their numbers.
    fn sweep_leaves<R: Send>(
        &mut self,
        inputs: &[Read<'_>],
        output: &str,
        chosen: impl Fn(usize) -> bool + Sync,
        work: impl Fn(&[Ghosted<T>], &mut [T]) -> R + Sync,
    ) -> Result<Vec<Option<R>>, Error> {
        if inputs.iter().any(|input| input.channel == output) {
            return Err(Error::InPlace {
                name: output.to_owned(),
            });
        }
        self.reads(inputs)?;
        let length = self.channel(output)?.block_len();
        let mut values = std::mem::take(self.values_vec_mut(output)?);
        let reads = self.reads(inputs)?;
        let results = values
            .par_chunks_exact_mut(length)
            .enumerate()
            .map(|(leaf, values)| chosen(leaf).then(|| work(&self.ghosted_channels(&reads, leaf), values)))
            .collect();
        *self.values_vec_mut(output)? = values;
        Ok(results)
    }

    /// [`Grid::sweep`] with work that is linear in the first input: where that is zero, ghosts included, the output is set to
    /// zero without any.
    ///
    /// # Errors
    /// As [`Grid::sweep`].
    pub fn sweep_linear(
        &mut self,
        inputs: &[Read<'_>],
        output: &str,
        work: impl Fn(&[Ghosted<T>], &mut [T]) + Sync,
    ) -> Result<(), Error> {
        let nonzero = match self.reads(inputs)?.first() {
            Some((channel, ghosts)) => self.nonzero_leaves(channel, *ghosts),
            None => return Ok(()),
        };
        let length = self.channel(output)?.block_len();
        let blocks = self.values_mut(output)?.par_chunks_exact_mut(length);
        blocks.zip(&nonzero).for_each(|(values, nonzero)| {
            if !nonzero {
                values.fill(T::ZERO);
            }
        });
        self.sweep_leaves(inputs, output, |leaf| nonzero[leaf], work)?;
        Ok(())
    }

    /// [`Grid::sweep`] that changes nothing.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::GhostWidth`].
    pub fn look<R: Send>(
        &self,
        inputs: &[Read<'_>],
        work: impl Fn(&[Ghosted<T>]) -> R + Sync,
    ) -> Result<Vec<R>, Error> {
        let results = self.look_where(inputs, |_| true, work)?;
        Ok(results.into_iter().flatten().collect())
    }

    /// [`Grid::look`] at those blocks that are `chosen`; for the others the result is `None`.
    ///
    /// # Errors
    /// As [`Grid::look`].
    pub fn look_where<R: Send>(
        &self,
        inputs: &[Read<'_>],
        chosen: impl Fn(BlockId) -> bool + Sync,
        work: impl Fn(&[Ghosted<T>]) -> R + Sync,
    ) -> Result<Vec<Option<R>>, Error> {
        let reads = self.reads(inputs)?;
        Ok((0..self.forest().leaves().len())
            .into_par_iter()
            .map(|leaf| chosen(self.leaf(leaf)).then(|| work(&self.ghosted_channels(&reads, leaf))))
            .collect())
    }

    fn reads(&self, inputs: &[Read<'_>]) -> Result<Vec<(&Channel<T>, usize)>, Error> {
        inputs
            .iter()
            .map(|input| {
                if input.ghosts > MAX_GHOSTS {
                    return Err(Error::GhostWidth {
                        width: input.ghosts,
                        limit: MAX_GHOSTS,
                    });
                }
                Ok((self.channel(input.channel)?, input.ghosts))
            })
            .collect()
    }

    fn ghosted_channels(&self, reads: &[(&Channel<T>, usize)], leaf: usize) -> Vec<Ghosted<T>> {
        reads
            .iter()
            .map(|(channel, width)| self.with_ghosts(channel, leaf, *width))
            .collect()
    }
}
