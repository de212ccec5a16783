//! From the tolerance to order and depth.

use super::kernel::{Core, Kernel, Output};
use super::pairs::PlanePairs;
use crate::cost::plane::EvenFmm;
use crate::cost::{MachineProfile, Rates};
use crate::simd::Real;

/// The theta of the coupling criterion, as in Goude and Engblom.
pub(super) const THETA: f64 = 0.5;

/// The number of points that one thread processes in the time to wake another.
pub(super) const SMALL: usize = 1 << 11;

/// The number of points per leaf from which on leaves interact in both directions at once. Measured: low where a pair
/// is expensive, high where it costs little more than storing the reaction.
pub(super) fn mutual_from(pairs: &PlanePairs) -> usize {
    match (pairs.kernel, pairs.derivatives, pairs.core) {
        (Kernel::Log, 0, _) => 12,
        (Kernel::Log, ..) | (Kernel::Harmonic, _, Core::Gaussian) => 24,
        (Kernel::Harmonic, ..) => 48,
    }
}

/// The parameters of a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub theta: f64,
    pub order: usize,
    /// The finest level.
    pub depth: usize,
    /// The number of points from which on a box's expansion is cheaper than its points.
    pub shortcut: usize,
}

/// The orders of the error tables below. These hold the largest relative L2 errors measured at theta = 1/2 over the
/// six point sets, random and positive strengths, 2000 and 40,000 points in leaves of 16 (docs/notes/performance.md
/// has the sweep).
const ORDERS: [f64; 6] = [4.0, 8.0, 12.0, 16.0, 24.0, 32.0];
const FIELD_ERROR: [f64; 6] = [3.0e-3, 6.0e-5, 2.2e-6, 7.0e-8, 1.4e-10, 3.3e-13];
const GRADIENT_ERROR: [f64; 6] = [2.0e-3, 6.0e-5, 3.2e-6, 1.7e-7, 5.6e-10, 1.4e-12];
const SECOND_ERROR: [f64; 6] = [3.1e-3, 1.5e-4, 7.7e-6, 3.7e-7, 1.1e-9, 5.1e-12];
const LOG_ERROR: [f64; 6] = [6.3e-4, 8.0e-6, 2.3e-7, 5.4e-9, 6.0e-12, 1.0e-14];

/// The factor by which the tolerance is divided before the tables are used.
const SAFETY: f64 = 1.7;

/// The order at which the truncation error falls below the tolerance, in every output.
///
/// The tables hold if the sources are the targets: the nearest neighbours then contribute most of the field, and these
/// are summed pair by pair. Separate targets may have no source nearby (`apart`). Then the whole field comes from
/// expansions, whose relative error for the worst pair of points is at most theta^(p+1)/(1 - theta), p + 1 times that
/// for a derivative and p (p + 1) times for the second. Over the points of two boxes it is at most an eighth of this,
/// on a line and in a square.
pub(super) fn order_for(kernel: Kernel, outputs: &[Output], theta: f64, tolerance: f64, apart: bool) -> usize {
    let of = |output: &Output| {
        if apart {
            return order_of_separated(*output, tolerance);
        }
        let table = match (kernel, output) {
            (Kernel::Harmonic, Output::Potential) | (Kernel::Log, Output::Derivative) => &FIELD_ERROR,
            (Kernel::Harmonic, Output::Derivative) => &GRADIENT_ERROR,
            (_, Output::SecondDerivative) => &SECOND_ERROR,
            (Kernel::Log, Output::Potential) => &LOG_ERROR,
        };
        order_in(table, tolerance / SAFETY)
    };
    // Errors are proportional to theta^p.
    let order = outputs.iter().map(of).fold(2.0, f64::max) * 0.5f64.ln() / theta.ln();
    (order.ceil() as usize).min(super::MAX_ORDER)
}

