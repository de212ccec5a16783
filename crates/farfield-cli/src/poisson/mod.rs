//! `farfield poisson`: the stream function of a vorticity field on an adapted grid.
//!
//! settings -> problem (the field on a grid adapted to it) -> solution -> error -> files -> report.

mod case;
mod error;
mod field_on_grid;
mod forecast;
mod numbers;
mod record;
mod settings;
mod summary;
mod write;

#[cfg(test)]
pub use {case::Case, numbers::Numbers, settings::PoissonSettings as Settings};

use error::Measured;
use field_on_grid::FieldOnGrid;
use settings::{Components, PoissonSettings};

use crate::args::{PoissonArgs, PrecisionName};
use crate::failure::Failure;
use crate::{layout, print, threads};
use farfield::machine;
use farfield_grid::operators::{Curl, Stencil};
use farfield_grid::poisson::{Precision, Report};
use std::path::PathBuf;

/// Runs the command.
pub fn run(args: PoissonArgs) -> Result<String, Failure> {
    let (precision, json, output, how_many) = (args.precision, args.json, args.output.clone(), args.threads);
    let settings = PoissonSettings::new(args)?;
    threads::start(how_many)?;
    if let Some(folder) = &output {
        write::prepare(folder)?;
    }
    match precision {
        PrecisionName::F32 => solve::<f32>(&settings, output, json),
        PrecisionName::F64 => solve::<f64>(&settings, output, json),
    }
}

/// The result of a solution.
struct Outcome {
    report: Report,
    error: Option<Measured>,
    written: Vec<PathBuf>,
    memory: Option<u64>,
}

fn solve<T: Precision>(settings: &PoissonSettings, output: Option<PathBuf>, json: bool) -> Result<String, Failure> {
    let mut problem = FieldOnGrid::<T>::new(settings)?;
    for warning in &problem.warnings {
        print::progress(&format!("warning: {warning}"));
    }
    settings.progress.say(&format!(
        "solving on {} blocks, {} points",
        problem.grid.forest().leaves().len(),
        problem.grid.points()
    ));
    let report = problem.solve(settings)?;
    settings.progress.say("comparing and writing");
    let mut outcome = Outcome {
        report,
        error: error::measure(&problem)?,
        written: Vec::new(),
        memory: machine::peak_memory(),
    };
    if let Some(folder) = output {
        if problem.components == Components::All {
            problem.grid.add_channel("velocity", 3)?;
            problem.grid.apply(&Curl(Stencil::Fourth), "psi", "velocity")?;
        }
        outcome.written = write::files(&folder, &problem)?;
    }
    if json {
        record::json(settings, &problem, &outcome)
    } else {
        Ok(layout::fit(summary::text(settings, &problem, &outcome)))
    }
}
