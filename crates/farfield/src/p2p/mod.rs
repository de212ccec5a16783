//! P2P: sums over pairs of points, the near field of every method and the whole of the direct sum.
//!
//! A register holds several targets; each source is broadcast to all of them, so there is nothing to reduce and no
//! remainder on the source side. Targets go two registers at a time, to use each broadcast twice.

use crate::fmm::setup::OrderedSizes;
use crate::kernel::{
    Core, CoulombGradient, CoulombHessian, CoulombPotential, Gaussian, HuPolynomial, Kernel, Pair, PlummerGradient,
    PlummerPotential, SingularVortex, VortexGradient, VortexVelocity, WinckelmansLeonard, sums_of,
};
use crate::simd::{Lanes, Real, RsqrtAccuracy, SimdLevel, Vectorized, dispatch};
use std::marker::PhantomData;
use std::ops::Range;

/// Sources as separate arrays of coordinates, strengths (one array per component) and squared core sizes.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a, T> {
    pub position: [&'a [T]; 3],
    /// Component `c` of the strength of source `j` is `strengths[c * stride + j]`.
    pub strengths: &'a [T],
    pub stride: usize,
    pub size2: Size2<'a, T>,
}

impl<'a, T: Real> Sources<'a, T> {
    /// All sources with the strengths of one of several vectors, each of `components` streams as long as a column.
    pub fn of_vector(
        position: &'a [Vec<T>; 3],
        strengths: &'a [T],
        components: usize,
        vector: usize,
        sizes: &'a OrderedSizes<T>,
    ) -> Self {
        let stride = position[0].len();
        Self {
            position: columns(position),
            strengths: &strengths[vector * components * stride..],
            stride,
            size2: match sizes {
                OrderedSizes::Global(size2) => Size2::Global(*size2),
                OrderedSizes::PerSource(size2) => Size2::PerSource(size2),
            },
        }
    }
}

/// The coordinates, axis by axis.
pub(crate) fn columns<T>(position: &[Vec<T>; 3]) -> [&[T]; 3] {
    [&position[0], &position[1], &position[2]]
}

/// Squared core sizes of the sources.
#[derive(Clone, Copy)]
pub(crate) enum Size2<'a, T> {
    Global(T),
    PerSource(&'a [T]),
}

/// Which pairs of points that may coincide are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skip {
    /// Those at distance zero.
    Coincident,
    /// Those with equal index.
    SameIndex,
}

/// A P2P task: the kernel, how many derivatives, and how exact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairs {
    pub kernel: Kernel,
    pub softened: bool,
    pub derivatives: usize,
    pub accuracy: RsqrtAccuracy,
}

impl Pairs {
    /// Sums per target.
    pub fn sums(&self) -> usize {
        sums_of(self.kernel.strength_components() == 3, self.derivatives)
    }

    /// What to skip among points that may coincide; `same` says that the sources are the targets.
    pub fn own_skip(&self, same: bool) -> Skip {
        if same && !self.kernel.is_singular(self.softened) {
            Skip::SameIndex
        } else {
            Skip::Coincident
        }
    }

