//! The adaptive fast multipole method of the plane.

use super::connect::Connections;
use super::expansion::{M2lMatrix, row_len};
use super::kernel::Kernel;
use super::operators::{AtLeaves, L2l, LeafStep, M2l, M2m, PointsToExpansions};
use super::pairs::PlanePairs;
use super::pyramid::{Pyramid, first_of_level};
use crate::p2p::SortedSizes;
use crate::p2p::{Block, MutualBlock, PairSums, Sources, columns};
use crate::pages::zeroed;
use crate::parallel::{for_chunks, for_segments};
use crate::report::{Phase, Seconds};
use crate::simd::{Real, SimdLevel, dispatch};

/// A planned sum over a pyramid.
#[derive(Debug)]
pub(crate) struct PlaneFmm<T: Real> {
    pub simd: SimdLevel,
    pub pairs: PlanePairs,
    pub order: usize,
    pub pyramid: Pyramid<T>,
    pub connections: Connections,
    pub size2: SortedSizes<T>,
    pub matrix: M2lMatrix<T>,
    /// The number of leaves of one P2P task; see [`Connections::mutual`].
    pub group: usize,
    /// Rows of coefficients, box by box.
    pub multipoles: Vec<T>,
    pub locals: Vec<T>,
}

/// The number of boxes of one task of the upward and downward passes.
const BOXES: usize = 32;

impl<T: Real> PlaneFmm<T> {
    pub fn new(
        simd: SimdLevel,
        pairs: PlanePairs,
        order: usize,
        pyramid: Pyramid<T>,
        connections: Connections,
        group: usize,
        size2: SortedSizes<T>,
    ) -> Self {
        let coefficients = pyramid.boxes.centre.len() * row_len::<T>(order);
        Self {
            simd,
            pairs,
            order,
            pyramid,
            connections,
            size2,
            group,
            matrix: M2lMatrix::new(order),
            multipoles: zeroed(T::ZERO, coefficients),
            locals: zeroed(T::ZERO, coefficients),
        }
    }

    /// Uses this order from now on.
    pub fn set_order(&mut self, order: usize) {
        let coefficients = self.pyramid.boxes.centre.len() * row_len::<T>(order);
        self.order = order;
        self.matrix = M2lMatrix::new(order);
        self.multipoles = zeroed(T::ZERO, coefficients);
        self.locals = zeroed(T::ZERO, coefficients);
    }

    /// Sums for `strengths` in the pyramid's order; complex ones as one array of real and one of imaginary parts. The
    /// targets of a leaf have the block `sums[rows * start..rows * end]`, with sum `k` of target `i` of `n` at `k * n +
    /// i`.
    pub fn evaluate(&mut self, strengths: &[T], sums: &mut [T], seconds: &mut Seconds) {
        seconds.time(Phase::P2m, || self.p2m(strengths));
        seconds.time(Phase::M2m, || self.m2m());
        seconds.time(Phase::M2l, || self.m2l());
        seconds.time(Phase::P2l, || self.p2l(strengths));
        seconds.time(Phase::L2l, || self.l2l());
        seconds.time(Phase::L2p, || self.at_leaves(LeafStep::L2p, sums));
        seconds.time(Phase::M2p, || self.at_leaves(LeafStep::M2p, sums));
        seconds.time(Phase::P2p, || self.p2p(strengths, sums));
    }

    /// The number of values in a box's row of coefficients.
    pub fn row(&self) -> usize {
        row_len::<T>(self.order)
    }

    /// P2M: sources to the multipoles of their leaves.
    fn p2m(&mut self, strengths: &[T]) {
        let (row, first) = (self.row(), first_of_level(self.pyramid.depth));
        let mut multipoles = std::mem::take(&mut self.multipoles);
        let fmm = &*self;
        for_chunks(&mut multipoles[first * row..], BOXES * row, &|k, rows| {
            let leaves = k * BOXES..k * BOXES + rows.len() / row;
            rows.fill(T::ZERO);
            let work = PointsToExpansions {
                fmm,
                leaves,
                strengths,
                rows,
                local: false,
            };
            dispatch(fmm.simd, work);
        });
        self.multipoles = multipoles;
    }

    /// P2L: sources of larger leaves nearby directly into local expansions.
    fn p2l(&mut self, strengths: &[T]) {
        if self.connections.p2l.len() == 0 {
            return;
        }
        let (row, first) = (self.row(), first_of_level(self.pyramid.depth));
        let mut locals = std::mem::take(&mut self.locals);
        let fmm = &*self;
        for_chunks(&mut locals[first * row..], BOXES * row, &|k, rows| {
            let leaves = k * BOXES..k * BOXES + rows.len() / row;
            let work = PointsToExpansions {
                fmm,
                leaves,
                strengths,
                rows,
                local: true,
            };
            dispatch(fmm.simd, work);
        });
        self.locals = locals;
    }

