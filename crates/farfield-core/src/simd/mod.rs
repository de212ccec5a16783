//! SIMD vectors of floats, with the instruction set chosen at run time.
//!
//! Hot loops are written once over the trait [`Lanes`] and compiled for every [`SimdLevel`]. A loop is packed into
//! a [`Vectorized`] task; [`dispatch`] runs it inside a function that has the level's CPU features enabled, so one
//! portable binary uses AVX-512 where the machine has it.
//!
//! All `unsafe` code of the crate that concerns instruction sets is in this module. It rests on two facts. A
//! [`SimdLevel`] proves that the machine has the level, because only detection makes one. A lane type of a level is
//! only reached through [`dispatch`], which takes such a level.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod level;
mod math;
#[cfg(target_arch = "aarch64")]
mod neon;
mod real;
mod scalar;
mod twice;

pub use level::{LEVEL_VARIABLE, LevelError, SimdLevel};
pub use math::{RsqrtAccuracy, rsqrt};
pub(crate) use math::{exp, ln, reciprocal};
pub use real::Real;

use std::ops::{Add, Mul, Sub};

/// A vector of [`Lanes::LANES`] floats.
pub trait Lanes:
    sealed::Sealed + Copy + Send + Sync + 'static + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// The float in each lane.
    type Elem: Real;
    /// Floats per vector.
    const LANES: usize;
    /// Relative error of [`Lanes::rsqrt_estimate`]; zero where it is as exact as the arithmetic.
    const RSQRT_ESTIMATE_ERROR: f64;
    /// Relative error of [`Lanes::reciprocal_estimate`]; zero where it is as exact as the arithmetic.
    const RECIPROCAL_ESTIMATE_ERROR: f64;
    /// Whether [`Lanes::rsqrt_estimate`] is valid for every positive number that is not subnormal. Otherwise it is
    /// valid from 1.2e-38 to 3.4e38 and returns infinity for smaller numbers.
    const WHOLE_RANGE: bool = true;
    /// The number of accumulators that a matrix-vector loop keeps in registers.
    const SUMS: usize = 12;

    /// Vectors of the same width whose [`Lanes::rsqrt_estimate`] may be faster, over a smaller range.
    type Narrow: Lanes<Elem = Self::Elem>;
    /// Vectors for loops that multiply many vectors by one scalar: wide enough that at this level the arithmetic
    /// takes longer than loading the scalar.
    type Broad: Lanes<Elem = Self::Elem>;

    /// The same value in every lane.
    fn splat(value: Self::Elem) -> Self;
    /// Loads `LANES` values from `source`.
    ///
    /// # Safety
    /// `source` must be valid for reading `LANES` values; no alignment is needed.
    unsafe fn load(source: *const Self::Elem) -> Self;
    /// Stores `LANES` values to `target`.
    ///
    /// # Safety
    /// `target` must be valid for writing `LANES` values; no alignment is needed.
    unsafe fn store(self, target: *mut Self::Elem);
    /// `self * b + c`, fused where the level can.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `c - self * b`, fused where the level can.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// An estimate of `1/sqrt(self)` with relative error [`Lanes::RSQRT_ESTIMATE_ERROR`].
    fn rsqrt_estimate(self) -> Self;
    /// An estimate of `1/self` with relative error [`Lanes::RECIPROCAL_ESTIMATE_ERROR`].
    fn reciprocal_estimate(self) -> Self;
    /// The integer `e` with `2^e <= self < 2^(e+1)`, for positive lanes that are not subnormal.
    fn exponent(self) -> Self;
    /// `self` where `test > 0`, else zero.
    fn keep_where_positive(self, test: Self) -> Self;
    /// `yes` where `self < limit`, else `no`.
    fn select_less(self, limit: Self, yes: Self, no: Self) -> Self;
    /// Whether any lane is less than the same lane of `limit`.
    #[inline(always)]
    fn any_less(self, limit: Self) -> bool {
        self.select_less(limit, Self::splat(Self::Elem::ONE), Self::zero())
            .sum()
            > Self::Elem::ZERO
    }
    /// Two to the power of `self`, whose lanes hold integers.
    fn exp2_whole(self) -> Self;
    /// Lane-wise quotient.
    fn div(self, b: Self) -> Self;
    /// Lane-wise maximum.
    fn max(self, b: Self) -> Self;
    /// The sum over the lanes, in a fixed order.
    fn sum(self) -> Self::Elem;

    /// All lanes zero.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(Self::Elem::ZERO)
    }

    /// Loads the first `LANES` values of `source`.
    #[inline(always)]
    fn from_slice(source: &[Self::Elem]) -> Self {
        assert!(source.len() >= Self::LANES);
        // SAFETY: the slice holds at least LANES values.
        unsafe { Self::load(source.as_ptr()) }
    }

    /// Loads the first `count` values of `source` and sets the remaining lanes to `fill`.
    #[inline(always)]
    fn from_slice_partial(source: &[Self::Elem], count: usize, fill: Self::Elem) -> Self {
        if count >= Self::LANES {
            return Self::from_slice(source);
        }
        let mut padded = [fill; MAX_LANES];
        padded[..count].copy_from_slice(&source[..count]);
        Self::from_slice(&padded)
    }

    /// Writes the first `count` lanes to `target`.
    #[inline(always)]
    fn write_partial(self, target: &mut [Self::Elem], count: usize) {
        if count >= Self::LANES {
            let target = &mut target[..Self::LANES];
            // SAFETY: the slice holds LANES values.
            unsafe { self.store(target.as_mut_ptr()) };
            return;
        }
        let mut all = [Self::Elem::ZERO; MAX_LANES];
        // SAFETY: MAX_LANES is at least LANES.
        unsafe { self.store(all.as_mut_ptr()) };
        target[..count].copy_from_slice(&all[..count]);
    }

    /// Runs `task` with these vectors in a function of its own, which is not inlined into the caller's loops.
    fn apart<W: Vectorized<Self::Elem>>(task: W) -> W::Output {
        task.run::<Self>()
    }

    /// Transposes blocks of rows into vectors: lane `l` of `columns[k]` is `rows[l][k]`.
    ///
    /// # Safety
    /// Each of the first `LANES` pointers must be valid for reading `count` values.
    #[inline(always)]
    unsafe fn gather_rows(rows: &[*const Self::Elem], count: usize, columns: &mut [Self]) {
        assert!(columns.len() >= count && rows.len() >= Self::LANES);
        // SAFETY: the columns hold `LANES` contiguous values each; the caller vouches for the rows.
        unsafe { Self::gather_strided(rows, count, columns.as_mut_ptr().cast(), Self::LANES) }
    }

    /// The inverse of [`Lanes::gather_rows`], adding: `rows[l][k] += lane l of columns[k]`. The sums of overlapping
    /// rows are wrong.
    ///
    /// # Safety
    /// Each of the first `LANES` pointers must be valid for reading and writing `count` values.
    #[inline(always)]
    unsafe fn scatter_add_rows(columns: &[Self], count: usize, rows: &[*mut Self::Elem]) {
        assert!(columns.len() >= count && rows.len() >= Self::LANES);
        // SAFETY: as for `gather_rows`.
        unsafe { Self::scatter_add_strided(columns.as_ptr().cast(), Self::LANES, count, rows) }
    }

    /// [`Lanes::gather_rows`] into columns that begin `stride` values apart.
    ///
    /// # Safety
    /// There are `LANES` rows, each valid for reading `count` values; `columns` is valid for writing `LANES` values
    /// at every multiple of `stride` below `count * stride`.
    #[inline(always)]
    unsafe fn gather_strided(rows: &[*const Self::Elem], count: usize, columns: *mut Self::Elem, stride: usize) {
        // SAFETY: forwarded from the caller.
        unsafe { gather_from::<Self>(rows, 0, count, columns, stride) }
    }

    /// [`Lanes::scatter_add_rows`] from columns that begin `stride` values apart.
    ///
    /// # Safety
    /// There are `LANES` rows, each valid for reading and writing `count` values; `columns` is valid for reading
    /// `LANES` values at every multiple of `stride` below `count * stride`.
    #[inline(always)]
    unsafe fn scatter_add_strided(columns: *const Self::Elem, stride: usize, count: usize, rows: &[*mut Self::Elem]) {
        // SAFETY: forwarded from the caller.
        unsafe { scatter_add_from::<Self>(columns, stride, 0, count, rows) }
    }
}

