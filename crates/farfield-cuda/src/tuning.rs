//! From a tolerance to orders and leaf size on a device, by a cost model.
//!
//! The orders are the CPU's, for points uniform in a cube. The leaf size balances pairs against translations by the
//! cost model ([`farfield_core::cost`]).

use crate::device::{Precision, Properties};
use crate::expansion::LOW_ORDER;
use crate::fmm::{LARGE_LEAF, P2pBlocking};
use crate::kernel::PairKind;
use farfield_core::cost::space::{EvenFmm, capacity_of, mean_of};
use farfield_core::cost::{MachineProfile, OperatorCosts, Rates};
use farfield_core::tuning::{CubeOrders, cube_orders};
use farfield_core::{Space, Sum};

/// The costs of operations on a device, for a kernel.
pub fn rates<T: Precision>(properties: &Properties, kind: &PairKind) -> Rates {
    properties.gpu().in_space(T::DOUBLE, kind.sums(), LOW_ORDER)
}

/// The model's choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The average number of points in a leaf.
    pub leaf_mean: f64,
    /// The largest number of points in a leaf.
    pub leaf_capacity: usize,
    /// The order of every M2L translation.
    pub orders: CubeOrders,
    /// The expected seconds of an FMM.
    pub seconds: f64,
}

/// The properties of a sum that the model depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// The number of sources or of targets, whichever is larger.
    pub points: f64,
    /// The number of expansions per box.
    pub streams: f64,
    /// The cost of the pairs of all strength vectors, relative to one vector.
    pub pair_runs: f64,
    /// Distinct orders of derivatives among the outputs.
    pub derivatives: Vec<usize>,
    /// The relative error allowed.
    pub tolerance: f64,
    /// One order for all expansions, instead of the tolerance.
    pub order: Option<usize>,
    /// A fixed leaf capacity.
    pub leaf_capacity: Option<usize>,
    /// The cores, relative to the points' extent.
    pub cores: Cores,
}

/// Core sizes or softening lengths relative to the points' extent, rounded so that points that move slightly have equal
/// plans.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cores {
    /// The largest size.
    pub size: f64,
    /// The distance within which cores matter; no box is smaller.
    pub reach: f64,
}

impl Cores {
    /// Rounds to half octaves: sizes up, for higher orders, and reaches down, so that boxes are not forced to be
    /// larger.
    pub fn new(size: f64, reach: f64, extent: f64) -> Self {
        if extent <= 0.0 || size <= 0.0 {
            return Self::default();
        }
        Self {
            size: (2.0 * (size / extent).log2()).ceil().exp2().sqrt(),
            reach: (2.0 * (reach / extent).log2()).floor().exp2().sqrt(),
        }
    }

    /// The number of points in a box as large as the reach of the cores, if `points` points fill a cube. The root is up
    /// to twice the extent, so boxes of any size may become that small.
    fn least_mean(&self, points: f64) -> f64 {
        points * self.reach.powi(3)
    }
}

/// Chooses leaf size and orders.
pub fn choose(demand: &Demand, rates: &Rates) -> Choice {
    let mut mean = demand.leaf_capacity.map_or(50.0, mean_of);
    for _ in 0..3 {
        let orders = demand.orders(mean.max(demand.cores.least_mean(demand.points)));
        if demand.leaf_capacity.is_none() {
            mean = demand.fmm(&orders).best_leaf_mean(rates).clamp(16.0, 600.0);
        }
    }
    let orders = demand.orders(mean.max(demand.cores.least_mean(demand.points)));
    Choice {
        leaf_mean: mean,
        leaf_capacity: demand.leaf_capacity.unwrap_or_else(|| capacity_of(mean)),
        seconds: 1e-9 * rates.fmm(&demand.fmm(&orders).work(mean)),
        orders,
    }
}

/// The least time of P2P as a share of the direct sum's, if no box may be smaller than the reach of the cores.
///
/// Points are assumed on surfaces, and the root larger than their extent by the mean factor. Boxes with thousands of
/// points keep few blocks busy, so half the direct sum's rate is assumed; 60,000 bodies in eight boxes reached a third
/// of it on an H200.
pub fn near_share(reach: f64, extent: f64) -> f64 {
    if reach <= 0.0 {
        return 0.0;
    }
    let levels = (std::f64::consts::SQRT_2 * extent / reach).log2().floor().max(0.0);
    2.0 * (3.0 / levels.exp2()).powi(2).min(1.0)
}

impl Demand {
    /// The demand of a sum between `points` points.
    pub fn of<T: Precision>(asked: &Sum<T, Space>, kind: &PairKind, points: f64, cores: Cores) -> Self {
        Self {
            points: points.max(1.0),
            streams: (asked.request.vectors * kind.expansions()) as f64,
            pair_runs: pair_runs::<T>(kind, asked.request.vectors),
            derivatives: asked.error_derivatives(),
            tolerance: asked.tolerance(),
            order: asked.options().order,
            leaf_capacity: asked.options().leaf_capacity,
            cores,
        }
    }

