//! The report for reading.

use super::input::Input;
use super::request::{Charges, Request, Sources};
use super::{Outcome, rate};
use crate::units;
use farfield::Method;
use farfield::kernel::Kernel;
use farfield::report::Phase;
use farfield::simd::Real;
use std::fmt::Write;

/// Where values start on a line.
const NAME_WIDTH: usize = 14;

/// The report.
pub fn text<T: Real>(request: &Request, input: &Input<T>, outcome: &Outcome) -> String {
    let mut text = String::new();
    describe(&mut text, request, input);
    plan(&mut text, request, outcome);
    time(&mut text, outcome);
    error(&mut text, outcome);
    rates(&mut text, input, outcome);
    for note in &outcome.notes {
        line(&mut text, "note", note);
    }
    if let Some(path) = &request.output {
        line(&mut text, "written", &path.display().to_string());
    }
    text
}

fn line(text: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{name:NAME_WIDTH$}{value}");
}

fn describe<T: Real>(text: &mut String, request: &Request, input: &Input<T>) {
    let kernel = match request.kernel {
        Kernel::Coulomb => "Coulomb".to_owned(),
        Kernel::Gravity { constant } => {
            let softening = request
                .size
                .map_or_else(String::new, |size| format!(", softening {size}"));
            format!("gravity (G = {constant}{softening})")
        }
        Kernel::BiotSavart { core } => {
            let size = request.size.map_or_else(String::new, |size| format!(" of size {size}"));
            format!("Biot-Savart ({} core{size})", core.name())
        }
    };
    let outputs: Vec<&str> = request.outputs.iter().map(|output| output.name()).collect();
    line(text, "sum", &format!("{kernel}: {}, {}", outputs.join(", "), T::NAME));
    let made = match &request.sources {
        Sources::Made { set, .. } => format!("{set}, seed {}", request.seed),
        Sources::File(path) => path.display().to_string(),
    };
    let charges = match &request.charges {
        Charges::Made(distribution) => format!("{distribution} charges"),
        Charges::WithSources => "charges from the same file".to_owned(),
        Charges::File(path) => format!("charges from {}", path.display()),
    };
    let vectors = if input.vectors == 1 {
        String::new()
    } else {
        format!(" x {}", input.vectors)
    };
    let sources = units::count(input.sources.len() as u64);
    line(text, "sources", &format!("{sources} ({made}), {charges}{vectors}"));
    let targets = match (&input.targets, &request.targets) {
        (Some(targets), Some(path)) => format!("{} ({})", units::count(targets.len() as u64), path.display()),
        _ => "the sources".to_owned(),
    };
    line(text, "targets", &targets);
}

fn plan(text: &mut String, request: &Request, outcome: &Outcome) {
    let parameters = &outcome.parameters;
    let chosen = match request.method {
        Method::Auto => " (chosen)",
        asked if asked != parameters.method => " (instead of what was asked for)",
        _ => "",
    };
    let mut method = format!("{}{chosen}", parameters.method);
    if let Some(order) = parameters.order {
        let _ = match parameters.lowest_m2l_order.filter(|lowest| *lowest < order) {
            Some(lowest) => write!(method, ", order {order} (M2L from {lowest})"),
            None => write!(method, ", order {order}"),
        };
    }
    if let Some(theta) = parameters.theta {
        let _ = write!(method, ", theta {}", units::significant(theta, 3));
    }
    line(text, "method", &method);
    if let (Some(capacity), Some(depth)) = (parameters.leaf_capacity, parameters.depth) {
        let boxes = units::count(parameters.boxes as u64);
        line(
            text,
            "tree",
            &format!("{boxes} boxes, depth {depth}, up to {capacity} points in a leaf"),
        );
    }
    let profile = request.profile.origin();
    line(
        text,
        "device",
        &format!("{}, profile {profile}", outcome.processor.description),
    );
}

