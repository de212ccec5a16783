//! `farfield run`, `farfield resume` and `farfield schema`: simulations.
//!
//! name or file + `--set` -> case -> folder -> the loop of `farfield_sim`, observed here -> summary.

pub mod folder_info;
pub mod progress;
mod summary;

use crate::args::{ResumeArgs, RunArgs};
use crate::failure::Failure;
use crate::profile::Profile;
use crate::view::Page;
use crate::{device, layout, print, threads};
use farfield_sim::case::{self, BuiltIn, Case, Override, SCHEMA};
use farfield_sim::run::{Control, Outcome, Run};
use progress::Watcher;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// `farfield schema`.
pub fn schema() -> String {
    SCHEMA.to_owned()
}

/// `farfield run`.
pub fn run(args: &RunArgs) -> Result<String, Failure> {
    match &args.case {
        Some(name) => go(prepare(name, args)?, &args.watch),
        None => Ok(list()),
    }
}

/// The run that the command line describes.
pub fn prepare(name: &str, args: &RunArgs) -> Result<Run, Failure> {
    let profile = Profile::load(args.profile.as_deref())?;
    let (case, folder) = resolve(name, args)?;
    threads::start(args.threads)?;
    // A missing or invalid device is reported before anything is written.
    case.check_device(args.device)?;
    device::check(args.device)?;
    let mut run = Run::new(case, &folder, profile.costs)?;
    run.compute_on(args.device)?;
    Ok(run)
}

/// The case that the command line describes, and the folder of its run.
pub fn resolve(name: &str, args: &RunArgs) -> Result<(Case, PathBuf), Failure> {
    let overrides = overrides(&args.set)?;
    let (label, text, base) = find(name)?;
    let case = case::read(&text, &label, &overrides).map_err(|error| Failure::Data(error.to_string()))?;
    let folder = args.output.clone().unwrap_or_else(|| default_folder(&label));
    Ok((case.located_in(&base), folder))
}

/// The changes to a case that the command line of `resume` asks for.
pub fn change_of(args: &ResumeArgs) -> Result<impl FnOnce(Case) -> Result<Case, farfield_sim::Error>, Failure> {
    let overrides = overrides(&args.set)?;
    Ok(move |case: Case| {
        if overrides.is_empty() {
            return Ok(case);
        }
        let origin = args.folder.display().to_string();
        let text = farfield_sim::run::case_text(&case, &args.folder)?;
        Ok(case::read(&text, &origin, &overrides)?)
    })
}

/// `farfield resume`.
pub fn resume(args: &ResumeArgs) -> Result<String, Failure> {
    let change = change_of(args)?;
    threads::start(args.threads)?;
    device::check(args.device)?;
    // Used only if the run was killed before its first checkpoint; any other continues with its own profile.
    let profile = Profile::load(args.profile.as_deref())?;
    let (mut run, mut remarks) = Run::resume_with(&args.folder, profile.costs, change)?;
    remarks.extend(run.compute_on(args.device)?);
    if !args.watch.quiet {
        remarks.iter().for_each(|remark| print::progress(remark));
    }
    go(run, &args.watch)
}

/// Runs to the end, a stop or an alarm, and returns the summary.
pub fn go(run: Run, watch: &crate::args::WatchArgs) -> Result<String, Failure> {
    let control = Control {
        stop: stop_on_signal()?,
        most_steps: watch.steps,
    };
    let case = run.case().clone();
    if case.flow.is_some() {
        // The arrays change their sizes with the grid.
        farfield::machine::return_freed_arrays();
    }
    let folder = run.folder().path().to_owned();
    let mut watcher = Watcher::new(watch.quiet);
    watcher.start(&run);
    let outcome = if watch.live {
        let page = Page::open(&watch.page)?;
        page.watch(run, &control, &mut watcher, page.manner(false))?
    } else {
        run.go(&control, &mut watcher)?
    };
    watcher.end();
    let text = report(&case, &folder, &outcome, watch.json)?;
    if !outcome.finished && control.stop.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted(text));
    }
    Ok(text)
}

pub fn report(case: &Case, folder: &Path, outcome: &Outcome, json: bool) -> Result<String, Failure> {
    if json {
        summary::json(case, folder, outcome)
    } else {
        Ok(layout::fit(summary::text(case, folder, outcome)))
    }
}

/// Makes Ctrl-C and the signals of schedulers (SIGTERM) and closed terminals (SIGHUP) request a stop. A second signal
/// ends the program at once.
pub fn stop_on_signal() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        print::progress("\nstopping after this step, with a checkpoint (repeat to end at once)");
    })
    .map_err(|error| Failure::Data(format!("cannot listen for signals: {error}")))?;
    Ok(stop)
}

fn overrides(texts: &[String]) -> Result<Vec<Override>, Failure> {
    let parse = |text: &String| Override::parse(text).map_err(|error| Failure::Usage(error.to_string()));
    texts.iter().map(parse).collect()
}

/// The name of a case, its text, and the folder that its paths are relative to: a built-in case by name, else a file.
pub fn find(name: &str) -> Result<(String, String, PathBuf), Failure> {
    let looks_like_a_file = name.ends_with(".toml") || name.contains(std::path::MAIN_SEPARATOR);
    if !looks_like_a_file {
        return match BuiltIn::find(name) {
            Ok(found) => Ok((found.name.to_owned(), found.text.to_owned(), PathBuf::new())),
            Err(near) => {
                let hint = near.map_or(".".to_owned(), |near| format!("; did you mean `{near}`?"));
                let names: Vec<&str> = BuiltIn::ALL.iter().map(|case| case.name).collect();
                Err(Failure::Usage(format!(
                    "there is no case `{name}`{hint} Cases: {}; or a file that ends in .toml",
                    names.join(", ")
                )))
            }
        };
    }
    let text = std::fs::read_to_string(name).map_err(|error| Failure::Data(format!("{name}: cannot read: {error}")))?;
    let base = Path::new(name).parent().unwrap_or(Path::new("")).to_owned();
    Ok((name.to_owned(), text, base))
}

fn default_folder(label: &str) -> PathBuf {
    let stem = Path::new(label)
        .file_stem()
        .map_or(label.into(), |stem| stem.to_string_lossy());
    Path::new("runs").join(&*stem)
}

pub fn list() -> String {
    let lines = BuiltIn::ALL.iter().flat_map(|case| {
        let sizes = case.sizes();
        let others = (!sizes.is_empty()).then(|| ("", format!("other sizes: --set size={}", sizes.join("|"))));
        std::iter::once((case.name, case.about().to_owned())).chain(others)
    });
    layout::list(lines)
}

impl From<farfield_sim::Error> for Failure {
    fn from(error: farfield_sim::Error) -> Self {
        Failure::data(error)
    }
}
