//! The order of every M2L translation: the least cost for a given error.
//!
//! The error of a sum with random signs is the root of the sum of squared errors over all pairs of points. The error
//! of a sum with positive strengths is at worst the plain sum of errors. Both follow, for each level and class of
//! shifts, from the numbers of points and [`truncation_error`]. A Lagrange multiplier weighs error against cost: each
//! (level, class) chooses its order independently, and the multiplier is raised until the total error is small enough.

use super::truncation::{CLASSES, class_of, shift_of_class, truncation_error};
use crate::cost::OperatorCosts;
use crate::cost::space::fill_of;
use crate::expansion::{MAX_ORDER, coefficient_count};
use crate::simd::Real;
use crate::tree::lists::{SHIFTS, shift_of};
use crate::tree::octree::Node;
use crate::tree::{Lists, Octree};
use rayon::prelude::*;
use std::f64::consts::PI;

/// The M2L work of one level.
#[derive(Debug, Clone, Copy)]
pub struct LevelWork {
    /// The side of the boxes.
    pub side: f64,
    /// The number of translations of each class.
    pub translations: [f64; CLASSES],
    /// The number of pairs of points of each class.
    pub pairs: [f64; CLASSES],
    /// The pairs from or to boxes whose points are concentrated in one spot ([`is_crowded`]).
    pub crowded_pairs: [f64; CLASSES],
}

impl LevelWork {
    pub fn new(side: f64) -> Self {
        Self {
            side,
            translations: [0.0; CLASSES],
            pairs: [0.0; CLASSES],
            crowded_pairs: [0.0; CLASSES],
        }
    }
}

/// The work of a sum, as far as its error depends on it.
#[derive(Debug, Clone)]
pub struct Work {
    pub levels: Vec<LevelWork>,
    /// Pairs of points in leaves and with their neighbours, by size of the leaf.
    pub near: Vec<NearWork>,
    /// The sums of r^-4, r^-6 and r^-8 over near pairs. The closest pairs dominate derivatives, and means over boxes
    /// miss them.
    pub near_derivatives: [f64; 3],
    /// The dimension of the set of points: 3 if they fill a volume.
    pub dimension: f64,
    /// The fraction of the 189 source boxes of a box inside a volume that exist; mirrored ones are translated
    /// together. Zero on a GPU, which translates each separately.
    pub fill: f64,
}

/// The shape of the points of a tree.
#[derive(Debug, Clone, Copy)]
pub struct PointShape {
    /// The dimension of the set: 3 for a volume, 2 for a surface, 1 for a line.
    pub dimension: f64,
    /// The largest core size.
    pub core: f64,
}

/// Pairs of points near leaves of one size.
#[derive(Debug, Clone, Copy, Default)]
pub struct NearWork {
    /// The side of the leaves.
    pub side: f64,
    /// The number of pairs between targets in these leaves and near sources.
    pub pairs: f64,
}

