//! The size of the boxes.

use super::orders::{Work, choose};
use crate::cost::space::{EvenFmm, capacity_of, fill_of};
use crate::cost::{OperatorCosts, Rates};
use crate::points::Random;
use crate::simd::Real;
use crate::tree::morton::{self, KEY_LEVELS};
use crate::tree::octree::bounds;

/// The number of boxes that cover a point set: `log2 boxes` for sides halved 0, 1, 2 ... times, extrapolated beyond.
#[derive(Debug, Clone)]
pub struct Coverage {
    boxes: Vec<f64>,
}

/// The number of points sampled to find the shape of a set.
const SAMPLE: usize = 1 << 16;

impl Coverage {
    /// Counts the occupied boxes of a sample, level by level, while boxes hold several sampled points.
    pub fn of<T: Real>(points: &[[T; 3]]) -> Self {
        let (corner, extent) = bounds(&[points]);
        let side = extent.into_iter().fold(0.0, f64::max);
        if side == 0.0 {
            return Self { boxes: vec![0.0, 0.0] };
        }
        let count = points.len().min(SAMPLE);
        let mut keys: Vec<u32> = Random::new(0)
            .one_of_each_stretch(points.len(), SAMPLE)
            .map(|at| {
                morton::key(
                    points[at].map(Real::to_f64),
                    corner,
                    1.0 / (side * (1.0 + 1e-12)),
                    KEY_LEVELS,
                )
            })
            .collect();
        keys.sort_unstable();
        let mut boxes = vec![0.0];
        for level in 1..=KEY_LEVELS {
            let shift = 3 * (KEY_LEVELS - level);
            let occupied = 1 + keys
                .windows(2)
                .filter(|pair| pair[0] >> shift != pair[1] >> shift)
                .count();
            if occupied * 8 > count && level > 2 {
                break;
            }
            boxes.push((occupied as f64).log2());
        }
        Self { boxes }
    }

    /// The coverage of points that fill a cube.
    pub fn of_volume() -> Self {
        Self { boxes: vec![0.0, 3.0] }
    }

    /// The dimension of the set at its finest known scale: 3 for a volume, 2 for a surface, 1 for a line.
    pub fn dimension(&self) -> f64 {
        let n = self.boxes.len();
        (self.boxes[n - 1] - self.boxes[n - 2]).clamp(0.5, 3.0)
    }

    /// The number of times, not an integer, that the side must be halved for `2^log2_boxes` boxes.
    pub fn halvings(&self, log2_boxes: f64) -> f64 {
        for (level, pair) in self.boxes.windows(2).enumerate() {
            if log2_boxes <= pair[1] && pair[1] > pair[0] {
                return level as f64 + (log2_boxes - pair[0]).max(0.0) / (pair[1] - pair[0]);
            }
        }
        let last = self.boxes.len() - 1;
        last as f64 + (log2_boxes - self.boxes[last]) / self.dimension()
    }
}

/// The tree that the model proposes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proposal {
    /// The dimension of the points: 3 for a volume, 2 for a surface, 1 for a line.
    pub dimension: f64,
    /// The side of the root cube divided by the extent of the points.
    pub root_scale: f64,
    /// Boxes along the longest side, for uniformly distributed points.
    pub boxes_per_side: f64,
    /// The mean number of points per leaf.
    pub leaf_mean: f64,
    /// The largest number of points per leaf.
    pub leaf_capacity: usize,
    /// The highest order expected.
    pub order: usize,
    /// The mean cost of one M2L of one expansion, in nanoseconds.
    pub m2l_cost: f64,
    /// The expected cost of the sum on one thread, in nanoseconds.
    pub cost: f64,
}

impl Proposal {
    /// For direct sums, which have no boxes.
    pub const NO_BOXES: Self = Self {
        dimension: 3.0,
        root_scale: 1.0,
        boxes_per_side: 1.0,
        leaf_mean: 1.0,
        leaf_capacity: 1,
        order: 0,
        m2l_cost: 0.0,
        cost: f64::INFINITY,
    };

    /// The root scale if no box may be smaller than the fraction `least` of the extent. Boxes that would be smaller
    /// get that size; with an unchanged root, halving could stop at almost twice that size.
    pub fn root_scale_for(&self, least: f64) -> f64 {
        let most = ((1.0 - 1e-9) / least).floor().max(1.0);
        if least <= 0.0 || self.boxes_per_side <= most {
            return self.root_scale;
        }
        scale_for(most)
    }
}

