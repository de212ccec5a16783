//! Hu, section 2.4: the Biot-Savart FMM of ten million points.

use super::hu::{Column, Particles, tolerance};
use super::measure::Measured;
use super::published::{
    HU_ERROR_SAMPLES, HU_LARGEST_DOUBLE_S, HU_LARGEST_PROBLEM, HU_LARGEST_SINGLE_S, HU_TABLE_A1_HARDWARE,
};
use super::table::{Cell, Table};
use super::{Context, Reproduction, phases};
use crate::Error;
use farfield::Precision;
use farfield_io::units;
use farfield_plot::{BarChart, Color, Figure, Part};

/// One precision.
struct Row {
    precision: &'static str,
    tolerance: f64,
    paper: f64,
    cpu: Measured,
    gpu: Option<Measured>,
}

/// Measures both precisions.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let n = context.size(HU_LARGEST_PROBLEM, 20_000);
    let rows = [
        measure::<f32>(context, n, HU_LARGEST_SINGLE_S)?,
        measure::<f64>(context, n, HU_LARGEST_DOUBLE_S)?,
    ];
    let mut columns: Vec<(String, String)> = [
        ("precision", "precision"),
        ("processor", "processor"),
        ("paper_gpu_s", "paper GPU (s)"),
        ("total_s", "total (s)"),
        ("device_s", "device (s)"),
        ("tolerance", "tolerance"),
        ("error", "error"),
    ]
    .map(|(name, heading)| (name.to_owned(), heading.to_owned()))
    .into();
    columns.extend(phases::columns("s", "(s)"));
    let mut table = Table::new(columns);
    let (mut published, mut bars) = (Vec::new(), Vec::new());
    for row in &rows {
        published.extend([row.paper, 0.0]);
        bars.push((format!("Hu: GPU, {}", row.precision), [0.0; phases::NAMES.len()]));
        bars.push((format!("CPU, {}", row.precision), phases::seconds(&row.cpu)));
        table.row(cells(row, "CPU", &row.cpu, Cell::Missing));
        if let Some(gpu) = &row.gpu {
            published.push(0.0);
            bars.push((format!("GPU, {}", row.precision), phases::seconds(gpu)));
            table.row(cells(row, "GPU", gpu, Cell::Number(gpu.in_phases())));
        }
    }
    let count = units::count(n as u64);
    let chart = BarChart::new(format!("Biot-Savart FMM of {count} points"))
        .subtitle("sources and as many receivers, with copies to and from the GPU; Hu et al., section 2.4")
        .y_label("time (s)")
        .categories(bars.iter().map(|(label, _)| label.as_str()))
        .part(Part::new("published", &published).color(Color::INK));
    Ok(Reproduction {
        title: format!("Hu, section 2.4: Biot-Savart velocity of {count} sources at {count} receivers"),
        hardware: HU_TABLE_A1_HARDWARE,
        tables: vec![("", table)],
        remarks: vec![
            format!("errors at {HU_ERROR_SAMPLES} receivers; the paper states neither its accuracy nor its truncation"),
            "the paper's times are for 10 million particles".to_owned(),
            "device: the GPU itself, without copies to and from it".to_owned(),
        ],
        png: phases::stack(chart, &bars).to_png()?,
    })
}

fn measure<T: Precision>(context: &Context, n: usize, paper: f64) -> Result<Row, Error> {
    let particles = Particles::<T>::new(Column::BiotSavart, n);
    context.step_on_gpu(format_args!("N = {n}, {} on the GPU", T::NAME));
    let gpu = particles.fmm().measure_on_gpu(context, HU_ERROR_SAMPLES)?;
    context.step(format_args!("N = {n}, {} on the CPU", T::NAME));
    let cpu = particles.fmm().measure(context, HU_ERROR_SAMPLES)?;
    Ok(Row {
        precision: T::NAME,
        tolerance: tolerance::<T>(),
        paper,
        cpu,
        gpu,
    })
}

fn cells(row: &Row, processor: &str, measured: &Measured, device: Cell) -> Vec<Cell> {
    let mut cells = vec![
        Cell::Text(row.precision.to_owned()),
        Cell::Text(processor.to_owned()),
        Cell::Number(row.paper),
        Cell::Number(measured.seconds.total),
        device,
        Cell::Small(row.tolerance),
        Cell::Small(measured.error),
    ];
    cells.extend(phases::seconds(measured).map(phases::cell));
    cells
}
