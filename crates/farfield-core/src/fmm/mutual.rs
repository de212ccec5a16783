//! P2P between leaves whose sources are their targets: each pair of leaves is computed once, for the points of both.
//!
//! Leaves that follow one another on the curve form a group, which is the task of one thread. It pairs each of its
//! leaves with the neighbours that come later, in its own group or in others, and keeps the contributions to all of
//! them in its own memory. Then every leaf adds the contributions of all groups in a fixed order, so that results do
//! not depend on the number of threads.

use super::layout::Layout;
use super::near::Near;
use crate::kernel::Kernel;
use crate::p2p::{Block, MutualBlock, PairSums, Pairs, Sources, columns};
use crate::pages::zeroed;
use crate::parallel::{for_segments, map};
use crate::simd::Real;
use crate::tree::rows::Rows;
use crate::tree::{Lists, Octree};
use std::ops::Range;

/// The largest number of leaves in a group; large, so that few neighbours are in other groups.
const MOST_LEAVES: usize = 64;
/// The smallest number of leaves in a group, so that many threads get a group.
const FEWEST_LEAVES: usize = 8;
/// A number of groups that is enough for many threads.
const MANY_GROUPS: usize = 256;
/// The average number of points in a leaf from which on computing pairs once is faster, in double precision.
const FEWEST_POINTS: usize = 24;
/// The average number of points in a leaf from which on computing pairs once is faster, in single precision.
const FEWEST_POINTS_IN_SINGLES: usize = 40;

/// The approximate number of values in memory for each point and sum: for the leaf's own group, and for the earlier
/// groups with its neighbours.
pub(crate) const COPIES: f64 = 2.5;

/// The pairs of leaves to compute once, and the memory for their sums. Leaves have their indices in [`Lists::leaves`].
#[derive(Debug)]
pub(crate) struct Mutual<T> {
    /// The number of leaves in a group.
    group: usize,
    /// For each leaf, the later leaves it is paired with, and the first of their points in the group's memory.
    both: Rows<(u32, u32)>,
    /// For each leaf, the ranges of sources that act on it in one direction only.
    one_way: Rows<(u32, u32)>,
    /// For each group, the first point of its memory.
    starts: Vec<usize>,
    /// For each leaf, its first point in the memory of every group that contributes to it.
    kept: Rows<usize>,
    /// The memory of all groups: for each point of their leaves, the sums of one point.
    pub(super) sums: Vec<T>,
}

/// The work of one group of leaves.
#[derive(Default)]
struct Group {
    both: Rows<(u32, u32)>,
    one_way: Rows<(u32, u32)>,
    /// The leaves it contributes to, and the first of their points in its memory.
    touched: Vec<(u32, u32)>,
    points: usize,
}

impl<T: Real> Mutual<T> {
    /// `None` if leaves are too small for this to be faster.
    pub fn new(layout: &Layout<T>, pairs: &Pairs) -> Option<Self> {
        let (tree, lists) = (&layout.tree, &layout.lists);
        let leaves = Leaves { tree, lists };
        let count = lists.leaves.len();
        let fewest = if T::EPSILON < 1e-10 {
            FEWEST_POINTS
        } else {
            FEWEST_POINTS_IN_SINGLES
        };
        if leaves.points() < fewest * count {
            return None;
        }
        let group = (count / MANY_GROUPS).clamp(FEWEST_LEAVES, MOST_LEAVES);
        let groups = map(count.div_ceil(group), 1, |g| {
            leaves.group(g * group..((g + 1) * group).min(count))
        });
        let (mut both, mut one_way, mut starts) = (Rows::default(), Rows::default(), vec![0]);
        let mut kept = Vec::new();
        let mut points = 0;
        for of_group in groups {
            kept.extend(of_group.touched.iter().map(|(leaf, at)| (*leaf, points + *at as usize)));
            both.append(of_group.both);
            one_way.append(of_group.one_way);
            points += of_group.points;
            starts.push(points);
        }
        // Ordered by leaf, and for each leaf by group.
        kept.sort_by_key(|(leaf, _)| *leaf);
        let mut of_leaves = Rows::default();
        for same in kept.chunk_by(|a, b| a.0 == b.0) {
            of_leaves.push_row(same.iter().map(|(_, at)| *at));
        }
        Some(Self {
            group,
            both,
            one_way,
            starts,
            kept: of_leaves,
            sums: zeroed(T::ZERO, pairs.sums() * points),
        })
    }
}

/// The leaves of a tree, in the order of their points.
struct Leaves<'a> {
    tree: &'a Octree,
    lists: &'a Lists,
}

