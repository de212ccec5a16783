//! van Rees et al., section 5.1: strong scaling of the evaluation.

use super::published::{VANREES_HARDWARE, VANREES_THETA};
use super::table::{Cell, Table};
use super::two_rings::TwoRings;
use super::vanrees::{Precision, title, treecode};
use super::{Context, Reproduction};
use crate::Error;
use farfield::points::PointSet;
use farfield_plot::{Axis, Figure, LineChart, Series};
use std::time::Instant;

/// Strong scaling of the evaluation (section 5.1), beside that of the plain direct sum.
pub fn run(context: &Context) -> Result<Reproduction, Error> {
    let solver = treecode(VANREES_THETA);
    let mut problem = TwoRings::<Precision>::new(context.quick)?;
    let points = PointSet::Cube.generate::<Precision>(if context.quick { 4000 } else { 100_000 }, 1);
    let charges = vec![1.0; points.len()];
    let all = rayon::current_num_threads();
    let mut table = Table::new([
        ("threads", "threads"),
        ("evaluation_s", "evaluation (s)"),
        ("evaluation_efficiency", "efficiency"),
        ("direct_s", "direct sum (s)"),
        ("direct_efficiency", "efficiency"),
        ("ratio", "ratio"),
    ]);
    let (mut ours, mut plain, mut alone) = (Vec::new(), Vec::new(), None);
    let mut last = None;
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
        let evaluation = report.seconds.evaluation;
        let (first, first_direct) = *alone.get_or_insert((evaluation, direct));
        let efficiency = [first / evaluation, first_direct / direct].map(|speedup| speedup / threads as f64);
        table.row([
            Cell::Count(threads as u64),
            Cell::Number(evaluation),
            Cell::Number(efficiency[0]),
            Cell::Number(direct),
            Cell::Number(efficiency[1]),
            Cell::Number(efficiency[0] / efficiency[1]),
        ]);
        ours.push((threads as f64, first / evaluation));
        plain.push((threads as f64, first_direct / direct));
        last = Some(report);
    }
    let report = last.ok_or("nothing was measured")?;
    let ideal: Vec<(f64, f64)> = ours.iter().map(|(threads, _)| (*threads, *threads)).collect();
    let chart = LineChart::new("Strong scaling of the evaluation")
        .subtitle("two rings, theta = 0.5, p = 6, single precision; van Rees et al.: 96.7 % on 8 cores")
        .x_axis(Axis::log("threads"))
        .y_axis(Axis::log("speedup"))
        .series(Series::new("evaluation of lists").points(&ours))
        .series(Series::new("plain direct sum").points(&plain))
        .series(Series::new("ideal").points(&ideal));
    Ok(Reproduction {
        title: title("strong scaling", &problem, &report),
        hardware: VANREES_HARDWARE,
        tables: vec![("", table)],
        remarks: vec![
            "the paper: 96.7 % on 8 cores".to_owned(),
            "ratio: efficiency of the evaluation over that of the plain direct sum, which shows what the machine's cores \
             lose by running together"
                .to_owned(),
        ],
        png: chart.to_png()?,
    })
}
