//! Measures the traffic of a rank for one evaluation, by numbers of ranks and points, and compares it with the
//! scaling model. The ranks are threads, which exchange the same messages as processes. The points are distributed
//! before, so that only essential sources are exchanged.
//!
//! `cargo run --release -p farfield-mpi --features calibrate --example traffic -- 8x4000 64x4000 512x1000`

use farfield::kernel::Kernel;
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Request, Space};
use farfield_mpi::model::{Forecast, Machine};
use farfield_mpi::{Communicator, Points, Sum, Threads};

const TOLERANCE: f64 = 1e-3;

fn main() {
    println!("ranks   points  received equivalent  (model)      bytes messages  most  (model)");
    for word in std::env::args().skip(1) {
        let numbers = word
            .split_once('x')
            .and_then(|(p, n)| Some((p.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((ranks, each)) => show(ranks, each),
            None => eprintln!("{word}: expected RANKSxPOINTS with the points of each rank, such as 64x4000"),
        }
    }
}

/// Prints the means over ranks and the forecast of the model.
fn show(size: usize, each: usize) {
    let reports = Threads::run(size, |ranks| {
        let own = ranks.rank() * each..(ranks.rank() + 1) * each;
        let points = PointSet::Cube.generate_part::<f64>(own.clone(), 1);
        let request = Request::<Space>::new(Kernel::Coulomb);
        let sum = Sum::of(request.with(|options| {
            (options.tolerance, options.check) = (Some(TOLERANCE), false);
        }));
        let dealt = sum.plan(ranks, Points::new(&points)).expect("a plan");
        let rows = dealt.follow(points.as_flattened(), 3);
        drop(dealt);
        let own = rows.as_chunks::<3>().0;
        let mut plan = sum.in_place().plan(ranks, Points::new(own)).expect("a plan");
        plan.evaluate(&ChargeDistribution::Positive.generate(own.len(), 1))
            .expect("a sum");
        plan.report()
    });
    let mean = |value: &dyn Fn(&farfield_mpi::RankReport) -> f64| reports.iter().map(value).sum::<f64>() / size as f64;
    let model = Forecast::new((size * each) as f64, size as f64, TOLERANCE, &Machine::default());
    println!(
        "{size:5} {each:8} {:9.0} {:10.0} {:8.0} {:10.0} {:8.1} {:5} {:8.1}",
        mean(&|report| report.received as f64),
        mean(&|report| report.equivalent as f64),
        model.received + model.equivalent,
        mean(&|report| report.evaluation.bytes_received as f64),
        mean(&|report| report.evaluation.messages_received as f64),
        reports
            .iter()
            .map(|report| report.evaluation.messages_received)
            .max()
            .unwrap_or(0),
        model.messages,
    );
}
