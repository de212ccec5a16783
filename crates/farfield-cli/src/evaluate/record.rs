//! The report as one JSON object. Its keys are a contract: add, do not rename.

use super::input::Input;
use super::request::{Charges, Request, Sources};
use super::{Outcome, rate};
use crate::failure::Failure;
use crate::problem::{Facts, Named, Problem, Shared};
use farfield::check::{Check, Measured};
use farfield::report::{Phase, Seconds};
use farfield_cuda::device::Precision;
use farfield_cuda::hybrid::Busy;
use serde::Serialize;
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
    n_sources: usize,
    n_targets: usize,
    targets_are_sources: bool,
    precision: &'static str,
    tolerance: Option<f64>,
    method: &'static str,
    order: Option<usize>,
    lowest_m2l_order: Option<usize>,
    theta: Option<f64>,
    leaf_capacity: Option<usize>,
    depth: Option<usize>,
    boxes: usize,
    device: &'static str,
    threads: usize,
    simd: String,
    profile: String,
    repeat: usize,
    seconds: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_reused: Option<Map<String, Value>>,
    /// How CPU and GPU shared the sum; of `--device hybrid` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<Split>,
    /// Who was busy when; of `--device hybrid` only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    timeline: Vec<BusyRecord>,
    interactions: InteractionsRecord,
    rates: Rates,
    memory_bytes: Option<u64>,
    /// What was expected of it before there were any points.
    memory_forecast_bytes: u64,
    /// The relative L2 error of each output.
    error: Map<String, Value>,
    /// The largest relative error at a target (Goude and Engblom, eq. 5.3); in the plane only.
    #[serde(skip_serializing_if = "Map::is_empty")]
    maximum_error: Map<String, Value>,
    /// What the evaluation measured of its own error, over all targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<CheckRecord>,
    notes: Vec<String>,
}

/// The error of each output by its name, and how sure it is.
#[derive(Serialize)]
struct CheckRecord {
    error: Map<String, Value>,
    /// What the errors hardly exceed.
    upper: Map<String, Value>,
    targets: usize,
    /// Whether these were all.
    complete: bool,
    /// How often it was summed until the tolerance held.
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

/// Seconds count from when tree and lists are made.
#[derive(Serialize)]
struct Split {
    /// The GPU's share of the pairs of points.
    gpu_pairs: f64,
    cpu_seconds: f64,
    gpu_seconds: f64,
    /// Both at once.
    seconds: f64,
}

#[derive(Serialize)]
struct BusyRecord {
    /// `cpu` or `gpu`.
    who: &'static str,
    phase: &'static str,
    start_s: f64,
    end_s: f64,
}

#[derive(Serialize)]
struct InteractionsRecord {
    p2p: u64,
    m2l: u64,
    m2p: u64,
    p2l: u64,
}

/// Per second; `null` where there was nothing of the kind.
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
    problem: &P,
    request: &Request<P::Set>,
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
    } = problem.facts();
    let parameters = &outcome.parameters;
    let (n_sources, n_targets) = (input.sources.len(), input.target_count());
    let (counts, seconds) = (parameters.interactions, &outcome.seconds);
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
        outputs: problem.outputs().iter().map(|output| output.name()).collect(),
        points: request.source_name(),
        seed: request.seed,
        charges: match (&request.charges, &request.sources) {
            (Charges::Made(distribution), _) => distribution.name().to_owned(),
            (Charges::File(path), _) | (Charges::WithSources, Sources::File(path)) => path.display().to_string(),
            (Charges::WithSources, Sources::Made { .. }) => String::new(),
        },
        charge_vectors: input.vectors,
        n_sources,
        n_targets,
        targets_are_sources: input.targets.is_none(),
        precision: T::NAME,
        tolerance: outcome.tolerance,
        method: parameters.method.name(),
        order: parameters.order,
        lowest_m2l_order: parameters.lowest_m2l_order,
        theta: parameters.theta,
        leaf_capacity: parameters.leaf_capacity,
        depth: parameters.depth,
        boxes: parameters.boxes,
        device: outcome.processor.device(),
        threads: rayon::current_num_threads(),
        simd: outcome.processor.instruction_set(),
        profile: request.profile.clone(),
        repeat: request.repeat,
        seconds: seconds_record(seconds),
        seconds_reused: outcome.reused.as_ref().map(seconds_record),
        split: outcome.shared.as_ref().map(split),
        timeline: outcome.shared.as_ref().map_or_else(Vec::new, timeline),
        interactions: InteractionsRecord {
            p2p: counts.p2p,
            m2l: counts.m2l,
            m2p: counts.m2p,
            p2l: counts.p2l,
        },
        rates: Rates {
            p2p_pairs_per_second: rate(counts.p2p as f64, seconds.of(Phase::P2p)),
            m2l_per_second: rate(counts.m2l as f64, seconds.of(Phase::M2l)),
            pairs_per_second: rate(n_sources as f64 * n_targets as f64, seconds.total),
            targets_per_second: rate(n_targets as f64, seconds.total),
        },
        memory_bytes: outcome.memory,
        memory_forecast_bytes: problem.memory_forecast::<T>(input.counts(), &request.settings),
        error,
        maximum_error,
        check: outcome.check.as_ref().map(CheckRecord::new),
        notes: outcome.notes.clone(),
    };
    let text = serde_json::to_string_pretty(&record).map_err(|error| Failure::Data(format!("no JSON: {error}")))?;
    Ok(text + "\n")
}

fn split(shared: &Shared) -> Split {
    Split {
        gpu_pairs: shared.gpu_pairs,
        cpu_seconds: shared.halves.cpu,
        gpu_seconds: shared.halves.gpu,
        seconds: shared.halves.together,
    }
}

fn timeline(shared: &Shared) -> Vec<BusyRecord> {
    let record = |busy: &Busy| BusyRecord {
        who: busy.who.name(),
        phase: busy.phase,
        start_s: busy.start,
        end_s: busy.end,
    };
    shared.timeline.iter().map(record).collect()
}

fn seconds_record(seconds: &Seconds) -> Map<String, Value> {
    let mut record = Map::new();
    record.insert("total".to_owned(), seconds.total.into());
    for phase in Phase::ALL {
        record.insert(phase.name().to_owned(), seconds.of(phase).into());
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield_cuda::hybrid::{Halves, Who};

    #[test]
    fn the_timeline_is_a_list_of_who_did_what_from_when_to_when() {
        let shared = Shared {
            timeline: vec![Busy {
                who: Who::Gpu,
                phase: "p2p",
                start: 0.5,
                end: 0.75,
            }],
            gpu_pairs: 1.0,
            halves: Halves {
                cpu: 0.25,
                gpu: 0.5,
                together: 0.625,
            },
        };
        let busy = serde_json::to_value(timeline(&shared)).unwrap();
        let expected = serde_json::json!([{"who": "gpu", "phase": "p2p", "start_s": 0.5, "end_s": 0.75}]);
        assert_eq!(busy, expected);
        let split = serde_json::to_value(split(&shared)).unwrap();
        let expected = serde_json::json!({"gpu_pairs": 1.0, "cpu_seconds": 0.25, "gpu_seconds": 0.5, "seconds": 0.625});
        assert_eq!(split, expected);
    }
}
