//! van Rees et al., section 5.1: strong scaling of the evaluation.

use super::chart::Lines;
use super::published::{VANREES_HARDWARE, VANREES_THETA};
use super::table::Table;
use super::two_rings::TwoRings;
use super::vanrees::{Precision, title, treecode};
use super::{Context, Reproduction};
use crate::Error;
use farfield::points::PointSet;
use farfield_grid::poisson::Report;
use farfield_plot::{Axis, Figure, LineChart};
use std::time::Instant;

/// One number of threads: the solution, and seconds of the plain direct sum.
struct Row {
    threads: usize,
    report: Report,
    direct: f64,
}

/// Measures the evaluation beside the plain direct sum.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let solver = treecode(VANREES_THETA);
    let mut problem = TwoRings::<Precision>::new(context.quick)?;
    let points = PointSet::Cube.generate::<Precision>(if context.quick { 4000 } else { 100_000 }, 1);
    let charges = vec![1.0; points.len()];
    let all = rayon::current_num_threads();
    let mut rows = Vec::new();
    for threads in std::iter::successors(Some(1), |threads| Some(2 * threads)).take_while(|threads| *threads <= all) {
        context.step(format_args!("{threads} threads"));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let (report, direct) = pool.install(|| -> Result<_, Error> {
            let report = problem.warm(&solver)?;
            let sum = farfield::Sum::new(farfield::kernel::Kernel::Coulomb, &points).method(farfield::Method::Direct);
            let mut plan = sum.plan()?;
            plan.evaluate(&charges)?;
            let start = Instant::now();
            plan.evaluate(&charges)?;
            Ok((report, start.elapsed().as_secs_f64()))
        })?;
        rows.push(Row {
            threads,
            report,
            direct,
        });
    }
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return Err("nothing was measured".into());
    };
    // Speedups of the evaluation and of the direct sum over one thread.
    let speedups = |row: &Row| {
        [
            first.report.seconds.evaluation / row.report.seconds.evaluation,
            first.direct / row.direct,
        ]
    };
    let efficiency = |row: &Row| speedups(row).map(|speedup| speedup / row.threads as f64);
    let table = Table::of(&rows)
        .column("threads", "threads", |row| row.threads)
        .column("evaluation_s", "evaluation (s)", |row| row.report.seconds.evaluation)
        .column("evaluation_efficiency", "efficiency", |row| efficiency(row)[0])
        .column("direct_s", "direct sum (s)", |row| row.direct)
        .column("direct_efficiency", "efficiency", |row| efficiency(row)[1])
        .column("ratio", "ratio", |row| efficiency(row)[0] / efficiency(row)[1]);
    let chart = LineChart::new("Strong scaling of the evaluation")
        .subtitle("two rings, theta = 0.5, p = 6, single precision; van Rees et al.: 96.7 % on 8 cores")
        .x_axis(Axis::log("threads"))
        .y_axis(Axis::log("speedup"))
        .line("evaluation of lists", &rows, |row| {
            Some((row.threads as f64, speedups(row)[0]))
        })
        .line("plain direct sum", &rows, |row| {
            Some((row.threads as f64, speedups(row)[1]))
        })
        .line("ideal", &rows, |row| Some((row.threads as f64, row.threads as f64)));
    let title = title("strong scaling", &problem, &last.report);
    Ok(Reproduction::new(title, VANREES_HARDWARE, table, chart.to_png()?)
        .remark("the paper: 96.7 % on 8 cores")
        .remark(
            "ratio: efficiency of the evaluation over that of the plain direct sum, which shows what the machine's cores \
             lose by running together",
        ))
}
