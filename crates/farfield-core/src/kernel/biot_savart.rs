//! Sums of `gamma x d K(r)` and their gradient, for every core.
//!
//! The sums, in order: velocity x y z, then the gradient row by row; all without the factor 1/(4 pi).

use super::description::{Description, Form, Regularisation};
use super::gaussian::Gaussian;
use super::pair::{Pair, inverse_distance, norm2};
use super::{Output, reference};
use crate::p2p::{Block, Pairs};
use crate::simd::{Lanes, Real, RsqrtAccuracy, SimdLevel};
use std::marker::PhantomData;

/// The regularisation of a vortex element of core size $\sigma$.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum Core {
    /// $K = 1/r^3$; coincident pairs are skipped.
    Singular,
    /// Winckelmans and Leonard's algebraic core $K = (r^2+\frac52\sigma^2)/(r^2+\sigma^2)^{5/2}$, which approaches
    /// $1/r^3$ slowly, with relative error $\frac{15}{8}\sigma^4/r^4$.
    WinckelmansLeonard,
    /// A Gaussian blob $e^{-r^2/2\sigma^2}$: $K = [\mathrm{erf}(s)-\frac{2}{\sqrt\pi}s e^{-s^2}]/r^3$,
    /// $s=r/\sqrt2\sigma$.
    Gaussian,
    /// Hu, Gumerov and Duraiswami (eq. 29 with c = 1): $K = 1/(\sigma^2 r)$ for $r\le\sigma$, else $1/r^3$.
    /// Continuous, but its velocity gradient is unbounded at the centre.
    HuPolynomial,
}

impl Core {
    /// All cores.
    pub const ALL: [Core; 4] = [
        Core::Singular,
        Core::WinckelmansLeonard,
        Core::Gaussian,
        Core::HuPolynomial,
    ];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        self.regularisation().map_or("singular", |core| core.name)
    }

    /// The replacement for the singular kernel near a vortex element.
    pub fn regularisation(self) -> Option<&'static Regularisation> {
        match self {
            Core::Singular => None,
            Core::WinckelmansLeonard => Some(&WINCKELMANS_LEONARD),
            Core::Gaussian => Some(&GAUSSIAN),
            Core::HuPolynomial => Some(&HU_POLYNOMIAL),
        }
    }
}

/// The kernel with core `core`.
pub(super) fn description(core: Core) -> Description {
    Description {
        name: "biot-savart",
        title: "Biot-Savart",
        about: "Vortex elements: the velocity they induce",
        strengths: "strengths",
        outputs: &[Output::Velocity, Output::VelocityGradient],
        form: Form::Vortex,
        regularisation: core.regularisation(),
        core_word: "core",
        constant: None,
        scales: [0.25 * std::f64::consts::FRAC_1_PI; 2],
    }
}

static WINCKELMANS_LEONARD: Regularisation = Regularisation {
    name: "winckelmans-leonard",
    needs_size: true,
    finite_centre: true,
    unbounded_gradient: false,
    // K = (1 - 15/8 (s/r)^4 ...)/r^3; the factor of its derivative is 35/8.
    reach: |tolerance, derivatives| (if derivatives < 2 { 1.875 } else { 4.375 } / tolerance).powf(0.25),
    profile: |r2, size| {
        let (s2, numerator) = (r2 + size * size, r2 + 2.5 * size * size);
        let k = numerator / s2.powf(2.5);
        (k, 2.0 / s2.powf(2.5) - 5.0 * numerator / s2.powf(3.5))
    },
    cost: 1.0,
};

static GAUSSIAN: Regularisation = Regularisation {
    name: "gaussian",
    needs_size: true,
    finite_centre: true,
    unbounded_gradient: false,
    reach: |tolerance, derivatives| {
        // With s = r/(sqrt 2 size): erfc(s) + 2/sqrt(pi) s exp(-s^2); the derivative adds 4/(3 sqrt pi) s^3 exp(-s^2).
        let difference = |s: f64| {
            let of_derivative = if derivatives < 2 { 0.0 } else { 2.0 / 3.0 * s * s * s };
            std::f64::consts::FRAC_2_SQRT_PI * (s + 1.0 / s + of_derivative) * (-s * s).exp()
        };
        let mut s = 1.0f64;
        while s < 7.0 && difference(s) > tolerance {
            s += 0.05;
        }
        s * std::f64::consts::SQRT_2
    },
    profile: reference::gaussian_profile,
    cost: 1.5,
};

