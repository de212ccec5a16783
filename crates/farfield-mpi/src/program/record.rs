//! The report of all ranks together, and of each rank.

use farfield::check::Check;
use farfield::report::Report;
use farfield::verify::OutputError;
use farfield::{Field, Precision, machine};
use farfield_cli::evaluate::settings::{Charges, EvaluateSettings, Sources};
use farfield_cli::failure::Failure;
use farfield_cli::problem::Problem;
use farfield_io::units;
use farfield_mpi::{Communicator, Mpi, Plan, RankReport, RankSeconds, Shared};
use serde_json::{Map, Value, json};

/// The result of the fastest evaluation on this rank.
#[derive(Clone)]
pub struct Outcome {
    /// The report of this rank.
    report: RankReport,
    /// The reports of its engines, for own and for received sources; `None` if there was nothing to sum.
    engines: [Option<Report>; 2],
    /// Seconds of the slowest rank.
    pub slowest: f64,
    /// The fastest evaluation with an existing plan: seconds of the slowest rank, and of this rank by step.
    pub reuse: Option<(f64, RankSeconds)>,
    tolerance: Option<f64>,
    check: Option<Check>,
    notes: Vec<String>,
    memory: Option<u64>,
    /// The number of targets that were compared with the true sum.
    pub samples: usize,
    /// The errors at those targets.
    pub errors: Vec<OutputError>,
}

impl Outcome {
    /// The result of an evaluation. Called by all ranks together.
    pub fn new<P: Shared<D>, T: Precision, const D: usize>(
        ranks: &Mpi,
        plan: &Plan<'_, Mpi, P, T, D>,
        field: &Field<T, P>,
        notes: Vec<String>,
    ) -> Self {
        let report = plan.report();
        Self {
            slowest: slowest(ranks, report.seconds.total),
            report,
            engines: plan.engine_reports(),
            reuse: None,
            tolerance: plan.tolerance(),
            check: field.check().cloned(),
            notes,
            memory: machine::peak_memory(),
            samples: 0,
            errors: Vec::new(),
        }
    }

    /// Records another evaluation of the same plan. Called by all ranks together.
    pub fn reused<P: Shared<D>, T: Precision, const D: usize>(&mut self, ranks: &Mpi, plan: &Plan<'_, Mpi, P, T, D>) {
        let seconds = plan.report().seconds;
        let total = slowest(ranks, seconds.total);
        if self.reuse.is_none_or(|(best, _)| total < best) {
            self.reuse = Some((total, seconds));
        }
    }

    /// Whether a measured error exceeds the tolerance; the same on every rank.
    pub fn is_exceeded(&self) -> bool {
        let exceeds = |error: &OutputError| self.tolerance.is_some_and(|tolerance| error.relative_l2 > tolerance);
        self.errors.iter().any(exceeds) || self.check.as_ref().is_some_and(|check| !check.warnings.is_empty())
    }
}

fn slowest(ranks: &Mpi, seconds: f64) -> f64 {
    let mut slowest = [seconds];
    ranks.max_all(&mut slowest);
    slowest[0]
}

/// The report on the first rank, an empty string on the others. Called by all ranks together.
pub fn text<P: Problem<D>, const D: usize>(
    ranks: &Mpi,
    settings: &EvaluateSettings<P, D>,
    counts: (usize, usize),
    vectors: usize,
    outcome: &Outcome,
) -> Result<String, Failure> {
    let own = of_rank(ranks.rank(), outcome).to_string();
    let texts = ranks.send(vec![(0, own.into_bytes())]);
    if ranks.rank() != 0 {
        return Ok(String::new());
    }
    let read = |(_, bytes): &(usize, Vec<u8>)| serde_json::from_slice(bytes);
    let all: Result<Vec<Value>, _> = texts.iter().map(read).collect();
    let all = all.map_err(|error| Failure::Data(format!("invalid JSON from a rank: {error}")))?;
    let record = of_all(settings, counts, vectors, outcome, all);
    if settings.json {
        let text = serde_json::to_string_pretty(&record)
            .map_err(|error| Failure::Data(format!("the report cannot be written as JSON: {error}")))?;
        Ok(text + "\n")
    } else {
        Ok(summary(&record))
    }
}

/// The report of one rank as JSON.
fn of_rank(rank: usize, outcome: &Outcome) -> Value {
    let report = &outcome.report;
    json!({
        "rank": rank,
        "n_sources": report.sources,
        "n_targets": report.targets,
        "received": report.received,
        "equivalent": report.equivalent,
        "work": report.work,
        "memory_bytes": outcome.memory,
        "bytes": {
            "planning": report.planning.bytes_sent,
            "planning_received": report.planning.bytes_received,
            "evaluation": report.evaluation.bytes_sent,
            "evaluation_received": report.evaluation.bytes_received,
        },
        "messages": {
            "planning": report.planning.messages_sent,
            "evaluation": report.evaluation.messages_sent,
        },
        "seconds": seconds(&report.seconds),
        "seconds_reused": outcome.reuse.map(|(_, of_rank)| seconds(&of_rank)),
        "engine": outcome.engines[0],
        "engine_received": outcome.engines[1],
    })
}

fn seconds(seconds: &RankSeconds) -> Value {
    json!({
        "total": seconds.total,
        "partition": seconds.partition,
        "essential": seconds.essential,
        "plan": seconds.plan,
        "plan_hidden": seconds.plan_hidden,
        "moving": seconds.moving,
        "exchange": seconds.exchange,
        "engine": seconds.engine,
        "engine_received": seconds.engine_received,
        "hidden": seconds.hidden,
        "check": seconds.check,
        "waiting": seconds.waiting,
    })
}

