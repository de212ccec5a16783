//! Space and plane on the command line: point sets, and kernel parameters by name.

mod name;
mod plane;
mod space;

pub use name::{Named, named, names};

use crate::failure::Failure;
use farfield::Request;
use farfield::names::FromWords;
use farfield::simd::Real;
use std::ops::Range;

/// A geometry with points of `D` coordinates. Commands are generic over it.
pub trait Problem<const D: usize>: FromWords {
    /// Kinds of point sets.
    type Set: Named;

    /// The available point sets, the default one first.
    const SETS: &'static [Self::Set];

    /// The points of a set with indices `part`.
    fn generate<T: Real>(set: Self::Set, part: Range<usize>, seed: u64) -> Vec<[T; D]>;

    /// The kernel and its parameters, for reports; `size` is the core size or softening length.
    fn facts(request: &Request<Self>, size: Option<f64>) -> Facts;

    /// Whether theta has an effect on a method.
    fn uses_theta(method: &str) -> bool;
}

/// The kernel and its parameters by name.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The name on the command line.
    pub kernel: &'static str,
    /// A title with the parameters.
    pub title: String,
    pub core: Option<&'static str>,
    pub core_size: Option<f64>,
    pub softening: Option<f64>,
    pub gravitational_constant: Option<f64>,
    /// Whether strengths are complex; `None` for kernels without complex strengths.
    pub complex: Option<bool>,
}

/// Checks that finite numbers stay finite in precision `T`. `place` names the origin of a number.
pub fn check_precision<T: Real>(values: &[f64], place: impl Fn(usize) -> String) -> Result<(), Failure> {
    match values
        .iter()
        .position(|value| value.is_finite() && value.abs() > T::LARGEST)
    {
        None => Ok(()),
        Some(at) => Err(Failure::Data(format!(
            "{} is {:e}, more than {:e}, the largest number in {}: use --precision f64",
            place(at),
            values[at],
            T::LARGEST,
            T::NAME
        ))),
    }
}