fn time(text: &mut String, outcome: &Outcome) {
    let seconds = &outcome.seconds;
    let _ = writeln!(text);
    line(text, "time", &units::seconds(seconds.total));
    let phases: Vec<(&str, f64)> = Phase::ALL
        .into_iter()
        .map(|phase| (phase.name(), seconds.of(phase)))
        .collect();
    let other = seconds.total - phases.iter().map(|(_, time)| time).sum::<f64>();
    for (name, time) in phases.into_iter().chain([("other", other.max(0.0))]) {
        let share = if seconds.total > 0.0 { time / seconds.total } else { 0.0 };
        // Phases that do not take place still cost the reading of a clock.
        if share >= 0.0005 {
            let bar = "#".repeat((40.0 * share).round() as usize);
            let value = units::seconds(time);
            line(
                text,
                &format!("  {name}"),
                format!("{value:>10} {:5.1} %  {bar}", 100.0 * share).trim_end(),
            );
        }
    }
    if let Some(reused) = &outcome.reused {
        line(text, "reusing plan", &units::seconds(reused.total));
    }
}

fn error(text: &mut String, outcome: &Outcome) {
    let _ = writeln!(text);
    let tolerance = match outcome.tolerance {
        Some(tolerance) => format!("tolerance {tolerance:e}"),
        None => "order fixed, no tolerance".to_owned(),
    };
    if outcome.errors.is_empty() {
        line(text, "error", &format!("not measured (--verify 200 does), {tolerance}"));
        return;
    }
    let samples = units::count(outcome.samples as u64);
    line(text, "error", &format!("relative, at {samples} targets; {tolerance}"));
    for measured in &outcome.errors {
        let error = measured.relative_l2;
        let mark = match outcome.tolerance {
            Some(tolerance) if error <= tolerance => format!("ok ({:.2} of the tolerance)", error / tolerance),
            Some(_) if error.is_nan() => "EXCEEDED (not a number: the values overflow)".to_owned(),
            Some(tolerance) => format!("EXCEEDED ({:.2} times the tolerance)", error / tolerance),
            None => String::new(),
        };
        let row = format!("{error:>10.2e}  {mark}");
        // The longest name is wider than the column.
        let _ = writeln!(text, "  {:19}{}", measured.output.name(), row.trim_end());
    }
}

fn rates<T: Real>(text: &mut String, input: &Input<T>, outcome: &Outcome) {
    let seconds = &outcome.seconds;
    let counts = outcome.parameters.interactions;
    let (sources, targets) = (input.sources.len() as f64, input.target_count() as f64);
    let _ = writeln!(text);
    let per_second = |amount: f64, time: f64, what: &str| {
        rate(amount, time).map(|rate| format!("{}{what}/s", units::with_prefix(rate) + " "))
    };
    let rows = [
        (
            "throughput",
            per_second(targets, seconds.total, "targets"),
            String::new(),
        ),
        (
            "",
            per_second(sources * targets, seconds.total, "pairs"),
            ", counting every pair".to_owned(),
        ),
        (
            "p2p",
            per_second(counts.p2p as f64, seconds.of(Phase::P2p), "pairs"),
            all(counts.p2p),
        ),
        (
            "m2l",
            per_second(counts.m2l as f64, seconds.of(Phase::M2l), "translations"),
            all(counts.m2l),
        ),
        (
            "m2p",
            per_second(counts.m2p as f64, seconds.of(Phase::M2p), "evaluations"),
            all(counts.m2p),
        ),
        (
            "p2l",
            per_second(counts.p2l as f64, seconds.of(Phase::P2l), "additions"),
            all(counts.p2l),
        ),
    ];
    for (name, rate, rest) in rows {
        if let Some(rate) = rate {
            line(text, name, &format!("{rate}{rest}"));
        }
    }
    if let Some(memory) = outcome.memory {
        line(text, "memory", &format!("{} at the peak", units::bytes(memory)));
    }
}

fn all(count: u64) -> String {
    format!(", {} of them", units::count(count))
}
