//! Hu, table A.1: time to build the data structures.

use super::measure::{RECEIVER_SEED, SEED};
use super::published::{HU_TABLE_A1, HU_TABLE_A1_HARDWARE, HU_TABLE_A1_POINTS};
use super::table::{Cell, Table};
use super::{Context, Reproduction, progress};
use crate::failure::Failure;
use crate::units;
use farfield::points::PointSet;
use farfield::structure::{StructureTiming, build_to_level, build_to_level_by_sorting};
use farfield_plot::{Axis, Figure, LineChart, LineStyle, Marker, Series};

/// Builds are repeated and the fastest counts.
const RUNS: usize = 3;

/// Builds the structure of sources and receivers down to a level.
type Build = fn(&[[f32; 3]], &[[f32; 3]], u32) -> StructureTiming;

/// Measures the table.
pub fn run(context: &Context) -> Result<Reproduction, Failure> {
    let n = if context.quick { 1 << 12 } else { HU_TABLE_A1_POINTS };
    let deepest = if context.quick { 5 } else { 8 };
    let sources = PointSet::Cube.generate::<f32>(n, SEED);
    let receivers = PointSet::Cube.generate::<f32>(n, RECEIVER_SEED);
    let fastest = |build: Build, lmax| {
        let again = (1..RUNS).map(|_| build(&sources, &receivers, lmax));
        again.fold(build(&sources, &receivers, lmax), |best, run| {
            if run.total_seconds < best.total_seconds {
                run
            } else {
                best
            }
        })
    };
    let mut table = Table::new([
        ("lmax", "lmax"),
        ("paper_cpu_sorting_ms", "paper CPU O(N log N) (ms)"),
        ("paper_cpu_ms", "paper CPU O(N) (ms)"),
        ("paper_gpu_ms", "paper GPU (ms)"),
        ("cpu_sorting_ms", "our CPU O(N log N) (ms)"),
        ("cpu_ms", "our CPU O(N) (ms)"),
        ("gpu_ms", "our GPU (ms)"),
        ("sort_ms", "sort (ms)"),
        ("tree_ms", "boxes (ms)"),
        ("lists_ms", "lists (ms)"),
        ("boxes", "boxes"),
        ("neighbour_entries", "neighbours"),
    ]);
    let (mut ours, mut ours_sorting) = (Vec::new(), Vec::new());
    for row in HU_TABLE_A1.iter().filter(|row| row.lmax <= deepest) {
        progress("hu-table-a1", format_args!("lmax {}", row.lmax));
        let linear = fastest(build_to_level, row.lmax);
        let sorting = fastest(build_to_level_by_sorting, row.lmax);
        table.row([
            Cell::Count(row.lmax.into()),
            Cell::Number(row.cpu_ms),
            Cell::Number(row.improved_cpu_ms),
            Cell::Number(row.gpu_ms),
            Cell::milliseconds(sorting.total_seconds),
            Cell::milliseconds(linear.total_seconds),
            Cell::Missing,
            Cell::milliseconds(linear.sort_seconds),
            Cell::milliseconds(linear.tree_seconds),
            Cell::milliseconds(linear.lists_seconds),
            Cell::Count(linear.boxes as u64),
            Cell::Count(linear.neighbour_entries as u64),
        ]);
        let at = f64::from(row.lmax);
        ours.push((at, linear.total_seconds * 1e3));
        ours_sorting.push((at, sorting.total_seconds * 1e3));
    }
    let remarks = vec![
        "our O(N log N) column uses one thread, as the paper's CPU columns do; our O(N) column uses all".to_owned(),
        "sort, boxes and lists are the parts of our O(N) column".to_owned(),
    ];
    let dashed = |name: &str, part: fn(&super::published::BuildTime) -> f64| {
        let points: Vec<_> = HU_TABLE_A1.iter().map(|row| (f64::from(row.lmax), part(row))).collect();
        Series::new(name)
            .points(&points)
            .style(LineStyle::Dashed, Marker::Square)
    };
    let chart = LineChart::new("Time to build the FMM data structures")
        .subtitle(format!(
            "{} sources and as many receivers; dashed: Hu et al., table A.1",
            units::count(n as u64)
        ))
        .x_axis(Axis::linear("l_{max}").ticks((3..=8).map(f64::from)))
        .y_axis(Axis::log("time (ms)"))
        .series(Series::new("CPU, O(N)").points(&ours))
        .series(Series::new("CPU, O(N log N)").points(&ours_sorting))
        .series(dashed("Hu: CPU, O(N log N)", |row| row.cpu_ms))
        .series(dashed("Hu: CPU, O(N)", |row| row.improved_cpu_ms))
        .series(dashed("Hu: GPU", |row| row.gpu_ms));
    Ok(Reproduction {
        title: format!(
            "Hu, table A.1: data structures of {} sources and receivers, f32",
            units::count(n as u64)
        ),
        hardware: HU_TABLE_A1_HARDWARE,
        tables: vec![("", table)],
        remarks,
        png: chart.to_png()?,
    })
}
