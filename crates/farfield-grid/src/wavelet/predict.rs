//! Prediction from the coarser to the finer level, and the details it leaves.

use super::patch::Patch;
use super::{PREDICTION_REACH, Wavelet};
use farfield::simd::{Lanes, MAX_LANES, Real, SimdLevel, Vectorized, dispatch};

/// Coarse points that a fine point reads: the one below it and [`PREDICTION_REACH`] to each side.
const TAPS: usize = 2 * PREDICTION_REACH + 1;
const NODE: [f64; TAPS] = [0.0, 0.0, 1.0, 0.0, 0.0];
const BETWEEN_NODES: [f64; TAPS] = [0.0, -1.0 / 16.0, 9.0 / 16.0, 9.0 / 16.0, -1.0 / 16.0];
const LOWER_HALF: [f64; TAPS] = [-3.0 / 128.0, 22.0 / 128.0, 1.0, -22.0 / 128.0, 3.0 / 128.0];
const UPPER_HALF: [f64; TAPS] = [3.0 / 128.0, -22.0 / 128.0, 1.0, 22.0 / 128.0, -3.0 / 128.0];

/// Zones of a block: three along each axis.
pub(crate) const ZONES: usize = 27;

/// The coarse points along an axis that are needed to predict the fine points `low..low + size`: the first of them and
/// their number.
pub(crate) fn coarse_extent(low: i64, size: usize) -> (i64, usize) {
    let reach = PREDICTION_REACH as i64;
    let first = low.div_euclid(2) - reach;
    let last = (low + size as i64 - 1).div_euclid(2) + reach;
    (first, (last - first + 1) as usize)
}

/// Predicts the box `low..low + size` of a fine patch from the coarse points below it, axis by axis.
struct Predict<'a, T> {
    /// Weights for even and for odd fine points.
    weights: [[T; TAPS]; 2],
    coarse: &'a Patch<T>,
    low: [i64; 3],
    size: [usize; 3],
    fine: &'a mut Patch<T>,
    /// Scratch memory for values that are fine along z, or along z and y, and still coarse along the other axes.
    between: &'a mut Vec<T>,
}

impl<T: Real> Vectorized<T> for Predict<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let Self { low, size, coarse, .. } = self;
        let extents = [0, 1, 2].map(|axis| coarse_extent(low[axis], size[axis]));
        let count = extents.map(|extent| extent.1);
        // The first coarse point that fine point k of the box reads along an axis, and the parity that selects its
        // weights.
        let first = |axis: usize, k: usize| {
            let at = low[axis] + k as i64;
            ((at >> 1) - PREDICTION_REACH as i64 - extents[axis].0) as usize
        };
        let parity = |axis: usize, k: usize| ((low[axis] + k as i64) & 1) as usize;
        // Intermediate lines are padded to whole SIMD vectors.
        let stride = count[0].next_multiple_of(MAX_LANES);
        let planes = size[2] * count[1] * stride;
        self.between.clear();
        self.between
            .resize(planes + size[2] * size[1] * stride + MAX_LANES, T::ZERO);
        let (along_z, along_y) = self.between.split_at_mut(planes);
        let weights = [vectors::<V>(&self.weights[0]), vectors::<V>(&self.weights[1])];
        for z in 0..size[2] {
            for y in 0..count[1] {
                let at = coarse.index([extents[0].0, extents[1].0 + y as i64, extents[2].0 + first(2, z) as i64]);
                let target = &mut along_z[(z * count[1] + y) * stride..][..stride];
                let plane = coarse.size[0] * coarse.size[1];
                combine(&weights[parity(2, z)], &coarse.values[at..], plane, count[0], target);
            }
        }
        for z in 0..size[2] {
            for y in 0..size[1] {
                let at = (z * count[1] + first(1, y)) * stride;
                let target = &mut along_y[(z * size[1] + y) * stride..][..stride];
                combine(&weights[parity(1, y)], &along_z[at..], stride, count[0], target);
            }
        }
        for z in 0..size[2] {
            for y in 0..size[1] {
                let at = self.fine.index([low[0], low[1] + y as i64, low[2] + z as i64]);
                let line = &along_y[(z * size[1] + y) * stride..];
                let target = &mut self.fine.values[at..at + size[0]];
                refine_line(&weights, line, parity(0, 0), target);
            }
        }
    }
}