impl Work {
    /// Counts the work of a tree.
    pub fn of_tree<T: Real>(
        tree: &Octree,
        lists: &Lists,
        sources: &[[T; 3]],
        targets: &[[T; 3]],
        shape: PointShape,
    ) -> Self {
        let mut levels: Vec<LevelWork> = (0..tree.levels.len())
            .map(|level| LevelWork::new(tree.side_of(level as u32)))
            .collect();
        let class_of_shift: Vec<Option<usize>> = (0..SHIFTS).map(|k| class_of(shift_of(k))).collect();
        let points = |(t, s): &(u32, u32)| {
            tree.nodes[*t as usize].target_count() as f64 * tree.nodes[*s as usize].source_count() as f64
        };
        let crowded: Vec<bool> = tree.nodes.par_iter().map(|node| is_crowded(tree, node)).collect();
        let of_blocks: Vec<LevelWork> = lists
            .m2l
            .par_iter()
            .map(|block| {
                let mut work = LevelWork::new(0.0);
                for (shift, pairs) in block.by_shift() {
                    let Some(class) = class_of_shift[shift] else { continue };
                    work.translations[class] += pairs.len() as f64;
                    for pair in pairs {
                        work.pairs[class] += points(pair);
                        if crowded[pair.0 as usize] || crowded[pair.1 as usize] {
                            work.crowded_pairs[class] += points(pair);
                        }
                    }
                }
                work
            })
            .collect();
        for (block, work) in lists.m2l.iter().zip(of_blocks) {
            let level = &mut levels[block.level as usize];
            for class in 0..CLASSES {
                level.translations[class] += work.translations[class];
                level.pairs[class] += work.pairs[class];
                level.crowded_pairs[class] += work.crowded_pairs[class];
            }
        }
        if lists.counts.m2l == 0 {
            // Expansions meet points alone. They count as if two boxes apart: points in the place of a box only make the error smaller.
            let to_leaves = lists.leaves.iter().enumerate();
            let m2p =
                to_leaves.flat_map(|(row, leaf)| lists.m2p.row(row).iter().map(|source| (*leaf, *source, *source)));
            let to_boxes = lists.p2l_boxes.iter().enumerate();
            let p2l =
                to_boxes.flat_map(|(row, target)| lists.p2l.row(row).iter().map(|leaf| (*target, *leaf, *target)));
            for (target, source, expansion) in m2p.chain(p2l) {
                let level = &mut levels[tree.nodes[expansion as usize].level as usize];
                level.translations[0] += 1.0;
                level.pairs[0] += points(&(target, source));
                if crowded[expansion as usize] {
                    level.crowded_pairs[0] += points(&(target, source));
                }
            }
        }
        let mut near = vec![NearWork::default(); tree.levels.len()];
        for (row, at) in lists.leaves.iter().enumerate() {
            let leaf = &tree.nodes[*at as usize];
            let (targets, own) = (leaf.target_count() as f64, leaf.source_count() as f64);
            let others: f64 = lists
                .p2p
                .row(row)
                .iter()
                .map(|(start, end)| f64::from(end - start))
                .sum();
            let entry = &mut near[leaf.level as usize];
            entry.side = tree.side_of(leaf.level);
            entry.pairs += targets * (own + others);
        }
        near.retain(|entry| entry.pairs > 0.0);
        Self {
            levels,
            near,
            near_derivatives: near_derivatives(tree, lists, sources, targets, shape.core),
            dimension: shape.dimension,
            fill: fill_of(shape.dimension),
        }
    }

