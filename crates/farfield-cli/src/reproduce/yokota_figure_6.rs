//! Yokota, figure 6: treecode and FMM by phase.

use super::measure::Measured;
use super::published::{YOKOTA_CPU_MAIN_PHASES, YOKOTA_FIGURE_6, YOKOTA_FIGURE_6_N, YOKOTA_HARDWARE};
use super::table::{Cell, Table};
use super::yokota_figure_5::{Bodies, SAMPLES, TOLERANCE};
use super::{Context, Reproduction, phases, progress};
use crate::failure::Failure;
use crate::units;
use farfield::Method;
use farfield::report::Phase;
use farfield_plot::{BarChart, Figure};

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Failure> {
    let n = if context.quick {
        10_000
    } else {
        YOKOTA_FIGURE_6_N as usize
    };
    let bodies = Bodies::new(n);
    let mut columns = vec![
        ("method".to_owned(), "method".to_owned()),
        ("total_s".to_owned(), "total (s)".to_owned()),
    ];
    columns.extend(phases::columns("s", "(s)"));
    columns.extend(
        [
            ("main_percent", "main phases %"),
            ("order", "order"),
            ("error", "error"),
        ]
        .map(owned),
    );
    let mut table = Table::new(columns);
    let mut bars = Vec::new();
    for method in [Method::TreecodeOnNeighbours, Method::Fmm] {
        progress("yokota-figure-6", format_args!("N = {n}, {method}"));
        let measured = bodies.case(method).measure(context, SAMPLES)?;
        table.row(row(method.to_string(), &measured));
        bars.push(phases::seconds(&measured));
    }
    // The treecode on neighbours is a comparison of the CPU's; on the GPU it opens boxes by their angle.
    for method in [Method::Treecode, Method::Fmm] {
        progress("yokota-figure-6", format_args!("N = {n}, {method} on the GPU"));
        let name = format!("{method} (GPU)");
        table.row(match bodies.case(method).measure_on_gpu(context, SAMPLES)? {
            Some(measured) => row(name, &measured),
            None => vec![Cell::Text(name)],
        });
    }
    let chart = BarChart::new(format!("Treecode and FMM by phase, N = {}", units::count(n as u64)))
        .subtitle("gravity, single precision, tolerance 10^{-4}, as in Yokota and Barba, figure 6")
        .y_label("time (s)")
        .categories(["treecode on neighbours", "FMM"]);
    let mut remarks = vec![
        format!("both to a tolerance of {TOLERANCE:e}, errors of the acceleration at {SAMPLES} bodies"),
        format!(
            "main phases are P2P, M2P and M2L: more than {:.0} % on the paper's CPU",
            100.0 * YOKOTA_CPU_MAIN_PHASES
        ),
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
        png: phases::stack(chart, &bars).to_png()?,
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
    row.push(Cell::Number(100.0 * main / measured.seconds.total));
    let order = measured.parameters.order;
    row.push(order.map_or(Cell::Missing, |order| Cell::Count(order as u64)));
    row.push(Cell::Small(measured.error));
    row
}

fn owned((name, heading): (&str, &str)) -> (String, String) {
    (name.to_owned(), heading.to_owned())
}
