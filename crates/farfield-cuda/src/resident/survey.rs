//! The extremes of whole arrays, found in one pass.

use super::{Array, Resident};
use crate::device::{Blocks, In, Out, Precision, device_struct, parameters};
use crate::error::Error;
use cudarc::driver::ValidAsZeroBits;

device_struct! {
    /// The extremes of an array.
    #[derive(Default, PartialEq, Eq)]
    pub(super) struct Survey = "Survey" { high: [u64; 3], low: [u64; 3], not_finite: u64 }
}

// SAFETY: zero bits are valid numbers.
unsafe impl ValidAsZeroBits for Survey {}

device_struct! {
    /// The squared length of the longest vector, and its index, the last of several equal ones.
    #[derive(Default, PartialEq, Eq)]
    pub(super) struct Longest = "Longest" { square: u64, index: u64 }
}

// SAFETY: zero bits are valid numbers.
unsafe impl ValidAsZeroBits for Longest {}

parameters! {
    /// Parameters of `survey`.
    pub(super) struct TakeSurvey<T> { values: In<T>, count: u32, found: Out<Survey> }

    /// Parameters of `longest_square` and `longest_index`.
    pub(super) struct FindLongest<T> { values: In<T>, components: u32, count: u32, longest: Out<Longest> }
}

impl Survey {
    /// The index of the first value that is not finite.
    pub fn not_finite(&self) -> Option<usize> {
        (self.not_finite != 0).then_some(!self.not_finite as usize)
    }

    /// The largest magnitude of a finite value.
    pub fn largest(&self) -> f64 {
        let ends = self.high.iter().chain(&self.low).filter(|end| **end != 0);
        ends.map(|end| from_ordered(*end)).fold(0.0, f64::max)
    }

    /// The survey of two sets of points together.
    pub fn join(&self, other: &Self) -> Self {
        Self {
            high: std::array::from_fn(|axis| self.high[axis].max(other.high[axis])),
            low: std::array::from_fn(|axis| self.low[axis].max(other.low[axis])),
            not_finite: self.not_finite.max(other.not_finite),
        }
    }

    /// The corners of the box around points; zeros if there are no points.
    pub fn corners(&self) -> [[f64; 3]; 2] {
        let end = |ends: &[u64; 3], axis: usize| if ends[axis] == 0 { 0.0 } else { from_ordered(ends[axis]) };
        [
            std::array::from_fn(|axis| -end(&self.low, axis)),
            std::array::from_fn(|axis| end(&self.high, axis)),
        ]
    }

    /// The largest extent along an axis.
    pub fn extent(&self) -> f64 {
        let along = |axis: usize| from_ordered(self.high[axis]) + from_ordered(self.low[axis]);
        let axes = (0..3).filter(|axis| self.high[*axis] != 0);
        axes.map(along).fold(0.0, f64::max).min(f64::MAX)
    }
}

/// The number whose integer key in `ordered` of `kernels/sort.cuh` is `bits`.
fn from_ordered(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits ^ 1 << 63 } else { !bits })
}

impl<T: Precision> Resident<T> {
    /// Surveys each array.
    pub(super) fn survey(&self, arrays: &[&Array<T>]) -> Result<Vec<Survey>, Error> {
        let stream = self.buffers.stream();
        let mut found = self.buffers.zeros::<Survey>(arrays.len())?;
        for (k, array) in arrays.iter().enumerate().filter(|(_, array)| !array.is_empty()) {
            let (values, count) = (self.own(array)?, array.len() as u32);
            let mut found = found.slice_mut(k..);
            self.kernels.survey.launch(
                stream,
                self.blocks(count.div_ceil(3)),
                &TakeSurvey {
                    values: In::of(values),
                    count,
                    found: Out::of(&mut found),
                },
            )?;
        }
        let mut surveys = vec![Survey::default(); arrays.len()];
        self.buffers.read(&found, &mut surveys)?;
        Ok(surveys)
    }

    /// Whether all values of these arrays are finite.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device failed.
    pub fn all_finite(&self, arrays: &[&Array<T>]) -> Result<bool, Error> {
        let surveys = self.survey(arrays)?;
        Ok(surveys.iter().all(|survey| survey.not_finite().is_none()))
    }

    /// The length of the longest vector of `components` components, and its index, the last of several equal ones.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device failed.
    pub fn longest(&self, array: &Array<T>, components: usize) -> Result<(f64, usize), Error> {
        let (values, count) = (self.own(array)?, (array.len() / components.max(1)) as u32);
        if count == 0 {
            return Ok((0.0, 0));
        }
        let (stream, components) = (self.buffers.stream(), components as u32);
        let mut found = self.buffers.zeros::<Longest>(1)?;
        let parameters = FindLongest {
            values: In::of(values),
            components,
            count,
            longest: Out::of(&mut found),
        };
        self.kernels
            .longest_square
            .launch(stream, self.blocks(count), &parameters)?;
        self.kernels
            .longest_index
            .launch(stream, self.blocks(count), &parameters)?;
        let mut longest = [Longest::default()];
        self.buffers.read(&found, &mut longest)?;
        let [longest] = longest;
        Ok((from_ordered(longest.square).sqrt(), longest.index as usize))
    }

    fn blocks(&self, threads: u32) -> Blocks {
        let most = 8 * self.buffers.device().properties().multiprocessors as u32;
        Blocks::row(threads.div_ceil(256).clamp(1, most), 256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The integer key of `ordered` in `kernels/sort.cuh`.
    fn ordered(x: f64) -> u64 {
        let bits = x.to_bits();
        if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
    }

    fn of(points: &[[f64; 3]]) -> Survey {
        let mut survey = Survey::default();
        for point in points {
            for axis in 0..3 {
                survey.high[axis] = survey.high[axis].max(ordered(point[axis]));
                survey.low[axis] = survey.low[axis].max(ordered(-point[axis]));
            }
        }
        survey
    }

    #[test]
    fn extents_and_magnitudes_follow_from_the_extremes() {
        let survey = of(&[[-3.0, 0.5, 1.0], [-1.0, 0.25, 1.0]]);
        assert_eq!((survey.extent(), survey.largest()), (2.0, 3.0));
        assert_eq!(survey.corners(), [[-3.0, 0.25, 1.0], [-1.0, 0.5, 1.0]]);
        assert_eq!(Survey::default().corners(), [[0.0; 3]; 2]);
        let both = survey.join(&of(&[[0.0, 9.5, 0.0]]));
        assert_eq!((both.extent(), both.largest()), (9.25, 9.5));
        assert_eq!((Survey::default().extent(), Survey::default().largest()), (0.0, 0.0));
        // Values without a third component leave that axis unchanged.
        let mut numbers = of(&[[2.0, -5.0, 0.0]]);
        (numbers.high[2], numbers.low[2]) = (0, 0);
        assert_eq!(numbers.largest(), 5.0);
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_named() {
        let at = |index: u64| Survey {
            not_finite: !index,
            ..Survey::default()
        };
        let survey = at(12).join(&at(7));
        assert_eq!(survey.not_finite(), Some(7));
        assert_eq!(Survey::default().not_finite(), None);
    }
}
