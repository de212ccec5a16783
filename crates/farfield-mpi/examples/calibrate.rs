//! Measures the error that equivalent sources alone cause, by order; `tuning` is fitted to it. The engine sums
//! directly, so that there is no other error.
//!
//! `cargo run --release -p farfield-mpi --features calibrate --example calibrate`

use farfield::kernel::{Kernel, Output};
use farfield::plane::{self, PlaneSet};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Method, Options};
use farfield_mpi::{Communicator, Plane, Points, Problem, Space, Sum, Threads};

const N: usize = 20_000;
const RANKS: usize = 8;

fn main() {
    for charges in [ChargeDistribution::Signed, ChargeDistribution::Positive] {
        for set in [PointSet::Cube, PointSet::Sphere, PointSet::Plummer, PointSet::Ring] {
            let points = set.generate::<f64>(N, 1);
            let coulomb = Space::new(Kernel::Coulomb, &[Output::Potential, Output::Gradient, Output::Hessian]);
            errors(
                &format!("{set} {charges}"),
                &coulomb,
                &points,
                charges,
                &[2, 4, 6, 8, 10, 12, 16, 20],
            );
        }
        for set in [PlaneSet::Square, PlaneSet::Normal] {
            let points = set.generate::<f64>(N, 1);
            let name = format!("{} {charges}", set.name());
            for kernel in plane::Kernel::ALL {
                let problem = Plane::new(kernel, &plane::Output::ALL);
                errors(
                    &format!("{name} {kernel}"),
                    &problem,
                    &points,
                    charges,
                    &[4, 8, 12, 16, 20, 24, 32, 40],
                );
            }
        }
    }
}

/// Prints the error of each output for each order.
fn errors<P: Problem<D>, const D: usize>(
    name: &str,
    problem: &P,
    points: &[[f64; D]],
    charges: ChargeDistribution,
    orders: &[usize],
) {
    let strengths = charges.generate::<f64>(N, 1);
    let options = Options {
        method: Method::Direct,
        no_check: true,
        tolerance: Some(1e-12),
        ..Options::default()
    };
    let mut truth = problem.sum(Points::new(points), 1, &options).plan().expect("a plan");
    let truth = truth.evaluate(&strengths).expect("sums").into_values();
    for order in orders {
        let options = Options {
            order: Some(*order),
            ..options.clone()
        };
        let parts = Threads::run(RANKS, |ranks| {
            let own = |k: usize| k % RANKS == ranks.rank();
            let mine: Vec<usize> = (0..N).filter(|k| own(*k)).collect();
            let own: Vec<[f64; D]> = mine.iter().map(|k| points[*k]).collect();
            let own_strengths: Vec<f64> = mine.iter().map(|k| strengths[*k]).collect();
            let sum = Sum::of(problem.clone()).options(options.clone());
            let mut plan = sum.plan(ranks, Points::new(&own)).expect("a plan");
            let field = plan.evaluate(&own_strengths).expect("sums");
            (mine, field.into_values(), plan.report())
        });
        let mut text = String::new();
        for (k, output) in problem.outputs().iter().enumerate() {
            let width = problem.components(*output);
            let (mut error, mut norm) = (0.0, 0.0);
            for (mine, values, _) in &parts {
                for (row, target) in mine.iter().enumerate() {
                    for c in 0..width {
                        let exact = truth[k][target * width + c];
                        error += (values[k][row * width + c] - exact).powi(2);
                        norm += exact * exact;
                    }
                }
            }
            text += &format!(" {:.1e}", (error / norm).sqrt());
        }
        let sources: usize = parts
            .iter()
            .map(|(_, _, report)| report.received + report.equivalent)
            .sum();
        println!(
            "{name:24} order {order:2}:{text}   received {:.2} N/P",
            sources as f64 / N as f64
        );
    }
}
