//! `farfield bench --device cuda`: the rates of a GPU, and their share of its bounds.

use crate::failure::Failure;
use crate::{layout, print};
use farfield::cuda::device::Properties;
use farfield::kernel::{Kernel, Output};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::report::Phase;
use farfield::{Device, Method, Precision, Sum};
use farfield_io::{columns, units};
use serde::Serialize;
use std::fmt::Write;

const POTENTIAL: &[Output] = &[Output::Potential];
const BOTH: &[Output] = &[Output::Potential, Output::Gradient];

#[derive(Serialize)]
struct Report {
    version: &'static str,
    device: String,
    all_pairs: Vec<AllPairs>,
    fmm: Vec<FmmResult>,
}

/// The direct sum.
#[derive(Serialize)]
struct AllPairs {
    precision: &'static str,
    outputs: &'static str,
    n: usize,
    /// Pairs per second.
    pairs: f64,
    /// The rate that the arithmetic units allow.
    bound: f64,
}

/// The fastest of several FMM sums.
#[derive(Serialize)]
struct FmmResult {
    case: String,
    n: usize,
    /// From host memory to host memory, tree included.
    seconds: f64,
    /// The device's own time, tree included.
    device_seconds: f64,
    /// Pairs per second of P2P, and as a share of the direct sum's.
    p2p_pairs: f64,
    p2p_share: f64,
    /// Translations per second of M2L.
    m2l: f64,
    /// The device's time in seconds, by phase.
    phases: Vec<(&'static str, f64)>,
}

/// Runs the measurements.
pub fn run(number: usize, quick: bool, json: bool) -> Result<String, Failure> {
    let device = Device::Cuda(number);
    let properties = farfield::open(number)?.properties().clone();
    let scale = if quick { 20 } else { 1 };
    print::progress("measuring all pairs");
    let all_pairs = vec![
        all_pairs::<f32>(&properties, POTENTIAL, 1_000_000 / scale)?,
        all_pairs::<f32>(&properties, BOTH, 1_000_000 / scale)?,
        all_pairs::<f64>(&properties, POTENTIAL, 500_000 / scale)?,
        all_pairs::<f64>(&properties, BOTH, 500_000 / scale)?,
    ];
    print::progress("measuring FMMs");
    let rate = |at: usize| all_pairs[at].pairs;
    let (cube, sphere, plummer) = (PointSet::Cube, PointSet::Sphere, PointSet::Plummer);
    let n = 1_000_000 / scale;
    let fmm = vec![
        fmm::<f32>(device, cube, 10_000, BOTH, 1e-3, rate(1))?,
        fmm::<f32>(device, cube, n, BOTH, 1e-3, rate(1))?,
        fmm::<f32>(device, sphere, n, BOTH, 1e-3, rate(1))?,
        fmm::<f32>(device, plummer, n, BOTH, 1e-3, rate(1))?,
        fmm::<f64>(device, cube, n, POTENTIAL, 1e-6, rate(2))?,
        fmm::<f64>(device, sphere, n, POTENTIAL, 1e-6, rate(2))?,
        fmm::<f64>(device, cube, n, POTENTIAL, 1e-9, rate(2))?,
    ];
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        device: properties.name.clone(),
        all_pairs,
        fmm,
    };
    if json {
        let text = serde_json::to_string_pretty(&report).map_err(|error| Failure::Data(format!("JSON: {error}")))?;
        return Ok(text + "\n");
    }
    Ok(summary(&report))
}

fn all_pairs<T: Precision>(gpu: &Properties, outputs: &[Output], n: usize) -> Result<AllPairs, Failure> {
    let points = PointSet::Cube.generate::<T>(n, 1);
    let strengths = ChargeDistribution::Signed.generate::<T>(n, 1);
    let sum = Sum::new(Kernel::Coulomb, &points)
        .outputs(outputs)
        .method(Method::Direct)
        .device(Device::Cuda(gpu.ordinal));
    let mut plan = sum.plan()?;
    let mut best = f64::MAX;
    for _ in 0..3 {
        plan.evaluate(&strengths)?;
        best = best.min(plan.seconds().of(Phase::P2p));
    }
    Ok(AllPairs {
        precision: T::NAME,
        outputs: name(outputs),
        n,
        pairs: (n as f64).powi(2) / best,
        bound: bound::<T>(gpu, outputs),
    })
}

