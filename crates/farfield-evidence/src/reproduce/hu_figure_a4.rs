//! Hu, figure A.4: the Biot-Savart FMM by phase.

use super::hu::{BIOT_SAVART, Particles, TOLERANCE};
use super::measure::{Measured, Problem};
use super::phases::{self, Bars};
use super::published::{HU_ERROR_SAMPLES, HU_FIGURE_A4, HU_TABLE_A1_HARDWARE, HU_TABLE_A2};
use super::table::{Cell, Table, TableOf};
use super::{Context, Reproduction};
use crate::Error;
use farfield_plot::BarChart;

/// A number of points, the measurement, and the same with the time that counts as its total.
type Row = (usize, Measured, Measured);

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let largest = context.size(usize::MAX, 4096);
    let (mut on_cpu, mut on_gpu) = (Vec::new(), Vec::new());
    for n in HU_TABLE_A2.into_iter().map(|(n, _)| n).filter(|n| *n <= largest) {
        context.step(format_args!("N = {n}"));
        let particles = Particles::<f32>::new(BIOT_SAVART, n);
        let cpu = particles.fmm().measure(context, HU_ERROR_SAMPLES)?;
        on_cpu.push((n, cpu, cpu));
        let gpu = particles.fmm().measure_on_gpu(context, HU_ERROR_SAMPLES)?;
        on_gpu.extend(gpu.map(|gpu| (n, gpu, gpu.device_only())));
    }
    let mut groups = vec![bars("CPU", &on_cpu)];
    if !on_gpu.is_empty() {
        groups.push(bars("GPU, without copies", &on_gpu));
    }
    let chart = |processor: &str| {
        BarChart::new(format!("Biot-Savart FMM by phase: {processor}"))
            .subtitle("N sources and N receivers, single precision, as in Hu et al., figure A.4")
            .y_label("share of the time (%)")
            .numbers(false)
    };
    let title = "Hu, figure A.4: the Biot-Savart FMM by phase, f32";
    let png = phases::beside(chart, &groups)?;
    let mut reproduction = Reproduction::new(title, HU_TABLE_A1_HARDWARE, table(&on_cpu), png);
    if !on_gpu.is_empty() {
        reproduction = reproduction.table("gpu", table(&on_gpu));
    }
    Ok(reproduction
        .remark(format!(
            "tolerance {TOLERANCE:e}; CPU: percentages of the total, from raw points to results"
        ))
        .remark("GPU (second table): percentages of the time of the device, without copies to and from it")
        .remark(format!("the paper prints no values; it says: {HU_FIGURE_A4}")))
}

fn table(rows: &[Row]) -> TableOf<'_, Row> {
    let table = Table::of(rows)
        .column("n", "N", |row| row.0)
        .column("total_ms", "total (ms)", |row| 1e3 * row.1.seconds.total)
        .column("counted_ms", "100 % (ms)", |row| 1e3 * row.2.seconds.total);
    phases::columns(table, "percent", "%", |row| phases::percentages(&row.2))
        .column("depth", "depth", |row| row.1.parameters.depth)
        .column("error", "error", |row| Cell::Small(row.1.error))
}

fn bars(name: &str, rows: &[Row]) -> Bars {
    let bar = |(n, _, counted): &Row| (format!("2^{{{}}}", n.ilog2()), phases::percentages(counted));
    Bars {
        name: name.to_owned(),
        bars: rows.iter().map(bar).collect(),
    }
}
