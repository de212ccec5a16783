//! Orders for points spread evenly in a cube, for executors that choose them before they have a tree.

use super::orders::{Work, choose};
use super::profile::OperatorCosts;
use super::truncation::CLASSES;

/// The order of every M2L translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CubeOrders {
    /// For each level, the leaves' first and coarser ones after it, and each class of shifts ([`super::class_of`]).
    pub by_level: Vec<[u8; CLASSES]>,
    /// The highest of them.
    pub highest: usize,
}

/// The cheapest orders with which `points` spread evenly in a cube, `leaf_mean` to a leaf, meet `tolerance` in every
/// output (given by its number of derivatives).
pub fn cube_orders(
    points: f64,
    leaf_mean: f64,
    derivatives: &[usize],
    tolerance: f64,
    costs: &OperatorCosts,
) -> CubeOrders {
    let depth = ((points / leaf_mean).max(1.0).log2() / 3.0).clamp(2.0, 10.0);
    let work = Work::of_uniform_cube(points, depth);
    let orders = choose(
        &work,
        derivatives,
        tolerance,
        costs,
        2.0 * points * costs.point_coefficient,
    );
    CubeOrders {
        by_level: orders.by_level,
        highest: orders.highest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::MachineProfile;

    #[test]
    fn orders_grow_with_the_digits_asked_for() {
        let costs = MachineProfile::default().f64;
        let highest = |tolerance| cube_orders(1e6, 60.0, &[0], tolerance, &costs).highest;
        assert!(highest(1e-3) < highest(1e-6) && highest(1e-6) < highest(1e-9));
        assert_eq!(cube_orders(10.0, 60.0, &[0], 1e-3, &costs).by_level.len(), 1);
    }
}
