//! The vectorised operators: each task takes a few boxes and is compiled for every instruction set.
//!
//! The far field of the harmonic kernel is that of $G(z)=\sum_j\gamma_j/(z-z_j)$, the derivative of the logarithm's;
//! signs are applied when the sums are read.

use super::complex::Complex;
use super::expansion::{
    Columns, Derivatives, multipole_to_local, polynomial, power_sums, rescale, shift_local, shift_multipole,
};
use super::fmm::PlaneFmm;
use super::kernel::Kernel;
use super::pyramid::first_of_level;
use crate::p2p::PairSums;
use crate::simd::{Lanes, MAX_LANES, Real, Vectorized, ln};
use std::ops::Range;

/// The centre and scale of box `b` in every lane.
#[inline(always)]
fn splat_box<V: Lanes>(fmm: &PlaneFmm<V::Elem>, b: usize) -> (Complex<V>, V) {
    let [x, y] = fmm.pyramid.boxes.centre[b];
    let centre = Complex {
        re: V::splat(x),
        im: V::splat(y),
    };
    (centre, V::splat(fmm.pyramid.boxes.scale[b]))
}

/// The centres and scales of the boxes `numbers`, one per lane.
#[inline(always)]
fn gather_boxes<V: Lanes>(fmm: &PlaneFmm<V::Elem>, numbers: &[usize; MAX_LANES]) -> (Complex<V>, V) {
    let mut parts = [[V::Elem::ZERO; MAX_LANES]; 3];
    for l in 0..V::LANES {
        let [x, y] = fmm.pyramid.boxes.centre[numbers[l]];
        parts[0][l] = x;
        parts[1][l] = y;
        parts[2][l] = fmm.pyramid.boxes.scale[numbers[l]];
    }
    let centre = Complex {
        re: V::from_slice(&parts[0]),
        im: V::from_slice(&parts[1]),
    };
    (centre, V::from_slice(&parts[2]))
}

/// The vector from `from` to `to`, in units of `unit`.
#[inline(always)]
fn shift_in_units<V: Lanes>(from: Complex<V>, to: Complex<V>, unit: V) -> Complex<V> {
    let inverse = V::splat(V::Elem::ONE).div(unit);
    Complex {
        re: (to.re - from.re) * inverse,
        im: (to.im - from.im) * inverse,
    }
}

/// P2M of a range of leaves, or P2L from the sources in their lists.
pub(super) struct PointsToExpansions<'a, T: Real> {
    pub fmm: &'a PlaneFmm<T>,
    pub leaves: Range<usize>,
    pub strengths: &'a [T],
    pub rows: &'a mut [T],
    pub local: bool,
}

impl<T: Real> Vectorized<T> for PointsToExpansions<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let fmm = self.fmm;
        let (row, sources) = (fmm.row(), &fmm.pyramid.sources);
        let mut sums = Columns::<V>::new(fmm.order);
        for leaf in self.leaves.clone() {
            let out = &mut self.rows[(leaf - self.leaves.start) * row..][..row];
            if self.local {
                let list = fmm.connections.p2l.row(leaf);
                for k in 0..list.len() {
                    let range = sources.range(list[k] as usize..list[k] as usize + 1);
                    points_to_expansion::<V, true>(fmm, leaf, range, self.strengths, &mut sums, out);
                }
            } else {
                let range = sources.range(leaf..leaf + 1);
                points_to_expansion::<V, false>(fmm, leaf, range, self.strengths, &mut sums, out);
            }
        }
    }
}

