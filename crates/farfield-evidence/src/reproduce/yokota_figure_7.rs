//! Yokota, figure 7: operations per second of each operator.

use super::chart::Lines;
use super::measure::{Measured, On};
use super::operations::{OPERATORS, of_phase};
use super::published::{YOKOTA_FIGURE_6_N, YOKOTA_HARDWARE, YOKOTA_OPENING_ANGLE, YOKOTA_P2P_FLOPS, YOKOTA_P2P_GFLOPS};
use super::table::{Cell, Table};
use super::yokota::{Bodies, SAMPLES};
use super::{Context, Reproduction, powers_of_ten};
use crate::Error;
use farfield::report::Phase;
use farfield::{Method, Options};
use farfield_plot::{Axis, ChartGrid, Figure, LineChart, ReferenceLine};

/// The order of all expansions: one order, so that operations can be counted.
const ORDER: usize = 8;
/// Treecodes of the CPU are not run for more bodies, as they take long.
const LARGEST_TREECODE: usize = 1_000_000;

/// One number of bodies on one processor.
struct Row {
    n: usize,
    on: On,
    fmm: Measured,
    treecode: Option<Measured>,
}

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let largest = context.size(YOKOTA_FIGURE_6_N as usize, 10_000);
    let sizes = powers_of_ten(0.5, if context.quick { 6..=8 } else { 8..=14 });
    let mut rows = Vec::new();
    for n in sizes.filter(|n| *n <= largest) {
        let bodies = Bodies::new(n);
        for on in [On::Cpu, On::Gpu] {
            context.step(format_args!("N = {n}, {on:?}"));
            rows.extend(measure(context, &bodies, n, on)?);
        }
    }
    let mut table = Table::of(&rows)
        .column(
            "processor",
            "processor",
            |row| if row.on == On::Cpu { "CPU" } else { "GPU" },
        )
        .column("n", "N", |row| row.n);
    for (name, phase) in OPERATORS {
        let column = format!("{}_gflops", name.to_lowercase());
        table = table.column(column, format!("{name} (Gflop/s)"), |row| row.gflops(phase));
    }
    let table = table
        .column("fmm_error", "FMM error", |row| Cell::Small(row.fmm.error))
        .column("treecode_error", "treecode error", |row| {
            Some(Cell::Small(row.treecode?.error))
        });
    let subtitle = format!("gravity, single precision, p = {ORDER}; as in Yokota and Barba, figure 7");
    let mut grid = ChartGrid::new("Operations per second by operator")
        .subtitle(subtitle)
        .columns(2)
        .chart(chart(&rows, On::Cpu));
    if context.gpu.is_some() {
        grid = grid.chart(chart(&rows, On::Gpu));
    }
    let title = "Yokota, figure 7: Gflop/s of each operator, gravity, f32";
    Ok(
        Reproduction::new(title, YOKOTA_HARDWARE, table, grid.size(1800, 800).to_png()?)
            .remark(format!(
                "p = {ORDER} for all expansions; M2P of a treecode with theta = 2/3, the rest of the FMM"
            ))
            .remark(format!(
                "operations as the loops have them: a pair {YOKOTA_P2P_FLOPS}, as in the paper; fused multiply-adds two, \
                 roots one; lanes that idle and padding do not count"
            ))
            .remark(
                "our GPU translates by dense matrices on tensor cores, 2 (p+1)^4 operations; our CPU by rotations, fewer",
            )
            .remark(format!(
                "treecodes of the CPU up to {LARGEST_TREECODE} bodies; errors of the acceleration at {SAMPLES} bodies"
            ))
            .remark(format!(
                "the paper prints one value, P2P on its GPU: in the order of {YOKOTA_P2P_GFLOPS:.0} Gflop/s"
            )),
    )
}

/// Both methods; `None` for a GPU that is not there.
fn measure(context: &Context, bodies: &Bodies, n: usize, on: On) -> Result<Option<Row>, Error> {
    let case = |method| {
        bodies.with(Options {
            method,
            order: Some(ORDER),
            theta: (method == Method::Treecode).then_some(YOKOTA_OPENING_ANGLE),
            ..Options::default()
        })
    };
    let fmm = case(Method::Fmm).measure_on(on, context, SAMPLES)?;
    let treecode = if on == On::Gpu || n <= LARGEST_TREECODE {
        case(Method::Treecode).measure_on(on, context, SAMPLES)?
    } else {
        None
    };
    Ok(fmm.map(|fmm| Row { n, on, fmm, treecode }))
}

impl Row {
    /// 10^9 operations per second of a phase; `None` where it did not take place.
    fn gflops(&self, phase: Phase) -> Option<f64> {
        let measured = if phase == Phase::M2p { self.treecode? } else { self.fmm };
        let operations = of_phase(phase, self.n, self.on, &measured);
        let seconds = measured.seconds.of(phase);
        (operations > 0.0 && seconds > 0.0).then(|| 1e-9 * (operations / seconds))
    }
}

fn chart(rows: &[Row], on: On) -> LineChart {
    let title = match on {
        On::Cpu => format!("CPU, {} threads", rayon::current_num_threads()),
        On::Gpu => "GPU".to_owned(),
    };
    let chart = LineChart::new(title)
        .x_axis(Axis::log("number of bodies N"))
        .y_axis(Axis::log("Gflop/s"))
        .reference(ReferenceLine::horizontal(YOKOTA_P2P_GFLOPS).label("Yokota: P2P, GPU"));
    OPERATORS.into_iter().fold(chart, |chart, (name, phase)| {
        chart.line(name, rows, |row| {
            let gflops = row.gflops(phase).filter(|_| row.on == on);
            Some((row.n as f64, gflops?))
        })
    })
}