    fn fmm<'a>(&self, orders: &'a CubeOrders) -> EvenFmm<'a> {
        EvenFmm {
            points: self.points,
            dimension: 3.0,
            pair_runs: self.pair_runs,
            streams: self.streams,
            orders: &orders.by_level,
            highest: orders.highest,
        }
    }

    fn orders(&self, mean: f64) -> CubeOrders {
        if let Some(order) = self.order {
            return CubeOrders::constant(order);
        }
        // Only ratios matter: the cost of a translation of order p grows like p^4, that of a point like p^2.
        let costs = OperatorCosts {
            pair_scalar: [1.0; 3],
            pair_vector: [1.0; 2],
            m2l: [20.0, 1.0, 1.0],
            point_coefficient: 0.05,
            ..MachineProfile::default().f64
        };
        cube_orders(
            self.points,
            mean,
            self.cores.size,
            &self.derivatives,
            looseness(self.tolerance) * self.tolerance,
            &costs,
        )
    }
}

/// The cost of pairs of several strength vectors, relative to one vector: vectors that are summed at once share the
/// distances, and each adds an operation to every sum.
fn pair_runs<T: Precision>(kind: &PairKind, vectors: usize) -> f64 {
    let at_once = P2pBlocking::of::<T>(kind, LARGE_LEAF, vectors).vectors as usize;
    let per_vector = 0.06 + 0.05 * kind.sums() as f64;
    vectors.div_ceil(at_once) as f64 * (1.0 + (at_once - 1) as f64 * per_vector.min(1.0))
}

/// The factor by which the model's tolerance may exceed the requested one. Expansions on the device keep whole tiles of
/// coefficients, more than an order has: with the model's own orders the largest error of any point set, output and
/// sign of charges is 0.22 of the tolerance, with those for five times the tolerance up to 1.2 of it. At the highest
/// orders chance plays a larger part.
fn looseness(tolerance: f64) -> f64 {
    1.0 + ((tolerance / 1e-9).log10() / 3.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield_core::cost::Gpu;

    fn demand(tolerance: f64) -> Demand {
        Demand {
            points: 1e6,
            streams: 1.0,
            pair_runs: 1.0,
            derivatives: vec![0],
            tolerance,
            order: None,
            leaf_capacity: None,
            cores: Cores::default(),
        }
    }

    fn rates() -> Rates {
        Gpu::new(132).in_space(true, 1, LOW_ORDER)
    }

    #[test]
    fn tighter_tolerances_take_larger_leaves_and_more_time() {
        let mut before = choose(&demand(1e-2), &rates());
        for tolerance in [1e-4, 1e-6, 1e-9, 1e-12] {
            let next = choose(&demand(tolerance), &rates());
            assert!(
                next.leaf_mean >= before.leaf_mean && next.seconds > before.seconds,
                "{tolerance}"
            );
            assert!(next.orders.highest > before.orders.highest);
            before = next;
        }
    }

    #[test]
    fn an_experts_capacity_and_order_are_kept() {
        let choice = choose(
            &Demand {
                order: Some(7),
                leaf_capacity: Some(90),
                ..demand(1e-6)
            },
            &rates(),
        );
        assert_eq!((choice.leaf_capacity, choice.orders.highest), (90, 7));
        assert_eq!(capacity_of(mean_of(90)), 90);
    }

    #[test]
    fn cores_raise_the_orders_of_derivatives_and_are_rounded() {
        let orders = |cores: Cores| {
            let derivatives = vec![1, 2];
            choose(
                &Demand {
                    derivatives,
                    cores,
                    ..demand(1e-4)
                },
                &rates(),
            )
            .orders
        };
        let cores = Cores::new(0.01, 0.05, 2.0);
        assert!(cores.size >= 0.005 && cores.size < 0.0071 && cores.reach <= 0.025 && cores.reach > 0.0176);
        assert_eq!(cores, Cores::new(0.0102, 0.0501, 2.0));
        assert!(orders(cores).highest > orders(Cores::default()).highest);
        assert_eq!(Cores::new(0.0, 0.0, 1.0), Cores::default());
        assert_eq!(Cores::new(0.1, 0.1, 0.0), Cores::default());
    }

    #[test]
    fn wide_cores_leave_nothing_to_expansions() {
        assert_eq!(near_share(0.0, 1.0), 0.0);
        assert_eq!(near_share(1.0, 0.0), 2.0);
        assert!(near_share(0.3, 1.0) > 1.0 && near_share(0.15, 1.0) < 0.3);
        assert!(near_share(0.01, 1.0) < 0.01);
    }
}
