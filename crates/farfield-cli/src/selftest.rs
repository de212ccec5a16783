//! `farfield selftest`: compares a GPU with exact results and prints a table.
//!
//! It needs a GPU, so it is not a `cargo test`.

mod checks;
mod cores;
mod plane;
mod poisson;
mod simulations;
mod space;
mod structured;
mod tree;

use crate::args::{PrecisionName, SelftestArgs, TestedPart};
use crate::failure::Failure;
use crate::{device, layout, print};
use checks::{Checks, Extent, Row};
use farfield::cuda::device::Precision;
use farfield::{Device, cuda};
use farfield_io::columns;
use serde::Serialize;
use std::sync::Arc;

/// Why a check could not be done.
type Error = Box<dyn std::error::Error + Send + Sync>;

#[derive(Serialize)]
struct Report {
    version: &'static str,
    device: String,
    passed: usize,
    failed: usize,
    checks: Vec<Check>,
}

#[derive(Serialize)]
struct Check {
    #[serde(flatten)]
    row: Row,
    passed: bool,
}

/// Runs the command. If a check fails, the exit code is 1, after the table.
pub fn run(args: &SelftestArgs) -> Result<String, Failure> {
    let Device::Cuda(number) = args.device else {
        return Err(Failure::Usage(format!(
            "--device {}: the selftest is for a GPU, cuda or cuda:N; the CPU has `cargo test`",
            args.device
        )));
    };
    let device = farfield::open(number).map_err(|error| device::failure(args.device, &error))?;
    let mut checks = Vec::new();
    let width = layout::width_of_progress();
    let mut report = |row: &Row| {
        let line = line(row);
        print::progress(&width.map_or(line.clone(), |width| columns::folded(&line, width)));
        checks.push(Check {
            row: row.clone(),
            passed: row.passed(),
        });
    };
    run_all(args, &device, &mut report).map_err(Failure::data)?;
    let failed = checks.iter().filter(|check| !check.passed).count();
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        device: device.properties().name.clone(),
        passed: checks.len() - failed,
        failed,
        checks,
    };
    if failed > 0 {
        return Err(Failure::Data(format!(
            "{failed} of {} checks failed on {}",
            report.checks.len(),
            report.device
        )));
    }
    if args.json {
        let text = serde_json::to_string_pretty(&report).map_err(|error| Failure::Data(format!("JSON: {error}")))?;
        return Ok(text + "\n");
    }
    Ok(format!("{} checks passed on {}\n", report.passed, report.device))
}

/// Runs the checks that `args` asks for and hands each row to `report` as it is done. A device that fails ends the test; a
/// wrong result is a row.
fn run_all(args: &SelftestArgs, device: &Arc<cuda::Device>, report: &mut dyn FnMut(&Row)) -> Result<(), Error> {
    let extent = if args.quick { Extent::Quick } else { Extent::Full };
    let wants = |part: TestedPart| args.part.is_none_or(|asked| asked == part);
    if wants(TestedPart::Poisson) {
        poisson::run(device, extent, report)?;
    }
    if wants(TestedPart::Simulations) {
        simulations::run(device, report)?;
    }
    for part in TestedPart::SUMS.into_iter().filter(|part| wants(*part)) {
        if args.precision != Some(PrecisionName::F64) {
            run_in::<f32>(device, part, extent, report)?;
        }
        if args.precision != Some(PrecisionName::F32) {
            run_in::<f64>(device, part, extent, report)?;
        }
    }
    Ok(())
}

/// Runs the checks of one of [`TestedPart::SUMS`] in one precision.
fn run_in<T: Precision>(
    device: &Arc<cuda::Device>,
    part: TestedPart,
    extent: Extent,
    report: &mut dyn FnMut(&Row),
) -> Result<(), Error> {
    match part {
        TestedPart::Space => space::run_in::<T>(device, extent, report),
        TestedPart::Plane => plane::run_in::<T>(device, extent, report),
        _ => {
            let mut checks = Checks::default();
            structured::add_checks::<T>(&mut checks, extent);
            checks.run(device, extent, report)
        }
    }
}

fn line(row: &Row) -> String {
    let mark = if row.passed() { "ok  " } else { "FAIL" };
    format!(
        "{mark}{:9.2e} <={:8.1e} {}  {}; {}; {}",
        row.measured, row.allowed, row.precision, row.what, row.points, row.parameters
    )
}
