//! The loop over pairs: groups of targets in registers, sources broadcast to them.
//!
//! A register holds several targets; each source is broadcast to all of them, so there is no reduction and no
//! remainder on the source side. The loop takes two registers of targets at a time, to use each broadcast twice. It
//! serves points in space (`D = 3`) and in the plane (`D = 2`).

#![allow(
    clippy::collapsible_if,
    reason = "a separate constant condition keeps unused code from being compiled"
)]

use super::SortedSizes;
use crate::kernel::Pair;
use crate::p2p::PairSums;
use crate::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};
use std::marker::PhantomData;
use std::ops::Range;

/// Sources as separate arrays of coordinates, strengths (one array per component) and squared core sizes.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a, T, const D: usize> {
    pub position: [&'a [T]; D],
    /// Component `c` of the strength of source `j` is `strengths[c * stride + j]`.
    pub strengths: &'a [T],
    pub stride: usize,
    pub size2: Size2<'a, T>,
}

impl<'a, T: Real, const D: usize> Sources<'a, T, D> {
    /// All sources, with the strengths of one or several vectors, stored component by component and vector by vector.
    pub fn new(position: &'a [Vec<T>; D], strengths: &'a [T], sizes: &'a SortedSizes<T>) -> Self {
        Self {
            position: columns(position),
            strengths,
            stride: position[0].len(),
            size2: match sizes {
                SortedSizes::Global(size2) => Size2::Global(*size2),
                SortedSizes::PerSource(size2) => Size2::PerSource(size2),
            },
        }
    }
}

/// The coordinates, axis by axis.
pub(crate) fn columns<T, const D: usize>(position: &[Vec<T>; D]) -> [&[T]; D] {
    position.each_ref().map(|column| &column[..])
}

/// Squared core sizes of the sources.
#[derive(Clone, Copy)]
pub(crate) enum Size2<'a, T> {
    Global(T),
    PerSource(&'a [T]),
}

/// The pairs to skip among points that may coincide.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skip {
    /// Pairs at distance zero.
    Coincident,
    /// Pairs with equal index.
    SameIndex,
}

/// The targets and the source ranges of one call.
pub(crate) struct Block<'a, T, const D: usize> {
    /// Coordinates of all targets.
    pub positions: [&'a [T]; D],
    /// The targets of this call.
    pub targets: Range<usize>,
    pub sources: Sources<'a, T, D>,
    /// Ranges of sources that may coincide with targets, and the pairs to skip among them.
    pub own: (&'a [(u32, u32)], Skip),
    /// Ranges of sources that do not coincide with targets.
    pub others: &'a [(u32, u32)],
}

/// One kernel at one accuracy: a separate loop, compiled for every level. `NARROW` says that the pair takes roots of
/// squared distances only, with or without the square of a core size, so that the range of singles suffices.
struct PairTask<'a, 'b, T, P, const D: usize, const S: usize, const O: usize, const A: u8, const NARROW: bool> {
    block: &'a Block<'b, T, D>,
    sums: &'a mut [T],
    pair: PhantomData<P>,
}

impl<T: Real, P: Pair<D, S, O>, const D: usize, const S: usize, const O: usize, const A: u8, const NARROW: bool>
    Vectorized<T> for PairTask<'_, '_, T, P, D, S, O, A, NARROW>
{
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        if NARROW {
            self.block.run::<V::Narrow, V, P, S, O, A>(self.sums);
        } else {
            self.block.run::<V, V, P, S, O, A>(self.sums);
        }
    }
}

/// `count` targets of a block from `first` on, one register at a time, with vectors that cover the whole range of
/// doubles.
struct WholeRangeTask<'a, 'b, T, P, const D: usize, const S: usize, const O: usize, const A: u8> {
    block: &'a Block<'b, T, D>,
    first: usize,
    count: usize,
    sums: &'a mut [T],
    pair: PhantomData<P>,
}

impl<T: Real, P: Pair<D, S, O>, const D: usize, const S: usize, const O: usize, const A: u8> Vectorized<T>
    for WholeRangeTask<'_, '_, T, P, D, S, O, A>
{
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        for at in (0..self.count).step_by(V::LANES) {
            let count = (self.count - at).min(V::LANES);
            self.block
                .targets_at::<V, P, S, O, A, 1>(self.first + at, count, self.sums);
        }
    }
}

