//! Each step of the FMM over all boxes, in parallel.
//!
//! Work is cut into pieces that do not depend on the number of threads, and every piece writes to its own memory:
//! results are bitwise equal for any number of threads.

use super::far::Far;
use super::harmonics::Harmonics;
use super::layout::{L2L_CHILDREN, Layout, M2M_PARENTS, Moves, P2M_BOXES};
use super::m2l;
use super::operators::{Placement, add_strengths, add_values};
use crate::expansion::coefficient_count;
use crate::expansion::translation::{self, Translations};
use crate::pages::give_back;
use crate::parallel::for_segments;
use crate::simd::{Lanes, MAX_LANES, Real, Vectorized, as_lanes, dispatch};
use std::ops::Range;

/// Expansions and the layout of their boxes.
type Of<'a, T> = (&'a Harmonics<T>, &'a Layout<T>);

impl<T: Real> Far<T> for Harmonics<T> {
    fn p2m(&mut self, layout: &Layout<T>, strengths: &[T]) {
        let stride = self.box_stride();
        let mut multipoles = std::mem::take(&mut self.multipoles);
        let boxes = layout.tree.nodes.len();
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
                            far: self,
                            layout,
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

    fn m2m(&mut self, layout: &Layout<T>) {
        let stride = self.box_stride();
        let mut multipoles = std::mem::take(&mut self.multipoles);
        let levels = &layout.tree.levels;
        for level in (1..levels.len()).rev() {
            let (parents, children) = (levels[level - 1].clone(), levels[level].clone());
            let (upper, lower) = multipoles.split_at_mut(children.start * stride);
            let lower = &lower[..children.len() * stride];
            let upper = &mut upper[parents.start * stride..];
            for_segments(
                upper,
                0..parents.len().div_ceil(M2M_PARENTS),
                &|k| k * M2M_PARENTS * stride,
                &|k, piece| self.translate(&self.tables.m2m, &layout.m2m_moves[level][k], lower, piece),
            );
        }
        self.multipoles = multipoles;
    }

    fn m2l(&mut self, layout: &Layout<T>) {
        m2l::translate_all(self, layout);
    }

    fn p2l(&mut self, layout: &Layout<T>, strengths: &[T]) {
        let boxes = &layout.lists.p2l_boxes;
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
                        far: self,
                        layout,
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

    fn l2l(&mut self, layout: &Layout<T>) {
        let stride = self.box_stride();
        let mut locals = std::mem::take(&mut self.locals);
        let levels = &layout.tree.levels;
        // No box above level 2 has a far field.
        for level in 3..levels.len() {
            let (parents, children) = (levels[level - 1].clone(), levels[level].clone());
            let (upper, lower) = locals.split_at_mut(children.start * stride);
            let upper = &upper[parents.start * stride..];
            let lower = &mut lower[..children.len() * stride];
            for_segments(
                lower,
                0..children.len().div_ceil(L2L_CHILDREN),
                &|k| k * L2L_CHILDREN * stride,
                &|k, piece| self.translate(&self.tables.l2l, &layout.l2l_moves[level][k], upper, piece),
            );
        }
        self.locals = locals;
    }

    fn l2p(&self, layout: &Layout<T>, sums: &mut [T]) {
        self.over_leaves(layout, LeafStep::L2p, sums);
    }

    fn m2p(&self, layout: &Layout<T>, sums: &mut [T]) {
        if layout.lists.m2p.len() > 0 {
            self.over_leaves(layout, LeafStep::M2p, sums);
        }
    }

    fn spare_locals(&mut self) {
        if self.is_sparing {
            give_back(&mut self.locals);
        }
    }
}

impl<T: Real> Harmonics<T> {
    fn over_leaves(&self, layout: &Layout<T>, step: LeafStep, sums: &mut [T]) {
        layout.over_leaf_groups(self.vectors * self.sums(), sums, |leaves, sums| {
            self.scratch.with(|scratch| {
                dispatch::<T, _>(
                    self.simd,
                    LeafWork {
                        far: self,
                        layout,
                        step,
                        leaves,
                        sums,
                        scratch,
                    },
                );
            });
        });
    }

    fn translate(&self, tables: &Translations<T>, moves: &Moves, from: &[T], to: &mut [T]) {
        self.scratch.with(|scratch| {
            dispatch::<T, _>(
                self.simd,
                Translate {
                    far: self,
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
    far: &'a Harmonics<T>,
    layout: &'a Layout<T>,
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
            far,
            layout,
            boxes,
            strengths,
            expansions,
            scratch,
        } = self;
        let sources = layout.sources.position[0].len();
        for (at, expansion) in boxes.zip(expansions.chunks_mut(far.box_stride())) {
            let node = &layout.tree.nodes[at];
            if node.sources.is_empty() {
                continue; // stays zero and is never written, so it takes no memory
            }
            expansion.fill(T::ZERO);
            if node.is_leaf() {
                let (points, strengths) = (layout.sources_of(node), &strengths[node.sources.start as usize..]);
                let place = &Placement::SAME;
                let (recurrence, far, order) =
                    (&far.tables.recurrence, &far.ends.multipole_sources, far.orders.highest);
                let inverse_side = 1.0 / layout.tree.side_of(node.level);
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
    far: &'a Harmonics<T>,
    layout: &'a Layout<T>,
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
            far,
            layout,
            row,
            strengths,
            expansions,
            scratch,
        } = self;
        let sources = layout.sources.position[0].len();
        let target = &layout.tree.nodes[layout.lists.p2l_boxes[row] as usize];
        for leaf in layout.lists.p2l.row(row) {
            let leaf = &layout.tree.nodes[*leaf as usize];
            let place = &layout.placement(leaf, target);
            let (points, strengths) = (layout.sources_of(leaf), &strengths[leaf.sources.start as usize..]);
            let (recurrence, far, order) = (&far.tables.recurrence, &far.ends.local_sources, far.orders.highest);
            let inverse_side = 1.0 / layout.tree.side_of(target.level);
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
    far: &'a Harmonics<T>,
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
            far,
            tables,
            moves,
            from,
            to,
            scratch,
        } = self;
        let workspace = as_lanes::<V>(scratch, translation::workspace_len(far.orders.highest));
        let coefficients = coefficient_count(far.orders.highest);
        let stride = far.box_stride();
        for (octant, moves) in moves.by_octant.iter().enumerate() {
            for batch in moves.chunks(V::LANES) {
                for stream in 0..far.streams() {
                    let mut starts = [[0; MAX_LANES]; 2];
                    for (l, (a, b)) in batch.iter().enumerate() {
                        starts[0][l] = *a as usize * stride + stream * coefficients;
                        starts[1][l] = *b as usize * stride + stream * coefficients;
                    }
                    let (sources, targets) = (&starts[0][..batch.len()], &starts[1][..batch.len()]);
                    tables.apply::<V>(octant, far.orders.highest, from, sources, to, targets, workspace);
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
    far: &'a Harmonics<T>,
    layout: &'a Layout<T>,
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
            far,
            layout,
            step,
            leaves,
            mut sums,
            scratch,
        } = self;
        for row in leaves {
            let at = layout.lists.leaves[row];
            let targets = layout.tree.nodes[at as usize].target_count();
            let (leaf_sums, rest) = sums.split_at_mut(far.vectors * far.sums() * targets);
            sums = rest;
            for (vector, sums) in leaf_sums.chunks_mut(far.sums() * targets).enumerate() {
                match step {
                    LeafStep::L2p => l2p_leaf::<V>((far, layout), at, vector, sums, scratch),
                    LeafStep::M2p => m2p_leaf::<V>((far, layout), at, row, vector, sums, scratch),
                }
            }
        }
    }
}

#[inline(always)]
fn l2p_leaf<V: Lanes>(
    (far, layout): Of<'_, V::Elem>,
    at: u32,
    vector: usize,
    sums: &mut [V::Elem],
    scratch: &mut [V::Elem],
) {
    sums.fill(V::Elem::ZERO);
    let leaf = &layout.tree.nodes[at as usize];
    if leaf.level < 2 {
        return;
    }
    let outputs = &far.ends.local_outputs;
    let derived = &mut scratch[..outputs.derived_len()];
    let coefficients = coefficient_count(far.orders.highest);
    let components = far.components();
    let start = at as usize * far.box_stride() + vector * components * coefficients;
    outputs.derive(&far.locals[start..][..components * coefficients], coefficients, derived);
    let inverse_side = 1.0 / layout.tree.side_of(leaf.level);
    let points = layout.targets_of(leaf);
    let place = &Placement::SAME;
    add_values::<V, false>(
        &far.tables.recurrence,
        outputs,
        derived,
        inverse_side,
        points,
        place,
        sums,
    );
}

#[inline(always)]
fn m2p_leaf<V: Lanes>(
    (far, layout): Of<'_, V::Elem>,
    at: u32,
    row: usize,
    vector: usize,
    sums: &mut [V::Elem],
    scratch: &mut [V::Elem],
) {
    let leaf = &layout.tree.nodes[at as usize];
    let outputs = &far.ends.multipole_outputs;
    let derived = &mut scratch[..outputs.derived_len()];
    let coefficients = coefficient_count(far.orders.highest);
    let components = far.components();
    let points = layout.targets_of(leaf);
    for source in layout.lists.m2p.row(row) {
        let node = &layout.tree.nodes[*source as usize];
        let start = *source as usize * far.box_stride() + vector * components * coefficients;
        outputs.derive(
            &far.multipoles[start..][..components * coefficients],
            coefficients,
            derived,
        );
        let inverse_side = 1.0 / layout.tree.side_of(node.level);
        let place = &layout.placement(leaf, node);
        add_values::<V, true>(
            &far.tables.recurrence,
            outputs,
            derived,
            inverse_side,
            points,
            place,
            sums,
        );
    }
}
