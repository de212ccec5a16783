//! The Gaussian vortex core, evaluated from a table to keep a pair at a few nanoseconds.
//!
//! With $t = r^2/2\sigma^2$ the core is $K = (2\sigma^2)^{-3/2} F(t)$ and $K'/r = 2 (2\sigma^2)^{-5/2} F'(t)$, where
//! $F(t) = \frac{4}{\sqrt\pi} B_1(t)$, $F' = -\frac{4}{\sqrt\pi} B_2(t)$ and the Boys functions are
//! $B_n(t) = \int_0^1 u^{2n} e^{-t u^2} du$. The table holds the first terms of the Taylor series of $F$ about
//! $t = 0, 1/8, 2/8, ...$: one row gives both $F$ and $F'$, without an exponential, a root or a division. Each lane of
//! a register of targets reads its row, and the rows are transposed. A register whose targets all lie outside the core
//! takes the singular kernel.

use super::biot_savart::{Profile, divisor, singular};
use super::pair::inverse_distance;
use crate::simd::{Lanes, MAX_LANES, Real, RsqrtAccuracy};

/// Rows of the table per unit of `t`.
const PER_UNIT: f64 = 8.0;
/// The `t` at which the table ends; beyond it, exp(-t) is below round-off even in double precision.
const END: usize = 40;
const ROWS: usize = END * PER_UNIT as usize + 1;

/// Terms used of each row, in single and in double precision. The truncation errors in double precision are 1e-15 of
/// `F` and 2e-13 of `F'`. Rows of singles are padded to the longest register of singles.
const TERMS: [usize; 2] = [6, 8];

static ROWS_OF_DOUBLES: [[f64; 8]; ROWS] = rows();
static ROWS_OF_SINGLES: [[f32; 16]; ROWS] = rows_of_singles();

/// `exp(-t)` for t >= 0, at compile time.
const fn exp_of_minus(t: f64) -> f64 {
    let (high, low) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);
    let halvings = (t / std::f64::consts::LN_2 + 0.5) as u32;
    let r = (halvings as f64 * high - t) + halvings as f64 * low;
    let (mut sum, mut k) = (1.0, 24);
    while k > 0 {
        sum = 1.0 + sum * r / k as f64;
        k -= 1;
    }
    let mut k = 0;
    while k < halvings {
        sum *= 0.5;
        k += 1;
    }
    sum
}

/// Row `k` holds the coefficients of powers of `t - k/8`: `F^(j)/j! = (-1)^j 4/sqrt(pi) B_(1+j)/j!`.
const fn rows() -> [[f64; 8]; ROWS] {
    let mut rows = [[0.0; 8]; ROWS];
    let mut k = 0;
    while k < ROWS {
        let t = k as f64 / PER_UNIT;
        let decay = exp_of_minus(t);
        // B_8 = exp(-t) sum_i (2t)^i / (17 19 ... (17 + 2i)), all terms positive; then downward recursion, which has no
        // cancellation.
        let (mut term, mut boys, mut i) = (decay / 17.0, 0.0, 0);
        while i < 160 {
            boys += term;
            i += 1;
            term *= 2.0 * t / (17 + 2 * i) as f64;
        }
        let mut factorial = 5040.0;
        let mut j = 7;
        loop {
            let sign = if j % 2 == 0 { 2.0 } else { -2.0 };
            rows[k][j] = sign * std::f64::consts::FRAC_2_SQRT_PI * boys / factorial;
            if j == 0 {
                break;
            }
            // B_n from B_(n+1), n = j
            boys = (2.0 * t * boys + decay) / (2 * j + 1) as f64;
            factorial /= j as f64;
            j -= 1;
        }
        k += 1;
    }
    rows
}

const fn rows_of_singles() -> [[f32; 16]; ROWS] {
    let doubles = rows();
    let mut rows = [[0.0; 16]; ROWS];
    let mut k = 0;
    while k < ROWS {
        let mut j = 0;
        while j < 8 {
            rows[k][j] = doubles[k][j] as f32;
            j += 1;
        }
        k += 1;
    }
    rows
}

/// The blob `exp(-r^2 / 2 s^2)`.
pub(super) struct Gaussian;

/// The `t` at which the core ends for reciprocal square roots of accuracy `accuracy`: beyond it, `K` and `K'` differ
/// from the singular kernel by no more than their own error.
fn end<T: Real>(accuracy: u8) -> f64 {
    if T::EPSILON > 1e-10 {
        22.0
    } else if accuracy == RsqrtAccuracy::Newton as u8 {
        24.0
    } else {
        END as f64
    }
}