impl<'a, T: Real, const D: usize> Block<'a, T, D> {
    /// Adds the sums of `vectors` strength vectors to `sums`. Sums and the block's strengths are stored vector by
    /// vector.
    pub fn add_vectors(mut self, pairs: &impl PairSums<D>, simd: SimdLevel, vectors: usize, sums: &mut [T]) {
        let strengths: &'a [T] = self.sources.strengths;
        let length = pairs.sums() * self.targets.len();
        let mut done = 0;
        while done < vectors {
            self.sources.strengths = &strengths[done * pairs.strengths() * self.sources.stride..];
            let at_once = pairs.vectors_at_once(vectors - done);
            pairs.add_vectors(simd, &self, at_once, &mut sums[done * length..]);
            done += at_once;
        }
    }
}

impl<T: Real, const D: usize> Block<'_, T, D> {
    /// Adds the sums of pair `P` at the accuracy `A`, which the pair interprets.
    pub fn at<P: Pair<D, S, O>, const S: usize, const O: usize, const A: u8>(&self, simd: SimdLevel, sums: &mut [T]) {
        let (block, pair) = (self, PhantomData);
        dispatch(simd, PairTask::<T, P, D, S, O, A, false> { block, sums, pair });
    }

    /// [`Block::at`] for a pair that takes roots of squared distances only, with or without the square of a core size.
    pub fn narrow<P: Pair<D, S, O>, const S: usize, const O: usize, const A: u8>(
        &self,
        simd: SimdLevel,
        sums: &mut [T],
    ) {
        let (block, pair) = (self, PhantomData);
        dispatch(simd, PairTask::<T, P, D, S, O, A, true> { block, sums, pair });
    }

    /// Uses vectors `N`, and vectors `V` of the same width where the range of `N` does not suffice.
    #[inline(always)]
    pub(super) fn run<
        N: Lanes<Elem = T>,
        V: Lanes<Elem = T>,
        P: Pair<D, S, O>,
        const S: usize,
        const O: usize,
        const A: u8,
    >(
        &self,
        sums: &mut [T],
    ) {
        // Constant conditions: the slow path is compiled for narrow vectors only.
        if const { !N::WHOLE_RANGE } {
            if !self.cores_are_narrow() {
                let (first, count) = (self.targets.start, self.targets.len());
                return self.whole_range::<V, P, S, O, A>(first, count, sums);
            }
        }
        let mut first = self.targets.start;
        while first < self.targets.end {
            let left = self.targets.end - first;
            if const { V::LANES > 1 && O <= 4 } {
                if left > V::LANES {
                    let count = left.min(2 * V::LANES);
                    let done = self.targets_at::<N, P, S, O, A, 2>(first, count, sums);
                    self.again_unless::<N, V, P, S, O, A>(done, first, count, sums);
                    first += count;
                    continue;
                }
            }
            let count = left.min(V::LANES);
            let done = self.targets_at::<N, P, S, O, A, 1>(first, count, sums);
            self.again_unless::<N, V, P, S, O, A>(done, first, count, sums);
            first += count;
        }
    }

    /// Repeats `count` targets from `first` on over the whole range of numbers, unless `done`.
    #[inline(always)]
    fn again_unless<
        N: Lanes<Elem = T>,
        V: Lanes<Elem = T>,
        P: Pair<D, S, O>,
        const S: usize,
        const O: usize,
        const A: u8,
    >(
        &self,
        done: bool,
        first: usize,
        count: usize,
        sums: &mut [T],
    ) {
        if const { !N::WHOLE_RANGE } {
            if !done {
                self.whole_range::<V, P, S, O, A>(first, count, sums);
            }
        }
    }

    /// Whether squared distances plus the square of any core size stay in the range of singles. Distances need no
    /// test: the units of a plan bound the large ones, and small ones give infinite sums.
    #[inline(always)]
    fn cores_are_narrow(&self) -> bool {
        let narrow = |size2: &T| size2.to_f64() < 1e37;
        match self.sources.size2 {
            Size2::Global(size2) => narrow(&size2),
            Size2::PerSource(size2) => {
                let mut ranges = self.own.0.iter().chain(self.others);
                ranges.all(|(start, end)| size2[*start as usize..*end as usize].iter().all(narrow))
            }
        }
    }

    /// `count` targets from `first` on, with vectors that cover the whole range of numbers: the slow path, in a
    /// function of its own.
    #[inline(always)]
    fn whole_range<V: Lanes<Elem = T>, P: Pair<D, S, O>, const S: usize, const O: usize, const A: u8>(
        &self,
        first: usize,
        count: usize,
        sums: &mut [T],
    ) {
        V::apart(WholeRangeTask::<T, P, D, S, O, A> {
            block: self,
            first,
            count,
            sums,
            pair: PhantomData,
        });
    }

    /// `B` registers of targets from index `first` on, of which the first `count` lanes hold targets. Returns false
    /// and adds nothing if a sum is not finite and vectors of a larger range may give a finite one.
    #[inline(always)]
    fn targets_at<V: Lanes<Elem = T>, P: Pair<D, S, O>, const S: usize, const O: usize, const A: u8, const B: usize>(
        &self,
        first: usize,
        count: usize,
        sums: &mut [T],
    ) -> bool {
        let mut x = [[V::zero(); D]; B];
        for b in 0..B {
            let real = count.saturating_sub(b * V::LANES).min(V::LANES);
            for axis in 0..D {
                let from = (first + b * V::LANES).min(self.positions[axis].len());
                x[b][axis] = V::from_slice_partial(&self.positions[axis][from..], real, T::ZERO);
            }
        }
        let mut totals = [[V::zero(); O]; B];
        for range in self.own.0 {
            if const { P::SINGULAR } {
                self.over_range::<V, P, S, O, A, B, true, false>(*range, first, &x, &mut totals);
            } else {
                self.over_range::<V, P, S, O, A, B, true, true>(*range, first, &x, &mut totals);
            }
        }
        for range in self.others {
            self.over_range::<V, P, S, O, A, B, false, false>(*range, first, &x, &mut totals);
        }
        if !V::WHOLE_RANGE {
            // A number times zero is zero unless it is infinite or NaN.
            let mut rest = V::zero();
            for total in totals.as_flattened() {
                rest = total.mul_add(V::zero(), rest);
            }
            if rest.sum() != T::ZERO {
                return false;
            }
        }
        let offset = first - self.targets.start;
        for b in 0..B {
            let real = count.saturating_sub(b * V::LANES).min(V::LANES);
            for k in 0..O {
                let out = &mut sums[k * self.targets.len() + offset + (b * V::LANES).min(count)..];
                let total = totals[b][k] + V::from_slice_partial(out, real, T::ZERO);
                total.write_partial(out, real);
            }
        }
        true
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "all but two are constants")]
    fn over_range<
        V: Lanes<Elem = T>,
        P: Pair<D, S, O>,
        const S: usize,
        const O: usize,
        const A: u8,
        const B: usize,
        const COINCIDENT: bool,
        const SAME_INDEX: bool,
    >(
        &self,
        (start, end): (u32, u32),
        first: usize,
        x: &[[V; D]; B],
        totals: &mut [[V; O]; B],
    ) {
        let range = start as usize..end as usize;
        let length = range.len();
        let mut position = self.sources.position;
        for axis in 0..D {
            position[axis] = &position[axis][range.clone()][..length];
        }
        let mut strengths = [&position[0][..0]; S];
        for c in 0..S {
            strengths[c] = &self.sources.strengths[c * self.sources.stride..][range.clone()][..length];
        }
        let mut indices = [V::zero(); B];
        if SAME_INDEX {
            for (b, index) in indices.iter_mut().enumerate() {
                let mut lanes = [T::ZERO; crate::simd::MAX_LANES];
                for (l, lane) in lanes.iter_mut().enumerate() {
                    // Relative to the range, so that the difference is exact in single precision; -1, which no source
                    // has, if no index is skipped.
                    *lane = T::from_f64(match self.own.1 {
                        Skip::SameIndex => (first + b * V::LANES + l) as f64 - range.start as f64,
                        Skip::Coincident => -1.0,
                    });
                }
                *index = V::from_slice(&lanes);
            }
        }
        let global = match self.sources.size2 {
            Size2::Global(size2) => V::splat(size2),
            Size2::PerSource(_) => V::zero(),
        };
        let mut sums = [[V::zero(); O]; B];
        for j in 0..length {
            let mut source = [V::zero(); D];
            for axis in 0..D {
                source[axis] = V::splat(position[axis][j]);
            }
            let mut strength = [V::zero(); S];
            for c in 0..S {
                strength[c] = V::splat(strengths[c][j]);
            }
            let size2 = match self.sources.size2 {
                Size2::Global(_) => global,
                Size2::PerSource(size2) => V::splat(size2[range.start + j]),
            };
            for b in 0..B {
                let mut d = x[b];
                for axis in 0..D {
                    d[axis] = d[axis] - source[axis];
                }
                let mut weight = strength;
                if SAME_INDEX {
                    let gap = indices[b] - V::splat(T::from_f64(j as f64));
                    for w in &mut weight {
                        *w = w.keep_where_positive(gap * gap);
                    }
                }
                P::add::<V, A, COINCIDENT>(d, weight, size2, &mut sums[b]);
            }
        }
        for b in 0..B {
            for k in 0..O {
                totals[b][k] = totals[b][k] + sums[b][k];
            }
        }
    }
}
