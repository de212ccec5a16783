//! Yokota, figure 6: treecode and FMM by phase.

use super::measure::Measured;
use super::phases::{self, Bars};
use super::published::{YOKOTA_CPU_MAIN_PHASES, YOKOTA_FIGURE_6, YOKOTA_FIGURE_6_N, YOKOTA_HARDWARE};
use super::table::{Cell, Table};
use super::yokota::{Bodies, SAMPLES, TOLERANCE};
use super::{Context, Reproduction};
use crate::Error;
use farfield::Method;
use farfield::report::Phase;
use farfield_io::units;
use farfield_plot::BarChart;

/// The treecode on the FMM's neighbour lists, as the paper has it, takes about this many times as long as ours.
const NEIGHBOURS_OVER_ANGLE: f64 = 2.1;
/// It is left out where it would take longer, in seconds.
const LONGEST: f64 = 10.0;

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let n = context.size(YOKOTA_FIGURE_6_N as usize, 10_000);
    let bodies = Bodies::new(n);
    let mut columns = vec![
        ("method".to_owned(), "method".to_owned()),
        ("total_s".to_owned(), "total (s)".to_owned()),
    ];
    columns.extend(phases::columns("s", "(s)"));
    columns.extend(
        [
            ("device_s", "device (s)"),
            ("main_percent", "main phases %"),
            ("order", "order"),
            ("error", "error"),
        ]
        .map(owned),
    );
    let mut table = Table::new(columns);
    let (mut on_cpu, mut on_gpu) = (Vec::new(), Vec::new());
    let mut treecode = 0.0;
    for method in [Method::Treecode, Method::TreecodeOnNeighbours, Method::Fmm] {
        if method == Method::TreecodeOnNeighbours && NEIGHBOURS_OVER_ANGLE * treecode > LONGEST {
            continue;
        }
        context.step(format_args!("N = {n}, {method}"));
        let measured = bodies.case(method).measure(context, SAMPLES)?;
        if method == Method::Treecode {
            treecode = measured.seconds.total;
        }
        table.row(row(format!("{method} (CPU)"), &measured));
        on_cpu.push((method.to_string(), phases::seconds(&measured)));
    }
    for method in [Method::Treecode, Method::Fmm] {
        context.step_on_gpu(format_args!("N = {n}, {method} on the GPU"));
        if let Some(measured) = bodies.case(method).measure_on_gpu(context, SAMPLES)? {
            table.row(row(format!("{method} (GPU)"), &measured));
            on_gpu.push((method.to_string(), phases::seconds(&measured)));
        }
    }
    let charts = [("CPU", on_cpu), ("GPU, with copies", on_gpu)].map(|(name, bars)| Bars {
        name: name.to_owned(),
        bars,
    });
    let shown = if context.gpu.is_some() { 2 } else { 1 };
    let chart = |processor: &str| {
        BarChart::new(format!("{} bodies by phase: {processor}", units::count(n as u64)))
            .subtitle("gravity, single precision, tolerance 10^{-4}, as in Yokota and Barba, figure 6")
            .y_label("time (s)")
    };
    let mut remarks = vec![
        format!("both to a tolerance of {TOLERANCE:e}, errors of the acceleration at {SAMPLES} bodies"),
        format!(
            "main phases are P2P, M2P and M2L: more than {:.0} % on the paper's CPU",
            100.0 * YOKOTA_CPU_MAIN_PHASES
        ),
        "our treecode opens boxes by their angle; on neighbours: by the FMM's lists, as in the paper, where that takes less \
         than ten seconds"
            .to_owned(),
        "device: the sum of all phases, on the GPU without copies (`other`)".to_owned(),
        "the paper prints no times for this figure (on its GPU); it says:".to_owned(),
    ];
    remarks.extend(YOKOTA_FIGURE_6.map(|says| format!("  {says}")));
    Ok(Reproduction {
        title: format!(
            "Yokota, figure 6: time by phase for {} bodies, gravity, f32",
            units::count(n as u64)
        ),
        hardware: YOKOTA_HARDWARE,
        tables: vec![("", table)],
        remarks,
        png: phases::beside(chart, &charts[..shown])?,
    })
}

/// What the table says of a method.
fn row(name: String, measured: &Measured) -> Vec<Cell> {
    let main: f64 = [Phase::P2p, Phase::M2p, Phase::M2l]
        .map(|phase| measured.seconds.of(phase))
        .iter()
        .sum();
    let mut row = vec![Cell::Text(name), Cell::Number(measured.seconds.total)];
    row.extend(phases::seconds(measured).map(phases::cell));
    row.push(Cell::Number(measured.in_phases()));
    row.push(Cell::Number(100.0 * main / measured.seconds.total));
    let order = measured.parameters.order;
    row.push(order.map_or(Cell::Missing, |order| Cell::Count(order as u64)));
    row.push(Cell::Small(measured.error));
    row
}

fn owned((name, heading): (&str, &str)) -> (String, String) {
    (name.to_owned(), heading.to_owned())
}
