//! The order of every M2L translation: least cost for a given error.
//!
//! The error of a sum over random signs is the root of the sum of squared errors over all pairs of points; that of
//! a sum over positive strengths is at worst the plain sum. Both are known for each level and class of shifts from
//! the numbers of points involved and [`truncation_error`]. A Lagrange multiplier weighs error against cost: each
//! (level, class) picks its order on its own, and the multiplier is raised until the total error is small enough.

use super::profile::OperatorCosts;
use super::truncation::{CLASSES, class_of, shift_of_class, truncation_error};
use crate::expansion::MAX_ORDER;
use crate::tree::lists::{SHIFTS, shift_of};
use crate::tree::{Lists, Octree};

/// Points that meet through M2L on one level.
#[derive(Debug, Clone, Copy)]
pub struct LevelWork {
    /// The side of the boxes.
    pub side: f64,
    /// Translations of each class.
    pub translations: [f64; CLASSES],
    /// Pairs of points of each class.
    pub pairs: [f64; CLASSES],
}

impl LevelWork {
    fn new(side: f64) -> Self {
        Self { side, translations: [0.0; CLASSES], pairs: [0.0; CLASSES] }
    }
}

/// The work of a whole sum, as far as errors go.
#[derive(Debug, Clone)]
pub struct Work {
    pub levels: Vec<LevelWork>,
    /// Near pairs: (side of the leaf, targets times sources, targets times sources of the leaf itself).
    pub near: Vec<(f64, f64, f64)>,
}

impl Work {
    /// Counts the work of a tree.
    pub fn of_tree(tree: &Octree, lists: &Lists) -> Self {
        let mut levels: Vec<LevelWork> =
            (0..tree.levels.len()).map(|level| LevelWork::new(tree.side_of(level as u32))).collect();
        let class_of_shift: Vec<Option<usize>> = (0..SHIFTS).map(|k| class_of(shift_of(k))).collect();
        for block in &lists.m2l {
            let level = &mut levels[block.level as usize];
            for (shift, pairs) in block.by_shift() {
                let Some(class) = class_of_shift[shift] else { continue };
                level.translations[class] += pairs.len() as f64;
                level.pairs[class] += pairs
                    .iter()
                    .map(|(t, s)| {
                        let (t, s) = (&tree.nodes[*t as usize], &tree.nodes[*s as usize]);
                        t.target_count() as f64 * s.source_count() as f64
                    })
                    .sum::<f64>();
            }
        }
        let mut near = vec![(0.0, 0.0, 0.0); tree.levels.len()];
        for (row, at) in lists.leaves.iter().enumerate() {
            let leaf = &tree.nodes[*at as usize];
            let (targets, own) = (leaf.target_count() as f64, leaf.source_count() as f64);
            let others: f64 = lists.p2p.row(row).iter().map(|(start, end)| f64::from(end - start)).sum();
            let entry = &mut near[leaf.level as usize];
            entry.0 = tree.side_of(leaf.level);
            entry.1 += targets * (own + others);
            entry.2 += targets * own;
        }
        near.retain(|entry| entry.1 > 0.0);
        Self { levels, near }
    }

    /// The work of `points` spread evenly in a cube cut into `2^depth` boxes a side (`depth` need not be whole).
    pub fn of_uniform_cube(points: f64, depth: f64) -> Self {
        let mut levels = Vec::new();
        let mut level = depth;
        while level >= 1.5 {
            let boxes = 2f64.powf(3.0 * level);
            let per_box = points / boxes;
            let mut work = LevelWork::new(2f64.powf(-level));
            for k in 0..SHIFTS {
                let shift = shift_of(k);
                let Some(class) = class_of(shift) else { continue };
                // A shift of 2 occurs for all children, one of 3 for half of them, along each axis, away from walls.
                let share: f64 = shift
                    .iter()
                    .map(|c| {
                        let parity = if c.abs() == 3 { 0.5 } else { 1.0 };
                        parity * (1.0 - f64::from(c.abs()) / 2f64.powf(level)).max(0.0)
                    })
                    .product();
                work.translations[class] += boxes * share;
                work.pairs[class] += boxes * share * per_box * per_box;
            }
            levels.push(work);
            level -= 1.0;
        }
        let per_box = points / 2f64.powf(3.0 * depth);
        Self { levels, near: vec![(2f64.powf(-depth), 27.0 * points * per_box, points * per_box)] }
    }

    /// The sum over all pairs of `r^-(2 + 2d)`, the square of what random signs add up to.
    fn squares(&self, derivatives: usize) -> f64 {
        let power = 2 + 2 * derivatives as i32;
        let far: f64 = self
            .levels
            .iter()
            .flat_map(|level| {
                level.pairs.iter().enumerate().map(move |(class, pairs)| {
                    pairs * (distance(class) * level.side).powi(-power)
                })
            })
            .sum();
        // Over the 27 boxes around a point the mean of 1/r^2 is 0.8 side^-2. For derivatives the closest pairs of a
        // leaf dominate; counting them as if points avoided each other underestimates the sum, which is safe.
        let near: f64 = self
            .near
            .iter()
            .map(|(side, pairs, own)| {
                let evenly = 0.8 * pairs * side.powi(-power);
                let closest = if derivatives == 0 { 0.0 } else { 0.5 * own * side.powi(-power) };
                evenly + closest
            })
            .sum();
        far + near
    }

