//! What a solution took.

use super::Method;
use farfield::simd::{RsqrtAccuracy, SimdLevel};

/// Wall-clock seconds by phase. Direct and indirect evaluation run side by side; their shares are the threads' times
/// divided by the number of threads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seconds {
    /// From the channel to the result.
    pub total: f64,
    /// Choosing the sources and putting them in order.
    pub sources: f64,
    /// The tree (with the FMM: tree, lists and tables).
    pub tree: f64,
    /// P2M and M2M.
    pub expansions: f64,
    /// The bricks' lists.
    pub plan: f64,
    /// Pairs of points; on a graphics processor, of its kernels.
    pub direct: f64,
    /// Everything that uses expansions (with the FMM: M2L, L2L, L2P, M2P, P2L).
    pub indirect: f64,
    /// Lists to a graphics processor and results back.
    pub transfer: f64,
    /// Wall-clock time of the evaluation, everything side by side.
    pub evaluation: f64,
}

/// How many interactions there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interactions {
    /// Pairs of a source and a point.
    pub direct: u64,
    /// Pairs of an expansion and a point.
    pub indirect: u64,
    /// Translations between expansions (FMM).
    pub translations: u64,
}

/// What a solution took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// How it was summed.
    pub method: Method,
    /// What evaluated: `cpu`, `cuda` or `hybrid`.
    pub device: &'static str,
    /// Source points.
    pub sources: usize,
    /// Destination points.
    pub targets: usize,
    /// The opening parameter, for the treecode.
    pub theta: Option<f64>,
    /// The order of the expansions.
    pub order: Option<usize>,
    /// Sources a box may hold.
    pub leaf_capacity: Option<usize>,
    /// Boxes in the tree.
    pub boxes: usize,
    /// The depth of the tree.
    pub depth: usize,
    /// The instruction set.
    pub simd: SimdLevel,
    /// How exact the treecode's reciprocal square roots are.
    pub rsqrt: Option<RsqrtAccuracy>,
    /// The work.
    pub interactions: Interactions,
    /// The time.
    pub seconds: Seconds,
}
