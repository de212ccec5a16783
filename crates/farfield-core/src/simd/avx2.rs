//! AVX2 with FMA: four doubles or eight singles.

use super::twice::Twice;
use super::{Lanes, Real, Vectorized, gather_from, lane_operators, scatter_add_from};
use std::arch::x86_64::*;

/// Runs `task` with the features of this level enabled.
///
/// # Safety
/// The machine must have the level, and `V` must belong to it.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt,lzcnt")]
pub unsafe fn run<T: Real, V: Lanes<Elem = T>, W: Vectorized<T>>(task: W) -> W::Output {
    task.run::<V>()
}

/// Four doubles.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F64x4(__m256d);

/// Four doubles whose reciprocal square roots are estimated in single precision without scaling: only for numbers in
/// the range of singles.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F64x4Narrow(__m256d);

/// Eight singles.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F32x8(__m256);

lane_operators!(F64x4, _mm256_add_pd, _mm256_sub_pd, _mm256_mul_pd);
lane_operators!(F64x4Narrow, _mm256_add_pd, _mm256_sub_pd, _mm256_mul_pd);
lane_operators!(F32x8, _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps);

// SAFETY of every block below: the types are only reached through `dispatch`, whose level proves that the machine has
// the instructions; loads and stores forward the caller's promise.
macro_rules! lanes {
    ($elem:ident, splat $splat:ident, load $load:ident, store $store:ident, fma $fma:ident, fnma $fnma:ident,
     cmp $cmp:ident, and $and:ident, blend $blend:ident, div $div:ident, max $max:ident) => {
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
            unsafe { Self($fma(self.0, b.0, c.0)) }
        }
        #[inline(always)]
        fn neg_mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self($fnma(self.0, b.0, c.0)) }
        }
        #[inline(always)]
        fn keep_where_positive(self, test: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self($and($cmp::<_CMP_GT_OQ>(test.0, Self::zero().0), self.0)) }
        }
        #[inline(always)]
        fn select_less(self, limit: Self, yes: Self, no: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self($blend(no.0, yes.0, $cmp::<_CMP_LT_OQ>(self.0, limit.0))) }
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
            let mut lanes = [0.0; Self::LANES];
            // SAFETY: the array holds LANES values.
            unsafe { self.store(lanes.as_mut_ptr()) };
            let mut width = Self::LANES / 2;
            while width > 0 {
                for l in 0..width {
                    lanes[l] += lanes[l + width];
                }
                width /= 2;
            }
            lanes[0]
        }
    };
}

/// The methods that [`F64x4`] and [`F64x4Narrow`] share besides [`lanes`].
macro_rules! doubles {
    () => {
        #[inline(always)]
        fn exponent(self) -> Self {
            // The biased exponent is put into the mantissa of 2^52, and 2^52 is subtracted.
            // SAFETY: see above.
            unsafe {
                let biased = _mm256_srli_epi64::<52>(_mm256_castpd_si256(self.0));
                let magic = _mm256_set1_pd(4_503_599_627_370_496.0);
                let shifted = _mm256_castsi256_pd(_mm256_or_si256(biased, _mm256_castpd_si256(magic)));
                Self(_mm256_sub_pd(
                    _mm256_sub_pd(shifted, magic),
                    _mm256_set1_pd(1023.0),
                ))
            }
        }
        #[inline(always)]
        fn exp2_whole(self) -> Self {
            // SAFETY: see above.
            unsafe {
                // Adding 1.5 * 2^52 leaves the integer in the low bits of the mantissa.
                let magic = _mm256_set1_pd(6_755_399_441_055_744.0);
                let whole = _mm256_sub_epi64(
                    _mm256_castpd_si256(_mm256_add_pd(self.0, magic)),
                    _mm256_castpd_si256(magic),
                );
                Self(_mm256_castsi256_pd(_mm256_slli_epi64::<52>(_mm256_add_epi64(
                    whole,
                    _mm256_set1_epi64x(1023),
                ))))
            }
        }
    };
}

impl Lanes for F64x4 {
    type Elem = f64;
    const LANES: usize = 4;
    const RSQRT_ESTIMATE_ERROR: f64 = 3.67e-4; // 1.5 * 2^-12, through single precision
    const RECIPROCAL_ESTIMATE_ERROR: f64 = 0.0;
    type Narrow = F64x4Narrow;
    type Broad = Twice<Self>;
    lanes!(f64, splat _mm256_set1_pd, load _mm256_loadu_pd, store _mm256_storeu_pd, fma _mm256_fmadd_pd,
        fnma _mm256_fnmadd_pd, cmp _mm256_cmp_pd, and _mm256_and_pd, blend _mm256_blendv_pd, div _mm256_div_pd,
        max _mm256_max_pd);

