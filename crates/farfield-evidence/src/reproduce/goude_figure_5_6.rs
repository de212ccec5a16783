//! Goude, figure 5.6: how much faster the GPU is, FMM and direct sum.

use super::crossover::{DirectSums, Timing};
use super::goude::Vortices;
use super::measure::{Measured, On};
use super::published::{GOUDE_HARDWARE, GOUDE_ORDER, GOUDE_SPEEDUPS};
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield::plane::PlaneSet;
use farfield_plot::{Axis, Figure, LineChart, ReferenceLine, Series};

/// Both methods of one size by one kind of worker.
#[derive(Debug, Clone, Copy)]
struct Pair {
    fmm: Measured,
    direct: Timing,
}

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
    // Two for every decade.
    let powers = if context.quick { 6..=8 } else { 6..=12 };
    let [mut alone, mut together] = [On::Cpu, On::Cpu].map(DirectSums::on);
    let mut on_gpu = DirectSums::on(On::Gpu);
    let mut rows = Vec::new();
    for n in context.sizes(powers.map(|k| 10f64.powf(0.5 * f64::from(k)).round() as usize)) {
        context.step(format_args!("N = {n}"));
        let vortices = Vortices::new(PlaneSet::Square, n);
        rows.push(Row {
            n,
            one_core: one.install(|| measure(On::Cpu, context, &vortices, &mut alone))?,
            all_cores: measure(On::Cpu, context, &vortices, &mut together)?,
            gpu: measure(On::Gpu, context, &vortices, &mut on_gpu)?,
        });
    }
    let (fmm, direct) = GOUDE_SPEEDUPS;
    Ok(Reproduction {
        title: "Goude, figure 5.6: GPU over CPU of FMM and direct sum, f64".to_owned(),
        hardware: GOUDE_HARDWARE,
        png: chart(&rows).to_png()?,
        tables: vec![("", table(&rows))],
        remarks: vec![
            format!("p = {GOUDE_ORDER}; GPU times with copies to and from it, as in the paper"),
            format!("the paper, over one core: FMM {fmm}, direct sum {direct} for large N; its CPU code uses symmetry"),
            "direct sums marked `extrapolated` were timed at some of the targets and scaled".to_owned(),
        ],
    })
}

fn measure(on: On, context: &Context, vortices: &Vortices, direct: &mut DirectSums) -> Result<Option<Pair>, Error> {
    let fmm = vortices.fmm().measure_on(on, context, 0)?;
    let direct = direct.next(context, vortices.direct())?;
    Ok(fmm.zip(direct).map(|(fmm, direct)| Pair { fmm, direct }))
}

/// A line: its name in the file and for reading, and how many times as fast what is compared is.
type Line = (&'static str, &'static str, fn(&Row) -> Option<f64>);

const LINES: [Line; 4] = [
    ("fmm_over_one_core", "FMM over one core", |row| {
        Some(row.one_core?.fmm.seconds.total / row.gpu?.fmm.seconds.total)
    }),
    ("direct_over_one_core", "direct over one core", |row| {
        Some(row.one_core?.direct.seconds / row.gpu?.direct.seconds)
    }),
    ("fmm_over_all_cores", "FMM over all cores", |row| {
        Some(row.all_cores?.fmm.seconds.total / row.gpu?.fmm.seconds.total)
    }),
    ("direct_over_all_cores", "direct over all cores", |row| {
        Some(row.all_cores?.direct.seconds / row.gpu?.direct.seconds)
    }),
];

fn table(rows: &[Row]) -> Table {
    let mut columns = vec![("n".to_owned(), "N".to_owned())];
    for (name, heading) in [("one_core", "one core"), ("all_cores", "all cores"), ("gpu", "GPU")] {
        columns.push((format!("{name}_fmm_s"), format!("{heading} FMM (s)")));
        columns.push((format!("{name}_direct_s"), format!("{heading} direct (s)")));
        columns.push((format!("{name}_direct_extrapolated"), "extrapolated".to_owned()));
    }
    columns.extend(LINES.map(|(name, heading, _)| (name.to_owned(), heading.to_owned())));
    let mut table = Table::new(columns);
    for row in rows {
        let mut cells = vec![Cell::Count(row.n as u64)];
        for pair in [row.one_core, row.all_cores, row.gpu] {
            cells.push(pair.map(|pair| pair.fmm.seconds.total).into());
            cells.push(pair.map(|pair| pair.direct.seconds).into());
            cells.push(pair.map_or(Cell::Missing, |pair| pair.direct.mark()));
        }
        cells.extend(LINES.map(|(_, _, ratio)| Cell::from(ratio(row))));
        table.row(cells);
    }
    table
}

/// The GPU over cores; where there is none, all cores over one.
fn chart(rows: &[Row]) -> LineChart {
    let threads = rayon::current_num_threads();
    let compared = rows.iter().any(|row| row.gpu.is_some());
    let mut chart = LineChart::new(if compared {
        "GPU over CPU: FMM and direct sum in the plane"
    } else {
        "All cores over one: FMM and direct sum in the plane"
    })
    .subtitle(format!(
        "harmonic potential in the square, p = {GOUDE_ORDER}, {threads} threads; as in Goude and Engblom, figure 5.6"
    ))
    .x_axis(Axis::log("number of points N"))
    .y_axis(Axis::log("times as fast"));
    let cores: [Line; 2] = [
        ("", "FMM", |row| {
            Some(row.one_core?.fmm.seconds.total / row.all_cores?.fmm.seconds.total)
        }),
        ("", "direct", |row| {
            Some(row.one_core?.direct.seconds / row.all_cores?.direct.seconds)
        }),
    ];
    let lines: &[Line] = if compared { &LINES } else { &cores };
    for (_, name, ratio) in lines {
        let points: Vec<_> = rows
            .iter()
            .filter_map(|row| Some((row.n as f64, ratio(row)?)))
            .collect();
        chart = chart.series(Series::new(*name).points(&points));
    }
    if compared {
        let (fmm, direct) = GOUDE_SPEEDUPS;
        chart = chart
            .reference(ReferenceLine::horizontal(fmm).label(format!("Goude: FMM over one core, {fmm}")))
            .reference(ReferenceLine::horizontal(direct).label(format!("Goude: direct over one core, {direct}")));
    }
    chart
}
