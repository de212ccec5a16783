//! Pointwise operations on channels.

use crate::error::Error;
use crate::grid::Grid;
use farfield::simd::Real;
use rayon::prelude::*;

/// Values in a chunk of parallel work.
const CHUNK: usize = 1 << 14;

impl<T: Real> Grid<T> {
    /// Calls `work(values of the target, values of the sources at the same points)` for chunks of the channels, in
    /// parallel. All channels must have the same number of components.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::Components`], [`Error::InPlace`] if the target is a source.
    pub fn combine<const N: usize>(
        &mut self,
        target: &str,
        sources: [&str; N],
        work: impl Fn(&mut [T], [&[T]; N]) + Sync,
    ) -> Result<(), Error> {
        let components = self.channel(target)?.components();
        for source in sources {
            if source == target {
                return Err(Error::InPlace {
                    name: target.to_owned(),
                });
            }
            self.expect_components(source, components)?;
        }
        let mut values = std::mem::take(self.values_vec_mut(target)?);
        let mut from = [&[][..]; N];
        for (from, source) in from.iter_mut().zip(sources) {
            *from = self.channel(source)?.values();
        }
        values.par_chunks_mut(CHUNK).enumerate().for_each(|(k, values)| {
            let range = k * CHUNK..k * CHUNK + values.len();
            work(values, from.map(|from| &from[range.clone()]));
        });
        *self.values_vec_mut(target)? = values;
        Ok(())
    }

    /// Swaps the values of two channels with the same number of components.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::Components`].
    pub fn swap(&mut self, one: &str, other: &str) -> Result<(), Error> {
        let components = self.channel(one)?.components();
        self.expect_components(other, components)?;
        let values = std::mem::take(self.values_vec_mut(one)?);
        let values = std::mem::replace(self.values_vec_mut(other)?, values);
        *self.values_vec_mut(one)? = values;
        Ok(())
    }
}
