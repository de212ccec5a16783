//! P2P in the plane: the interaction of one source with a vector of targets.
//!
//! With $w = f(r)/(z_i-z_j)$, the sums of a target are, in order:
//! - [`Inverse`]: the real and imaginary parts of $\sum\gamma w$;
//! - [`InversePowers`]: those of $\sum\gamma w$, $\sum\gamma w^2$ and so on;
//! - [`Logarithm`]: $\sum\gamma g(r)$;
//! - [`LogarithmInverse`]: $\sum\gamma g(r)$ and the parts of $\sum\gamma w$;
//! - [`LogarithmPowers`]: $\sum\gamma g(r)$ and the parts of $\sum\gamma w$, $\sum\gamma w^2$ and so on.
//!
//! Complex strengths have two components. [`Output::of_sums`](super::Output::of_sums) maps sums to outputs.

use super::kernel::{Core, Kernel, smooth_log};
use crate::kernel::Pair;
use crate::p2p::{Block, MutualBlock, MutualPair, PairSums, Skip};
use crate::simd::{Lanes, MAX_LANES, Real, SimdLevel, exp, ln, reciprocal};
use std::marker::PhantomData;

/// The core of a pair as a type.
pub(crate) trait PlaneCore {
    /// `f/r^2`; with `SKIP`, zero where `r2` is zero.
    fn weight<V: Lanes, const FULL: bool, const SKIP: bool>(r2: V, size2: V) -> V;
    /// `g`; with `SKIP`, zero where `r2` is zero.
    fn logarithm<V: Lanes, const SKIP: bool>(r2: V, size2: V) -> V;
}

pub(crate) struct Singular;
pub(crate) struct Gaussian;
pub(crate) struct Algebraic;

#[inline(always)]
fn inverse_of<V: Lanes, const FULL: bool, const SKIP: bool>(x: V) -> V {
    let estimate = x.reciprocal_estimate();
    let estimate = if SKIP {
        estimate.keep_where_positive(x)
    } else {
        estimate
    };
    reciprocal::<V, FULL>(x, estimate)
}

#[inline(always)]
fn real<V: Lanes>(value: f64) -> V {
    V::splat(V::Elem::from_f64(value))
}

impl PlaneCore for Singular {
    #[inline(always)]
    fn weight<V: Lanes, const FULL: bool, const SKIP: bool>(r2: V, _: V) -> V {
        inverse_of::<V, FULL, SKIP>(r2)
    }
    #[inline(always)]
    fn logarithm<V: Lanes, const SKIP: bool>(r2: V, _: V) -> V {
        let value = real::<V>(0.5) * ln(r2);
        if SKIP { value.keep_where_positive(r2) } else { value }
    }
}

impl PlaneCore for Algebraic {
    #[inline(always)]
    fn weight<V: Lanes, const FULL: bool, const SKIP: bool>(r2: V, size2: V) -> V {
        // Some sources may have size zero, so `SKIP` matters here too.
        inverse_of::<V, FULL, SKIP>(r2 + size2)
    }
    #[inline(always)]
    fn logarithm<V: Lanes, const SKIP: bool>(r2: V, size2: V) -> V {
        Singular::logarithm::<V, SKIP>(r2 + size2, size2)
    }
}

impl PlaneCore for Gaussian {
    #[inline(always)]
    fn weight<V: Lanes, const FULL: bool, const SKIP: bool>(r2: V, size2: V) -> V {
        // If the size is zero or the exponential is below round-off, this is the singular core.
        let tiny = real::<V>(1e-30);
        let inverse2 = V::splat(V::Elem::ONE).div(size2.max(tiny));
        let x = r2 * inverse2;
        // (1 - exp(-x))/x = 1 - x/2 + x^2/6 - ... near zero, to avoid cancellation.
        const TERMS: [f64; 7] = [
            1.0,
            -0.5,
            1.0 / 6.0,
            -1.0 / 24.0,
            1.0 / 120.0,
            -1.0 / 720.0,
            1.0 / 5040.0,
        ];
        let mut series = real::<V>(TERMS[6]);
        for k in (0..6).rev() {
            series = series.mul_add(x, real(TERMS[k]));
        }
        let near = series * inverse2;
        let far = (V::splat(V::Elem::ONE) - exp(V::zero() - x)) * inverse_of::<V, FULL, SKIP>(r2);
        x.select_less(real(0.02), near, far)
    }
    #[inline(always)]
    fn logarithm<V: Lanes, const SKIP: bool>(r2: V, size2: V) -> V {
        // Far from the core, which is the usual case, this is the logarithm; otherwise lane by lane.
        let mut values = [V::Elem::ZERO; MAX_LANES];
        let (mut squares, mut sizes) = ([V::Elem::ZERO; MAX_LANES], [V::Elem::ZERO; MAX_LANES]);
        r2.write_partial(&mut squares, V::LANES);
        size2.write_partial(&mut sizes, V::LANES);
        let mut is_near = false;
        for l in 0..V::LANES {
            is_near |= squares[l] < V::Elem::from_f64(37.0) * sizes[l];
        }
        if !is_near {
            return Singular::logarithm::<V, SKIP>(r2, size2);
        }
        for l in 0..V::LANES {
            let (r2, size2) = (squares[l].to_f64(), sizes[l].to_f64());
            values[l] = V::Elem::from_f64(if size2 > 0.0 {
                smooth_log(r2, size2.sqrt())
            } else if r2 > 0.0 {
                0.5 * r2.ln()
            } else {
                0.0
            });
        }
        V::from_slice(&values)
    }
}

