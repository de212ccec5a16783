//! One sum, timed, and its error measured.

use super::Context;
use crate::failure::Failure;
use crate::problem::{Data, Executor, OutputError, Planned, Problem, Settings};
use farfield::plan::Parameters;
use farfield::report::{Phase, Seconds};
use farfield_cuda::device::Precision;

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

/// A sum to be measured.
#[derive(Debug, Clone)]
pub struct Case<'a, P, T, const D: usize> {
    pub problem: P,
    pub data: Data<'a, T, D>,
    /// The profile is that of the context.
    pub settings: Settings,
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

impl<P: Problem<D>, T: Precision, const D: usize> Case<'_, P, T, D> {
    /// Times the sum from raw points to results, several times if it is short, and measures the error at `samples`
    /// random targets.
    pub fn measure(&self, context: &Context, samples: usize) -> Result<Measured, Failure> {
        self.measure_with(context, samples, self.settings.executor.clone())
    }

    /// The same on the graphics processor, if there is one: from host memory to host memory, once kernels are compiled.
    pub fn measure_on_gpu(&self, context: &Context, samples: usize) -> Result<Option<Measured>, Failure> {
        self.measure_on(On::Gpu, context, samples)
    }

    /// On either; `None` where there is no graphics processor.
    pub fn measure_on(&self, on: On, context: &Context, samples: usize) -> Result<Option<Measured>, Failure> {
        let executor = match (on, &context.gpu) {
            (On::Cpu, _) => self.settings.executor.clone(),
            (On::Gpu, None) => return Ok(None),
            (On::Gpu, Some(gpu)) => Executor::Cuda(gpu.clone()),
        };
        self.measure_with(context, samples, executor).map(Some)
    }

    fn measure_with(&self, context: &Context, samples: usize, executor: Executor) -> Result<Measured, Failure> {
        let settings = Settings {
            profile: context.profile.clone(),
            executor,
            ..self.settings.clone()
        };
        if settings.executor.device().is_some() {
            self.problem
                .plan(&self.data, &settings)?
                .evaluate(self.data.strengths)?;
        }
        let mut best: Option<Measured> = None;
        let mut spent = 0.0;
        for _ in 0..MOST_RUNS {
            let mut plan = self.problem.plan(&self.data, &settings)?;
            let field = plan.evaluate(self.data.strengths)?;
            let seconds = *plan.seconds();
            spent += seconds.total;
            // Every run gives the same result, so the first one's error is that of all.
            let (error, maximum_error) = match &best {
                Some(best) => (best.error, best.maximum_error),
                None if samples == 0 => (0.0, None),
                None => worst(&self.problem.verify(&self.data, &field, samples, SEED)?),
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
pub fn always<M>(measured: Option<M>) -> Result<M, Failure> {
    measured.ok_or_else(|| Failure::Data("nothing was measured".to_owned()))
}

/// The errors of the worst output.
fn worst(errors: &[OutputError]) -> (f64, Option<f64>) {
    let worse = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
    let error = errors.iter().map(|error| error.relative_l2).fold(0.0, worse);
    let maximum = errors.iter().filter_map(|error| error.maximum).reduce(worse);
    (error, maximum)
}
