//! van Rees, Rossinelli, Hadjidoukas and Koumoutsakos: the two-ring problem by treecode on bricks.

use super::chart::Lines;
use super::published::{VANREES_HARDWARE, VANREES_POINTS, VANREES_SOURCES, VANREES_TABLE_1, VANREES_THETA};
use super::table::Table;
use super::two_rings::TwoRings;
use super::{Context, Reproduction, count};
use crate::Error;
use farfield::bench::Benchmark;
use farfield::cuda;
use farfield::simd::RsqrtAccuracy;
use farfield_grid::poisson::{
    Accuracy, Kernel, Method, Pair, Poisson, PoissonDevice, Quantity, Report, Smoothing, SolveSeconds, Work,
};
use farfield_io::units;
use farfield_plot::{Axis, BarChart, Figure, LineChart, Part, ReferenceLine};

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

/// The rows of figure 3: names and seconds of the phases, which add up to the total, of the evaluation and of the total.
/// Direct lists on the device run beside indirect ones on the cores; `hidden` counts them as zero.
fn phases(report: &Report, hidden: bool) -> [(&'static str, f64); 9] {
    let seconds = report.seconds;
    let direct = if hidden { 0.0 } else { seconds.direct };
    let named = seconds.sources + seconds.tree + seconds.expansions + seconds.plan + seconds.indirect + direct;
    [
        ("sources", seconds.sources),
        ("tree", seconds.tree),
        ("expansions", seconds.expansions),
        ("plan", seconds.plan),
        ("indirect", seconds.indirect),
        ("direct", direct),
        ("other", seconds.total - named),
        ("evaluation", seconds.evaluation),
        ("total", seconds.total),
    ]
}

impl Context {
    /// The solver with direct lists on the GPU, if there is one.
    pub(super) fn beside_gpu(&self, solver: &Poisson) -> Option<Poisson> {
        let ordinal = self.gpu.as_ref()?.properties().ordinal;
        Some(solver.clone().device(PoissonDevice::Hybrid(ordinal)))
    }
}

const NO_GPU: &str = "no GPU here: the columns of CPU + GPU are empty";

pub(super) fn title(what: &str, problem: &TwoRings<Precision>, report: &Report) -> String {
    format!(
        "van Rees, {what}: {} blocks = {} points (paper: {}), {} sources (paper: {})",
        problem.grid.forest().leaves().len(),
        count(report.targets),
        units::with_prefix(VANREES_POINTS),
        count(report.sources),
        units::with_prefix(VANREES_SOURCES),
    )
}

/// Figure 3: time by phase.
pub fn figure_3(context: &Context) -> Result<Reproduction, Error> {
    let solver = treecode(VANREES_THETA);
    let mut problem = TwoRings::<Precision>::new(context.quick)?;
    context.step(format_args!("theta {VANREES_THETA}"));
    let report = problem.warm(&solver)?;
    let hybrid = context
        .beside_gpu(&solver)
        .map(|solver| problem.warm(&solver))
        .transpose()?;
    let on_cores = phases(&report, false);
    let on_both = hybrid.as_ref().map(|report| phases(report, true));
    let mut rows: Vec<(&str, Option<f64>, Option<f64>)> = on_cores
        .iter()
        .enumerate()
        .map(|(k, (name, seconds))| (*name, Some(*seconds), on_both.map(|phases| phases[k].1)))
        .collect();
    rows.extend(hybrid.as_ref().map(|report| {
        (
            "direct on the device beside the cores",
            None,
            Some(report.seconds.direct),
        )
    }));
    let table = Table::of(&rows)
        .column("phase", "phase", |row| row.0)
        .column("cpu_s", "CPU (s)", |row| row.1)
        .column("cpu_percent", "CPU %", |row| {
            Some(100.0 * row.1? / report.seconds.total)
        })
        .column("hybrid_s", "CPU + GPU (s)", |row| row.2);
    let mut chart = BarChart::new("Timing by phase, theta = 0.5, p = 6")
        .subtitle("two rings, y component, single precision, as in van Rees et al., figure 3")
        .y_label("time (s)")
        .categories(["CPU", "CPU + GPU"].into_iter().take(1 + usize::from(hybrid.is_some())));
    for (name, cores, both) in &rows[..7] {
        let parts: Vec<f64> = [*cores, *both].into_iter().flatten().collect();
        chart = chart.part(Part::new(*name, &parts));
    }
    let evaluation = report.seconds.direct + report.seconds.indirect;
    let remark = match &hybrid {
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
    };
    let title = title("figure 3", &problem, &report);
    Ok(Reproduction::new(title, VANREES_HARDWARE, table, chart.to_png()?)
        .remark(format!(
            "all but the evaluation takes {:.1} % of the time; sources come in Morton order from the grid, so nothing is \
             sorted",
            100.0 * (1.0 - evaluation / report.seconds.total)
        ))
        .remark("the paper prints no times for this figure; it says that evaluation takes most of the time, then sorting")
        .remark(remark))
}

/// Figure 4: time of direct and indirect interactions against theta.
pub fn figure_4(context: &Context) -> Result<Reproduction, Error> {
    let mut problem = TwoRings::<Precision>::new(context.quick)?;
    let thetas: &[f64] = if context.quick {
        &[0.4, 0.8]
    } else {
        &[0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    };
    let threads = rayon::current_num_threads() as f64;
    problem.solve(&treecode(VANREES_THETA))?;
    let mut rows: Vec<(f64, Report, Option<SolveSeconds>)> = Vec::new();
    for &theta in thetas {
        context.step(format_args!("theta {theta}"));
        let solver = treecode(theta);
        let report = problem.solve(&solver)?;
        let hybrid = context
            .beside_gpu(&solver)
            .map(|solver| problem.warm(&solver))
            .transpose()?;
        rows.push((theta, report, hybrid.map(|report| report.seconds)));
    }
    let table = Table::of(&rows)
        .column("theta", "theta", |row| row.0)
        .column("direct_s", "direct (s)", |row| row.1.seconds.direct)
        .column("indirect_s", "indirect (s)", |row| row.1.seconds.indirect)
        .column("direct_interactions", "direct", |row| row.1.interactions.direct)
        .column("indirect_interactions", "indirect", |row| row.1.interactions.indirect)
        .column("direct_ns", "ns per direct", |row| {
            1e9 * threads * row.1.seconds.direct / row.1.interactions.direct as f64
        })
        .column("indirect_ns", "ns per indirect", |row| {
            1e9 * threads * row.1.seconds.indirect / row.1.interactions.indirect as f64
        })
        .column("gpu_direct_s", "direct, GPU (s)", |row| Some(row.2?.direct))
        .column("hybrid_evaluation_s", "CPU + GPU (s)", |row| Some(row.2?.evaluation));
    let chart = LineChart::new("Timing of direct and indirect interactions against theta")
        .subtitle("two rings, y component, p = 6, single precision, as in van Rees et al., figure 4")
        .x_axis(Axis::linear("theta"))
        .y_axis(Axis::log("time (s)"))
        .line("direct", &rows, |row| Some((row.0, row.1.seconds.direct)))
        .line("indirect", &rows, |row| Some((row.0, row.1.seconds.indirect)))
        .line("direct on the GPU", &rows, |row| Some((row.0, row.2?.direct)));
    let (_, report, _) = rows.last().ok_or("nothing was measured")?;
    let title = title("figure 4", &problem, report);
    let reproduction = Reproduction::new(title, VANREES_HARDWARE, table, chart.to_png()?)
        .remark("time of all threads divided by their number, as in the paper")
        .remark(
            "the paper says: on the CPU direct interactions take at least ten times as long as indirect ones for every \
             theta, and the time of each interaction hardly changes with theta",
        );
    Ok(if context.gpu.is_none() {
        reproduction.remark(NO_GPU)
    } else {
        reproduction
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
    let pair = Pair::of(KERNEL, Quantity::Potential);
    let (direct, indirect) = (Work::direct(pair, accuracy), Work::indirect(ORDER, accuracy));
    let mut rows = vec![
        Rate {
            name: "direct on the CPU",
            work: direct,
            count: report.interactions.direct,
            seconds: report.seconds.direct,
            bound: direct.bound(peak),
            paper: VANREES_TABLE_1[0],
        },
        Rate {
            name: "indirect on the CPU",
            work: indirect,
            count: report.interactions.indirect,
            seconds: report.seconds.indirect,
            bound: indirect.bound(peak),
            paper: VANREES_TABLE_1[1],
        },
    ];
    let mut remark = NO_GPU.to_owned();
    if let Some((gpu, solver)) = context.gpu.as_ref().zip(context.beside_gpu(&solver)) {
        let hybrid = problem.warm(&solver)?;
        let roots = cuda::bricks::root_rate::<Precision>(gpu)?;
        let work = Work::direct(pair, RsqrtAccuracy::Estimate);
        rows.push(Rate {
            name: "direct on the GPU",
            work,
            count: hybrid.interactions.direct,
            seconds: hybrid.seconds.direct,
            bound: roots * work.operations,
            paper: VANREES_TABLE_1[2],
        });
        remark = format!(
            "the GPU takes {} reciprocal square roots a second of numbers in registers; a pair takes one, which bounds it: \
             no other unit is as busy",
            units::with_prefix(roots)
        );
    }
    let table = Table::of(&rows)
        .column("interactions", "interactions", |row| row.name)
        .column("operations", "operations", |row| row.work.operations)
        .column("instructions", "instructions", |row| row.work.instructions)
        .column("measured_gflops", "GFLOP/s", |row| 1e-9 * row.operations_per_second())
        .column("bound_gflops", "bound", |row| 1e-9 * row.bound)
        .column("percent", "%", Rate::percent)
        .column("paper_gflops", "paper", |row| row.paper[0])
        .column("paper_bound_gflops", "its bound", |row| row.paper[1])
        .column("paper_percent", "its %", Rate::paper_percent);
    let shares: Vec<f64> = rows
        .iter()
        .flat_map(|row| [row.percent(), row.paper_percent()])
        .collect();
    let chart = BarChart::new("Share of the bound that is reached")
        .subtitle("two rings, theta = 0.5, p = 6, single precision, as in van Rees et al., table 1")
        .y_label("% of the bound")
        .categories(rows.iter().flat_map(|row| [row.name, "the paper's"]))
        .part(Part::new("share", &shares))
        .reference(ReferenceLine::horizontal(100.0).label("bound"));
    let title = title("table 1", &problem, &report);
    Ok(Reproduction::new(title, VANREES_HARDWARE, table, chart.to_png()?)
        .remark(format!(
            "{threads} threads reach {} fused multiply-adds a second on numbers in registers; the bound is that rate times \
             operations per instruction",
            units::with_prefix(peak)
        ))
        .remark(format!(
            "operations and instructions per interaction are counted from the loops; roots: {accuracy:?}"
        ))
        .remark(remark))
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

    fn paper_percent(&self) -> f64 {
        100.0 * self.paper[0] / self.paper[1]
    }
}