/// `gamma f/(z_i - z_j)`
pub(crate) struct Inverse<C>(PhantomData<C>);
/// `gamma w`, `gamma w^2` and so on with `w = 1/(z_i - z_j)`; one power per pair of sums
pub(crate) struct InversePowers;
/// `gamma g`
pub(crate) struct Logarithm<C>(PhantomData<C>);
/// `gamma g` and `gamma f/(z_i - z_j)`
pub(crate) struct LogarithmInverse<C>(PhantomData<C>);
/// `gamma log r`, `gamma w`, `gamma w^2` and so on with `w = 1/(z_i - z_j)`
pub(crate) struct LogarithmPowers;

#[inline(always)]
fn norm2<V: Lanes>(d: [V; 2]) -> V {
    d[0].mul_add(d[0], d[1] * d[1])
}

/// Adds `gamma (dx - i dy)` to a pair of sums, for real or complex strengths.
#[inline(always)]
fn add_conjugate<V: Lanes, const S: usize>(d: [V; 2], strength: [V; S], re: &mut V, im: &mut V) {
    *re = strength[0].mul_add(d[0], *re);
    *im = strength[0].neg_mul_add(d[1], *im);
    if S == 2 {
        *re = strength[1].mul_add(d[1], *re);
        *im = strength[1].mul_add(d[0], *im);
    }
}

/// `power` times `w`.
#[inline(always)]
fn next_power<V: Lanes>(power: [V; 2], w: [V; 2]) -> [V; 2] {
    [
        power[1].neg_mul_add(w[1], power[0] * w[0]),
        power[1].mul_add(w[0], power[0] * w[1]),
    ]
}

/// Adds `gamma conj(v)`, `gamma conj(v)^2` and so on to pairs of sums.
#[inline(always)]
fn add_powers<V: Lanes, const S: usize>(v: [V; 2], strength: [V; S], sums: &mut [V]) {
    let mut power = v;
    for k in 0..sums.len() / 2 {
        if k > 0 {
            power = next_power(power, v);
        }
        let (mut re, mut im) = (sums[2 * k], sums[2 * k + 1]);
        add_conjugate(power, strength, &mut re, &mut im);
        (sums[2 * k], sums[2 * k + 1]) = (re, im);
    }
}

#[inline(always)]
fn scaled<V: Lanes, const S: usize>(mut strength: [V; S], factor: V) -> [V; S] {
    for c in 0..S {
        strength[c] = strength[c] * factor;
    }
    strength
}

impl<C: PlaneCore, const S: usize> Pair<2, S, 2> for Inverse<C> {
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 2], strength: [V; S], size2: V, sums: &mut [V; 2]) {
        let weight = weight_at::<C, V, A, SKIP>(norm2(d), size2);
        // The sign of z_j - z_i is applied when the sums are read.
        let [re, im] = sums;
        add_conjugate(d, scaled(strength, weight), re, im);
    }
}

impl<const S: usize, const O: usize> Pair<2, S, O> for InversePowers {
    const SINGULAR: bool = true;
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 2], strength: [V; S], _: V, sums: &mut [V; O]) {
        let weight = inverse_of::<V, true, SKIP>(norm2(d));
        // `add_powers` takes the conjugate of w.
        add_powers([d[0] * weight, d[1] * weight], strength, sums);
    }
}

impl<C: PlaneCore> Pair<2, 1, 1> for Logarithm<C> {
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 2], [q]: [V; 1], size2: V, sums: &mut [V; 1]) {
        sums[0] = q.mul_add(C::logarithm::<V, SKIP>(norm2(d), size2), sums[0]);
    }
}

impl<C: PlaneCore> Pair<2, 1, 3> for LogarithmInverse<C> {
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 2], [q]: [V; 1], size2: V, sums: &mut [V; 3]) {
        let r2 = norm2(d);
        let [log, re, im] = sums;
        *log = q.mul_add(C::logarithm::<V, SKIP>(r2, size2), *log);
        add_conjugate(d, [q * C::weight::<V, true, SKIP>(r2, size2)], re, im);
    }
}