static HU_POLYNOMIAL: Regularisation = Regularisation {
    name: "hu-polynomial",
    needs_size: true,
    finite_centre: false,
    unbounded_gradient: true,
    reach: |_, _| 1.0,
    profile: |r2, size| {
        let r = r2.sqrt();
        if r <= size {
            (1.0 / (size * size * r), -1.0 / (size * size * r * r2))
        } else {
            (1.0 / (r2 * r), -3.0 / (r2 * r2 * r))
        }
    },
    cost: 1.0,
};

/// The loops over pairs. Without sizes, every core is the singular one.
pub(super) fn add_pairs<T: Real>(core: Core, pairs: &Pairs, simd: SimdLevel, block: &Block<T, 3>, sums: &mut [T]) {
    let core = if pairs.softened { core } else { Core::Singular };
    let accuracy = pairs.accuracy;
    match (core, pairs.derivatives) {
        (Core::Singular, 0 | 1) => block.with_accuracy::<VortexVelocity<SingularVortex>, 3, 3>(simd, accuracy, sums),
        (Core::WinckelmansLeonard, 0 | 1) => velocity::<T, WinckelmansLeonard>(accuracy, simd, block, sums),
        (Core::Gaussian, 0 | 1) => velocity::<T, Gaussian>(accuracy, simd, block, sums),
        (Core::HuPolynomial, 0 | 1) => velocity::<T, HuPolynomial>(accuracy, simd, block, sums),
        (Core::Singular, _) => gradient::<T, SingularVortex>(accuracy, simd, block, sums),
        (Core::WinckelmansLeonard, _) => gradient::<T, WinckelmansLeonard>(accuracy, simd, block, sums),
        (Core::Gaussian, _) => gradient::<T, Gaussian>(accuracy, simd, block, sums),
        (Core::HuPolynomial, _) => gradient::<T, HuPolynomial>(accuracy, simd, block, sums),
    }
}

/// Whether one Newton step on the estimate suffices. Loops with cores are compiled for this accuracy and for full
/// accuracy.
fn one_step(accuracy: RsqrtAccuracy) -> bool {
    matches!(accuracy, RsqrtAccuracy::Estimate | RsqrtAccuracy::Newton)
}

fn velocity<T: Real, P: Profile>(accuracy: RsqrtAccuracy, simd: SimdLevel, block: &Block<T, 3>, sums: &mut [T]) {
    if one_step(accuracy) {
        block.at::<VortexVelocity<P>, 3, 3, { RsqrtAccuracy::Newton as u8 }>(simd, sums);
    } else {
        block.full::<VortexVelocity<P>, 3, 3>(simd, sums);
    }
}

fn gradient<T: Real, P: Profile>(accuracy: RsqrtAccuracy, simd: SimdLevel, block: &Block<T, 3>, sums: &mut [T]) {
    if one_step(accuracy) {
        block.at::<VortexGradient<P>, 3, 12, { RsqrtAccuracy::Newton as u8 }>(simd, sums);
    } else {
        block.full::<VortexGradient<P>, 3, 12>(simd, sums);
    }
}

/// A radial profile: `K(r)` and `K'(r)/r`.
pub(super) trait Profile {
    /// See [`Pair::SINGULAR`].
    const SINGULAR: bool = false;
    /// Returns `(K, K'/r)`; callers without a gradient ignore the second.
    fn profile<V: Lanes, const A: u8, const SKIP: bool>(r2: V, size2: V) -> (V, V);
}

/// `1/r^3`
struct SingularVortex;
/// `(r^2 + 5/2 s^2) / (r^2 + s^2)^(5/2)`
struct WinckelmansLeonard;
/// `1/(s^2 r)` inside the core, `1/r^3` outside.
struct HuPolynomial;

/// The velocity with a given core.
struct VortexVelocity<P>(PhantomData<P>);
/// The velocity and its gradient with a given core.
struct VortexGradient<P>(PhantomData<P>);

#[inline(always)]
fn real<V: Lanes>(value: f64) -> V {
    V::splat(V::Elem::from_f64(value))
}

