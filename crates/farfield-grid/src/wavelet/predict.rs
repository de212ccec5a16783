//! From the coarser to the finer level, and the details that this leaves.

use super::patch::Patch;
use super::{PREDICTION_REACH, Wavelet};
use farfield::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};

/// Coarse points that a fine one looks at: the one below it and so many to each side.
const TAPS: usize = 2 * PREDICTION_REACH + 1;
const NODE: [f64; TAPS] = [0.0, 0.0, 1.0, 0.0, 0.0];
const BETWEEN_NODES: [f64; TAPS] = [0.0, -1.0 / 16.0, 9.0 / 16.0, 9.0 / 16.0, -1.0 / 16.0];
const LOWER_HALF: [f64; TAPS] = [-3.0 / 128.0, 22.0 / 128.0, 1.0, -22.0 / 128.0, 3.0 / 128.0];
const UPPER_HALF: [f64; TAPS] = [3.0 / 128.0, -22.0 / 128.0, 1.0, 22.0 / 128.0, -3.0 / 128.0];

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

/// Sets the box `low..low + size` of a fine patch from the coarse points below it, axis by axis.
struct Predict<'a, T> {
    /// Weights of even and of odd fine points.
    weights: [[T; TAPS]; 2],
    coarse: &'a Patch<T>,
    low: [i64; 3],
    size: [usize; 3],
    fine: &'a mut Patch<T>,
    /// For what is fine along z, or along z and y, and still coarse otherwise.
    between: &'a mut Vec<T>,
}

impl<T: Real> Vectorized<T> for Predict<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let Self { low, size, coarse, .. } = self;
        let extents = [0, 1, 2].map(|axis| coarse_extent(low[axis], size[axis]));
        let count = extents.map(|extent| extent.1);
        // Of fine point k of the box along an axis: the first coarse point it looks at, and the weights.
        let first = |axis: usize, k: usize| {
            let at = low[axis] + k as i64;
            ((at >> 1) - PREDICTION_REACH as i64 - extents[axis].0) as usize
        };
        let parity = |axis: usize, k: usize| ((low[axis] + k as i64) & 1) as usize;
        let planes = size[2] * count[1] * count[0];
        self.between.clear();
        self.between.resize(planes + size[2] * size[1] * count[0], T::ZERO);
        let (along_z, along_y) = self.between.split_at_mut(planes);
        for z in 0..size[2] {
            for y in 0..count[1] {
                let at = coarse.index([extents[0].0, extents[1].0 + y as i64, extents[2].0 + first(2, z) as i64]);
                let target = &mut along_z[(z * count[1] + y) * count[0]..][..count[0]];
                let weights = &self.weights[parity(2, z)];
                combine(weights, &coarse.values[at..], coarse.size[0] * coarse.size[1], target);
            }
        }
        for z in 0..size[2] {
            for y in 0..size[1] {
                let at = (z * count[1] + first(1, y)) * count[0];
                let target = &mut along_y[(z * size[1] + y) * count[0]..][..count[0]];
                combine(&self.weights[parity(1, y)], &along_z[at..], count[0], target);
            }
        }
        for z in 0..size[2] {
            for y in 0..size[1] {
                let at = self.fine.index([low[0], low[1] + y as i64, low[2] + z as i64]);
                let line = &along_y[(z * size[1] + y) * count[0]..][..count[0]];
                let target = &mut self.fine.values[at..at + size[0]];
                refine_line(&self.weights, line, parity(0, 0), target);
            }
        }
    }
}

/// `target[x]` is the sum of `weights[k] * lines[k * stride + x]`.
#[inline(always)]
fn combine<T: Real>(weights: &[T; TAPS], lines: &[T], stride: usize, target: &mut [T]) {
    let count = target.len();
    let mut sources = [lines; TAPS];
    for k in 0..TAPS {
        sources[k] = &lines[k * stride..][..count];
    }
    // In pieces of fixed length, which become vectors: lines are seldom longer than a dozen.
    let mut at = 0;
    while at + 8 <= count {
        combine_piece::<T, 8>(weights, sources, at, target);
        at += 8;
    }
    if at + 4 <= count {
        combine_piece::<T, 4>(weights, sources, at, target);
        at += 4;
    }
    while at < count {
        combine_piece::<T, 1>(weights, sources, at, target);
        at += 1;
    }
}

#[inline(always)]
fn combine_piece<T: Real, const N: usize>(weights: &[T; TAPS], sources: [&[T]; TAPS], at: usize, target: &mut [T]) {
    let mut sum = [T::ZERO; N];
    for k in 0..TAPS {
        let source = &sources[k][at..at + N];
        for x in 0..N {
            sum[x] += weights[k] * source[x];
        }
    }
    target[at..at + N].copy_from_slice(&sum);
}

/// Sets a fine line from a coarse one, of which the first fine point sees the first [`TAPS`]; `odd` is its parity.
#[inline(always)]
fn refine_line<T: Real>(weights: &[[T; TAPS]; 2], line: &[T], odd: usize, target: &mut [T]) {
    let point = |parity: usize, at: usize| {
        let (weights, line) = (&weights[parity], &line[at..at + TAPS]);
        let mut sum = T::ZERO;
        for k in 0..TAPS {
            sum += weights[k] * line[k];
        }
        sum
    };
    let (mut at, mut x) = (0, 0);
    if odd == 1 && !target.is_empty() {
        target[0] = point(1, 0);
        (at, x) = (1, 1);
    }
    while x + 16 <= target.len() {
        let line = &line[at..at + 8 + TAPS - 1];
        let (mut even, mut odd) = ([T::ZERO; 8], [T::ZERO; 8]);
        for k in 0..TAPS {
            for i in 0..8 {
                even[i] += weights[0][k] * line[i + k];
                odd[i] += weights[1][k] * line[i + k];
            }
        }
        let target = &mut target[x..x + 16];
        for i in 0..8 {
            (target[2 * i], target[2 * i + 1]) = (even[i], odd[i]);
        }
        (at, x) = (at + 8, x + 16);
    }
    while x < target.len() {
        target[x] = point(0, at);
        if x + 1 < target.len() {
            target[x + 1] = point(1, at);
        }
        (at, x) = (at + 1, x + 2);
    }
}

impl Wavelet {
    /// The fine numbers at a box of points; `coarse` must hold the [`coarse_extent`] of it.
    pub(crate) fn predict<T: Real>(self, coarse: &Patch<T>, low: [i64; 3], size: [usize; 3]) -> Patch<T> {
        let mut fine = Patch::zeros(low, size);
        self.predict_into(coarse, low, size, &mut fine, &mut Vec::new());
        fine
    }

    /// Sets a box of points of a fine patch; `coarse` must hold the [`coarse_extent`] of it. `between` is for numbers on the
    /// way.
    pub(crate) fn predict_into<T: Real>(
        self,
        coarse: &Patch<T>,
        low: [i64; 3],
        size: [usize; 3],
        fine: &mut Patch<T>,
        between: &mut Vec<T>,
    ) {
        let weights = match self {
            Wavelet::Interpolating4 => [NODE, BETWEEN_NODES],
            Wavelet::AverageInterpolating5 => [LOWER_HALF, UPPER_HALF],
        };
        let task = Predict {
            weights: weights.map(|weights| weights.map(T::from_f64)),
            coarse,
            low,
            size,
            fine,
            between,
        };
        dispatch(SimdLevel::best(), task);
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
