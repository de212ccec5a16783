//! What is summed: in space or in the plane.
//!
//! The library has a sum for each of the two, with the same steps and different kernels, outputs and point sets.
//! [`Problem`] is what differs; every command is written once over it.

mod name;
mod plane;
mod space;

pub use name::{Named, named, names};
pub use plane::Plane;
pub use space::Space;

use crate::failure::Failure;
use farfield::simd::Real;
use farfield::{Geometry, Method, Options, Precision, SumOf};
use std::ops::Range;

/// A kernel with its parameters and the outputs asked for, between points of `D` coordinates.
pub trait Problem<const D: usize> {
    /// Space or the plane.
    type Geometry: Geometry<Output = Self::Output>;
    /// What can be computed.
    type Output: Named;
    /// Kinds of point sets.
    type Set: Named;

    /// The point sets there are, the usual one first.
    const SETS: &'static [Self::Set];

    /// The kernel and its parameters, for reports.
    fn facts(&self) -> Facts;

    /// What to compute.
    fn outputs(&self) -> &[Self::Output];

    /// Numbers of strength for each source.
    fn strength_components(&self) -> usize;

    /// A part of the points of a set.
    fn points<T: Real>(set: Self::Set, part: Range<usize>, seed: u64) -> Vec<[T; D]>;

    /// Refuses a core size or softening length that a precision does not hold.
    fn check_size<T: Real>(&self) -> Result<(), Failure>;

    /// The sum, to be planned.
    fn sum<'a, T: Precision>(&self, data: &Data<'a, T, D>, options: &Options) -> SumOf<'a, T, Self::Geometry>;

    /// Whether theta means anything to a method.
    fn uses_theta(&self, method: Method) -> bool;
}

/// Points, as the library wants them, and how many vectors of strengths they have.
#[derive(Debug, Clone, Copy)]
pub struct Data<'a, T, const D: usize> {
    pub sources: &'a [[T; D]],
    /// `None` if the targets are the sources.
    pub targets: Option<&'a [[T; D]]>,
    pub vectors: usize,
}

impl<T, const D: usize> Data<'_, T, D> {
    /// No points at all: to have options judged before there are any.
    pub fn nothing(vectors: usize) -> Self {
        Self {
            sources: &[],
            targets: None,
            vectors,
        }
    }
}

/// How many points there are, and vectors of strengths.
#[derive(Debug, Clone, Copy)]
pub struct Counts {
    pub sources: usize,
    /// `None` if the targets are the sources.
    pub targets: Option<usize>,
    pub vectors: usize,
}

/// The kernel and its parameters by name.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The name on the command line.
    pub kernel: &'static str,
    /// For reading, with its parameters.
    pub title: String,
    pub core: Option<&'static str>,
    pub core_size: Option<f64>,
    pub softening: Option<f64>,
    pub gravitational_constant: Option<f64>,
    /// Whether strengths are complex, where they can be.
    pub complex: Option<bool>,
}

/// A size must stay finite in the precision of the sum.
fn check_size<T: Real>(option: &str, size: Option<f64>) -> Result<(), Failure> {
    check_precision::<T>(size.as_slice(), |_| option.to_owned())
}

/// Finite numbers must stay finite in the precision asked for; `place` says where a number comes from.
pub fn check_precision<T: Real>(values: &[f64], place: impl Fn(usize) -> String) -> Result<(), Failure> {
    match values
        .iter()
        .position(|value| value.is_finite() && value.abs() > T::LARGEST)
    {
        None => Ok(()),
        Some(at) => Err(Failure::Data(format!(
            "{} is {:e}, beyond {:e}, the largest number in {}: use --precision f64",
            place(at),
            values[at],
            T::LARGEST,
            T::NAME
        ))),
    }
}
