//! Core sizes as loops over pairs take them.

use crate::kernel::Sizes;
use crate::parallel::map;
use crate::simd::Real;

/// Squared core sizes, in the order of the sources.
#[derive(Debug)]
pub(crate) enum SortedSizes<T> {
    Global(T),
    PerSource(Vec<T>),
}

impl<T: Real> SortedSizes<T> {
    /// Of sources in the given order, or in the caller's.
    pub fn new(sizes: &Sizes<T>, permutation: Option<&[u32]>) -> Self {
        const TOGETHER: usize = 1 << 13;
        match (sizes, permutation) {
            (Sizes::None, _) => Self::Global(T::ZERO),
            (Sizes::Global(size), _) => Self::Global(*size * *size),
            (Sizes::PerSource(sizes), None) => Self::PerSource(map(sizes.len(), TOGETHER, |k| sizes[k] * sizes[k])),
            (Sizes::PerSource(sizes), Some(permutation)) => {
                let square = |k: usize| sizes[permutation[k] as usize] * sizes[permutation[k] as usize];
                Self::PerSource(map(permutation.len(), TOGETHER, square))
            }
        }
    }
}
