//! How large the wavelet details of each block are.

use crate::error::Error;
use crate::forest::BLOCK_SIDE;
use crate::grid::Grid;
use farfield::simd::Real;
use rayon::prelude::*;

/// How far beyond a block its details look.
const REACH: usize = 4;

impl<T: Real> Grid<T> {
    /// The largest absolute detail of each block, over all components of `channels`, in parallel.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn details(&self, channels: &[&str]) -> Result<Vec<f64>, Error> {
        let channels: Vec<_> = channels
            .iter()
            .map(|name| self.channel(name))
            .collect::<Result<_, _>>()?;
        Ok((0..self.forest().leaves().len())
            .into_par_iter()
            .map(|leaf| {
                let low = self.leaf(leaf).at.map(|c| i64::from(c) * BLOCK_SIDE as i64);
                let mut largest = 0.0f64;
                for channel in &channels {
                    let ghosted = self.with_ghosts(channel, leaf, REACH);
                    for component in 0..channel.components() {
                        let patch = ghosted.patch(component);
                        largest = largest.max(self.wavelet().largest_detail(patch, low, [BLOCK_SIDE; 3]));
                    }
                }
                largest
            })
            .collect())
    }
}
