//! Goude, figures 5.2 and 5.4: the best number of points per box.

use super::chart::Lines;
use super::goude::{Vortices, levels};
use super::measure::Measurement;
use super::published::{
    GOUDE_BEST_PER_BOX, GOUDE_FIGURE_5_2_SIZES, GOUDE_FIGURE_5_4, GOUDE_HARDWARE, GOUDE_ORDER, GOUDE_TOLERANCE,
};
use super::table::Table;
use super::{Context, Reproduction};
use crate::Error;
use farfield::plane::{Plane, PlaneSet};
use farfield_plot::{Axis, Figure, LineChart, LineStyle, Marker, ReferenceLine, Series};
use std::collections::btree_map::{BTreeMap, Entry};

/// Figure 5.2: time against the number of points per box.
pub fn figure_5_2(context: &Context) -> Result<Reproduction, Error> {
    let (smallest, largest) = GOUDE_FIGURE_5_2_SIZES;
    let count = if context.quick { 4 } else { 24 };
    let largest = context.size(largest as usize, 40_000) as f64;
    let wanted: Vec<usize> = (2..=12).map(|k| 5 * k).chain([70, 80, 100, 120, 160]).collect();
    // Seconds per point for each number of points per box, size after size, on the CPU and on the GPU.
    let mut times = vec![Vec::new(); wanted.len()];
    let mut gpu_times = times.clone();
    for k in 0..count {
        let n = (smallest * (largest / smallest).powf(k as f64 / (count - 1) as f64)).round() as usize;
        let vortices = Vortices::new(PlaneSet::Square, n);
        // Several numbers of points per box lead to the same number of levels.
        let mut by_levels = BTreeMap::new();
        for (k, per_box) in wanted.iter().enumerate() {
            let levels = levels(n, *per_box);
            let (cpu, gpu) = match by_levels.entry(levels) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(unknown) => {
                    context.step(format_args!("N = {n}, {levels} levels"));
                    let case = vortices.fmm_with(GOUDE_ORDER, *per_box);
                    *unknown.insert(times_per_point(context, &case, n)?)
                }
            };
            times[k].push(cpu);
            gpu_times[k].extend(gpu);
        }
    }
    let (means, best, least) = means_and_best(&wanted, &times);
    let on_gpu = context.gpu.is_some().then(|| means_and_best(&wanted, &gpu_times));
    let gpu_at = |k: usize| on_gpu.as_ref().map(|(means, _, least)| (means[k], means[k] / least));
    let rows: Vec<_> = (0..wanted.len()).map(|k| (wanted[k], means[k], gpu_at(k))).collect();
    let table = Table::of(&rows)
        .column("points_per_box", "points per box", |row| row.0)
        .column("cpu_ns_per_point", "our CPU (ns per point)", |row| 1e9 * row.1)
        .column("cpu_normalised", "normalised", |row| row.1 / least)
        .column(
            "gpu_device_ns_per_point",
            "our GPU, device only (ns per point)",
            |row| row.2.map(|(mean, _)| 1e9 * mean),
        )
        .column("gpu_device_normalised", "normalised", |row| {
            row.2.map(|(_, ratio)| ratio)
        });
    let (cpu, gpu) = GOUDE_BEST_PER_BOX;
    let chart = LineChart::new("Timing against the number of points per box")
        .subtitle(format!(
            "harmonic potential in the square, p = {GOUDE_ORDER}, {count} sizes; as in Goude and Engblom, figure 5.2"
        ))
        .x_axis(Axis::linear("desired points per box N_{d}"))
        .y_axis(Axis::linear("time, fastest = 1"))
        .line("CPU", &rows, |row| Some((row.0 as f64, row.1 / least)))
        .line("GPU", &rows, |row| Some((row.0 as f64, row.2?.1)))
        .reference(ReferenceLine::vertical(cpu as f64).label(format!("Goude: best CPU, {cpu}")))
        .reference(ReferenceLine::vertical(gpu as f64).label(format!("Goude: best GPU, {gpu}")));
    let best_on_gpu = on_gpu.map_or(String::new(), |(_, best, _)| format!(", {best} on our GPU"));
    let title = "Goude, figure 5.2: time against the number of points per box, f64";
    Ok(Reproduction::new(title, GOUDE_HARDWARE, table, chart.to_png()?)
        .remark(format!(
            "mean time per point of {count} sizes from {smallest:e} to {largest:e}, levels by eq. 5.2; p = {GOUDE_ORDER} \
             gives a maximum error of about {GOUDE_TOLERANCE:e}"
        ))
        .remark(format!(
            "best: {best} points per box on our CPU{best_on_gpu}, {cpu} on the paper's CPU, {gpu} on its GPU"
        )))
}

