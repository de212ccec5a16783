//! P2P: sums over pairs of points, the near field of every method and the whole of the direct sum.

mod block;
mod mutual;

pub(crate) use block::{Block, Size2, Skip, Sources, columns};
pub(crate) use mutual::{MutualBlock, MutualPair};

use crate::kernel::Kernel;
use crate::simd::{Lanes, Real, RsqrtAccuracy, SimdLevel, Vectorized, dispatch};

/// What is summed over pairs of points in `D` dimensions.
pub(crate) trait PairSums<const D: usize> {
    /// Numbers of strength per source.
    fn strengths(&self) -> usize;
    /// Sums per target.
    fn sums(&self) -> usize;
    /// What to skip among points that may coincide; `same` says that the sources are the targets.
    fn own_skip(&self, same: bool) -> Skip;
    /// Adds to `sums[k * n + i]`, for the i-th of n targets, the sums over the sources of the block.
    fn add<T: Real>(&self, simd: SimdLevel, block: &Block<T, D>, sums: &mut [T]);
}

/// A P2P task: the kernel, how many derivatives, and how exact.
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

impl PairSums<3> for Pairs {
    fn strengths(&self) -> usize {
        self.kernel.strength_components()
    }

    fn sums(&self) -> usize {
        Pairs::sums(self)
    }

    fn own_skip(&self, same: bool) -> Skip {
        if same && !self.kernel.is_singular(self.softened) {
            Skip::SameIndex
        } else {
            Skip::Coincident
        }
    }

    fn add<T: Real>(&self, simd: SimdLevel, block: &Block<T, 3>, sums: &mut [T]) {
        Kernel::add_pairs(self, simd, block, sums);
    }
}

/// The accuracy a plan of this tolerance uses for reciprocal square roots.
pub(crate) fn accuracy_for<T: Real>(level: SimdLevel, tolerance: f64) -> RsqrtAccuracy {
    struct Choose(f64);
    impl<T: Real> Vectorized<T> for Choose {
        type Output = RsqrtAccuracy;
        fn run<V: Lanes<Elem = T>>(self) -> RsqrtAccuracy {
            RsqrtAccuracy::for_error::<V>(self.0)
        }
    }
    dispatch::<T, _>(level, Choose(0.1 * tolerance))
}
