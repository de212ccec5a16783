//! Hu, figure A.4: the Biot-Savart FMM by phase.

use super::hu::{Column, Particles, TOLERANCE};
use super::measure::Measured;
use super::phases::{self, Bars};
use super::published::{HU_ERROR_SAMPLES, HU_FIGURE_A4, HU_TABLE_A1_HARDWARE, HU_TABLE_A2};
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield_plot::BarChart;

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let largest = context.size(usize::MAX, 4096);
    let (mut on_cpu, mut on_gpu) = (Vec::new(), Vec::new());
    for n in HU_TABLE_A2.iter().map(|row| row.n).filter(|n| *n <= largest) {
        context.step(format_args!("N = {n}"));
        let particles = Particles::<f32>::new(Column::BiotSavart, n);
        on_cpu.push((n, particles.fmm().measure(context, HU_ERROR_SAMPLES)?));
        let gpu = particles.fmm().measure_on_gpu(context, HU_ERROR_SAMPLES)?;
        on_gpu.extend(gpu.map(|gpu| (n, gpu)));
    }
    let mut tables = vec![("", table(&on_cpu, |measured| measured))];
    let mut groups = vec![bars("CPU", &on_cpu, |measured| measured)];
    if !on_gpu.is_empty() {
        tables.push(("gpu", table(&on_gpu, Measured::device_only)));
        groups.push(bars("GPU, without copies", &on_gpu, Measured::device_only));
    }
    let chart = |processor: &str| {
        BarChart::new(format!("Biot-Savart FMM by phase: {processor}"))
            .subtitle("N sources and N receivers, single precision, as in Hu et al., figure A.4")
            .y_label("share of the time (%)")
            .numbers(false)
    };
    Ok(Reproduction {
        title: "Hu, figure A.4: the Biot-Savart FMM by phase, f32".to_owned(),
        hardware: HU_TABLE_A1_HARDWARE,
        tables,
        remarks: vec![
            format!("tolerance {TOLERANCE:e}; CPU: percentages of the total, from raw points to results"),
            "GPU (second table): percentages of the time of the device, without copies to and from it".to_owned(),
            format!("the paper prints no values; it says: {HU_FIGURE_A4}"),
        ],
        png: phases::beside(chart, &groups)?,
    })
}

/// A row for each number of points; `counted` says which of the time counts.
fn table(rows: &[(usize, Measured)], counted: fn(Measured) -> Measured) -> Table {
    let mut columns = vec![
        ("n".to_owned(), "N".to_owned()),
        ("total_ms".to_owned(), "total (ms)".to_owned()),
        ("counted_ms".to_owned(), "100 % (ms)".to_owned()),
    ];
    columns.extend(phases::columns("percent", "%"));
    columns.extend([
        ("depth".to_owned(), "depth".to_owned()),
        ("error".to_owned(), "error".to_owned()),
    ]);
    let mut table = Table::new(columns);
    for (n, measured) in rows {
        let whole = counted(*measured);
        let mut row = vec![
            Cell::Count(*n as u64),
            Cell::milliseconds(measured.seconds.total),
            Cell::milliseconds(whole.seconds.total),
        ];
        row.extend(phases::percentages(&whole).map(phases::cell));
        let depth = measured.parameters.depth;
        row.push(depth.map_or(Cell::Missing, |depth| Cell::Count(depth as u64)));
        row.push(Cell::Small(measured.error));
        table.row(row);
    }
    table
}

fn bars(name: &str, rows: &[(usize, Measured)], counted: fn(Measured) -> Measured) -> Bars {
    let bar = |(n, measured): &(usize, Measured)| {
        let percentages = phases::percentages(&counted(*measured));
        (format!("2^{{{}}}", n.ilog2()), percentages)
    };
    Bars {
        name: name.to_owned(),
        bars: rows.iter().map(bar).collect(),
    }
}
