//! Hu, table A.2: the Biot-Savart kernel against the Coulomb kernel.

use super::measure::{Case, Measured, RECEIVER_SEED, SEED};
use super::published::{HU_ERROR_SAMPLES, HU_TABLE_A1_HARDWARE, HU_TABLE_A2};
use super::table::{Cell, Table};
use super::{Context, Reproduction, progress};
use crate::failure::Failure;
use crate::problem::{Data, Settings, Space};
use crate::units;
use farfield::Method;
use farfield::kernel::{Core, Kernel, Output};
use farfield::points::{ChargeDistribution, PointSet};
use farfield_plot::{Axis, Figure, LineChart, LineStyle, Marker, Series};

/// The accuracy of both; the paper does not state its own.
pub const TOLERANCE: f64 = 1e-4;

/// What is summed.
#[derive(Debug, Clone, Copy)]
pub enum Column {
    /// The Coulomb potential: no derivative.
    Coulomb,
    /// The Coulomb potential and its gradient: one derivative, as the velocity.
    CoulombGradient,
    /// The Biot-Savart velocity.
    BiotSavart,
}

impl Column {
    fn kernel(self) -> Kernel {
        match self {
            Column::Coulomb | Column::CoulombGradient => Kernel::Coulomb,
            Column::BiotSavart => Kernel::BiotSavart { core: Core::Singular },
        }
    }

    fn outputs(self) -> &'static [Output] {
        match self {
            Column::Coulomb => &[Output::Potential],
            Column::CoulombGradient => &[Output::Potential, Output::Gradient],
            Column::BiotSavart => &[Output::Velocity],
        }
    }
}

/// Times an FMM in single precision between `n` sources and as many other receivers, as the paper did.
pub fn fmm(context: &Context, column: Column, n: usize) -> Result<Measured, Failure> {
    with_case(column, n, |case| case.measure(context, HU_ERROR_SAMPLES))
}

/// The same on a graphics processor, if there is one.
pub fn fmm_on_gpu(context: &Context, column: Column, n: usize) -> Result<Option<Measured>, Failure> {
    with_case(column, n, |case| case.measure_on_gpu(context, HU_ERROR_SAMPLES))
}

