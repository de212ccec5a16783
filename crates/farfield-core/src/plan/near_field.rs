//! The near field of a plan, open to whoever sums it elsewhere.
//!
//! A plan's pairs are a list of blocks: targets that follow one another, and the ranges of sources they meet. Leaves are
//! blocks, and so are the groups of targets of a direct sum. [`NearField`] sums the pairs of the first so many blocks, on a
//! graphics processor say, while [`super::Plan::evaluate_beside`] does the rest; [`NearLists`] is what it needs to know.

use super::Plan;
use super::evaluate::Engine;
use crate::error::Error;
use crate::fmm::setup::SortedSizes;
use crate::p2p::{PairSums, Skip, columns};
use crate::simd::Real;
use std::ops::Range;

/// Sums pairs of points on behalf of a plan while the plan sums everything else.
pub trait NearField<T: Real>: Send {
    /// How many blocks of [`NearLists`] it takes, from the first on.
    fn blocks(&self) -> usize;

    /// Takes the strengths, stream by stream in the order of the plan's sources ([`NearLists::sources`]), and starts.
    ///
    /// # Errors
    /// [`Error::NearField`] if it cannot.
    fn start(&mut self, strengths: &[T]) -> Result<(), Error>;

    /// Waits for the sums of its blocks: target by target in the plan's order, [`NearLists::rows`] of them each, strength
    /// vector by strength vector.
    ///
    /// # Errors
    /// [`Error::NearField`] if there are none.
    fn finish(&mut self) -> Result<&[T], Error>;
}

/// What pairs cost that are summed elsewhere, counted in nanoseconds of one thread here: those that pass meanwhile, times
/// the number of threads that work here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairsElsewhere {
    /// A pair of points, one strength vector.
    pub pair: f64,
    /// A point besides its pairs, all strength vectors: what travels, for instance.
    pub point: f64,
}

/// Pairs are left here only if they are this part of all: models are not that exact.
const LEAST_SHARE: f64 = 0.1;
/// Nor are fewer blocks than keep many threads busy.
const FEWEST_BLOCKS: usize = 64;

/// How a plan's points come from the caller's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement<'a> {
    /// They are the caller's, in the caller's order.
    Callers,
    /// They are the caller's; the k-th is the caller's `permutation[k]`-th.
    Permuted(&'a [u32]),
    /// They are others: duplicates were merged, or lengths are in another unit.
    Others,
}

/// Points in a plan's order.
#[derive(Debug, Clone, Copy)]
pub struct NearPoints<'a, T> {
    /// Coordinates, axis by axis.
    pub columns: [&'a [T]; 3],
    /// Where they come from.
    pub arrangement: Arrangement<'a>,
}

/// Targets that follow one another and the sources they meet in pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearBlock<'a> {
    /// The targets.
    pub targets: Range<u32>,
    /// Sources that may be the targets themselves.
    pub own: (u32, u32),
    /// Ranges of other sources.
    pub others: &'a [(u32, u32)],
}

impl NearBlock<'_> {
    /// How many sources each target meets.
    pub fn sources(&self) -> u64 {
        let length = |(start, end): &(u32, u32)| u64::from(end - start);
        length(&self.own) + self.others.iter().map(length).sum::<u64>()
    }

    /// How many pairs there are.
    pub fn pairs(&self) -> u64 {
        u64::from(self.targets.end - self.targets.start) * self.sources()
    }
}

/// All pairs of points of a plan, as [`Plan::near_lists`] returns them.
#[derive(Debug, Clone, Copy)]
pub struct NearLists<'a, T: Real> {
    /// The sources.
    pub sources: NearPoints<'a, T>,
    /// The targets; `None` if they are the sources.
    pub targets: Option<NearPoints<'a, T>>,
    /// The squared core size of all sources; zero where each has its own.
    pub global_size2: T,
    /// Squared core sizes, source by source; empty where all have the same.
    pub size2: &'a [T],
    /// Whether the pair of a point with itself is skipped by its index; else all pairs at distance zero are.
    pub skip_same: bool,
    /// Strength vectors.
    pub vectors: usize,
    /// Sums of a target, all strength vectors together.
    pub rows: usize,
    /// Pairs of points in all blocks.
    pub pairs: u64,
    /// Modelled nanoseconds of a pair on one thread here, all strength vectors together.
    pub pair_cost: f64,
    /// Modelled nanoseconds on one thread of everything but pairs.
    pub far_cost: f64,
    engine: &'a Engine<T>,
}

