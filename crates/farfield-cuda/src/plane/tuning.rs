//! From the tolerance to depth, for a device.

use super::connect::MOST_LEVELS;
use super::kind::PairKind;
use crate::device::{Precision, Properties};
use farfield::plane::{Core, Kernel, Request};

/// Multiprocessors of the device the rates were measured on.
const MEASURED_ON: f64 = 132.0;

/// What a device does in a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Pairs of points of the direct sum.
    pub direct: f64,
    /// Pairs of points inside an FMM, those of idle lanes included.
    pub pairs: f64,
    /// Multiplications of M2L.
    pub m2l: f64,
    /// Seconds an FMM takes however small, and for each point however few.
    pub overhead: f64,
    /// Seconds of sorting and of its own expansions for each point.
    pub point: f64,
}

impl Rates {
    /// The rates of a device for a kernel.
    pub fn of<T: Precision>(properties: &Properties, kind: &PairKind) -> Self {
        let share = properties.multiprocessors as f64 / MEASURED_ON;
        let pairs = match (T::DOUBLE, kind.kernel, kind.derivative) {
            (true, Kernel::Harmonic, false) => 1.1e12,
            (true, Kernel::Harmonic, true) => 8e11,
            (true, Kernel::Log, _) => 2e11,
            (false, Kernel::Harmonic, false) => 2.2e12,
            (false, Kernel::Harmonic, true) => 1.5e12,
            (false, Kernel::Log, _) => 1.2e12,
        };
        let core = match (kind.core, T::DOUBLE) {
            (Core::Gaussian, true) => 0.15,
            (Core::Gaussian, false) => 0.4,
            _ => 1.0,
        };
        Self {
            direct: pairs * core * share,
            pairs: 0.7 * pairs * core * share,
            m2l: if T::DOUBLE { 5e12 } else { 1e13 } * share,
            overhead: 3e-4,
            point: 1.2e-9 / share,
        }
    }
}

/// What an FMM is built from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The theta of the coupling criterion.
    pub theta: f64,
    /// The order of all expansions.
    pub order: usize,
    /// The number of the finest level.
    pub depth: usize,
    /// From more than this many points on, a box's expansion is cheaper than its points.
    pub shortcut: u32,
    /// Seconds an FMM is expected to take.
    pub seconds: f64,
}

/// Boxes strongly coupled to a leaf, of uniform points, and boxes weakly coupled to a box.
const STRONG: f64 = 17.0;
const WEAK: f64 = 45.0;

/// Chooses order and depth for a sum that has sources and targets.
pub fn choose<T: Precision>(request: &Request<T>, rates: &Rates) -> Choice {
    let order = request.resolved_order();
    let points = request.point_count();
    // A leaf is never empty.
    let deepest = (points.max(1).ilog2() as usize / 2).min(MOST_LEVELS);
    let seconds = |depth: usize| seconds_at(request, rates, order, depth);
    let depth = match request.leaf_capacity {
        Some(capacity) => request.depth_of_capacity(capacity).min(deepest),
        None => (0..=deepest)
            .min_by(|a, b| seconds(*a).total_cmp(&seconds(*b)))
            .unwrap_or(0),
    };
    // A coefficient of an expansion costs about half a pair.
    let shortcut = order as u32 / 2 + 2;
    Choice {
        theta: request.resolved_theta(),
        order,
        depth,
        shortcut,
        seconds: seconds(depth),
    }
}

fn seconds_at<T: Precision>(request: &Request<T>, rates: &Rates, order: usize, depth: usize) -> f64 {
    let (sources, targets) = (request.sources.len() as f64, request.target_count() as f64);
    let leaves = 4f64.powi(depth as i32);
    let per_leaf = (request.target_count() as f64 / leaves).ceil().max(1.0) as usize;
    let near = (STRONG / leaves).min(1.0) * sources * targets / utilisation(per_leaf, leaf_targets(per_leaf));
    let p = order as f64;
    let far = 4.0 / 3.0 * leaves * WEAK.min(leaves) * (2.0 * p * p + 16.0 * p + 60.0);
    rates.overhead + rates.point * (sources + targets) + request.vectors as f64 * (near / rates.pairs + far / rates.m2l)
}

/// How many of the lanes of a warp work where a leaf has so many targets, each with up to `per_thread` of them.
fn utilisation(targets: usize, per_thread: u32) -> f64 {
    let per_thread = per_thread as usize;
    // Leaves of more targets than a warp holds are served in rounds.
    let rounds = targets.div_ceil(32 * per_thread).max(1);
    let columns = targets.div_ceil(rounds).div_ceil(per_thread).max(1);
    let slices = 32 / columns;
    targets.max(1) as f64 * slices as f64 / (32 * per_thread * rounds) as f64
}

/// The targets of a thread for leaves of about so many: as many lanes as possible should work.
pub fn leaf_targets(targets: usize) -> u32 {
    // More targets to a thread save loads: prefer them where the lanes are used alike.
    (1..=4u32)
        .max_by(|a, b| {
            let gain = |t: u32| utilisation(targets, t) * (1.0 - 0.15 / f64::from(t));
            gain(*a).total_cmp(&gain(*b))
        })
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield::plane::{PlaneSet, Sum};

    const RATES: Rates = Rates {
        direct: 1e12,
        pairs: 7e11,
        m2l: 5e12,
        overhead: 3e-4,
        point: 1e-9,
    };

    #[test]
    fn lanes_are_used_well_at_every_leaf_size() {
        for targets in 1..=200 {
            let used = utilisation(targets, leaf_targets(targets));
            assert!(used <= 1.0 && (targets < 4 || used >= 0.7), "{targets}: {used}");
        }
    }

    #[test]
    fn tighter_tolerances_take_higher_orders_and_no_smaller_leaves() {
        let points = PlaneSet::Square.generate::<f64>(100_000, 1);
        let at = |tolerance: f64| {
            let sum = Sum::new(Kernel::Harmonic, &points).tolerance(tolerance);
            choose(&sum.request(), &RATES)
        };
        let mut before = at(1e-2);
        for tolerance in [1e-4, 1e-6, 1e-9, 1e-12] {
            let next = at(tolerance);
            assert!(
                next.order > before.order && next.depth <= before.depth,
                "{tolerance}: {next:?}"
            );
            before = next;
        }
    }

    #[test]
    fn an_experts_order_and_capacity_are_kept() {
        let points = PlaneSet::Square.generate::<f64>(10_000, 1);
        let sum = Sum::new(Kernel::Log, &points).order(7).leaf_capacity(20);
        let choice = choose(&sum.request(), &RATES);
        assert_eq!((choice.order, choice.depth), (7, 5));
    }

    #[test]
    fn the_fmm_overtakes_the_direct_sum_before_30_000_points() {
        let points = PlaneSet::Square.generate::<f64>(30_000, 1);
        let sum = Sum::new(Kernel::Harmonic, &points).tolerance(1e-6);
        assert!(choose(&sum.request(), &RATES).seconds < 9e8 / RATES.direct);
    }
}
