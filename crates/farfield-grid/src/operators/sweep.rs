//! Passes over all blocks that read several channels with their ghosts.

use crate::error::Error;
use crate::forest::BlockId;
use crate::grid::{Channel, Ghosted, Grid, MAX_GHOSTS, OfWidth};
use farfield::simd::Real;
use rayon::prelude::*;
use std::sync::Arc;

/// A channel to read and the width of its ghost layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read<'a> {
    /// The channel's name.
    pub channel: &'a str,
    /// The width of the layer around each block.
    pub ghosts: usize,
}

impl<'a> Read<'a> {
    /// Reads `channel` with a ghost layer of width `ghosts`.
    pub fn new(channel: &'a str, ghosts: usize) -> Self {
        Self { channel, ghosts }
    }
}

/// A channel and the regions from which the ghosts of its blocks are filled.
type Source<'a, T> = (&'a Channel<T>, Arc<OfWidth>);

impl<T: Real> Grid<T> {
    /// Calls `work` for every block, in parallel. `work` gets the channels `inputs` with their ghosts, in that order,
    /// and changes the block of channel `output`, which holds its old values (component by component, point by point).
    /// Returns the results of `work` in the order of the blocks, so that reductions over them are reproducible.
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

    /// [`Grid::sweep`] over the blocks for which `chosen` returns true; the result of the others is `None`.
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

    /// [`Grid::sweep`] over the leaves whose index is `chosen`.
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
            .map_init(Vec::new, |ghosted, (leaf, values)| {
                chosen(leaf).then(|| {
                    self.fill_all(&reads, leaf, ghosted);
                    work(ghosted, values)
                })
            })
            .collect();
        *self.values_vec_mut(output)? = values;
        Ok(results)
    }

    /// [`Grid::sweep`] for work that is linear in the first input: in blocks where that input and its ghosts are zero,
    /// the output is set to zero and `work` is not called.
    ///
    /// # Errors
    /// As [`Grid::sweep`].
    pub fn sweep_linear(
        &mut self,
        inputs: &[Read<'_>],
        output: &str,
        work: impl Fn(&[Ghosted<T>], &mut [T]) + Sync,
    ) -> Result<(), Error> {
        let nonzero = self.nonzero_first(inputs)?;
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

    /// [`Grid::sweep`] over the blocks where the first input, including its ghosts, is not zero; the others do not
    /// change.
    ///
    /// # Errors
    /// As [`Grid::sweep`].
    pub fn sweep_nonzero(
        &mut self,
        inputs: &[Read<'_>],
        output: &str,
        work: impl Fn(&[Ghosted<T>], &mut [T]) + Sync,
    ) -> Result<(), Error> {
        let nonzero = self.nonzero_first(inputs)?;
        self.sweep_leaves(inputs, output, |leaf| nonzero[leaf], work)?;
        Ok(())
    }

    /// For each block, whether the first input, including its ghosts, is not zero there.
    fn nonzero_first(&self, inputs: &[Read<'_>]) -> Result<Vec<bool>, Error> {
        let reads = self.reads(inputs)?;
        Ok(match reads.first() {
            Some((channel, regions)) => self.nonzero_leaves(channel, regions.width()),
            None => vec![false; self.forest().leaves().len()],
        })
    }

    /// [`Grid::sweep`] without an output.
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

    /// [`Grid::look`] at the blocks for which `chosen` returns true; the result of the others is `None`.
    ///
    /// # Errors
    /// As [`Grid::look`].
    pub fn look_where<R: Send>(
        &self,
        inputs: &[Read<'_>],
        chosen: impl Fn(BlockId) -> bool + Sync,
        work: impl Fn(&[Ghosted<T>]) -> R + Sync,
    ) -> Result<Vec<Option<R>>, Error> {
        self.look_leaves(inputs, |leaf| chosen(self.leaf(leaf)), work)
    }

    /// [`Grid::look`] at the blocks where the first input, including its ghosts, is not zero; the result of the others
    /// is `None`.
    ///
    /// # Errors
    /// As [`Grid::look`].
    pub fn look_nonzero<R: Send>(
        &self,
        inputs: &[Read<'_>],
        work: impl Fn(&[Ghosted<T>]) -> R + Sync,
    ) -> Result<Vec<Option<R>>, Error> {
        let nonzero = self.nonzero_first(inputs)?;
        self.look_leaves(inputs, |leaf| nonzero[leaf], work)
    }

    fn look_leaves<R: Send>(
        &self,
        inputs: &[Read<'_>],
        chosen: impl Fn(usize) -> bool + Sync,
        work: impl Fn(&[Ghosted<T>]) -> R + Sync,
    ) -> Result<Vec<Option<R>>, Error> {
        let reads = self.reads(inputs)?;
        Ok((0..self.forest().leaves().len())
            .into_par_iter()
            .map_init(Vec::new, |ghosted, leaf| {
                chosen(leaf).then(|| {
                    self.fill_all(&reads, leaf, ghosted);
                    work(ghosted)
                })
            })
            .collect())
    }

    fn reads(&self, inputs: &[Read<'_>]) -> Result<Vec<Source<'_, T>>, Error> {
        inputs
            .iter()
            .map(|input| {
                if input.ghosts > MAX_GHOSTS {
                    return Err(Error::GhostWidth {
                        width: input.ghosts,
                        limit: MAX_GHOSTS,
                    });
                }
                let channel = self.channel(input.channel)?;
                Ok((channel, self.regions_of(channel, input.ghosts)))
            })
            .collect()
    }

    /// Fills `ghosted`, whose memory is reused, with the block `leaf` of all channels and their ghosts.
    fn fill_all(&self, reads: &[Source<'_, T>], leaf: usize, ghosted: &mut Vec<Ghosted<T>>) {
        ghosted.resize_with(reads.len(), || Ghosted::empty(self.leaf(leaf)));
        for (ghosted, (channel, regions)) in ghosted.iter_mut().zip(reads) {
            self.fill_ghosted(channel, regions, leaf, ghosted);
        }
    }
}
