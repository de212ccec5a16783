//! Reciprocal, reciprocal square root, exponential and logarithm on vectors.

use super::{Lanes, MAX_LANES, Real};
use std::any::TypeId;
use std::sync::Mutex;

/// The accuracy of reciprocal square roots, chosen once per plan from its tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RsqrtAccuracy {
    /// The hardware's estimate (relative error up to 6.2e-5 with AVX-512, 3.7e-4 with AVX2).
    Estimate,
    /// One Newton step on the estimate (6e-9, or 2e-7 with AVX2).
    Newton,
    /// One cubic step on the estimate (6e-13, or 1.3e-10 with AVX2).
    Cubic,
    /// Full accuracy of the precision.
    Full,
}

impl RsqrtAccuracy {
    /// The cheapest accuracy with an error of at most `error` for vectors of type `V`, by the error bounds that the
    /// architecture guarantees.
    pub fn for_error<V: Lanes>(error: f64) -> Self {
        let e = V::RSQRT_ESTIMATE_ERROR;
        Self::cheapest::<V>(error, [e, after_newton(e), after_cubic(e)])
    }

    /// The cheapest accuracy with a root mean square error over all numbers of at most `error`, for vectors of type
    /// `V`. Uses the estimate's error measured on this machine, which may be below the architecture's bound.
    #[inline(always)]
    pub fn for_mean_error<V: Lanes>(error: f64) -> Self {
        let [estimate, newton, cubic] = mean_errors::<V>();
        // The errors of the bare estimate are correlated for neighbouring numbers and do not average out: hence 5.
        Self::cheapest::<V>(error, [5.0 * estimate, newton, cubic])
    }

    /// The cheapest accuracy, given the errors of the estimate, after a Newton step and after a cubic step.
    fn cheapest<V: Lanes>(error: f64, [estimate, newton, cubic]: [f64; 3]) -> Self {
        let least = 2.0 * V::Elem::EPSILON;
        if V::RSQRT_ESTIMATE_ERROR == 0.0 {
            RsqrtAccuracy::Full
        } else if estimate <= error {
            RsqrtAccuracy::Estimate
        } else if newton.max(least) <= error {
            RsqrtAccuracy::Newton
        } else if cubic.max(least) <= error {
            RsqrtAccuracy::Cubic
        } else {
            RsqrtAccuracy::Full
        }
    }

    /// Whether [`RsqrtAccuracy::for_error`] never chooses accuracy `A` for vectors of type `V`. Use it as
    /// `if const { ... }`, so that the compiler leaves out loops that never run.
    pub const fn is_never_chosen<V: Lanes, const A: u8>() -> bool {
        let e = V::RSQRT_ESTIMATE_ERROR;
        let newton_is_exact = 1.5 * e * e <= 2.0 * V::Elem::EPSILON;
        let full = A == RsqrtAccuracy::Full as u8;
        !full && (e == 0.0 || A == RsqrtAccuracy::Cubic as u8 && newton_is_exact)
    }
}

/// Root mean square relative errors of the estimate, after a Newton step and after a cubic step, over numbers from
/// one to four. They do not change when the numbers are scaled by a power of four. Measured once per type.
#[inline(always)]
fn mean_errors<V: Lanes>() -> [f64; 3] {
    static MEASURED: Mutex<Vec<(TypeId, [f64; 3])>> = Mutex::new(Vec::new());
    // Entries are complete even if a thread panicked while it held the lock.
    let mut measured = MEASURED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let kind = TypeId::of::<V>();
    if let Some((_, errors)) = measured.iter().find(|(other, _)| *other == kind) {
        return *errors;
    }
    const STEPS: usize = if cfg!(miri) { 1 << 8 } else { 1 << 15 };
    let mut squares = [0.0; 3];
    let mut x = [V::Elem::ONE; MAX_LANES];
    for first in (0..STEPS).step_by(V::LANES) {
        for (l, x) in x.iter_mut().enumerate() {
            // The offset 0.37 keeps the numbers off the nodes of the hardware's table.
            *x = V::Elem::from_f64(1.0 + 3.0 * ((first + l) as f64 + 0.37) / STEPS as f64);
        }
        let mut y = [V::Elem::ZERO; MAX_LANES];
        V::from_slice(&x).rsqrt_estimate().write_partial(&mut y, V::LANES);
        for l in 0..V::LANES {
            let error = (y[l].to_f64() * x[l].to_f64().sqrt() - 1.0).abs();
            for (sum, error) in squares.iter_mut().zip([error, after_newton(error), after_cubic(error)]) {
                *sum += error * error / STEPS as f64;
            }
        }
    }
    let errors = squares.map(f64::sqrt);
    measured.push((kind, errors));
    errors
}

/// `1/sqrt(x)` to the accuracy `A`, an [`RsqrtAccuracy`] cast to `u8` so that it can be a const parameter.
///
/// A lane whose estimate was zeroed stays zero.
#[inline(always)]
pub fn rsqrt<V: Lanes, const A: u8>(x: V, estimate: V) -> V {
    if V::RSQRT_ESTIMATE_ERROR == 0.0 || A == RsqrtAccuracy::Estimate as u8 {
        return estimate;
    }
    if A == RsqrtAccuracy::Newton as u8 {
        return newton_step(x, estimate);
    }
    if A == RsqrtAccuracy::Cubic as u8 {
        return cubic_step(x, estimate);
    }
    // One step, preceded by a Newton step where one is not enough. Newton steps are cheaper than cubic ones. The
    // branches are resolved at compile time.
    let (mut y, mut error) = (estimate, V::RSQRT_ESTIMATE_ERROR);
    if after_cubic(error) > V::Elem::EPSILON {
        (y, error) = (newton_step(x, y), after_newton(error));
    }
    if after_newton(error) > V::Elem::EPSILON {
        cubic_step(x, y)
    } else {
        newton_step(x, y)
    }
}

