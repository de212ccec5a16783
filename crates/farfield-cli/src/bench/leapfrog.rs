//! `farfield bench leapfrog`: the cost of a simulation step beyond its sums.

use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::{device, layout, print};
use farfield::Device;
use farfield::simd::SimdLevel;
use farfield::tuning::MachineProfile;
use farfield_io::units;
use farfield_sim::case::{self, BuiltIn, Case, Override};
use farfield_sim::run::{Control, Outcome, Run, Silent};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Report {
    version: &'static str,
    simd: &'static str,
    threads: usize,
    /// The device, unless it is the CPU.
    device: Option<String>,
    elements: usize,
    tracers: usize,
    steps: u64,
    /// Stepping and measuring, per step.
    seconds_per_step: f64,
    /// The sums that move elements and tracers, per step.
    sum_seconds_per_step: f64,
    /// `seconds_per_step` over `sum_seconds_per_step`.
    cost_over_sums: f64,
    /// The whole program, files and pictures included, per step.
    seconds_per_step_with_files: f64,
    sums: String,
}

/// Takes Euler steps of the paper's middle size, 2^15 elements and 2^18 tracers, with a picture and a checkpoint at
/// each step, in a temporary folder, on the CPU or the requested device.
pub fn run(args: &BenchArgs, profile: MachineProfile) -> Result<String, Failure> {
    let size = if args.quick { "default" } else { "paper-a10" };
    let tracers = if args.quick { 1 << 14 } else { 1 << 18 };
    let set = [
        format!("size={size}"),
        format!("tracers.count={tracers}"),
        "time.step=0.0125".to_owned(),
        "time.end=0.0625".to_owned(),
        "time.scheme=euler".to_owned(),
        "output.frames_every=1".to_owned(),
        "output.checkpoint_every=1".to_owned(),
        "output.energy_every=1".to_owned(),
    ];
    let overrides = set
        .iter()
        .map(|text| Override::parse(text))
        .collect::<Result<Vec<_>, _>>();
    let case = overrides
        .and_then(|overrides| case::read(BuiltIn::ALL[0].text, BuiltIn::ALL[0].name, &overrides))
        .map_err(Failure::data)?;
    device::check(args.device)?;
    let folder = std::env::temp_dir().join(format!("farfield-bench-{}", std::process::id()));
    print::progress("measuring steps of the case leapfrog");
    let run = || {
        let outcome = measure(case.clone(), &folder, profile.clone(), args.device);
        // A folder that cannot be removed does no harm.
        let _ = std::fs::remove_dir_all(&folder);
        outcome
    };
    // The first run on a device may compile kernels.
    if args.device != Device::Cpu {
        run()?;
    }
    report(run()?, tracers, args.json)
}

fn measure(case: Case, folder: &Path, profile: MachineProfile, device: Device) -> Result<Outcome, farfield_sim::Error> {
    let mut run = Run::new(case, folder, profile)?;
    run.compute_on(device)?;
    run.go(&Control::default(), &mut Silent)
}

fn report(outcome: Outcome, tracers: usize, json: bool) -> Result<String, Failure> {
    // The last state is evaluated but not advanced: there is one evaluation more than steps.
    let looks = (outcome.session_steps + 1) as f64;
    let elements = outcome.columns.iter().position(|name| name == "elements");
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        simd: SimdLevel::best().name(),
        threads: rayon::current_num_threads(),
        device: outcome.device.map(|device| device.name),
        elements: elements.and_then(|k| outcome.last.get(k)).map_or(0, |n| *n as usize),
        tracers,
        steps: outcome.session_steps,
        seconds_per_step: outcome.stepping_seconds / looks,
        sum_seconds_per_step: outcome.sum_seconds / looks,
        cost_over_sums: outcome.stepping_seconds / outcome.sum_seconds.max(1e-9),
        seconds_per_step_with_files: outcome.seconds / looks,
        sums: outcome.sums,
    };
    if json {
        let text = serde_json::to_string_pretty(&report).map_err(|error| Failure::Data(format!("JSON: {error}")))?;
        return Ok(text + "\n");
    }
    Ok(layout::fit(format!(
        "leapfrog      {} elements, {} tracers, Euler steps, {} threads, {}{}\n\
         sums          {}\n\
         step          {}: {:.3} x its sums ({})\n\
         with files    {} a frame: picture and checkpoint at every step\n\
         paper         1.4 to 2.5 s a frame (Hu, Gumerov and Duraiswami, one Tesla C2050)\n",
        units::count(report.elements as u64),
        units::count(report.tracers as u64),
        report.threads,
        report.simd,
        report.device.map_or(String::new(), |device| format!(", {device}")),
        report.sums,
        units::seconds(report.seconds_per_step),
        report.cost_over_sums,
        units::seconds(report.sum_seconds_per_step),
        units::seconds(report.seconds_per_step_with_files),
    )))
}
