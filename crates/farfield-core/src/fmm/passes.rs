//! Each step of the FMM over all boxes, in parallel.
//!
//! Work is cut into pieces that do not depend on the number of threads, and every piece writes to memory of its own:
//! results are bitwise equal however many threads run.

use super::Fmm;
use super::operators::{Placement, add_strengths, add_values};
use super::setup::{L2L_CHILDREN, M2M_PARENTS, Moves, P2M_BOXES};
use crate::expansion::coefficient_count;
use crate::expansion::translation::{self, Translations};
use crate::p2p::{Block, PairSums, Sources, columns};
use crate::parallel::for_segments;
use crate::simd::{Lanes, MAX_LANES, Real, Vectorized, as_lanes, dispatch};
use std::ops::Range;

impl<T: Real> Fmm<T> {
    /// P2M: the multipoles of all leaves.
    pub(crate) fn p2m(&mut self, strengths: &[T]) {
        let stride = self.box_stride();
        let mut multipoles = std::mem::take(&mut self.multipoles);
        let boxes = self.tree.nodes.len();
        for_segments(
            &mut multipoles,
            0..boxes.div_ceil(P2M_BOXES),
            &|k| k * P2M_BOXES * stride,
            &|k, piece| {
                self.scratch.with(|scratch| {
                    let boxes = k * P2M_BOXES..((k + 1) * P2M_BOXES).min(boxes);
                    dispatch::<T, _>(
                        self.simd,
                        P2m {
                            fmm: self,
                            boxes,
                            strengths,
                            expansions: piece,
                            scratch,
                        },
                    );
                });
            },
        );
        self.multipoles = multipoles;
    }

    /// M2M: from the deepest level up, parents collect their children.
    pub(crate) fn m2m(&mut self) {
        let stride = self.box_stride();
        let mut multipoles = std::mem::take(&mut self.multipoles);
        for level in (1..self.tree.levels.len()).rev() {
            let (parents, children) = (self.tree.levels[level - 1].clone(), self.tree.levels[level].clone());
            let (upper, lower) = multipoles.split_at_mut(children.start * stride);
            let lower = &lower[..children.len() * stride];
            let upper = &mut upper[parents.start * stride..];
            for_segments(
                upper,
                0..parents.len().div_ceil(M2M_PARENTS),
                &|k| k * M2M_PARENTS * stride,
                &|k, piece| {
                    self.translate(&self.m2m, &self.m2m_moves[level][k], lower, piece);
                },
            );
        }
        self.multipoles = multipoles;
    }

    /// P2L: sources of larger leaves into the locals of boxes that do not touch them.
    pub(crate) fn p2l(&mut self, strengths: &[T]) {
        let boxes = &self.lists.p2l_boxes;
        if boxes.is_empty() {
            return;
        }
        let stride = self.box_stride();
        let mut locals = std::mem::take(&mut self.locals);
        let start = |k: usize| boxes[k] as usize * stride;
        for_segments(
            &mut locals[boxes[0] as usize * stride..],
            0..boxes.len(),
            &start,
            &|k, piece| {
                self.scratch.with(|scratch| {
                    let task = P2l {
                        fmm: self,
                        row: k,
                        strengths,
                        expansions: &mut piece[..stride],
                        scratch,
                    };
                    dispatch::<T, _>(self.simd, task);
                });
            },
        );
        self.locals = locals;
    }

    /// L2L: from the root down, children take over their parent's local expansion.
    pub(crate) fn l2l(&mut self) {
        let stride = self.box_stride();
        let mut locals = std::mem::take(&mut self.locals);
        // Nothing has a far field above level 2.
        for level in 3..self.tree.levels.len() {
            let (parents, children) = (self.tree.levels[level - 1].clone(), self.tree.levels[level].clone());
            let (upper, lower) = locals.split_at_mut(children.start * stride);
            let upper = &upper[parents.start * stride..];
            let lower = &mut lower[..children.len() * stride];
            for_segments(
                lower,
                0..children.len().div_ceil(L2L_CHILDREN),
                &|k| k * L2L_CHILDREN * stride,
                &|k, piece| {
                    self.translate(&self.l2l, &self.l2l_moves[level][k], upper, piece);
                },
            );
        }
        self.locals = locals;
    }

    /// L2P: every leaf's local expansion at its targets. Sets the sums; the steps after it add to them.
    pub(crate) fn l2p(&mut self, sums: &mut [T]) {
        self.over_leaves(LeafStep::L2p, sums);
    }

    /// M2P: multipoles of boxes smaller than the leaf at its targets.
    pub(crate) fn m2p(&mut self, sums: &mut [T]) {
        if self.lists.m2p.len() > 0 {
            self.over_leaves(LeafStep::M2p, sums);
        }
    }

