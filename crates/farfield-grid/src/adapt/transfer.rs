//! Transfers values from one forest to another: copied, predicted into children or compressed into parents.

use crate::error::Error;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE, BlockId, Cover, Forest};
use crate::grid::{Channel, Grid, Region};
use crate::wavelet::{LIFT_MARGIN, LIFT_SIDE};
use farfield::simd::Real;
use rayon::prelude::*;

impl<T: Real> Grid<T> {
    /// Replaces the blocks by those of another forest of the same box and transfers all channels to them, in parallel.
    /// Leaves of the new forest may have any level, but a joined leaf must replace leaves one level finer; its values
    /// come from the lifted filter.
    ///
    /// # Errors
    /// [`Error::Leaves`] for a forest of another box or one that joins leaves over several levels, [`Error::Memory`].
    /// On an error the grid is unchanged.
    pub fn move_to(&mut self, forest: Forest) -> Result<(), Error> {
        let wrong = |reason| Err(Error::Leaves { reason });
        if forest.roots() != self.forest().roots() {
            return wrong(format!("they belong to another box, with {:?} roots", forest.roots()));
        }
        let joins_too_much = |block: &&BlockId| {
            self.forest().cover(**block) == Some(Cover::Finer)
                && block
                    .children()
                    .iter()
                    .any(|child| self.forest().find(*child).is_none())
        };
        if let Some(block) = forest.leaves().iter().find(joins_too_much) {
            return wrong(format!(
                "{block} would join leaves more than one level finer; join one level at a time"
            ));
        }
        self.check_forest_fits(&forest)?;
        self.replace(forest, |grid, channel, forest| grid.moved(channel, forest));
        Ok(())
    }

    fn moved(&self, channel: &Channel<T>, forest: &Forest) -> Vec<T> {
        let mut values = vec![T::ZERO; forest.leaves().len() * channel.block_len()];
        values
            .par_chunks_exact_mut(channel.block_len())
            .zip(forest.leaves())
            .for_each(|(values, block)| match self.forest().cover(*block) {
                Some(Cover::Leaf(old)) => {
                    values.copy_from_slice(&channel.values()[old * channel.block_len()..][..channel.block_len()]);
                }
                Some(Cover::Finer) => self.compress_into(channel, *block, values),
                _ => self.predict_into(channel, *block, values),
            });
        values
    }

    fn predict_into(&self, channel: &Channel<T>, block: BlockId, values: &mut [T]) {
        let low = block.at.map(|c| i64::from(c) * BLOCK_SIDE as i64);
        let region = Region::new(self.forest(), channel.boundary(), block.level, low, [BLOCK_SIDE; 3]);
        for (values, patch) in values
            .chunks_exact_mut(BLOCK_POINTS)
            .zip(self.assemble(&region, channel))
        {
            values.copy_from_slice(&patch.values);
        }
    }

    fn compress_into(&self, channel: &Channel<T>, block: BlockId, values: &mut [T]) {
        let corner = block.at.map(|c| i64::from(c) * BLOCK_SIDE as i64);
        let low = corner.map(|c| 2 * c - LIFT_MARGIN as i64);
        let region = Region::new(self.forest(), channel.boundary(), block.level + 1, low, [LIFT_SIDE; 3]);
        for (values, patch) in values
            .chunks_exact_mut(BLOCK_POINTS)
            .zip(self.assemble(&region, channel))
        {
            values.copy_from_slice(&self.wavelet().compress(&patch, corner).values);
        }
    }
}
