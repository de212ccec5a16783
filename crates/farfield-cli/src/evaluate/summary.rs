//! The report as text.

use super::input::Input;
use super::settings::{Charges, EvaluateSettings, Sources};
use super::{Outcome, rate};
use crate::problem::{Named, Problem};
use farfield::check::Check;
use farfield::report::{Phase, Processor};
use farfield::{Method, Precision};
use farfield_io::units;
use std::fmt::Write;

/// The column at which values start.
const NAME_WIDTH: usize = 14;

/// The report.
pub fn text<P: Problem<D>, T: Precision, const D: usize>(
    settings: &EvaluateSettings<P, D>,
    input: &Input<T, D>,
    outcome: &Outcome,
) -> String {
    let mut text = String::new();
    describe(&mut text, settings, input);
    plan(&mut text, settings, outcome);
    time(&mut text, outcome);
    error(&mut text, outcome);
    rates(&mut text, input.sources.len(), input.target_count(), outcome);
    for note in &outcome.report.notes {
        line(&mut text, "note", note);
    }
    if let Some(path) = &settings.output {
        line(&mut text, "written", &path.display().to_string());
    }
    text
}

fn line(text: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{name:NAME_WIDTH$}{value}");
}

fn describe<P: Problem<D>, T: Precision, const D: usize>(
    text: &mut String,
    settings: &EvaluateSettings<P, D>,
    input: &Input<T, D>,
) {
    let (kernel, outputs) = (
        P::facts(&settings.request, settings.size).title,
        settings.output_names().join(", "),
    );
    line(text, "sum", &format!("{kernel}: {outputs}, {}", T::NAME));
    let made = match &settings.sources {
        Sources::Made { set, .. } => format!("{}, seed {}", set.name(), settings.seed),
        Sources::File(path) => path.display().to_string(),
    };
    let charges = match &settings.charges {
        Charges::Made(distribution) => format!("{distribution} charges"),
        Charges::WithSources => "charges from the same file".to_owned(),
        Charges::File(path) => format!("charges from {}", path.display()),
        Charges::None => "no charges".to_owned(),
    };
    let dipoles = settings.dipoles.as_ref();
    let dipoles = dipoles.map_or_else(String::new, |path| format!(", dipoles from {}", path.display()));
    let vectors = if input.vectors == 1 {
        String::new()
    } else {
        format!(" x {}", input.vectors)
    };
    let sources = units::count(input.sources.len() as u64);
    line(
        text,
        "sources",
        &format!("{sources} ({made}), {charges}{dipoles}{vectors}"),
    );
    let targets = match (&input.targets, &settings.targets) {
        (Some(targets), Some(path)) => format!("{} ({})", units::count(targets.len() as u64), path.display()),
        _ => "the sources".to_owned(),
    };
    line(text, "targets", &targets);
}

fn plan<P: Problem<D>, const D: usize>(text: &mut String, settings: &EvaluateSettings<P, D>, outcome: &Outcome) {
    let parameters = &outcome.report;
    let chosen = match settings.request.options.method {
        Method::Auto => " (chosen)",
        asked if asked.name() != parameters.method => " (instead of the requested method)",
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
    line(text, "device", &device(settings, &outcome.processor));
}

fn device<P: Problem<D>, const D: usize>(settings: &EvaluateSettings<P, D>, processor: &Processor) -> String {
    match processor {
        Processor::Cpu { simd, lanes } => {
            let (threads, profile) = (threads(), &settings.profile);
            format!("cpu, {threads}, {simd} ({lanes} lanes), profile {profile}")
        }
        // The machine profile is the CPU's.
        Processor::Cuda(gpu) => format!("cuda, {}, {} multiprocessors", gpu.name, gpu.multiprocessors),
    }
}

fn threads() -> String {
    let threads = rayon::current_num_threads();
    let plural = if threads == 1 { "" } else { "s" };
    format!("{threads} thread{plural}")
}

fn time(text: &mut String, outcome: &Outcome) {
    let seconds = &outcome.report.seconds;
    let _ = writeln!(text);
    line(text, "time", &units::seconds(seconds.total));
    let phases: Vec<(&str, f64)> = Phase::ALL
        .into_iter()
        .map(|phase| (phase.name(), seconds.of(phase)))
        .collect();
    let other = seconds.total - phases.iter().map(|(_, time)| time).sum::<f64>();
    for (name, time) in phases.into_iter().chain([("other", other.max(0.0))]) {
        let share = if seconds.total > 0.0 { time / seconds.total } else { 0.0 };
        // Phases without work still take the time to read a clock.
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
    let tolerance = match outcome.report.tolerance {
        Some(tolerance) => format!("tolerance {tolerance:e}"),
        None => "order fixed, no tolerance".to_owned(),
    };
    if let Some(check) = &outcome.check {
        checked(text, check, &tolerance);
    }
    if outcome.errors.is_empty() {
        if outcome.check.is_none() {
            line(text, "error", &format!("not measured (use --verify 200), {tolerance}"));
        }
        return;
    }
    let samples = units::count(outcome.samples as u64);
    line(text, "error", &format!("relative, at {samples} targets; {tolerance}"));
    for measured in &outcome.errors {
        let error = measured.relative_l2;
        let mark = match outcome.report.tolerance {
            Some(tolerance) if error <= tolerance => format!("ok ({:.2} of the tolerance)", error / tolerance),
            Some(_) if error.is_nan() => "EXCEEDED (NaN: the values overflow)".to_owned(),
            Some(tolerance) => format!("EXCEEDED ({:.2} times the tolerance)", error / tolerance),
            None => String::new(),
        };
        let largest = measured
            .maximum
            .map_or_else(String::new, |maximum| format!("  largest at a target {maximum:.2e}"));
        let row = format!("{error:>10.2e}  {mark}{largest}");
        // The longest name does not fit the usual column.
        let _ = writeln!(text, "  {:19}{}", measured.output, row.trim_end());
    }
}

/// The error that the evaluation itself measured.
fn checked(text: &mut String, check: &Check, tolerance: &str) {
    let targets = units::count(check.targets as u64);
    let again = match check.attempts {
        0 | 1 => String::new(),
        attempts => format!("; summed {attempts} times to meet it"),
    };
    line(text, "checked", &format!("at {targets} targets; {tolerance}{again}"));
    for measured in &check.outputs {
        let row = format!("{:>10.2e}  at most {:.2e}", measured.relative_l2, measured.upper);
        let _ = writeln!(text, "  {:19}{row}", measured.output);
    }
    for warning in &check.warnings {
        line(text, "warning", &format!("EXCEEDED: {warning}"));
    }
}

fn rates(text: &mut String, sources: usize, targets: usize, outcome: &Outcome) {
    let seconds = &outcome.report.seconds;
    let counts = outcome.report.interactions;
    let (sources, targets) = (sources as f64, targets as f64);
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