    #[inline(always)]
    fn any_less(self, limit: Self) -> bool {
        // SAFETY: see above.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(self.0, limit.0)) != 0 }
    }

    #[inline(always)]
    fn rsqrt_estimate(self) -> Self {
        // The estimate is made in single precision, whose range ends at 1e-38 and 1e38: scale x = m 4^k to m in
        // [1, 4) by its exponent bits, and the result by 2^-k.
        // SAFETY: see above.
        unsafe {
            let bits = _mm256_castpd_si256(self.0);
            let exponent = _mm256_sub_epi64(_mm256_srli_epi64::<52>(bits), _mm256_set1_epi64x(1023));
            let even = _mm256_and_si256(exponent, _mm256_set1_epi64x(!1));
            let mantissa = _mm256_castsi256_pd(_mm256_sub_epi64(bits, _mm256_slli_epi64::<52>(even)));
            let estimate = _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(mantissa)));
            // Halve the even exponent as (exponent + 2048) / 2 - 1024, because the shift needs a non-negative value.
            let biased = _mm256_srli_epi64::<1>(_mm256_add_epi64(even, _mm256_set1_epi64x(2048)));
            let halved = _mm256_sub_epi64(biased, _mm256_set1_epi64x(1024));
            let scaled = _mm256_sub_epi64(_mm256_castpd_si256(estimate), _mm256_slli_epi64::<52>(halved));
            Self(_mm256_castsi256_pd(scaled))
        }
    }
    doubles!();

    #[inline(never)]
    fn apart<W: Vectorized<f64>>(task: W) -> W::Output {
        // SAFETY: see above.
        unsafe { run::<f64, Self, W>(task) }
    }

    #[inline(always)]
    unsafe fn gather_strided(rows: &[*const f64], count: usize, columns: *mut f64, stride: usize) {
        let mut k = 0;
        while k + 4 <= count {
            // SAFETY: each of the four rows has four readable values from column k on; four columns are writable.
            unsafe {
                let mut block = [_mm256_setzero_pd(); 4];
                for l in 0..4 {
                    block[l] = _mm256_loadu_pd(rows[l].add(k));
                }
                let block = transpose4(block);
                for j in 0..4 {
                    _mm256_storeu_pd(columns.add((k + j) * stride), block[j]);
                }
            }
            k += 4;
        }
        // SAFETY: forwarded from the caller.
        unsafe { gather_from::<Self>(rows, k, count, columns, stride) }
    }

    #[inline(always)]
    unsafe fn scatter_add_strided(columns: *const f64, stride: usize, count: usize, rows: &[*mut f64]) {
        let mut k = 0;
        while k + 4 <= count {
            // SAFETY: four columns are readable; each row has four writable values from column k on, none shared.
            unsafe {
                let mut block = [_mm256_setzero_pd(); 4];
                for j in 0..4 {
                    block[j] = _mm256_loadu_pd(columns.add((k + j) * stride));
                }
                let block = transpose4(block);
                for l in 0..4 {
                    let at = rows[l].add(k);
                    _mm256_storeu_pd(at, _mm256_add_pd(_mm256_loadu_pd(at), block[l]));
                }
            }
            k += 4;
        }
        // SAFETY: forwarded from the caller.
        unsafe { scatter_add_from::<Self>(columns, stride, k, count, rows) }
    }
}

impl Lanes for F64x4Narrow {
    type Elem = f64;
    const LANES: usize = 4;
    const RSQRT_ESTIMATE_ERROR: f64 = 3.67e-4;
    const RECIPROCAL_ESTIMATE_ERROR: f64 = 0.0;
    const WHOLE_RANGE: bool = false;
    type Narrow = Self;
    type Broad = Twice<Self>;
    lanes!(f64, splat _mm256_set1_pd, load _mm256_loadu_pd, store _mm256_storeu_pd, fma _mm256_fmadd_pd,
        fnma _mm256_fnmadd_pd, cmp _mm256_cmp_pd, and _mm256_and_pd, blend _mm256_blendv_pd, div _mm256_div_pd,
        max _mm256_max_pd);

    #[inline(always)]
    fn rsqrt_estimate(self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(self.0)))) }
    }
    doubles!();
}

impl Lanes for F32x8 {
    type Elem = f32;
    const LANES: usize = 8;
    const RSQRT_ESTIMATE_ERROR: f64 = 3.67e-4;
    const RECIPROCAL_ESTIMATE_ERROR: f64 = 0.0;
    type Narrow = Self;
    type Broad = Twice<Self>;
    lanes!(f32, splat _mm256_set1_ps, load _mm256_loadu_ps, store _mm256_storeu_ps, fma _mm256_fmadd_ps,
        fnma _mm256_fnmadd_ps, cmp _mm256_cmp_ps, and _mm256_and_ps, blend _mm256_blendv_ps, div _mm256_div_ps,
        max _mm256_max_ps);

