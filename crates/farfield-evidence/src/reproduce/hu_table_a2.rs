//! Hu, table A.2: the Biot-Savart kernel against the Coulomb kernel.

use super::chart::Lines;
use super::hu::{BIOT_SAVART, COULOMB, COULOMB_GRADIENT, Column, Particles, TOLERANCE};
use super::measure::{Measured, On, Problem};
use super::published::{HU_ERROR_SAMPLES, HU_TABLE_A1_HARDWARE, HU_TABLE_A2};
use super::table::{Cell, Table, TableOf};
use super::{Context, Reproduction};
use crate::Error;
use farfield_plot::{Axis, Figure, LineChart, LineStyle, Marker, Series};

/// The three sums of one size on one processor: Coulomb potential, potential and gradient, Biot-Savart velocity.
type Sums = [Measured; 3];

/// The sums, for the columns of the tables and the lines of the chart.
const SUMS: [(&str, &str, Column); 3] = [
    ("coulomb", "Coulomb potential", COULOMB),
    ("coulomb_gradient", "potential+gradient", COULOMB_GRADIENT),
    ("biot_savart", "Biot-Savart", BIOT_SAVART),
];

/// One size.
struct Row {
    n: usize,
    /// The paper's times in ms: Coulomb, Biot-Savart.
    paper: [f64; 2],
    cpu: Option<Sums>,
    gpu: Option<Sums>,
}

impl Row {
    /// The times of the GPU without copies.
    fn device(&self) -> Option<Sums> {
        self.gpu.map(|sums| sums.map(Measured::device_only))
    }
}

/// Measures the table.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let largest = context.size(usize::MAX, 4096);
    let mut rows = Vec::new();
    for (n, paper) in HU_TABLE_A2.into_iter().filter(|(n, _)| *n <= largest) {
        context.step(format_args!("N = {n}"));
        let (cpu, gpu) = (measure(On::Cpu, context, n)?, measure(On::Gpu, context, n)?);
        rows.push(Row { n, paper, cpu, gpu });
    }
    let title = "Hu, table A.2: Biot-Savart velocity against Coulomb potential and gradient, f32";
    let mut reproduction = Reproduction::new(title, HU_TABLE_A1_HARDWARE, times(&rows), chart(&rows).to_png()?)
        .table("errors", errors(&rows))
        .remark(format!(
            "both kernels to a tolerance of {TOLERANCE:e}; the paper does not state its accuracy"
        ))
        .remark("potential+gradient takes one derivative, as the velocity does; the potential takes none")
        .remark("device: the GPU itself, without copies to and from it");
    let ranges = [
        range("our CPU", &rows, |row| row.cpu),
        range("our GPU, with copies", &rows, |row| row.gpu),
        range("our GPU, device", &rows, Row::device),
    ];
    reproduction.remarks.extend(ranges.into_iter().flatten());
    Ok(reproduction)
}

fn measure(on: On, context: &Context, n: usize) -> Result<Option<Sums>, Error> {
    let mut sums = Vec::new();
    for (_, _, column) in SUMS {
        let particles = Particles::<f32>::new(column, n);
        sums.extend(particles.fmm().measure_on(on, context, HU_ERROR_SAMPLES)?);
    }
    Ok(sums.try_into().ok())
}

/// The time of Biot-Savart over that of Coulomb's potential, and over that of its potential and gradient.
fn ratios([coulomb, gradient, velocity]: Sums) -> [f64; 2] {
    [coulomb, gradient].map(|other| velocity.seconds.total / other.seconds.total)
}

/// A remark on the ratios of all sizes; `None` where nothing was measured.
fn range(name: &str, rows: &[Row], sums: impl Fn(&Row) -> Option<Sums>) -> Option<String> {
    let all: Vec<[f64; 2]> = rows.iter().filter_map(|row| sums(row).map(ratios)).collect();
    let [to_potential, to_gradient] = [0, 1].map(|k| {
        let ratios = all.iter().map(|ratios| ratios[k]);
        let (least, most) = (ratios.clone().fold(f64::MAX, f64::min), ratios.fold(0.0, f64::max));
        format!("{least:.2} to {most:.2}")
    });
    let last = all.last()?;
    Some(format!(
        "{name}: Biot-Savart takes {to_potential} times as long as the potential ({:.2} at the largest N), {to_gradient} \
         times as long as potential+gradient ({:.2})",
        last[0], last[1]
    ))
}

fn times(rows: &[Row]) -> TableOf<'_, Row> {
    type Processor = (&'static str, &'static str, fn(&Row) -> Option<Sums>);
    let processors: [Processor; 3] = [
        ("", "our CPU ", |row| row.cpu),
        ("gpu_", "our GPU ", |row| row.gpu),
        ("device_", "device ", Row::device),
    ];
    let mut table = Table::of(rows)
        .column("n", "N", |row| row.n)
        .column("paper_coulomb_ms", "paper GPU Coulomb (ms)", |row| row.paper[0])
        .column("paper_biot_savart_ms", "Biot-Savart (ms)", |row| row.paper[1])
        .column("paper_ratio", "ratio", |row| row.paper[1] / row.paper[0]);
    for (prefix, whose, on) in processors {
        for (k, (name, heading, _)) in SUMS.into_iter().enumerate() {
            table = table.column(format!("{prefix}{name}_ms"), format!("{whose}{heading} (ms)"), |row| {
                Some(1e3 * on(row)?[k].seconds.total)
            });
        }
        table = table
            .column(format!("{prefix}ratio_to_potential"), "ratio to potential", |row| {
                Some(ratios(on(row)?)[0])
            })
            .column(format!("{prefix}ratio_to_gradient"), "to p.+gradient", |row| {
                Some(ratios(on(row)?)[1])
            });
    }
    table
}

fn errors(rows: &[Row]) -> TableOf<'_, Row> {
    let mut table = Table::of(rows).column("n", "relative L2 errors: N", |row| row.n);
    for (k, (name, heading, _)) in SUMS.into_iter().enumerate() {
        table = table.column(format!("{name}_error"), heading, |row| {
            Some(Cell::Small(row.cpu?[k].error))
        });
    }
    for (k, (name, heading, _)) in SUMS.into_iter().enumerate() {
        table = table.column(format!("gpu_{name}_error"), format!("GPU {heading}"), |row| {
            Some(Cell::Small(row.gpu?[k].error))
        });
    }
    table
}

fn chart(rows: &[Row]) -> LineChart {
    let mut chart = LineChart::new("FMM for the Coulomb and the Biot-Savart kernel")
        .subtitle("N sources and N receivers, f32, from host memory to host memory; dashed: Hu et al., table A.2")
        .x_axis(Axis::log("N"))
        .y_axis(Axis::log("time (ms)"));
    for (k, (_, name, _)) in SUMS.into_iter().enumerate() {
        let ms = |sums: Option<Sums>| sums.map(|sums| 1e3 * sums[k].seconds.total);
        chart = chart
            .line(format!("{name}, CPU"), rows, |row| Some((row.n as f64, ms(row.cpu)?)))
            .line(format!("{name}, GPU"), rows, |row| Some((row.n as f64, ms(row.gpu)?)));
    }
    for (k, name) in ["Hu: Coulomb, GPU", "Hu: Biot-Savart, GPU"].into_iter().enumerate() {
        let points = HU_TABLE_A2.map(|(n, paper)| (n as f64, paper[k]));
        let series = Series::new(name).points(&points);
        chart = chart.series(series.style(LineStyle::Dashed, Marker::Square));
    }
    chart
}
