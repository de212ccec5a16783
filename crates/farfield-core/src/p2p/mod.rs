//! P2P: sums over pairs of points, which are the near field of every method and all of the direct sum.

mod accuracy;
mod block;
mod mutual;
mod sizes;

pub(crate) use block::{Block, Size2, Skip, Sources, columns};
pub(crate) use mutual::{MutualBlock, MutualPair};
pub(crate) use sizes::SortedSizes;

use crate::kernel::Kernel;
use crate::simd::{Lanes, Real, RsqrtAccuracy, SimdLevel, Vectorized, dispatch};

/// The sums over pairs of points in `D` dimensions.
pub(crate) trait PairSums<const D: usize> {
    /// Strength components per source.
    fn strengths(&self) -> usize;
    /// Sums per target.
    fn sums(&self) -> usize;
    /// The pairs to skip among points that may coincide; `same` says that the sources are the targets.
    fn own_skip(&self, same: bool) -> Skip;
    /// Sums with the full accuracy of the precision from now on; returns false if it did already.
    fn make_exact(&mut self) -> bool;
    /// The number of strength vectors, of `vectors`, that one pass of the loop takes.
    fn vectors_at_once(&self, vectors: usize) -> usize {
        vectors.min(1)
    }
    /// Adds to `sums[k * n + i]`, for the i-th of n targets, the sums over the sources of the block, for `vectors` strength
    /// vectors: a number that [`PairSums::vectors_at_once`] returns. Strengths and sums are stored vector by vector.
    fn add_vectors<T: Real>(&self, simd: SimdLevel, block: &Block<T, D>, vectors: usize, sums: &mut [T]);
    /// [`PairSums::add_vectors`] for one vector.
    fn add<T: Real>(&self, simd: SimdLevel, block: &Block<T, D>, sums: &mut [T]) {
        self.add_vectors(simd, block, 1, sums);
    }
}

/// The kernel, number of derivatives and accuracy of a P2P sum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairs {
    pub kernel: Kernel,
    pub softened: bool,
    pub derivatives: usize,
    pub accuracy: RsqrtAccuracy,
}

impl Pairs {
    /// Sums per target.
    pub fn sums(&self) -> usize {
        self.kernel.form().sums(self.derivatives)
    }
}

/// Full accuracy of the precision.
pub(crate) const FULL: u8 = RsqrtAccuracy::Full as u8;

/// The accuracy of reciprocal square roots for a plan with tolerance `tolerance` and `derivatives` derivatives of the
/// potential.
pub(crate) fn accuracy_for<T: Real>(level: SimdLevel, tolerance: f64, derivatives: usize) -> RsqrtAccuracy {
    struct Choose(f64);
    impl<T: Real> Vectorized<T> for Choose {
        type Output = RsqrtAccuracy;
        #[inline(always)]
        fn run<V: Lanes<Elem = T>>(self) -> RsqrtAccuracy {
            RsqrtAccuracy::for_mean_error::<V>(self.0)
        }
    }
    // Errors of roots are independent of the other errors, so their squares add: half of the tolerance is a quarter of
    // its square. The potential has one inverse distance as a factor, and each derivative two more.
    let factors = 1 + 2 * derivatives;
    dispatch::<T, _>(level, Choose(0.5 * tolerance / factors as f64))
}

#[cfg(test)]
mod tests;