/// A squared core size that is safe to divide by: zero becomes a negligibly small number.
#[inline(always)]
pub(super) fn divisor<V: Lanes>(size2: V) -> V {
    size2.max(real(if V::Elem::EPSILON > 1e-10 { 1e-37 } else { 1e-305 }))
}

/// `1/r^3` and `-3/r^5`.
#[inline(always)]
pub(super) fn singular<V: Lanes, const A: u8, const SKIP: bool>(r2: V) -> (V, V) {
    let inverse = inverse_distance::<V, A, SKIP>(r2);
    let inverse2 = inverse * inverse;
    let k = inverse2 * inverse;
    (k, real::<V>(-3.0) * k * inverse2)
}

impl Profile for SingularVortex {
    const SINGULAR: bool = true;
    #[inline(always)]
    fn profile<V: Lanes, const A: u8, const SKIP: bool>(r2: V, _: V) -> (V, V) {
        singular::<V, A, SKIP>(r2)
    }
}

impl Profile for WinckelmansLeonard {
    #[inline(always)]
    fn profile<V: Lanes, const A: u8, const SKIP: bool>(r2: V, size2: V) -> (V, V) {
        let s2 = r2 + size2;
        let inverse = inverse_distance::<V, A, SKIP>(s2);
        let inverse2 = inverse * inverse;
        let inverse5 = inverse2 * inverse2 * inverse;
        let k = V::splat(V::Elem::from_f64(1.5)).mul_add(size2, s2) * inverse5;
        let slope = V::splat(V::Elem::from_f64(-7.5)).mul_add(size2, V::splat(V::Elem::from_f64(-3.0)) * s2);
        // Multiplied in this order, no intermediate product overflows.
        (k, slope * inverse2 * inverse5)
    }
}

impl Profile for HuPolynomial {
    #[inline(always)]
    fn profile<V: Lanes, const A: u8, const SKIP: bool>(r2: V, size2: V) -> (V, V) {
        // The centre itself contributes nothing: gamma x 0.
        let inverse = inverse_distance::<V, A, true>(r2);
        let inverse2 = inverse * inverse;
        let outer = inverse2 * inverse;
        let inner = inverse.div(divisor(size2));
        let k = r2.select_less(size2, inner, outer);
        let factor = r2.select_less(
            size2,
            V::splat(V::Elem::from_f64(-1.0)),
            V::splat(V::Elem::from_f64(-3.0)),
        );
        (k, factor * k * inverse2)
    }
}

#[inline(always)]
fn cross<V: Lanes>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    [
        a[2].neg_mul_add(b[1], a[1] * b[2]),
        a[0].neg_mul_add(b[2], a[2] * b[0]),
        a[1].neg_mul_add(b[0], a[0] * b[1]),
    ]
}

impl<P: Profile> Pair<3, 3, 3> for VortexVelocity<P> {
    const SINGULAR: bool = P::SINGULAR;
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], gamma: [V; 3], size2: V, sums: &mut [V; 3]) {
        let (k, _) = P::profile::<V, A, SKIP>(norm2(d), size2);
        let c = cross(gamma, d);
        for i in 0..3 {
            sums[i] = k.mul_add(c[i], sums[i]);
        }
    }
}

impl<P: Profile> Pair<3, 3, 12> for VortexGradient<P> {
    const SINGULAR: bool = P::SINGULAR;
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], gamma: [V; 3], size2: V, sums: &mut [V; 12]) {
        let (k, slope) = P::profile::<V, A, SKIP>(norm2(d), size2);
        let c = cross(gamma, d);
        for i in 0..3 {
            sums[i] = k.mul_add(c[i], sums[i]);
            let along = slope * c[i];
            for j in 0..3 {
                sums[3 + 3 * i + j] = along.mul_add(d[j], sums[3 + 3 * i + j]);
            }
        }
        // The derivative of gamma x d
        sums[4] = k.neg_mul_add(gamma[2], sums[4]);
        sums[5] = k.mul_add(gamma[1], sums[5]);
        sums[6] = k.mul_add(gamma[2], sums[6]);
        sums[8] = k.neg_mul_add(gamma[0], sums[8]);
        sums[9] = k.neg_mul_add(gamma[1], sums[9]);
        sums[10] = k.mul_add(gamma[0], sums[10]);
    }
}
