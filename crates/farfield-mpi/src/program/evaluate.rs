//! `farfield-mpi evaluate`: one sum over ranks, with its time and measured error.

use super::record::{self, Outcome};
use super::{input, output};
use farfield::{Device, Precision, Request, machine};
use farfield_cli::args::{EvaluateArgs, PrecisionName};
use farfield_cli::evaluate::kernel::AnyRequest;
use farfield_cli::evaluate::settings::EvaluateSettings;
use farfield_cli::failure::Failure;
use farfield_cli::problem::Problem;
use farfield_cli::profile::Profile;
use farfield_cli::threads;
use farfield_mpi::{Cause, Error, Mpi, Points, Shared, Sum, agree_on};

/// Runs the command on every rank. Returns the text on the first rank, an empty string on the others.
pub fn run(ranks: &Mpi, args: EvaluateArgs) -> Result<String, Failure> {
    let profile = together(ranks, Profile::load(args.profile.as_deref()))?;
    match together(ranks, AnyRequest::new(&args))? {
        AnyRequest::Space(request) => start(ranks, request, args, profile),
        AnyRequest::Plane(request) => start(ranks, request, args, profile),
    }
}

/// Makes the failure of a rank known to all ranks, which end with the same message and exit code.
pub fn together<R>(ranks: &Mpi, own: Result<R, Failure>) -> Result<R, Failure> {
    let words = own.as_ref().err().map(|failure| match failure {
        Failure::Usage(message) => (message.clone(), Cause::Options),
        Failure::Data(message) | Failure::Exceeded(message) | Failure::Interrupted(message) => {
            (message.clone(), Cause::Data)
        }
    });
    match (agree_on(ranks, words), own) {
        (Some(error), _) => Err(failure(error)),
        (None, own) => own,
    }
}

/// Converts an error that all ranks share to a failure. A wrong option is wrong on every rank, so its message names
/// no rank.
fn failure(error: Error) -> Failure {
    match error {
        Error::OnRank {
            message,
            cause: Cause::Options,
            ..
        } => Failure::Usage(message),
        error => Failure::data(error),
    }
}

fn start<P: Problem<D> + Shared<D>, const D: usize>(
    ranks: &Mpi,
    request: Request<P>,
    args: EvaluateArgs,
    profile: Profile,
) -> Result<String, Failure> {
    let (on_machine, of_machine) = ranks.on_machine();
    let cores = std::thread::available_parallelism().map_or(1, |count| count.get());
    let threads = args.threads.unwrap_or((cores / of_machine).max(1));
    let mut settings = together(ranks, EvaluateSettings::new(args, profile, request))?;
    together(ranks, threads::start(Some(threads)))?;
    let options = &mut settings.request.options;
    options.device = own_device(options.device, on_machine);
    // Ranks of one machine share its memory.
    options.memory_limit = machine::available_memory().map(|bytes| bytes / of_machine as u64);
    match settings.precision {
        PrecisionName::F32 => evaluate::<P, f32, D>(ranks, &settings),
        PrecisionName::F64 => evaluate::<P, f64, D>(ranks, &settings),
    }
}

/// Resets the peak memory, so that the report does not include temporary points made while loading the input. Has no
/// effect if the system does not support it.
fn forget_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Assigns a GPU to a rank if its machine has several and the user chose none by number.
pub fn own_device(asked: Device, on_machine: usize) -> Device {
    let count = farfield::all_gpus().map_or(0, |gpus| gpus.len());
    match asked {
        Device::Cuda(0) if count > 1 => Device::Cuda(on_machine % count),
        asked => asked,
    }
}

fn evaluate<P: Problem<D> + Shared<D>, T: Precision, const D: usize>(
    ranks: &Mpi,
    settings: &EvaluateSettings<P, D>,
) -> Result<String, Failure> {
    together(ranks, settings.check_options::<T>())?;
    together(ranks, farfield_cli::device::check(settings.request.options.device))?;
    let mut own = input::own::<P, T, D>(ranks, settings)?;
    let (counts, vectors) = (own.all, own.vectors);
    forget_peak_memory();
    let sum = Sum::of(Request {
        vectors,
        ..settings.request.clone()
    });
    let mut best: Option<Outcome> = None;
    for run in 1..=settings.repeat {
        let mut points = Points::new(&own.sources).sizes(settings.sizes());
        points.targets = own.targets.as_deref();
        let mut plan = sum.plan(ranks, points).map_err(failure)?;
        if run == settings.repeat {
            // The plan has its own copy of the points.
            (own.sources, own.targets) = (Vec::new(), None);
        }
        let mut field = plan.evaluate(&own.strengths).map_err(failure)?;
        let mut outcome = Outcome::new(ranks, &plan, &field, own.notes.clone());
        if best.as_ref().is_none_or(|best| outcome.slowest < best.slowest) {
            best = Some(outcome.clone());
        }
        if run < settings.repeat {
            continue;
        }
        for _ in 0..settings.reuse {
            field = plan.evaluate(&own.strengths).map_err(failure)?;
            outcome.reused(ranks, &plan);
        }
        let samples = settings.verify.min(counts.1);
        let errors = match samples {
            0 => Vec::new(),
            samples => {
                let verified = plan.verify(&own.strengths, &field, samples, settings.seed);
                verified.map_err(failure)?
            }
        };
        if let Some(best) = &mut best {
            (best.reuse, best.samples, best.errors) = (outcome.reuse, samples, errors);
        }
        if let Some(path) = &settings.output {
            output::write(ranks, path, &field)?;
        }
    }
    let Some(outcome) = best else {
        return Err(Failure::Usage("--repeat: must be at least 1".to_owned()));
    };
    let text = record::text(ranks, settings, counts, vectors, &outcome)?;
    if outcome.is_exceeded() {
        return Err(Failure::Exceeded(text));
    }
    Ok(text)
}
