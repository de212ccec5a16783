//! Goude, figure 5.8: three distributions of points.

use super::goude::{SAMPLES, Vortices};
use super::published::{GOUDE_HARDWARE, GOUDE_LARGEST, GOUDE_ORDER};
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield::plane::PlaneSet;
use farfield_plot::{Axis, Figure, LineChart, Series};

/// The paper's distributions, in its order.
const SETS: [PlaneSet; 3] = [PlaneSet::Square, PlaneSet::Normal, PlaneSet::Layer];

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    // Two for every decade.
    let largest = context.size(GOUDE_LARGEST as usize, 32_000);
    let sizes = (6..15).map(|k| 10f64.powf(0.5 * f64::from(k)).round() as usize);
    let mut columns = vec![("n".to_owned(), "N".to_owned())];
    for set in SETS {
        columns.push((format!("{set}_s"), format!("{set} (s)")));
    }
    columns.push(("normal_ratio".to_owned(), "normal/square".to_owned()));
    columns.push(("layer_ratio".to_owned(), "layer/square".to_owned()));
    for set in SETS {
        columns.push((format!("gpu_{set}_s"), format!("GPU {set} (s)")));
        columns.push((format!("gpu_{set}_device_s"), "device (s)".to_owned()));
    }
    for set in SETS {
        columns.push((format!("{set}_maximum_error"), format!("{set} max. error")));
    }
    let mut table = Table::new(columns);
    let mut curves = vec![Vec::new(); SETS.len()];
    let mut gpu_curves = vec![Vec::new(); SETS.len()];
    for n in sizes.filter(|n| *n <= largest) {
        let (mut seconds, mut gpu_seconds, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for (k, (set, curve)) in SETS.into_iter().zip(&mut curves).enumerate() {
            context.step(format_args!("N = {n}, {set}"));
            let vortices = Vortices::new(set, n);
            let gpu = vortices.fmm().measure_on_gpu(context, 0)?;
            gpu_seconds.push(gpu.map(|gpu| gpu.seconds.total));
            gpu_seconds.push(gpu.map(|gpu| gpu.in_phases()));
            gpu_curves[k].extend(gpu.map(|gpu| (n as f64, gpu.in_phases())));
            let measured = vortices.fmm().measure(context, SAMPLES)?;
            seconds.push(measured.seconds.total);
            errors.push(Cell::Small(measured.maximum_error.unwrap_or(0.0)));
            curve.push((n as f64, measured.seconds.total));
        }
        let mut row = vec![Cell::Count(n as u64)];
        row.extend(seconds.iter().map(|seconds| Cell::Number(*seconds)));
        row.extend(seconds[1..].iter().map(|other| Cell::Number(other / seconds[0])));
        row.extend(gpu_seconds.into_iter().map(Cell::from));
        row.extend(errors);
        table.row(row);
    }
    let mut chart = LineChart::new("FMM in the plane for three distributions")
        .subtitle(format!(
            "harmonic potential, p = {GOUDE_ORDER}, {} threads; as in Goude and Engblom, figure 5.8",
            rayon::current_num_threads()
        ))
        .x_axis(Axis::log("number of points N"))
        .y_axis(Axis::log("time (s)"));
    for (set, curve) in SETS.into_iter().zip(&curves) {
        chart = chart.series(Series::new(format!("{set}, CPU")).points(curve));
    }
    for (set, curve) in SETS.into_iter().zip(&gpu_curves).filter(|(_, curve)| !curve.is_empty()) {
        chart = chart.series(Series::new(format!("{set}, GPU, without copies")).points(curve));
    }
    Ok(Reproduction {
        title: "Goude, figure 5.8: time for three distributions of points, f64".to_owned(),
        hardware: GOUDE_HARDWARE,
        tables: vec![("", table)],
        remarks: vec![
            format!("p = {GOUDE_ORDER}; errors by eq. 5.3 at {SAMPLES} points"),
            "square: uniform; normal: variance 1/100; layer: x uniform, y of variance 1/100; all in the unit square"
                .to_owned(),
            "GPU: from host memory to host memory; device: without copies to and from it".to_owned(),
            "the paper prints no values for this figure".to_owned(),
        ],
        png: chart.to_png()?,
    })
}
