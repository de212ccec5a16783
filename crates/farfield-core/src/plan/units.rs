//! Units in which no kernel overflows or underflows.
//!
//! Kernels square distances and take powers of their inverses up to the seventh. Lengths of 1e300, or of 1e20 in single
//! precision, would give infinities or zeros although the sum itself is an ordinary number. So if the extent of the
//! points is too large or too small, the plan is made for points multiplied by a power of two; strengths and the
//! gravitational constant likewise. Such factors are exact: if nothing overflows, results keep every bit. Results are
//! scaled back at the end, and a result that does not fit the precision is an error ([`super::Error::Overflow`]).

use super::extremes::Extremes;
use crate::kernel::{Form, Kernel, Output, Sizes};
use crate::simd::Real;
use rayon::prelude::*;

/// Powers of two between which a precision computes every kernel.
pub(crate) struct Comfort {
    /// Points with an extent in `2^-extent..=2^extent` need no other unit.
    extent: i32,
    /// Strengths and constants in `2^-strength..=2^strength` need no other unit.
    strength: i32,
    /// Distinct points, in units of the extent, are at least two to this power apart.
    pub least_distance: i32,
    /// Core sizes, in units of the extent, are at most two to this power.
    pub largest_size: i32,
    /// The number of binary digits of the mantissa.
    pub digits: i32,
}

impl Comfort {
    pub fn of<T: Real>() -> Self {
        if T::EPSILON > 1e-10 {
            Self {
                extent: 8,
                strength: 24,
                least_distance: -60,
                largest_size: 16,
                digits: 24,
            }
        } else {
            Self {
                // Squares of distances fit single precision as well, because some SIMD levels estimate roots there.
                extent: 60,
                strength: 200,
                least_distance: -500,
                largest_size: 100,
                digits: 53,
            }
        }
    }

    /// The exponent of the unit for `size`: zero if it lies between `2^-most` and `2^most`.
    fn exponent(size: f64, most: i32) -> i32 {
        if size == 0.0 {
            return 0;
        }
        let exponent = size.log2().floor() as i32;
        if exponent.abs() > most { exponent } else { 0 }
    }
}

/// The units of a plan, as exponents of two; zero is the caller's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Units {
    length: i32,
    constant: i32,
}

impl Units {
    /// Units for points with this extent.
    pub fn new<T: Real>(extent: f64, kernel: Kernel) -> Self {
        let comfort = Comfort::of::<T>();
        let constant = kernel.description().constant;
        let constant = constant.map_or(0, |constant| Comfort::exponent(constant.abs(), comfort.strength));
        Self {
            length: Comfort::exponent(extent, comfort.extent),
            constant,
        }
    }

    /// Whether these are the caller's units.
    pub fn are_the_callers(self) -> bool {
        self == Self::default()
    }

    /// The unit of strengths whose largest magnitude is `largest`.
    pub fn of_strengths<T: Real>(largest: f64) -> i32 {
        Comfort::exponent(largest, Comfort::of::<T>().strength)
    }

    /// The unit of a component of a strength, if strengths have the unit `strengths`.
    pub fn of_component(self, form: Form, component: usize, strengths: i32) -> i32 {
        strengths + form.length_power(component) * self.length
    }

    /// Whether strengths are unchanged by these units, apart from their own unit.
    pub fn keep_strengths(self, form: Form) -> bool {
        self.length == 0 || form.source_derivatives() == 0
    }

    /// Scales strengths to these units and to their own unit, which is returned.
    pub fn scale_strengths<T: Real>(self, form: Form, strengths: &mut [T]) -> i32 {
        let components = form.strengths();
        if !self.keep_strengths(form) {
            for (k, strength) in strengths.iter_mut().enumerate() {
                *strength = times_two_to(*strength, -self.of_component(form, k % components, 0));
            }
        }
        let unit = Self::of_strengths::<T>(largest_magnitude(strengths).unwrap_or(0.0));
        multiply_by_two_to(strengths, -unit);
        unit
    }