/// The factor by which the root cube must exceed the extent of the points for `boxes_per_side` boxes of a tree to
/// cover it.
fn scale_for(boxes_per_side: f64) -> f64 {
    let halvings = boxes_per_side.log2();
    2f64.powf(halvings.ceil() - halvings)
}

/// The sum for which the size of the boxes is chosen.
#[derive(Debug, Clone, Copy)]
pub struct Demand<'a> {
    /// The number of sources or of targets, whichever is larger.
    pub points: usize,
    /// The number of derivatives of each output.
    pub derivatives: &'a [usize],
    /// The relative error allowed.
    pub tolerance: f64,
    /// The cost of a pair for all strength vectors, relative to its cost for one vector.
    pub pair_runs: f64,
    /// Expansions per box.
    pub streams: f64,
    /// The costs of operations.
    pub rates: Rates,
}

/// Chooses the box size with the least cost of pairs and translations together.
pub fn propose(coverage: &Coverage, demand: &Demand, costs: &OperatorCosts) -> Proposal {
    let dimension = coverage.dimension();
    let n = demand.points as f64;
    let mut mean = 40.0;
    let (mut order, mut m2l_cost, mut cost) = (4, 100.0, f64::INFINITY);
    for _ in 0..3 {
        let mut work = Work::of_uniform_cube(n, ((n / mean).log2() / 3.0).clamp(2.0, 8.0), 0.0);
        work.fill = fill_of(dimension);
        let per_coefficient = 2.0 * n * demand.streams * costs.point_coefficient;
        let orders = choose(&work, demand.derivatives, demand.tolerance, costs, per_coefficient);
        let count: f64 = work.levels.iter().flat_map(|level| level.translations).sum();
        order = orders.highest;
        m2l_cost = orders.cost / count.max(1.0);
        let fmm = EvenFmm {
            points: n,
            dimension,
            pair_runs: demand.pair_runs,
            streams: demand.streams,
            orders: &orders.by_level,
            highest: order,
        };
        mean = fmm.best_leaf_mean(&demand.rates).clamp(4.0, 4000.0);
        cost = demand.rates.fmm(&fmm.work(mean));
    }
    let halvings = coverage.halvings((n / mean).max(1.0).log2()).max(0.0);
    // An integer number of boxes along the longest side leaves none half empty at the end.
    let boxes_per_side = 2f64.powf(halvings);
    let boxes_per_side = if boxes_per_side < 128.0 {
        boxes_per_side.round().max(1.0)
    } else {
        boxes_per_side
    };
    Proposal {
        dimension,
        root_scale: scale_for(boxes_per_side),
        boxes_per_side,
        leaf_mean: mean,
        leaf_capacity: capacity_of(mean),
        order,
        m2l_cost,
        cost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::PointSet;

    #[test]
    fn boxes_limited_by_cores_have_the_smallest_allowed_size() {
        let proposal = Proposal {
            boxes_per_side: 36.0,
            root_scale: scale_for(36.0),
            ..Proposal::NO_BOXES
        };
        for least in [0.0, 0.01, 1.0 / 37.0, 0.028, 0.03, 0.4, 2.0] {
            let scale = proposal.root_scale_for(least);
            assert!((1.0..2.0).contains(&scale));
            // A box may be cut if its side is at least twice the limit.
            let mut side = scale;
            while side > 1.5 / 36.0 && side >= 2.0 * least {
                side *= 0.5;
            }
            let finest = 1f64.max(1.0 / least.max(1e-9)).floor().min(36.0).recip();
            assert!((side / finest - 1.0).abs() < 1e-12, "{least}: {side} {finest}");
        }
    }

    #[test]
    fn dimension_of_volumes_surfaces_and_lines_is_found() {
        for (set, dimension) in [(PointSet::Cube, 3.0), (PointSet::Sphere, 2.0), (PointSet::Line, 1.0)] {
            let coverage = Coverage::of(&set.generate::<f64>(200_000, 1));
            assert!(
                (coverage.dimension() - dimension).abs() < 0.25,
                "{set}: {}",
                coverage.dimension()
            );
        }
        let cube = Coverage::of(&PointSet::Cube.generate::<f64>(200_000, 1));
        assert!((cube.halvings(3.0 * 28f64.log2()) - 28f64.log2()).abs() < 0.1);
    }
}