/// Figure 5.4: the best number of points per box against the order.
pub fn figure_5_4(context: &Context) -> Result<Reproduction, Error> {
    let (level, orders): (usize, &[usize]) = if context.quick {
        (3, &[5, 17, 35])
    } else {
        // With this many boxes the fixed cost of a sum does not count, on a GPU either.
        (8, &[5, 10, 17, 25, 35, 45, 60])
    };
    let most = if context.quick { 110.0 } else { 300.0 };
    let mut rows = Vec::new();
    for &order in orders {
        context.step(format_args!("p = {order}"));
        let (times, gpu_times) = times_by_filling(context, level, order, most)?;
        let (best, mean) = best_per_box(&times);
        rows.push((
            order,
            best,
            mean,
            context.gpu.is_some().then(|| best_per_box(&gpu_times).0),
        ));
    }
    let table = Table::of(&rows)
        .column("order", "p", |row| row.0)
        .column("cpu_points_per_box", "best on our CPU", |row| row.1.round() as usize)
        .column("cpu_ns_per_point", "(ns per point)", |row| 1e9 * row.2)
        .column("gpu_device_points_per_box", "best on our GPU, device only", |row| {
            row.3.map(|best| best.round() as usize)
        });
    let curve: Vec<_> = rows.iter().map(|row| (row.0 as f64, row.1)).collect();
    let (intercept, slope) = straight_line(&curve);
    let (cpu, gpu) = GOUDE_BEST_PER_BOX;
    let published = |name: &str, best: usize, marker| {
        Series::new(name)
            .points(&[(GOUDE_ORDER as f64, best as f64)])
            .style(LineStyle::None, marker)
    };
    let chart = LineChart::new("Best number of points per box against the order")
        .subtitle(format!(
            "harmonic potential in the square, {} boxes; as in Goude and Engblom, figure 5.4",
            1 << (2 * level)
        ))
        .x_axis(Axis::linear("order p").range(0.0, 62.0))
        .y_axis(Axis::linear("best points per box N_{d}"))
        .series(Series::new("CPU").points(&curve))
        .series(published("Goude: CPU", cpu, Marker::Square))
        .series(published("Goude: GPU", gpu, Marker::Triangle))
        .line("GPU", &rows, |row| Some((row.0 as f64, row.3?)));
    let title = "Goude, figure 5.4: the best number of points per box against the order, f64";
    Ok(Reproduction::new(title, GOUDE_HARDWARE, table, chart.to_png()?)
        .remark(format!(
            "times at level {level}, interpolated over the points in a box; with N_d by eq. 5.2 boxes hold 0.4 to 1.6 N_d \
             points, and the best N_d has the lowest mean over these"
        ))
        .remark(format!("straight line through ours: {intercept:.0} + {slope:.2} p"))
        .remark(format!(
            "the paper prints {cpu} (CPU) and {gpu} (GPU) for p = {GOUDE_ORDER}; it says: {GOUDE_FIGURE_5_4}"
        )))
}

/// Seconds per point on the CPU, and on the GPU without copies to and from it.
fn times_per_point(
    context: &Context,
    case: &Measurement<'_, f64, Plane>,
    n: usize,
) -> Result<(f64, Option<f64>), Error> {
    let cpu = case.measure(context, 0)?.seconds.total / n as f64;
    let gpu = case.measure_on_gpu(context, 0)?;
    Ok((cpu, gpu.map(|gpu| gpu.in_phases() / n as f64)))
}

/// The mean time of each number of points per box; the best number, and its mean.
fn means_and_best(wanted: &[usize], times: &[Vec<f64>]) -> (Vec<f64>, usize, f64) {
    let mean = |times: &Vec<f64>| times.iter().sum::<f64>() / times.len() as f64;
    let means: Vec<f64> = times.iter().map(mean).collect();
    let better = |best: (usize, f64), (per_box, mean): (&usize, &f64)| {
        if *mean < best.1 { (*per_box, *mean) } else { best }
    };
    let (best, least) = wanted.iter().zip(&means).fold((0, f64::MAX), better);
    (means, best, least)
}

