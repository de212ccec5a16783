//! The pairs of points of a plan in the plane, open to whoever sums them elsewhere.
//!
//! As in space ([`crate::plan::NearLists`]) they are a list of blocks: targets that follow one another, the points of a leaf or
//! a group of a direct sum, and the ranges of sources they meet. [`NearField`] sums all of them, on a graphics processor say,
//! while [`Plan::evaluate_beside`] does the rest.

use super::Plan;
use super::plan::Engine;
use crate::error::Error;
use crate::fmm::setup::SortedSizes;
use crate::p2p::{PairSums, Skip, columns};
use crate::simd::Real;
use std::ops::Range;

/// Sums all pairs of points on behalf of a plan while the plan sums everything else.
pub trait NearField<T: Real>: Send {
    /// Takes the strengths of one run in the order of the plan's sources, part by part, and starts.
    ///
    /// # Errors
    /// [`Error::NearField`] if it cannot.
    fn start(&mut self, strengths: &[T]) -> Result<(), Error>;

    /// Waits for the sums: target by target in the plan's order, [`NearLists::rows`] of them each.
    ///
    /// # Errors
    /// [`Error::NearField`] if there are none.
    fn finish(&mut self) -> Result<&[T], Error>;
}

/// Targets that follow one another and the sources they meet in pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearBlock {
    /// The targets.
    pub targets: Range<u32>,
    /// Ranges of sources. Where sources are the targets, the first range holds the targets themselves.
    pub sources: Vec<(u32, u32)>,
}

/// All pairs of points of a plan, as [`Plan::near_lists`] returns them.
#[derive(Debug, Clone, Copy)]
pub struct NearLists<'a, T: Real> {
    /// The sources, axis by axis.
    pub sources: [&'a [T]; 2],
    /// The targets; `None` if they are the sources.
    pub targets: Option<[&'a [T]; 2]>,
    /// The squared core size of all sources; zero where each has its own.
    pub global_size2: T,
    /// Squared core sizes, source by source; empty where all have the same.
    pub size2: &'a [T],
    /// Whether the pair of a point with itself is skipped by its index; else all pairs at distance zero are.
    pub skip_same: bool,
    /// Numbers of strength per source that one run takes.
    pub parts: usize,
    /// Sums of a target.
    pub rows: usize,
    /// Pairs of points in all blocks.
    pub pairs: u64,
    engine: &'a Engine<T>,
}

impl<T: Real> NearLists<'_, T> {
    /// How many blocks there are.
    pub fn block_count(&self) -> usize {
        match self.engine {
            Engine::Direct(direct) => direct.groups(),
            Engine::Fmm(fmm) => fmm.pyramid.leaves(),
        }
    }

    /// A block. Blocks come in the order of their targets and leave none out.
    pub fn block(&self, k: usize) -> NearBlock {
        match self.engine {
            Engine::Direct(direct) => {
                let end = direct.group_start(k + 1).min(direct.target_count());
                NearBlock {
                    targets: direct.group_start(k) as u32..end as u32,
                    sources: vec![(0, direct.sources[0].len() as u32)],
                }
            }
            Engine::Fmm(fmm) => {
                let targets = fmm.pyramid.targets().range(k..k + 1);
                let targets = targets.start as u32..targets.end as u32;
                let lists = &fmm.connections;
                let mut sources: Vec<(u32, u32)> = lists.touching.row(k).to_vec();
                // Leaves of its group, before and after it, that are met both ways at once here.
                let group = k - k % fmm.group..((k / fmm.group + 1) * fmm.group).min(fmm.pyramid.leaves());
                for leaf in group {
                    let (low, high) = (leaf.min(k), leaf.max(k));
                    if lists.mutual.row(low).iter().any(|(other, _)| *other as usize == high) {
                        let range = fmm.pyramid.sources.range(leaf..leaf + 1);
                        sources.push((range.start as u32, range.end as u32));
                    }
                }
                sources.extend(lists.apart.row(k));
                if self.targets.is_none() {
                    let own = sources
                        .iter()
                        .position(|(start, end)| *start <= targets.start && targets.end <= *end);
                    sources.swap(0, own.unwrap_or(0));
                }
                NearBlock { targets, sources }
            }
        }
    }
}

impl<T: Real> Plan<T> {
    /// The pairs of points of this plan.
    pub fn near_lists(&self) -> NearLists<'_, T> {
        let (sources, targets, size2, pairs) = match &self.engine {
            Engine::Direct(direct) => {
                let targets = direct.targets.as_ref().map(columns);
                (columns(&direct.sources), targets, &direct.size2, direct.pairs)
            }
            Engine::Fmm(fmm) => {
                let targets = fmm.pyramid.targets.as_ref().map(|targets| columns(&targets.position));
                (columns(&fmm.pyramid.sources.position), targets, &fmm.size2, fmm.pairs)
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
            skip_same: pairs.own_skip(targets.is_none()) == Skip::SameIndex,
            parts: pairs.strengths(),
            rows: pairs.sums(),
            pairs: self.parameters().interactions.p2p,
            engine: &self.engine,
        }
    }

