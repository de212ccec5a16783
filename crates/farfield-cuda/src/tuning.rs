//! From a tolerance to orders and leaf size on a device, by a cost model.
//!
//! The orders are the CPU's, for points spread evenly in a cube; the leaf size balances pairs against translations at
//! the rates measured on an H200, scaled by the number of multiprocessors (docs/notes/gpu.md). Nothing is timed while planning:
//! equal input and device give an equal plan.

use crate::device::{Precision, Properties};
use crate::expansion::LOW_ORDER;
use crate::kernel::PairKind;
use farfield_core::expansion::coefficient_count;
use farfield_core::plan::Request;
use farfield_core::tuning::{CLASSES, CubeOrders, MachineProfile, OperatorCosts, class_of, cube_orders};

/// Multiprocessors of the device the rates were measured on.
pub(crate) const MEASURED_ON: f64 = 132.0;

/// What a device does in a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Pairs of points of P2P inside an FMM.
    pub pairs: f64,
    /// Floating-point operations of M2L, zeros of padding included.
    pub m2l_flops: f64,
    /// The same at low orders, which have a program of their own in single precision.
    pub low_order_m2l_flops: f64,
    /// Seconds that launching an FMM takes, however small.
    pub overhead: f64,
}

impl Rates {
    fn m2l_flops(&self, order: usize) -> f64 {
        if order <= LOW_ORDER {
            self.low_order_m2l_flops
        } else {
            self.m2l_flops
        }
    }

    /// The rates of a device for a kernel.
    pub fn of<T: Precision>(properties: &Properties, kind: &PairKind) -> Self {
        let share = properties.multiprocessors as f64 / MEASURED_ON;
        let pairs = match (T::DOUBLE, kind.sums()) {
            (false, 1) => 2.0e12,
            (false, 3) => 1.0e12,
            (false, 4) => 1.25e12,
            (false, _) => 4.0e11,
            (true, 1) => 1.0e12,
            (true, 3 | 4) => 7.0e11,
            (true, _) => 2.0e11,
        };
        Self {
            pairs: pairs * share,
            m2l_flops: if T::DOUBLE { 2.6e13 } else { 1.8e13 } * share,
            low_order_m2l_flops: if T::DOUBLE { 2.6e13 } else { 3.6e13 } * share,
            overhead: 2.5e-4,
        }
    }
}

/// What the model chose.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Points a leaf should hold on average.
    pub leaf_mean: f64,
    /// Points a leaf may hold.
    pub leaf_capacity: usize,
    /// The order of every M2L translation.
    pub orders: CubeOrders,
    /// Seconds an FMM is expected to take.
    pub seconds: f64,
}

/// What is summed, as far as the model cares.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// The larger number of sources and targets.
    pub points: f64,
    /// Expansions per box.
    pub streams: f64,
    /// Strength vectors.
    pub vectors: f64,
    /// Distinct orders of derivatives among the outputs.
    pub derivatives: Vec<usize>,
    /// The relative error allowed.
    pub tolerance: f64,
    /// One order for all expansions instead.
    pub order: Option<usize>,
    /// An expert's leaf capacity.
    pub leaf_capacity: Option<usize>,
}

/// Chooses leaf size and orders.
pub fn choose(demand: &Demand, rates: &Rates) -> Choice {
    let mut mean = 50.0;
    let mut orders = demand.orders(mean);
    let mut flops = 0.0;
    for _ in 0..3 {
        if let Some(capacity) = demand.leaf_capacity {
            mean = mean_of(capacity);
        }
        orders = demand.orders(mean);
        // Coarser levels have an eighth of the boxes each.
        flops = orders.by_level.first().map_or(0.0, m2l_flops) * demand.streams * 8.0 / 7.0;
        if demand.leaf_capacity.is_none() {
            // d/dmean of 27 mean / pairs + flops / (mean m2l_flops) is zero.
            let balanced = (flops / rates.m2l_flops(orders.highest) / (27.0 * demand.vectors / rates.pairs)).sqrt();
            mean = balanced.clamp(16.0, 600.0);
        }
    }
    let per_point = 27.0 * mean * demand.vectors / rates.pairs + flops / mean / rates.m2l_flops(orders.highest);
    Choice {
        leaf_mean: mean,
        leaf_capacity: demand.leaf_capacity.unwrap_or_else(|| capacity_of(mean)),
        orders,
        seconds: rates.overhead + demand.points * per_point,
    }
}

