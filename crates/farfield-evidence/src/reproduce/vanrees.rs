//! van Rees, Rossinelli, Hadjidoukas and Koumoutsakos: the two-ring problem by treecode on bricks.

use super::published::{VANREES_HARDWARE, VANREES_POINTS, VANREES_SOURCES, VANREES_TABLE_1, VANREES_THETA};
use super::table::{Cell, Table};
use super::two_rings::TwoRings;
use super::{Context, Reproduction};
use crate::Error;
use farfield::bench::Benchmark;
use farfield::cuda;
use farfield::simd::RsqrtAccuracy;
use farfield_grid::poisson::{
    Accuracy, Kernel, Method, Pair, Poisson, PoissonDevice, Quantity, Report, Smoothing, SolveSeconds, Work,
};
use farfield_io::units;
use farfield_plot::{Axis, BarChart, Figure, LineChart, Part, ReferenceLine, Series};
use std::sync::Arc;

/// Order and precision of the paper.
const ORDER: usize = 6;
pub(super) type Precision = f32;

/// The paper's kernel: one smoothing length, that of the finest level.
const KERNEL: Kernel = Kernel::Regularised(Smoothing::FinestSpacing);

/// The paper's treecode on the cores.
pub(super) fn treecode(theta: f64) -> Poisson {
    Poisson::new(Accuracy::Fixed { theta, order: ORDER })
        .kernel(KERNEL)
        .method(Method::Treecode)
}

