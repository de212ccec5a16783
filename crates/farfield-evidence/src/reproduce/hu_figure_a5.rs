//! Hu, figure A.5: FMM against direct sum, Coulomb kernel.

use super::crossover::{Crossover, DirectSums, Timing};
use super::hu::{Column, Particles, tolerance};
use super::measure::{Measured, On};
use super::published::{HU_ERROR_SAMPLES, HU_FIGURE_A5_CROSSOVER, HU_TABLE_A1_HARDWARE};
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield::Method;
use farfield::Precision;
use farfield_plot::{Axis, ChartGrid, Figure, LineChart, ReferenceLine, Series};

/// Both methods of one size, on one processor.
#[derive(Debug, Clone, Copy)]
struct Pair {
    direct: Timing,
    fmm: Measured,
}

/// One size.
struct Row {
    n: usize,
    cpu: Option<Pair>,
    gpu: Option<Pair>,
}

/// All sizes in one precision.
struct Sweep {
    precision: &'static str,
    tolerance: f64,
    rows: Vec<Row>,
}

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let sweeps = [sweep::<f32>(context)?, sweep::<f64>(context)?];
    let mut table = Table::new([
        ("precision", "precision"),
        ("n", "N"),
        ("cpu_direct_s", "CPU direct (s)"),
        ("cpu_direct_extrapolated", "extrapolated"),
        ("cpu_fmm_s", "CPU FMM (s)"),
        ("gpu_direct_s", "GPU direct (s)"),
        ("gpu_direct_extrapolated", "extrapolated"),
        ("gpu_fmm_s", "GPU FMM (s)"),
        ("gpu_fmm_device_s", "on the device (s)"),
        ("cpu_fmm_error", "CPU FMM error"),
        ("gpu_fmm_error", "GPU FMM error"),
    ]);
    for sweep in &sweeps {
        sweep.rows.iter().for_each(|row| table.row(cells(sweep.precision, row)));
    }
    let mut even = Table::new([
        ("precision", "FMM overtakes direct"),
        ("paper_gpu", "paper GPU"),
        ("cpu", "our CPU"),
        ("gpu", "our GPU"),
        ("tolerance", "tolerance"),
    ]);
    for sweep in &sweeps {
        even.row([
            Cell::Text(sweep.precision.to_owned()),
            Cell::Count(HU_FIGURE_A5_CROSSOVER as u64),
            sweep.crossover(|row| row.cpu),
            sweep.crossover(|row| row.gpu),
            Cell::Small(sweep.tolerance),
        ]);
    }
    let grid = ChartGrid::new("FMM against direct sum, Coulomb potential")
        .subtitle("N sources and N receivers, as in Hu et al., figure A.5")
        .columns(2);
    let grid = sweeps.iter().fold(grid, |grid, sweep| grid.chart(chart(sweep)));
    Ok(Reproduction {
        title: "Hu, figure A.5: FMM against direct sum, Coulomb potential, f32 and f64".to_owned(),
        hardware: HU_TABLE_A1_HARDWARE,
        tables: vec![("", table), ("crossovers", even)],
        remarks: vec![
            "GPU times are from host memory to host memory, and those of the device alone".to_owned(),
            "direct sums marked `extrapolated` were timed at some of the receivers and scaled".to_owned(),
            "the paper prints the crossover alone, N = M = 65 536 on its GPU, and not its accuracy".to_owned(),
        ],
        png: grid.size(1800, 800).to_png()?,
    })
}

fn sweep<T: Precision>(context: &Context) -> Result<Sweep, Error> {
    let exponents = if context.quick { 10..=12 } else { 10..=22 };
    let mut direct = [On::Cpu, On::Gpu].map(DirectSums::on);
    let mut rows = Vec::new();
    for n in context.sizes(exponents.map(|exponent| 1 << exponent)) {
        context.step(format_args!("N = {n}, {}", T::NAME));
        let particles = Particles::<T>::new(Column::Coulomb, n);
        let both = |on: On, direct: &mut DirectSums| -> Result<Option<Pair>, Error> {
            let fmm = particles.fmm().measure_on(on, context, HU_ERROR_SAMPLES)?;
            let direct = direct.next(context, particles.case(Method::Direct))?;
            Ok(direct.zip(fmm).map(|(direct, fmm)| Pair { direct, fmm }))
        };
        let [on_cpu, on_gpu] = &mut direct;
        rows.push(Row {
            n,
            cpu: both(On::Cpu, on_cpu)?,
            gpu: both(On::Gpu, on_gpu)?,
        });
    }
    Ok(Sweep {
        precision: T::NAME,
        tolerance: tolerance::<T>(),
        rows,
    })
}

impl Sweep {
    fn crossover(&self, on: fn(&Row) -> Option<Pair>) -> Cell {
        let times = self.rows.iter().filter_map(|row| Some((row.n as f64, on(row)?)));
        let times = times.map(|(n, pair)| (n, pair.fmm.seconds.total, pair.direct.seconds));
        Crossover::find(times).map_or(Cell::Missing, Crossover::cell)
    }
}

fn cells(precision: &str, row: &Row) -> Vec<Cell> {
    let mut cells = vec![Cell::Text(precision.to_owned()), Cell::Count(row.n as u64)];
    for pair in [row.cpu, row.gpu] {
        cells.extend([
            pair.map(|pair| pair.direct.seconds).into(),
            pair.map_or(Cell::Missing, |pair| pair.direct.mark()),
            pair.map(|pair| pair.fmm.seconds.total).into(),
        ]);
    }
    cells.push(row.gpu.map(|pair| pair.fmm.in_phases()).into());
    let error = |pair: Option<Pair>| pair.map_or(Cell::Missing, |pair| Cell::Small(pair.fmm.error));
    cells.extend([error(row.cpu), error(row.gpu)]);
    cells
}

fn chart(sweep: &Sweep) -> LineChart {
    let mut chart = LineChart::new(format!("{}, tolerance {:e}", sweep.precision, sweep.tolerance))
        .x_axis(Axis::log("N"))
        .y_axis(Axis::log("time (s)"))
        .reference(ReferenceLine::vertical(HU_FIGURE_A5_CROSSOVER as f64).label("Hu: crossover on the GPU"));
    /// The name of a line, the processor, and which time it shows.
    type Line = (&'static str, fn(&Row) -> Option<Pair>, fn(Pair) -> f64);
    let lines: [Line; 5] = [
        ("direct, CPU", |row| row.cpu, |pair| pair.direct.seconds),
        ("FMM, CPU", |row| row.cpu, |pair| pair.fmm.seconds.total),
        ("direct, GPU", |row| row.gpu, |pair| pair.direct.seconds),
        ("FMM, GPU", |row| row.gpu, |pair| pair.fmm.seconds.total),
        ("FMM, GPU, without copies", |row| row.gpu, |pair| pair.fmm.in_phases()),
    ];
    for (name, on, time) in lines {
        let points: Vec<_> = sweep
            .rows
            .iter()
            .filter_map(|row| Some((row.n as f64, time(on(row)?))))
            .collect();
        if !points.is_empty() {
            chart = chart.series(Series::new(name).points(&points));
        }
    }
    chart
}