/// Adds the contributions of a range of points to the multipole or the local expansion of a leaf.
///
/// Both are sums over powers of a base: the offset from the centre in units of the box, or its inverse.
#[inline(always)]
fn points_to_expansion<V: Lanes, const LOCAL: bool>(
    fmm: &PlaneFmm<V::Elem>,
    leaf: usize,
    range: Range<usize>,
    strengths: &[V::Elem],
    sums: &mut Columns<V>,
    out: &mut [V::Elem],
) {
    let b = first_of_level(fmm.pyramid.depth) + leaf;
    let (centre, scale) = splat_box::<V>(fmm, b);
    let inverse_scale = V::splat(V::Elem::ONE).div(scale);
    let [x, y] = &fmm.pyramid.sources.position;
    let is_log = fmm.pairs.kernel == Kernel::Log;
    // Lanes without a point are placed at the centre for multipoles and far from it for local expansions.
    let [cx, cy] = fmm.pyramid.boxes.centre[b];
    let empty = match LOCAL {
        false => cx,
        true if cx > V::Elem::ZERO => -V::Elem::ONE,
        true => V::Elem::ONE,
    };
    sums.clear();
    let mut logs = V::zero();
    let mut at = range.start;
    while at < range.end {
        let count = (range.end - at).min(V::LANES);
        let mut strength = Complex::real(V::from_slice_partial(&strengths[at..], count, V::Elem::ZERO));
        if fmm.pairs.complex {
            strength.im = V::from_slice_partial(&strengths[x.len() + at..], count, V::Elem::ZERO);
        }
        let offset = Complex {
            re: V::from_slice_partial(&x[at..], count, empty) - centre.re,
            im: V::from_slice_partial(&y[at..], count, cy) - centre.im,
        };
        let unit = offset.scaled(inverse_scale);
        if LOCAL {
            let base = unit.inverse();
            if is_log {
                let log = V::splat(V::Elem::from_f64(0.5)) * ln(offset.norm2());
                logs = strength.re.mul_add(log, logs);
                power_sums(sums, 1, base, strength.times(base));
            } else {
                power_sums(sums, 0, base, strength.times(base));
            }
        } else {
            power_sums(sums, usize::from(!is_log), unit, strength);
        }
        at += count;
    }
    if LOCAL && is_log {
        sums.set(0, Complex::real(logs));
    }
    let mut factors = [V::Elem::ONE; super::expansion::MAX_ORDER + 1];
    for k in 0..=fmm.order {
        factors[k] = match (is_log, LOCAL) {
            (true, _) if k == 0 => V::Elem::ONE,
            (true, _) => V::Elem::from_f64(-1.0 / k as f64),
            (false, false) => V::Elem::ONE / fmm.pyramid.boxes.scale[b],
            (false, true) => -V::Elem::ONE / fmm.pyramid.boxes.scale[b],
        };
    }
    sums.reduce_into(&factors, out);
}

/// M2M from the children of a range of boxes.
pub(super) struct M2m<'a, T: Real> {
    pub fmm: &'a PlaneFmm<T>,
    pub boxes: Range<usize>,
    pub parents: &'a mut [T],
    /// The rows of the next finer level, whose first box is `first_child`.
    pub children: &'a [T],
    pub first_child: usize,
}

impl<T: Real> Vectorized<T> for M2m<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let (fmm, row) = (self.fmm, self.fmm.row());
        let mut a = Columns::<V>::new(fmm.order);
        let mut at = self.boxes.start;
        while at < self.boxes.end {
            let count = (self.boxes.end - at).min(V::LANES);
            let mut starts = [0; MAX_LANES];
            let mut numbers = [at; MAX_LANES];
            for l in 0..count {
                starts[l] = (at + l - self.boxes.start) * row;
                numbers[l] = at + l;
            }
            let (parent, unit) = gather_boxes::<V>(fmm, &numbers);
            let inverse_unit = V::splat(T::ONE).div(unit);
            for child in 1..=4 {
                let mut children = [0; MAX_LANES];
                let mut from = [0; MAX_LANES];
                for l in 0..V::LANES {
                    children[l] = 4 * numbers[l] + child;
                    from[l] = (children[l] - self.first_child) * row;
                }
                let (centre, scale) = gather_boxes::<V>(fmm, &children);
                a.gather(self.children, &from);
                rescale(&mut a, scale * inverse_unit);
                shift_multipole(&mut a, shift_in_units(parent, centre, unit));
                a.scatter_add(self.parents, &starts, count);
            }
            at += count;
        }
    }
}

/// L2L to a range of boxes from their parents.
pub(super) struct L2l<'a, T: Real> {
    pub fmm: &'a PlaneFmm<T>,
    pub boxes: Range<usize>,
    /// The rows of the next coarser level, whose first box is `first_parent`.
    pub parents: &'a [T],
    pub first_parent: usize,
    pub children: &'a mut [T],
}

