//! From the coarser to the finer level, and the details that this leaves.

use super::patch::{Patch, Row};
use super::{PREDICTION_REACH, Wavelet};
use farfield::simd::Real;

const NODE: [f64; 1] = [1.0];
const BETWEEN_NODES: [f64; 4] = [-1.0 / 16.0, 9.0 / 16.0, 9.0 / 16.0, -1.0 / 16.0];
const LOWER_HALF: [f64; 5] = [-3.0 / 128.0, 22.0 / 128.0, 1.0, -22.0 / 128.0, 3.0 / 128.0];
const UPPER_HALF: [f64; 5] = [3.0 / 128.0, -22.0 / 128.0, 1.0, 22.0 / 128.0, -3.0 / 128.0];

/// Zones of a block: three along each axis.
pub(crate) const ZONES: usize = 27;

/// The coarse points that predicting the fine points `low..low + size` along an axis looks at: the first of them and
/// their number.
pub(crate) fn coarse_extent(low: i64, size: usize) -> (i64, usize) {
    let reach = PREDICTION_REACH as i64;
    let first = low.div_euclid(2) - reach;
    let last = (low + size as i64 - 1).div_euclid(2) + reach;
    (first, (last - first + 1) as usize)
}

impl Wavelet {
    /// The fine numbers at a box of points; `coarse` must hold the [`coarse_extent`] of it.
    pub(crate) fn predict<T: Real>(self, coarse: &Patch<T>, low: [i64; 3], size: [usize; 3]) -> Patch<T> {
        let along = |patch: &Patch<T>, axis: usize| {
            let rows: Vec<Row> = (low[axis]..low[axis] + size[axis] as i64)
                .map(|fine| self.prediction_row(fine, coarse.low[axis]))
                .collect();
            patch.along(axis, low[axis], &rows)
        };
        // z first: while the patch is coarse in x, lines along z are the cheapest.
        along(&along(&along(coarse, 2), 1), 0)
    }

    fn prediction_row(self, fine: i64, coarse_low: i64) -> Row<'static> {
        let (below, odd) = (fine.div_euclid(2) - coarse_low, fine.rem_euclid(2) == 1);
        let (first, weights): (i64, &[f64]) = match (self, odd) {
            (Wavelet::Interpolating4, false) => (below, &NODE),
            (Wavelet::Interpolating4, true) => (below - 1, &BETWEEN_NODES),
            (Wavelet::AverageInterpolating5, false) => (below - 2, &LOWER_HALF),
            (Wavelet::AverageInterpolating5, true) => (below - 2, &UPPER_HALF),
        };
        Row {
            start: first as usize,
            weights,
        }
    }

    /// The largest details of the box `low..low + size`, whose corners are even, zone by zone: along each axis the first
    /// `rim` points, those between, and the last `rim`; x runs fastest. `fine` holds the box and the four points around
    /// it that its prediction looks at.
    pub(crate) fn largest_details<T: Real>(
        self,
        fine: &Patch<T>,
        low: [i64; 3],
        size: [usize; 3],
        rim: usize,
    ) -> [f64; ZONES] {
        let extents = [0, 1, 2].map(|axis| coarse_extent(low[axis], size[axis]));
        let coarse = self.restrict(fine, extents.map(|e| e.0), extents.map(|e| e.1));
        let predicted = self.predict(&coarse, low, size);
        let zone = |axis: usize, c: usize| usize::from(c >= rim) + usize::from(c + rim >= size[axis]);
        let mut largest = [0.0f64; ZONES];
        for z in 0..size[2] {
            for y in 0..size[1] {
                let at = fine.index([low[0], low[1] + y as i64, low[2] + z as i64]);
                let line = &predicted.values[(z * size[1] + y) * size[0]..][..size[0]];
                let zones = 3 * (zone(1, y) + 3 * zone(2, z));
                for (x, (f, p)) in fine.values[at..].iter().zip(line).enumerate() {
                    // A NaN must not be lost, so no `max`.
                    let detail = (*f - *p).to_f64().abs();
                    let largest = &mut largest[zones + zone(0, x)];
                    if detail > *largest || detail.is_nan() {
                        *largest = detail;
                    }
                }
            }
        }
        largest
    }
}