/// The order for targets without near sources, at theta = 1/2.
fn order_of_separated(output: Output, tolerance: f64) -> f64 {
    let error = |p: f64| {
        let value = 0.5f64.powf(p + 1.0) / 0.5 / 8.0;
        match output {
            Output::Potential => value,
            Output::Derivative => (p + 1.0) * value,
            Output::SecondDerivative => p * (p + 1.0) * value,
        }
    };
    let mut order = 2.0;
    while error(order) > tolerance / SAFETY && order < super::MAX_ORDER as f64 {
        order += 1.0;
    }
    order
}

/// The order at which a table falls to `error`, by linear interpolation of the logarithms.
fn order_in(table: &[f64; 6], error: f64) -> f64 {
    let k = (1..5).find(|k| table[*k] < error).unwrap_or(5);
    let slope = (table[k] / table[k - 1]).ln() / (ORDERS[k] - ORDERS[k - 1]);
    ORDERS[k] + (error / table[k]).ln() / slope
}

/// The number of levels for about `capacity` points in a leaf (Goude and Engblom, eq. 5.2).
pub(super) fn depth_for(points: usize, capacity: usize) -> usize {
    let levels = 0.5 * (5.0 * points as f64 / (8.0 * capacity as f64)).log2();
    levels.ceil().max(0.0) as usize
}

/// The costs of a sum in the plane on one thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Costs {
    rates: Rates,
    order: usize,
}

impl Costs {
    pub fn new<T: Real>(pairs: &PlanePairs, profile: &MachineProfile, order: usize) -> Self {
        let logarithm = pairs.kernel == Kernel::Log;
        Self {
            rates: profile.of::<T>().in_plane(logarithm, pairs.derivatives),
            order,
        }
    }

    /// The cost of the direct sum, in nanoseconds.
    pub fn direct(&self, sources: usize, targets: usize) -> f64 {
        self.rates.direct(sources as f64 * targets as f64)
    }

    /// The cost of the FMM for `vectors` strength vectors at depth `depth`, in nanoseconds.
    pub fn fmm(&self, sources: usize, targets: usize, depth: usize, vectors: f64) -> f64 {
        let fmm = EvenFmm {
            sources: sources as f64,
            targets: targets as f64,
            point_by_point: EvenFmm::WITH_SHORTCUTS,
        };
        self.rates.fmm(&fmm.work(depth, self.order).of_vectors(vectors))
    }

    /// The number of points from which on a box's expansion is cheaper than its points.
    pub fn shortcut(&self) -> usize {
        (self.order as f64 * self.rates.point_coefficient / self.rates.pair) as usize + 2
    }
}

/// The depth with the least cost.
pub(super) fn depth_at_least_cost(sources: usize, targets: usize, same: bool, costs: &Costs) -> usize {
    let points = if same { sources } else { sources + targets };
    let deepest = points.max(1).ilog2() as usize / 2;
    (0..=deepest)
        .min_by(|a, b| {
            let cost = |depth: usize| costs.fmm(sources, targets, depth, 1.0);
            cost(*a).total_cmp(&cost(*b))
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::connect::{Connections, Criterion};
    use super::super::points::PlaneSet;
    use super::super::pyramid::Pyramid;
    use super::*;

    #[test]
    fn the_model_counts_the_couplings_of_uniform_points() {
        for (n, depth) in [(1_000, 2), (1_000, 3), (30_000, 5), (100_000, 6)] {
            let pyramid = Pyramid::build(&PlaneSet::Square.generate::<f64>(n, 1), None, depth);
            let found = Connections::build(&pyramid, &Criterion::new(THETA, 0.0, 1));
            let fmm = EvenFmm {
                sources: n as f64,
                targets: n as f64,
                point_by_point: EvenFmm::WITH_SHORTCUTS,
            };
            let work = fmm.work(depth, 10);
            let m2l = found.weak.len() as f64 / work.translations[0].1;
            let pairs = found.p2p_pairs as f64 / work.pairs;
            assert!((0.85..1.35).contains(&m2l), "{n}, {depth}: M2L ratio {m2l}");
            assert!((0.85..1.15).contains(&pairs), "{n}, {depth}: pair ratio {pairs}");
        }
    }
}