/// Pairs per second that the arithmetic units allow. In single precision, each multiprocessor does 128 operations and
/// 16 reciprocal square roots a cycle; in double precision, 64 operations (on GPUs made for it).
fn bound<T: Precision>(properties: &Properties, outputs: &[Output]) -> f64 {
    let gradient = outputs.len() > 1;
    let per_cycle = match (T::DOUBLE, gradient) {
        // Three differences, their square, the product with the charge; the gradient takes six more.
        (false, false) => f64::min(128.0 / 7.0, 16.0),
        (false, true) => 128.0 / 13.0,
        // The reciprocal square root takes five more operations.
        (true, false) => 64.0 / 12.0,
        (true, true) => 64.0 / 18.0,
    };
    per_cycle * properties.multiprocessors as f64 * 1e3 * properties.clock_khz as f64
}

fn fmm<T: Precision>(
    device: Device,
    set: PointSet,
    n: usize,
    outputs: &[Output],
    tolerance: f64,
    all_pairs: f64,
) -> Result<FmmResult, Failure> {
    let points = set.generate::<T>(n, 1);
    let strengths = ChargeDistribution::Signed.generate::<T>(n, 1);
    let mut best: Option<FmmResult> = None;
    for _ in 0..8 {
        let sum = Sum::new(Kernel::Coulomb, &points)
            .outputs(outputs)
            .method(Method::Fmm)
            .tolerance(tolerance)
            .device(device);
        let mut plan = sum.plan()?;
        plan.evaluate(&strengths)?;
        let (seconds, interactions) = (*plan.seconds(), plan.parameters().interactions);
        let p2p_pairs = interactions.p2p as f64 / seconds.of(Phase::P2p);
        let result = FmmResult {
            case: format!("{set} {} {tolerance:.0e} {}", T::NAME, name(outputs)),
            n,
            seconds: seconds.total,
            device_seconds: Phase::ALL.iter().map(|phase| seconds.of(*phase)).sum(),
            p2p_pairs,
            p2p_share: p2p_pairs / all_pairs,
            m2l: interactions.m2l as f64 / seconds.of(Phase::M2l),
            phases: Phase::ALL
                .iter()
                .map(|phase| (phase.name(), seconds.of(*phase)))
                .filter(|(_, seconds)| *seconds > 0.0)
                .collect(),
        };
        if best
            .as_ref()
            .is_none_or(|best| result.device_seconds < best.device_seconds)
        {
            best = Some(result);
        }
    }
    best.ok_or_else(|| Failure::data("nothing was measured"))
}

fn name(outputs: &[Output]) -> &'static str {
    if outputs.len() > 1 {
        "potential+gradient"
    } else {
        "potential"
    }
}

fn summary(report: &Report) -> String {
    let width = layout::width();
    let table = |rows: Vec<Vec<String>>| columns::aligned(&rows, true, width);
    let words = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
    let mut rows = vec![words(&["all pairs", "N", "pairs/s", "of the bound"])];
    for a in &report.all_pairs {
        rows.push(vec![
            format!("{} {}", a.precision, a.outputs),
            a.n.to_string(),
            units::with_prefix(a.pairs),
            format!("{:.0} %", 100.0 * a.pairs / a.bound),
        ]);
    }
    let mut text = format!("{}\n\n{}", report.device, table(rows));
    let mut rows = vec![words(&["FMM", "N", "host to host", "device"])];
    for f in &report.fmm {
        rows.push(vec![
            f.case.clone(),
            f.n.to_string(),
            format!("{:.2} ms", 1e3 * f.seconds),
            format!("{:.2} ms", 1e3 * f.device_seconds),
        ]);
    }
    text.push('\n');
    text.push_str(&table(rows));
    text.push_str("\nFMM by phase, in ms on the device\n");
    for f in &report.fmm {
        let phases = f
            .phases
            .iter()
            .map(|(name, seconds)| format!("{name} {:.3}", 1e3 * seconds));
        let (pairs, share) = (units::with_prefix(f.p2p_pairs), 100.0 * f.p2p_share);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}, {}\n    {}\n    P2P {pairs} pairs/s, {share:.0} % of all pairs; M2L {}/s",
            f.case,
            f.n,
            phases.collect::<Vec<_>>().join(", "),
            units::with_prefix(f.m2l)
        );
    }
    layout::fit(text)
}