/// Times per point against the number of points in a box.
type Times = Vec<(f64, f64)>;

/// Seconds per point for boxes that hold more and more points, from 4 to `most`, at a fixed level: on the CPU, and on the
/// GPU.
fn times_by_filling(context: &Context, level: usize, order: usize, most: f64) -> Result<(Times, Times), Error> {
    let boxes = 1 << (2 * level);
    let (mut times, mut gpu_times) = (Vec::new(), Vec::new());
    let mut filling = 4.0f64;
    while filling < most {
        let n = (filling * boxes as f64).round() as usize;
        // Eq. 5.2 gives this level from 5/8 to 5/2 of the points in a box.
        let per_box = (1.25 * filling).round() as usize;
        let vortices = Vortices::new(PlaneSet::Square, n);
        let (cpu, gpu) = times_per_point(context, &vortices.fmm_with(order, per_box), n)?;
        times.push((filling, cpu));
        gpu_times.extend(gpu.map(|gpu| (filling, gpu)));
        filling *= 1.5;
    }
    Ok((times, gpu_times))
}

/// The N_d for which the time, averaged over boxes of 0.4 to 1.6 N_d points, is lowest, and that time.
fn best_per_box(times: &[(f64, f64)]) -> (f64, f64) {
    const STEPS: usize = 64;
    let mean = |per_box: f64| {
        let at = |k: usize| per_box * 0.4 * 4f64.powf((k as f64 + 0.5) / STEPS as f64);
        (0..STEPS).map(|k| interpolated(times, at(k))).sum::<f64>() / STEPS as f64
    };
    let (Some((least, _)), Some((most, _))) = (times.first(), times.last()) else {
        return (0.0, 0.0);
    };
    let mut best = (0.0, f64::MAX);
    let mut per_box = least / 0.4;
    while per_box <= most / 1.6 {
        let mean = mean(per_box);
        if mean < best.1 {
            best = (per_box, mean);
        }
        per_box *= 1.02;
    }
    best
}

/// Straight lines through the times, over the logarithm of the filling.
fn interpolated(times: &[(f64, f64)], at: f64) -> f64 {
    let pair = times
        .windows(2)
        .find(|pair| at <= pair[1].0)
        .or(times.windows(2).last());
    match pair {
        Some([a, b]) => a.1 + (b.1 - a.1) * (at / a.0).ln() / (b.0 / a.0).ln(),
        _ => times.first().map_or(0.0, |time| time.1),
    }
}

/// Intercept and slope of the straight line of least squares.
fn straight_line(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let (x, y) = points
        .iter()
        .fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / n, sum.1 + p.1 / n));
    let (above, below) = points.iter().fold((0.0, 0.0), |sum, p| {
        (sum.0 + (p.0 - x) * (p.1 - y), sum.1 + (p.0 - x) * (p.0 - x))
    });
    let slope = if below > 0.0 { above / below } else { 0.0 };
    (y - slope * x, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_number_balances_the_fullest_and_the_emptiest_boxes() {
        // a/s + b s has equal values at 0.4 x and 1.6 x for x = 1.25 sqrt(a/b).
        let time = |s: f64| 50.0 / s + 0.02 * s;
        let times: Vec<_> = (0..60).map(|k| 4.0 * 1.08f64.powi(k)).map(|s| (s, time(s))).collect();
        let (best, _) = best_per_box(&times);
        assert!((best / (1.25 * 50.0) - 1.0).abs() < 0.03, "{best}");
    }

    #[test]
    fn a_line_through_points_on_a_line_is_that_line() {
        let (intercept, slope) = straight_line(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]);
        assert!((intercept - 3.0).abs() < 1e-12 && (slope - 2.0).abs() < 1e-12);
    }

    #[test]
    fn levels_are_those_the_paper_gives() {
        // Section 5.1: 8 levels for N in (18 x 2^16, 72 x 2^16] at N_d = 45.
        for (n, expected) in [
            (18 << 16, 7),
            ((18 << 16) + 1, 8),
            (45 << 16, 8),
            (72 << 16, 8),
            ((72 << 16) + 1, 9),
        ] {
            assert_eq!(levels(n, 45), expected, "N = {n}");
        }
    }
}