    /// The work of `points` points with cores of size `core`, uniformly distributed in a unit cube with `2^depth`
    /// boxes per side (`depth` need not be an integer).
    pub fn of_uniform_cube(points: f64, depth: f64, core: f64) -> Self {
        let mut levels = Vec::new();
        let mut level = depth;
        while level >= 1.5 {
            let boxes = 2f64.powf(3.0 * level);
            let per_box = points / boxes;
            let mut work = LevelWork::new(2f64.powf(-level));
            for k in 0..SHIFTS {
                let shift = shift_of(k);
                let Some(class) = class_of(shift) else { continue };
                // Along each axis, away from the walls, a shift of 2 occurs for all children, a shift of 3 for half of
                // them.
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
        let near = NearWork {
            side: 2f64.powf(-depth),
            pairs: 27.0 * points * per_box,
        };
        // For n random points in a box of side h: about 60 n^(4/3) h^-4, 500 n^2 h^-6 and 12000 n^(8/3) h^-8 per point
        // (without the largest two per cent).
        let singular = [
            60.0 * per_box.powf(4.0 / 3.0) * near.side.powi(-4),
            500.0 * per_box.powi(2) * near.side.powi(-6),
            12000.0 * per_box.powf(8.0 / 3.0) * near.side.powi(-8),
        ];
        // Integrals over all space with r^2 + 4 s^2 in place of r^2, as in `near_derivatives`.
        let softened =
            [2.0 * core, 32.0 * core.powi(3), 256.0 * core.powi(5)].map(|volume| points * PI.powi(2) / volume);
        let near_derivatives = [0, 1, 2].map(|k| singular[k].min(softened[k]));
        Self {
            levels,
            near: vec![near],
            near_derivatives: near_derivatives.map(|sum| points * sum),
            dimension: 3.0,
            fill: 1.0,
        }
    }

    /// One if the points fill a volume so evenly that all leaves have the same size, zero for surfaces, curves and
    /// clusters.
    fn evenness(&self) -> f64 {
        let all: f64 = self.near.iter().map(|near| near.pairs).sum();
        let most = self.near.iter().map(|near| near.pairs).fold(0.0, f64::max);
        let one_size = if all > 0.0 { most / all } else { 0.0 };
        (self.dimension - 2.0).clamp(0.0, 1.0) * ((one_size - 0.8) / 0.2).clamp(0.0, 1.0)
    }

    /// The sum over all pairs of `r^-(2 + 2d)`: the expected square of a sum with random signs.
    fn squares(&self, derivatives: usize) -> f64 {
        let near: f64 = match derivatives.checked_sub(1) {
            // The mean of 1/r^2 over the 27 boxes around a point is 0.8 side^-2.
            None => self.near.iter().map(|near| 0.8 * near.pairs * near.side.powi(-2)).sum(),
            Some(k) => self.near_derivatives[k],
        };
        self.far(2 + 2 * derivatives as i32) + near
    }

    /// The sum over all pairs of `r^-(1 + d)`: the sum with positive strengths if all directions were equal.
    fn plain(&self, derivatives: usize) -> f64 {
        let power = 1 + derivatives as i32;
        let near: f64 = self.near.iter().map(|near| near.pairs * near.side.powi(-power)).sum();
        self.far(power) + near
    }

    /// The sum of `r^-power` over all pairs of boxes that translations serve.
    fn far(&self, power: i32) -> f64 {
        let of_level = |level: &LevelWork| {
            let side = level.side;
            let pairs = level.pairs.into_iter().enumerate();
            pairs.map(move |(class, pairs)| pairs * (distance(class) * side).powi(-power))
        };
        self.levels.iter().flat_map(of_level).sum()
    }
}

/// Whether all points of a box lie within an eighth of its side, possibly in a corner. Errors then differ greatly from
/// the mean over evenly filled boxes.
fn is_crowded(tree: &Octree, node: &Node) -> bool {
    let mut node = node;
    for _ in 0..3 {
        if node.children.len() != 1 {
            return false;
        }
        node = &tree.nodes[node.children.start as usize];
    }
    true
}

/// The factor by which the error between points in corners exceeds the mean over evenly filled boxes. For two clusters
/// in corners of boxes at a shift of two it is 130 at order 30; 300 is not enough at the orders of 1e-12.
const CROWDED_FACTOR: f64 = 3000.0;

/// The sums of r^-4, r^-6 and r^-8 over near pairs, from a sample of targets without its largest values.
///
/// Pairs within a core of size s contribute little. Replacing $r^2$ by $r^2 + 4s^2$ overestimates no core's kernel
/// except close to its centre, where there are few pairs.
fn near_derivatives<T: Real>(
    tree: &Octree,
    lists: &Lists,
    sources: &[[T; 3]],
    targets: &[[T; 3]],
    core: f64,
) -> [f64; 3] {
    /// The largest number of sampled targets, one per leaf, and of sources per target.
    const SAMPLE: usize = 512;
    const MOST_SOURCES: usize = 4096;
    let permutation = tree.target_permutation();
    let stride = lists.leaves.len().div_ceil(SAMPLE).max(1);
    let mut sums: Vec<[f64; 3]> = (0..lists.leaves.len())
        .into_par_iter()
        .step_by(stride)
        .map(|row| {
            let leaf = &tree.nodes[lists.leaves[row] as usize];
            let target = targets[permutation[leaf.targets.start as usize] as usize].map(Real::to_f64);
            let others = lists.p2p.row(row).iter().map(|(start, end)| *start..*end);
            let near = std::iter::once(leaf.sources.clone()).chain(others).flatten();
            let mut sums = [0.0; 3];
            for k in near.take(MOST_SOURCES) {
                let source = sources[tree.source_permutation[k as usize] as usize];
                let r2: f64 = (0..3).map(|axis| (source[axis].to_f64() - target[axis]).powi(2)).sum();
                if r2 > 0.0 {
                    let s2 = r2 + 4.0 * core * core;
                    sums[0] += s2.powi(-2);
                    sums[1] += s2.powi(-3);
                    sums[2] += s2.powi(-4);
                }
            }
            sums
        })
        .collect();
    sums.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]));
    let kept = sums.len() - sums.len() / 50;
    let mean = |k: usize| sums[..kept].iter().map(|s| s[k]).sum::<f64>() / sums.len().max(1) as f64;
    [mean(0), mean(1), mean(2)].map(|mean| mean * targets.len() as f64)
}

