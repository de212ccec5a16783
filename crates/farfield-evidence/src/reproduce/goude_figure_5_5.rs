//! Goude, figure 5.5: FMM against direct sum.

use super::crossover::{Crossover, DirectSums, Timing};
use super::goude::{SAMPLES, Vortices};
use super::measure::{On, always};
use super::published::{GOUDE_GPU_BREAK_EVEN, GOUDE_HARDWARE, GOUDE_ORDER, GOUDE_TOLERANCE};
use super::table::{Cell, Table};
use super::{Context, Reproduction};
use crate::Error;
use farfield::plane::PlaneSet;
use farfield_plot::{Axis, Color, Figure, LineChart, LineStyle, Marker, ReferenceLine, Series};

/// Both methods at one number of points.
struct Row {
    n: usize,
    direct: Timing,
    fmm: f64,
    maximum_error: f64,
    /// On the graphics processor, from host memory to host memory.
    gpu: Option<GpuRow>,
}

#[derive(Clone, Copy)]
struct GpuRow {
    direct: Timing,
    fmm: f64,
    /// The same, on the device alone.
    fmm_on_device: f64,
}

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    // Four for every decade.
    let powers = if context.quick { 8..=16 } else { 8..=24 };
    let mut direct = [On::Cpu, On::Gpu].map(DirectSums::on);
    let mut rows: Vec<Row> = Vec::new();
    for n in context.sizes(powers.map(|k| 10f64.powf(0.25 * f64::from(k)).round() as usize)) {
        context.step(format_args!("N = {n}"));
        rows.push(measure(context, n, &mut direct)?);
    }
    let break_even = Crossover::find(rows.iter().map(|row| (row.n as f64, row.fmm, row.direct.seconds)));
    let gpu_times = rows
        .iter()
        .filter_map(|row| row.gpu.map(|gpu| (row.n as f64, gpu.fmm, gpu.direct.seconds)));
    let gpu_break_even = Crossover::find(gpu_times);
    let mut remarks = vec![format!(
        "p = {GOUDE_ORDER}, in the paper a maximum error of about {GOUDE_TOLERANCE:e}; ours at {SAMPLES} points"
    )];
    if rows.iter().any(|row| row.direct.extrapolated) {
        remarks.push("direct sums marked `extrapolated` were timed at some of the targets and scaled".to_owned());
    }
    let mut even = Table::new([
        ("break_even", "break-even"),
        ("cpu", "our CPU"),
        ("paper_gpu", "paper GPU"),
        ("gpu", "our GPU"),
    ]);
    even.row([
        Cell::Text("FMM overtakes direct".to_owned()),
        break_even.map_or(Cell::Missing, Crossover::cell),
        Cell::Count(GOUDE_GPU_BREAK_EVEN as u64),
        gpu_break_even.map_or(Cell::Missing, Crossover::cell),
    ]);
    Ok(Reproduction {
        title: "Goude, figure 5.5: FMM and direct sum against the number of points, f64".to_owned(),
        hardware: GOUDE_HARDWARE,
        png: chart(&rows, [("CPU", break_even), ("GPU", gpu_break_even)]).to_png()?,
        tables: vec![("", times(&rows)), ("break-even", even)],
        remarks,
    })
}

/// Measures both methods on both processors.
fn measure(context: &Context, n: usize, [on_cpu, on_gpu]: &mut [DirectSums; 2]) -> Result<Row, Error> {
    let vortices = Vortices::new(PlaneSet::Square, n);
    let fmm = vortices.fmm().measure(context, SAMPLES)?;
    let direct = on_cpu.next(context, vortices.direct())?;
    let gpu_fmm = vortices.fmm().measure_on_gpu(context, 0)?;
    let gpu_direct = on_gpu.next(context, vortices.direct())?;
    Ok(Row {
        n,
        direct: always(direct)?,
        fmm: fmm.seconds.total,
        maximum_error: fmm.maximum_error.unwrap_or(0.0),
        gpu: gpu_fmm.zip(gpu_direct).map(|(fmm, direct)| GpuRow {
            direct,
            fmm: fmm.seconds.total,
            fmm_on_device: fmm.in_phases(),
        }),
    })
}

fn times(rows: &[Row]) -> Table {
    let mut table = Table::new([
        ("n", "N"),
        ("direct_s", "direct (s)"),
        ("direct_extrapolated", "extrapolated"),
        ("fmm_s", "FMM (s)"),
        ("direct_over_fmm", "direct/FMM"),
        ("gpu_direct_s", "GPU direct (s)"),
        ("gpu_fmm_s", "GPU FMM (s)"),
        ("gpu_fmm_device_s", "GPU FMM, device only (s)"),
        ("fmm_maximum_error", "FMM maximum error"),
    ]);
    for row in rows {
        table.row([
            Cell::Count(row.n as u64),
            Cell::Number(row.direct.seconds),
            row.direct.mark(),
            Cell::Number(row.fmm),
            Cell::Number(row.direct.seconds / row.fmm),
            row.gpu.map(|gpu| gpu.direct.seconds).into(),
            row.gpu.map(|gpu| gpu.fmm).into(),
            row.gpu.map(|gpu| gpu.fmm_on_device).into(),
            Cell::Small(row.maximum_error),
        ]);
    }
    table
}

fn chart(rows: &[Row], break_even: [(&str, Option<Crossover>); 2]) -> LineChart {
    let direct: Vec<_> = rows.iter().map(|row| (row.n as f64, row.direct.seconds)).collect();
    let fmm: Vec<_> = rows.iter().map(|row| (row.n as f64, row.fmm)).collect();
    let measured = rows.iter().take_while(|row| !row.direct.extrapolated).count();
    let blue = Color::PALETTE[0];
    let mut chart = LineChart::new("FMM and direct sum in the plane")
        .subtitle(format!(
            "harmonic potential in the square, p = {GOUDE_ORDER}, {} threads; as in Goude and Engblom, figure 5.5",
            rayon::current_num_threads()
        ))
        .x_axis(Axis::log("number of points N"))
        .y_axis(Axis::log("time (s)"))
        .series(Series::new("direct sum").points(&direct[..measured]).color(blue))
        .series(Series::new("FMM").points(&fmm).color(Color::PALETTE[2]));
    if measured < rows.len() {
        // From the last measured point on, so that the line goes on.
        let rest = Series::new("direct sum, extrapolated").points(&direct[measured.saturating_sub(1)..]);
        chart = chart.series(rest.color(blue).style(LineStyle::Dashed, Marker::Cross));
    }
    for (name, time) in [
        (
            "direct sum, GPU",
            (|gpu: GpuRow| gpu.direct.seconds) as fn(GpuRow) -> f64,
        ),
        ("FMM, GPU", |gpu| gpu.fmm),
        ("FMM, GPU, without copies", |gpu| gpu.fmm_on_device),
    ] {
        let points: Vec<_> = rows
            .iter()
            .filter_map(|row| row.gpu.map(|gpu| (row.n as f64, time(gpu))))
            .collect();
        if !points.is_empty() {
            chart = chart.series(Series::new(name).points(&points));
        }
    }
    for (processor, at) in break_even {
        if let Some(Crossover::At(n)) = at {
            chart = chart.reference(ReferenceLine::vertical(n).label(format!("{processor}: {n:.0}")));
        }
    }
    chart.reference(ReferenceLine::vertical(GOUDE_GPU_BREAK_EVEN).label("Goude: GPU, 3500"))
}
