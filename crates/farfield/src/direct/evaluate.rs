//! The algorithm: every group of targets meets the sources block by block.

use crate::fmm::setup::OrderedSizes;
use crate::p2p::{Pairs, Size2, Sources};
use crate::parallel::for_segments;
use crate::report::{Phase, Seconds};
use crate::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};
use std::ops::Range;

/// Targets per piece of work.
const GROUP: usize = 128;
/// Sources per block: they stay in the cache while the group meets them, and their sum is rounded once.
const SOURCES: usize = 1024;

/// A direct sum, ready for strengths.
#[derive(Debug)]
pub(crate) struct Direct<T> {
    pub simd: SimdLevel,
    pub pairs: Pairs,
    pub vectors: usize,
    pub sources: [Vec<T>; 3],
    /// `None`: the sources are the targets.
    pub targets: Option<[Vec<T>; 3]>,
    pub size2: OrderedSizes<T>,
}

impl<T: Real> Direct<T> {
    /// Fills `sums`: a group of `n` targets from `a` on has the block `sums[rows * a..rows * (a + n)]`, sum `k` of its
    /// target `i` at `k * n + i`; `rows` counts the sums of all strength vectors.
    pub fn evaluate(&mut self, strengths: &[T], sums: &mut [T], seconds: &mut Seconds) {
        seconds.time(Phase::P2p, || {
            let (targets, rows) = (self.target_count(), self.sum_rows());
            for_segments(sums, 0..targets.div_ceil(GROUP), &|g| rows * g * GROUP, &|g, sums| {
                let targets = g * GROUP..((g + 1) * GROUP).min(targets);
                dispatch::<T, _>(self.simd, Group { direct: self, targets, strengths, sums });
            });
        });
    }

    /// Sums per target over all strength vectors.
    pub fn sum_rows(&self) -> usize {
        self.vectors * self.pairs.sums()
    }

    pub fn target_count(&self) -> usize {
        self.targets.as_ref().unwrap_or(&self.sources)[0].len()
    }

    /// The first target and the number of targets of the block that holds target `i`.
    pub fn block_of(&self, target: usize) -> (usize, usize) {
        let first = target / GROUP * GROUP;
        (first, (self.target_count() - first).min(GROUP))
    }
}

struct Group<'a, T> {
    direct: &'a Direct<T>,
    targets: Range<usize>,
    strengths: &'a [T],
    sums: &'a mut [T],
}

impl<T: Real> Vectorized<T> for Group<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let Self { direct, targets, strengths, sums } = self;
        sums.fill(T::ZERO);
        let n = direct.sources[0].len();
        let positions = direct.targets.as_ref().unwrap_or(&direct.sources);
        let positions = [&positions[0][..], &positions[1][..], &positions[2][..]];
        let skip = direct.pairs.own_skip(direct.targets.is_none());
        let vector_len = direct.pairs.sums() * targets.len();
        for first in (0..n).step_by(SOURCES) {
            for (vector, sums) in sums.chunks_mut(vector_len).enumerate() {
                let sources = Sources {
                    position: [&direct.sources[0], &direct.sources[1], &direct.sources[2]],
                    strengths: &strengths[vector * direct.pairs.kernel.strength_components() * n..],
                    stride: n,
                    size2: match &direct.size2 {
                        OrderedSizes::Global(size2) => Size2::Global(*size2),
                        OrderedSizes::PerSource(size2) => Size2::PerSource(size2),
                    },
                };
                let block = (first as u32, (first + SOURCES).min(n) as u32);
                direct.pairs.add::<V>(positions, targets.clone(), sources, (block, skip), &[], sums);
            }
        }
    }
}