impl<T: Real> Vectorized<T> for L2l<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let (fmm, row) = (self.fmm, self.fmm.row());
        let mut b = Columns::<V>::new(fmm.order);
        let mut at = self.boxes.start;
        while at < self.boxes.end {
            let count = (self.boxes.end - at).min(V::LANES);
            let mut numbers = [at; MAX_LANES];
            let mut parents = [0; MAX_LANES];
            let mut starts = [0; MAX_LANES];
            let mut from = [0; MAX_LANES];
            for l in 0..V::LANES {
                if l < count {
                    numbers[l] = at + l;
                    starts[l] = (at + l - self.boxes.start) * row;
                }
                parents[l] = (numbers[l] - 1) / 4;
                from[l] = (parents[l] - self.first_parent) * row;
            }
            let (parent, unit) = gather_boxes::<V>(fmm, &parents);
            let (centre, scale) = gather_boxes::<V>(fmm, &numbers);
            b.gather(self.parents, &from);
            shift_local(&mut b, shift_in_units(parent, centre, unit));
            rescale(&mut b, scale.div(unit));
            b.scatter_add(self.children, &starts, count);
            at += count;
        }
    }
}

/// M2L to a range of boxes from the boxes weakly coupled to each.
pub(super) struct M2l<'a, T: Real, const LOG: bool> {
    pub fmm: &'a PlaneFmm<T>,
    pub boxes: Range<usize>,
    pub locals: &'a mut [T],
}

impl<T: Real, const LOG: bool> Vectorized<T> for M2l<'_, T, LOG> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let (fmm, row) = (self.fmm, self.fmm.row());
        let (mut a, mut b) = (Columns::<V>::new(fmm.order), Columns::<V>::new(fmm.order));
        let factors = [T::ONE; super::expansion::MAX_ORDER + 1];
        for target in self.boxes.clone() {
            let list = fmm.connections.weak.row(target);
            if list.is_empty() {
                continue;
            }
            b.clear();
            let (to, unit) = splat_box::<V>(fmm, target);
            let mut at = 0;
            while at < list.len() {
                let count = (list.len() - at).min(V::LANES);
                // Lanes without a source repeat the last source, with zero coefficients.
                let mut numbers = [list[at + count - 1] as usize; MAX_LANES];
                let mut from = [0; MAX_LANES];
                let mut present = [T::ZERO; MAX_LANES];
                for l in 0..V::LANES {
                    if l < count {
                        numbers[l] = list[at + l] as usize;
                        present[l] = T::ONE;
                    }
                    from[l] = numbers[l] * row;
                }
                let (centre, scale) = gather_boxes::<V>(fmm, &numbers);
                a.gather(&fmm.multipoles, &from);
                if count < V::LANES {
                    a.scale(V::from_slice(&present));
                }
                let d = Complex {
                    re: to.re - centre.re,
                    im: to.im - centre.im,
                };
                multipole_to_local::<V, LOG>(&fmm.matrix, fmm.order, &mut a, d, (scale, unit), &mut b);
                at += count;
            }
            let start = (target - self.boxes.start) * row;
            b.reduce_into(&factors, &mut self.locals[start..start + row]);
        }
    }
}

/// A step that turns expansions into sums at targets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LeafStep {
    L2p,
    M2p,
}

/// L2P or M2P at the targets of a range of leaves.
pub(super) struct AtLeaves<'a, T: Real> {
    pub fmm: &'a PlaneFmm<T>,
    pub step: LeafStep,
    pub leaves: Range<usize>,
    pub sums: &'a mut [T],
}

impl<T: Real> Vectorized<T> for AtLeaves<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let fmm = self.fmm;
        let first = first_of_level(fmm.pyramid.depth);
        let mut rest = self.sums;
        for leaf in self.leaves {
            let targets = fmm.pyramid.targets().range(leaf..leaf + 1);
            let (sums, after) = rest.split_at_mut(fmm.pairs.sums() * targets.len());
            rest = after;
            match self.step {
                LeafStep::L2p => {
                    sums.fill(T::ZERO);
                    expansion_to_points::<V, true>(fmm, first + leaf, targets, sums);
                }
                LeafStep::M2p => {
                    let list = fmm.connections.m2p.row(leaf);
                    for k in 0..list.len() {
                        expansion_to_points::<V, false>(fmm, first + list[k] as usize, targets.clone(), sums);
                    }
                }
            }
        }
    }
}

