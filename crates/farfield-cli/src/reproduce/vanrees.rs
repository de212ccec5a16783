//! van Rees, Rossinelli, Hadjidoukas and Koumoutsakos: the two-ring problem by treecode on bricks.

use super::published::{VANREES_HARDWARE, VANREES_POINTS, VANREES_SOURCES, VANREES_TABLE_1, VANREES_THETA};
use super::table::{Cell, Table};
use super::{Context, Reproduction, progress};
use crate::failure::Failure;
use crate::poisson::{Components, Field, Problem, Request};
use crate::units;
use farfield::bench::Benchmark;
use farfield_grid::poisson::{Accuracy, Kernel, Method, Report, Smoothing, Work};
use farfield_grid::{Adaptation, Wavelet};
use farfield_plot::{Axis, BarChart, Figure, LineChart, Part, ReferenceLine, Series};

/// Order and precision of the paper.
const ORDER: usize = 6;
type Precision = f32;

/// The paper's problem: the y component of the two rings with one smoothing length, at 256^3 (64^3 if quick).
fn request(context: &Context, accuracy: Accuracy) -> Request {
    let (resolution, max_level) = if context.quick { (64, 2) } else { (256, 4) };
    Request {
        field: Field::TwoRings,
        resolution,
        components: Components::One(1),
        wavelet: Wavelet::AverageInterpolating5,
        adaptation: Adaptation::new(1e-2, 1e-4, max_level),
        memory_cap: None,
        accuracy,
        kernel: Kernel::Regularised(Smoothing::FinestSpacing),
        method: Some(Method::Treecode),
        threshold: 1e-12,
        leaf_capacity: None,
        simd: None,
    }
}

fn fixed(theta: f64) -> Accuracy {
    Accuracy::Fixed { theta, order: ORDER }
}