/// [`Lanes::gather_strided`] value by value, from column `start` on: for the columns that do not fill a block.
///
/// # Safety
/// As for [`Lanes::gather_strided`].
#[inline(always)]
unsafe fn gather_from<V: Lanes>(
    rows: &[*const V::Elem],
    start: usize,
    count: usize,
    columns: *mut V::Elem,
    stride: usize,
) {
    for k in start..count {
        for (l, row) in rows.iter().enumerate().take(V::LANES) {
            // SAFETY: the caller vouches for `count` values of each row and column.
            unsafe { *columns.add(k * stride + l) = *row.add(k) };
        }
    }
}

/// [`Lanes::scatter_add_strided`] value by value, from column `start` on.
///
/// # Safety
/// As for [`Lanes::scatter_add_strided`].
#[inline(always)]
unsafe fn scatter_add_from<V: Lanes>(
    columns: *const V::Elem,
    stride: usize,
    start: usize,
    count: usize,
    rows: &[*mut V::Elem],
) {
    for k in start..count {
        for (l, row) in rows.iter().enumerate().take(V::LANES) {
            // SAFETY: the caller vouches for `count` values of each row and column.
            unsafe { *row.add(k) += *columns.add(k * stride + l) };
        }
    }
}

/// The largest number of lanes of any level.
pub const MAX_LANES: usize = 16;

