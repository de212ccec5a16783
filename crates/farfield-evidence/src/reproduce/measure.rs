//! One sum, timed, and its error measured.

use super::Context;
use crate::Error;
use farfield::plan::Parameters;
use farfield::report::{Phase, Seconds};
use farfield::verify::OutputError;
use farfield::{Device, Geometry, Precision, SumOf};

/// The seed of the sources and of their strengths.
pub const SEED: u64 = 1;
/// The seed of receivers that are not the sources.
pub const RECEIVER_SEED: u64 = 2;

/// Repeats of short sums: the fastest of many short runs, one long run.
const MOST_RUNS: usize = 10;

/// What sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Cpu,
    /// The graphics processor, if there is one.
    Gpu,
}

/// A sum to be measured. The profile is that of the context.
#[derive(Debug, Clone)]
pub struct Measurement<'a, T: Precision, G: Geometry> {
    pub sum: SumOf<'a, T, G>,
    pub strengths: &'a [T],
    /// How many sources there are.
    pub sources: usize,
    /// Where it is evaluated.
    pub targets: &'a [G::Point<T>],
}

/// What was measured.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Of the fastest run.
    pub seconds: Seconds,
    pub parameters: Parameters,
    /// Relative to the true values at the sampled targets, of the worst output; zero if none were sampled.
    pub error: f64,
    /// The largest relative error at a sampled target, where it is measured.
    pub maximum_error: Option<f64>,
}

impl Measured {
    /// The sum of all phases: on a graphics processor what it took itself, without copies to and from it.
    pub fn in_phases(&self) -> f64 {
        Phase::ALL.iter().map(|phase| self.seconds.of(*phase)).sum()
    }

    /// The times of a graphics processor itself, without copies to and from it.
    pub fn device_only(mut self) -> Self {
        self.seconds.total = self.in_phases();
        self
    }
}

impl<T: Precision, G: Geometry> Measurement<'_, T, G> {
    /// Times the sum from raw points to results, several times if it is short, and measures the error at `samples`
    /// random targets.
    pub fn measure(&self, context: &Context, samples: usize) -> Result<Measured, Error> {
        self.measure_with(context, samples, Device::Cpu)
    }

    /// The same on the graphics processor, if there is one: from host memory to host memory, once kernels are compiled.
    pub fn measure_on_gpu(&self, context: &Context, samples: usize) -> Result<Option<Measured>, Error> {
        self.measure_on(On::Gpu, context, samples)
    }

    /// On either; `None` where there is no graphics processor.
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
            // Kernels are compiled by the first.
            sum().plan()?.evaluate(self.strengths)?;
        }
        let mut best: Option<Measured> = None;
        let mut spent = 0.0;
        for _ in 0..MOST_RUNS {
            let mut plan = sum().plan()?;
            let field = plan.evaluate(self.strengths)?;
            let seconds = *plan.seconds();
            spent += seconds.total;
            // Every run gives the same result, so the first one's error is that of all.
            let (error, maximum_error) = match &best {
                Some(best) => (best.error, best.maximum_error),
                None if samples == 0 => (0.0, None),
                None => worst(&sum().verify(self.strengths, &field, samples, SEED)?),
            };
            if best.is_none_or(|best| seconds.total < best.seconds.total) {
                best = Some(Measured {
                    seconds,
                    parameters: *plan.parameters(),
                    error,
                    maximum_error,
                });
            }
            if spent >= context.enough {
                break;
            }
        }
        always(best)
    }
}

/// What the CPU measured, which is always there.
pub fn always<M>(measured: Option<M>) -> Result<M, Error> {
    Ok(measured.ok_or("nothing was measured")?)
}

/// The errors of the worst output.
fn worst(errors: &[OutputError]) -> (f64, Option<f64>) {
    let worse = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
    let error = errors.iter().map(|error| error.relative_l2).fold(0.0, worse);
    let maximum = errors.iter().filter_map(|error| error.maximum).reduce(worse);
    (error, maximum)
}
