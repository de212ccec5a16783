//! One number at a time: the level that every machine has and that tests compare the others with.

use super::{Lanes, Real};
use std::ops::{Add, Mul, Sub};

/// A vector of one lane.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Scalar<T>(T);

impl<T> super::sealed::Sealed for Scalar<T> {}

impl<T: Real> Add for Scalar<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(self.0 + b.0)
    }
}

impl<T: Real> Sub for Scalar<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self(self.0 - b.0)
    }
}

impl<T: Real> Mul for Scalar<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self(self.0 * b.0)
    }
}

impl<T: Real> Lanes for Scalar<T> {
    type Elem = T;
    const LANES: usize = 1;
    const RSQRT_ESTIMATE_ERROR: f64 = 0.0;
    const RECIPROCAL_ESTIMATE_ERROR: f64 = 0.0;
    type Narrow = Self;
    type Broad = Self;

    #[inline(always)]
    fn splat(value: T) -> Self {
        Self(value)
    }
    #[inline(always)]
    unsafe fn load(source: *const T) -> Self {
        // SAFETY: forwarded from the caller.
        Self(unsafe { *source })
    }
    #[inline(always)]
    unsafe fn store(self, target: *mut T) {
        // SAFETY: forwarded from the caller.
        unsafe { *target = self.0 }
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(self.0 * b.0 + c.0)
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Self(c.0 - self.0 * b.0)
    }
    #[inline(always)]
    fn rsqrt_estimate(self) -> Self {
        Self(T::ONE / self.0.sqrt())
    }
    #[inline(always)]
    fn reciprocal_estimate(self) -> Self {
        Self(T::ONE / self.0)
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        // The exponent field of a double; every normal single is a normal double.
        Self(T::from_f64((self.0.to_f64().to_bits() >> 52) as f64 - 1023.0))
    }
    #[inline(always)]
    fn keep_where_positive(self, test: Self) -> Self {
        if test.0 > T::ZERO { self } else { Self(T::ZERO) }
    }
    #[inline(always)]
    fn select_less(self, limit: Self, yes: Self, no: Self) -> Self {
        if self.0 < limit.0 { yes } else { no }
    }
    #[inline(always)]
    fn exp2_whole(self) -> Self {
        Self(T::exp2_whole(self.0))
    }
    #[inline(always)]
    fn div(self, b: Self) -> Self {
        Self(self.0 / b.0)
    }
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        if self.0 > b.0 { self } else { b }
    }
    #[inline(always)]
    fn sum(self) -> T {
        self.0
    }
}
