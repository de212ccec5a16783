//! Hu, table A.1: time to build the data structures.

use super::chart::Lines;
use super::measure::{RECEIVER_SEED, SEED, fastest};
use super::published::{HU_TABLE_A1, HU_TABLE_A1_HARDWARE, HU_TABLE_A1_POINTS};
use super::table::{Table, TableOf};
use super::textbook_lists::{self, cube_around};
use super::{Context, Reproduction, count};
use crate::Error;
use farfield::cuda::structure::HostTree;
use farfield::cuda::tree::TreeShape;
use farfield::points::PointSet;
use farfield::structure::{StructureTiming, build_to_level};
use farfield_plot::{Axis, Figure, LineChart, LineStyle, Marker, Series};
use std::hint::black_box;
use std::time::Instant;

/// A short build is repeated at most this often; the fastest run counts.
const RUNS: usize = 5;

/// One depth.
struct Row {
    lmax: u32,
    /// The paper's times in ms: O(N log N) on the CPU, O(N) on the CPU, GPU.
    paper: [f64; 3],
    linear: StructureTiming,
    /// Seconds; not measured where the depth before took long.
    sorting: Option<f64>,
    /// Seconds of the device, and its boxes.
    gpu: Option<(f64, usize)>,
}

/// Measures the table.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let n = context.size(HU_TABLE_A1_POINTS, 1 << 12);
    let deepest = if context.quick { 5 } else { 8 };
    let sources = PointSet::Cube.generate::<f32>(n, SEED);
    let receivers = PointSet::Cube.generate::<f32>(n, RECEIVER_SEED);
    let mut rows: Vec<Row> = Vec::new();
    for (lmax, paper) in HU_TABLE_A1.into_iter().filter(|(lmax, _)| *lmax <= deepest) {
        context.step(format_args!("lmax {lmax}"));
        let gpu = match &context.gpu {
            None => None,
            Some(gpu) => {
                let shape = TreeShape {
                    leaf_capacity: 0,
                    leaf_mean: 1.0,
                    root_scale: Some(1.0),
                    min_side: 0.75 * cube_around(&[&sources, &receivers]).1 * 0.5f64.powi(lmax as i32),
                };
                let build = || Ok(HostTree::build(gpu, &sources, Some(&receivers), &shape)?);
                // The first one compiles.
                build()?;
                let tree = fastest(context, RUNS, |tree| tree.seconds, build)?;
                Some((tree.seconds, tree.key.len()))
            }
        };
        let (longest, _) = context.direct_limits();
        let before = rows.last().map(|row| row.sorting.unwrap_or(f64::MAX));
        let sorting = if before.is_none_or(|seconds| seconds <= longest) {
            let build = || {
                let start = Instant::now();
                black_box(textbook_lists::build_to_level(&sources, &receivers, lmax));
                Ok(start.elapsed().as_secs_f64())
            };
            Some(fastest(context, RUNS, |seconds| *seconds, build)?)
        } else {
            None
        };
        rows.push(Row {
            lmax,
            paper,
            linear: fastest(
                context,
                RUNS,
                |timing: &StructureTiming| timing.total_seconds,
                || Ok(build_to_level(&sources, &receivers, lmax)),
            )?,
            sorting,
            gpu,
        });
    }
    let count = count(n);
    let title = format!("Hu, table A.1: data structures of {count} sources and receivers, f32");
    let png = chart(&rows, &count).to_png()?;
    Ok(Reproduction::new(title, HU_TABLE_A1_HARDWARE, table(&rows), png)
        .remark("our O(N log N) column uses one thread, as the paper's CPU columns do; our O(N) column uses all")
        .remark(format!(
            "our O(N log N) column ends where a depth takes more than {:.0} s",
            context.direct_limits().0
        ))
        .remark("sort, boxes and lists are the parts of our O(N) column")
        .remark(
            "our GPU: from points in its memory to boxes with points, children and neighbours, from which translations \
             follow; lists are not stored there",
        ))
}

fn table(rows: &[Row]) -> TableOf<'_, Row> {
    Table::of(rows)
        .column("lmax", "lmax", |row| u64::from(row.lmax))
        .column("paper_cpu_sorting_ms", "paper CPU O(N log N) (ms)", |row| row.paper[0])
        .column("paper_cpu_ms", "paper CPU O(N) (ms)", |row| row.paper[1])
        .column("paper_gpu_ms", "paper GPU (ms)", |row| row.paper[2])
        .column("cpu_sorting_ms", "our CPU O(N log N) (ms)", |row| {
            Some(1e3 * row.sorting?)
        })
        .column("cpu_ms", "our CPU O(N) (ms)", |row| 1e3 * row.linear.total_seconds)
        .column("gpu_device_ms", "our GPU, device only (ms)", |row| {
            Some(1e3 * row.gpu?.0)
        })
        .column("sort_ms", "sort (ms)", |row| 1e3 * row.linear.sort_seconds)
        .column("tree_ms", "boxes (ms)", |row| 1e3 * row.linear.tree_seconds)
        .column("lists_ms", "lists (ms)", |row| 1e3 * row.linear.lists_seconds)
        .column("boxes", "boxes", |row| row.linear.boxes)
        .column("neighbour_entries", "neighbours", |row| row.linear.neighbour_entries)
        .column("gpu_boxes", "GPU boxes", |row| Some(row.gpu?.1))
}

fn chart(rows: &[Row], count: &str) -> LineChart {
    let chart = LineChart::new("Timing to build the FMM data structures")
        .subtitle(format!(
            "{count} sources and as many receivers; dashed: Hu et al., table A.1"
        ))
        .x_axis(Axis::linear("l_{max}").ticks((3..=8).map(f64::from)))
        .y_axis(Axis::log("time (ms)"))
        .line("CPU, O(N)", rows, |row| {
            Some((row.lmax.into(), 1e3 * row.linear.total_seconds))
        })
        .line("CPU, O(N log N), one thread", rows, |row| {
            Some((row.lmax.into(), 1e3 * row.sorting?))
        })
        .line("GPU", rows, |row| Some((row.lmax.into(), 1e3 * row.gpu?.0)));
    let published = ["Hu: CPU, O(N log N)", "Hu: CPU, O(N)", "Hu: GPU"]
        .into_iter()
        .enumerate();
    published.fold(chart, |chart, (k, name)| {
        let points = HU_TABLE_A1.map(|(lmax, paper)| (f64::from(lmax), paper[k]));
        let series = Series::new(name).points(&points);
        chart.series(series.style(LineStyle::Dashed, Marker::Square))
    })
}