/// The phases of a solution, in the order they run.
fn phases(report: &Report) -> [(&'static str, f64); 6] {
    let seconds = report.seconds;
    [
        ("sources", seconds.sources),
        ("tree", seconds.tree),
        ("expansions", seconds.expansions),
        ("plan", seconds.plan),
        ("indirect", seconds.indirect),
        ("direct", seconds.direct),
    ]
}

fn title(what: &str, problem: &Problem<Precision>, report: &Report) -> String {
    format!(
        "van Rees, {what}: {} blocks = {} points (paper: {}), {} sources (paper: {})",
        problem.grid.forest().leaves().len(),
        units::count(report.targets as u64),
        units::with_prefix(VANREES_POINTS),
        units::count(report.sources as u64),
        units::with_prefix(VANREES_SOURCES),
    )
}

/// Figure 3: time by phase.
pub fn figure_3(context: &Context) -> Result<Reproduction, Failure> {
    let request = request(context, fixed(VANREES_THETA));
    let mut problem = Problem::<Precision>::new(&request)?;
    progress("vanrees-figure-3", format_args!("theta {VANREES_THETA}"));
    let report = problem.solve(&request)?;
    let mut table = Table::new([
        ("phase", "phase"),
        ("cpu_s", "CPU (s)"),
        ("cpu_percent", "CPU %"),
        ("hybrid_s", "CPU + GPU (s)"),
    ]);
    let mut chart = BarChart::new("Time by phase, theta = 0.5, p = 6")
        .subtitle("two rings, y component, single precision, as in van Rees et al., figure 3")
        .y_label("time (s)")
        .categories(["CPU"]);
    for (name, seconds) in phases(&report) {
        table.row([
            Cell::Text(name.to_owned()),
            Cell::Number(seconds),
            Cell::Number(100.0 * seconds / report.seconds.total),
        ]);
        chart = chart.part(Part::new(name, &[seconds]));
    }
    table.row([
        Cell::Text("total".to_owned()),
        Cell::Number(report.seconds.total),
        Cell::Number(100.0),
    ]);
    let evaluation = report.seconds.direct + report.seconds.indirect;
    Ok(Reproduction {
        title: title("figure 3", &problem, &report),
        hardware: VANREES_HARDWARE,
        tables: vec![("", table)],
        remarks: vec![
            format!(
                "all but the evaluation takes {:.1} % of the time; sources come in Morton order from the grid, so \
                 nothing is sorted",
                100.0 * (1.0 - evaluation / report.seconds.total)
            ),
            "the paper prints no times for this figure; it says that evaluation takes most of the time, then sorting"
                .to_owned(),
            "the column CPU + GPU is not measured in this build".to_owned(),
        ],
        png: chart.to_png()?,
    })
}

/// Figure 4: time of direct and indirect interactions against theta.
pub fn figure_4(context: &Context) -> Result<Reproduction, Failure> {
    let base = request(context, fixed(VANREES_THETA));
    let mut problem = Problem::<Precision>::new(&base)?;
    let mut table = Table::new([
        ("theta", "theta"),
        ("direct_s", "direct (s)"),
        ("indirect_s", "indirect (s)"),
        ("direct_interactions", "direct"),
        ("indirect_interactions", "indirect"),
        ("direct_ns", "ns per direct"),
        ("indirect_ns", "ns per indirect"),
        ("gpu_direct_s", "direct, GPU (s)"),
    ]);
    let (mut direct, mut indirect) = (Vec::new(), Vec::new());
    let mut last = None;
    let thetas: &[f64] = if context.quick {
        &[0.4, 0.8]
    } else {
        &[0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    };
    let threads = rayon::current_num_threads() as f64;
    for &theta in thetas {
        progress("vanrees-figure-4", format_args!("theta {theta}"));
        let report = problem.solve(&Request {
            accuracy: fixed(theta),
            ..base.clone()
        })?;
        let (seconds, count) = (report.seconds, report.interactions);
        table.row([
            Cell::Number(theta),
            Cell::Number(seconds.direct),
            Cell::Number(seconds.indirect),
            Cell::Count(count.direct),
            Cell::Count(count.indirect),
            Cell::Number(1e9 * threads * seconds.direct / count.direct as f64),
            Cell::Number(1e9 * threads * seconds.indirect / count.indirect as f64),
        ]);
        direct.push((theta, seconds.direct));
        indirect.push((theta, seconds.indirect));
        last = Some(report);
    }
    let chart = LineChart::new("Time of direct and indirect interactions against theta")
        .subtitle("two rings, y component, p = 6, single precision, as in van Rees et al., figure 4")
        .x_axis(Axis::linear("theta"))
        .y_axis(Axis::log("time (s)"))
        .series(Series::new("direct").points(&direct))
        .series(Series::new("indirect").points(&indirect));
    let report = last.ok_or_else(|| Failure::Data("nothing was measured".to_owned()))?;
    Ok(Reproduction {
        title: title("figure 4", &problem, &report),
        hardware: VANREES_HARDWARE,
        tables: vec![("", table)],
        remarks: vec![
            "time of all threads divided by their number, as in the paper".to_owned(),
            "the paper says: on the CPU direct interactions take at least ten times as long as indirect ones for every \
             theta, and the time of each interaction hardly changes with theta"
                .to_owned(),
            "the column of the GPU is not measured in this build".to_owned(),
        ],
        png: chart.to_png()?,
    })
}

/// Table 1: operations per second of the two kinds of interaction, beside their bounds.
pub fn table_1(context: &Context) -> Result<Reproduction, Failure> {
    let request = request(context, fixed(VANREES_THETA));
    let mut problem = Problem::<Precision>::new(&request)?;
    progress("vanrees-table-1", "two rings, then the machine's peak");
    let report = problem.solve(&request)?;
    let threads = rayon::current_num_threads();
    // The peak of all threads at once: a core that runs alone may be faster.
    let peak: f64 = rayon::broadcast(|_| Benchmark::FmaRate.measure::<Precision>(report.simd))
        .iter()
        .sum();
    let accuracy = report
        .rsqrt
        .ok_or_else(|| Failure::Data("the treecode was not used".to_owned()))?;
    let mut table = Table::new([
        ("interactions", "interactions"),
        ("operations", "operations"),
        ("instructions", "instructions"),
        ("measured_gflops", "GFLOP/s"),
        ("bound_gflops", "bound"),
        ("percent", "%"),
        ("paper_gflops", "paper"),
        ("paper_bound_gflops", "its bound"),
        ("paper_percent", "its %"),
        ("gpu_gflops", "GPU"),
    ]);
    let mut shares = Vec::new();
    let kinds = [
        (
            Work::direct(request.kernel, accuracy),
            report.interactions.direct,
            report.seconds.direct,
        ),
        (
            Work::indirect(ORDER, accuracy),
            report.interactions.indirect,
            report.seconds.indirect,
        ),
    ];
    for ((work, count, seconds), published) in kinds.into_iter().zip(VANREES_TABLE_1) {
        let (rate, bound) = (count as f64 * work.operations / seconds, work.bound(peak));
        table.row([
            Cell::Text(published.name.to_owned()),
            Cell::Number(work.operations),
            Cell::Number(work.instructions),
            Cell::Number(1e-9 * rate),
            Cell::Number(1e-9 * bound),
            Cell::Number(100.0 * rate / bound),
            Cell::Number(published.cpu_gflops),
            Cell::Number(published.cpu_bound_gflops),
            Cell::Number(100.0 * published.cpu_gflops / published.cpu_bound_gflops),
        ]);
        shares.push(100.0 * rate / bound);
    }
    let chart = BarChart::new("Share of the bound that is reached")
        .subtitle("two rings, theta = 0.5, p = 6, single precision, as in van Rees et al., table 1")
        .y_label("% of the bound")
        .categories(VANREES_TABLE_1.map(|row| row.name))
        .part(Part::new("CPU", &shares))
        .reference(ReferenceLine::horizontal(100.0).label("bound"));
    Ok(Reproduction {
        title: title("table 1", &problem, &report),
        hardware: VANREES_HARDWARE,
        tables: vec![("", table)],
        remarks: vec![
            format!(
                "{} threads reach {} fused multiply-adds a second on numbers in registers; the bound is that rate times \
                 operations per instruction",
                threads,
                units::with_prefix(peak)
            ),
            format!("operations and instructions per interaction are counted from the loops; roots: {accuracy:?}"),
            "the column GPU is not measured in this build".to_owned(),
        ],
        png: chart.to_png()?,
    })
}
