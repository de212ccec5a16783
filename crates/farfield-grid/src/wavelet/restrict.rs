//! Restriction from the finer to the coarser level.

use super::Wavelet;
use super::patch::{Patch, Row};
use farfield::simd::Real;

impl Wavelet {
    /// The coarse values in the box `low..low + size`; `fine` must hold the points `2 low .. 2 (low + size)` of the
    /// finer level (for nodes, only the even ones).
    pub(crate) fn restrict<T: Real>(self, fine: &Patch<T>, low: [i64; 3], size: [usize; 3]) -> Patch<T> {
        let weights: &[f64] = match self {
            Wavelet::Interpolating4 => &[1.0],
            Wavelet::AverageInterpolating5 => &[0.5, 0.5],
        };
        let along = |patch: &Patch<T>, axis: usize| {
            let rows: Vec<Row> = (low[axis]..low[axis] + size[axis] as i64)
                .map(|coarse| Row {
                    start: (2 * coarse - fine.low[axis]) as usize,
                    weights,
                })
                .collect();
            patch.along(axis, low[axis], &rows)
        };
        along(&along(&along(fine, 0), 1), 2)
    }

    /// The value at a point `levels` levels coarser, from the cube of `2^levels` values per side that begins at
    /// `values[start]`, in an array with `side` values along x and along y.
    #[inline]
    pub(crate) fn restrict_point<T: Real>(self, values: &[T], start: usize, side: usize, levels: u32) -> T {
        match self {
            Wavelet::Interpolating4 => values[start],
            Wavelet::AverageInterpolating5 => {
                let count = 1usize << levels;
                let mut sum = T::ZERO;
                for z in 0..count {
                    for y in 0..count {
                        let line = start + (z * side + y) * side;
                        for value in &values[line..line + count] {
                            sum += *value;
                        }
                    }
                }
                sum * T::from_f64(0.125f64.powi(levels as i32))
            }
        }
    }
}
