//! Compression: restriction plus a share of the details, so that moments are preserved.

use super::Wavelet;
use super::patch::{Patch, Row};
use crate::forest::BLOCK_SIDE;
use farfield::simd::Real;

/// How many fine points beyond the joined block its compression reads.
pub(crate) const LIFT_MARGIN: usize = 6;

/// Fine points along a side of the joined block with its margin.
pub(crate) const LIFT_SIDE: usize = 2 * BLOCK_SIDE + 2 * LIFT_MARGIN;

impl Wavelet {
    /// The values of the block with lower corner `low`, from those of its children with [`LIFT_MARGIN`] points around
    /// them.
    pub(crate) fn compress<T: Real>(self, fine: &Patch<T>, low: [i64; 3]) -> Patch<T> {
        let rows = match self {
            Wavelet::Interpolating4 => node_rows(),
            Wavelet::AverageInterpolating5 => average_rows(),
        };
        let rows = rows.each_ref().map(|weights| Row { start: 0, weights });
        let patch = fine.along(0, low[0], &rows);
        patch.along(1, low[1], &rows).along(2, low[2], &rows)
    }
}

/// Weights of the fine points along a side, including the margin.
type Weights = [f64; LIFT_SIDE];

/// Adds `factor` to the weight of the fine point `at`, counted from the joined block's corner.
fn add(weights: &mut Weights, at: i64, factor: f64) {
    weights[(at + LIFT_MARGIN as i64) as usize] += factor;
}

fn node_rows() -> [Weights; BLOCK_SIDE] {
    std::array::from_fn(|coarse| {
        let (i, mut weights) = (coarse as i64, [0.0; LIFT_SIDE]);
        add(&mut weights, 2 * i, 1.0);
        for (k, share) in (-2..2).zip([-1.0, 9.0, 9.0, -1.0]) {
            // The detail of the odd fine point that follows coarse point i + k.
            let share = share / 32.0;
            add(&mut weights, 2 * (i + k) + 1, share);
            for (j, weight) in (-1..3).zip([-1.0, 9.0, 9.0, -1.0]) {
                add(&mut weights, 2 * (i + k + j), -share * weight / 16.0);
            }
        }
        weights
    })
}