fn distance(class: usize) -> f64 {
    shift_of_class(class)
        .iter()
        .map(|c| f64::from(c * c))
        .sum::<f64>()
        .sqrt()
}

/// The chosen orders and their expected cost.
#[derive(Debug, Clone)]
pub struct Orders {
    /// The order of each level and class.
    pub by_level: Vec<[u8; CLASSES]>,
    /// The highest order.
    pub highest: usize,
    /// The cost of all M2L translations of one expansion per box, in nanoseconds.
    pub cost: f64,
}

impl Orders {
    /// The same order for all levels and classes.
    pub fn constant(order: usize, levels: usize) -> Self {
        Self {
            by_level: vec![[order as u8; CLASSES]; levels],
            highest: order,
            cost: 0.0,
        }
    }

    /// Orders by level and shift.
    pub fn by_shift(&self) -> Vec<[u8; SHIFTS]> {
        self.by_level
            .iter()
            .map(|classes| std::array::from_fn(|shift| class_of(shift_of(shift)).map_or(0, |class| classes[class])))
            .collect()
    }
}

/// Higher orders for a sum whose measured error is too large.
#[derive(Debug, Clone)]
pub struct Raised {
    /// The highest degree kept in expansions.
    pub order: usize,
    /// For each level and shift, the order of M2L.
    pub m2l_orders: Vec<[u8; SHIFTS]>,
}

/// The smallest ratio of measured to expected squared error that is used.
const LEAST_SURPRISE: f64 = 0.1;

impl Raised {
    /// The cheapest orders, none lower than `before`, that reduce the largest of the `measured` errors by `factor`.
    /// Each entry of `measured` has the number of derivatives, the sum of squared values and the relative error. The
    /// pairs of `levels` count targets times squared strengths: the model distributes the error over the levels, and
    /// the measurement gives its size.
    pub fn new(
        before: &[[u8; SHIFTS]],
        levels: &[LevelWork],
        measured: &[(usize, f64, f64)],
        factor: f64,
    ) -> Option<Self> {
        let class_order = |level: usize, class: usize| {
            let shift = shift_of_class(class);
            usize::from(before[level][crate::tree::lists::shift_index(shift)])
        };
        let error2 = |level: usize, class: usize, order: usize, d: usize| {
            let error = truncation_error(class, order, d) * levels[level].side.powi(-1 - d as i32);
            levels[level].pairs[class] * error * error
        };
        let goal = measured.iter().map(|(_, _, error)| *error).fold(0.0, f64::max) / factor;
        let work = || (0..levels.len()).flat_map(|level| (0..CLASSES).map(move |class| (level, class)));
        // For each output, the ratio of measured to expected squared error, in units of the squared goal.
        let scales: Vec<(usize, f64)> = measured
            .iter()
            .map(|(d, square, error)| {
                let expected: f64 = work()
                    .map(|(level, class)| error2(level, class, class_order(level, class), *d))
                    .sum();
                let surprise = (error * error * square / expected).max(LEAST_SURPRISE);
                (*d, surprise / (square * goal * goal))
            })
            .filter(|(_, scale)| scale.is_finite())
            .collect();
        let choices: Vec<Choice> = work()
            .filter(|(level, class)| levels[*level].translations[*class] > 0.0)
            .map(|(level, class)| Choice {
                level,
                class,
                by_order: (0..=MAX_ORDER)
                    .map(|order| {
                        let worst = scales
                            .iter()
                            .map(|(d, scale)| scale * error2(level, class, order, *d))
                            .fold(0.0, f64::max);
                        [
                            levels[level].translations[class] * (order as f64 + 2.0).powi(3),
                            worst,
                            0.0,
                        ]
                    })
                    .collect(),
            })
            .collect();
        let orders = cheapest(&choices, levels.len(), MAX_ORDER, 1.0)?;
        let highest_before = before.iter().flatten().copied().max().unwrap_or(0);
        let mut m2l_orders = orders.by_shift();
        let mut is_higher = false;
        for (level, before) in m2l_orders.iter_mut().zip(before) {
            for (order, before) in level.iter_mut().zip(before) {
                is_higher |= *order > *before && *before > 0;
                *order = (*order).max(*before);
            }
        }
        let order = orders.highest.max(usize::from(highest_before));
        is_higher.then_some(Self { order, m2l_orders })
    }