    #[inline(always)]
    fn any_less(self, limit: Self) -> bool {
        // SAFETY: see above.
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, limit.0)) != 0 }
    }

    #[inline(always)]
    fn rsqrt_estimate(self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_rsqrt_ps(self.0)) }
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        // SAFETY: see above.
        unsafe {
            let biased = _mm256_srli_epi32::<23>(_mm256_castps_si256(self.0));
            Self(_mm256_cvtepi32_ps(_mm256_sub_epi32(biased, _mm256_set1_epi32(127))))
        }
    }
    #[inline(always)]
    fn exp2_whole(self) -> Self {
        // SAFETY: see above.
        unsafe {
            let whole = _mm256_add_epi32(_mm256_cvtps_epi32(self.0), _mm256_set1_epi32(127));
            Self(_mm256_castsi256_ps(_mm256_slli_epi32::<23>(whole)))
        }
    }

    #[inline(always)]
    unsafe fn gather_strided(rows: &[*const f32], count: usize, columns: *mut f32, stride: usize) {
        let mut k = 0;
        while k + 4 <= count {
            // SAFETY: each of the eight rows has four readable values from column k on; four columns are writable.
            unsafe {
                let mut block = [_mm256_setzero_ps(); 4];
                for l in 0..4 {
                    let (low, high) = (_mm_loadu_ps(rows[l].add(k)), _mm_loadu_ps(rows[l + 4].add(k)));
                    block[l] = _mm256_set_m128(high, low);
                }
                let block = transpose_halves(block);
                for j in 0..4 {
                    _mm256_storeu_ps(columns.add((k + j) * stride), block[j]);
                }
            }
            k += 4;
        }
        // SAFETY: forwarded from the caller.
        unsafe { gather_from::<Self>(rows, k, count, columns, stride) }
    }

    #[inline(always)]
    unsafe fn scatter_add_strided(columns: *const f32, stride: usize, count: usize, rows: &[*mut f32]) {
        let mut k = 0;
        while k + 4 <= count {
            // SAFETY: four columns are readable; each row has four writable values from column k on, none shared.
            unsafe {
                let mut block = [_mm256_setzero_ps(); 4];
                for j in 0..4 {
                    block[j] = _mm256_loadu_ps(columns.add((k + j) * stride));
                }
                let block = transpose_halves(block);
                for l in 0..4 {
                    let (low, high) = (rows[l].add(k), rows[l + 4].add(k));
                    _mm_storeu_ps(low, _mm_add_ps(_mm_loadu_ps(low), _mm256_castps256_ps128(block[l])));
                    let upper = _mm256_extractf128_ps::<1>(block[l]);
                    _mm_storeu_ps(high, _mm_add_ps(_mm_loadu_ps(high), upper));
                }
            }
            k += 4;
        }
        // SAFETY: forwarded from the caller.
        unsafe { scatter_add_from::<Self>(columns, stride, k, count, rows) }
    }
}

/// Transposes a 4 x 4 block of doubles.
#[inline(always)]
unsafe fn transpose4(r: [__m256d; 4]) -> [__m256d; 4] {
    // SAFETY: as in the callers.
    unsafe {
        let (a, b) = (_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpackhi_pd(r[0], r[1]));
        let (c, d) = (_mm256_unpacklo_pd(r[2], r[3]), _mm256_unpackhi_pd(r[2], r[3]));
        [
            _mm256_permute2f128_pd::<0x20>(a, c),
            _mm256_permute2f128_pd::<0x20>(b, d),
            _mm256_permute2f128_pd::<0x31>(a, c),
            _mm256_permute2f128_pd::<0x31>(b, d),
        ]
    }
}

/// Transposes the 4 x 4 blocks of singles in the lower and in the upper halves.
#[inline(always)]
unsafe fn transpose_halves(r: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: as in the callers.
    unsafe {
        let (a, b) = (_mm256_unpacklo_ps(r[0], r[1]), _mm256_unpackhi_ps(r[0], r[1]));
        let (c, d) = (_mm256_unpacklo_ps(r[2], r[3]), _mm256_unpackhi_ps(r[2], r[3]));
        [
            _mm256_shuffle_ps::<0x44>(a, c),
            _mm256_shuffle_ps::<0xee>(a, c),
            _mm256_shuffle_ps::<0x44>(b, d),
            _mm256_shuffle_ps::<0xee>(b, d),
        ]
    }
}
