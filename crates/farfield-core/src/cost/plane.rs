//! The work of an FMM in the plane: points uniformly distributed over a square, in a pyramid of balanced boxes.

use super::Work;

/// An FMM over uniformly distributed points, of any depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvenFmm {
    /// The number of sources.
    pub sources: f64,
    /// The number of targets.
    pub targets: f64,
    /// The fraction of strongly coupled leaves that are summed pair by pair; the others pass with their radii swapped.
    pub point_by_point: f64,
}

impl EvenFmm {
    /// The fraction of strongly coupled leaves that are summed pair by pair if the others use the expansion of the
    /// smaller leaf.
    pub const WITH_SHORTCUTS: f64 = 0.77;

    /// The work of one strength vector with `4^depth` leaves and expansions of order `order`.
    pub fn work(&self, depth: usize, order: usize) -> Work {
        let points = self.sources + self.targets;
        let translations: f64 = (1..=depth).map(|level| boxes(level) * weak(level)).sum();
        let (near, leaves) = (strong(depth), boxes(depth));
        let by_point = if depth < 2 { 1.0 } else { self.point_by_point };
        let pairs = by_point * near / leaves * self.sources * self.targets;
        Work {
            pairs,
            pairs_of_leaf: pairs / leaves,
            translations: vec![(order, translations)],
            fill: 0.0,
            boxes: (order, leaves),
            point_coefficients: (1.0 + (1.0 - by_point) * near) * order as f64 * points,
            points,
            cuts: (2 * depth) as f64 * points,
            tests: translations,
            leaves,
            levels: depth as f64,
        }
    }
}

fn boxes(level: usize) -> f64 {
    4f64.powi(level as i32)
}

/// The mean number of boxes strongly coupled to a box, for uniform points: at theta = 1/2 about half as many again as
/// touch it on a square of `4^level` boxes, fewer at its edges.
pub fn strong(level: usize) -> f64 {
    let touching = 3.0 - 2.0 / 2f64.powi(level as i32);
    (1.48 * touching * touching).min(boxes(level))
}

/// The mean number of boxes weakly coupled to a box: children of boxes strongly coupled to its parent.
pub fn weak(level: usize) -> f64 {
    if level == 0 {
        return 0.0;
    }
    4.0 * strong(level - 1) - strong(level)
}
