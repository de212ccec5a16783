//! Hu, table A.2: the Biot-Savart kernel against the Coulomb kernel.

use super::hu::{Column, Particles, TOLERANCE};
use super::measure::{Measured, On, always};
use super::published::{HU_ERROR_SAMPLES, HU_TABLE_A1_HARDWARE, HU_TABLE_A2, KernelTime};
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield_plot::{Axis, Figure, LineChart, LineStyle, Marker, Series};

/// The three sums of one size on one processor: Coulomb potential, potential and gradient, Biot-Savart velocity.
type Sums = [Measured; 3];

/// What is summed, for the columns of the tables and the lines of the chart.
const SUMS: [(&str, &str, Column); 3] = [
    ("coulomb", "Coulomb potential", Column::Coulomb),
    ("coulomb_gradient", "potential+gradient", Column::CoulombGradient),
    ("biot_savart", "Biot-Savart", Column::BiotSavart),
];

/// One size.
struct Row {
    paper: &'static KernelTime,
    cpu: Sums,
    gpu: Option<Sums>,
}

/// Measures the table.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let largest = context.size(usize::MAX, 4096);
    let mut rows = Vec::new();
    for paper in HU_TABLE_A2.iter().filter(|row| row.n <= largest) {
        context.step(format_args!("N = {}", paper.n));
        let cpu = measure(On::Cpu, context, paper.n)?;
        rows.push(Row {
            paper,
            cpu: always(cpu)?,
            gpu: measure(On::Gpu, context, paper.n)?,
        });
    }
    let mut remarks = vec![
        format!("both kernels to a tolerance of {TOLERANCE:e}; the paper does not state its accuracy"),
        "potential+gradient takes one derivative, as the velocity does; the potential takes none".to_owned(),
        "device: the GPU itself, without copies to and from it".to_owned(),
    ];
    remarks.extend(range("our CPU", &rows, |row| Some(row.cpu)));
    remarks.extend(range("our GPU, with copies", &rows, |row| row.gpu));
    remarks.extend(range("our GPU, device", &rows, |row| {
        row.gpu.map(|sums| sums.map(Measured::device_only))
    }));
    Ok(Reproduction {
        title: "Hu, table A.2: Biot-Savart velocity against Coulomb potential and gradient, f32".to_owned(),
        hardware: HU_TABLE_A1_HARDWARE,
        png: chart(&rows).to_png()?,
        tables: vec![("", times(&rows)), ("errors", errors(&rows))],
        remarks,
    })
}

fn measure(on: On, context: &Context, n: usize) -> Result<Option<Sums>, Error> {
    let mut sums = Vec::new();
    for (_, _, column) in SUMS {
        let particles = Particles::<f32>::new(column, n);
        sums.extend(particles.fmm().measure_on(on, context, HU_ERROR_SAMPLES)?);
    }
    Ok(sums.try_into().ok())
}

/// How much more Biot-Savart takes than Coulomb's potential, and than its potential and gradient.
fn ratios([coulomb, gradient, velocity]: &Sums) -> [f64; 2] {
    [coulomb, gradient].map(|other| velocity.seconds.total / other.seconds.total)
}

/// A remark on the ratios of all sizes; none where nothing was measured.
fn range(name: &str, rows: &[Row], sums: impl Fn(&Row) -> Option<Sums>) -> Option<String> {
    let all: Vec<[f64; 2]> = rows
        .iter()
        .filter_map(|row| sums(row).map(|sums| ratios(&sums)))
        .collect();
    let [to_potential, to_gradient] = [0, 1].map(|k| {
        let (least, most) = all.iter().fold((f64::MAX, 0.0f64), |(least, most), ratios| {
            (least.min(ratios[k]), most.max(ratios[k]))
        });
        format!("{least:.2} to {most:.2}")
    });
    let last = all.last()?;
    Some(format!(
        "{name}: Biot-Savart takes {to_potential} times as long as the potential ({:.2} at the largest N), {to_gradient} \
         times as long as potential+gradient ({:.2})",
        last[0], last[1]
    ))
}

