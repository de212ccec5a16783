//! Yokota, figure 7: operations per second of each operator.

use super::measure::{Measured, On};
use super::operations::{OPERATORS, of_phase};
use super::published::{YOKOTA_FIGURE_6_N, YOKOTA_HARDWARE, YOKOTA_OPENING_ANGLE, YOKOTA_P2P_FLOPS, YOKOTA_P2P_GFLOPS};
use super::table::{Cell, Table};
use super::yokota::{Bodies, SAMPLES};
use super::{Context, Reproduction};
use crate::Error;
use farfield::Method;
use farfield::Options;
use farfield::report::Phase;
use farfield_plot::{Axis, ChartGrid, Figure, LineChart, ReferenceLine, Series};

/// The order of all expansions: one, so that operations can be counted.
const ORDER: usize = 8;
/// Treecodes of the CPU are not run for more bodies: they take long.
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
    let powers = if context.quick { 6..=8 } else { 8..=14 };
    let largest = context.size(YOKOTA_FIGURE_6_N as usize, 10_000);
    let sizes = powers.map(|k| 10f64.powf(0.5 * f64::from(k)).round() as usize);
    let mut rows = Vec::new();
    for n in sizes.filter(|n| *n <= largest) {
        let bodies = Bodies::new(n);
        for on in [On::Cpu, On::Gpu] {
            context.step(format_args!("N = {n}, {on:?}"));
            rows.extend(measure(context, &bodies, n, on)?);
        }
    }
    let mut columns: Vec<(String, String)> = [("processor", "processor"), ("n", "N")]
        .map(|(name, heading)| (name.to_owned(), heading.to_owned()))
        .into();
    columns.extend(OPERATORS.map(|(name, _)| (format!("{}_gflops", name.to_lowercase()), format!("{name} (Gflop/s)"))));
    columns.extend(
        [("fmm_error", "FMM error"), ("treecode_error", "treecode error")]
            .map(|(name, heading)| (name.to_owned(), heading.to_owned())),
    );
    let mut table = Table::new(columns);
    rows.iter().for_each(|row| table.row(row.cells()));
    let subtitle = format!("gravity, single precision, p = {ORDER}; as in Yokota and Barba, figure 7");
    let grid = ChartGrid::new("Operations per second by operator")
        .subtitle(subtitle)
        .columns(2);
    let shown = if context.gpu.is_some() {
        &[On::Cpu, On::Gpu][..]
    } else {
        &[On::Cpu]
    };
    let grid = shown.iter().fold(grid, |grid, on| grid.chart(chart(&rows, *on)));
    Ok(Reproduction {
        title: "Yokota, figure 7: Gflop/s of each operator, gravity, f32".to_owned(),
        hardware: YOKOTA_HARDWARE,
        tables: vec![("", table)],
        remarks: vec![
            format!("p = {ORDER} for all expansions; M2P of a treecode with theta = 2/3, the rest of the FMM"),
            format!(
                "operations as the loops have them: a pair {YOKOTA_P2P_FLOPS}, as in the paper; fused multiply-adds two, \
                 roots one; lanes that idle and padding do not count"
            ),
            "our GPU translates by dense matrices on tensor cores, 2 (p+1)^4 operations; our CPU by rotations, fewer"
                .to_owned(),
            format!(
                "treecodes of the CPU up to {LARGEST_TREECODE} bodies; errors of the acceleration at {SAMPLES} bodies"
            ),
            format!("the paper prints one value, P2P on its GPU: in the order of {YOKOTA_P2P_GFLOPS:.0} Gflop/s"),
        ],
        png: grid.size(1800, 800).to_png()?,
    })
}

/// Both methods; `None` where there is no graphics processor.
fn measure(context: &Context, bodies: &Bodies, n: usize, on: On) -> Result<Option<Row>, Error> {
    let settings = |method| Options {
        method,
        order: Some(ORDER),
        theta: (method == Method::Treecode).then_some(YOKOTA_OPENING_ANGLE),
        ..Options::default()
    };
    let fmm = bodies.with(settings(Method::Fmm)).measure_on(on, context, SAMPLES)?;
    let treecode = if on == On::Gpu || n <= LARGEST_TREECODE {
        let case = bodies.with(settings(Method::Treecode));
        case.measure_on(on, context, SAMPLES)?
    } else {
        None
    };
    Ok(fmm.map(|fmm| Row { n, on, fmm, treecode }))
}

impl Row {
    /// Operations per second of a phase, none where it did not take place.
    fn rate(&self, phase: Phase) -> Option<f64> {
        let measured = if phase == Phase::M2p { self.treecode? } else { self.fmm };
        let operations = of_phase(phase, self.n, self.on, &measured);
        let seconds = measured.seconds.of(phase);
        (operations > 0.0 && seconds > 0.0).then(|| operations / seconds)
    }

    fn cells(&self) -> Vec<Cell> {
        let mut cells = vec![
            Cell::Text(if self.on == On::Cpu { "CPU" } else { "GPU" }.to_owned()),
            Cell::Count(self.n as u64),
        ];
        cells.extend(OPERATORS.map(|(_, phase)| Cell::from(self.rate(phase).map(|rate| 1e-9 * rate))));
        cells.push(Cell::Small(self.fmm.error));
        cells.push(
            self.treecode
                .map_or(Cell::Missing, |treecode| Cell::Small(treecode.error)),
        );
        cells
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
        let rows = rows.iter().filter(|row| row.on == on);
        let points: Vec<_> = rows
            .filter_map(|row| Some((row.n as f64, 1e-9 * row.rate(phase)?)))
            .collect();
        chart.series(Series::new(name).points(&points))
    })
}
