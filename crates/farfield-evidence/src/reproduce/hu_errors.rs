//! Hu, figures A.6 and A.7: the error against the number of points.

use super::measure::{Measurement, RECEIVER_SEED, SEED};
use super::published::{HU_ERROR_SAMPLES, HU_FIGURE_A6_NO_GAIN, HU_FIGURES_A6_A7_TREND, HU_TABLE_A1_HARDWARE};
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield::kernel::Kernel;
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Method, Precision, Sum};
use farfield_plot::{Axis, Color, Figure, LineChart, LineStyle, Marker, ReferenceLine, Series};

/// Small enough that the smallest problem has a far field, whose error this is about.
const LEAF_CAPACITY: usize = 32;

/// Figure A.6.
pub fn single(context: &Context) -> Result<Reproduction, Error> {
    let (mut reproduction, last) = run::<f32>(context, "A.6", &[4, 8, 12])?;
    let (low, high) = HU_FIGURE_A6_NO_GAIN;
    let gain = last[1] / last[2];
    reproduction.remarks.push(format!(
        "the paper gains nothing from p = {low} to {high} in single precision; ours gains a factor of {gain:.1} at the largest N"
    ));
    Ok(reproduction)
}

/// Figure A.7.
pub fn double(context: &Context) -> Result<Reproduction, Error> {
    Ok(run::<f64>(context, "A.7", &[4, 8, 12, 16])?.0)
}

/// The figure, and the errors of the orders at the largest number of points.
fn run<T: Precision>(context: &Context, figure: &str, orders: &[usize]) -> Result<(Reproduction, Vec<f64>), Error> {
    let exponents = if context.quick { 10..=12 } else { 10..=20 };
    let mut columns = vec![("n".to_owned(), "N".to_owned())];
    columns.extend(
        orders
            .iter()
            .map(|p| (format!("error_p{p}"), format!("error, p = {p}"))),
    );
    columns.extend(
        orders
            .iter()
            .map(|p| (format!("gpu_error_p{p}"), format!("GPU, p = {p}"))),
    );
    let mut table = Table::new(columns);
    let mut curves = vec![Vec::new(); orders.len()];
    let mut gpu_curves = curves.clone();
    for n in context.sizes(exponents.step_by(2).map(|exponent| 1 << exponent)) {
        let sources = PointSet::Cube.generate::<T>(n, SEED);
        let receivers = PointSet::Cube.generate::<T>(n, RECEIVER_SEED);
        let charges = ChargeDistribution::Positive.generate::<T>(n, SEED);
        let (mut row, mut on_gpu) = (vec![Cell::Count(n as u64)], Vec::new());
        for (k, p) in orders.iter().enumerate() {
            context.step(format_args!("N = {n}, p = {p}"));
            let case = Measurement {
                // The paper's sums run from degree 0 to p, as ours do.
                sum: Sum::new(Kernel::Coulomb, &sources)
                    .targets(&receivers)
                    .method(Method::Fmm)
                    .order(*p)
                    .leaf_capacity(LEAF_CAPACITY),
                strengths: &charges,
                sources: n,
                targets: &receivers,
            };
            let measured = case.measure(context, HU_ERROR_SAMPLES)?;
            row.push(Cell::Small(measured.error));
            curves[k].push((n as f64, measured.error));
            let gpu = case.measure_on_gpu(context, HU_ERROR_SAMPLES)?;
            gpu_curves[k].extend(gpu.map(|gpu| (n as f64, gpu.error)));
            on_gpu.push(gpu.map_or(Cell::Missing, |gpu| Cell::Small(gpu.error)));
        }
        row.extend(on_gpu);
        table.row(row);
    }
    let mut chart = LineChart::new(format!("Relative error of the potential, {}", T::NAME))
        .subtitle(format!(
            "at {HU_ERROR_SAMPLES} random receivers of N, N sources, as in Hu et al., figure {figure}"
        ))
        .x_axis(Axis::log("N"))
        .y_axis(Axis::log("relative L_{2} error"))
        .reference(ReferenceLine::horizontal(T::EPSILON).label(format!("{} epsilon", T::NAME)));
    for (k, p) in orders.iter().enumerate() {
        let color = Color::PALETTE[k];
        chart = chart.series(Series::new(format!("p = {p}, CPU")).points(&curves[k]).color(color));
        if !gpu_curves[k].is_empty() {
            let series = Series::new(format!("p = {p}, GPU")).points(&gpu_curves[k]);
            chart = chart.series(series.color(color).style(LineStyle::Dotted, Marker::Cross));
        }
    }
    let last = curves
        .iter()
        .map(|curve| curve.last().map_or(f64::NAN, |(_, error)| *error))
        .collect();
    let reproduction = Reproduction {
        title: format!(
            "Hu, figure {figure}: error of the Coulomb potential by order, {}",
            T::NAME
        ),
        hardware: HU_TABLE_A1_HARDWARE,
        tables: vec![("", table)],
        remarks: vec![
            format!("positive charges in the unit cube, up to {LEAF_CAPACITY} points in a leaf"),
            format!("the paper prints no values; it says: {HU_FIGURES_A6_A7_TREND}"),
        ],
        png: chart.to_png()?,
    };
    Ok((reproduction, last))
}
