//! `farfield evaluate`: one sum, timed, and its error measured.
//!
//! settings -> checked -> device -> points and charges -> plan and evaluate (the fastest of several) -> error -> results
//! to a file -> report.

pub mod input;
pub mod kernel;
mod record;
pub mod settings;
mod summary;
pub mod write;

use crate::args::{EvaluateArgs, PrecisionName};
use crate::failure::Failure;
use crate::problem::Problem;
use crate::profile::Profile;
use crate::{device, print, threads};
use farfield::check::Check;
use farfield::plan::Parameters;
use farfield::report::{Processor, Report, Seconds};
use farfield::verify::OutputError;
use farfield::{Error, Field, Geometry, Method, PlanOf, Precision, machine};
use farfield_io::units;
use input::Input;
use kernel::AnyKernel;
use settings::EvaluateSettings;

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
    let settings = EvaluateSettings::new(args, profile, P::SETS)?;
    threads::start(threads)?;
    match settings.precision {
        PrecisionName::F32 => evaluate::<P, f32, D>(problem, settings),
        PrecisionName::F64 => evaluate::<P, f64, D>(problem, settings),
    }
}

/// What came out of the fastest evaluation.
struct Outcome {
    report: Report,
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
    /// What the evaluation found out about its own error.
    check: Option<Check>,
}

fn evaluate<P: Problem<D>, T: Precision, const D: usize>(
    problem: &P,
    settings: EvaluateSettings<P::Set>,
) -> Result<String, Failure> {
    settings.check_options::<P, T, D>(problem)?;
    // A missing device is known before any point is made or read.
    device::check(settings.options.device)?;
    let input = Input::<T, D>::load(problem, &settings)?;
    let settings = &settings;
    let (mut outcome, field) = fastest(problem, settings, &input)?;
    if settings.verify > 0 {
        outcome.samples = settings.verify.min(field.targets());
        let sum = problem.sum(&input.data(), &settings.options);
        let verified = sum.verify(&input.strengths, &field, outcome.samples, settings.seed);
        outcome.errors = verified.map_err(|error| input.failure(settings, error))?;
    }
    outcome.check = field.check().cloned();
    if let Some(path) = &settings.output {
        write::results(path, &field)?;
    }
    let text = if settings.json {
        record::json(problem, settings, &input, &outcome)?
    } else {
        crate::layout::fit(summary::text(problem, settings, &input, &outcome))
    };
    if outcome.is_exceeded() {
        return Err(Failure::Exceeded(text));
    }
    Ok(text)
}

/// Plans and evaluates as often as asked, each time from raw points, and keeps the fastest.
fn fastest<P: Problem<D>, T: Precision, const D: usize>(
    problem: &P,
    settings: &EvaluateSettings<P::Set>,
    input: &Input<T, D>,
) -> Result<(Outcome, Field<T, P::Geometry>), Failure> {
    let mut best: Option<Outcome> = None;
    let mut field = None;
    for run in 1..=settings.repeat {
        // What the last run left must not count as this one's memory.
        drop(field.take());
        let failed = |error| input.failure(settings, error);
        let mut plan = problem.sum(&input.data(), &settings.options).plan().map_err(failed)?;
        let mut result = plan.evaluate(&input.strengths).map_err(failed)?;
        let seconds = *plan.seconds();
        if settings.repeat > 1 {
            print::progress(&format!(
                "evaluation {run} of {}: {}",
                settings.repeat,
                units::seconds(seconds.total)
            ));
        }
        if best.as_ref().is_none_or(|best| seconds.total < best.seconds.total) {
            best = Some(Outcome::new(&plan));
        }
        if run == settings.repeat {
            let reused = reuse(settings.reuse, &mut plan, &input.strengths, &mut result).map_err(failed)?;
            best = best.map(|best| Outcome { reused, ..best });
        }
        field = Some(result);
    }
    match (best, field) {
        (Some(mut best), Some(field)) => {
            best.memory = machine::peak_memory();
            best.add_notes(problem, settings, input);
            Ok((best, field))
        }
        _ => Err(Failure::Usage("--repeat: at least 1 is needed".to_owned())),
    }
}

/// The fastest of several evaluations of one plan, into the field that it gave.
fn reuse<T: Precision, G: Geometry>(
    runs: usize,
    plan: &mut PlanOf<T, G>,
    strengths: &[T],
    field: &mut Field<T, G>,
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
    fn new<T: Precision, G: Geometry>(plan: &PlanOf<T, G>) -> Self {
        Self {
            report: plan.report(),
            parameters: *plan.parameters(),
            tolerance: plan.tolerance(),
            processor: plan.processor(),
            notes: plan.notes(),
            seconds: *plan.seconds(),
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
        settings: &EvaluateSettings<P::Set>,
        input: &Input<T, D>,
    ) {
        self.notes.extend(input.notes.iter().cloned());
        let method = self.parameters.method;
        if settings.options.theta.is_some() && !problem.uses_theta(method) {
            self.notes.push(format!("theta has no effect on {method} here"));
        }
        if method == Method::Direct {
            let options = &settings.options;
            let given = [
                ("--order", options.order.is_some()),
                ("--leaf-capacity", options.leaf_capacity.is_some()),
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
