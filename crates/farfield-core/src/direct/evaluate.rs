//! The algorithm: for every group of targets, sum over the sources block by block.

use crate::p2p::SortedSizes;
use crate::p2p::{Block, PairSums, Sources, columns};
use crate::parallel::for_segments;
use crate::plan::engine::{Summation, View};
use crate::report::{Phase, Seconds};
use crate::simd::{Real, SimdLevel};
use crate::sum::Method;
use std::fmt::Debug;
use std::ops::Range;

/// Targets per piece of work.
const GROUP: usize = 128;
/// Sources per block. They stay in the cache for the whole group, and their sum is added to the total once.
const SOURCES: usize = 1024;

/// The number of pairs that one thread sums in the time to wake another.
const SMALL: usize = 1 << 16;

/// A direct sum, ready for strengths.
#[derive(Debug)]
pub(crate) struct Direct<T, P, const D: usize> {
    pub simd: SimdLevel,
    pub pairs: P,
    pub vectors: usize,
    pub sources: [Vec<T>; D],
    /// `None` if the sources are the targets.
    pub targets: Option<[Vec<T>; D]>,
    pub size2: SortedSizes<T>,
    /// The caller's numbers of sources and targets; `None` for the same order.
    pub permutations: Option<[Vec<u32>; 2]>,
}

impl<T: Real, P: PairSums<D> + Copy + Debug + Send + Sync, const D: usize> Summation<T> for Direct<T, P, D> {
    fn rows(&self) -> usize {
        self.vectors * self.pairs.sums()
    }

    fn streams(&self) -> usize {
        self.vectors * self.pairs.strengths()
    }

    fn source_permutation(&self) -> Option<&[u32]> {
        self.permutations.as_ref().map(|[sources, _]| &sources[..])
    }

    fn target_permutation(&self) -> Option<&[u32]> {
        self.permutations.as_ref().map(|[_, targets]| &targets[..])
    }

    fn blocks(&self) -> usize {
        self.target_count().div_ceil(GROUP)
    }

    fn block(&self, block: usize) -> Range<usize> {
        block * GROUP..((block + 1) * GROUP).min(self.target_count())
    }

    /// Fills `sums`. A group of `n` targets from `a` on has the block `sums[rows * a..rows * (a + n)]`, with sum `k`
    /// of its target `i` at `k * n + i`. `rows` is the number of sums per target over all strength vectors.
    fn sum(&mut self, _: Method, strengths: &[T], sums: &mut [T], seconds: &mut Seconds) {
        seconds.time(Phase::P2p, || {
            let rows = self.rows();
            let start = |group: usize| rows * group * GROUP;
            for_segments(sums, 0..self.blocks(), &start, &|group, sums| {
                sums.fill(T::ZERO);
                self.add_group(self.block(group), strengths, sums);
            });
        });
    }

    fn make_exact(&mut self) -> bool {
        self.pairs.make_exact()
    }

    fn deserves_threads(&self) -> bool {
        self.sources[0].len() * self.target_count() * self.vectors > SMALL
    }
}

impl<T: Real, P: PairSums<D> + Copy, const D: usize> Direct<T, P, D> {
    /// A direct sum over points in the caller's order.
    pub fn new(
        simd: SimdLevel,
        pairs: P,
        vectors: usize,
        sources: &[[T; D]],
        targets: Option<&[[T; D]]>,
        size2: SortedSizes<T>,
    ) -> Self {
        let columns = |points: &[[T; D]]| std::array::from_fn(|axis| points.iter().map(|p| p[axis]).collect());
        Self {
            simd,
            pairs,
            vectors,
            sources: columns(sources),
            targets: targets.map(columns),
            size2,
            permutations: None,
        }
    }

    pub fn view(&self) -> View<'_, T, P, D> {
        View {
            pairs: self.pairs,
            sources: columns(&self.sources),
            targets: self.targets.as_ref().map(columns),
            size2: &self.size2,
        }
    }

    fn target_count(&self) -> usize {
        self.targets.as_ref().unwrap_or(&self.sources)[0].len()
    }

    /// Adds the sums over all sources for one group of targets.
    fn add_group(&self, targets: Range<usize>, strengths: &[T], sums: &mut [T]) {
        let n = self.sources[0].len();
        let positions = columns(self.targets.as_ref().unwrap_or(&self.sources));
        let skip = self.pairs.own_skip(self.targets.is_none());
        for first in (0..n).step_by(SOURCES) {
            let own = [(first as u32, (first + SOURCES).min(n) as u32)];
            let block = Block {
                positions,
                targets: targets.clone(),
                sources: Sources::new(&self.sources, strengths, &self.size2),
                own: (&own, skip),
                others: &[],
            };
            block.add_vectors(&self.pairs, self.simd, self.vectors, sums);
        }
    }
}