    /// P2P: pairs with the sources of neighbours.
    pub(crate) fn p2p(&mut self, strengths: &[T], sums: &mut [T]) {
        if let Some(mut mutual) = self.mutual.take() {
            self.p2p_mutual(&mut mutual, strengths, sums);
            self.mutual = Some(mutual);
            return;
        }
        self.over_leaf_groups(sums, |leaves, mut sums| {
            for row in leaves {
                let at = self.lists.leaves[row];
                let targets = self.tree.nodes[at as usize].target_count();
                let (leaf_sums, rest) = sums.split_at_mut(self.sum_rows() * targets);
                sums = rest;
                p2p_leaf(self, at, row, strengths, leaf_sums);
            }
        });
    }

    fn over_leaves(&self, step: LeafStep, sums: &mut [T]) {
        self.over_leaf_groups(sums, |leaves, sums| {
            self.scratch.with(|scratch| {
                dispatch::<T, _>(
                    self.simd,
                    LeafWork {
                        fmm: self,
                        step,
                        leaves,
                        sums,
                        scratch,
                    },
                );
            });
        });
    }

    /// Calls `work` with each group of leaves and the sums of their targets.
    pub(super) fn over_leaf_groups(&self, sums: &mut [T], work: impl Fn(Range<usize>, &mut [T]) + Sync) {
        let rows = self.sum_rows();
        let first_target = |k: usize| self.tree.nodes[self.lists.leaves[k] as usize].targets.start as usize;
        let start = |g: usize| rows * first_target(self.leaf_groups[g]);
        let groups = self.leaf_groups.len() - 1;
        for_segments(sums, 0..groups, &start, &|g, sums| {
            work(self.leaf_groups[g]..self.leaf_groups[g + 1], sums)
        });
    }

    fn translate(&self, tables: &Translations<T>, moves: &Moves, from: &[T], to: &mut [T]) {
        self.scratch.with(|scratch| {
            dispatch::<T, _>(
                self.simd,
                Translate {
                    fmm: self,
                    tables,
                    moves,
                    from,
                    to,
                    scratch,
                },
            );
        });
    }
}

struct P2m<'a, T: Real> {
    fmm: &'a Fmm<T>,
    boxes: Range<usize>,
    strengths: &'a [T],
    expansions: &'a mut [T],
    scratch: &'a mut [T],
}

impl<T: Real> Vectorized<T> for P2m<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let Self {
            fmm,
            boxes,
            strengths,
            expansions,
            scratch,
        } = self;
        let sources = fmm.sources.position[0].len();
        for (at, expansion) in boxes.zip(expansions.chunks_mut(fmm.box_stride())) {
            let node = &fmm.tree.nodes[at];
            if node.sources.is_empty() {
                continue; // zero, and never written: its memory is not there
            }
            expansion.fill(T::ZERO);
            if node.is_leaf() {
                let (points, strengths) = (fmm.sources_of(node), &strengths[node.sources.start as usize..]);
                let place = &Placement::SAME;
                let (recurrence, far, order) = (&fmm.recurrence, &fmm.multipole_sources, fmm.order);
                let inverse_side = 1.0 / fmm.tree.side_of(node.level);
                add_strengths::<V, false>(
                    recurrence,
                    far,
                    order,
                    points,
                    place,
                    strengths,
                    sources,
                    inverse_side,
                    expansion,
                    scratch,
                );
            }
        }
    }
}

struct P2l<'a, T: Real> {
    fmm: &'a Fmm<T>,
    row: usize,
    strengths: &'a [T],
    expansions: &'a mut [T],
    scratch: &'a mut [T],
}

impl<T: Real> Vectorized<T> for P2l<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let Self {
            fmm,
            row,
            strengths,
            expansions,
            scratch,
        } = self;
        let sources = fmm.sources.position[0].len();
        let target = &fmm.tree.nodes[fmm.lists.p2l_boxes[row] as usize];
        for leaf in fmm.lists.p2l.row(row) {
            let leaf = &fmm.tree.nodes[*leaf as usize];
            let place = &fmm.placement(leaf, target);
            let (points, strengths) = (fmm.sources_of(leaf), &strengths[leaf.sources.start as usize..]);
            let (recurrence, far, order) = (&fmm.recurrence, &fmm.local_sources, fmm.order);
            let inverse_side = 1.0 / fmm.tree.side_of(target.level);
            add_strengths::<V, true>(
                recurrence,
                far,
                order,
                points,
                place,
                strengths,
                sources,
                inverse_side,
                expansions,
                scratch,
            );
        }
    }
}

struct Translate<'a, T: Real> {
    fmm: &'a Fmm<T>,
    tables: &'a Translations<T>,
    moves: &'a Moves,
    from: &'a [T],
    to: &'a mut [T],
    scratch: &'a mut [T],
}

