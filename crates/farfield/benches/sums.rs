//! A few whole sums, timed: `cargo bench -p farfield`. `farfield bench` measures the operators one by one.

use farfield::kernel::{Kernel, Output};
use farfield::plane::{self, PlaneSet};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Geometry, Method, Sum, SumOf};
use std::time::Instant;

/// Evaluations of each plan; the best counts.
const EVALUATIONS: usize = 5;

/// Prints the time of planning and of the best evaluation.
fn time<G: Geometry>(what: &str, sum: SumOf<'_, f64, G>, charges: &[f64]) {
    let start = Instant::now();
    let mut plan = sum.plan().unwrap();
    let planning = start.elapsed().as_secs_f64();
    let mut field = plan.field();
    let mut best = f64::INFINITY;
    for _ in 0..EVALUATIONS {
        let start = Instant::now();
        plan.evaluate_into(charges, &mut field).unwrap();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{what:44} {:10.3} {:10.3}", 1e3 * planning, 1e3 * best);
}

fn main() {
    println!("{:44} {:>10} {:>10}", "f64", "plan, ms", "sum, ms");
    let outputs = [Output::Potential, Output::Gradient];
    for (n, method) in [(1000, Method::Direct), (100_000, Method::Fmm)] {
        let points = PointSet::Cube.generate::<f64>(n, 1);
        let charges = ChargeDistribution::Signed.generate::<f64>(n, 1);
        for tolerance in [1e-3, 1e-6, 1e-9] {
            let sum = Sum::new(Kernel::Coulomb, &points).outputs(&outputs);
            let what = format!("Coulomb, {n} points, {method}, {tolerance:e}");
            time(&what, sum.method(method).tolerance(tolerance), &charges);
        }
    }
    let n = 100_000;
    let points = PlaneSet::Square.generate::<f64>(n, 1);
    let charges = ChargeDistribution::Signed.generate::<f64>(n, 1);
    for kernel in plane::Kernel::ALL {
        let sum = plane::Sum::new(kernel, &points).method(Method::Fmm).tolerance(1e-6);
        time(&format!("{kernel}, {n} points, {}, 1e-6", Method::Fmm), sum, &charges);
    }
}
