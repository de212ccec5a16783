//! `farfield poisson`: the stream function of a vorticity field on an adapted grid.
//!
//! request -> problem (the field on a grid adapted to it) -> solution -> error -> files -> report.

mod case;
mod error;
mod problem;
mod record;
mod request;
mod summary;
mod write;

use error::Measured;
use problem::Problem;
use request::{Components, Request};

use crate::args::{PoissonArgs, PrecisionName};
use crate::failure::Failure;
use crate::threads;
use farfield::machine;
use farfield_grid::operators::{Curl, Order};
use farfield_grid::poisson::{Precision, Report};
use std::path::PathBuf;

/// Runs the command.
pub fn run(args: PoissonArgs) -> Result<String, Failure> {
    let (precision, json, output, how_many) = (args.precision, args.json, args.output.clone(), args.threads);
    let request = Request::new(args)?;
    threads::start(how_many)?;
    match precision {
        PrecisionName::F32 => solve::<f32>(&request, output, json),
        PrecisionName::F64 => solve::<f64>(&request, output, json),
    }
}

/// What came out.
struct Outcome {
    report: Report,
    error: Option<Measured>,
    written: Vec<PathBuf>,
    memory: Option<u64>,
}

fn solve<T: Precision>(request: &Request, output: Option<PathBuf>, json: bool) -> Result<String, Failure> {
    let mut problem = Problem::<T>::new(request)?;
    let report = problem.solve(request)?;
    let mut outcome = Outcome {
        report,
        error: error::measure(&problem)?,
        written: Vec::new(),
        memory: machine::peak_memory(),
    };
    if let Some(folder) = output {
        if request.components == Components::All {
            problem.grid.add_channel("velocity", 3)?;
            problem.grid.apply(&Curl(Order::Fourth), "psi", "velocity")?;
        }
        outcome.written = write::files(&folder, &problem)?;
    }
    if json {
        record::json(request, &problem, &outcome)
    } else {
        Ok(summary::text(request, &problem, &outcome))
    }
}
