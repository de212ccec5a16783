//! One sum, timed, and its error measured.

use super::Context;
use crate::failure::Failure;
use farfield::kernel::{Kernel, Output, Sizes};
use farfield::plan::Parameters;
use farfield::report::Seconds;
use farfield::simd::Real;
use farfield::verify::{self, verify};
use farfield::{Method, Sum};

/// The seed of the sources and of their strengths.
pub const SEED: u64 = 1;
/// The seed of receivers that are not the sources.
pub const RECEIVER_SEED: u64 = 2;

/// Repeats stop when they have taken this long, in seconds: the fastest of many short runs, one long run.
const ENOUGH: f64 = 1.0;
const MOST_RUNS: usize = 10;

/// How exact a sum shall be.
#[derive(Debug, Clone, Copy)]
pub enum Accuracy {
    Tolerance(f64),
    Order(usize),
}

/// A sum to be measured.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a, T> {
    pub kernel: Kernel,
    pub outputs: &'a [Output],
    pub sources: &'a [[T; 3]],
    /// `None` if the targets are the sources.
    pub targets: Option<&'a [[T; 3]]>,
    pub strengths: &'a [T],
    pub method: Method,
    pub accuracy: Accuracy,
    pub leaf_capacity: Option<usize>,
}

/// What was measured.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Of the fastest run.
    pub seconds: Seconds,
    pub parameters: Parameters,
    /// Relative to the true values at the sampled targets, of the worst output; zero if none were sampled.
    pub error: f64,
}

impl<T: Real> Case<'_, T> {
    /// Times the sum from raw points to results, several times if it is short, and measures the error at `samples`
    /// random targets.
    pub fn measure(&self, context: &Context, samples: usize) -> Result<Measured, Failure> {
        let mut best: Option<Measured> = None;
        let mut spent = 0.0;
        for _ in 0..MOST_RUNS {
            let mut plan = self.sum(context).plan()?;
            let field = plan.evaluate(self.strengths)?;
            let seconds = *plan.seconds();
            spent += seconds.total;
            // Every run gives the same result, so the first one's error is that of all.
            let error = match &best {
                Some(best) => best.error,
                None if samples == 0 => 0.0,
                None => {
                    let errors = verify(&self.problem(), &field, samples, SEED);
                    let worse = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
                    errors.iter().map(|error| error.relative_l2).fold(0.0, worse)
                }
            };
            if best.is_none_or(|best| seconds.total < best.seconds.total) {
                best = Some(Measured {
                    seconds,
                    parameters: *plan.parameters(),
                    error,
                });
            }
            if spent >= if context.quick { 0.1 } else { ENOUGH } {
                break;
            }
        }
        best.ok_or_else(|| Failure::Data("nothing was measured".to_owned()))
    }

    fn sum(&self, context: &Context) -> Sum<'_, T> {
        let mut sum = Sum::new(self.kernel, self.sources)
            .outputs(self.outputs)
            .method(self.method)
            .profile(context.profile.clone());
        if let Some(targets) = self.targets {
            sum = sum.targets(targets);
        }
        if let Some(capacity) = self.leaf_capacity {
            sum = sum.leaf_capacity(capacity);
        }
        match self.accuracy {
            Accuracy::Tolerance(tolerance) => sum.tolerance(tolerance),
            Accuracy::Order(order) => sum.order(order),
        }
    }

    fn problem(&self) -> verify::Problem<'_, T> {
        verify::Problem {
            kernel: self.kernel,
            sources: self.sources,
            targets: self.targets,
            sizes: &Sizes::None,
            strengths: self.strengths,
        }
    }
}