impl Leaves<'_> {
    fn range(&self, leaf: usize) -> Range<u32> {
        self.tree.nodes[self.lists.leaves[leaf] as usize].targets.clone()
    }

    fn points(&self) -> usize {
        self.lists
            .leaves
            .len()
            .checked_sub(1)
            .map_or(0, |last| self.range(last).end as usize)
    }

    /// Whether all sources of `leaf` act on `other` by pairs.
    fn acts_on(&self, leaf: usize, other: usize) -> bool {
        let range = self.range(leaf);
        let ranges = self.lists.p2p.row(other);
        let after = ranges.partition_point(|(start, _)| *start <= range.start);
        after > 0 && range.end <= ranges[after - 1].1
    }

    fn group(&self, leaves: Range<usize>) -> Group {
        let mut group = Group::default();
        let mut met: Vec<Vec<u32>> = Vec::new();
        for leaf in leaves.clone() {
            let (mut both, mut one_way) = (Vec::new(), Vec::new());
            for (start, end) in self.lists.p2p.row(leaf) {
                let mut other = self.first_from(*start);
                while other < self.lists.leaves.len() && self.range(other).start < *end {
                    if !self.acts_on(leaf, other) {
                        extend(&mut one_way, self.range(other));
                    } else if other > leaf {
                        both.push(other as u32);
                    }
                    other += 1;
                }
            }
            met.push(both);
            group.one_way.push_row(one_way);
        }
        let mut touched: Vec<u32> = met.iter().flatten().copied().collect();
        touched.extend(leaves.map(|leaf| leaf as u32));
        touched.sort_unstable();
        touched.dedup();
        for leaf in touched {
            group.touched.push((leaf, group.points as u32));
            group.points += self.range(leaf as usize).len();
        }
        for both in met {
            let placed = both.iter().map(|leaf| {
                let at = group.touched.partition_point(|(other, _)| other < leaf);
                group.touched[at]
            });
            group.both.push_row(placed);
        }
        group
    }

    /// The first leaf whose points begin at or after `point`.
    fn first_from(&self, point: u32) -> usize {
        self.lists
            .leaves
            .partition_point(|leaf| self.tree.nodes[*leaf as usize].targets.start < point)
    }
}

/// Appends a range, or extends the last one.
fn extend(ranges: &mut Vec<(u32, u32)>, range: Range<u32>) {
    match ranges.last_mut() {
        Some(last) if last.1 == range.start => last.1 = range.end,
        _ => ranges.push((range.start, range.end)),
    }
}

impl<T: Real> Near<T> {
    /// P2P of all leaves, with each pair computed once.
    pub(super) fn p2p_mutual(&self, layout: &Layout<T>, mutual: &mut Mutual<T>, strengths: &[T], sums: &mut [T]) {
        let rows = self.pairs.sums();
        let mut memory = std::mem::take(&mut mutual.sums);
        let start = |g: usize| rows * mutual.starts[g];
        for_segments(&mut memory, 0..mutual.starts.len() - 1, &start, &|g, piece| {
            self.meet_group(layout, mutual, g, strengths, piece, true);
            // Distances below the range of narrow vectors give sums that are not finite.
            if !piece.iter().all(|sum| sum.is_finite()) {
                self.meet_group(layout, mutual, g, strengths, piece, false);
            }
        });
        layout.over_leaf_groups(rows, sums, |leaves, mut sums| {
            for leaf in leaves {
                let (own, rest) = sums.split_at_mut(rows * layout.leaf_range(leaf).len());
                sums = rest;
                for at in mutual.kept.row(leaf) {
                    let received = &memory[rows * at..][..own.len()];
                    own.iter_mut()
                        .zip(received)
                        .for_each(|(sum, received)| *sum += *received);
                }
            }
        });
        mutual.sums = memory;
    }

    /// Computes the contributions of a group to its leaves and the leaves paired with them, each pair once or from each
    /// side.
    fn meet_group(
        &self,
        layout: &Layout<T>,
        mutual: &Mutual<T>,
        g: usize,
        strengths: &[T],
        memory: &mut [T],
        once: bool,
    ) {
        memory.fill(T::ZERO);
        let rows = self.pairs.sums();
        let leaves = g * mutual.group..((g + 1) * mutual.group).min(layout.lists.leaves.len());
        let mut at = 0;
        for leaf in leaves {
            let range = layout.leaf_range(leaf);
            let (before, after) = memory.split_at_mut(rows * (at + range.len()));
            let own = &mut before[rows * at..];
            self.add_ranges(layout, leaf, true, mutual.one_way.row(leaf), strengths, own);
            for (other, first) in mutual.both.row(leaf) {
                let other = *other as usize;
                let theirs = layout.leaf_range(other);
                let received = &mut after[rows * (*first as usize - at - range.len())..][..rows * theirs.len()];
                if once {
                    let block = MutualBlock {
                        points: Sources::new(&layout.sources.position, strengths, &self.size2),
                        ranges: [range.clone(), theirs],
                        touching: false,
                    };
                    Kernel::add_mutual(&self.pairs, self.simd, &block, [&mut *own, received]);
                } else {
                    let as_pair = |range: &Range<usize>| [(range.start as u32, range.end as u32)];
                    self.add_ranges(layout, leaf, false, &as_pair(&theirs), strengths, own);
                    self.add_ranges(layout, other, false, &as_pair(&range), strengths, received);
                }
            }
            at += range.len();
        }
    }