impl<const O: usize> Pair<2, 1, O> for LogarithmPowers {
    const SINGULAR: bool = true;
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 2], [q]: [V; 1], _: V, sums: &mut [V; O]) {
        let r2 = norm2(d);
        sums[0] = q.mul_add(Singular::logarithm::<V, SKIP>(r2, r2), sums[0]);
        let weight = inverse_of::<V, true, SKIP>(r2);
        add_powers([d[0] * weight, d[1] * weight], [q], &mut sums[1..]);
    }
}

/// `conj(d) weight`
#[inline(always)]
fn conjugate<V: Lanes>(d: [V; 2], weight: V) -> [V; 2] {
    [d[0] * weight, V::zero() - d[1] * weight]
}

#[inline(always)]
fn weight_at<C: PlaneCore, V: Lanes, const A: u8, const SKIP: bool>(r2: V, size2: V) -> V {
    if A == FULL {
        C::weight::<V, true, SKIP>(r2, size2)
    } else {
        C::weight::<V, false, SKIP>(r2, size2)
    }
}

impl<C: PlaneCore> MutualPair<2, 2> for Inverse<C> {
    const ODD: [bool; 2] = [true; 2];
    #[inline(always)]
    fn unit<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 2], size2: V) -> [V; 2] {
        conjugate(d, weight_at::<C, V, A, SKIP>(norm2(d), size2))
    }
}

/// Marks the sums that change their sign with `d`: the odd powers of `w`, which begin at index `first`.
const fn odd_powers<const O: usize>(first: usize) -> [bool; O] {
    let mut odd = [false; O];
    let mut k = first;
    while k < O {
        odd[k] = (k - first) & 2 == 0;
        k += 1;
    }
    odd
}

/// Writes `w`, `w^2` and so on.
#[inline(always)]
fn write_powers<V: Lanes>(w: [V; 2], units: &mut [V]) {
    let mut power = w;
    for k in 0..units.len() / 2 {
        if k > 0 {
            power = next_power(power, w);
        }
        (units[2 * k], units[2 * k + 1]) = (power[0], power[1]);
    }
}

impl<const O: usize> MutualPair<2, O> for InversePowers {
    const ODD: [bool; O] = odd_powers(0);
    #[inline(always)]
    fn unit<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 2], _: V) -> [V; O] {
        let mut units = [V::zero(); O];
        write_powers(conjugate(d, inverse_of::<V, true, SKIP>(norm2(d))), &mut units);
        units
    }
}

impl<const O: usize> MutualPair<2, O> for LogarithmPowers {
    const ODD: [bool; O] = odd_powers(1);
    #[inline(always)]
    fn unit<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 2], _: V) -> [V; O] {
        let r2 = norm2(d);
        let mut units = [V::zero(); O];
        units[0] = Singular::logarithm::<V, SKIP>(r2, r2);
        write_powers(conjugate(d, inverse_of::<V, true, SKIP>(r2)), &mut units[1..]);
        units
    }
}

impl<C: PlaneCore> MutualPair<2, 1> for Logarithm<C> {
    const ODD: [bool; 1] = [false];
    #[inline(always)]
    fn unit<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 2], size2: V) -> [V; 1] {
        [C::logarithm::<V, SKIP>(norm2(d), size2)]
    }
}

impl<C: PlaneCore> MutualPair<2, 3> for LogarithmInverse<C> {
    const ODD: [bool; 3] = [false, true, true];
    #[inline(always)]
    fn unit<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 2], size2: V) -> [V; 3] {
        let r2 = norm2(d);
        let [re, im] = conjugate(d, weight_at::<C, V, A, SKIP>(r2, size2));
        [C::logarithm::<V, SKIP>(r2, size2), re, im]
    }
}

/// Accuracy of reciprocals: eight digits (`FAST`), or the full precision (`FULL`).
const FAST: u8 = 0;
const FULL: u8 = 1;

/// The kernel, core, derivatives and accuracy of a P2P sum in the plane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanePairs {
    pub kernel: Kernel,
    /// The core; [`Core::Singular`] if no source has a size.
    pub core: Core,
    /// The largest number of derivatives of an output; at most as many as [`Kernel::outputs`] allows for the core.
    pub derivatives: usize,
    /// Whether both parts of complex strengths are summed in one pass.
    pub complex: bool,
    /// Whether reciprocals need the full precision rather than eight digits.
    pub full: bool,
}

impl PairSums<2> for PlanePairs {
    fn strengths(&self) -> usize {
        1 + usize::from(self.complex)
    }

    fn sums(&self) -> usize {
        self.kernel.sums(self.derivatives)
    }