    /// The sum over all pairs of `r^-(1 + d)`: what positive strengths add up to, were directions equal.
    fn plain(&self, derivatives: usize) -> f64 {
        let power = 1 + derivatives as i32;
        let far: f64 = self
            .levels
            .iter()
            .flat_map(|level| {
                level.pairs.iter().enumerate().map(move |(class, pairs)| {
                    pairs * (distance(class) * level.side).powi(-power)
                })
            })
            .sum();
        far + self.near.iter().map(|(side, pairs, _)| pairs * side.powi(-power)).sum::<f64>()
    }
}

fn distance(class: usize) -> f64 {
    shift_of_class(class).iter().map(|c| f64::from(c * c)).sum::<f64>().sqrt()
}

/// The orders chosen, and what the model expects of them.
#[derive(Debug, Clone)]
pub struct Orders {
    /// For each level and class.
    pub by_level: Vec<[u8; CLASSES]>,
    /// The highest of them.
    pub highest: usize,
    /// Nanoseconds of all M2L translations of one stream.
    pub cost: f64,
}

impl Orders {
    /// One order for everything.
    pub fn constant(order: usize, levels: usize) -> Self {
        Self { by_level: vec![[order as u8; CLASSES]; levels], highest: order, cost: 0.0 }
    }

    /// Orders by level and shift.
    pub fn by_shift(&self) -> Vec<[u8; SHIFTS]> {
        self.by_level
            .iter()
            .map(|classes| {
                std::array::from_fn(|shift| class_of(shift_of(shift)).map_or(0, |class| classes[class]))
            })
            .collect()
    }
}

/// The part of the tolerance given to truncation for random signs; the rest covers unevenly filled boxes.
const RANDOM_SHARE: f64 = 0.45;
/// The same for positive strengths, where errors of neighbouring sources cancel in part.
const POSITIVE_SHARE: f64 = 2.0;

/// Chooses the cheapest orders with which every output (given by its number of derivatives) meets `tolerance`.
pub fn choose(work: &Work, derivatives: &[usize], tolerance: f64, costs: &OperatorCosts) -> Orders {
    let squares: Vec<f64> = derivatives.iter().map(|d| work.squares(*d)).collect();
    let plain: Vec<f64> = derivatives.iter().map(|d| work.plain(*d)).collect();
    // Squared relative error, and relative error, that (level, class) adds at an order.
    let random = |level: &LevelWork, class: usize, order: usize| -> f64 {
        let sum = derivatives.iter().zip(&squares).map(|(d, whole)| {
            let error = truncation_error(class, order, *d) * level.side.powi(-1 - *d as i32);
            error * error / whole
        });
        level.pairs[class] * sum.fold(0.0, f64::max)
    };
    let positive = |level: &LevelWork, class: usize, order: usize| -> f64 {
        let sum = derivatives.iter().zip(&plain).map(|(d, whole)| {
            truncation_error(class, order, *d) * level.side.powi(-1 - *d as i32) / whole
        });
        level.pairs[class] * sum.fold(0.0, f64::max)
    };
    let m2l: Vec<f64> = (0..=MAX_ORDER).map(|order| costs.m2l(order)).collect();
    let pick = |multiplier: f64| -> (Orders, bool) {
        let mut orders = Orders { by_level: Vec::new(), highest: 1, cost: 0.0 };
        let (mut random_error, mut positive_error) = (0.0, 0.0);
        for level in &work.levels {
            let mut row = [1u8; CLASSES];
            for class in 0..CLASSES {
                if level.translations[class] == 0.0 {
                    continue;
                }
                let price = |order: usize| {
                    level.translations[class] * m2l[order] + multiplier * random(level, class, order)
                };
                let best = (1..=MAX_ORDER).min_by(|a, b| price(*a).total_cmp(&price(*b))).unwrap_or(MAX_ORDER);
                row[class] = best as u8;
                orders.highest = orders.highest.max(best);
                orders.cost += level.translations[class] * m2l[best];
                random_error += random(level, class, best);
                positive_error += positive(level, class, best);
            }
            orders.by_level.push(row);
        }
        let fits = random_error.sqrt() <= RANDOM_SHARE * tolerance && positive_error <= POSITIVE_SHARE * tolerance;
        (orders, fits)
    };
    // The multiplier spans many decades; the error falls monotonically with it.
    let (mut low, mut high) = (-10.0f64, 60.0f64);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if pick(middle.exp2().powi(2)).1 { high = middle } else { low = middle }
    }
    pick(high.exp2().powi(2)).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::MachineProfile;

    #[test]
    fn tighter_tolerances_cost_more_and_far_shifts_need_less() {
        let costs = MachineProfile::default().f64;
        let work = Work::of_uniform_cube(1e6, 28f64.log2());
        let mut before = 0.0;
        for tolerance in [1e-2, 1e-4, 1e-6, 1e-9, 1e-12] {
            let orders = choose(&work, &[0], tolerance, &costs);
            assert!(orders.cost > before);
            before = orders.cost;
            let finest = orders.by_level[0];
            assert!(finest[0] >= finest[6] && finest[6] >= finest[15], "{finest:?}");
            assert!(orders.by_level.last().unwrap()[0] >= finest[0]);
            let gradient = choose(&work, &[0, 1], tolerance, &costs);
            assert!(gradient.highest >= orders.highest);
        }
    }
}
