//! Yokota, figure 6: treecode and FMM by phase.

use super::measure::{Measured, Problem};
use super::phases::{self, Bars};
use super::published::{YOKOTA_CPU_MAIN_PHASES, YOKOTA_FIGURE_6, YOKOTA_FIGURE_6_N, YOKOTA_HARDWARE};
use super::table::{Cell, Table};
use super::yokota::{Bodies, SAMPLES, TOLERANCE};
use super::{Context, Reproduction, count};
use crate::Error;
use farfield::Method;
use farfield::report::Phase;
use farfield_plot::BarChart;

/// The treecode on the FMM's neighbour lists, as the paper has it, takes about this many times as long as ours.
const NEIGHBOURS_OVER_ANGLE: f64 = 2.1;
/// It is left out where it would take longer than this many seconds.
const LONGEST: f64 = 10.0;

/// A method on a processor.
struct Row {
    method: Method,
    processor: &'static str,
    measured: Measured,
}

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let n = context.size(YOKOTA_FIGURE_6_N as usize, 10_000);
    let bodies = Bodies::new(n);
    let mut rows: Vec<Row> = Vec::new();
    for method in [Method::Treecode, Method::TreecodeOnNeighbours, Method::Fmm] {
        let treecode = rows.first().map_or(0.0, |row| row.measured.seconds.total);
        if method == Method::TreecodeOnNeighbours && NEIGHBOURS_OVER_ANGLE * treecode > LONGEST {
            continue;
        }
        context.step(format_args!("N = {n}, {method}"));
        rows.push(Row {
            method,
            processor: "CPU",
            measured: bodies.case(method).measure(context, SAMPLES)?,
        });
    }
    for method in [Method::Treecode, Method::Fmm] {
        context.step_on_gpu(format_args!("N = {n}, {method} on the GPU"));
        let measured = bodies.case(method).measure_on_gpu(context, SAMPLES)?;
        rows.extend(measured.map(|measured| Row {
            method,
            processor: "GPU",
            measured,
        }));
    }
    let table = Table::of(&rows)
        .column("method", "method", |row| {
            Cell::Text(format!("{} ({})", row.method, row.processor))
        })
        .column("total_s", "total (s)", |row| row.measured.seconds.total);
    let table = phases::columns(table, "s", "(s)", |row| phases::seconds(&row.measured))
        .column("device_s", "device (s)", |row| row.measured.in_phases())
        .column("main_percent", "main phases %", |row| {
            let main = [Phase::P2p, Phase::M2p, Phase::M2l].map(|phase| row.measured.seconds.of(phase));
            100.0 * main.iter().sum::<f64>() / row.measured.seconds.total
        })
        .column("order", "order", |row| row.measured.parameters.order)
        .column("error", "error", |row| Cell::Small(row.measured.error));
    let bars = |processor: &str, name: &str| Bars {
        name: name.to_owned(),
        bars: rows
            .iter()
            .filter(|row| row.processor == processor)
            .map(|row| (row.method.to_string(), phases::seconds(&row.measured)))
            .collect(),
    };
    let charts = [bars("CPU", "CPU"), bars("GPU", "GPU, with copies")];
    let shown = if context.gpu.is_some() { 2 } else { 1 };
    let chart = |processor: &str| {
        BarChart::new(format!("{} bodies by phase: {processor}", count(n)))
            .subtitle("gravity, single precision, tolerance 10^{-4}, as in Yokota and Barba, figure 6")
            .y_label("time (s)")
    };
    let title = format!("Yokota, figure 6: time by phase for {} bodies, gravity, f32", count(n));
    let png = phases::beside(chart, &charts[..shown])?;
    let reproduction = Reproduction::new(title, YOKOTA_HARDWARE, table, png)
        .remark(format!(
            "both to a tolerance of {TOLERANCE:e}, errors of the acceleration at {SAMPLES} bodies"
        ))
        .remark(format!(
            "main phases are P2P, M2P and M2L: more than {:.0} % on the paper's CPU",
            100.0 * YOKOTA_CPU_MAIN_PHASES
        ))
        .remark(
            "our treecode opens boxes by their angle; on neighbours: by the FMM's lists, as in the paper, where that takes \
             less than ten seconds",
        )
        .remark("device: the sum of all phases, on the GPU without copies (`other`)")
        .remark("the paper prints no times for this figure (on its GPU); it says:");
    Ok(YOKOTA_FIGURE_6.into_iter().fold(reproduction, |reproduction, says| {
        reproduction.remark(format!("  {says}"))
    }))
}