    /// Raises every order by the number that usually reduces the error by `factor`.
    pub fn everywhere(before: &[[u8; SHIFTS]], order: usize, factor: f64) -> Option<Self> {
        let more = (factor.ln() / 1.7f64.ln()).ceil().clamp(1.0, MAX_ORDER as f64) as usize;
        let raise = |order: u8| {
            if order == 0 {
                0
            } else {
                (usize::from(order) + more).min(MAX_ORDER) as u8
            }
        };
        (order < MAX_ORDER).then(|| Self {
            order: (order + more).min(MAX_ORDER),
            m2l_orders: before.iter().map(|orders| orders.map(raise)).collect(),
        })
    }
}

/// The share of the tolerance given to truncation for random signs; the rest covers unevenly filled boxes. At the
/// tightest tolerances, and so the highest orders, a few pairs near corners cause all of the error, and there may be
/// more of them than on average: the share shrinks.
///
/// For the gradient of points that fill a volume evenly the share is larger, twice as large at tolerances of 1e-6 and
/// looser: the closest pairs dominate the values that the error is relative to, and the sample of near pairs leaves
/// out the largest. The error measured on cubes is then 0.1 to 0.3 of the tolerance. A Plummer sphere or points on a
/// curve fill their boxes so unevenly that the error could exceed the tolerance, and at 1e-9 it is 0.7 of the
/// tolerance even on a cube.
fn random_share(derivatives: usize, evenness: f64, tolerance: f64) -> f64 {
    let looseness = ((tolerance / 1e-9).log10() / 3.0).clamp(0.0, 1.0);
    let more = if derivatives == 1 { evenness * looseness } else { 0.0 };
    0.2 * (1.0 + more) * (tolerance / 1e-9).powf(0.27).min(1.0)
}

/// The factor by which the plain sum of errors may exceed the tolerance for positive strengths: errors of neighbouring
/// sources cancel, more so at higher orders. Measured on all point sets; a Plummer sphere (potential and gradient) and
/// a line (potential) cancel least.
fn positive_share(derivatives: usize, tolerance: f64) -> f64 {
    if derivatives == 0 {
        7.0
    } else {
        7.0 * (1e-2 / tolerance).powf(0.1)
    }
}

/// The cost and error of one (level, class) of translations, by order: the cost in nanoseconds, the squared relative
/// error for random signs and the relative error for positive strengths, both in units of their share.
struct Choice {
    level: usize,
    class: usize,
    by_order: Vec<[f64; 3]>,
}

/// Chooses the cheapest orders with which every output, given by its number of derivatives, meets `tolerance`.
/// `per_coefficient` is the cost, in nanoseconds, of one more coefficient in the P2M and L2P of all points.
pub fn choose(
    work: &Work,
    derivatives: &[usize],
    tolerance: f64,
    costs: &OperatorCosts,
    per_coefficient: f64,
) -> Orders {
    let choices = choices(work, derivatives, tolerance, costs);
    let levels = work.levels.len();
    let mut best = cheapest(&choices, levels, MAX_ORDER, tolerance);
    // Lower the highest order while the savings in P2M and L2P exceed the additional cost of M2L.
    let total = |orders: &Orders| orders.cost + per_coefficient * coefficient_count(orders.highest) as f64;
    let highest = best.as_ref().map_or(MAX_ORDER, |orders| orders.highest);
    for cap in (highest.saturating_sub(8).max(1)..highest).rev() {
        let Some(capped) = cheapest(&choices, levels, cap, tolerance) else {
            break;
        };
        match &best {
            Some(orders) if total(&capped) >= total(orders) => {}
            _ => best = Some(capped),
        }
    }
    best.unwrap_or_else(|| Orders::constant(MAX_ORDER, levels))
}