fn average_rows() -> [Weights; BLOCK_SIDE] {
    let last = BLOCK_SIDE as i64 - 1;
    let mut rows = [[0.0; LIFT_SIDE]; BLOCK_SIDE];
    for i in 0..=last {
        add(&mut rows[i as usize], 2 * i, 0.5);
        add(&mut rows[i as usize], 2 * i + 1, 0.5);
        // The share of the detail of cell i goes from one cell to another of the same block.
        let (from, to) = ((i - 1).max(0), (i + 1).min(last));
        let share = 0.125 / (to - from) as f64;
        for (cell, share) in [(from, -share), (to, share)] {
            let row = &mut rows[cell as usize];
            add(row, 2 * i, -share);
            add(row, 2 * i + 1, share);
            for (k, weight) in [(-2, 3.0), (-1, -22.0), (1, 22.0), (2, -3.0)] {
                // Half of the predicted difference for each of the two cells that average to the coarse one.
                add(row, 2 * (i + k), -share * weight / 128.0);
                add(row, 2 * (i + k) + 1, -share * weight / 128.0);
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random values at fine points well inside, zero elsewhere.
    fn bump(point: [i64; 3]) -> f64 {
        let inside = point.iter().all(|c| (10..22).contains(c));
        let noise = (point[0] * 7919 + point[1] * 104_729 + point[2] * 1_299_709) % 13;
        if inside { noise as f64 - 5.0 } else { 0.0 }
    }

    #[test]
    fn lifting_preserves_the_promised_moments() {
        for wavelet in Wavelet::ALL {
            let low = [-(LIFT_MARGIN as i64); 3];
            let mut fine = Patch::<f64>::zeros(low, [LIFT_SIDE; 3]);
            for z in 0..32 {
                for y in 0..32 {
                    for x in 0..32 {
                        let at = fine.index([x, y, z]);
                        fine.values[at] = bump([x, y, z]);
                    }
                }
            }
            let coarse = wavelet.compress(&fine, [0; 3]);
            let offset = wavelet.offset();
            let moment = |patch: &Patch<f64>, side: i64, h: f64, power: [i32; 3]| {
                let mut sum = 0.0;
                for z in 0..side {
                    for y in 0..side {
                        for x in 0..side {
                            let term: f64 = (0..3)
                                .map(|axis| (h * ([x, y, z][axis] as f64 + offset) - 16.0).powi(power[axis]))
                                .product();
                            sum += h * h * h * term * patch.values[patch.index([x, y, z])];
                        }
                    }
                }
                sum
            };
            let top = wavelet.moments() as i32;
            for power in (0..top * top * top).map(|k| [k % top, k / top % top, k / (top * top)]) {
                let (was, is) = (moment(&fine, 32, 1.0, power), moment(&coarse, 16, 2.0, power));
                assert!(
                    (was - is).abs() < 1e-9 * was.abs().max(1e3),
                    "{wavelet:?} {power:?}: {was} {is}"
                );
            }
        }
    }

    #[test]
    fn averages_keep_their_integral_for_any_values_around_the_block() {
        let low = [-(LIFT_MARGIN as i64); 3];
        let mut fine = Patch::<f64>::zeros(low, [LIFT_SIDE; 3]);
        for (k, value) in fine.values.iter_mut().enumerate() {
            *value = ((k * 2654435761) % 1000) as f64 / 500.0 - 1.0;
        }
        let coarse = Wavelet::AverageInterpolating5.compress(&fine, [0; 3]);
        let mut inside = 0.0;
        for k in 0..32 * 32 * 32 {
            inside += fine.values[fine.index([k % 32, k / 32 % 32, k / 1024])];
        }
        let joined: f64 = 8.0 * coarse.values.iter().sum::<f64>();
        assert!((inside - joined).abs() < 1e-9, "{inside} {joined}");
    }

    #[test]
    fn polynomials_that_are_predicted_exactly_are_compressed_exactly() {
        for wavelet in Wavelet::ALL {
            let low = [-(LIFT_MARGIN as i64); 3];
            let poly = |x: i64, h: f64| {
                let x = h * (x as f64 + wavelet.offset());
                1.0 + 0.3 * x - 0.02 * x * x + 0.001 * x * x * x
            };
            let mut fine = Patch::<f64>::zeros(low, [LIFT_SIDE; 3]);
            let mut want = Patch::<f64>::zeros([0; 3], [BLOCK_SIDE; 3]);
            for x in low[0]..low[0] + LIFT_SIDE as i64 {
                for k in 0..(LIFT_SIDE * LIFT_SIDE) as i64 {
                    let at = fine.index([x, low[1] + k % LIFT_SIDE as i64, low[2] + k / LIFT_SIDE as i64]);
                    fine.values[at] = poly(x, 1.0);
                }
            }
            for x in 0..BLOCK_SIDE as i64 {
                // A coarse average is the mean of two fine cells; a coarse node keeps its value.
                let value = match wavelet {
                    Wavelet::Interpolating4 => poly(x, 2.0),
                    Wavelet::AverageInterpolating5 => 0.5 * (poly(2 * x, 1.0) + poly(2 * x + 1, 1.0)),
                };
                for k in 0..(BLOCK_SIDE * BLOCK_SIDE) as i64 {
                    let at = want.index([x, k % BLOCK_SIDE as i64, k / BLOCK_SIDE as i64]);
                    want.values[at] = value;
                }
            }
            let coarse = wavelet.compress(&fine, [0; 3]);
            for (got, want) in coarse.values.iter().zip(&want.values) {
                assert!(
                    (got - want).abs() < 1e-12 * want.abs().max(1.0),
                    "{wavelet:?}: {got} {want}"
                );
            }
        }
    }
}
