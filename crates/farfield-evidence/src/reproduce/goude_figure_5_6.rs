//! Goude, figure 5.6: GPU over CPU, FMM and direct sum.

use super::chart::Lines;
use super::crossover::{DirectSums, Pair};
use super::goude::Vortices;
use super::measure::On;
use super::published::{GOUDE_HARDWARE, GOUDE_ORDER, GOUDE_SPEEDUPS};
use super::table::{Table, TableOf};
use super::{Context, Reproduction, powers_of_ten};
use crate::Error;
use farfield::plane::PlaneSet;
use farfield_plot::{Axis, Figure, LineChart, ReferenceLine};

/// One size.
struct Row {
    n: usize,
    one_core: Option<Pair>,
    all_cores: Option<Pair>,
    gpu: Option<Pair>,
}

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let [mut alone, mut together, mut on_gpu] = [On::Cpu, On::Cpu, On::Gpu].map(DirectSums::on);
    let mut rows = Vec::new();
    for n in context.sizes(powers_of_ten(0.5, if context.quick { 6..=8 } else { 6..=12 })) {
        context.step(format_args!("N = {n}"));
        let vortices = Vortices::new(PlaneSet::Square, n);
        rows.push(Row {
            n,
            one_core: one.install(|| alone.pair(context, 0, &vortices))?,
            all_cores: together.pair(context, 0, &vortices)?,
            gpu: on_gpu.pair(context, 0, &vortices)?,
        });
    }
    let (fmm, direct) = GOUDE_SPEEDUPS;
    let title = "Goude, figure 5.6: GPU over CPU of FMM and direct sum, f64";
    Ok(
        Reproduction::new(title, GOUDE_HARDWARE, table(&rows), chart(&rows).to_png()?)
            .remark(format!(
                "p = {GOUDE_ORDER}; GPU times with copies to and from it, as in the paper"
            ))
            .remark(format!(
                "the paper, over one core: FMM {fmm}, direct sum {direct} for large N; its CPU code uses symmetry"
            ))
            .remark("direct sums marked `extrapolated` were timed at some of the targets and scaled"),
    )
}

/// A line: its name in the file, its name for reading, and the times of the slower over those of the faster.
type Line = (&'static str, &'static str, fn(&Row) -> Option<f64>);

fn fmm(slower: Option<Pair>, faster: Option<Pair>) -> Option<f64> {
    Some(slower?.fmm.seconds.total / faster?.fmm.seconds.total)
}

fn direct(slower: Option<Pair>, faster: Option<Pair>) -> Option<f64> {
    Some(slower?.direct.seconds / faster?.direct.seconds)
}

const LINES: [Line; 4] = [
    ("fmm_over_one_core", "FMM over one core", |row| {
        fmm(row.one_core, row.gpu)
    }),
    ("direct_over_one_core", "direct over one core", |row| {
        direct(row.one_core, row.gpu)
    }),
    ("fmm_over_all_cores", "FMM over all cores", |row| {
        fmm(row.all_cores, row.gpu)
    }),
    ("direct_over_all_cores", "direct over all cores", |row| {
        direct(row.all_cores, row.gpu)
    }),
];

/// The lines without a GPU.
const LINES_OF_CORES: [Line; 2] = [
    ("", "FMM", |row| fmm(row.one_core, row.all_cores)),
    ("", "direct", |row| direct(row.one_core, row.all_cores)),
];

fn table(rows: &[Row]) -> TableOf<'_, Row> {
    type Processor = (&'static str, &'static str, fn(&Row) -> Option<Pair>);
    let processors: [Processor; 3] = [
        ("one_core", "one core", |row| row.one_core),
        ("all_cores", "all cores", |row| row.all_cores),
        ("gpu", "GPU", |row| row.gpu),
    ];
    let mut table = Table::of(rows).column("n", "N", |row| row.n);
    for (name, heading, on) in processors {
        table = table
            .column(format!("{name}_fmm_s"), format!("{heading} FMM (s)"), |row| {
                Some(on(row)?.fmm.seconds.total)
            })
            .column(format!("{name}_direct_s"), format!("{heading} direct (s)"), |row| {
                Some(on(row)?.direct.seconds)
            })
            .column(format!("{name}_direct_extrapolated"), "extrapolated", |row| {
                Some(on(row)?.direct.mark())
            });
    }
    LINES.into_iter().fold(table, |table, (name, heading, ratio)| {
        table.column(name, heading, ratio)
    })
}

/// The GPU over the cores; without a GPU, all cores over one.
fn chart(rows: &[Row]) -> LineChart {
    let threads = rayon::current_num_threads();
    let compared = rows.iter().any(|row| row.gpu.is_some());
    let (title, lines) = if compared {
        ("GPU over CPU: FMM and direct sum in the plane", &LINES[..])
    } else {
        (
            "All cores over one: FMM and direct sum in the plane",
            &LINES_OF_CORES[..],
        )
    };
    let mut chart = LineChart::new(title)
        .subtitle(format!(
            "harmonic potential in the square, p = {GOUDE_ORDER}, {threads} threads; as in Goude and Engblom, figure 5.6"
        ))
        .x_axis(Axis::log("number of points N"))
        .y_axis(Axis::log("times as fast"));
    for (_, name, ratio) in lines {
        chart = chart.line(*name, rows, |row| Some((row.n as f64, ratio(row)?)));
    }
    if compared {
        let (fmm, direct) = GOUDE_SPEEDUPS;
        chart = chart
            .reference(ReferenceLine::horizontal(fmm).label(format!("Goude: FMM over one core, {fmm}")))
            .reference(ReferenceLine::horizontal(direct).label(format!("Goude: direct over one core, {direct}")));
    }
    chart
}