    /// Adds to `sums[k * n + i]`, for the i-th of n targets, the sums over the sources of the range `own`, whose
    /// points may coincide with targets, and of `others`, whose points do not.
    pub fn add<T: Real>(&self, simd: SimdLevel, block: Block<T>, sums: &mut [T]) {
        let accuracy = self.accuracy;
        let core = |core: Core| if self.softened { core } else { Core::Singular };
        match (self.kernel, self.derivatives) {
            (Kernel::Coulomb, 0) => block.with_accuracy::<CoulombPotential, 1, 1>(simd, accuracy, sums),
            (Kernel::Coulomb, 1) => block.with_accuracy::<CoulombGradient, 1, 4>(simd, accuracy, sums),
            (Kernel::Coulomb, _) => block.full::<CoulombHessian, 1, 10>(simd, sums),
            (Kernel::Gravity { .. }, 0) => match self.softened {
                false => block.with_accuracy::<CoulombPotential, 1, 1>(simd, accuracy, sums),
                true => block.with_accuracy::<PlummerPotential, 1, 1>(simd, accuracy, sums),
            },
            (Kernel::Gravity { .. }, _) => match self.softened {
                false => block.with_accuracy::<CoulombGradient, 1, 4>(simd, accuracy, sums),
                true => block.with_accuracy::<PlummerGradient, 1, 4>(simd, accuracy, sums),
            },
            (Kernel::BiotSavart { core: c }, 0 | 1) => match core(c) {
                Core::Singular => block.with_accuracy::<VortexVelocity<SingularVortex>, 3, 3>(simd, accuracy, sums),
                Core::WinckelmansLeonard => block.full::<VortexVelocity<WinckelmansLeonard>, 3, 3>(simd, sums),
                Core::Gaussian => block.full::<VortexVelocity<Gaussian>, 3, 3>(simd, sums),
                Core::HuPolynomial => block.full::<VortexVelocity<HuPolynomial>, 3, 3>(simd, sums),
            },
            (Kernel::BiotSavart { core: c }, _) => match core(c) {
                Core::Singular => block.full::<VortexGradient<SingularVortex>, 3, 12>(simd, sums),
                Core::WinckelmansLeonard => block.full::<VortexGradient<WinckelmansLeonard>, 3, 12>(simd, sums),
                Core::Gaussian => block.full::<VortexGradient<Gaussian>, 3, 12>(simd, sums),
                Core::HuPolynomial => block.full::<VortexGradient<HuPolynomial>, 3, 12>(simd, sums),
            },
        }
    }
}

/// The targets and the source ranges of one call.
pub(crate) struct Block<'a, T> {
    /// Coordinates of all targets.
    pub positions: [&'a [T]; 3],
    /// Those that are meant.
    pub targets: Range<usize>,
    pub sources: Sources<'a, T>,
    /// Sources that may coincide with the targets.
    pub own: ((u32, u32), Skip),
    /// Sources that do not.
    pub others: &'a [(u32, u32)],
}

/// One kernel at one accuracy: a loop of its own, compiled for every level.
struct PairTask<'a, 'b, T, P, const S: usize, const O: usize, const A: u8> {
    block: &'a Block<'b, T>,
    sums: &'a mut [T],
    pair: PhantomData<P>,
}

impl<T: Real, P: Pair<S, O>, const S: usize, const O: usize, const A: u8> Vectorized<T>
    for PairTask<'_, '_, T, P, S, O, A>
{
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        self.block.run::<V, P, S, O, A>(self.sums);
    }
}

