//! Hu, figure A.4: the Biot-Savart FMM by phase.

use super::hu_table_a2::{Column, TOLERANCE, fmm, fmm_on_gpu};
use super::measure::Measured;
use super::published::{HU_FIGURE_A4, HU_TABLE_A1_HARDWARE, HU_TABLE_A2};
use super::table::{Cell, Table};
use super::{Context, Reproduction, phases, progress};
use crate::failure::Failure;
use farfield_plot::{BarChart, Figure};

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Failure> {
    let largest = if context.quick { 4096 } else { usize::MAX };
    let mut columns = vec![
        ("n".to_owned(), "N".to_owned()),
        ("total_ms".to_owned(), "total (ms)".to_owned()),
    ];
    columns.extend(phases::columns("percent", "%"));
    columns.extend([
        ("depth".to_owned(), "depth".to_owned()),
        ("error".to_owned(), "error".to_owned()),
    ]);
    let mut table = Table::new(columns.clone());
    let mut gpu_table = Table::new(columns);
    let (mut bars, mut categories) = (Vec::new(), Vec::new());
    for n in HU_TABLE_A2.iter().map(|row| row.n).filter(|n| *n <= largest) {
        progress("hu-figure-a4", format_args!("N = {n}"));
        let measured = fmm(context, Column::BiotSavart, n)?;
        table.row(row(n, &measured));
        if let Some(gpu) = fmm_on_gpu(context, Column::BiotSavart, n)? {
            gpu_table.row(row(n, &gpu));
        }
        bars.push(phases::percentages(&measured));
        categories.push(format!("2^{{{}}}", n.ilog2()));
    }
    let chart = BarChart::new("Biot-Savart FMM by phase")
        .subtitle("N sources and N receivers, single precision, as in Hu et al., figure A.4")
        .y_label("share of the time (%)")
        .categories(categories)
        .numbers(false);
    Ok(Reproduction {
        title: "Hu, figure A.4: the Biot-Savart FMM by phase, f32".to_owned(),
        hardware: HU_TABLE_A1_HARDWARE,
        tables: if gpu_table.rows() > 0 {
            vec![("", table), ("gpu", gpu_table)]
        } else {
            vec![("", table)]
        },
        remarks: vec![
            format!("tolerance {TOLERANCE:e}; percentages of the total, from raw points to results"),
            format!("the paper prints no values; it says: {HU_FIGURE_A4}"),
        ],
        png: phases::stack(chart, &bars).to_png()?,
    })
}

/// What a table says of one number of points.
fn row(n: usize, measured: &Measured) -> Vec<Cell> {
    let mut row = vec![Cell::Count(n as u64), Cell::milliseconds(measured.seconds.total)];
    row.extend(phases::percentages(measured).map(phases::cell));
    let depth = measured.parameters.depth;
    row.push(depth.map_or(Cell::Missing, |depth| Cell::Count(depth as u64)));
    row.push(Cell::Small(measured.error));
    row
}