impl<T: Real> NearLists<'_, T> {
    /// How many blocks there are.
    pub fn block_count(&self) -> usize {
        match self.engine {
            Engine::Direct(direct) => direct.groups(),
            Engine::Tree(fmm) => fmm.lists.leaves.len(),
        }
    }

    /// A block. Blocks come in the order of their targets and leave none out.
    pub fn block(&self, k: usize) -> NearBlock<'_> {
        match self.engine {
            Engine::Direct(direct) => {
                let end = direct.group_start(k + 1).min(direct.target_count());
                NearBlock {
                    targets: direct.group_start(k) as u32..end as u32,
                    own: (0, direct.sources[0].len() as u32),
                    others: &[],
                }
            }
            Engine::Tree(fmm) => {
                let leaf = &fmm.tree.nodes[fmm.lists.leaves[k] as usize];
                NearBlock {
                    targets: leaf.targets.clone(),
                    own: (leaf.sources.start, leaf.sources.end),
                    others: fmm.lists.p2p.row(k),
                }
            }
        }
    }

    /// How many blocks someone else should take who needs `pair` nanoseconds for a pair, all strength vectors together,
    /// counted as in [`PairsElsewhere`]: as many as are summed there while the rest is summed here, or all where little
    /// would be left.
    pub fn blocks_elsewhere(&self, pair: f64) -> usize {
        let together = self.far_cost + self.pairs as f64 * self.pair_cost;
        let share = together / (self.pair_cost + pair);
        let (mut pairs, count) = (0.0, self.block_count());
        let blocks = (0..count).find(|k| {
            pairs += self.block(*k).pairs() as f64;
            pairs > share
        });
        let worthwhile = share < (1.0 - LEAST_SHARE) * self.pairs as f64;
        blocks
            .filter(|blocks| worthwhile && count - blocks >= FEWEST_BLOCKS)
            .unwrap_or(count)
    }
}

impl<T: Real> Plan<T> {
    /// The pairs of points of this plan.
    pub fn near_lists(&self) -> NearLists<'_, T> {
        let others = self.merge.is_some() || self.direct_permutations.is_some() || !self.units.0.are_the_callers();
        let arranged = |arrangement| if others { Arrangement::Others } else { arrangement };
        let (sources, targets, size2, skip) = match &self.engine {
            Engine::Direct(direct) => {
                let points = |position| NearPoints {
                    columns: columns(position),
                    arrangement: arranged(Arrangement::Callers),
                };
                let skip = direct.pairs.own_skip(direct.targets.is_none());
                let targets = direct.targets.as_ref().map(points);
                (points(&direct.sources), targets, &direct.size2, skip)
            }
            Engine::Tree(fmm) => {
                let points = |position, permutation| NearPoints {
                    columns: columns(position),
                    arrangement: arranged(Arrangement::Permuted(permutation)),
                };
                let targets = fmm.targets.as_ref();
                let targets = targets.map(|targets| points(&targets.position, &fmm.tree.target_permutation));
                let sources = points(&fmm.sources.position, &fmm.tree.source_permutation);
                (sources, targets, &fmm.size2, fmm.pairs.own_skip(fmm.targets.is_none()))
            }
        };
        let (global_size2, size2) = match size2 {
            SortedSizes::Global(size2) => (*size2, &[][..]),
            SortedSizes::PerSource(size2) => (T::ZERO, &size2[..]),
        };
        NearLists {
            sources,
            targets,
            global_size2,
            size2,
            skip_same: skip == Skip::SameIndex,
            vectors: self.vectors,
            rows: self.engine.sum_rows(),
            pairs: self.parameters.interactions.p2p,
            pair_cost: self.costs.pair,
            far_cost: self.costs.far,
            engine: &self.engine,
        }
    }
}