/// `y (1 + e/2)` with `e = 1 - x y^2`.
#[inline(always)]
fn newton_step<V: Lanes>(x: V, y: V) -> V {
    let residual = (x * y).neg_mul_add(y, V::splat(V::Elem::ONE));
    (y * V::splat(V::Elem::from_f64(0.5))).mul_add(residual, y)
}

/// The relative error after [`newton_step`], given the relative error before it.
const fn after_newton(error: f64) -> f64 {
    1.5 * error * error
}

/// `y (1 + e/2 + 3 e^2/8)` with `e = 1 - x y^2`.
#[inline(always)]
fn cubic_step<V: Lanes>(x: V, y: V) -> V {
    let residual = (x * y).neg_mul_add(y, V::splat(V::Elem::ONE));
    let series = V::splat(V::Elem::from_f64(0.375)).mul_add(residual, V::splat(V::Elem::from_f64(0.5)));
    (y * residual).mul_add(series, y)
}

/// The relative error after [`cubic_step`], given the relative error before it.
const fn after_cubic(error: f64) -> f64 {
    2.5 * error * error * error
}

/// `1/x` from its estimate, to a relative error of 4e-9, or to full accuracy if `FULL`.
///
/// A lane whose estimate was zeroed stays zero.
#[inline(always)]
pub fn reciprocal<V: Lanes, const FULL: bool>(x: V, estimate: V) -> V {
    if V::RECIPROCAL_ESTIMATE_ERROR == 0.0 {
        return estimate;
    }
    // With e = 1 - x y: y (1 + e) leaves e^2, and y (1 + e)(1 + e^2) leaves e^4 = 2^-56.
    let residual = x.neg_mul_add(estimate, V::splat(V::Elem::ONE));
    let better = estimate.mul_add(residual, estimate);
    if FULL && V::Elem::EPSILON < 1e-10 {
        better.mul_add(residual * residual, better)
    } else {
        better
    }
}

/// The natural logarithm of positive lanes that are not subnormal. The error is about two units in the last place of
/// the result, or of one if the result is smaller.
#[inline(always)]
pub fn ln<V: Lanes>(x: V) -> V {
    let one = V::splat(V::Elem::ONE);
    let exponent = x.exponent();
    let mantissa = x * (V::zero() - exponent).exp2_whole();
    // x = m 2^e with m in [1/sqrt 2, sqrt 2).
    let root2 = V::splat(V::Elem::from_f64(std::f64::consts::SQRT_2));
    let m = mantissa.select_less(root2, mantissa, mantissa * V::splat(V::Elem::from_f64(0.5)));
    let e = mantissa.select_less(root2, exponent, exponent + one);
    // ln m = 2 artanh s, s = (m-1)/(m+1), |s| < 0.172: the series in s^2 gains 5 bits per term.
    let s = (m - one).div(m + one);
    let s2 = s * s;
    let terms = if V::Elem::EPSILON > 1e-10 { 5 } else { 11 };
    let mut series = V::splat(V::Elem::from_f64(2.0 / (2 * terms - 1) as f64));
    for k in (0..terms - 1).rev() {
        series = series.mul_add(s2, V::splat(V::Elem::from_f64(2.0 / (2 * k + 1) as f64)));
    }
    e.mul_add(V::splat(V::Elem::from_f64(std::f64::consts::LN_2)), s * series)
}

/// `exp(x)` for `x <= 0` (zero below about -708 or -87), to about two units in the last place.
#[inline(always)]
pub fn exp<V: Lanes>(x: V) -> V {
    let real = |value: f64| V::splat(V::Elem::from_f64(value));
    let single = V::Elem::EPSILON > 1e-10;
    let lowest = if single { -87.0 } else { -708.0 };
    let magic = if single { 12_582_912.0 } else { 6_755_399_441_055_744.0 }; // 1.5 * 2^23, 1.5 * 2^52: rounds
    let clamped = x.max(real(lowest));
    let shifted = clamped.mul_add(real(std::f64::consts::LOG2_E), real(magic));
    let whole = shifted - real(magic);
    // ln 2 in two parts, so that the remainder keeps all its bits.
    let (high, low) = if single {
        (0.693_145_751_953_125, 1.428_606_820_309_417e-6)
    } else {
        (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10)
    };
    let r = whole.neg_mul_add(real(high), clamped);
    let r = whole.neg_mul_add(real(low), r);
    let terms = if single { 7 } else { 13 };
    let mut factorial = 1.0;
    for k in 2..=terms {
        factorial *= k as f64;
    }
    let mut series = real(1.0 / factorial);
    for k in (0..terms).rev() {
        factorial /= (k + 1) as f64;
        series = series.mul_add(r, real(1.0 / factorial));
    }
    let value = series * whole.exp2_whole();
    x.select_less(real(lowest), V::zero(), value)
}
