//! `farfield evaluate`: one sum, timed, and its error measured.
//!
//! request -> checked -> device -> points and charges -> plan and evaluate (the fastest of several) -> error -> results
//! to a file -> report.

mod input;
mod kernel;
mod record;
mod request;
mod summary;
mod write;

use crate::args::{Device, EvaluateArgs, PrecisionName};
use crate::failure::Failure;
use crate::problem::{Error, Executor, OutputError, Planned, Problem, Processor, Shared};
use crate::profile::Profile;
use crate::{print, threads, units};
use farfield::check::Check;
use farfield::plan::Parameters;
use farfield::report::Seconds;
use farfield::{Field, Method, machine};
use farfield_cuda::device::Precision;
use input::Input;
use kernel::AnyKernel;
use request::Request;

/// Runs the command.
pub fn run(args: EvaluateArgs) -> Result<String, Failure> {
    let profile = Profile::load(args.profile.as_deref())?;
    match AnyKernel::new(&args)? {
        AnyKernel::Space(problem) => start(&problem, args, profile),
        AnyKernel::Plane(problem) => start(&problem, args, profile),
    }
}

fn start<P: Problem<D>, const D: usize>(problem: &P, args: EvaluateArgs, profile: Profile) -> Result<String, Failure> {
    let threads = args.threads;
    let request = Request::new(args, profile, P::SETS)?;
    threads::start(threads)?;
    match request.precision {
        PrecisionName::F32 => evaluate::<P, f32, D>(problem, request),
        PrecisionName::F64 => evaluate::<P, f64, D>(problem, request),
    }
}

/// What came out of the fastest evaluation.
struct Outcome {
    parameters: Parameters,
    tolerance: Option<f64>,
    processor: Processor,
    notes: Vec<String>,
    seconds: Seconds,
    shared: Option<Shared>,
    /// The fastest evaluation with a plan already made.
    reused: Option<Seconds>,
    memory: Option<u64>,
    samples: usize,
    errors: Vec<OutputError>,
    /// What the evaluation found out about its own error.
    check: Option<Check>,
}

fn evaluate<P: Problem<D>, T: Precision, const D: usize>(
    problem: &P,
    mut request: Request<P::Set>,
) -> Result<String, Failure> {
    request.check_options::<P, T, D>(problem)?;
    // A missing device is known before any point is made or read.
    request.settings.executor = Executor::open(request.device, P::BY_BOTH)?;
    let input = Input::<T, D>::load(problem, &request)?;
    if request.device == Device::Auto {
        request.settings.executor = Executor::fastest(|gpu| problem.gpu_pays(&input.data(), &request.settings, gpu));
    }
    let request = &request;
    let (mut outcome, field) = fastest(problem, request, &input)?;
    if request.verify > 0 {
        outcome.samples = request.verify.min(field.targets());
        let verified = problem.verify(&input.data(), &field, outcome.samples, request.seed);
        outcome.errors = verified.map_err(|error| input.failure(request, error))?;
    }
    outcome.check = field.check().cloned();
    if let Some(path) = &request.output {
        write::results(path, &field)?;
    }
    let text = if request.json {
        record::json(problem, request, &input, &outcome)?
    } else {
        summary::text(problem, request, &input, &outcome)
    };
    if outcome.is_exceeded() {
        return Err(Failure::Exceeded(text));
    }
    Ok(text)
}

/// Plans and evaluates as often as asked, each time from raw points, and keeps the fastest.
fn fastest<P: Problem<D>, T: Precision, const D: usize>(
    problem: &P,
    request: &Request<P::Set>,
    input: &Input<T, D>,
) -> Result<(Outcome, Field<T, P::Output>), Failure> {
    let mut best: Option<Outcome> = None;
    let mut field = None;
    for run in 1..=request.repeat {
        // What the last run left must not count as this one's memory.
        drop(field.take());
        let failed = |error| input.failure(request, error);
        let mut plan = problem.plan(&input.data(), &request.settings).map_err(failed)?;
        let mut result = plan.evaluate(&input.strengths).map_err(failed)?;
        let seconds = *plan.seconds();
        if request.repeat > 1 {
            print::progress(&format!(
                "evaluation {run} of {}: {}",
                request.repeat,
                units::seconds(seconds.total)
            ));
        }
        if best.as_ref().is_none_or(|best| seconds.total < best.seconds.total) {
            best = Some(Outcome::new(&plan));
        }
        if run == request.repeat {
            let reused = reuse(request.reuse, &mut plan, &input.strengths, &mut result).map_err(failed)?;
            best = best.map(|best| Outcome { reused, ..best });
        }
        field = Some(result);
    }
    match (best, field) {
        (Some(mut best), Some(field)) => {
            best.memory = machine::peak_memory();
            best.add_notes(problem, request, input);
            Ok((best, field))
        }
        _ => Err(Failure::Usage("--repeat: at least 1 is needed".to_owned())),
    }
}

/// The fastest of several evaluations of one plan, into the field that it gave.
fn reuse<T: Precision, P: Planned<T>>(
    runs: usize,
    plan: &mut P,
    strengths: &[T],
    field: &mut Field<T, P::Output>,
) -> Result<Option<Seconds>, Error> {
    let mut best: Option<Seconds> = None;
    for run in 1..=runs {
        plan.evaluate_into(strengths, field)?;
        let seconds = *plan.seconds();
        print::progress(&format!("reuse {run} of {runs}: {}", units::seconds(seconds.total)));
        if best.is_none_or(|best| seconds.total < best.total) {
            best = Some(seconds);
        }
    }
    Ok(best)
}

impl Outcome {
    fn new<T: Precision>(plan: &impl Planned<T>) -> Self {
        Self {
            parameters: *plan.parameters(),
            tolerance: plan.tolerance(),
            processor: plan.processor(),
            notes: plan.notes().to_vec(),
            seconds: *plan.seconds(),
            shared: plan.shared(),
            reused: None,
            memory: None,
            samples: 0,
            errors: Vec::new(),
            check: None,
        }
    }

    /// Whether a measured error exceeds the tolerance.
    fn is_exceeded(&self) -> bool {
        let exceeds = |error: &OutputError| self.tolerance.is_some_and(|tolerance| error.relative_l2 > tolerance);
        self.errors.iter().any(exceeds) || self.check.as_ref().is_some_and(|check| !check.warnings.is_empty())
    }

    fn add_notes<P: Problem<D>, T, const D: usize>(
        &mut self,
        problem: &P,
        request: &Request<P::Set>,
        input: &Input<T, D>,
    ) {
        self.notes.extend(input.notes.iter().cloned());
        let method = self.parameters.method;
        if request.settings.theta.is_some() && !problem.uses_theta(method) {
            self.notes.push(format!("theta means nothing to {method} here"));
        }
        if method == Method::Direct {
            let settings = &request.settings;
            let given = [
                ("--order", settings.order.is_some()),
                ("--leaf-capacity", settings.leaf_capacity.is_some()),
            ];
            for (option, _) in given.iter().filter(|(_, given)| *given) {
                self.notes.push(format!(
                    "{option} was dropped: the direct sum has no expansions and no boxes"
                ));
            }
        }
    }
}

/// A rate, where there is one.
fn rate(amount: f64, seconds: f64) -> Option<f64> {
    (amount > 0.0 && seconds > 0.0).then(|| amount / seconds)
}