fn choices(work: &Work, derivatives: &[usize], tolerance: f64, costs: &OperatorCosts) -> Vec<Choice> {
    let wholes: Vec<(usize, f64, f64)> = derivatives
        .iter()
        .map(|d| (*d, work.squares(*d), work.plain(*d) * positive_share(*d, tolerance)))
        .collect();
    let evenness = work.evenness();
    let mut choices = Vec::new();
    for (at, level) in work.levels.iter().enumerate() {
        for class in (0..CLASSES).filter(|class| level.translations[*class] > 0.0) {
            let of_order = |order: usize| {
                let mut errors = [0.0f64; 2];
                for (d, squares, plain) in &wholes {
                    let scale = level.side.powi(-1 - *d as i32);
                    let mean = truncation_error(class, order, *d);
                    let worst = CROWDED_FACTOR * mean;
                    let (pairs, crowded) = (level.pairs[class], level.crowded_pairs[class]);
                    let share = random_share(*d, evenness, tolerance);
                    let random =
                        (pairs * mean * mean + crowded * worst * worst) * scale * scale / squares / (share * share);
                    let positive = (pairs * mean + crowded * worst) * scale / plain;
                    errors = [errors[0].max(random), errors[1].max(positive)];
                }
                let cost = costs.m2l_in_class(class, order, work.fill);
                [level.translations[class] * cost, errors[0], errors[1]]
            };
            choices.push(Choice {
                level: at,
                class,
                by_order: (0..=MAX_ORDER).map(of_order).collect(),
            });
        }
    }
    choices
}

/// The cheapest orders up to `cap` that keep the tolerance, if there are any.
fn cheapest(choices: &[Choice], levels: usize, cap: usize, tolerance: f64) -> Option<Orders> {
    let random_limit = tolerance.powi(2);
    let pick = |multiplier: f64| -> (Orders, bool) {
        let mut orders = Orders {
            by_level: vec![[1; CLASSES]; levels],
            highest: 1,
            cost: 0.0,
        };
        let (mut random, mut positive) = (0.0, 0.0);
        for Choice { level, class, by_order } in choices {
            let price = |order: usize| {
                let [cost, random, positive] = by_order[order];
                cost + multiplier * (random / random_limit + positive / tolerance)
            };
            let best = (1..=cap).fold(1, |best, order| if price(order) < price(best) { order } else { best });
            orders.by_level[*level][*class] = best as u8;
            orders.highest = orders.highest.max(best);
            orders.cost += by_order[best][0];
            random += by_order[best][1];
            positive += by_order[best][2];
        }
        (orders, random <= random_limit && positive <= tolerance)
    };
    // The multiplier spans many decades; the error falls monotonically with it.
    let (mut low, mut high) = (-20.0f64, 90.0f64);
    let mut best = None;
    for _ in 0..32 {
        let middle = 0.5 * (low + high);
        let (orders, fits) = pick(middle.exp2());
        if fits {
            (high, best) = (middle, Some(orders));
        } else {
            low = middle;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::MachineProfile;

    #[test]
    fn tighter_tolerances_cost_more_and_far_shifts_need_less() {
        let costs = MachineProfile::default().f64;
        let work = Work::of_uniform_cube(1e6, 28f64.log2(), 0.0);
        let mut before = 0.0;
        for tolerance in [1e-2, 1e-4, 1e-6, 1e-9, 1e-12] {
            let orders = choose(&work, &[0], tolerance, &costs, 0.0);
            assert!(orders.cost > before);
            before = orders.cost;
            let finest = orders.by_level[0];
            assert!(finest[0] >= finest[6] && finest[6] >= finest[15], "{finest:?}");
            assert!(orders.by_level.last().unwrap()[0] >= finest[0]);
            let gradient = choose(&work, &[0, 1], tolerance, &costs, 0.0);
            // No order is enough for gradients at 1e-12: then all are the highest. Otherwise one multiplier for both
            // errors finds nearly the cheapest orders.
            let enough = gradient.highest < MAX_ORDER;
            assert!(!enough || gradient.cost >= 0.95 * orders.cost, "{tolerance:e}");
            assert!(enough || tolerance < 1e-11);
        }
    }
}
