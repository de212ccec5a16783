//! One sum, timed, and its error measured.

use super::Context;
use crate::Error;
use farfield::plan::Parameters;
use farfield::report::{Phase, Seconds};
use farfield::verify::OutputError;
use farfield::{Device, Geometry, Method, Precision, SumOf};

/// The seed of the sources and of their strengths.
pub const SEED: u64 = 1;
/// The seed of targets other than the sources.
pub const RECEIVER_SEED: u64 = 2;

/// A short sum is repeated at most this often; the fastest run counts.
const MOST_RUNS: usize = 10;

/// The processor that sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Cpu,
    /// The GPU, if there is one.
    Gpu,
}

/// A sum to be measured, with the machine profile of the context.
#[derive(Debug, Clone)]
pub struct Measurement<'a, T: Precision, G: Geometry> {
    pub sum: SumOf<'a, T, G>,
    pub strengths: &'a [T],
    /// The number of sources.
    pub sources: usize,
    pub targets: &'a [G::Point<T>],
}

/// Points and strengths that several methods sum.
pub trait Problem {
    type Number: Precision;
    type Geometry: Geometry;

    /// The sum by a method, to the accuracy of the problem.
    fn case(&self, method: Method) -> Measurement<'_, Self::Number, Self::Geometry>;

    /// The FMM.
    fn fmm(&self) -> Measurement<'_, Self::Number, Self::Geometry> {
        self.case(Method::Fmm)
    }
}

/// The result of a measurement.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Times of the fastest run.
    pub seconds: Seconds,
    pub parameters: Parameters,
    /// The relative error of the worst output at the sampled targets; zero without samples.
    pub error: f64,
    /// The largest relative error at a sampled target, where it is measured.
    pub maximum_error: Option<f64>,
}

impl Measured {
    /// The time of all phases; on a GPU, the time of the device without copies.
    pub fn in_phases(&self) -> f64 {
        Phase::ALL.iter().map(|phase| self.seconds.of(*phase)).sum()
    }

    /// The same with the time of the device as its total, without copies.
    pub fn device_only(mut self) -> Self {
        self.seconds.total = self.in_phases();
        self
    }
}

impl<T: Precision, G: Geometry> Measurement<'_, T, G> {
    /// Times the sum on the CPU from raw points to results, several times if it is short, and measures the error at
    /// `samples` random targets.
    pub fn measure(&self, context: &Context, samples: usize) -> Result<Measured, Error> {
        self.measure_with(context, samples, Device::Cpu)
    }

    /// The same on the GPU, if there is one: from host memory to host memory, after the kernels are compiled.
    pub fn measure_on_gpu(&self, context: &Context, samples: usize) -> Result<Option<Measured>, Error> {
        self.measure_on(On::Gpu, context, samples)
    }

    /// The same on either; `None` for a GPU that is not there.
    pub fn measure_on(&self, on: On, context: &Context, samples: usize) -> Result<Option<Measured>, Error> {
        let device = match (on, &context.gpu) {
            (On::Cpu, _) => Device::Cpu,
            (On::Gpu, None) => return Ok(None),
            (On::Gpu, Some(gpu)) => Device::Cuda(gpu.properties().ordinal),
        };
        self.measure_with(context, samples, device).map(Some)
    }

    fn measure_with(&self, context: &Context, samples: usize, device: Device) -> Result<Measured, Error> {
        let sum = || self.sum.clone().profile(context.profile.clone()).device(device);
        if device != Device::Cpu {
            // The first run compiles the kernels.
            sum().plan()?.evaluate(self.strengths)?;
        }
        // Every run gives the same result, so the first one is verified.
        let mut errors = None;
        fastest(
            context,
            MOST_RUNS,
            |measured: &Measured| measured.seconds.total,
            || {
                let mut plan = sum().plan()?;
                let field = plan.evaluate(self.strengths)?;
                let (seconds, parameters) = (*plan.seconds(), *plan.parameters());
                let (error, maximum_error) = match errors {
                    Some(errors) => errors,
                    None if samples == 0 => (0.0, None),
                    None => worst(&sum().verify(self.strengths, &field, samples, SEED)?),
                };
                errors = Some((error, maximum_error));
                Ok(Measured {
                    seconds,
                    parameters,
                    error,
                    maximum_error,
                })
            },
        )
    }
}

/// The fastest of up to `most` runs, which stop when they have taken [`Context::enough`] seconds together.
pub fn fastest<R>(
    context: &Context,
    most: usize,
    seconds: impl Fn(&R) -> f64,
    mut run: impl FnMut() -> Result<R, Error>,
) -> Result<R, Error> {
    let mut best = run()?;
    let mut spent = seconds(&best);
    for _ in 1..most {
        if spent >= context.enough {
            break;
        }
        let next = run()?;
        spent += seconds(&next);
        if seconds(&next) < seconds(&best) {
            best = next;
        }
    }
    Ok(best)
}

/// The errors of the worst output.
fn worst(errors: &[OutputError]) -> (f64, Option<f64>) {
    let worse = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
    let error = errors.iter().map(|error| error.relative_l2).fold(0.0, worse);
    let maximum = errors.iter().filter_map(|error| error.maximum).reduce(worse);
    (error, maximum)
}
