//! The two precisions, `f32` and `f64`.

use super::level::InstructionSet;
use super::scalar::Scalar;
use super::{SimdLevel, Vectorized, dispatch_to};
use crate::bench::Benchmark;
use crate::error::Error;
use crate::geometry::{Plane, Space};
use crate::parallel::in_pool;
use crate::plan::{Field, Plan};
use crate::plane;
use crate::sum::Sum;
use std::fmt::{Debug, Display};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A floating-point precision: `f32` or `f64`.
pub trait Real:
    Copy
    + Send
    + Sync
    + 'static
    + PartialOrd
    + Debug
    + Display
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + std::iter::Sum
    + sealed::Sealed
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// The distance from one to the next larger number.
    const EPSILON: f64;
    /// The largest finite number.
    const LARGEST: f64;
    /// `"f32"` or `"f64"`.
    const NAME: &'static str;

    /// Rounds from double precision.
    fn from_f64(value: f64) -> Self;
    /// Converts to double precision, exactly.
    fn to_f64(self) -> f64;
    /// Whether the number is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// The square root.
    fn sqrt(self) -> Self;
    /// Two to the power of `self`, which is an integer.
    fn exp2_whole(self) -> Self {
        Self::from_f64(self.to_f64().exp2())
    }

    // The entry points to all code that is compiled for every instruction set. As methods of the two precisions,
    // rather than generic functions, they are compiled once, in this crate, and not in every crate that plans a sum.

    #[doc(hidden)]
    fn plan(sum: Sum<'_, Self, Space>) -> Result<Plan<Self>, Error>;
    #[doc(hidden)]
    fn evaluate(plan: &mut Plan<Self>, strengths: &[Self], field: &mut Field<Self>) -> Result<(), Error>;
    #[doc(hidden)]
    fn plan_in_plane(sum: Sum<'_, Self, Plane>) -> Result<plane::Plan<Self>, Error>;
    #[doc(hidden)]
    fn evaluate_in_plane(
        plan: &mut plane::Plan<Self>,
        strengths: &[Self],
        field: &mut plane::Field<Self>,
    ) -> Result<(), Error>;
    #[doc(hidden)]
    fn dispatch<W: Vectorized<Self>>(level: SimdLevel, task: W) -> W::Output;
    #[doc(hidden)]
    fn bench(level: SimdLevel, what: &Benchmark) -> f64;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! real {
    ($float:ident, $name:literal, $avx512:ident, $avx2:ident, $neon:ident) => {
        impl Real for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: f64 = $float::EPSILON as f64;
            const LARGEST: f64 = $float::MAX as f64;
            const NAME: &'static str = $name;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $float::is_finite(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $float::sqrt(self)
            }

            fn plan(sum: Sum<'_, Self, Space>) -> Result<Plan<Self>, Error> {
                in_pool(sum.deserves_threads(), || sum.check_and_build())
            }
            fn evaluate(plan: &mut Plan<Self>, strengths: &[Self], field: &mut Field<Self>) -> Result<(), Error> {
                in_pool(plan.engine.summation().deserves_threads(), || {
                    plan.check_and_sum(strengths, field)
                })
            }
            fn plan_in_plane(sum: Sum<'_, Self, Plane>) -> Result<plane::Plan<Self>, Error> {
                in_pool(sum.deserves_threads(), || sum.check_and_build())
            }
            fn evaluate_in_plane(
                plan: &mut plane::Plan<Self>,
                strengths: &[Self],
                field: &mut plane::Field<Self>,
            ) -> Result<(), Error> {
                in_pool(plan.engine.summation().deserves_threads(), || {
                    plan.check_and_sum(strengths, field)
                })
            }
            #[inline]
            fn dispatch<W: Vectorized<Self>>(level: SimdLevel, task: W) -> W::Output {
                dispatch_to!(level, task, $avx512, $avx2, $neon)
            }
            fn bench(level: SimdLevel, what: &Benchmark) -> f64 {
                what.run::<Self>(level)
            }
        }
    };
}

real!(f32, "f32", F32x16, F32x8, F32x4);
real!(f64, "f64", F64x8, F64x4, F64x2);
