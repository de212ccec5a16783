//! Hu, section 2.4: the Biot-Savart FMM of ten million points.

use super::hu::{BIOT_SAVART, Particles, tolerance};
use super::measure::{Measured, Problem};
use super::published::{
    HU_ERROR_SAMPLES, HU_LARGEST_DOUBLE_S, HU_LARGEST_PROBLEM, HU_LARGEST_SINGLE_S, HU_TABLE_A1_HARDWARE,
};
use super::table::{Cell, Table};
use super::{Context, Reproduction, count, phases};
use crate::Error;
use farfield::Precision;
use farfield_plot::{BarChart, Color, Figure, Part};

/// One precision on one processor.
struct Row {
    precision: &'static str,
    processor: &'static str,
    tolerance: f64,
    paper: f64,
    measured: Measured,
}

/// Measures both precisions.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let n = context.size(HU_LARGEST_PROBLEM, 20_000);
    let mut rows = measure::<f32>(context, n, HU_LARGEST_SINGLE_S)?;
    rows.extend(measure::<f64>(context, n, HU_LARGEST_DOUBLE_S)?);
    let table = Table::of(&rows)
        .column("precision", "precision", |row| row.precision)
        .column("processor", "processor", |row| row.processor)
        .column("paper_gpu_s", "paper GPU (s)", |row| row.paper)
        .column("total_s", "total (s)", |row| row.measured.seconds.total)
        .column("device_s", "device (s)", |row| {
            (row.processor == "GPU").then(|| row.measured.in_phases())
        })
        .column("tolerance", "tolerance", |row| Cell::Small(row.tolerance))
        .column("error", "error", |row| Cell::Small(row.measured.error));
    let table = phases::columns(table, "s", "(s)", |row| phases::seconds(&row.measured));
    let (mut published, mut bars) = (Vec::new(), Vec::new());
    for row in &rows {
        if row.processor == "CPU" {
            published.push(row.paper);
            bars.push((format!("Hu: GPU, {}", row.precision), [0.0; phases::NAMES.len()]));
        }
        published.push(0.0);
        bars.push((
            format!("{}, {}", row.processor, row.precision),
            phases::seconds(&row.measured),
        ));
    }
    let count = count(n);
    let chart = BarChart::new(format!("Biot-Savart FMM of {count} points"))
        .subtitle("sources and as many receivers, with copies to and from the GPU; Hu et al., section 2.4")
        .y_label("time (s)")
        .categories(bars.iter().map(|(label, _)| label.as_str()))
        .part(Part::new("published", &published).color(Color::INK));
    let title = format!("Hu, section 2.4: Biot-Savart velocity of {count} sources at {count} receivers");
    let png = phases::stack(chart, &bars).to_png()?;
    Ok(Reproduction::new(title, HU_TABLE_A1_HARDWARE, table, png)
        .remark(format!(
            "errors at {HU_ERROR_SAMPLES} receivers; the paper states neither its accuracy nor its truncation"
        ))
        .remark("the paper's times are for 10 million particles")
        .remark("device: the GPU itself, without copies to and from it"))
}

/// A row for the CPU, and one for the GPU if there is one.
fn measure<T: Precision>(context: &Context, n: usize, paper: f64) -> Result<Vec<Row>, Error> {
    let particles = Particles::<T>::new(BIOT_SAVART, n);
    context.step_on_gpu(format_args!("N = {n}, {} on the GPU", T::NAME));
    let gpu = particles.fmm().measure_on_gpu(context, HU_ERROR_SAMPLES)?;
    context.step(format_args!("N = {n}, {} on the CPU", T::NAME));
    let cpu = particles.fmm().measure(context, HU_ERROR_SAMPLES)?;
    let both = [("CPU", cpu)].into_iter().chain(gpu.map(|gpu| ("GPU", gpu)));
    let row = |(processor, measured)| Row {
        precision: T::NAME,
        processor,
        tolerance: tolerance::<T>(),
        paper,
        measured,
    };
    Ok(both.map(row).collect())
}
