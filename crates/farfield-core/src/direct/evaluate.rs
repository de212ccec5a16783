//! The algorithm: for every group of targets, sum over the sources block by block.

use crate::p2p::SortedSizes;
use crate::p2p::{Block, PairSums, Sources, columns};
use crate::parallel::for_segments;
use crate::report::{Phase, Seconds};
use crate::simd::{Real, SimdLevel};
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
}

impl<T: Real, P: PairSums<D> + Sync, const D: usize> Direct<T, P, D> {
    /// Fills `sums`. A group of `n` targets from `a` on has the block `sums[rows * a..rows * (a + n)]`, with sum `k`
    /// of its target `i` at `k * n + i`. `rows` is the number of sums per target over all strength vectors.
    pub fn evaluate(&mut self, strengths: &[T], sums: &mut [T], seconds: &mut Seconds) {
        seconds.time(Phase::P2p, || {
            let (targets, rows) = (self.target_count(), self.sum_rows());
            let start = |group: usize| rows * self.group_start(group);
            for_segments(sums, 0..self.groups(), &start, &|group, sums| {
                let first = self.group_start(group);
                let targets = first..(first + GROUP).min(targets);
                sums.fill(T::ZERO);
                self.add_group(targets, strengths, sums);
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

    /// The number of groups of targets.
    pub fn groups(&self) -> usize {
        self.target_count().div_ceil(GROUP)
    }

    /// The first target of a group.
    pub fn group_start(&self, group: usize) -> usize {
        group * GROUP
    }

    /// Whether the sum takes longer than waking other threads.
    pub fn deserves_threads(&self) -> bool {
        self.sources[0].len() * self.target_count() * self.vectors > SMALL
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
