//! Orders for points uniformly distributed in a cube, for engines that choose them before they have a tree.

use super::orders::{Work, choose};
use super::truncation::CLASSES;
use crate::cost::OperatorCosts;

/// The order of every M2L translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CubeOrders {
    /// For each level, from the leaves to coarser levels, and each class of shifts ([`super::class_of`]).
    pub by_level: Vec<[u8; CLASSES]>,
    /// The highest order.
    pub highest: usize,
}

impl CubeOrders {
    /// The same order for all levels and shifts.
    pub fn constant(order: usize) -> Self {
        Self {
            by_level: vec![[order as u8; CLASSES]],
            highest: order,
        }
    }
}

/// The cheapest orders that meet `tolerance` in every output, given by its number of derivatives, for `points` points
/// uniformly distributed in a unit cube with `leaf_mean` points per leaf. Cores of size `core` reduce the
/// contributions of the nearest pairs, so that the other pairs must be more accurate.
pub fn cube_orders(
    points: f64,
    leaf_mean: f64,
    core: f64,
    derivatives: &[usize],
    tolerance: f64,
    costs: &OperatorCosts,
) -> CubeOrders {
    let depth = ((points / leaf_mean).max(1.0).log2() / 3.0).clamp(2.0, 10.0);
    let mut work = Work::of_uniform_cube(points, depth, core);
    work.fill = 0.0; // a GPU does each translation separately
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
    fn wide_cores_need_higher_orders_for_derivatives() {
        let costs = MachineProfile::default().f64;
        let highest = |core, derivatives: &[usize]| cube_orders(1e6, 60.0, core, derivatives, 1e-4, &costs).highest;
        // A thousandth of the spacing, half of it, ten times it.
        for derivatives in [&[1][..], &[2]] {
            assert_eq!(highest(1e-5, derivatives), highest(0.0, derivatives));
            assert!(highest(0.1, derivatives) > highest(0.0, derivatives));
        }
        assert!(highest(0.005, &[2]) > highest(0.0, &[2]));
    }

    #[test]
    fn orders_grow_with_the_requested_digits() {
        let costs = MachineProfile::default().f64;
        let highest = |tolerance| cube_orders(1e6, 60.0, 0.0, &[0], tolerance, &costs).highest;
        assert!(highest(1e-3) < highest(1e-6) && highest(1e-6) < highest(1e-9));
        assert_eq!(cube_orders(10.0, 60.0, 0.0, &[0], 1e-3, &costs).by_level.len(), 1);
    }
}