/// Views the aligned part of a buffer as `count` vectors.
///
/// # Panics
/// If the buffer is shorter than `count + 1` vectors ([`lanes_len`] gives the length to ask for).
#[inline(always)]
pub(crate) fn as_lanes<V: Lanes>(buffer: &mut [V::Elem], count: usize) -> &mut [V] {
    // SAFETY: a vector is LANES floats without padding, any bits are valid for it, and `align_to_mut` takes care of
    // the alignment.
    let (_, lanes, _) = unsafe { buffer.align_to_mut::<V>() };
    &mut lanes[..count]
}

/// The number of floats in a buffer for [`as_lanes`] with `count` vectors, at any level.
pub(crate) fn lanes_len(count: usize) -> usize {
    (count + 1) * MAX_LANES
}

/// A task written once over the lane type. Implementations must be `#[inline(always)]` down to the innermost loop,
/// so that everything is compiled with the level's features.
pub trait Vectorized<T: Real> {
    /// The result of the task.
    type Output;
    /// Runs the task with vectors of type `V`.
    fn run<V: Lanes<Elem = T>>(self) -> Self::Output;
}

/// Runs `task` with the vectors of `level`.
#[inline]
pub fn dispatch<T: Real, W: Vectorized<T>>(level: SimdLevel, task: W) -> W::Output {
    T::dispatch(level, task)
}

/// [`dispatch`] for one precision; the arguments name its lane types.
macro_rules! dispatch_to {
    ($level:expr, $task:expr, $avx512:ident, $avx2:ident, $neon:ident) => {
        match $level.set() {
            // SAFETY: the level proves that the machine has these instructions.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => unsafe { super::avx512::run::<Self, super::avx512::$avx512, W>($task) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => unsafe { super::avx2::run::<Self, super::avx2::$avx2, W>($task) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            InstructionSet::Neon => unsafe { super::neon::run::<Self, super::neon::$neon, W>($task) },
            _ => $task.run::<Scalar<Self>>(),
        }
    };
}
use dispatch_to;

/// Only this module implements [`Lanes`], because `unsafe` code relies on the number of lanes.
mod sealed {
    pub trait Sealed {}
}

/// Implements the operators of a lane newtype by intrinsics.
#[allow(unused_macros, reason = "not every architecture has vector levels")]
macro_rules! lane_operators {
    ($name:ident, $add:ident, $sub:ident, $mul:ident) => {
        impl super::sealed::Sealed for $name {}
        impl std::ops::Add for $name {
            type Output = Self;
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                // SAFETY: the type is only reached through `dispatch`, which proves its level.
                unsafe { Self($add(self.0, b.0)) }
            }
        }
        impl std::ops::Sub for $name {
            type Output = Self;
            #[inline(always)]
            fn sub(self, b: Self) -> Self {
                // SAFETY: as above.
                unsafe { Self($sub(self.0, b.0)) }
            }
        }
        impl std::ops::Mul for $name {
            type Output = Self;
            #[inline(always)]
            fn mul(self, b: Self) -> Self {
                // SAFETY: as above.
                unsafe { Self($mul(self.0, b.0)) }
            }
        }
    };
}
#[allow(unused_imports, reason = "not every architecture has vector levels")]
pub(crate) use lane_operators;

#[cfg(test)]
mod tests;
