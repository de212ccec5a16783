//! Pairs of points that act on each other, each evaluated once: the action of one point gives the reaction of the
//! other.

#![allow(
    clippy::collapsible_if,
    reason = "a separate constant condition keeps unused code from being compiled"
)]

use super::block::Sources;
use super::{FULL, Size2};
use crate::simd::{Lanes, MAX_LANES, Real, RsqrtAccuracy, SimdLevel, Vectorized, dispatch};
use std::marker::PhantomData;
use std::ops::Range;

/// A pair whose sums at one point follow from those at the other.
pub(crate) trait MutualPair<const D: usize, const O: usize> {
    /// Whether each sum changes its sign with `d`.
    const ODD: [bool; O];
    /// The sums of a source of unit strength at distance `d`; with `SKIP`, zero at distance zero.
    fn unit<V: Lanes, const A: u8, const SKIP: bool>(d: [V; D], size2: V) -> [V; O];
}

/// Two disjoint ranges of points. All points have the same core size.
pub(crate) struct MutualBlock<'a, T, const D: usize> {
    pub points: Sources<'a, T, D>,
    pub ranges: [Range<usize>; 2],
    /// Whether points of one range may coincide with points of the other.
    pub touching: bool,
}

/// The number of points of the second range in one pass: few enough for their sums to stay in the cache.
const TOGETHER: usize = 64;

impl<T: Real, const D: usize> MutualBlock<'_, T, D> {
    /// [`MutualBlock::at`] with accuracy `accuracy`, for ranges that do not touch and a pair that takes roots of
    /// squared distances only. Distances below the range of narrow vectors ([`Lanes::Narrow`]) give sums that are not
    /// finite.
    pub fn with_accuracy<P: MutualPair<D, O>, const O: usize>(
        &self,
        simd: SimdLevel,
        accuracy: RsqrtAccuracy,
        sums: [&mut [T]; 2],
    ) {
        match accuracy {
            RsqrtAccuracy::Estimate => self.narrow::<P, O, { RsqrtAccuracy::Estimate as u8 }>(simd, sums),
            RsqrtAccuracy::Newton => self.narrow::<P, O, { RsqrtAccuracy::Newton as u8 }>(simd, sums),
            RsqrtAccuracy::Cubic => self.narrow::<P, O, { RsqrtAccuracy::Cubic as u8 }>(simd, sums),
            RsqrtAccuracy::Full => self.narrow::<P, O, FULL>(simd, sums),
        }
    }

    fn narrow<P: MutualPair<D, O>, const O: usize, const A: u8>(&self, simd: SimdLevel, sums: [&mut [T]; 2]) {
        let (block, pair) = (self, PhantomData);
        let task = NarrowTask::<T, P, D, O, A> {
            block,
            simd,
            sums,
            pair,
        };
        dispatch(simd, task);
    }

    /// Adds to `sums[r][k * n + i]` sum `k` of the i-th of the n points of range `r`.
    pub fn at<P: MutualPair<D, O>, const O: usize, const A: u8>(&self, simd: SimdLevel, sums: [&mut [T]; 2]) {
        let (block, pair) = (self, PhantomData);
        if self.touching {
            dispatch(simd, MutualTask::<T, P, D, O, A, true> { block, sums, pair });
        } else {
            dispatch(simd, MutualTask::<T, P, D, O, A, false> { block, sums, pair });
        }
    }
}

struct MutualTask<'a, 'b, T, P, const D: usize, const O: usize, const A: u8, const SKIP: bool> {
    block: &'a MutualBlock<'b, T, D>,
    sums: [&'a mut [T]; 2],
    pair: PhantomData<P>,
}

impl<T: Real, P: MutualPair<D, O>, const D: usize, const O: usize, const A: u8, const SKIP: bool> Vectorized<T>
    for MutualTask<'_, '_, T, P, D, O, A, SKIP>
{
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        self.block.run::<V, P, O, A, SKIP>(self.sums);
    }
}

/// A loop of [`MutualBlock::with_accuracy`], compiled only for levels at which it can be chosen.
struct NarrowTask<'a, 'b, T, P, const D: usize, const O: usize, const A: u8> {
    block: &'a MutualBlock<'b, T, D>,
    simd: SimdLevel,
    sums: [&'a mut [T]; 2],
    pair: PhantomData<P>,
}

impl<T: Real, P: MutualPair<D, O>, const D: usize, const O: usize, const A: u8> Vectorized<T>
    for NarrowTask<'_, '_, T, P, D, O, A>
{
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        if const { RsqrtAccuracy::is_never_chosen::<V, A>() } {
            // The loop with full accuracy is compiled anyway.
            self.block.narrow::<P, O, FULL>(self.simd, self.sums);
        } else {
            self.block.run::<V::Narrow, P, O, A, false>(self.sums);
        }
    }
}

