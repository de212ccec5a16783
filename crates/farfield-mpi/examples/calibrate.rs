//! Measures the error that equivalent sources alone cause, by order; `tuning` is fitted to it. The engine sums
//! directly, so that there is no other error.
//!
//! `cargo run --release -p farfield-mpi --features calibrate --example calibrate`

use farfield::kernel::{Kernel, Output};
use farfield::plane::{self, PlaneSet};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Method, Options, Request, Space};
use farfield_mpi::{Communicator, Points, Shared, Sum, Threads};

const N: usize = 20_000;
const RANKS: usize = 8;

fn main() {
    for charges in [ChargeDistribution::Signed, ChargeDistribution::Positive] {
        for set in [PointSet::Cube, PointSet::Sphere, PointSet::Plummer, PointSet::Ring] {
            let points = set.generate::<f64>(N, 1);
            let mut coulomb = Request::<Space>::new(Kernel::Coulomb);
            coulomb.outputs = vec![Output::Potential, Output::Gradient, Output::Hessian];
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
                let mut problem = Request::<plane::Plane>::new(kernel);
                problem.outputs = plane::Output::ALL.to_vec();
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

/// The request with other options.
fn with<P: Shared<D>, const D: usize>(request: &Request<P>, options: &Options) -> Request<P> {
    request.clone().with(|old| *old = options.clone())
}

/// Prints the error of each output for each order.
fn errors<P: Shared<D>, const D: usize>(
    name: &str,
    request: &Request<P>,
    points: &[[f64; D]],
    charges: ChargeDistribution,
    orders: &[usize],
) {
    let strengths = charges.generate::<f64>(N, 1);
    let options = Options {
        method: Method::Direct,
        check: false,
        tolerance: Some(1e-12),
        ..Options::default()
    };
    let mut truth = P::sum(with(request, &options), Points::new(points))
        .plan()
        .expect("a plan");
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
            let sum = Sum::of(with(request, &options));
            let mut plan = sum.plan(ranks, Points::new(&own)).expect("a plan");
            let field = plan.evaluate(&own_strengths).expect("sums");
            (mine, field.into_values(), plan.report())
        });
        let mut text = String::new();
        for (k, output) in request.outputs.iter().enumerate() {
            let width = P::output_components(request.kernel, *output);
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
