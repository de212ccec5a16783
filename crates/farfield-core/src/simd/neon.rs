//! NEON: two doubles or four singles.

use super::twice::Twice;
use super::{Lanes, Real, Vectorized, lane_operators};
use std::arch::aarch64::*;

/// Runs `task` with the features of this level enabled.
///
/// # Safety
/// The machine must have the level, and `V` must belong to it.
#[target_feature(enable = "neon")]
pub unsafe fn run<T: Real, V: Lanes<Elem = T>, W: Vectorized<T>>(task: W) -> W::Output {
    task.run::<V>()
}

/// Two doubles.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F64x2(float64x2_t);

/// Four singles.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F32x4(float32x4_t);

lane_operators!(F64x2, vaddq_f64, vsubq_f64, vmulq_f64);
lane_operators!(F32x4, vaddq_f32, vsubq_f32, vmulq_f32);

// SAFETY of every block below: the types are only reached through `dispatch`, whose level proves that the machine has
// the instructions; loads and stores forward the caller's promise.
//
// The bare estimate has only 8 bits. One fused Newton step doubles them, so that the refinement shared by all levels
// starts from a similar accuracy.
macro_rules! lanes {
    ($elem:ident, splat $splat:ident, load $load:ident, store $store:ident, fma $fma:ident, fms $fms:ident,
     rsqrte $rsqrte:ident, rsqrts $rsqrts:ident, mul $mul:ident, gt $gt:ident, lt $lt:ident, select $select:ident,
     div $div:ident, max $max:ident, sum $sum:ident) => {
        #[inline(always)]
        fn splat(value: $elem) -> Self {
            // SAFETY: see above.
            unsafe { Self($splat(value)) }
        }
        #[inline(always)]
        unsafe fn load(source: *const $elem) -> Self {
            // SAFETY: see above.
            unsafe { Self($load(source)) }
        }
        #[inline(always)]
        unsafe fn store(self, target: *mut $elem) {
            // SAFETY: see above.
            unsafe { $store(target, self.0) }
        }
        #[inline(always)]
        fn mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self($fma(c.0, self.0, b.0)) }
        }
        #[inline(always)]
        fn neg_mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self($fms(c.0, self.0, b.0)) }
        }
        #[inline(always)]
        fn rsqrt_estimate(self) -> Self {
            // SAFETY: see above.
            unsafe {
                let y = $rsqrte(self.0);
                Self($mul(y, $rsqrts($mul(self.0, y), y)))
            }
        }
        #[inline(always)]
        fn keep_where_positive(self, test: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self($select($gt(test.0, Self::zero().0), self.0, Self::zero().0)) }
        }
        #[inline(always)]
        fn select_less(self, limit: Self, yes: Self, no: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self($select($lt(self.0, limit.0), yes.0, no.0)) }
        }
        #[inline(always)]
        fn reciprocal_estimate(self) -> Self {
            Self::splat(1.0).div(self)
        }
        #[inline(always)]
        fn div(self, b: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self($div(self.0, b.0)) }
        }
        #[inline(always)]
        fn max(self, b: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self($max(self.0, b.0)) }
        }
        #[inline(always)]
        fn sum(self) -> $elem {
            // SAFETY: see above.
            unsafe { $sum(self.0) }
        }
    };
}

impl Lanes for F64x2 {
    type Elem = f64;
    const LANES: usize = 2;
    const RSQRT_ESTIMATE_ERROR: f64 = 1.62e-5; // 8 bits, then one Newton step
    const RECIPROCAL_ESTIMATE_ERROR: f64 = 0.0;
    type Narrow = Self;
    type Broad = Twice<Self>;
    lanes!(f64, splat vdupq_n_f64, load vld1q_f64, store vst1q_f64, fma vfmaq_f64, fms vfmsq_f64,
        rsqrte vrsqrteq_f64, rsqrts vrsqrtsq_f64, mul vmulq_f64, gt vcgtq_f64, lt vcltq_f64, select vbslq_f64,
        div vdivq_f64, max vmaxq_f64, sum vaddvq_f64);

    #[inline(always)]
    fn exponent(self) -> Self {
        // SAFETY: see above.
        unsafe {
            let biased = vreinterpretq_s64_u64(vshrq_n_u64::<52>(vreinterpretq_u64_f64(self.0)));
            Self(vcvtq_f64_s64(vsubq_s64(biased, vdupq_n_s64(1023))))
        }
    }

    #[inline(always)]
    fn exp2_whole(self) -> Self {
        // SAFETY: see above.
        unsafe {
            let whole = vaddq_s64(vcvtq_s64_f64(self.0), vdupq_n_s64(1023));
            Self(vreinterpretq_f64_s64(vshlq_n_s64::<52>(whole)))
        }
    }
}

impl Lanes for F32x4 {
    type Elem = f32;
    const LANES: usize = 4;
    const RSQRT_ESTIMATE_ERROR: f64 = 1.62e-5; // 8 bits, then one Newton step
    const RECIPROCAL_ESTIMATE_ERROR: f64 = 0.0;
    type Narrow = Self;
    type Broad = Twice<Self>;
    lanes!(f32, splat vdupq_n_f32, load vld1q_f32, store vst1q_f32, fma vfmaq_f32, fms vfmsq_f32,
        rsqrte vrsqrteq_f32, rsqrts vrsqrtsq_f32, mul vmulq_f32, gt vcgtq_f32, lt vcltq_f32, select vbslq_f32,
        div vdivq_f32, max vmaxq_f32, sum vaddvq_f32);

    #[inline(always)]
    fn exponent(self) -> Self {
        // SAFETY: see above.
        unsafe {
            let biased = vreinterpretq_s32_u32(vshrq_n_u32::<23>(vreinterpretq_u32_f32(self.0)));
            Self(vcvtq_f32_s32(vsubq_s32(biased, vdupq_n_s32(127))))
        }
    }

    #[inline(always)]
    fn exp2_whole(self) -> Self {
        // SAFETY: see above.
        unsafe {
            let whole = vaddq_s32(vcvtq_s32_f32(self.0), vdupq_n_s32(127));
            Self(vreinterpretq_f32_s32(vshlq_n_s32::<23>(whole)))
        }
    }
}