/// The phases of a solution, in the order they run; they add up to the whole. Direct lists on the device run beside
/// indirect ones on the cores and take no time of their own: `hidden` counts them as zero.
fn phases(report: &Report, hidden: bool) -> [(&'static str, f64); 7] {
    let seconds = report.seconds;
    let direct = if hidden { 0.0 } else { seconds.direct };
    let named = [
        ("sources", seconds.sources),
        ("tree", seconds.tree),
        ("expansions", seconds.expansions),
        ("plan", seconds.plan),
        ("indirect", seconds.indirect),
        ("direct", direct),
    ];
    let other = seconds.total - named.iter().map(|(_, seconds)| seconds).sum::<f64>();
    let [a, b, c, d, e, f] = named;
    [a, b, c, d, e, f, ("other", other)]
}

/// The graphics processor, if there is one.
pub(super) fn gpu() -> Option<Arc<cuda::Device>> {
    farfield::open(0).ok()
}

/// The same with direct lists on the graphics processor.
pub(super) fn beside(solver: &Poisson, gpu: &Arc<cuda::Device>) -> Poisson {
    solver.clone().device(PoissonDevice::Hybrid(gpu.properties().ordinal))
}

const NO_GPU: &str = "no graphics processor here: the columns of CPU + GPU are empty";

pub(super) fn title(what: &str, problem: &TwoRings<Precision>, report: &Report) -> String {
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
pub fn figure_3(context: &Context) -> Result<Reproduction, Error> {
    let solver = treecode(VANREES_THETA);
    let mut problem = TwoRings::<Precision>::new(context.quick)?;
    context.step(format_args!("theta {VANREES_THETA}"));
    let report = problem.warm(&solver)?;
    let hybrid = gpu().map(|gpu| problem.warm(&beside(&solver, &gpu))).transpose()?;
    let mut table = Table::new([
        ("phase", "phase"),
        ("cpu_s", "CPU (s)"),
        ("cpu_percent", "CPU %"),
        ("hybrid_s", "CPU + GPU (s)"),
    ]);
    let mut chart = BarChart::new("Timing by phase, theta = 0.5, p = 6")
        .subtitle("two rings, y component, single precision, as in van Rees et al., figure 3")
        .y_label("time (s)")
        .categories(["CPU", "CPU + GPU"].into_iter().take(1 + usize::from(hybrid.is_some())));
    for (k, (name, seconds)) in phases(&report, false).into_iter().enumerate() {
        let on_both = hybrid.as_ref().map(|report| phases(report, true)[k].1);
        let mut cells = vec![
            Cell::Text(name.to_owned()),
            Cell::Number(seconds),
            Cell::Number(100.0 * seconds / report.seconds.total),
        ];
        cells.extend(on_both.map(Cell::Number));
        table.row(cells);
        let parts: Vec<f64> = [seconds].into_iter().chain(on_both).collect();
        chart = chart.part(Part::new(name, &parts));
    }
    for (name, of) in [
        ("evaluation", (|seconds| seconds.evaluation) as fn(SolveSeconds) -> f64),
        ("total", |seconds| seconds.total),
    ] {
        let mut cells = vec![
            Cell::Text(name.to_owned()),
            Cell::Number(of(report.seconds)),
            Cell::Number(100.0 * of(report.seconds) / report.seconds.total),
        ];
        cells.extend(hybrid.as_ref().map(|report| Cell::Number(of(report.seconds))));
        table.row(cells);
    }
    if let Some(Report { seconds, .. }) = &hybrid {
        let name = "direct on the device beside the cores".to_owned();
        table.row([
            Cell::Text(name),
            Cell::Missing,
            Cell::Missing,
            Cell::Number(seconds.direct),
        ]);
    }
    let evaluation = report.seconds.direct + report.seconds.indirect;
    let mut remarks = vec![
        format!(
            "all but the evaluation takes {:.1} % of the time; sources come in Morton order from the grid, so nothing \
             is sorted",
            100.0 * (1.0 - evaluation / report.seconds.total)
        ),
        "the paper prints no times for this figure; it says that evaluation takes most of the time, then sorting"
            .to_owned(),
    ];
    remarks.push(match &hybrid {
        Some(Report { seconds, .. }) => format!(
            "CPU + GPU: direct lists take {:.1} ms on the device, {:.1} ms with transfers, while the cores spend {:.1} ms \
             on indirect ones; together {:.1} ms, {:.2} times the larger half",
            1e3 * seconds.direct,
            1e3 * (seconds.direct + seconds.transfer),
            1e3 * seconds.indirect,
            1e3 * seconds.evaluation,
            seconds.evaluation / seconds.indirect.max(seconds.direct + seconds.transfer)
        ),
        None => NO_GPU.to_owned(),
    });
    Ok(Reproduction {
        title: title("figure 3", &problem, &report),
        hardware: VANREES_HARDWARE,
        tables: vec![("", table)],
        remarks,
        png: chart.to_png()?,
    })
}

/// Figure 4: time of direct and indirect interactions against theta.
pub fn figure_4(context: &Context) -> Result<Reproduction, Error> {
    let base = treecode(VANREES_THETA);
    let mut problem = TwoRings::<Precision>::new(context.quick)?;
    let gpu = gpu();
    let mut table = Table::new([
        ("theta", "theta"),
        ("direct_s", "direct (s)"),
        ("indirect_s", "indirect (s)"),
        ("direct_interactions", "direct"),
        ("indirect_interactions", "indirect"),
        ("direct_ns", "ns per direct"),
        ("indirect_ns", "ns per indirect"),
        ("gpu_direct_s", "direct, GPU (s)"),
        ("hybrid_evaluation_s", "CPU + GPU (s)"),
    ]);
    let (mut direct, mut indirect, mut on_gpu) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = None;
    let thetas: &[f64] = if context.quick {
        &[0.4, 0.8]
    } else {
        &[0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    };
    let threads = rayon::current_num_threads() as f64;
    problem.solve(&base)?;
    for &theta in thetas {
        context.step(format_args!("theta {theta}"));
        let solver = treecode(theta);
        let report = problem.solve(&solver)?;
        let hybrid = gpu
            .as_ref()
            .map(|gpu| problem.warm(&beside(&solver, gpu)))
            .transpose()?;
        let (seconds, count) = (report.seconds, report.interactions);
        let mut cells = vec![
            Cell::Number(theta),
            Cell::Number(seconds.direct),
            Cell::Number(seconds.indirect),
            Cell::Count(count.direct),
            Cell::Count(count.indirect),
            Cell::Number(1e9 * threads * seconds.direct / count.direct as f64),
            Cell::Number(1e9 * threads * seconds.indirect / count.indirect as f64),
        ];
        if let Some(Report { seconds, .. }) = hybrid {
            cells.extend([Cell::Number(seconds.direct), Cell::Number(seconds.evaluation)]);
            on_gpu.push((theta, seconds.direct));
        }
        table.row(cells);
        direct.push((theta, seconds.direct));
        indirect.push((theta, seconds.indirect));
        last = Some(report);
    }
    let mut chart = LineChart::new("Timing of direct and indirect interactions against theta")
        .subtitle("two rings, y component, p = 6, single precision, as in van Rees et al., figure 4")
        .x_axis(Axis::linear("theta"))
        .y_axis(Axis::log("time (s)"))
        .series(Series::new("direct").points(&direct))
        .series(Series::new("indirect").points(&indirect));
    if gpu.is_some() {
        chart = chart.series(Series::new("direct on the GPU").points(&on_gpu));
    }
    let report = last.ok_or("nothing was measured")?;
    let mut remarks = vec![
        "time of all threads divided by their number, as in the paper".to_owned(),
        "the paper says: on the CPU direct interactions take at least ten times as long as indirect ones for every \
         theta, and the time of each interaction hardly changes with theta"
            .to_owned(),
    ];
    remarks.extend(gpu.is_none().then(|| NO_GPU.to_owned()));
    Ok(Reproduction {
        title: title("figure 4", &problem, &report),
        hardware: VANREES_HARDWARE,
        tables: vec![("", table)],
        remarks,
        png: chart.to_png()?,
    })
}

/// Table 1: operations per second of the two kinds of interaction, beside their bounds.
pub fn table_1(context: &Context) -> Result<Reproduction, Error> {
    let solver = treecode(VANREES_THETA);
    let mut problem = TwoRings::<Precision>::new(context.quick)?;
    context.step("two rings, then the machine's peak");
    let report = problem.warm(&solver)?;
    let threads = rayon::current_num_threads();
    // The peak of all threads at once: a core that runs alone may be faster.
    let peak: f64 = rayon::broadcast(|_| Benchmark::FmaRate.measure::<Precision>(report.simd))
        .iter()
        .sum();
    let accuracy = report.rsqrt.ok_or("the treecode was not used")?;
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
    ]);
    let pair = Pair::of(KERNEL, Quantity::Potential);
    let [direct, indirect] = VANREES_TABLE_1;
    let mut rows = vec![
        Rate {
            name: "direct on the CPU",
            work: Work::direct(pair, accuracy),
            count: report.interactions.direct,
            seconds: report.seconds.direct,
            bound: Work::direct(pair, accuracy).bound(peak),
            paper: [direct.cpu_gflops, direct.cpu_bound_gflops],
        },
        Rate {
            name: "indirect on the CPU",
            work: Work::indirect(ORDER, accuracy),
            count: report.interactions.indirect,
            seconds: report.seconds.indirect,
            bound: Work::indirect(ORDER, accuracy).bound(peak),
            paper: [indirect.cpu_gflops, indirect.cpu_bound_gflops],
        },
    ];
    let mut remarks = vec![
        format!(
            "{} threads reach {} fused multiply-adds a second on numbers in registers; the bound is that rate times \
             operations per instruction",
            threads,
            units::with_prefix(peak)
        ),
        format!("operations and instructions per interaction are counted from the loops; roots: {accuracy:?}"),
    ];
    if let Some(gpu) = gpu() {
        let hybrid = problem.warm(&beside(&solver, &gpu))?;
        let roots = cuda::bricks::root_rate::<Precision>(&gpu)?;
        let work = Work::direct(pair, RsqrtAccuracy::Estimate);
        rows.push(Rate {
            name: "direct on the GPU",
            work,
            count: hybrid.interactions.direct,
            seconds: hybrid.seconds.direct,
            bound: roots * work.operations,
            paper: [direct.gpu_gflops, direct.gpu_bound_gflops].map(Option::unwrap_or_default),
        });
        remarks.push(format!(
            "the GPU takes {} reciprocal square roots a second of numbers in registers; a pair takes one, which \
             bounds it: no other unit is as busy",
            units::with_prefix(roots)
        ));
    } else {
        remarks.push(NO_GPU.to_owned());
    }
    for row in &rows {
        table.row(row.cells());
    }
    let shares: Vec<f64> = rows
        .iter()
        .flat_map(|row| [row.percent(), 100.0 * row.paper[0] / row.paper[1]])
        .collect();
    let chart = BarChart::new("Share of the bound that is reached")
        .subtitle("two rings, theta = 0.5, p = 6, single precision, as in van Rees et al., table 1")
        .y_label("% of the bound")
        .categories(rows.iter().flat_map(|row| [row.name, "the paper's"]))
        .part(Part::new("share", &shares))
        .reference(ReferenceLine::horizontal(100.0).label("bound"));
    Ok(Reproduction {
        title: title("table 1", &problem, &report),
        hardware: VANREES_HARDWARE,
        tables: vec![("", table)],
        remarks,
        png: chart.to_png()?,
    })
}

/// A row of table 1.
struct Rate {
    name: &'static str,
    work: Work,
    count: u64,
    seconds: f64,
    /// Operations a second.
    bound: f64,
    /// The paper's rate and bound, in Gflop/s.
    paper: [f64; 2],
}

impl Rate {
    fn operations_per_second(&self) -> f64 {
        self.count as f64 * self.work.operations / self.seconds
    }

    fn percent(&self) -> f64 {
        100.0 * self.operations_per_second() / self.bound
    }

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Text(self.name.to_owned()),
            Cell::Number(self.work.operations),
            Cell::Number(self.work.instructions),
            Cell::Number(1e-9 * self.operations_per_second()),
            Cell::Number(1e-9 * self.bound),
            Cell::Number(self.percent()),
            Cell::Number(self.paper[0]),
            Cell::Number(self.paper[1]),
            Cell::Number(100.0 * self.paper[0] / self.paper[1]),
        ]
    }
}