fn times(rows: &[Row]) -> Table {
    let mut columns: Vec<(String, String)> = [
        ("n", "N"),
        ("paper_coulomb_ms", "paper GPU Coulomb (ms)"),
        ("paper_biot_savart_ms", "Biot-Savart (ms)"),
        ("paper_ratio", "ratio"),
    ]
    .map(|(name, heading)| (name.to_owned(), heading.to_owned()))
    .into();
    for (prefix, whose) in [("", "our CPU "), ("gpu_", "our GPU "), ("device_", "device ")] {
        let names = SUMS.map(|(name, heading, _)| (format!("{prefix}{name}_ms"), format!("{whose}{heading} (ms)")));
        columns.extend(names);
        columns.push((format!("{prefix}ratio_to_potential"), "ratio to potential".to_owned()));
        columns.push((format!("{prefix}ratio_to_gradient"), "to p.+gradient".to_owned()));
    }
    let mut table = Table::new(columns);
    for row in rows {
        let mut cells = vec![
            Cell::Count(row.paper.n as u64),
            Cell::Number(row.paper.coulomb_ms),
            Cell::Number(row.paper.biot_savart_ms),
            Cell::Number(row.paper.ratio()),
        ];
        let device = row.gpu.map(|sums| sums.map(Measured::device_only));
        for sums in [Some(row.cpu), row.gpu, device].into_iter().flatten() {
            cells.extend(sums.map(|measured| Cell::milliseconds(measured.seconds.total)));
            cells.extend(ratios(&sums).map(Cell::Number));
        }
        table.row(cells);
    }
    table
}

fn errors(rows: &[Row]) -> Table {
    let of = |prefix: &str, whose: &str| {
        SUMS.map(|(name, heading, _)| (format!("{prefix}{name}_error"), format!("{whose}{heading}")))
    };
    let mut columns = vec![("n".to_owned(), "relative L2 errors: N".to_owned())];
    columns.extend(of("", ""));
    columns.extend(of("gpu_", "GPU "));
    let mut table = Table::new(columns);
    for row in rows {
        let sums = row.cpu.iter().chain(row.gpu.iter().flatten());
        let errors = sums.map(|measured| Cell::Small(measured.error));
        table.row([Cell::Count(row.paper.n as u64)].into_iter().chain(errors));
    }
    table
}

fn chart(rows: &[Row]) -> LineChart {
    let mut chart = LineChart::new("FMM for the Coulomb and the Biot-Savart kernel")
        .subtitle("N sources and N receivers, f32, from host memory to host memory; dashed: Hu et al., table A.2")
        .x_axis(Axis::log("N"))
        .y_axis(Axis::log("time (ms)"));
    for (k, (_, name, _)) in SUMS.into_iter().enumerate() {
        let line = |sums: fn(&Row) -> Option<Sums>| -> Vec<(f64, f64)> {
            let at = |row: &Row| Some((row.paper.n as f64, 1e3 * sums(row)?[k].seconds.total));
            rows.iter().filter_map(at).collect()
        };
        chart = chart.series(Series::new(format!("{name}, CPU")).points(&line(|row| Some(row.cpu))));
        let on_gpu = line(|row| row.gpu);
        if !on_gpu.is_empty() {
            chart = chart.series(Series::new(format!("{name}, GPU")).points(&on_gpu));
        }
    }
    for (name, part) in [
        ("Hu: Coulomb, GPU", (|row| row.coulomb_ms) as fn(&KernelTime) -> f64),
        ("Hu: Biot-Savart, GPU", |row| row.biot_savart_ms),
    ] {
        let points: Vec<_> = HU_TABLE_A2.iter().map(|row| (row.n as f64, part(row))).collect();
        let series = Series::new(name).points(&points);
        chart = chart.series(series.style(LineStyle::Dashed, Marker::Square));
    }
    chart
}