impl<T: Real> Vectorized<T> for Translate<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let Self {
            fmm,
            tables,
            moves,
            from,
            to,
            scratch,
        } = self;
        let workspace = as_lanes::<V>(scratch, translation::workspace_len(fmm.order));
        let coefficients = coefficient_count(fmm.order);
        let stride = fmm.box_stride();
        for (octant, moves) in moves.by_octant.iter().enumerate() {
            for batch in moves.chunks(V::LANES) {
                for stream in 0..fmm.streams() {
                    let mut starts = [[0; MAX_LANES]; 2];
                    for (l, (a, b)) in batch.iter().enumerate() {
                        starts[0][l] = *a as usize * stride + stream * coefficients;
                        starts[1][l] = *b as usize * stride + stream * coefficients;
                    }
                    let (sources, targets) = (&starts[0][..batch.len()], &starts[1][..batch.len()]);
                    tables.apply::<V>(octant, fmm.order, from, sources, to, targets, workspace);
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LeafStep {
    L2p,
    M2p,
}

struct LeafWork<'a, T: Real> {
    fmm: &'a Fmm<T>,
    step: LeafStep,
    leaves: Range<usize>,
    sums: &'a mut [T],
    scratch: &'a mut [T],
}

impl<T: Real> Vectorized<T> for LeafWork<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let Self {
            fmm,
            step,
            leaves,
            mut sums,
            scratch,
        } = self;
        for row in leaves {
            let at = fmm.lists.leaves[row];
            let targets = fmm.tree.nodes[at as usize].target_count();
            let (leaf_sums, rest) = sums.split_at_mut(fmm.sum_rows() * targets);
            sums = rest;
            for (vector, sums) in leaf_sums.chunks_mut(fmm.pairs.sums() * targets).enumerate() {
                match step {
                    LeafStep::L2p => l2p_leaf::<V>(fmm, at, vector, sums, scratch),
                    LeafStep::M2p => m2p_leaf::<V>(fmm, at, row, vector, sums, scratch),
                }
            }
        }
    }
}

#[inline(always)]
fn l2p_leaf<V: Lanes>(fmm: &Fmm<V::Elem>, at: u32, vector: usize, sums: &mut [V::Elem], scratch: &mut [V::Elem]) {
    sums.fill(V::Elem::ZERO);
    let leaf = &fmm.tree.nodes[at as usize];
    if leaf.level < 2 {
        return;
    }
    let outputs = &fmm.local_outputs;
    let derived = &mut scratch[..outputs.derived_len()];
    let coefficients = coefficient_count(fmm.order);
    let components = fmm.pairs.kernel.form().expansions();
    let start = at as usize * fmm.box_stride() + vector * components * coefficients;
    outputs.derive(&fmm.locals[start..][..components * coefficients], coefficients, derived);
    let inverse_side = 1.0 / fmm.tree.side_of(leaf.level);
    let points = fmm.targets_of(leaf);
    let place = &Placement::SAME;
    add_values::<V, false>(&fmm.recurrence, outputs, derived, inverse_side, points, place, sums);
}

#[inline(always)]
fn m2p_leaf<V: Lanes>(
    fmm: &Fmm<V::Elem>,
    at: u32,
    row: usize,
    vector: usize,
    sums: &mut [V::Elem],
    scratch: &mut [V::Elem],
) {
    let leaf = &fmm.tree.nodes[at as usize];
    let outputs = &fmm.multipole_outputs;
    let derived = &mut scratch[..outputs.derived_len()];
    let coefficients = coefficient_count(fmm.order);
    let components = fmm.pairs.kernel.form().expansions();
    let points = fmm.targets_of(leaf);
    for source in fmm.lists.m2p.row(row) {
        let node = &fmm.tree.nodes[*source as usize];
        let start = *source as usize * fmm.box_stride() + vector * components * coefficients;
        outputs.derive(
            &fmm.multipoles[start..][..components * coefficients],
            coefficients,
            derived,
        );
        let inverse_side = 1.0 / fmm.tree.side_of(node.level);
        let place = &fmm.placement(leaf, node);
        add_values::<V, true>(&fmm.recurrence, outputs, derived, inverse_side, points, place, sums);
    }
}

fn p2p_leaf<T: Real>(fmm: &Fmm<T>, at: u32, row: usize, strengths: &[T], sums: &mut [T]) {
    let leaf = &fmm.tree.nodes[at as usize];
    let sources = Sources::new(&fmm.sources.position, strengths, &fmm.size2);
    let own = [(leaf.sources.start, leaf.sources.end)];
    let block = Block {
        positions: columns(&fmm.target_points().position),
        targets: leaf.targets.start as usize..leaf.targets.end as usize,
        sources,
        own: (&own, fmm.pairs.own_skip(fmm.targets.is_none())),
        others: fmm.lists.p2p.row(row),
    };
    block.add_vectors(&fmm.pairs, fmm.simd, fmm.vectors, sums);
}