    /// Adds the pairs of a leaf's targets with ranges of sources, and with its own sources if `with_own`.
    fn add_ranges(
        &self,
        layout: &Layout<T>,
        leaf: usize,
        with_own: bool,
        others: &[(u32, u32)],
        strengths: &[T],
        sums: &mut [T],
    ) {
        let targets = layout.leaf_range(leaf);
        let own = [(targets.start as u32, targets.end as u32)];
        let block = Block {
            positions: columns(&layout.sources.position),
            targets,
            sources: Sources::new(&layout.sources.position, strengths, &self.size2),
            own: (&own[..usize::from(with_own)], self.pairs.own_skip(true)),
            others,
        };
        self.pairs.add(self.simd, &block, sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fmm::Fmm;
    use crate::geometry::Space;
    use crate::kernel::Output;
    use crate::plan::engine::Engine;
    use crate::points::{ChargeDistribution, PointSet};
    use crate::simd::SimdLevel;
    use crate::sum::{Method, Request};

    /// Calls `check` with an engine that computes pairs once, for uniform, clustered and surface points, at every SIMD
    /// level.
    fn with_engines(check: impl Fn(&mut Fmm<f64>, &[f64], &str)) {
        let mut checked = 0;
        for set in [PointSet::Cube, PointSet::Plummer, PointSet::Sphere] {
            let points = set.generate::<f64>(6000, 1);
            let strengths = ChargeDistribution::Signed.generate::<f64>(points.len(), 2);
            for level in SimdLevel::available() {
                for output in [Output::Potential, Output::Gradient] {
                    let mut request = Request::<Space>::new(Kernel::Coulomb);
                    request.outputs = vec![output];
                    request.options.simd = Some(level);
                    request.options.method = Method::Fmm;
                    request.options.leaf_capacity = Some(60);
                    let mut plan = request.between(&points).plan().unwrap();
                    let Engine::Tree(engine) = &mut plan.engine else {
                        panic!("a direct sum");
                    };
                    if engine.near.mutual.is_some() {
                        check(engine, &strengths, &format!("{set:?} {level} {output}"));
                        checked += 1;
                    }
                }
            }
        }
        // At the scalar level, of the machine or of the environment, leaves are too small for it.
        assert!(checked > 0 || SimdLevel::best().name() == "scalar");
    }

    fn assert_close(a: &[f64], b: &[f64], name: &str) {
        let largest = b.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        for (a, b) in a.iter().zip(b) {
            // Square roots are only as accurate as the tolerance of 1e-6 requires.
            assert!((a - b).abs() < 1e-6 * largest, "{name}: {a} {b}");
        }
    }

    #[test]
    fn pairs_computed_once_equal_pairs_computed_from_each_side() {
        with_engines(|engine, strengths, name| {
            let sums = |engine: &mut Fmm<f64>| {
                let mut sums = vec![1.0; engine.near.rows() * strengths.len()];
                engine.near.p2p(&engine.layout, strengths, &mut sums);
                sums
            };
            let (once, again) = (sums(engine), sums(engine));
            assert_eq!(once, again, "{name}: the memory of the groups keeps nothing");
            engine.near.mutual = None;
            assert_close(&once, &sums(engine), name);
        });
    }

    #[test]
    fn groups_with_sums_that_are_not_finite_are_computed_from_each_side() {
        with_engines(|engine, strengths, name| {
            let mutual = engine.near.mutual.take().unwrap();
            let rows = engine.near.pairs.sums();
            for g in 0..mutual.starts.len() - 1 {
                let [once, each_side] = [true, false].map(|once| {
                    let mut memory = vec![f64::NAN; rows * (mutual.starts[g + 1] - mutual.starts[g])];
                    engine
                        .near
                        .meet_group(&engine.layout, &mutual, g, strengths, &mut memory, once);
                    memory
                });
                assert_close(&once, &each_side, name);
            }
        });
    }
}