/// Adds the values of the local or multipole expansion of box `b`, and the derivatives that the outputs need, at a
/// range of targets.
#[inline(always)]
fn expansion_to_points<V: Lanes, const LOCAL: bool>(
    fmm: &PlaneFmm<V::Elem>,
    b: usize,
    targets: Range<usize>,
    sums: &mut [V::Elem],
) {
    let (order, row) = (fmm.order, fmm.row());
    let all = if LOCAL { &fmm.locals } else { &fmm.multipoles };
    let coefficients = &all[b * row..(b + 1) * row];
    let (centre, scale) = splat_box::<V>(fmm, b);
    let inverse_scale = V::splat(V::Elem::ONE).div(scale);
    let [x, y] = &fmm.pyramid.targets().position;
    let (is_log, n) = (fmm.pairs.kernel == Kernel::Log, targets.len());
    let charge = Complex {
        re: V::splat(coefficients[0]),
        im: V::splat(coefficients[order + 1]),
    };
    let mut at = 0;
    while at < n {
        let count = (n - at).min(V::LANES);
        // Lanes without a target repeat the first.
        let from = targets.start + at;
        let offset = Complex {
            re: V::from_slice_partial(&x[from..], count, x[from]) - centre.re,
            im: V::from_slice_partial(&y[from..], count, y[from]) - centre.im,
        };
        let unit = offset.scaled(inverse_scale);
        let [mut value, mut first, mut second];
        if LOCAL {
            [value, first, second] = evaluate::<V>(fmm, coefficients, unit);
            first = first.scaled(inverse_scale);
            second = second.scaled(inverse_scale).scaled(inverse_scale);
        } else {
            // sum a_k u^k with u = rho/(z - c); du/dz = -u^2/rho, so that d^2/dz^2 is (u^4 d^2/du^2 + 2 u^3 d/du)/rho^2.
            let u = unit.inverse();
            let by_u;
            [value, by_u, second] = evaluate::<V>(fmm, coefficients, u);
            let square = u.times(u);
            first = by_u.times(square).scaled(V::zero() - inverse_scale);
            if fmm.pairs.derivatives > 1 {
                let twice = by_u.plus(by_u);
                second = second.times_plus(u, twice).times(square.times(u));
                second = second.scaled(inverse_scale).scaled(inverse_scale);
            }
            if is_log {
                // a_0 is the coefficient of the logarithm.
                let log = V::splat(V::Elem::from_f64(0.5)) * ln(offset.norm2()) - V::splat(V::Elem::ONE);
                value = value.plus(charge.scaled(log));
                first = first.plus(charge.times(u).scaled(inverse_scale));
                let minus = V::zero() - inverse_scale;
                second = second.plus(charge.times(square).scaled(inverse_scale).scaled(minus));
            }
        }
        // The sums are of powers of w = 1/(z - z_j): the derivatives of log are w and -w^2, those of w are -w^2 and
        // 2 w^3.
        let minus = V::splat(-V::Elem::ONE);
        let powers = if is_log {
            add_to(&mut sums[at..], value.re, count);
            [first, second.scaled(minus), Complex::zero()]
        } else {
            let half = V::splat(V::Elem::from_f64(0.5));
            [value, first.scaled(minus), second.scaled(half)]
        };
        let start = usize::from(is_log);
        for k in 0..(fmm.pairs.sums() - start) / 2 {
            add_to(&mut sums[(start + 2 * k) * n + at..], powers[k].re, count);
            add_to(&mut sums[(start + 2 * k + 1) * n + at..], powers[k].im, count);
        }
        at += count;
    }
}

#[inline(always)]
fn evaluate<V: Lanes>(fmm: &PlaneFmm<V::Elem>, row: &[V::Elem], w: Complex<V>) -> Derivatives<V> {
    match fmm.pairs.derivatives {
        0 => polynomial::<V, 0>(row, fmm.order, w),
        1 => polynomial::<V, 1>(row, fmm.order, w),
        _ => polynomial::<V, 2>(row, fmm.order, w),
    }
}

#[inline(always)]
fn add_to<V: Lanes>(sums: &mut [V::Elem], value: V, count: usize) {
    let total = V::from_slice_partial(sums, count, V::Elem::ZERO) + value;
    total.write_partial(sums, count);
}
