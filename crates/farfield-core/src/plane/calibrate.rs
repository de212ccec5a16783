//! Measures the costs of operations in the plane on this machine.

use super::kernel::{Kernel, Output};
use super::points::PlaneSet;
use crate::bench::solve3;
use crate::geometry::Plane;
use crate::points::ChargeDistribution;
use crate::report::Phase;
use crate::simd::{Real, SimdLevel};
use crate::sum::{Method, Options, Request};
use crate::tuning::PlaneCosts;

/// The costs on one thread, from the phases of sums that fit the cache.
pub(crate) fn calibrate<T: Real>(level: SimdLevel) -> PlaneCosts {
    let points = PlaneSet::Square.generate::<T>(16_384, 1);
    let strengths = ChargeDistribution::Signed.generate::<T>(points.len(), 1);
    // Nanoseconds per pair, per M2L, and per point and coefficient.
    let measure = |kernel: Kernel, outputs: &[Output], order: usize| {
        let request = Request::<Plane> {
            outputs: outputs.to_vec(),
            options: Options {
                order: Some(order),
                leaf_capacity: Some(40),
                method: Method::Fmm,
                simd: Some(level),
                ..Options::default()
            },
            ..Request::new(kernel)
        };
        let planned = request.between(&points).plan();
        // The sum is valid; a failure would leave the costs at infinity.
        let mut best = [f64::INFINITY; 3];
        if let Ok(mut plan) = planned {
            let counts = plan.parameters().interactions;
            let coefficients = (2 * points.len() * (order + 1)) as f64;
            for _ in 0..5 {
                if plan.evaluate(&strengths).is_ok() {
                    let of = |phase: Phase| 1e9 * plan.seconds().of(phase);
                    let now = [
                        of(Phase::P2p) / counts.p2p as f64,
                        of(Phase::M2l) / counts.m2l as f64,
                        (of(Phase::P2m) + of(Phase::L2p)) / coefficients,
                    ];
                    best = std::array::from_fn(|k| best[k].min(now[k]));
                }
            }
        }
        best
    };
    let both = [Output::Potential, Output::Derivative];
    let pairs = |kernel: Kernel| [measure(kernel, &both[..1], 10)[0], measure(kernel, &both, 10)[0]];
    let orders = [6usize, 16, 32];
    let times = orders.map(|order| measure(Kernel::Harmonic, &both[..1], order));
    let rows = orders.map(|order| [1.0, order as f64, (order * order) as f64]);
    PlaneCosts {
        pair_harmonic: pairs(Kernel::Harmonic),
        pair_log: pairs(Kernel::Log),
        m2l: solve3(rows, times.map(|t| t[1])).map(|c| c.max(0.0)),
        point_coefficient: times[1][2],
    }
}