/// `F` and `F'` at `t`, which must lie within the table.
#[inline(always)]
fn boys<V: Lanes>(t: V) -> (V, V) {
    let real = |value: f64| V::splat(V::Elem::from_f64(value));
    let single = V::Elem::EPSILON > 1e-10;
    let magic = real(if single { 12_582_912.0 } else { 6_755_399_441_055_744.0 }); // 1.5 * 2^23, 1.5 * 2^52: rounds
    let row = t.mul_add(real(PER_UNIT), magic) - magic;
    let delta = row.neg_mul_add(real(1.0 / PER_UNIT), t);
    let mut numbers = [V::Elem::ZERO; MAX_LANES];
    row.write_partial(&mut numbers, V::LANES);
    let mut rows = [std::ptr::null(); MAX_LANES];
    for (row, number) in rows.iter_mut().zip(&numbers).take(V::LANES) {
        let number = (number.to_f64() as i32 as usize).min(ROWS - 1);
        // `V::Elem` is f32 or f64; `single` tells which.
        *row = if single {
            ROWS_OF_SINGLES[number].as_ptr().cast::<V::Elem>()
        } else {
            ROWS_OF_DOUBLES[number].as_ptr().cast::<V::Elem>()
        };
    }
    let mut terms = [V::zero(); 16];
    let width = if V::LANES == 16 { 16 } else { 8 };
    // SAFETY: rows hold at least `width` values: 8 doubles or 16 singles, and only registers of singles have 16 lanes.
    unsafe { V::gather_rows(&rows, width, &mut terms[..width]) };
    let count = TERMS[usize::from(!single)];
    let mut value = terms[count - 1];
    let mut slope = real((count - 1) as f64) * terms[count - 1];
    for j in (0..count - 1).rev() {
        value = value.mul_add(delta, terms[j]);
        if j > 0 {
            slope = slope.mul_add(delta, real(j as f64) * terms[j]);
        }
    }
    (value, slope)
}

impl Profile for Gaussian {
    #[inline(always)]
    fn profile<V: Lanes, const A: u8, const SKIP: bool>(r2: V, size2: V) -> (V, V) {
        let half = V::splat(V::Elem::from_f64(0.5));
        let half_inverse = half.div(divisor(size2));
        let t = r2 * half_inverse;
        let end = V::splat(V::Elem::from_f64(end::<V::Elem>(A)));
        if !t.any_less(end) {
            return singular::<V, A, SKIP>(r2);
        }
        let (value, slope) = boys(t.select_less(end, t, end));
        // (1/(2 size^2))^{3/2}, or zero for a source of size zero, which adds nothing at its own place.
        let cube = half_inverse * (half_inverse * inverse_distance::<V, A, false>(half_inverse));
        let cube = cube.keep_where_positive(size2);
        let inside = (cube * value, (cube * (half_inverse + half_inverse)) * slope);
        if !end.any_less(t) {
            return inside;
        }
        let outside = singular::<V, A, SKIP>(r2);
        (
            t.select_less(end, inside.0, outside.0),
            t.select_less(end, inside.1, outside.1),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::reference::gaussian_profile;
    use crate::simd::{SimdLevel, Vectorized, dispatch};

    /// The largest relative differences of `K` and `K'/r` from the plain formula.
    struct Differences<const A: u8>;

    impl<T: Real, const A: u8> Vectorized<T> for Differences<A> {
        type Output = [f64; 2];
        fn run<V: Lanes<Elem = T>>(self) -> [f64; 2] {
            let mut worst = [0.0f64; 2];
            for k in 1..4000 {
                let (r, size) = (T::from_f64(0.01 * f64::from(k)), T::from_f64(3.7));
                let (r2, size2) = (r * r, size * size);
                let got = Gaussian::profile::<V, A, true>(V::splat(r2), V::splat(size2));
                let want = gaussian_profile(r2.to_f64(), size2.to_f64().sqrt());
                let mut lanes = [T::ZERO; MAX_LANES];
                for (worst, (got, want)) in worst.iter_mut().zip([(got.0, want.0), (got.1, want.1)]) {
                    got.write_partial(&mut lanes, V::LANES);
                    *worst = worst.max((lanes[0].to_f64() / want - 1.0).abs());
                }
            }
            worst
        }
    }

    #[test]
    fn the_table_gives_the_core_and_its_slope_at_every_distance_level_and_precision() {
        const NEWTON: u8 = RsqrtAccuracy::Newton as u8;
        const FULL: u8 = RsqrtAccuracy::Full as u8;
        for level in SimdLevel::available() {
            let [value, slope] = dispatch::<f64, _>(level, Differences::<FULL>);
            assert!(value < 5e-15 && slope < 1e-12, "{level}: {value:e} {slope:e}");
            let [value, slope] = dispatch::<f64, _>(level, Differences::<NEWTON>);
            assert!(value < 1e-6 && slope < 2e-6, "{level}: {value:e} {slope:e}");
            let [value, slope] = dispatch::<f32, _>(level, Differences::<FULL>);
            assert!(value < 2e-6 && slope < 5e-6, "{level}: {value:e} {slope:e}");
        }
    }

    #[test]
    fn a_blob_of_size_zero_is_the_singular_vortex() {
        struct AtZero;
        impl<T: Real> Vectorized<T> for AtZero {
            type Output = [T; 4];
            fn run<V: Lanes<Elem = T>>(self) -> [T; 4] {
                let of = |r2: f64| {
                    let r2 = V::splat(T::from_f64(r2));
                    Gaussian::profile::<V, { RsqrtAccuracy::Full as u8 }, true>(r2, V::zero())
                };
                let first = |v: V| {
                    let mut lanes = [T::ZERO; MAX_LANES];
                    v.write_partial(&mut lanes, V::LANES);
                    lanes[0]
                };
                let (own, other) = (of(0.0), of(4.0));
                [first(own.0), first(own.1), first(other.0), first(other.1)]
            }
        }
        for level in SimdLevel::available() {
            let [own, own_slope, other, slope] = dispatch::<f64, _>(level, AtZero);
            assert!(own == 0.0 && own_slope == 0.0, "{level}: {own} {own_slope}");
            assert!(
                (other - 0.125).abs() < 1e-15 && (slope + 0.09375).abs() < 1e-15,
                "{level}"
            );
        }
    }
}