/// Seconds that P2P takes at least where no box may be smaller than the cores' reach, as a share of the direct sum's.
///
/// Points are taken as spread over surfaces, the root as larger than their extent by the mean factor. Boxes that hold
/// thousands of points keep few blocks busy: half the direct sum's rate is assumed; 60,000 bodies in eight boxes reached a
/// third of it on an H200.
pub fn near_share(reach: f64, extent: f64) -> f64 {
    if reach <= 0.0 {
        return 0.0;
    }
    let levels = (std::f64::consts::SQRT_2 * extent / reach).log2().floor().max(0.0);
    2.0 * (3.0 / levels.exp2()).powi(2).min(1.0)
}

impl Demand {
    /// What a request asks for, between so many points.
    pub fn of<T: Precision>(request: &Request<T>, kind: &PairKind, points: f64) -> Self {
        Self {
            points: points.max(1.0),
            streams: (request.vectors * kind.expansions()) as f64,
            vectors: request.vectors as f64,
            derivatives: request.error_derivatives(),
            tolerance: request.tolerance,
            order: request.order,
            leaf_capacity: request.leaf_capacity,
        }
    }

    fn orders(&self, mean: f64) -> CubeOrders {
        if let Some(order) = self.order {
            return CubeOrders {
                by_level: vec![[order as u8; CLASSES]],
                highest: order,
            };
        }
        // Only ratios matter: a translation of order p grows like p^4, a point's share like p^2.
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
            &self.derivatives,
            looseness(self.tolerance) * self.tolerance,
            &costs,
        )
    }
}

/// By how much the model's tolerance may exceed the one asked for. Expansions here keep whole tiles of coefficients, more
/// than an order has: with the model's own orders the largest error of any point set, output and sign of charges is 0.22 of
/// the tolerance, with those for five times the tolerance up to 1.2 of it. At the highest orders chance plays a larger part.
fn looseness(tolerance: f64) -> f64 {
    1.0 + ((tolerance / 1e-9).log10() / 3.0).clamp(0.0, 1.0)
}

/// A capacity that chance does not exceed where boxes hold `mean` points on average: five standard deviations more.
pub(crate) fn capacity_of(mean: f64) -> usize {
    (mean + 5.0 * mean.sqrt()).ceil() as usize
}

/// The mean that goes with a capacity.
pub(crate) fn mean_of(capacity: usize) -> f64 {
    let root = (6.25 + capacity as f64).sqrt() - 2.5;
    (root * root).max(1.0)
}

/// Operations of the 189 translations into one box, padded to whole tiles.
fn m2l_flops(orders: &[u8; CLASSES]) -> f64 {
    (0..343)
        .filter_map(|k| class_of([k / 49 - 3, k / 7 % 7 - 3, k % 7 - 3]).map(|class| (k, class)))
        .map(|(k, class)| {
            let coefficients = coefficient_count(orders[class] as usize);
            // Shifts of three boxes occur for half of the targets along each axis.
            let halves = [k / 49 - 3, k / 7 % 7 - 3, k % 7 - 3]
                .iter()
                .filter(|c| c.abs() == 3)
                .count();
            2.0 * (coefficients.next_multiple_of(16) * coefficients.next_multiple_of(8)) as f64
                * 0.5f64.powi(halves as i32)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(tolerance: f64) -> Demand {
        Demand {
            points: 1e6,
            streams: 1.0,
            vectors: 1.0,
            derivatives: vec![0],
            tolerance,
            order: None,
            leaf_capacity: None,
        }
    }

    const RATES: Rates = Rates {
        pairs: 1e12,
        m2l_flops: 4e13,
        low_order_m2l_flops: 4e13,
        overhead: 2e-4,
    };

    #[test]
    fn tighter_tolerances_take_larger_leaves_and_more_time() {
        let mut before = choose(&demand(1e-2), &RATES);
        for tolerance in [1e-4, 1e-6, 1e-9, 1e-12] {
            let next = choose(&demand(tolerance), &RATES);
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
            &RATES,
        );
        assert_eq!((choice.leaf_capacity, choice.orders.highest), (90, 7));
        assert_eq!(capacity_of(mean_of(90)), 90);
    }

    #[test]
    fn wide_cores_leave_nothing_to_expansions() {
        assert_eq!(near_share(0.0, 1.0), 0.0);
        assert_eq!(near_share(1.0, 0.0), 2.0);
        assert!(near_share(0.3, 1.0) > 1.0 && near_share(0.15, 1.0) < 0.3);
        assert!(near_share(0.01, 1.0) < 0.01);
    }

    #[test]
    fn all_189_translations_are_counted() {
        // Order 0: one tile of 16 rows and 8 columns each.
        assert_eq!(m2l_flops(&[0; CLASSES]), 189.0 * 2.0 * 128.0);
    }
}