fn with_case<R>(column: Column, n: usize, measure: impl FnOnce(&Case<'_, Space, f32, 3>) -> R) -> R {
    let kernel = column.kernel();
    let sources = PointSet::Cube.generate::<f32>(n, SEED);
    let receivers = PointSet::Cube.generate::<f32>(n, RECEIVER_SEED);
    let strengths = ChargeDistribution::Signed.generate::<f32>(n * kernel.strength_components(), SEED);
    let case = Case {
        problem: Space::new(kernel, column.outputs()),
        data: Data {
            sources: &sources,
            targets: Some(&receivers),
            strengths: &strengths,
            vectors: 1,
        },
        settings: Settings {
            method: Method::Fmm,
            tolerance: Some(TOLERANCE),
            ..Settings::default()
        },
    };
    measure(&case)
}

/// Measures the table.
pub fn run(context: &Context) -> Result<Reproduction, Failure> {
    let largest = if context.quick { 4096 } else { usize::MAX };
    let mut table = Table::new([
        ("n", "N"),
        ("paper_coulomb_ms", "paper GPU Coulomb (ms)"),
        ("paper_biot_savart_ms", "Biot-Savart (ms)"),
        ("paper_ratio", "ratio"),
        ("coulomb_ms", "our CPU Coulomb potential (ms)"),
        ("coulomb_gradient_ms", "potential+gradient (ms)"),
        ("biot_savart_ms", "Biot-Savart (ms)"),
        ("ratio_to_potential", "ratio to potential"),
        ("ratio_to_gradient", "ratio to potential+gradient"),
        ("below_two", "below 2"),
        ("gpu_coulomb_ms", "our GPU Coulomb (ms)"),
        ("gpu_biot_savart_ms", "Biot-Savart (ms)"),
        ("coulomb_error", "potential error"),
        ("coulomb_gradient_error", "potential+gradient error"),
        ("biot_savart_error", "Biot-Savart error"),
    ]);
    let (mut scalar, mut gradient, mut vector) = (Vec::new(), Vec::new(), Vec::new());
    let mut above = Vec::new();
    let (mut least, mut most) = (f64::MAX, 0.0f64);
    for row in HU_TABLE_A2.iter().filter(|row| row.n <= largest) {
        progress("hu-table-a2", format_args!("N = {}", row.n));
        let coulomb = fmm(context, Column::Coulomb, row.n)?;
        let coulomb_gradient = fmm(context, Column::CoulombGradient, row.n)?;
        let biot_savart = fmm(context, Column::BiotSavart, row.n)?;
        let on_gpu = |column| -> Result<Cell, Failure> {
            let measured = fmm_on_gpu(context, column, row.n)?;
            Ok(measured.map_or(Cell::Missing, |measured| Cell::milliseconds(measured.seconds.total)))
        };
        let ratio_to = |other: &Measured| biot_savart.seconds.total / other.seconds.total;
        let (to_potential, to_gradient) = (ratio_to(&coulomb), ratio_to(&coulomb_gradient));
        (least, most) = (least.min(to_potential), most.max(to_potential));
        table.row([
            Cell::Count(row.n as u64),
            Cell::Number(row.coulomb_ms),
            Cell::Number(row.biot_savart_ms),
            Cell::Number(row.ratio()),
            Cell::milliseconds(coulomb.seconds.total),
            Cell::milliseconds(coulomb_gradient.seconds.total),
            Cell::milliseconds(biot_savart.seconds.total),
            Cell::Number(to_potential),
            Cell::Number(to_gradient),
            Cell::check(to_gradient < 2.0),
            on_gpu(Column::Coulomb)?,
            on_gpu(Column::BiotSavart)?,
            Cell::Small(coulomb.error),
            Cell::Small(coulomb_gradient.error),
            Cell::Small(biot_savart.error),
        ]);
        scalar.push((row.n as f64, coulomb.seconds.total * 1e3));
        gradient.push((row.n as f64, coulomb_gradient.seconds.total * 1e3));
        vector.push((row.n as f64, biot_savart.seconds.total * 1e3));
        if to_gradient >= 2.0 {
            above.push(units::count(row.n as u64));
        }
    }
    let mut remarks = vec![
        format!("both kernels to a tolerance of {TOLERANCE:e}; the paper does not state its accuracy"),
        "`below 2` is about the ratio to potential+gradient: it takes one derivative, as the velocity does".to_owned(),
    ];
    remarks.push(if above.is_empty() {
        "Biot-Savart costs less than twice the Coulomb potential+gradient for every N".to_owned()
    } else {
        format!(
            "Biot-Savart costs twice the Coulomb potential+gradient or more for N = {}",
            above.join(", ")
        )
    });
    remarks.push(format!(
        "against the potential alone, which takes no derivative, it costs {least:.2} to {most:.2} times as much"
    ));
    let published = |name: &str, part: fn(&super::published::KernelTime) -> f64| {
        let points: Vec<_> = HU_TABLE_A2.iter().map(|row| (row.n as f64, part(row))).collect();
        Series::new(name)
            .points(&points)
            .style(LineStyle::Dashed, Marker::Square)
    };
    let chart = LineChart::new("FMM for the Coulomb and the Biot-Savart kernel")
        .subtitle("N sources and N receivers, single precision; dashed: Hu et al., table A.2")
        .x_axis(Axis::log("N"))
        .y_axis(Axis::log("time (ms)"))
        .series(Series::new("Coulomb potential, CPU").points(&scalar))
        .series(Series::new("Coulomb potential+gradient, CPU").points(&gradient))
        .series(Series::new("Biot-Savart velocity, CPU").points(&vector))
        .series(published("Hu: Coulomb, GPU", |row| row.coulomb_ms))
        .series(published("Hu: Biot-Savart, GPU", |row| row.biot_savart_ms));
    Ok(Reproduction {
        title: "Hu, table A.2: Biot-Savart velocity against Coulomb potential and gradient, f32".to_owned(),
        hardware: HU_TABLE_A1_HARDWARE,
        tables: vec![("", table)],
        remarks,
        png: chart.to_png()?,
    })
}