    /// M2M: parents add their children's multipoles, from the leaves up.
    fn m2m(&mut self) {
        let row = self.row();
        let mut multipoles = std::mem::take(&mut self.multipoles);
        let fmm = &*self;
        for level in (0..fmm.pyramid.depth).rev() {
            let (first, below) = (first_of_level(level), first_of_level(level + 1));
            let (parents, children) = multipoles[first * row..].split_at_mut((below - first) * row);
            for_chunks(parents, BOXES * row, &|k, parents| {
                let boxes = first + k * BOXES..first + k * BOXES + parents.len() / row;
                parents.fill(T::ZERO);
                let work = M2m {
                    fmm,
                    boxes,
                    parents,
                    children,
                    first_child: below,
                };
                dispatch(fmm.simd, work);
            });
        }
        self.multipoles = multipoles;
    }

    /// M2L: boxes add the multipoles of boxes weakly coupled to them, on all levels at once.
    fn m2l(&mut self) {
        let row = self.row();
        let mut locals = std::mem::take(&mut self.locals);
        let fmm = &*self;
        for_chunks(&mut locals, BOXES * row, &|k, locals| {
            let boxes = k * BOXES..k * BOXES + locals.len() / row;
            locals.fill(T::ZERO);
            match fmm.pairs.kernel {
                Kernel::Harmonic => dispatch(fmm.simd, M2l::<T, false> { fmm, boxes, locals }),
                Kernel::Log => dispatch(fmm.simd, M2l::<T, true> { fmm, boxes, locals }),
            }
        });
        self.locals = locals;
    }

    /// L2L: children add their parent's local expansion, from the root down.
    fn l2l(&mut self) {
        let row = self.row();
        let mut locals = std::mem::take(&mut self.locals);
        let fmm = &*self;
        for level in 0..fmm.pyramid.depth {
            let (first, below) = (first_of_level(level), first_of_level(level + 1));
            let (parents, children) =
                locals[first * row..first_of_level(level + 2) * row].split_at_mut((below - first) * row);
            for_chunks(children, BOXES * row, &|k, children| {
                let boxes = below + k * BOXES..below + k * BOXES + children.len() / row;
                let work = L2l {
                    fmm,
                    boxes,
                    parents,
                    first_parent: first,
                    children,
                };
                dispatch(fmm.simd, work);
            });
        }
        self.locals = locals;
    }

    /// L2P or M2P: expansions to the targets of the leaves.
    fn at_leaves(&self, step: LeafStep, sums: &mut [T]) {
        if step == LeafStep::M2p && self.connections.m2p.len() == 0 {
            return;
        }
        let rows = self.pairs.sums();
        let leaf_start = &self.pyramid.targets().leaf_start;
        let leaves = self.pyramid.leaves();
        let start = |k: usize| rows * leaf_start[(k * BOXES).min(leaves)] as usize;
        for_segments(sums, 0..leaves.div_ceil(BOXES), &start, &|k, sums| {
            let leaves = k * BOXES..((k + 1) * BOXES).min(leaves);
            let work = AtLeaves {
                fmm: self,
                step,
                leaves,
                sums,
            };
            dispatch(self.simd, work);
        });
    }

    /// P2P: adds the remaining pairs to the sums. A task takes a group of leaves, and computes each pair of them once
    /// for both.
    fn p2p(&self, strengths: &[T], sums: &mut [T]) {
        let rows = self.pairs.sums();
        let leaf_start = &self.pyramid.targets().leaf_start;
        let (leaves, group) = (self.pyramid.leaves(), self.group);
        let start = |k: usize| rows * leaf_start[(k * group).min(leaves)] as usize;
        for_segments(sums, 0..leaves.div_ceil(group), &start, &|k, sums| {
            for leaf in k * group..((k + 1) * group).min(leaves) {
                let place = |leaf: usize| {
                    rows * leaf_start[leaf] as usize - start(k)..rows * leaf_start[leaf + 1] as usize - start(k)
                };
                self.p2p_of_leaf(leaf, strengths, &mut sums[place(leaf)]);
                for &(other, touching) in self.connections.mutual.row(leaf) {
                    let other = other as usize;
                    let (here, there) = (place(leaf), place(other));
                    let (before, after) = sums.split_at_mut(there.start);
                    let sums = [&mut before[here], &mut after[..there.end - there.start]];
                    self.p2p_both_ways([leaf, other], touching, strengths, sums);
                }
            }
        });
    }

    /// Adds the pairs of a leaf's points with those of leaves outside its group, and with each other.
    fn p2p_of_leaf(&self, leaf: usize, strengths: &[T], sums: &mut [T]) {
        if sums.is_empty() {
            return;
        }
        let (targets, from) = (self.pyramid.targets(), &self.pyramid.sources);
        let skip = self.pairs.own_skip(self.pyramid.targets.is_none());
        let block = Block {
            positions: columns(&targets.position),
            targets: targets.range(leaf..leaf + 1),
            sources: Sources::new(&from.position, strengths, &self.size2),
            own: (self.connections.touching.row(leaf), skip),
            others: self.connections.apart.row(leaf),
        };
        self.pairs.add(self.simd, &block, sums);
    }

    /// Adds the pairs between the points of two leaves, for both leaves.
    fn p2p_both_ways(&self, leaves: [usize; 2], touching: bool, strengths: &[T], sums: [&mut [T]; 2]) {
        let from = &self.pyramid.sources;
        let block = MutualBlock {
            points: Sources::new(&from.position, strengths, &self.size2),
            ranges: leaves.map(|leaf| from.range(leaf..leaf + 1)),
            touching,
        };
        self.pairs.add_mutual(self.simd, &block, sums);
    }
}
