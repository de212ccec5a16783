//! Hu, figure A.5: FMM against direct sum, Coulomb kernel.

use super::chart::Lines;
use super::crossover::{Crossover, Race, races};
use super::hu::{COULOMB, Particles, tolerance};
use super::published::{HU_ERROR_SAMPLES, HU_FIGURE_A5_CROSSOVER, HU_TABLE_A1_HARDWARE};
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield::Precision;
use farfield_plot::{Axis, ChartGrid, Figure, LineChart, ReferenceLine};

/// All sizes in one precision.
struct Sweep {
    precision: &'static str,
    tolerance: f64,
    races: Vec<Race>,
}

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let sweeps = [sweep::<f32>(context)?, sweep::<f64>(context)?];
    let of_sweep = |sweep: &'static str| move |race| (sweep, race);
    let rows: Vec<(&str, &Race)> = sweeps
        .iter()
        .flat_map(|sweep| sweep.races.iter().map(of_sweep(sweep.precision)))
        .collect();
    let table = Table::of(&rows)
        .column("precision", "precision", |(precision, _)| *precision)
        .column("n", "N", |(_, row)| row.n)
        .column("cpu_direct_s", "CPU direct (s)", |(_, row)| {
            Some(row.cpu?.direct.seconds)
        })
        .column("cpu_direct_extrapolated", "extrapolated", |(_, row)| {
            Some(row.cpu?.direct.mark())
        })
        .column("cpu_fmm_s", "CPU FMM (s)", |(_, row)| Some(row.cpu?.fmm.seconds.total))
        .column("gpu_direct_s", "GPU direct (s)", |(_, row)| {
            Some(row.gpu?.direct.seconds)
        })
        .column("gpu_direct_extrapolated", "extrapolated", |(_, row)| {
            Some(row.gpu?.direct.mark())
        })
        .column("gpu_fmm_s", "GPU FMM (s)", |(_, row)| Some(row.gpu?.fmm.seconds.total))
        .column("gpu_fmm_device_s", "on the device (s)", |(_, row)| {
            Some(row.gpu?.fmm.in_phases())
        })
        .column("cpu_fmm_error", "CPU FMM error", |(_, row)| {
            Some(Cell::Small(row.cpu?.fmm.error))
        })
        .column("gpu_fmm_error", "GPU FMM error", |(_, row)| {
            Some(Cell::Small(row.gpu?.fmm.error))
        });
    let even = Table::of(&sweeps)
        .column("precision", "FMM overtakes direct", |sweep| sweep.precision)
        .column("paper_gpu", "paper GPU", |_| HU_FIGURE_A5_CROSSOVER)
        .column("cpu", "our CPU", |sweep| Crossover::of(&sweep.races, |row| row.cpu))
        .column("gpu", "our GPU", |sweep| Crossover::of(&sweep.races, |row| row.gpu))
        .column("tolerance", "tolerance", |sweep| Cell::Small(sweep.tolerance));
    let grid = ChartGrid::new("FMM against direct sum, Coulomb potential")
        .subtitle("N sources and N receivers, as in Hu et al., figure A.5")
        .columns(2);
    let grid = sweeps.iter().fold(grid, |grid, sweep| grid.chart(chart(sweep)));
    let title = "Hu, figure A.5: FMM against direct sum, Coulomb potential, f32 and f64";
    Ok(
        Reproduction::new(title, HU_TABLE_A1_HARDWARE, table, grid.size(1800, 800).to_png()?)
            .table("crossovers", even)
            .remark("GPU times are from host memory to host memory, and those of the device alone")
            .remark("direct sums marked `extrapolated` were timed at some of the receivers and scaled")
            .remark("the paper prints the crossover alone, N = M = 65 536 on its GPU, and not its accuracy"),
    )
}

fn sweep<T: Precision>(context: &Context) -> Result<Sweep, Error> {
    let exponents = if context.quick { 10..=12 } else { 10..=22 };
    let sizes = exponents.map(|exponent| 1 << exponent);
    Ok(Sweep {
        precision: T::NAME,
        tolerance: tolerance::<T>(),
        races: races(context, sizes, HU_ERROR_SAMPLES, |n| Particles::<T>::new(COULOMB, n))?,
    })
}

fn chart(sweep: &Sweep) -> LineChart {
    let rows = &sweep.races;
    LineChart::new(format!("{}, tolerance {:e}", sweep.precision, sweep.tolerance))
        .x_axis(Axis::log("N"))
        .y_axis(Axis::log("time (s)"))
        .reference(ReferenceLine::vertical(HU_FIGURE_A5_CROSSOVER as f64).label("Hu: crossover on the GPU"))
        .line("direct, CPU", rows, |row| Some((row.n as f64, row.cpu?.direct.seconds)))
        .line("FMM, CPU", rows, |row| Some((row.n as f64, row.cpu?.fmm.seconds.total)))
        .line("direct, GPU", rows, |row| Some((row.n as f64, row.gpu?.direct.seconds)))
        .line("FMM, GPU", rows, |row| Some((row.n as f64, row.gpu?.fmm.seconds.total)))
        .line("FMM, GPU, without copies", rows, |row| {
            Some((row.n as f64, row.gpu?.fmm.in_phases()))
        })
}