    /// [`Plan::evaluate_into`] with all pairs of points summed by someone else.
    ///
    /// # Errors
    /// As [`Plan::evaluate_into`], and what `near` fails with.
    pub fn evaluate_beside(
        &mut self,
        strengths: &[T],
        field: &mut super::Field<T>,
        near: &mut dyn NearField<T>,
    ) -> Result<(), Error> {
        T::evaluate_in_plane(self, strengths, field, Some(near))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;
    use crate::plane::{Core, Kernel, Output, PlaneSet, Sum};
    use crate::points::ChargeDistribution;

    /// Sums the blocks one pair after the other: harmonic, real strengths, no core.
    struct OneByOne {
        blocks: Vec<NearBlock>,
        points: Vec<[f64; 2]>,
        sums: Vec<f64>,
    }

    impl NearField<f64> for OneByOne {
        fn start(&mut self, strengths: &[f64]) -> Result<(), Error> {
            self.sums.fill(0.0);
            for block in &self.blocks {
                for i in block.targets.clone() {
                    for j in block.sources.iter().flat_map(|(start, end)| *start..*end) {
                        let [x, y] = [0, 1].map(|axis| self.points[i as usize][axis] - self.points[j as usize][axis]);
                        let r2 = x * x + y * y;
                        if r2 > 0.0 {
                            self.sums[2 * i as usize] += strengths[j as usize] * x / r2;
                            self.sums[2 * i as usize + 1] -= strengths[j as usize] * y / r2;
                        }
                    }
                }
            }
            Ok(())
        }

        fn finish(&mut self) -> Result<&[f64], Error> {
            Ok(&self.sums)
        }
    }

    #[test]
    fn pairs_summed_elsewhere_and_the_rest_here_are_the_whole_sum() {
        let points = PlaneSet::Normal.generate::<f64>(3000, 1);
        let strengths = ChargeDistribution::Signed.generate::<f64>(2 * 3000, 2);
        for method in [Method::Fmm, Method::Direct] {
            let sum = Sum::new(Kernel::Harmonic, &points)
                .outputs(&[Output::Potential])
                .tolerance(1e-12)
                .method(method)
                .vectors(2);
            let mut plan = sum.plan().unwrap();
            let alone = plan.evaluate(&strengths).unwrap();
            let lists = plan.near_lists();
            let blocks: Vec<NearBlock> = (0..lists.block_count()).map(|k| lists.block(k)).collect();
            let met = |block: &NearBlock| {
                let sources: u64 = block.sources.iter().map(|(start, end)| u64::from(end - start)).sum();
                (block.targets.len() as u64) * sources
            };
            assert_eq!(blocks.iter().map(met).sum::<u64>(), lists.pairs);
            assert!(
                blocks
                    .windows(2)
                    .all(|pair| pair[0].targets.end == pair[1].targets.start)
            );
            let own = |block: &NearBlock| {
                block.sources[0].0 <= block.targets.start && block.targets.end <= block.sources[0].1
            };
            assert!(blocks.iter().all(own));
            let mut near = OneByOne {
                points: (0..3000).map(|k| [lists.sources[0][k], lists.sources[1][k]]).collect(),
                sums: vec![0.0; lists.rows * 3000],
                blocks,
            };
            let mut beside = plan.field();
            plan.evaluate_beside(&strengths, &mut beside, &mut near).unwrap();
            let values = |field: &crate::plane::Field<f64>| field.get(Output::Potential).unwrap().to_vec();
            let largest = values(&alone).iter().fold(0.0f64, |a, b| a.max(b.abs()));
            for (a, b) in values(&alone).iter().zip(values(&beside)) {
                assert!((a - b).abs() < 1e-12 * largest, "{method}: {a} {b}");
            }
        }
    }

    #[test]
    fn cores_skip_the_pair_of_a_point_with_itself_by_its_index() {
        let points = PlaneSet::Square.generate::<f64>(500, 1);
        let sum = Sum::new(Kernel::Harmonic, &points).core(Core::Gaussian, crate::kernel::Sizes::Global(1e-3));
        assert!(sum.plan().unwrap().near_lists().skip_same);
        assert!(
            !Sum::new(Kernel::Harmonic, &points)
                .plan()
                .unwrap()
                .near_lists()
                .skip_same
        );
    }
}