#[inline(always)]
fn vectors<V: Lanes>(weights: &[V::Elem; TAPS]) -> [V; TAPS] {
    let mut all = [V::zero(); TAPS];
    for k in 0..TAPS {
        all[k] = V::splat(weights[k]);
    }
    all
}

/// Sets `target[x]` to the sum of `weights[k] * lines[k * stride + x]` for `count` values, writing whole SIMD vectors.
#[inline(always)]
fn combine<V: Lanes>(weights: &[V; TAPS], lines: &[V::Elem], stride: usize, count: usize, target: &mut [V::Elem]) {
    let mut x = 0;
    while x < count {
        let last = (TAPS - 1) * stride + x;
        let whole = last + V::LANES <= lines.len();
        let mut sum = V::zero();
        for k in 0..TAPS {
            let line = &lines[k * stride + x..];
            // Only the last line may end in the middle of a vector.
            let values = match whole {
                true => V::from_slice(line),
                false => V::from_slice_partial(line, line.len().min(V::LANES), V::Elem::ZERO),
            };
            sum = weights[k].mul_add(values, sum);
        }
        sum.write_partial(&mut target[x..], V::LANES);
        x += V::LANES;
    }
}

/// Predicts a fine line from a coarse one. The first fine point reads the first [`TAPS`] coarse points; `odd` is its
/// parity.
#[inline(always)]
fn refine_line<V: Lanes>(weights: &[[V; TAPS]; 2], line: &[V::Elem], odd: usize, target: &mut [V::Elem]) {
    let zero = V::Elem::ZERO;
    let mut done = 0;
    while done < target.len() {
        // Computes even and odd fine points separately, then interleaves them.
        let first = (odd + done) / 2;
        let (mut even, mut uneven) = (V::zero(), V::zero());
        for k in 0..TAPS {
            let values = V::from_slice(&line[first + k..]);
            even = weights[0][k].mul_add(values, even);
            uneven = weights[1][k].mul_add(values, uneven);
        }
        let (mut apart, mut pairs) = ([[zero; MAX_LANES]; 2], [zero; 2 * MAX_LANES]);
        even.write_partial(&mut apart[0], V::LANES);
        uneven.write_partial(&mut apart[1], V::LANES);
        for x in 0..V::LANES {
            (pairs[2 * x], pairs[2 * x + 1]) = (apart[0][x], apart[1][x]);
        }
        let skipped = (odd + done) % 2;
        let target = &mut target[done..];
        let count = target.len().min(2 * V::LANES - skipped);
        target[..count].copy_from_slice(&pairs[skipped..skipped + count]);
        done += count;
    }
}

impl Wavelet {
    /// The predicted fine values in the box `low..low + size`; `coarse` must hold its [`coarse_extent`].
    pub(crate) fn predict<T: Real>(self, coarse: &Patch<T>, low: [i64; 3], size: [usize; 3]) -> Patch<T> {
        let mut fine = Patch::zeros(low, size);
        self.predict_into(coarse, low, size, &mut fine, &mut Vec::new());
        fine
    }

    /// Predicts the box `low..low + size` of the patch `fine`; `coarse` must hold its [`coarse_extent`]. `between` is
    /// scratch memory.
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

    /// The largest detail in each zone of the box `low..low + size`, whose corners are even. The zones along each axis
    /// are the first `rim` points, the points between, and the last `rim`; x runs fastest. `fine` holds the box and the
    /// four points on every side that its prediction needs.
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
                    // `f64::max` would drop a NaN.
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
