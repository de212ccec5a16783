//! An FMM in space, counted: points spread evenly over a volume, a surface or a line.

use super::{Rates, Work};
use crate::expansion::coefficient_count;
use crate::tuning::CLASSES;

/// An FMM over points spread evenly, but for the size of its leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvenFmm<'a> {
    /// The larger number of sources and targets.
    pub points: f64,
    /// Of the points: 3 for a volume, 2 for a surface, 1 for a line.
    pub dimension: f64,
    /// What pairs of all strength vectors cost, where those of one cost one.
    pub pair_runs: f64,
    /// Expansions of a box.
    pub streams: f64,
    /// The order of each class of translations, the leaves' level first; coarser ones than the last are like it.
    pub orders: &'a [[u8; CLASSES]],
    /// The highest of them.
    pub highest: usize,
}

impl EvenFmm<'_> {
    /// The work with so many points in a leaf.
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

    /// Points a leaf should hold for pairs and expansions together to cost least.
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

    /// P2M and L2P.
    fn coefficients_of_point(&self) -> f64 {
        2.0 * self.streams * coefficient_count(self.highest) as f64
    }

    /// The translations of a leaf of one stream, those of all coarser levels shared among the leaves: order and number.
    fn translations(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let finer = 2f64.powf(-self.dimension);
        let share = fill_of(self.dimension);
        let last = self.orders.len().saturating_sub(1);
        let levels = self.orders.iter().enumerate().map(move |(level, orders)| {
            let here = share * finer.powi(level as i32);
            // Every level above the last has a share of it.
            (orders, if level == last { here / (1.0 - finer) } else { here })
        });
        levels.flat_map(|(orders, share)| {
            (0..CLASSES).map(move |class| (usize::from(orders[class]), share * SHIFTS[class]))
        })
    }
}

/// Shifts of each class among the 189 boxes that act on one; of shifts by three boxes along an axis, half.
pub(super) const SHIFTS: [f64; CLASSES] = [
    6.0, 24.0, 24.0, 12.0, 24.0, 8.0, 3.0, 12.0, 12.0, 12.0, 24.0, 12.0, 3.0, 6.0, 6.0, 1.0,
];

/// The part of those 189 boxes that points of a dimension fill.
pub fn fill_of(dimension: f64) -> f64 {
    (6f64.powf(dimension) - 3f64.powf(dimension)) / 189.0
}

/// A capacity that chance does not exceed where boxes hold `mean` points on average: five standard deviations more.
pub fn capacity_of(mean: f64) -> usize {
    (mean + 5.0 * mean.sqrt()).ceil() as usize
}

/// The mean that goes with a capacity.
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
    fn shifts_of_each_class_are_those_of_the_boxes_that_act_on_one() {
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
