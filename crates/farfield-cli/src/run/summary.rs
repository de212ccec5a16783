//! The summary of a run.

use crate::failure::Failure;
use farfield_io::units;
use farfield_sim::case::Case;
use farfield_sim::run::{DeviceUse, Outcome};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

#[derive(Serialize)]
struct Record<'a> {
    version: &'static str,
    title: &'a str,
    folder: String,
    finished: bool,
    steps: u64,
    session_steps: u64,
    time: f64,
    seconds: f64,
    seconds_per_step: f64,
    /// The time of stepping and measuring over the time of the sums that move the system.
    cost_over_sums: f64,
    frames: u64,
    sums: &'a str,
    /// The device of the sums, unless it is the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<DeviceRecord<'a>>,
    /// The last row of diagnostics; null for values that were not measured.
    diagnostics: BTreeMap<&'a str, Option<f64>>,
}

#[derive(Serialize)]
struct DeviceRecord<'a> {
    name: &'a str,
    /// Whether the state stayed on the device between steps.
    state_stays: bool,
    bytes_sent: u64,
    bytes_fetched: u64,
    /// The share of the time that the sums that move the system took.
    share_of_sums: f64,
    /// The share of the time that sending and fetching states took.
    share_of_transfers: f64,
}

impl<'a> DeviceRecord<'a> {
    fn of(device: &'a DeviceUse, outcome: &Outcome) -> Self {
        let share = |seconds: f64| seconds / outcome.seconds.max(1e-9);
        Self {
            name: &device.name,
            state_stays: device.state_stays,
            bytes_sent: device.traffic.sent,
            bytes_fetched: device.traffic.fetched,
            share_of_sums: share(outcome.sum_seconds),
            share_of_transfers: share(device.traffic.seconds),
        }
    }
}

/// The summary as one JSON object.
pub fn json(case: &Case, folder: &Path, outcome: &Outcome) -> Result<String, Failure> {
    let values = outcome.last.iter().map(|value| value.is_finite().then_some(*value));
    let record = Record {
        version: env!("CARGO_PKG_VERSION"),
        title: &case.title,
        folder: folder.display().to_string(),
        finished: outcome.finished,
        steps: outcome.steps,
        session_steps: outcome.session_steps,
        time: outcome.time,
        seconds: outcome.seconds,
        seconds_per_step: per_step(outcome),
        cost_over_sums: outcome.stepping_seconds / outcome.sum_seconds.max(1e-9),
        frames: outcome.frames,
        sums: &outcome.sums,
        device: outcome.device.as_ref().map(|device| DeviceRecord::of(device, outcome)),
        diagnostics: outcome.columns.iter().map(String::as_str).zip(values).collect(),
    };
    let text = serde_json::to_string_pretty(&record).map_err(|error| Failure::Data(format!("JSON: {error}")))?;
    Ok(text + "\n")
}

fn per_step(outcome: &Outcome) -> f64 {
    outcome.stepping_seconds / outcome.session_steps.max(1) as f64
}

/// The summary as text.
pub fn text(case: &Case, folder: &Path, outcome: &Outcome) -> String {
    let mut text = String::new();
    let shown = folder.display();
    // Writing to a string cannot fail.
    let _ = if outcome.finished {
        writeln!(text, "finished      step {}, time {:.6}", outcome.steps, outcome.time)
    } else {
        writeln!(
            text,
            "stopped       step {}, time {:.6}; go on with: farfield resume {shown}",
            outcome.steps, outcome.time
        )
    };
    let _ = writeln!(text, "sums          {}", outcome.sums);
    let _ = writeln!(
        text,
        "time          {}, {} a step, {:.2} x the sums that move the system",
        units::seconds(outcome.seconds),
        units::seconds(per_step(outcome)),
        outcome.stepping_seconds / outcome.sum_seconds.max(1e-9)
    );
    if let Some(device) = &outcome.device {
        let record = DeviceRecord::of(device, outcome);
        let _ = writeln!(
            text,
            "device        {}: {}; {} sent, {} fetched; sums {:.0} % of the time, transfers {:.0} %",
            record.name,
            if record.state_stays {
                "the state stayed there"
            } else {
                "points were transferred for every sum"
            },
            units::bytes(record.bytes_sent),
            units::bytes(record.bytes_fetched),
            100.0 * record.share_of_sums,
            100.0 * record.share_of_transfers
        );
    }
    if case.tracers.is_some() && outcome.frames > 1 && case.output.frames_every == 1 {
        let _ = writeln!(
            text,
            "frame         {}; Hu, Gumerov and Duraiswami, one Tesla C2050: 1.4 to 2.5 s",
            units::seconds(outcome.seconds / outcome.frames as f64)
        );
    }
    for line in drifts(outcome) {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "files         {shown}");
    text
}

/// The drift of conserved quantities in this session.
fn drifts(outcome: &Outcome) -> Vec<String> {
    let at = |name: &str| outcome.columns.iter().position(|column| column == name);
    let pair = |name: &str| at(name).and_then(|k| Some((*outcome.first.get(k)?, *outcome.last.get(k)?)));
    let vector = |name: &str| {
        let parts: Option<Vec<(f64, f64)>> = ["x", "y", "z"]
            .iter()
            .map(|axis| pair(&format!("{name}_{axis}")))
            .collect();
        parts.map(|parts| {
            let norm = |f: &dyn Fn(&(f64, f64)) -> f64| parts.iter().map(|p| f(p).powi(2)).sum::<f64>().sqrt();
            (norm(&|p| p.0), norm(&|p| p.1 - p.0))
        })
    };
    let mut lines = Vec::new();
    if let Some((first, last)) = pair("energy").filter(|(a, b)| a.is_finite() && b.is_finite()) {
        let drift = (last - first) / first.abs().max(f64::MIN_POSITIVE);
        lines.push(format!("energy        {first:.6} -> {last:.6} ({drift:+.2e})"));
    }
    for (name, label) in [
        ("impulse", "impulse"),
        ("momentum", "momentum"),
        ("angular_momentum", "angular mom."),
    ] {
        if let Some((size, drift)) = vector(name) {
            lines.push(format!(
                "{label:14}{} (moved by {drift:.2e})",
                units::significant(size, 5)
            ));
        }
    }
    lines
}
