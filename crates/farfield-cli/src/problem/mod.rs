//! What is summed: in space or in the plane.
//!
//! The library has a sum for each of the two, with the same steps and different kernels, outputs and point sets.
//! [`Problem`] is what differs; every command is written once over it.

mod executor;
mod name;
mod plane;
mod space;

pub use executor::{Executor, Processor};
/// What is wrong with a sum, or with the device it is done on.
pub use farfield_cuda::Error;
pub use name::{Named, named, names};
pub use plane::Plane;
pub use space::Space;

use crate::failure::Failure;
use farfield::plan::Parameters;
use farfield::report::Seconds;
use farfield::simd::{Real, SimdLevel};
use farfield::tuning::MachineProfile;
use farfield::{Field, Method};
use farfield_cuda::device::{Precision, Properties};
use farfield_cuda::hybrid::{Busy, Halves};

/// A kernel with its parameters and the outputs asked for, between points of `D` coordinates.
pub trait Problem<const D: usize> {
    /// What can be computed.
    type Output: Named;
    /// Kinds of point sets.
    type Set: Named;
    /// The plan, on any device.
    type Plan<T: Precision>: Planned<T, Output = Self::Output>;

    /// The point sets there are, the usual one first.
    const SETS: &'static [Self::Set];
    /// Whether CPU and GPU can share it.
    const BY_BOTH: bool;

    /// The kernel and its parameters, for reports.
    fn facts(&self) -> Facts;

    /// What to compute.
    fn outputs(&self) -> &[Self::Output];

    /// Numbers of strength for each source.
    fn strength_components(&self) -> usize;

    /// The first `n` points of a set.
    fn points<T: Real>(set: Self::Set, n: usize, seed: u64) -> Vec<[T; D]>;

    /// Refuses a core size or softening length that a precision does not hold.
    fn check_size<T: Real>(&self) -> Result<(), Failure>;

    /// Plans the sum. The strengths of `data` do not matter yet.
    fn plan<T: Precision>(&self, data: &Data<'_, T, D>, settings: &Settings) -> Result<Self::Plan<T>, Error>;

    /// The bytes that a sum over so many points takes, on the device that does it.
    fn memory_forecast<T: Precision>(&self, counts: Counts, settings: &Settings) -> u64;

    /// Whether a GPU is expected to do the sum so much sooner than the CPU, transfers included, that opening it pays.
    fn gpu_pays<T: Precision>(&self, data: &Data<'_, T, D>, settings: &Settings, gpu: &Properties) -> bool;

    /// Measures the true error of each output at random targets.
    fn verify<T: Real>(
        &self,
        data: &Data<'_, T, D>,
        field: &Field<T, Self::Output>,
        samples: usize,
        seed: u64,
    ) -> Result<Vec<OutputError>, Error>;

    /// Whether theta means anything to a method.
    fn uses_theta(&self, method: Method) -> bool;
}

/// A plan of either kind.
pub trait Planned<T: Real> {
    /// What it computes.
    type Output;

    /// Sums for these strengths.
    fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T, Self::Output>, Error>;
    /// The same, into memory that is already there.
    fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T, Self::Output>) -> Result<(), Error>;
    /// What the plan settled on.
    fn parameters(&self) -> &Parameters;
    /// The tolerance, unless the order is fixed.
    fn tolerance(&self) -> Option<f64>;
    /// What sums.
    fn processor(&self) -> Processor;
    /// Remarks on its choices.
    fn notes(&self) -> &[String];
    /// Where the time of the last evaluation went.
    fn seconds(&self) -> &Seconds;
    /// How CPU and GPU shared the last evaluation, if they did.
    fn shared(&self) -> Option<Shared> {
        None
    }
}

/// How CPU and GPU shared a sum.
#[derive(Debug, Clone)]
pub struct Shared {
    /// Who was busy when.
    pub timeline: Vec<Busy>,
    /// The GPU's share of the pairs of points.
    pub gpu_pairs: f64,
    /// Seconds that each worked, and both together took, once tree and lists were made.
    pub halves: Halves,
}

/// Points and strengths, as the library wants them.
#[derive(Debug, Clone, Copy)]
pub struct Data<'a, T, const D: usize> {
    pub sources: &'a [[T; D]],
    /// `None` if the targets are the sources.
    pub targets: Option<&'a [[T; D]]>,
    /// Vector by vector, source by source.
    pub strengths: &'a [T],
    pub vectors: usize,
}

impl<T, const D: usize> Data<'_, T, D> {
    /// No points at all: to have options judged before there are any.
    pub fn nothing(vectors: usize) -> Self {
        Self {
            sources: &[],
            targets: None,
            strengths: &[],
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

/// How to sum. Whatever is not set is the library's choice.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub tolerance: Option<f64>,
    pub method: Method,
    pub order: Option<usize>,
    pub theta: Option<f64>,
    pub leaf_capacity: Option<usize>,
    pub simd: Option<SimdLevel>,
    /// Whether evaluations do without a look at their own error.
    pub no_check: bool,
    pub profile: MachineProfile,
    pub executor: Executor,
}

/// Applies settings to one of the library's sums, which have the same methods.
macro_rules! with_settings {
    ($sum:expr, $targets:expr, $vectors:expr, $settings:expr) => {{
        let settings: &$crate::problem::Settings = $settings;
        let mut sum = $sum
            .method(settings.method)
            .vectors($vectors)
            .check_errors(!settings.no_check)
            .profile(settings.profile.clone());
        if let Some(targets) = $targets {
            sum = sum.targets(targets);
        }
        if let Some(tolerance) = settings.tolerance {
            sum = sum.tolerance(tolerance);
        }
        if let Some(order) = settings.order {
            sum = sum.order(order);
        }
        if let Some(theta) = settings.theta {
            sum = sum.theta(theta);
        }
        if let Some(capacity) = settings.leaf_capacity {
            sum = sum.leaf_capacity(capacity);
        }
        if let Some(level) = settings.simd {
            sum = sum.simd(level);
        }
        sum
    }};
}
use with_settings;

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

/// The measured error of one output.
#[derive(Debug, Clone, Copy)]
pub struct OutputError {
    pub output: &'static str,
    /// The root of the summed squared differences over that of the true values.
    pub relative_l2: f64,
    /// The largest relative difference at a target, where it is measured.
    pub maximum: Option<f64>,
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
