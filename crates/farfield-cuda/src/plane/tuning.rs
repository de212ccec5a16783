//! Order and depth of the FMM on a device, from the tolerance.

use super::connect::MOST_LEVELS;
use super::kind::PairKind;
use crate::device::{Precision, Properties};
use farfield_core::cost::Rates;
use farfield_core::cost::plane::EvenFmm;
use farfield_core::plane::{Core, Kernel, MAX_ORDER};
use farfield_core::sum::Counts;
use farfield_core::{Plane, Sum};

/// The costs of operations on a device, for a kernel.
pub fn rates<T: Precision>(properties: &Properties, kind: &PairKind) -> Rates {
    let gaussian = kind.core == Core::Gaussian;
    let logarithm = kind.kernel == Kernel::Log;
    properties
        .gpu()
        .in_plane(T::DOUBLE, logarithm, kind.derivatives, gaussian)
}

/// The parameters of an FMM.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The theta of the coupling criterion.
    pub theta: f64,
    /// The order of all expansions.
    pub order: usize,
    /// The index of the finest level.
    pub depth: usize,
    /// The number of points beyond which a box's expansion is cheaper than its points.
    pub shortcut: u32,
    /// The expected seconds of an FMM.
    pub seconds: f64,
}

/// The smallest average number of points in a leaf: the order that meets the tolerance grows as leaves shrink.
const FEWEST_POINTS: usize = 6;
/// The number of points per leaf for which the table of orders was measured.
const USUAL_POINTS: f64 = 16.0;

/// Chooses order and depth for a sum over `counts` sources and targets, both at least one.
pub fn choose<T: Precision>(asked: &Sum<T, Plane>, counts: Counts, rates: &Rates) -> Choice {
    let points = counts.points();
    let deepest = |fewest: usize| ((points / fewest).max(1).ilog2() as usize / 2).min(MOST_LEVELS);
    let seconds = |depth: usize| seconds_at(asked, counts, rates, depth);
    let depth = match asked.options().leaf_capacity {
        // A leaf is never empty.
        Some(capacity) => asked.depth_of_capacity(capacity).min(deepest(1)),
        None => (0..=deepest(FEWEST_POINTS))
            .min_by(|a, b| seconds(*a).total_cmp(&seconds(*b)))
            .unwrap_or(0),
    };
    let order = order_at(asked, counts, depth);
    Choice {
        theta: asked.theta(),
        order,
        depth,
        // At a point, an expansion costs about as much as this many pairs, plus reading every list.
        shortcut: order as u32 + 4,
        seconds: seconds(depth),
    }
}

/// The order that meets the tolerance. The fewer points a leaf holds, the larger the share of the field from
/// expansions: each halving at most doubles the error, which a higher order compensates.
fn order_at<T: Precision>(asked: &Sum<T, Plane>, counts: Counts, depth: usize) -> usize {
    let order = asked.order(counts.targets.is_some());
    if asked.options().order.is_some() || depth == 0 {
        return order;
    }
    let per_leaf = counts.points() as f64 / 4f64.powi(depth as i32);
    let more = (USUAL_POINTS / per_leaf).log2() * 0.5f64.ln() / asked.theta().ln();
    (order + more.round().max(0.0) as usize).min(MAX_ORDER)
}

fn seconds_at<T: Precision>(asked: &Sum<T, Plane>, counts: Counts, rates: &Rates, depth: usize) -> f64 {
    let (sources, targets) = (counts.sources as f64, counts.targets() as f64);
    let per_leaf = (targets / 4f64.powi(depth as i32)).ceil().max(1.0) as usize;
    let fmm = EvenFmm {
        sources,
        targets,
        point_by_point: 1.0,
    };
    let mut work = fmm
        .work(depth, order_at(asked, counts, depth))
        .of_vectors(asked.request.vectors as f64);
    // Lanes without a target wait for the others.
    let used = utilisation(per_leaf, leaf_targets(per_leaf));
    work.pairs /= used;
    work.pairs_of_leaf /= used;
    1e-9 * rates.fmm(&work)
}

/// The share of the lanes of a warp that work if a leaf has `targets` targets and each lane up to `per_thread` of them.
fn utilisation(targets: usize, per_thread: u32) -> f64 {
    let targets = targets.max(1);
    // Leaves with more targets than a warp holds are processed in rounds, all full but the last.
    let round = 32 * per_thread as usize;
    let (rounds, last) = (targets / round, targets % round);
    let mut time = rounds as f64 * f64::from(per_thread);
    if last > 0 {
        time += f64::from(per_thread) / (32 / last.div_ceil(per_thread as usize)) as f64;
    }
    targets as f64 / (32.0 * time)
}

/// The number of targets per thread for leaves of about `targets` targets, so that most lanes work.
pub fn leaf_targets(targets: usize) -> u32 {
    // More targets per thread save loads, so they are preferred at equal utilisation.
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
    use farfield_core::cost::Gpu;
    use farfield_core::plane::PlaneSet;
    use farfield_core::{Options, Request};

    fn rates() -> Rates {
        Gpu::new(132).in_plane(true, false, 0, false)
    }

    fn chosen(kernel: Kernel, points: &[[f64; 2]], change: impl FnOnce(&mut Options)) -> Choice {
        let request = Request::<Plane>::new(kernel).with(change);
        let sum = request.between(points);
        choose(&sum, sum.points.counts(), &rates())
    }

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
        let at = |tolerance: f64| chosen(Kernel::Harmonic, &points, |options| options.tolerance = Some(tolerance));
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
        let choice = chosen(Kernel::Log, &points, |options| {
            (options.order, options.leaf_capacity) = (Some(7), Some(20));
        });
        assert_eq!((choice.order, choice.depth), (7, 5));
    }

    #[test]
    fn small_leaves_take_higher_orders() {
        let points = PlaneSet::Square.generate::<f64>(1 << 14, 1);
        let at = |capacity: usize| {
            let choice = chosen(Kernel::Harmonic, &points, |options| {
                options.leaf_capacity = Some(capacity)
            });
            choice.order
        };
        // 16, 4 and 1 points to a leaf
        assert_eq!([at(10), at(3), at(1)].map(|order| order - at(10)), [0, 2, 4]);
    }

    #[test]
    fn a_thousand_points_are_not_left_to_one_warp() {
        for (n, depths) in [(100, 0..=1), (1000, 2..=3), (10_000, 3..=5)] {
            let points = PlaneSet::Square.generate::<f64>(n, 1);
            let choice = chosen(Kernel::Harmonic, &points, |options| options.order = Some(17));
            assert!(depths.contains(&choice.depth), "{n}: {choice:?}");
        }
    }

    #[test]
    fn the_fmm_overtakes_the_direct_sum_before_30_000_points() {
        let points = PlaneSet::Square.generate::<f64>(30_000, 1);
        let choice = chosen(Kernel::Harmonic, &points, |_| ());
        assert!(choice.seconds < 1e-9 * rates().direct(9e8));
    }
}
