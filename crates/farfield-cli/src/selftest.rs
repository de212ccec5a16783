//! `farfield selftest`: compares a device with exact results and prints a table.

use crate::args::{PrecisionName, SelftestArgs, TestedPart};
use crate::failure::Failure;
use crate::{device, layout, print};
use farfield::Device;
use farfield_evidence::selftest::{self, Extent, Row, Sums};
use farfield_io::columns;
use serde::Serialize;
use std::fmt::Write;

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
    what: String,
    precision: &'static str,
    points: String,
    parameters: String,
    measured: f64,
    allowed: f64,
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
    let extent = if args.quick { Extent::Quick } else { Extent::Full };
    let mut checks = Vec::new();
    let width = layout::width_of_progress();
    let mut report = |row: &Row| {
        let line = line(row);
        print::progress(&width.map_or(line.clone(), |width| columns::folded(&line, width)));
        checks.push(Check::of(row));
    };
    let wants = |part: TestedPart| args.part.is_none_or(|asked| asked == part);
    let (single, double) = (
        args.precision != Some(PrecisionName::F64),
        args.precision != Some(PrecisionName::F32),
    );
    if wants(TestedPart::Poisson) {
        selftest::run_poisson(&device, extent, &mut report)?;
    }
    if wants(TestedPart::Simulations) {
        selftest::run_simulations(&device, &mut report)?;
    }
    for (sums, part) in Sums::ALL.into_iter().zip(TestedPart::SUMS) {
        if wants(part) && single {
            selftest::run_in::<f32>(&device, sums, extent, &mut report)?;
        }
        if wants(part) && double {
            selftest::run_in::<f64>(&device, sums, extent, &mut report)?;
        }
    }
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
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{} checks passed on {}", report.passed, report.device);
    Ok(text)
}

impl Check {
    fn of(row: &Row) -> Self {
        Self {
            what: row.what.clone(),
            precision: row.precision,
            points: row.points.clone(),
            parameters: row.parameters.clone(),
            measured: row.measured,
            allowed: row.allowed,
            passed: row.passed(),
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
