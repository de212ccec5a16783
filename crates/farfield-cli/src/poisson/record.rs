//! The report as one JSON object. Its keys are a contract: add, do not rename.

use super::field_on_grid::FieldOnGrid;
use super::settings::PoissonSettings;
use super::{Measured, Outcome};
use crate::failure::Failure;
use farfield::simd::Real;
use farfield_grid::poisson::Accuracy;
use serde::Serialize;

#[derive(Serialize)]
struct Record {
    version: &'static str,
    case: String,
    resolution: usize,
    component: &'static str,
    wavelet: &'static str,
    refine: f64,
    compress: f64,
    blocks: usize,
    blocks_per_level: Vec<usize>,
    unresolved_blocks: usize,
    n_sources: usize,
    n_targets: usize,
    kernel: &'static str,
    precision: &'static str,
    tolerance: Option<f64>,
    method: &'static str,
    theta: Option<f64>,
    order: Option<usize>,
    leaf_capacity: Option<usize>,
    boxes: usize,
    depth: usize,
    device: &'static str,
    threads: usize,
    simd: &'static str,
    seconds: SecondsRecord,
    interactions: InteractionsRecord,
    memory_bytes: Option<u64>,
    error: Option<ErrorRecord>,
    files: Vec<String>,
    /// `absolute` if thresholds are in the units of the vorticity, `relative` if they are shares of its largest value.
    thresholds: &'static str,
    largest_vorticity: f64,
    warnings: Vec<String>,
}

/// `total` is the time of the solution alone, without `adaptation`, which comes before it.
#[derive(Serialize)]
struct SecondsRecord {
    total: f64,
    sources: f64,
    tree: f64,
    expansions: f64,
    plan: f64,
    direct: f64,
    indirect: f64,
    transfer: f64,
    evaluation: f64,
    adaptation: f64,
}

#[derive(Serialize)]
struct InteractionsRecord {
    direct: u64,
    indirect: u64,
    translations: u64,
}

#[derive(Serialize)]
struct ErrorRecord {
    psi: f64,
    samples: usize,
}

/// The report.
pub fn json<T: Real>(
    settings: &PoissonSettings,
    problem: &FieldOnGrid<T>,
    outcome: &Outcome,
) -> Result<String, Failure> {
    let report = &outcome.report;
    let seconds = report.seconds;
    let record = Record {
        version: env!("CARGO_PKG_VERSION"),
        case: settings.field.name(),
        resolution: problem.resolution,
        component: problem.components.name(),
        wavelet: settings.wavelet.name(),
        refine: settings.adaptation.refine,
        compress: settings.adaptation.compress,
        blocks: problem.grid.forest().leaves().len(),
        blocks_per_level: problem.grid.forest().leaves_per_level(),
        unresolved_blocks: problem.adapted.unresolved,
        n_sources: report.sources,
        n_targets: report.targets,
        kernel: settings.kernel.name(),
        precision: T::NAME,
        tolerance: match settings.accuracy {
            Accuracy::Tolerance(tolerance) => Some(tolerance),
            Accuracy::Fixed { .. } => None,
        },
        method: report.method.name(),
        theta: report.theta,
        order: report.order,
        leaf_capacity: report.leaf_capacity,
        boxes: report.boxes,
        depth: report.depth,
        device: report.device,
        threads: rayon::current_num_threads(),
        simd: report.simd.name(),
        seconds: SecondsRecord {
            total: seconds.total,
            sources: seconds.sources,
            tree: seconds.tree,
            expansions: seconds.expansions,
            plan: seconds.plan,
            direct: seconds.direct,
            indirect: seconds.indirect,
            transfer: seconds.transfer,
            evaluation: seconds.evaluation,
            adaptation: problem.adaptation_seconds,
        },
        interactions: InteractionsRecord {
            direct: report.interactions.direct,
            indirect: report.interactions.indirect,
            translations: report.interactions.translations,
        },
        memory_bytes: outcome.memory,
        error: outcome.error.map(|Measured { relative_l2, samples }| ErrorRecord {
            psi: relative_l2,
            samples,
        }),
        thresholds: if settings.absolute { "absolute" } else { "relative" },
        largest_vorticity: problem.largest,
        warnings: problem.warnings.clone(),
        files: outcome.written.iter().map(|path| path.display().to_string()).collect(),
    };
    let text = serde_json::to_string_pretty(&record).map_err(|error| Failure::Data(format!("JSON: {error}")))?;
    Ok(text + "\n")
}