impl<T: Real> Block<'_, T> {
    fn with_accuracy<P: Pair<S, O>, const S: usize, const O: usize>(
        &self,
        simd: SimdLevel,
        accuracy: RsqrtAccuracy,
        sums: &mut [T],
    ) {
        match accuracy {
            RsqrtAccuracy::Estimate => self.at::<P, S, O, { RsqrtAccuracy::Estimate as u8 }>(simd, sums),
            RsqrtAccuracy::Newton => self.at::<P, S, O, { RsqrtAccuracy::Newton as u8 }>(simd, sums),
            RsqrtAccuracy::Cubic => self.at::<P, S, O, { RsqrtAccuracy::Cubic as u8 }>(simd, sums),
            RsqrtAccuracy::Full => self.full::<P, S, O>(simd, sums),
        }
    }

    fn full<P: Pair<S, O>, const S: usize, const O: usize>(&self, simd: SimdLevel, sums: &mut [T]) {
        self.at::<P, S, O, { RsqrtAccuracy::Full as u8 }>(simd, sums);
    }

    fn at<P: Pair<S, O>, const S: usize, const O: usize, const A: u8>(&self, simd: SimdLevel, sums: &mut [T]) {
        dispatch(
            simd,
            PairTask::<T, P, S, O, A> {
                block: self,
                sums,
                pair: PhantomData,
            },
        );
    }

    #[inline(always)]
    fn run<V: Lanes<Elem = T>, P: Pair<S, O>, const S: usize, const O: usize, const A: u8>(&self, sums: &mut [T]) {
        let mut first = self.targets.start;
        while first < self.targets.end {
            let left = self.targets.end - first;
            if left > V::LANES && O <= 4 {
                self.targets_at::<V, P, S, O, A, 2>(first, left.min(2 * V::LANES), sums);
                first += 2 * V::LANES;
            } else {
                self.targets_at::<V, P, S, O, A, 1>(first, left.min(V::LANES), sums);
                first += V::LANES;
            }
        }
    }

    /// `B` registers of targets from index `first` on, of which `count` targets are real.
    #[inline(always)]
    fn targets_at<V: Lanes<Elem = T>, P: Pair<S, O>, const S: usize, const O: usize, const A: u8, const B: usize>(
        &self,
        first: usize,
        count: usize,
        sums: &mut [T],
    ) {
        let mut x = [[V::zero(); 3]; B];
        for b in 0..B {
            let real = count.saturating_sub(b * V::LANES).min(V::LANES);
            for axis in 0..3 {
                let from = (first + b * V::LANES).min(self.positions[axis].len());
                x[b][axis] = V::from_slice_partial(&self.positions[axis][from..], real, T::ZERO);
            }
        }
        let mut totals = [[V::zero(); O]; B];
        match self.own.1 {
            Skip::Coincident => self.over_range::<V, P, S, O, A, B, true, false>(self.own.0, first, &x, &mut totals),
            Skip::SameIndex => self.over_range::<V, P, S, O, A, B, true, true>(self.own.0, first, &x, &mut totals),
        }
        for range in self.others {
            self.over_range::<V, P, S, O, A, B, false, false>(*range, first, &x, &mut totals);
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
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "all but two are constants")]
    fn over_range<
        V: Lanes<Elem = T>,
        P: Pair<S, O>,
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
        x: &[[V; 3]; B],
        totals: &mut [[V; O]; B],
    ) {
        let range = start as usize..end as usize;
        let [sx, sy, sz] = self.sources.position;
        let (sx, sy, sz) = (&sx[range.clone()], &sy[range.clone()], &sz[range.clone()]);
        let length = sx.len();
        let (sy, sz) = (&sy[..length], &sz[..length]);
        let mut strengths = [&sx[..0]; S];
        for c in 0..S {
            strengths[c] = &self.sources.strengths[c * self.sources.stride..][range.clone()][..length];
        }
        let mut indices = [V::zero(); B];
        if SAME_INDEX {
            for (b, index) in indices.iter_mut().enumerate() {
                let mut lanes = [T::ZERO; crate::simd::MAX_LANES];
                for (l, lane) in lanes.iter_mut().enumerate() {
                    // Relative to the range, so that the difference is exact in single precision.
                    *lane = T::from_f64((first + b * V::LANES + l) as f64 - range.start as f64);
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
            let source = [V::splat(sx[j]), V::splat(sy[j]), V::splat(sz[j])];
            let mut strength = [V::zero(); S];
            for c in 0..S {
                strength[c] = V::splat(strengths[c][j]);
            }
            let size2 = match self.sources.size2 {
                Size2::Global(_) => global,
                Size2::PerSource(size2) => V::splat(size2[range.start + j]),
            };
            for b in 0..B {
                let d = [x[b][0] - source[0], x[b][1] - source[1], x[b][2] - source[2]];
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

/// The accuracy a plan of this tolerance uses for reciprocal square roots.
pub(crate) fn accuracy_for<T: Real>(level: SimdLevel, tolerance: f64) -> RsqrtAccuracy {
    struct Choose(f64);
    impl<T: Real> Vectorized<T> for Choose {
        type Output = RsqrtAccuracy;
        fn run<V: Lanes<Elem = T>>(self) -> RsqrtAccuracy {
            RsqrtAccuracy::for_error::<V>(self.0)
        }
    }
    dispatch::<T, _>(level, Choose(0.1 * tolerance))
}
