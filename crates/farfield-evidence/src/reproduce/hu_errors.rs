//! Hu, figures A.6 and A.7: the error against the number of points.

use super::hu::{COULOMB, Particles};
use super::measure::Problem;
use super::published::{HU_ERROR_SAMPLES, HU_FIGURE_A6_NO_GAIN, HU_FIGURES_A6_A7_TREND, HU_TABLE_A1_HARDWARE};
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield::points::ChargeDistribution;
use farfield::{Method, Options, Precision};
use farfield_plot::{Axis, Color, Figure, LineChart, LineStyle, Marker, ReferenceLine, Series};

/// Small enough that the smallest problem has a far field, whose error this is about.
const LEAF_CAPACITY: usize = 32;

/// The errors of each order at one number of points.
struct Row {
    n: usize,
    cpu: Vec<f64>,
    gpu: Vec<Option<f64>>,
}

/// Figure A.6.
pub fn single(context: &Context) -> Result<Reproduction, Error> {
    let (reproduction, last) = run::<f32>(context, "A.6", &[4, 8, 12])?;
    let (low, high) = HU_FIGURE_A6_NO_GAIN;
    let gain = last[1] / last[2];
    Ok(reproduction.remark(format!(
        "the paper gains nothing from p = {low} to {high} in single precision; ours gains a factor of {gain:.1} at the \
         largest N"
    )))
}

/// Figure A.7.
pub fn double(context: &Context) -> Result<Reproduction, Error> {
    Ok(run::<f64>(context, "A.7", &[4, 8, 12, 16])?.0)
}

/// The figure, and the errors of the orders at the largest number of points.
fn run<T: Precision>(context: &Context, figure: &str, orders: &[usize]) -> Result<(Reproduction, Vec<f64>), Error> {
    let exponents = if context.quick { 10..=12 } else { 10..=20 };
    let mut rows = Vec::new();
    for n in context.sizes(exponents.step_by(2).map(|exponent| 1 << exponent)) {
        let particles = Particles::<T>::with(COULOMB, n, ChargeDistribution::Positive);
        let (mut cpu, mut gpu) = (Vec::new(), Vec::new());
        for p in orders {
            context.step(format_args!("N = {n}, p = {p}"));
            let mut case = particles.fmm();
            // The paper's sums run from degree 0 to p, as ours do.
            case.sum = case.sum.options(Options {
                method: Method::Fmm,
                order: Some(*p),
                leaf_capacity: Some(LEAF_CAPACITY),
                ..Options::default()
            });
            cpu.push(case.measure(context, HU_ERROR_SAMPLES)?.error);
            gpu.push(case.measure_on_gpu(context, HU_ERROR_SAMPLES)?.map(|gpu| gpu.error));
        }
        rows.push(Row { n, cpu, gpu });
    }
    let mut table = Table::of(&rows).column("n", "N", |row| row.n);
    for (k, p) in orders.iter().enumerate() {
        table = table.column(format!("error_p{p}"), format!("error, p = {p}"), |row| {
            Cell::Small(row.cpu[k])
        });
    }
    let mut chart = LineChart::new(format!("Relative error of the potential, {}", T::NAME))
        .subtitle(format!(
            "at {HU_ERROR_SAMPLES} random receivers of N, N sources, as in Hu et al., figure {figure}"
        ))
        .x_axis(Axis::log("N"))
        .y_axis(Axis::log("relative L_{2} error"))
        .reference(ReferenceLine::horizontal(T::EPSILON).label(format!("{} epsilon", T::NAME)));
    for (k, p) in orders.iter().enumerate() {
        table = table.column(format!("gpu_error_p{p}"), format!("GPU, p = {p}"), |row| {
            row.gpu[k].map(Cell::Small)
        });
        let color = Color::PALETTE[k];
        let on_cpu: Vec<_> = rows.iter().map(|row| (row.n as f64, row.cpu[k])).collect();
        chart = chart.series(Series::new(format!("p = {p}, CPU")).points(&on_cpu).color(color));
        let on_gpu: Vec<_> = rows
            .iter()
            .filter_map(|row| Some((row.n as f64, row.gpu[k]?)))
            .collect();
        if !on_gpu.is_empty() {
            let series = Series::new(format!("p = {p}, GPU")).points(&on_gpu);
            chart = chart.series(series.color(color).style(LineStyle::Dotted, Marker::Cross));
        }
    }
    let title = format!(
        "Hu, figure {figure}: error of the Coulomb potential by order, {}",
        T::NAME
    );
    let reproduction = Reproduction::new(title, HU_TABLE_A1_HARDWARE, table, chart.to_png()?)
        .remark(format!(
            "positive charges in the unit cube, up to {LEAF_CAPACITY} points in a leaf"
        ))
        .remark(format!("the paper prints no values; it says: {HU_FIGURES_A6_A7_TREND}"));
    Ok((reproduction, rows.pop().map(|row| row.cpu).unwrap_or_default()))
}
