//! Goude, figure 5.5: FMM against direct sum.

use super::chart::Lines;
use super::crossover::{Crossover, Race, races};
use super::goude::{SAMPLES, Vortices};
use super::published::{GOUDE_GPU_BREAK_EVEN, GOUDE_HARDWARE, GOUDE_ORDER, GOUDE_TOLERANCE};
use super::table::{Cell, Table, TableOf};
use super::{Context, Reproduction, powers_of_ten};
use crate::Error;
use farfield::plane::PlaneSet;
use farfield_plot::{Axis, Color, Figure, LineChart, LineStyle, Marker, ReferenceLine, Series};

/// Measures the figure.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let sizes = powers_of_ten(0.25, if context.quick { 8..=16 } else { 8..=24 });
    let rows = races(context, sizes, SAMPLES, |n| Vortices::new(PlaneSet::Square, n))?;
    let break_even = [Crossover::of(&rows, |row| row.cpu), Crossover::of(&rows, |row| row.gpu)];
    let even: Table = Table::of(&[break_even])
        .column("break_even", "break-even", |_| "FMM overtakes direct")
        .column("cpu", "our CPU", |[cpu, _]| *cpu)
        .column("paper_gpu", "paper GPU", |_| GOUDE_GPU_BREAK_EVEN as usize)
        .column("gpu", "our GPU", |[_, gpu]| *gpu)
        .into();
    let title = "Goude, figure 5.5: FMM and direct sum against the number of points, f64";
    let png = chart(&rows, break_even).to_png()?;
    let reproduction = Reproduction::new(title, GOUDE_HARDWARE, times(&rows), png)
        .table("break-even", even)
        .remark(format!(
            "p = {GOUDE_ORDER}, in the paper a maximum error of about {GOUDE_TOLERANCE:e}; ours at {SAMPLES} points"
        ));
    Ok(
        if rows.iter().filter_map(|row| row.cpu).any(|cpu| cpu.direct.extrapolated) {
            reproduction.remark("direct sums marked `extrapolated` were timed at some of the targets and scaled")
        } else {
            reproduction
        },
    )
}

fn times(rows: &[Race]) -> TableOf<'_, Race> {
    Table::of(rows)
        .column("n", "N", |row| row.n)
        .column("direct_s", "direct (s)", |row| Some(row.cpu?.direct.seconds))
        .column("direct_extrapolated", "extrapolated", |row| {
            Some(row.cpu?.direct.mark())
        })
        .column("fmm_s", "FMM (s)", |row| Some(row.cpu?.fmm.seconds.total))
        .column("direct_over_fmm", "direct/FMM", |row| {
            row.cpu.map(|cpu| cpu.direct.seconds / cpu.fmm.seconds.total)
        })
        .column("gpu_direct_s", "GPU direct (s)", |row| Some(row.gpu?.direct.seconds))
        .column("gpu_fmm_s", "GPU FMM (s)", |row| Some(row.gpu?.fmm.seconds.total))
        .column("gpu_fmm_device_s", "GPU FMM, device only (s)", |row| {
            Some(row.gpu?.fmm.in_phases())
        })
        .column("fmm_maximum_error", "FMM maximum error", |row| {
            Some(Cell::Small(row.cpu?.fmm.maximum_error.unwrap_or(0.0)))
        })
}

fn chart(rows: &[Race], break_even: [Option<Crossover>; 2]) -> LineChart {
    let direct = rows.iter().filter_map(|row| Some((row.n as f64, row.cpu?.direct)));
    let measured = direct.clone().take_while(|(_, direct)| !direct.extrapolated).count();
    let direct: Vec<_> = direct.map(|(n, direct)| (n, direct.seconds)).collect();
    let fmm: Vec<_> = rows
        .iter()
        .filter_map(|row| Some((row.n as f64, row.cpu?.fmm.seconds.total)))
        .collect();
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
    if measured < direct.len() {
        // From the last measured point on, so that the line goes on.
        let rest = Series::new("direct sum, extrapolated").points(&direct[measured.saturating_sub(1)..]);
        chart = chart.series(rest.color(blue).style(LineStyle::Dashed, Marker::Cross));
    }
    chart = chart
        .line("direct sum, GPU", rows, |row| {
            Some((row.n as f64, row.gpu?.direct.seconds))
        })
        .line("FMM, GPU", rows, |row| Some((row.n as f64, row.gpu?.fmm.seconds.total)))
        .line("FMM, GPU, without copies", rows, |row| {
            Some((row.n as f64, row.gpu?.fmm.in_phases()))
        });
    for (processor, at) in ["CPU", "GPU"].into_iter().zip(break_even) {
        if let Some(Crossover::At(n)) = at {
            chart = chart.reference(ReferenceLine::vertical(n).label(format!("{processor}: {n:.0}")));
        }
    }
    chart.reference(ReferenceLine::vertical(GOUDE_GPU_BREAK_EVEN).label("Goude: GPU, 3500"))
}
