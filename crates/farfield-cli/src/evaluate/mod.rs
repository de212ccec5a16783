//! `farfield evaluate`: one sum, its time and its error.
//!
//! request -> settings -> device -> points and charges -> plan and evaluate (the fastest of several) -> error -> file
//! of results -> report.

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
use farfield::report::{Processor, Report, Seconds};
use farfield::verify::OutputError;
use farfield::{Error, Field, Geometry, PlanOf, Precision, Request, machine};
use farfield_io::units;
use input::Input;
use kernel::AnyRequest;
use settings::EvaluateSettings;

/// Runs the command.
pub fn run(args: EvaluateArgs) -> Result<String, Failure> {
    let profile = Profile::load(args.profile.as_deref())?;
    match AnyRequest::new(&args)? {
        AnyRequest::Space(request) => start(request, args, profile),
        AnyRequest::Plane(request) => start(request, args, profile),
    }
}

fn start<P: Problem<D>, const D: usize>(
    request: Request<P>,
    args: EvaluateArgs,
    profile: Profile,
) -> Result<String, Failure> {
    let threads = args.threads;
    let settings = EvaluateSettings::new(args, profile, request)?;
    threads::start(threads)?;
    match settings.precision {
        PrecisionName::F32 => evaluate::<P, f32, D>(&settings),
        PrecisionName::F64 => evaluate::<P, f64, D>(&settings),
    }
}

/// The fastest evaluation.
struct Outcome {
    report: Report,
    processor: Processor,
    /// The fastest evaluation with an existing plan.
    reused: Option<Seconds>,
    memory: Option<u64>,
    samples: usize,
    errors: Vec<OutputError>,
    /// The error that the evaluation itself measured.
    check: Option<Check>,
}

fn evaluate<P: Problem<D>, T: Precision, const D: usize>(settings: &EvaluateSettings<P, D>) -> Result<String, Failure> {
    settings.check_options::<T>()?;
    // A missing device is reported before any point is generated or read.
    device::check(settings.request.options.device)?;
    let input = Input::<T, D>::load(settings)?;
    let (mut outcome, field) = fastest(settings, &input)?;
    if settings.verify > 0 {
        outcome.samples = settings.verify.min(field.targets());
        let sum = input.sum(settings);
        let verified = sum.verify(&input.strengths, &field, outcome.samples, settings.seed);
        outcome.errors = verified.map_err(|error| input.failure(settings, error))?;
    }
    outcome.check = field.check().cloned();
    if let Some(path) = &settings.output {
        write::results(path, &field)?;
    }
    let text = if settings.json {
        record::json(settings, &input, &outcome)?
    } else {
        crate::layout::fit(summary::text(settings, &input, &outcome))
    };
    if outcome.is_exceeded() {
        return Err(Failure::Exceeded(text));
    }
    Ok(text)
}

/// Plans and evaluates `settings.repeat` times from raw points, and keeps the fastest.
fn fastest<P: Problem<D>, T: Precision, const D: usize>(
    settings: &EvaluateSettings<P, D>,
    input: &Input<T, D>,
) -> Result<(Outcome, Field<T, P>), Failure> {
    let mut best: Option<Outcome> = None;
    let mut field = None;
    let failed = |error| input.failure(settings, error);
    for run in 1..=settings.repeat {
        // The memory of the previous run must not count for this one.
        drop(field.take());
        let mut plan = input.sum(settings).plan().map_err(failed)?;
        let mut result = plan.evaluate(&input.strengths).map_err(failed)?;
        let total = plan.seconds().total;
        if settings.repeat > 1 {
            print::progress(&format!(
                "evaluation {run} of {}: {}",
                settings.repeat,
                units::seconds(total)
            ));
        }
        if best.as_ref().is_none_or(|best| total < best.report.seconds.total) {
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
            best.add_notes(settings, input);
            Ok((best, field))
        }
        _ => Err(Failure::Usage("--repeat: at least 1 is needed".to_owned())),
    }
}

/// The fastest of several evaluations of one plan, into the field of its first evaluation.
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
            processor: plan.processor(),
            reused: None,
            memory: None,
            samples: 0,
            errors: Vec::new(),
            check: None,
        }
    }

    /// Whether a measured error exceeds the tolerance.
    fn is_exceeded(&self) -> bool {
        let tolerance = self.report.tolerance;
        let exceeds = |error: &OutputError| tolerance.is_some_and(|tolerance| error.relative_l2 > tolerance);
        self.errors.iter().any(exceeds) || self.check.as_ref().is_some_and(|check| !check.warnings.is_empty())
    }

    fn add_notes<P: Problem<D>, T, const D: usize>(&mut self, settings: &EvaluateSettings<P, D>, input: &Input<T, D>) {
        let notes = &mut self.report.notes;
        notes.extend(input.notes.iter().cloned());
        let (method, options) = (self.report.method, &settings.request.options);
        if options.theta.is_some() && !P::uses_theta(method) {
            notes.push(format!("theta has no effect on {method} here"));
        }
        if method == "direct" {
            let given = [
                ("--order", options.order.is_some()),
                ("--leaf-capacity", options.leaf_capacity.is_some()),
            ];
            for (option, _) in given.iter().filter(|(_, given)| *given) {
                notes.push(format!(
                    "{option} has no effect: the direct sum has no expansions and no boxes"
                ));
            }
        }
    }
}

/// `amount` per second; `None` if there is no work or no time.
fn rate(amount: f64, seconds: f64) -> Option<f64> {
    (amount > 0.0 && seconds > 0.0).then(|| amount / seconds)
}
