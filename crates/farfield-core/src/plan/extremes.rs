//! The range of many values and whether all are finite, in one pass.

use crate::parallel::reduce_pieces;
use crate::simd::Real;
use std::ops::Range;

/// The number of values per block: a multiple of the dimensions of space and plane, so that a lane sees one axis.
const LANES: usize = 12;

/// The number of values that one thread takes.
const PIECE: usize = LANES << 12;

/// The extremes of the values of each lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extremes<T> {
    low: [T; LANES],
    high: [T; LANES],
    /// The smallest magnitude other than zero.
    smallest: [T; LANES],
    /// The sum of zero times each value: nonzero if one is infinite or NaN.
    nothing: [T; LANES],
}

impl<T: Real> Extremes<T> {
    /// Surveys all values, with all threads if there are many.
    pub fn of(values: &[T]) -> Self {
        let of_piece = |piece: Range<usize>| Self::of_piece(&values[piece]);
        reduce_pieces(values.len(), PIECE, of_piece, Self::join).unwrap_or_else(|| Self::of_piece(&[]))
    }

    fn of_piece(values: &[T]) -> Self {
        let infinity = T::from_f64(f64::INFINITY);
        let mut found = Self {
            low: [infinity; LANES],
            high: [-infinity; LANES],
            smallest: [infinity; LANES],
            nothing: [T::ZERO; LANES],
        };
        let (blocks, rest) = values.as_chunks::<LANES>();
        for block in blocks {
            for lane in 0..LANES {
                found.add(lane, block[lane], infinity);
            }
        }
        for (lane, value) in rest.iter().enumerate() {
            found.add(lane, *value, infinity);
        }
        found
    }

    #[inline(always)]
    fn add(&mut self, lane: usize, value: T, infinity: T) {
        let magnitude = if value > T::ZERO { value } else { -value };
        let magnitude = if magnitude > T::ZERO { magnitude } else { infinity };
        self.low[lane] = least(value, self.low[lane]);
        self.high[lane] = greatest(value, self.high[lane]);
        self.smallest[lane] = least(magnitude, self.smallest[lane]);
        self.nothing[lane] += value * T::ZERO;
    }

    fn join(self, other: Self) -> Self {
        Self {
            low: std::array::from_fn(|lane| least(self.low[lane], other.low[lane])),
            high: std::array::from_fn(|lane| greatest(self.high[lane], other.high[lane])),
            smallest: std::array::from_fn(|lane| least(self.smallest[lane], other.smallest[lane])),
            nothing: std::array::from_fn(|lane| self.nothing[lane] + other.nothing[lane]),
        }
    }

    /// Whether all values are finite.
    pub fn are_finite(&self) -> bool {
        self.nothing.iter().all(|nothing| *nothing == T::ZERO)
    }

    /// The range of the values of one axis, if `axes` axes alternate.
    pub fn of_axis(&self, axis: usize, axes: usize) -> (f64, f64) {
        let lanes = (axis..LANES).step_by(axes);
        lanes.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), lane| {
            (low.min(self.low[lane].to_f64()), high.max(self.high[lane].to_f64()))
        })
    }

    /// The smallest magnitude other than zero.
    pub fn smallest(&self) -> f64 {
        self.smallest.iter().map(|c| c.to_f64()).fold(f64::INFINITY, f64::min)
    }

    /// The largest magnitude of the finite values.
    pub fn largest(&self) -> f64 {
        let (low, high) = self.of_axis(0, 1);
        high.max(-low).max(0.0)
    }
}

/// The smaller value; `b` if one is NaN. It compiles to one instruction, unlike `f64::min`.
#[inline(always)]
fn least<T: Real>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

#[inline(always)]
fn greatest<T: Real>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Real>() {
        for count in [1, 2, 11, 12, 13, 100, 3 * PIECE + 7] {
            let number = |k: usize| ((k * 7919) % 1013) as f64 - 506.0;
            let values: Vec<T> = (0..count).map(|k| T::from_f64(number(k))).collect();
            let found = Extremes::of(&values);
            assert!(found.are_finite());
            let all = || values.iter().map(|value| value.to_f64());
            assert_eq!(found.largest(), all().map(f64::abs).fold(0.0, f64::max), "{count}");
            let not_zero = || all().map(f64::abs).filter(|size| *size > 0.0);
            assert_eq!(found.smallest(), not_zero().fold(f64::INFINITY, f64::min), "{count}");
            for axis in 0..3 {
                let of_axis = || all().skip(axis).step_by(3);
                let expected = (
                    of_axis().fold(f64::INFINITY, f64::min),
                    of_axis().fold(f64::NEG_INFINITY, f64::max),
                );
                assert_eq!(found.of_axis(axis, 3), expected, "{count}, axis {axis}");
            }
        }
    }

    #[test]
    fn every_value_counts_for_any_number_of_values() {
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn one_value_that_is_not_finite_is_found_anywhere() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for at in [0, 5, 13, 50, 2 * PIECE + 1] {
                let mut values = vec![1.0f32; 2 * PIECE + 2];
                values[at] = bad;
                assert!(!Extremes::of(&values).are_finite(), "{bad} at {at}");
            }
        }
    }

    #[test]
    fn no_values_have_neutral_extremes() {
        let none = Extremes::<f64>::of(&[]);
        assert!(none.are_finite());
        assert_eq!((none.largest(), none.smallest()), (0.0, f64::INFINITY));
    }
}