impl<T: Real, const D: usize> MutualBlock<'_, T, D> {
    #[inline(always)]
    fn run<V: Lanes<Elem = T>, P: MutualPair<D, O>, const O: usize, const A: u8, const SKIP: bool>(
        &self,
        [sums, others]: [&mut [T]; 2],
    ) {
        let [first, second] = self.ranges.clone();
        let mut start = second.start;
        while start < second.end {
            let together = start..(start + TOGETHER).min(second.end);
            let mut received = [[V::zero(); O]; TOGETHER];
            let mut at = first.start;
            while at < first.end {
                let left = first.end - at;
                // A constant condition keeps unused code from being compiled.
                if const { V::LANES > 1 && O <= 2 } {
                    if left > V::LANES {
                        let count = left.min(2 * V::LANES);
                        self.meet::<V, P, O, A, 2, SKIP>(at, count, &together, &mut received, sums);
                        at += 2 * V::LANES;
                        continue;
                    }
                }
                self.meet::<V, P, O, A, 1, SKIP>(at, left.min(V::LANES), &together, &mut received, sums);
                at += V::LANES;
            }
            for k in 0..O {
                let out = &mut others[k * second.len() + start - second.start..][..together.len()];
                add_received::<V, O>(&received, k, P::ODD[k], out);
            }
            start += TOGETHER;
        }
    }

    /// Evaluates the pairs between points of the second range and `B` registers of points of the first range from `at`
    /// on, of which the first `count` lanes hold points.
    #[inline(always)]
    fn meet<V: Lanes<Elem = T>, P: MutualPair<D, O>, const O: usize, const A: u8, const B: usize, const SKIP: bool>(
        &self,
        at: usize,
        count: usize,
        together: &Range<usize>,
        received: &mut [[V; O]; TOGETHER],
        sums: &mut [T],
    ) {
        let size2 = match self.points.size2 {
            Size2::Global(size2) => V::splat(size2),
            Size2::PerSource(_) => V::zero(),
        };
        let length = together.len();
        let mut x = [[V::zero(); D]; B];
        let mut strength = [V::zero(); B];
        let mut totals = [[V::zero(); O]; B];
        let mut others = self.points.position;
        for axis in 0..D {
            others[axis] = &others[axis][together.clone()][..length];
        }
        let strengths = &self.points.strengths[together.clone()][..length];
        for b in 0..B {
            let from = at + b * V::LANES;
            let real = count.saturating_sub(b * V::LANES).min(V::LANES);
            for axis in 0..D {
                // Lanes without a point have zero strength and the position of the first point.
                let column = self.points.position[axis];
                x[b][axis] = V::from_slice_partial(&column[from..], real, column[at]);
            }
            strength[b] = V::from_slice_partial(&self.points.strengths[from..], real, T::ZERO);
        }
        for j in 0..length {
            let mut other = [V::zero(); D];
            for axis in 0..D {
                other[axis] = V::splat(others[axis][j]);
            }
            let other_strength = V::splat(strengths[j]);
            let mut back = received[j];
            for b in 0..B {
                let mut d = x[b];
                for axis in 0..D {
                    d[axis] = d[axis] - other[axis];
                }
                let unit = P::unit::<V, A, SKIP>(d, size2);
                for k in 0..O {
                    totals[b][k] = other_strength.mul_add(unit[k], totals[b][k]);
                    back[k] = strength[b].mul_add(unit[k], back[k]);
                }
            }
            received[j] = back;
        }
        for b in 0..B {
            let real = count.saturating_sub(b * V::LANES).min(V::LANES);
            for k in 0..O {
                let first = &self.ranges[0];
                let out = &mut sums[k * first.len() + at - first.start + b * V::LANES..];
                let total = totals[b][k] + V::from_slice_partial(out, real, T::ZERO);
                total.write_partial(out, real);
            }
        }
    }
}

/// Adds (or, if `odd`, subtracts) sum `k` of each received point, reduced over its lanes, to `out`.
#[inline(always)]
fn add_received<V: Lanes, const O: usize>(received: &[[V; O]; TOGETHER], k: usize, odd: bool, out: &mut [V::Elem]) {
    for first in (0..out.len()).step_by(V::LANES) {
        let mut rows = [std::ptr::null(); MAX_LANES];
        for l in 0..V::LANES {
            rows[l] = (&raw const received[first + l][k]).cast::<V::Elem>();
        }
        let mut columns = [V::zero(); MAX_LANES];
        // SAFETY: every row is a vector of LANES numbers; TOGETHER is a multiple of LANES.
        unsafe { V::gather_rows(&rows, V::LANES, &mut columns) };
        let mut total = columns[0];
        for l in 1..V::LANES {
            total = total + columns[l];
        }
        let out = &mut out[first..];
        let count = out.len().min(V::LANES);
        let before = V::from_slice_partial(out, count, V::Elem::ZERO);
        let after = if odd { before - total } else { before + total };
        after.write_partial(out, count);
    }
}
