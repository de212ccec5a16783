//! The report as one JSON object. Its keys are a contract: add, do not rename.

use super::input::Input;
use super::settings::{Charges, EvaluateSettings, Sources};
use super::{Outcome, rate};
use crate::failure::Failure;
use crate::problem::{Facts, Problem};
use farfield::Precision;
use farfield::check::{Check, Measured};
use farfield::report::{Phase, Report, Seconds, by_phase};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

#[derive(Serialize)]
struct Record {
    version: &'static str,
    kernel: &'static str,
    core: Option<&'static str>,
    core_size: Option<f64>,
    softening: Option<f64>,
    gravitational_constant: Option<f64>,
    /// Whether strengths are complex; in the plane only.
    #[serde(skip_serializing_if = "Option::is_none")]
    complex: Option<bool>,
    outputs: Vec<&'static str>,
    points: String,
    seed: u64,
    charges: String,
    charge_vectors: usize,
    targets_are_sources: bool,
    threads: usize,
    profile: String,
    repeat: usize,
    /// The plan's parameters, and the time and memory it took.
    #[serde(flatten)]
    report: Report,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "reused")]
    seconds_reused: Option<Seconds>,
    rates: Rates,
    memory_bytes: Option<u64>,
    /// The forecast of the memory, made without any points.
    memory_forecast_bytes: u64,
    /// The relative L2 error of each output.
    error: Map<String, Value>,
    /// The largest relative error at a target (Goude and Engblom, eq. 5.3); in the plane only.
    #[serde(skip_serializing_if = "Map::is_empty")]
    maximum_error: Map<String, Value>,
    /// The error that the evaluation itself measured, over all targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<CheckRecord>,
}

/// The error of each output by name, and its confidence.
#[derive(Serialize)]
struct CheckRecord {
    error: Map<String, Value>,
    /// Upper bounds that the errors exceed only rarely.
    upper: Map<String, Value>,
    targets: usize,
    /// Whether all targets were compared.
    complete: bool,
    /// The number of sums until the tolerance was met.
    attempts: usize,
    warnings: Vec<String>,
}

impl CheckRecord {
    fn new(check: &Check) -> Self {
        let by_name = |value: fn(&Measured) -> f64| {
            let entry = |measured: &Measured| (measured.output.to_owned(), value(measured).into());
            check.outputs.iter().map(entry).collect()
        };
        Self {
            error: by_name(|measured| measured.relative_l2),
            upper: by_name(|measured| measured.upper),
            targets: check.targets,
            complete: check.complete,
            attempts: check.attempts,
            warnings: check.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Rates per second; `null` if the sum has no work of this kind.
#[derive(Serialize)]
struct Rates {
    /// Pairs of points over the time of P2P.
    p2p_pairs_per_second: Option<f64>,
    /// Translations over the time of M2L.
    m2l_per_second: Option<f64>,
    /// All pairs of a direct sum over the total time.
    pairs_per_second: Option<f64>,
    /// Targets over the total time.
    targets_per_second: Option<f64>,
}

/// The report.
pub fn json<P: Problem<D>, T: Precision, const D: usize>(
    settings: &EvaluateSettings<P, D>,
    input: &Input<T, D>,
    outcome: &Outcome,
) -> Result<String, Failure> {
    let Facts {
        kernel,
        title: _,
        core,
        core_size,
        softening,
        gravitational_constant,
        complex,
    } = P::facts(&settings.request, settings.size);
    let (n_sources, n_targets) = (input.sources.len(), input.target_count());
    let (counts, seconds) = (outcome.report.interactions, &outcome.report.seconds);
    let (mut error, mut maximum_error) = (Map::new(), Map::new());
    for measured in &outcome.errors {
        error.insert(measured.output.to_owned(), measured.relative_l2.into());
        if let Some(maximum) = measured.maximum {
            maximum_error.insert(measured.output.to_owned(), maximum.into());
        }
    }
    error.insert("samples".to_owned(), outcome.samples.into());
    let record = Record {
        version: env!("CARGO_PKG_VERSION"),
        kernel,
        core,
        core_size,
        softening,
        gravitational_constant,
        complex,
        outputs: settings.output_names(),
        points: settings.source_name(),
        seed: settings.seed,
        charges: match (&settings.charges, &settings.sources) {
            (Charges::Made(distribution), _) => distribution.name().to_owned(),
            (Charges::File(path), _) | (Charges::WithSources, Sources::File(path)) => path.display().to_string(),
            (Charges::WithSources, Sources::Made { .. }) => String::new(),
            (Charges::None, _) => "none".to_owned(),
        },
        charge_vectors: input.vectors,
        targets_are_sources: input.targets.is_none(),
        threads: rayon::current_num_threads(),
        profile: settings.profile.clone(),
        repeat: settings.repeat,
        report: outcome.report.clone(),
        seconds_reused: outcome.reused,
        rates: Rates {
            p2p_pairs_per_second: rate(counts.p2p as f64, seconds.of(Phase::P2p)),
            m2l_per_second: rate(counts.m2l as f64, seconds.of(Phase::M2l)),
            pairs_per_second: rate(n_sources as f64 * n_targets as f64, seconds.total),
            targets_per_second: rate(n_targets as f64, seconds.total),
        },
        memory_bytes: outcome.memory,
        memory_forecast_bytes: input
            .sum(settings)
            .memory_forecast(n_sources, input.targets.as_ref().map(Vec::len)),
        error,
        maximum_error,
        check: outcome.check.as_ref().map(CheckRecord::new),
    };
    let text = serde_json::to_string_pretty(&record).map_err(|error| Failure::Data(format!("JSON: {error}")))?;
    Ok(text + "\n")
}

fn reused<S: Serializer>(seconds: &Option<Seconds>, serializer: S) -> Result<S::Ok, S::Error> {
    match seconds {
        Some(seconds) => by_phase(seconds, serializer),
        None => serializer.serialize_none(),
    }
}
