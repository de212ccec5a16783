//! Two vectors as one, for loops that multiply many vectors by one scalar.
//!
//! On levels whose arithmetic instructions cannot broadcast a scalar from memory, every broadcast costs a load.
//! Twice the lanes halve the number of loads.

use super::{Lanes, sealed};
use std::ops::{Add, Mul, Sub};

/// The lanes of the first vector, then those of the second.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Twice<V>(V, V);

impl<V> sealed::Sealed for Twice<V> {}

impl<V: Lanes> Add for Twice<V> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(self.0 + b.0, self.1 + b.1)
    }
}

impl<V: Lanes> Sub for Twice<V> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self(self.0 - b.0, self.1 - b.1)
    }
}

impl<V: Lanes> Mul for Twice<V> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self(self.0 * b.0, self.1 * b.1)
    }
}

impl<V: Lanes> Lanes for Twice<V> {
    type Elem = V::Elem;
    const LANES: usize = 2 * V::LANES;
    const RSQRT_ESTIMATE_ERROR: f64 = V::RSQRT_ESTIMATE_ERROR;
    const RECIPROCAL_ESTIMATE_ERROR: f64 = V::RECIPROCAL_ESTIMATE_ERROR;
    const WHOLE_RANGE: bool = V::WHOLE_RANGE;
    const SUMS: usize = V::SUMS / 2;
    type Narrow = Self;
    type Broad = Self;

    #[inline(always)]
    fn splat(value: V::Elem) -> Self {
        let v = V::splat(value);
        Self(v, v)
    }
    #[inline(always)]
    unsafe fn load(source: *const V::Elem) -> Self {
        // SAFETY: the caller vouches for both halves.
        unsafe { Self(V::load(source), V::load(source.add(V::LANES))) }
    }
    #[inline(always)]
    unsafe fn store(self, target: *mut V::Elem) {
        // SAFETY: the caller vouches for both halves.
        unsafe {
            self.0.store(target);
            self.1.store(target.add(V::LANES));
        }
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(self.0.mul_add(b.0, c.0), self.1.mul_add(b.1, c.1))
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Self(self.0.neg_mul_add(b.0, c.0), self.1.neg_mul_add(b.1, c.1))
    }
    #[inline(always)]
    fn rsqrt_estimate(self) -> Self {
        Self(self.0.rsqrt_estimate(), self.1.rsqrt_estimate())
    }
    #[inline(always)]
    fn reciprocal_estimate(self) -> Self {
        Self(self.0.reciprocal_estimate(), self.1.reciprocal_estimate())
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        Self(self.0.exponent(), self.1.exponent())
    }
    #[inline(always)]
    fn keep_where_positive(self, test: Self) -> Self {
        Self(self.0.keep_where_positive(test.0), self.1.keep_where_positive(test.1))
    }
    #[inline(always)]
    fn select_less(self, limit: Self, yes: Self, no: Self) -> Self {
        Self(
            self.0.select_less(limit.0, yes.0, no.0),
            self.1.select_less(limit.1, yes.1, no.1),
        )
    }
    #[inline(always)]
    fn exp2_whole(self) -> Self {
        Self(self.0.exp2_whole(), self.1.exp2_whole())
    }
    #[inline(always)]
    fn div(self, b: Self) -> Self {
        Self(self.0.div(b.0), self.1.div(b.1))
    }
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        Self(self.0.max(b.0), self.1.max(b.1))
    }
    #[inline(always)]
    fn sum(self) -> V::Elem {
        (self.0 + self.1).sum()
    }

    #[inline(always)]
    unsafe fn gather_strided(rows: &[*const V::Elem], count: usize, columns: *mut V::Elem, stride: usize) {
        let (first, second) = rows.split_at(V::LANES);
        // SAFETY: the caller vouches for both halves of the rows and of each column.
        unsafe {
            V::gather_strided(first, count, columns, stride);
            V::gather_strided(second, count, columns.add(V::LANES), stride);
        }
    }
    #[inline(always)]
    unsafe fn scatter_add_strided(columns: *const V::Elem, stride: usize, count: usize, rows: &[*mut V::Elem]) {
        let (first, second) = rows.split_at(V::LANES);
        // SAFETY: as for `gather_strided`.
        unsafe {
            V::scatter_add_strided(columns, stride, count, first);
            V::scatter_add_strided(columns.add(V::LANES), stride, count, second);
        }
    }
}