    /// Points in these units.
    pub fn points<T: Real>(self, points: &[[T; 3]]) -> Vec<[T; 3]> {
        points
            .par_iter()
            .map(|point| point.map(|c| times_two_to(c, -self.length)))
            .collect()
    }

    /// A length in these units.
    pub fn length<T: Real>(self, length: T) -> T {
        times_two_to(length, -self.length)
    }

    /// The unit of length, as an exponent of two.
    pub fn length_exponent(self) -> i32 {
        self.length
    }

    /// Core sizes in these units.
    pub fn sizes<T: Real>(self, sizes: &Sizes<T>) -> Sizes<T> {
        match sizes {
            Sizes::None => Sizes::None,
            Sizes::Global(size) => Sizes::Global(self.length(*size)),
            Sizes::PerSource(sizes) => Sizes::PerSource(sizes.iter().map(|size| self.length(*size)).collect()),
        }
    }

    /// The kernel in these units.
    pub fn kernel(self, kernel: Kernel) -> Kernel {
        match kernel.description().constant {
            Some(constant) => kernel.with_constant(times_two_to(constant, -self.constant)),
            None => kernel,
        }
    }

    /// The unit of an output: every output is a constant times a strength times a length to a negative power.
    pub fn of_output(self, output: Output, strengths: i32) -> i32 {
        self.constant + strengths - (1 + output.derivatives() as i32) * self.length
    }
}

/// `value * 2^exponent`, exact unless the result overflows or underflows.
pub(crate) fn times_two_to<T: Real>(mut value: T, mut exponent: i32) -> T {
    let most = if T::EPSILON > 1e-10 { 120 } else { 1000 };
    while exponent != 0 {
        let step = exponent.clamp(-most, most);
        value = value * T::from_f64(2f64.powi(step));
        exponent -= step;
    }
    value
}

/// Multiplies all values with `2^exponent`.
pub(crate) fn multiply_by_two_to<T: Real>(values: &mut [T], exponent: i32) {
    if exponent != 0 {
        values
            .par_iter_mut()
            .with_min_len(4096)
            .for_each(|value| *value = times_two_to(*value, exponent));
    }
}

/// The largest magnitude among the values, or the index of the first that is not finite.
pub(crate) fn largest_magnitude<T: Real>(values: &[T]) -> Result<f64, usize> {
    let found = Extremes::of(values);
    if found.are_finite() {
        return Ok(found.largest());
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(index),
        None => Ok(found.largest()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact_over_the_whole_range() {
        assert_eq!(times_two_to(3.0f64, 1020), 3.0 * 2f64.powi(1020));
        assert_eq!(times_two_to(f64::from_bits(1), 1074), 1.0);
        assert_eq!(times_two_to(1.0f64, 5000), f64::INFINITY);
        assert_eq!(times_two_to(1.5f32, -140), 1.5 * 2f32.powi(-100) * 2f32.powi(-40));
        assert_eq!(times_two_to(-5.0f32, 0), -5.0);
    }

    #[test]
    fn a_nan_is_never_overlooked() {
        assert_eq!(largest_magnitude(&[1.0, -3.0, 2.0]), Ok(3.0));
        assert_eq!(largest_magnitude::<f32>(&[]), Ok(0.0));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for at in [0, 1, 70_000] {
                let mut values = vec![1.0; 100_000];
                values[at] = bad;
                values[99_000] = f64::INFINITY;
                assert_eq!(largest_magnitude(&values), Err(at));
            }
        }
    }

    #[test]
    fn usual_numbers_keep_their_units() {
        for extent in [0.0, 1e-10, 1.0, 1e15] {
            assert!(Units::new::<f64>(extent, Kernel::gravity(6.7e-11)).are_the_callers());
        }
        assert_eq!(
            Units::new::<f64>(2f64.powi(300), Kernel::Coulomb).length(2f64.powi(301)),
            2.0
        );
        let tiny = Units::new::<f32>(1.5e-30, Kernel::Coulomb);
        assert!((1.0..2.0).contains(&tiny.length(1.5e-30f32)));
        assert_eq!(Units::of_strengths::<f64>(1.0), 0);
        assert_eq!(Units::of_strengths::<f32>(2f64.powi(90)), 90);
    }
}
