//! Goude, figure 5.8: three distributions of points.

use super::chart::Lines;
use super::goude::{SAMPLES, Vortices};
use super::measure::{Measured, Problem};
use super::published::{GOUDE_HARDWARE, GOUDE_LARGEST, GOUDE_ORDER};
use super::table::{Cell, Table};
use super::{Context, Reproduction, powers_of_ten};
use crate::Error;
use farfield::plane::PlaneSet;
use farfield_plot::{Axis, Figure, LineChart};

/// The paper's distributions, in its order.
const SETS: [PlaneSet; 3] = [PlaneSet::Square, PlaneSet::Normal, PlaneSet::Layer];

/// One number of points: the three distributions on the CPU and on the GPU.
struct Row {
    n: usize,
    cpu: Vec<Measured>,
    gpu: Vec<Option<Measured>>,
}

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let largest = context.size(GOUDE_LARGEST as usize, 32_000);
    let mut rows = Vec::new();
    for n in powers_of_ten(0.5, 6..15).filter(|n| *n <= largest) {
        let (mut cpu, mut gpu) = (Vec::new(), Vec::new());
        for set in SETS {
            context.step(format_args!("N = {n}, {set}"));
            let vortices = Vortices::new(set, n);
            gpu.push(vortices.fmm().measure_on_gpu(context, 0)?);
            cpu.push(vortices.fmm().measure(context, SAMPLES)?);
        }
        rows.push(Row { n, cpu, gpu });
    }
    let mut table = Table::of(&rows).column("n", "N", |row| row.n);
    let mut chart = LineChart::new("FMM in the plane for three distributions")
        .subtitle(format!(
            "harmonic potential, p = {GOUDE_ORDER}, {} threads; as in Goude and Engblom, figure 5.8",
            rayon::current_num_threads()
        ))
        .x_axis(Axis::log("number of points N"))
        .y_axis(Axis::log("time (s)"));
    for (k, set) in SETS.into_iter().enumerate() {
        table = table.column(format!("{set}_s"), format!("{set} (s)"), |row| row.cpu[k].seconds.total);
        chart = chart.line(format!("{set}, CPU"), &rows, |row| {
            Some((row.n as f64, row.cpu[k].seconds.total))
        });
    }
    for (k, set) in SETS.into_iter().enumerate().skip(1) {
        table = table.column(format!("{set}_ratio"), format!("{set}/square"), |row| {
            row.cpu[k].seconds.total / row.cpu[0].seconds.total
        });
    }
    for (k, set) in SETS.into_iter().enumerate() {
        table = table
            .column(format!("gpu_{set}_s"), format!("GPU {set} (s)"), |row| {
                Some(row.gpu[k]?.seconds.total)
            })
            .column(format!("gpu_{set}_device_s"), "device (s)", |row| {
                Some(row.gpu[k]?.in_phases())
            });
        chart = chart.line(format!("{set}, GPU, without copies"), &rows, |row| {
            Some((row.n as f64, row.gpu[k]?.in_phases()))
        });
    }
    for (k, set) in SETS.into_iter().enumerate() {
        table = table.column(format!("{set}_maximum_error"), format!("{set} max. error"), |row| {
            Cell::Small(row.cpu[k].maximum_error.unwrap_or(0.0))
        });
    }
    let title = "Goude, figure 5.8: time for three distributions of points, f64";
    Ok(Reproduction::new(title, GOUDE_HARDWARE, table, chart.to_png()?)
        .remark(format!("p = {GOUDE_ORDER}; errors by eq. 5.3 at {SAMPLES} points"))
        .remark(
            "square: uniform; normal: variance 1/100; layer: x uniform, y of variance 1/100; all in the unit square",
        )
        .remark("GPU: from host memory to host memory; device: without copies to and from it")
        .remark("the paper prints no values for this figure"))
}