fn of_all<P: Problem<D>, const D: usize>(
    settings: &EvaluateSettings<P, D>,
    (n_sources, n_targets): (usize, usize),
    vectors: usize,
    outcome: &Outcome,
    all: Vec<Value>,
) -> Value {
    let facts = P::facts(&settings.request, settings.size);
    let mut error = Map::new();
    for measured in &outcome.errors {
        error.insert(measured.output.to_owned(), measured.relative_l2.into());
    }
    error.insert("samples".to_owned(), outcome.samples.into());
    let check = outcome.check.as_ref().map(|check| {
        let by_name = |value: fn(&farfield::check::Measured) -> f64| -> Map<String, Value> {
            let entries = check
                .outputs
                .iter()
                .map(|measured| (measured.output.to_owned(), value(measured).into()));
            entries.collect()
        };
        json!({
            "error": by_name(|measured| measured.relative_l2),
            "upper": by_name(|measured| measured.upper),
            "targets": check.targets,
            "complete": check.complete,
            "attempts": check.attempts,
            "warnings": check.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    });
    let charges = match (&settings.charges, &settings.sources) {
        (Charges::Made(distribution), _) => distribution.name().to_owned(),
        (Charges::File(path), _) | (Charges::WithSources, Sources::File(path)) => path.display().to_string(),
        (Charges::WithSources, Sources::Made { .. }) => String::new(),
        (Charges::None, _) => "none".to_owned(),
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "kernel": facts.kernel,
        "core": facts.core,
        "core_size": facts.core_size,
        "softening": facts.softening,
        "outputs": settings.output_names(),
        "points": settings.source_name(),
        "charges": charges,
        "charge_vectors": vectors,
        "seed": settings.seed,
        "n_sources": n_sources,
        "n_targets": n_targets,
        "tolerance": outcome.tolerance,
        "precision": format!("{:?}", settings.precision).to_lowercase(),
        "device": settings.request.options.device.to_string(),
        "ranks": all.len(),
        "threads_per_rank": rayon::current_num_threads(),
        "equivalent_order": outcome.report.order,
        "equivalent_theta": outcome.report.theta,
        "seconds": { "total": outcome.slowest },
        "seconds_reused": outcome.reuse.map(|(slowest, _)| json!({ "total": slowest })),
        "balance": {
            "points": balance(&all, &["n_targets"]),
            "work": balance(&all, &["work"]),
            "engine_seconds": balance(&all, &["seconds", "engine"]),
        },
        "largest": {
            "memory_bytes": largest(&all, &["memory_bytes"]),
            "bytes_evaluation": largest(&all, &["bytes", "evaluation"]),
            "bytes_planning": largest(&all, &["bytes", "planning"]),
            "messages_evaluation": largest(&all, &["messages", "evaluation"]),
        },
        "error": error,
        "check": check,
        "notes": outcome.notes,
        "per_rank": all,
    })
}

fn numbers(all: &[Value], path: &[&str]) -> Vec<f64> {
    let number = |value: &Value| path.iter().fold(value, |value, key| &value[*key]).as_f64();
    all.iter().filter_map(number).collect()
}

fn largest(all: &[Value], path: &[&str]) -> f64 {
    numbers(all, path).into_iter().fold(0.0, f64::max)
}

/// The largest number divided by the mean.
fn balance(all: &[Value], path: &[&str]) -> Option<f64> {
    let numbers = numbers(all, path);
    let mean = numbers.iter().sum::<f64>() / numbers.len().max(1) as f64;
    (mean > 0.0).then(|| numbers.iter().copied().fold(0.0, f64::max) / mean)
}

/// A short summary of the report as text.
fn summary(record: &Value) -> String {
    let mut text = format!(
        "{} of {} sources at {} targets, {} ranks of {} threads, {}\n",
        record["kernel"].as_str().unwrap_or_default(),
        record["n_sources"],
        record["n_targets"],
        record["ranks"],
        record["threads_per_rank"],
        record["device"].as_str().unwrap_or_default(),
    );
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    text += &format!(
        "time            {}\n",
        units::seconds(number(&record["seconds"]["total"]))
    );
    if let Some(total) = record["seconds_reused"]["total"].as_f64() {
        text += &format!("with same plan  {}\n", units::seconds(total));
    }
    for (name, value) in record["error"].as_object().into_iter().flatten() {
        if name != "samples" {
            text += &format!(
                "error           {:.2e} of the {name}, at {} targets\n",
                number(value),
                record["error"]["samples"]
            );
        }
    }
    for (name, value) in record["check"]["error"].as_object().into_iter().flatten() {
        text += &format!("checked error   {:.2e} of the {name}\n", number(value));
    }
    for warning in record["check"]["warnings"].as_array().into_iter().flatten() {
        text += &format!("warning         {}\n", warning.as_str().unwrap_or_default());
    }
    text += &format!(
        "max per rank    {:.0} MB of memory; {:.2} MB in {} messages for each evaluation\n",
        number(&record["largest"]["memory_bytes"]) / 1e6,
        number(&record["largest"]["bytes_evaluation"]) / 1e6,
        number(&record["largest"]["messages_evaluation"]),
    );
    text += "rank    sources    targets   received equivalent     engine      total\n";
    for rank in record["per_rank"].as_array().into_iter().flatten() {
        text += &format!(
            "{:4} {:10} {:10} {:10} {:10} {:>10} {:>10}\n",
            number(&rank["rank"]),
            number(&rank["n_sources"]),
            number(&rank["n_targets"]),
            number(&rank["received"]),
            number(&rank["equivalent"]),
            units::seconds(number(&rank["seconds"]["engine"])),
            units::seconds(number(&rank["seconds"]["total"])),
        );
    }
    text
}
