//! `farfield evaluate`: one sum, timed, and its error measured.
//!
//! request -> checked -> points and charges -> plan and evaluate (the fastest of several) -> error -> results to a
//! file -> report.

mod executor;
mod input;
mod record;
mod request;
mod summary;
mod write;

use crate::args::{EvaluateArgs, PrecisionName};
use crate::failure::Failure;
use crate::profile::Profile;
use crate::{print, threads, units};
use executor::{Executor, Planned, Processor};
use farfield::plan::Parameters;
use farfield::report::Seconds;
use farfield::simd::Real;
use farfield::verify::{self, OutputError, verify};
use farfield::{Field, machine};
use farfield_cuda::device::Precision;
use input::Input;
use request::Request;

/// Runs the command.
pub fn run(args: EvaluateArgs) -> Result<String, Failure> {
    let profile = Profile::load(args.profile.as_deref())?;
    let request = Request::new(args, profile)?;
    threads::start(request.threads)?;
    match request.precision {
        PrecisionName::F32 => evaluate::<f32>(&request),
        PrecisionName::F64 => evaluate::<f64>(&request),
    }
}

/// What came out of the fastest evaluation.
struct Outcome {
    parameters: Parameters,
    tolerance: Option<f64>,
    processor: Processor,
    notes: Vec<String>,
    seconds: Seconds,
    /// The fastest evaluation with a plan already made.
    reused: Option<Seconds>,
    memory: Option<u64>,
    samples: usize,
    errors: Vec<OutputError>,
}

fn evaluate<T: Precision>(request: &Request) -> Result<String, Failure> {
    request.check_options::<T>()?;
    // A missing device is known before any point is made or read.
    let executor = Executor::open(request.device)?;
    let input = Input::<T>::load(request)?;
    let (mut outcome, field) = fastest(request, &executor, &input)?;
    measure_error(request, &input, &field, &mut outcome);
    if let Some(path) = &request.output {
        write::results(path, &field)?;
    }
    if request.json {
        record::json::<T>(request, &input, &outcome)
    } else {
        Ok(summary::text(request, &input, &outcome))
    }
}

/// Plans and evaluates as often as asked, each time from raw points, and keeps the fastest.
fn fastest<T: Precision>(
    request: &Request,
    executor: &Executor,
    input: &Input<T>,
) -> Result<(Outcome, Field<T>), Failure> {
    let mut best: Option<Outcome> = None;
    let mut field = None;
    for run in 1..=request.repeat {
        // What the last run left must not count as this one's memory.
        drop(field.take());
        let mut plan = executor.plan(request, input)?;
        let result = plan.evaluate(request, input)?;
        let seconds = plan.seconds();
        if request.repeat > 1 {
            print::progress(&format!(
                "evaluation {run} of {}: {}",
                request.repeat,
                units::seconds(seconds.total)
            ));
        }
        if best.as_ref().is_none_or(|best| seconds.total < best.seconds.total) {
            best = Some(Outcome::new(&plan, executor, seconds, input, request));
        }
        if run == request.repeat {
            let reused = reuse(request, &mut plan, input)?;
            best = best.map(|best| Outcome { reused, ..best });
        }
        field = Some(result);
    }
    match (best, field) {
        (Some(mut best), Some(field)) => {
            best.memory = machine::peak_memory();
            Ok((best, field))
        }
        _ => Err(Failure::Usage("--repeat: at least 1 is needed".to_owned())),
    }
}

/// The fastest of several evaluations of one plan.
fn reuse<T: Precision>(request: &Request, plan: &mut Planned<T>, input: &Input<T>) -> Result<Option<Seconds>, Failure> {
    let mut best: Option<Seconds> = None;
    let mut field = plan.field();
    for run in 1..=request.reuse {
        plan.evaluate_again(request, input, &mut field)?;
        let seconds = plan.seconds();
        print::progress(&format!(
            "reuse {run} of {}: {}",
            request.reuse,
            units::seconds(seconds.total)
        ));
        if best.is_none_or(|best| seconds.total < best.total) {
            best = Some(seconds);
        }
    }
    Ok(best)
}

fn measure_error<T: Real>(request: &Request, input: &Input<T>, field: &Field<T>, outcome: &mut Outcome) {
    if request.verify == 0 {
        return;
    }
    let sizes = request.sizes();
    let problem = verify::Problem {
        kernel: request.kernel,
        sources: &input.sources,
        targets: input.targets.as_deref(),
        sizes: &sizes,
        strengths: &input.strengths,
    };
    outcome.samples = request.verify.min(field.targets());
    outcome.errors = verify(&problem, field, outcome.samples, request.seed);
}

impl Outcome {
    fn new<T: Precision>(
        plan: &Planned<T>,
        executor: &Executor,
        seconds: Seconds,
        input: &Input<T>,
        request: &Request,
    ) -> Self {
        let mut notes = plan.notes();
        notes.extend(input.notes.iter().cloned());
        let parameters = plan.parameters();
        if request.theta.is_some() && parameters.method != farfield::Method::Treecode {
            notes.push(format!(
                "theta is used by the treecode only, not by {}",
                parameters.method
            ));
        }
        Self {
            parameters,
            tolerance: plan.tolerance(),
            processor: executor.processor(plan),
            notes,
            seconds,
            reused: None,
            memory: None,
            samples: 0,
            errors: Vec::new(),
        }
    }
}

/// A rate, where there is one.
fn rate(amount: f64, seconds: f64) -> Option<f64> {
    (amount > 0.0 && seconds > 0.0).then(|| amount / seconds)
}
