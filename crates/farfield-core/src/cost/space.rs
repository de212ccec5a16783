//! The work of an FMM in space: points uniformly distributed over a volume, a surface or a line.

use super::{Rates, Work};
use crate::expansion::coefficient_count;
use crate::tuning::CLASSES;

/// An FMM over uniformly distributed points, with leaves of any size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvenFmm<'a> {
    /// The number of sources or of targets, whichever is larger.
    pub points: f64,
    /// The dimension of the points: 3 for a volume, 2 for a surface, 1 for a line.
    pub dimension: f64,
    /// The cost of a pair for all strength vectors, relative to its cost for one vector.
    pub pair_runs: f64,
    /// Expansions per box.
    pub streams: f64,
    /// The order of each class of translations, by level from the leaves on; the last entry holds for all coarser
    /// levels.
    pub orders: &'a [[u8; CLASSES]],
    /// The highest order.
    pub highest: usize,
}

impl EvenFmm<'_> {
    /// The work with `leaf_mean` points per leaf on average.
    pub fn work(&self, leaf_mean: f64) -> Work {
        let boxes = self.points / leaf_mean;
        let streams = self.streams * boxes;
        let pairs = self.neighbours() * leaf_mean * self.pair_runs;
        Work {
            pairs: pairs * self.points,
            pairs_of_leaf: pairs * leaf_mean,
            translations: self
                .translations()
                .map(|(order, count)| (order, streams * count))
                .collect(),
            fill: fill_of(self.dimension),
            boxes: (self.highest, streams),
            point_coefficients: self.points * self.coefficients_of_point(),
            points: self.points,
            leaves: boxes,
            ..Work::default()
        }
    }

    /// The mean number of points per leaf with the least cost of pairs and expansions together.
    pub fn best_leaf_mean(&self, rates: &Rates) -> f64 {
        let fill = fill_of(self.dimension);
        let of = |order: usize| rates.translation.among(order, self.highest, fill);
        let translations = self.translations();
        let m2l: f64 = translations.map(|(order, count)| count * of(order)).sum();
        let moves = rates.box_translations * rates.translation.of(self.highest, self.highest);
        let per_box = self.streams * (m2l + moves);
        let pairs = self.neighbours() * self.pair_runs * rates.leaf_pair;
        (per_box / pairs).sqrt()
    }

    fn neighbours(&self) -> f64 {
        3f64.powf(self.dimension)
    }

    /// Coefficients per point of P2M and L2P together.
    fn coefficients_of_point(&self) -> f64 {
        2.0 * self.streams * coefficient_count(self.highest) as f64
    }

    /// The translations per leaf and expansion, as order and number. Those of coarser levels are shared among the
    /// leaves.
    fn translations(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let finer = 2f64.powf(-self.dimension);
        let share = fill_of(self.dimension);
        let last = self.orders.len().saturating_sub(1);
        let levels = self.orders.iter().enumerate().map(move |(level, orders)| {
            let here = share * finer.powi(level as i32);
            // A geometric series: the last entry holds for all coarser levels.
            (orders, if level == last { here / (1.0 - finer) } else { here })
        });
        levels.flat_map(|(orders, share)| {
            (0..CLASSES).map(move |class| (usize::from(orders[class]), share * SHIFTS[class]))
        })
    }
}

/// The mean number of shifts of each class among the 189 source boxes of a box. Shifts by three boxes along an axis
/// count half, because they occur for half of the boxes.
pub(super) const SHIFTS: [f64; CLASSES] = [
    6.0, 24.0, 24.0, 12.0, 24.0, 8.0, 3.0, 12.0, 12.0, 12.0, 24.0, 12.0, 3.0, 6.0, 6.0, 1.0,
];

/// The fraction of the 189 source boxes that exist for points of dimension `dimension`.
pub fn fill_of(dimension: f64) -> f64 {
    (6f64.powf(dimension) - 3f64.powf(dimension)) / 189.0
}

/// A leaf capacity that boxes with `mean` points on average hardly ever exceed: five standard deviations above the
/// mean.
pub fn capacity_of(mean: f64) -> usize {
    (mean + 5.0 * mean.sqrt()).ceil() as usize
}

/// The mean number of points for a capacity: the inverse of [`capacity_of`].
pub fn mean_of(capacity: usize) -> f64 {
    let root = (6.25 + capacity as f64).sqrt() - 2.5;
    (root * root).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Translation;
    use crate::tuning::class_of;

    #[test]
    fn shifts_of_each_class_match_the_interaction_list_of_a_box() {
        let mut counted = [0.0; CLASSES];
        for k in 0..343 {
            let shift = [k / 49 - 3, k / 7 % 7 - 3, k % 7 - 3];
            if let Some(class) = class_of(shift) {
                // A shift of three boxes exists for half of the boxes along its axis.
                let halves = shift.iter().filter(|c| c.abs() == 3).count();
                counted[class] += 0.5f64.powi(halves as i32);
            }
        }
        assert_eq!(counted, SHIFTS);
        assert_eq!(SHIFTS.iter().sum::<f64>(), 189.0);
    }

    #[test]
    fn the_best_leaf_costs_least() {
        let orders = [[6; CLASSES], [7; CLASSES]];
        let rates = Rates {
            leaf_pair: 0.3,
            translation: Translation::InSpace([10.0, 0.8, 0.07]),
            box_translations: 6.0,
            point_coefficient: 0.2,
            ..Rates::NONE
        };
        for dimension in [1.0, 2.0, 3.0] {
            let fmm = EvenFmm {
                points: 1e6,
                dimension,
                pair_runs: 2.0,
                streams: 3.0,
                orders: &orders,
                highest: 7,
            };
            let best = fmm.best_leaf_mean(&rates);
            let cost = |mean: f64| rates.fmm(&fmm.work(mean));
            assert!(
                cost(best) < cost(0.9 * best) && cost(best) < cost(1.1 * best),
                "{dimension}: {best}"
            );
        }
    }

    #[test]
    fn capacities_and_means_are_inverse() {
        for capacity in [20, 90, 500] {
            assert_eq!(capacity_of(mean_of(capacity)), capacity);
        }
    }
}