    fn own_skip(&self, same: bool) -> Skip {
        if same && self.core != Core::Singular {
            Skip::SameIndex
        } else {
            Skip::Coincident
        }
    }

    fn make_exact(&mut self) -> bool {
        !std::mem::replace(&mut self.full, true)
    }

    fn add_vectors<T: Real>(&self, simd: SimdLevel, block: &Block<T, 2>, _: usize, sums: &mut [T]) {
        match (self.kernel, self.derivatives) {
            (Kernel::Harmonic, 0) => match (self.core, self.complex, self.full) {
                (Core::Singular, false, false) => block.at::<Inverse<Singular>, 1, 2, FAST>(simd, sums),
                (Core::Singular, false, true) => block.at::<Inverse<Singular>, 1, 2, FULL>(simd, sums),
                (Core::Singular, true, false) => block.at::<Inverse<Singular>, 2, 2, FAST>(simd, sums),
                (Core::Singular, true, true) => block.at::<Inverse<Singular>, 2, 2, FULL>(simd, sums),
                (Core::Gaussian, ..) => block.at::<Inverse<Gaussian>, 1, 2, FULL>(simd, sums),
                (Core::Algebraic, ..) => block.at::<Inverse<Algebraic>, 1, 2, FULL>(simd, sums),
            },
            (Kernel::Harmonic, 1) => match self.complex {
                false => block.at::<InversePowers, 1, 4, FULL>(simd, sums),
                true => block.at::<InversePowers, 2, 4, FULL>(simd, sums),
            },
            (Kernel::Harmonic, _) => match self.complex {
                false => block.at::<InversePowers, 1, 6, FULL>(simd, sums),
                true => block.at::<InversePowers, 2, 6, FULL>(simd, sums),
            },
            (Kernel::Log, 0) => match self.core {
                Core::Singular => block.at::<Logarithm<Singular>, 1, 1, FULL>(simd, sums),
                Core::Gaussian => block.at::<Logarithm<Gaussian>, 1, 1, FULL>(simd, sums),
                Core::Algebraic => block.at::<Logarithm<Algebraic>, 1, 1, FULL>(simd, sums),
            },
            (Kernel::Log, 1) => match self.core {
                Core::Singular => block.at::<LogarithmInverse<Singular>, 1, 3, FULL>(simd, sums),
                Core::Gaussian => block.at::<LogarithmInverse<Gaussian>, 1, 3, FULL>(simd, sums),
                Core::Algebraic => block.at::<LogarithmInverse<Algebraic>, 1, 3, FULL>(simd, sums),
            },
            (Kernel::Log, _) => block.at::<LogarithmPowers, 1, 5, FULL>(simd, sums),
        }
    }
}

impl PlanePairs {
    /// Adds the mutual interactions of two ranges of points with real strengths.
    pub fn add_mutual<T: Real>(&self, simd: SimdLevel, block: &MutualBlock<T, 2>, sums: [&mut [T]; 2]) {
        match (self.kernel, self.derivatives, self.core) {
            (Kernel::Harmonic, 0, Core::Singular) if self.full => {
                block.at::<Inverse<Singular>, 2, FULL>(simd, sums);
            }
            (Kernel::Harmonic, 0, Core::Singular) => block.at::<Inverse<Singular>, 2, FAST>(simd, sums),
            (Kernel::Harmonic, 0, Core::Gaussian) => block.at::<Inverse<Gaussian>, 2, FULL>(simd, sums),
            (Kernel::Harmonic, 0, Core::Algebraic) => block.at::<Inverse<Algebraic>, 2, FULL>(simd, sums),
            (Kernel::Harmonic, 1, _) => block.at::<InversePowers, 4, FULL>(simd, sums),
            (Kernel::Harmonic, ..) => block.at::<InversePowers, 6, FULL>(simd, sums),
            (Kernel::Log, 0, Core::Singular) => block.at::<Logarithm<Singular>, 1, FULL>(simd, sums),
            (Kernel::Log, 0, Core::Gaussian) => block.at::<Logarithm<Gaussian>, 1, FULL>(simd, sums),
            (Kernel::Log, 0, Core::Algebraic) => block.at::<Logarithm<Algebraic>, 1, FULL>(simd, sums),
            (Kernel::Log, 1, Core::Singular) => block.at::<LogarithmInverse<Singular>, 3, FULL>(simd, sums),
            (Kernel::Log, 1, Core::Gaussian) => block.at::<LogarithmInverse<Gaussian>, 3, FULL>(simd, sums),
            (Kernel::Log, 1, Core::Algebraic) => block.at::<LogarithmInverse<Algebraic>, 3, FULL>(simd, sums),
            (Kernel::Log, ..) => block.at::<LogarithmPowers, 5, FULL>(simd, sums),
        }
    }
}
