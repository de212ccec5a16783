//! AVX-512: eight doubles or sixteen singles.

use super::{Lanes, Real, Vectorized, gather_from, lane_operators, scatter_add_from};
use std::arch::x86_64::*;

/// Runs `task` with the features of this level enabled.
///
/// # Safety
/// The machine must have the level, and `V` must belong to it.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi1,bmi2,popcnt,lzcnt")]
pub unsafe fn run<T: Real, V: Lanes<Elem = T>, W: Vectorized<T>>(task: W) -> W::Output {
    task.run::<V>()
}

/// Eight doubles.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F64x8(__m512d);

/// Sixteen singles.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F32x16(__m512);

lane_operators!(F64x8, _mm512_add_pd, _mm512_sub_pd, _mm512_mul_pd);
lane_operators!(F32x16, _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps);

// SAFETY of every block below: the types are only reached through `dispatch`, whose level proves that the machine has
// the instructions; loads and stores forward the caller's promise.
macro_rules! lanes {
    ($name:ident, $elem:ident, $lanes:literal, splat $splat:ident, load $load:ident, store $store:ident,
     fma $fma:ident, fnma $fnma:ident, rsqrt $rsqrt:ident, rcp $rcp:ident, getexp $getexp:ident, cmp $cmp:ident, maskz $maskz:ident, blend $blend:ident,
     scalef $scalef:ident, div $div:ident, max $max:ident, sum $sum:ident) => {
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
        fn rsqrt_estimate(self) -> Self {
            // SAFETY: see above.
            unsafe { Self($rsqrt(self.0)) }
        }
        #[inline(always)]
        fn reciprocal_estimate(self) -> Self {
            // SAFETY: see above.
            unsafe { Self($rcp(self.0)) }
        }
        #[inline(always)]
        fn exponent(self) -> Self {
            // SAFETY: see above.
            unsafe { Self($getexp(self.0)) }
        }
        #[inline(always)]
        fn keep_where_positive(self, test: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self($maskz($cmp::<_CMP_GT_OQ>(test.0, Self::zero().0), self.0)) }
        }
        #[inline(always)]
        fn select_less(self, limit: Self, yes: Self, no: Self) -> Self {
            // SAFETY: see above.
            unsafe { Self($blend($cmp::<_CMP_LT_OQ>(self.0, limit.0), no.0, yes.0)) }
        }
        #[inline(always)]
        fn any_less(self, limit: Self) -> bool {
            // SAFETY: see above.
            unsafe { $cmp::<_CMP_LT_OQ>(self.0, limit.0) != 0 }
        }
        #[inline(always)]
        fn exp2_whole(self) -> Self {
            // SAFETY: see above.
            unsafe { Self($scalef($splat(1.0), self.0)) }
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

impl Lanes for F64x8 {
    type Elem = f64;
    const LANES: usize = 8;
    const RSQRT_ESTIMATE_ERROR: f64 = 6.11e-5; // 2^-14, guaranteed by the architecture
    const RECIPROCAL_ESTIMATE_ERROR: f64 = 6.11e-5;
    type Narrow = Self;
    type Broad = Self;
    lanes!(F64x8, f64, 8, splat _mm512_set1_pd, load _mm512_loadu_pd, store _mm512_storeu_pd,
        fma _mm512_fmadd_pd, fnma _mm512_fnmadd_pd, rsqrt _mm512_rsqrt14_pd, rcp _mm512_rcp14_pd,
        getexp _mm512_getexp_pd, cmp _mm512_cmp_pd_mask,
        maskz _mm512_maskz_mov_pd, blend _mm512_mask_blend_pd, scalef _mm512_scalef_pd, div _mm512_div_pd,
        max _mm512_max_pd, sum _mm512_reduce_add_pd);

    #[inline(always)]
    unsafe fn gather_strided(rows: &[*const f64], count: usize, columns: *mut f64, stride: usize) {
        let mut k = 0;
        while k + 8 <= count {
            // SAFETY: each of the 8 rows has 8 readable values from column k on; 8 columns are writable.
            unsafe {
                let mut block = [_mm512_setzero_pd(); 8];
                for l in 0..8 {
                    block[l] = _mm512_loadu_pd(rows[l].add(k));
                }
                let block = transpose8(block);
                for j in 0..8 {
                    _mm512_storeu_pd(columns.add((k + j) * stride), block[j]);
                }
            }
            k += 8;
        }
        // SAFETY: forwarded from the caller.
        unsafe { gather_from::<Self>(rows, k, count, columns, stride) }
    }

    #[inline(always)]
    unsafe fn scatter_add_strided(columns: *const f64, stride: usize, count: usize, rows: &[*mut f64]) {
        let mut k = 0;
        while k + 8 <= count {
            // SAFETY: 8 columns are readable; each row has 8 writable values from column k on, none shared.
            unsafe {
                let mut block = [_mm512_setzero_pd(); 8];
                for j in 0..8 {
                    block[j] = _mm512_loadu_pd(columns.add((k + j) * stride));
                }
                let block = transpose8(block);
                for l in 0..8 {
                    let at = rows[l].add(k);
                    _mm512_storeu_pd(at, _mm512_add_pd(_mm512_loadu_pd(at), block[l]));
                }
            }
            k += 8;
        }
        // SAFETY: forwarded from the caller.
        unsafe { scatter_add_from::<Self>(columns, stride, k, count, rows) }
    }
}

impl Lanes for F32x16 {
    type Elem = f32;
    const LANES: usize = 16;
    const RSQRT_ESTIMATE_ERROR: f64 = 6.11e-5;
    const RECIPROCAL_ESTIMATE_ERROR: f64 = 6.11e-5;
    type Narrow = Self;
    type Broad = Self;
    lanes!(F32x16, f32, 16, splat _mm512_set1_ps, load _mm512_loadu_ps, store _mm512_storeu_ps,
        fma _mm512_fmadd_ps, fnma _mm512_fnmadd_ps, rsqrt _mm512_rsqrt14_ps, rcp _mm512_rcp14_ps,
        getexp _mm512_getexp_ps, cmp _mm512_cmp_ps_mask,
        maskz _mm512_maskz_mov_ps, blend _mm512_mask_blend_ps, scalef _mm512_scalef_ps, div _mm512_div_ps,
        max _mm512_max_ps, sum _mm512_reduce_add_ps);

    #[inline(always)]
    unsafe fn gather_strided(rows: &[*const f32], count: usize, columns: *mut f32, stride: usize) {
        let mut k = 0;
        while k + 16 <= count {
            // SAFETY: each of the 16 rows has 16 readable values from column k on; 16 columns are writable.
            unsafe {
                let mut block = [_mm512_setzero_ps(); 16];
                for l in 0..16 {
                    block[l] = _mm512_loadu_ps(rows[l].add(k));
                }
                let block = transpose16(block);
                for j in 0..16 {
                    _mm512_storeu_ps(columns.add((k + j) * stride), block[j]);
                }
            }
            k += 16;
        }
        // SAFETY: forwarded from the caller.
        unsafe { gather_from::<Self>(rows, k, count, columns, stride) }
    }

    #[inline(always)]
    unsafe fn scatter_add_strided(columns: *const f32, stride: usize, count: usize, rows: &[*mut f32]) {
        let mut k = 0;
        while k + 16 <= count {
            // SAFETY: 16 columns are readable; each row has 16 writable values from column k on, none shared.
            unsafe {
                let mut block = [_mm512_setzero_ps(); 16];
                for j in 0..16 {
                    block[j] = _mm512_loadu_ps(columns.add((k + j) * stride));
                }
                let block = transpose16(block);
                for l in 0..16 {
                    let at = rows[l].add(k);
                    _mm512_storeu_ps(at, _mm512_add_ps(_mm512_loadu_ps(at), block[l]));
                }
            }
            k += 16;
        }
        // SAFETY: forwarded from the caller.
        unsafe { scatter_add_from::<Self>(columns, stride, k, count, rows) }
    }
}

/// Transposes an 8 x 8 block of doubles.
#[inline(always)]
unsafe fn transpose8(r: [__m512d; 8]) -> [__m512d; 8] {
    // SAFETY: as in the callers.
    unsafe {
        // Pairs of rows, then pairs of 128-bit quarters, then halves.
        let mut t = [_mm512_setzero_pd(); 8];
        for i in 0..8 {
            let (a, b) = (r[i & !1], r[i | 1]);
            t[i] = if i & 1 == 0 {
                _mm512_unpacklo_pd(a, b)
            } else {
                _mm512_unpackhi_pd(a, b)
            };
        }
        // t[2i] holds columns 0,2,4,6 of rows (2i, 2i+1); t[2i+1] holds columns 1,3,5,7.
        let mut q = [_mm512_setzero_pd(); 8];
        for i in 0..8 {
            let (pair, odd, high) = (i / 4, i & 1, (i >> 1) & 1);
            let (a, b) = (t[4 * pair + odd], t[4 * pair + 2 + odd]);
            q[i] = if high == 0 {
                _mm512_shuffle_f64x2::<0x88>(a, b)
            } else {
                _mm512_shuffle_f64x2::<0xdd>(a, b)
            };
        }
        // q[4p + 2h + o]: rows 4p..4p+4; quarters (h, h+2) = columns (2h+o, 2h+4+o).
        let mut out = [_mm512_setzero_pd(); 8];
        for c in 0..8 {
            let (odd, high, upper) = (c & 1, (c >> 1) & 1, c >> 2);
            let (a, b) = (q[2 * high + odd], q[4 + 2 * high + odd]);
            out[c] = if upper == 0 {
                _mm512_shuffle_f64x2::<0x88>(a, b)
            } else {
                _mm512_shuffle_f64x2::<0xdd>(a, b)
            };
        }
        out
    }
}

/// Transposes a 16 x 16 block of singles.
#[inline(always)]
unsafe fn transpose16(r: [__m512; 16]) -> [__m512; 16] {
    // SAFETY: as in the callers.
    unsafe {
        let mut t = [_mm512_setzero_ps(); 16];
        for i in 0..16 {
            let (a, b) = (r[i & !1], r[i | 1]);
            t[i] = if i & 1 == 0 {
                _mm512_unpacklo_ps(a, b)
            } else {
                _mm512_unpackhi_ps(a, b)
            };
        }
        // Four rows in each 128-bit quarter: u[4g + c] has column c + 4*quarter of rows 4g..4g+4.
        let mut u = [_mm512_setzero_ps(); 16];
        for i in 0..16 {
            let (group, c) = (i / 4, i & 3);
            let (a, b) = (
                _mm512_castps_pd(t[4 * group + (c >> 1)]),
                _mm512_castps_pd(t[4 * group + 2 + (c >> 1)]),
            );
            u[i] = _mm512_castpd_ps(if c & 1 == 0 {
                _mm512_unpacklo_pd(a, b)
            } else {
                _mm512_unpackhi_pd(a, b)
            });
        }
        let mut v = [_mm512_setzero_ps(); 16];
        for i in 0..16 {
            let (half, c, high) = (i / 8, i & 3, (i >> 2) & 1);
            let (a, b) = (u[8 * half + c], u[8 * half + 4 + c]);
            v[i] = if high == 0 {
                _mm512_shuffle_f32x4::<0x88>(a, b)
            } else {
                _mm512_shuffle_f32x4::<0xdd>(a, b)
            };
        }
        // v[8h + 4q + c]: rows 8h..8h+8, quarters (q, q+2) = columns (4q+c, 4q+8+c).
        let mut out = [_mm512_setzero_ps(); 16];
        for column in 0..16 {
            let (c, high, upper) = (column & 3, (column >> 2) & 1, column >> 3);
            let (a, b) = (v[4 * high + c], v[8 + 4 * high + c]);
            out[column] = if upper == 0 {
                _mm512_shuffle_f32x4::<0x88>(a, b)
            } else {
                _mm512_shuffle_f32x4::<0xdd>(a, b)
            };
        }
        out
    }
}
