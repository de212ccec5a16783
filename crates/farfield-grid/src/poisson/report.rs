//! The report of a solution: method, parameters, work and time.

use super::Method;
use farfield::simd::{RsqrtAccuracy, SimdLevel};

/// Wall-clock seconds by phase. Direct and indirect evaluation run concurrently; each is the sum of the threads' times
/// divided by the number of threads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SolveSeconds {
    /// The whole solution.
    pub total: f64,
    /// Selecting and ordering the sources.
    pub sources: f64,
    /// The tree (with the FMM: tree, lists and tables).
    pub tree: f64,
    /// P2M and M2M.
    pub expansions: f64,
    /// Choosing the method and building the bricks' lists.
    pub plan: f64,
    /// Pairs of points; on a GPU, the time of its kernels.
    pub direct: f64,
    /// Everything that uses expansions (with the FMM: M2L, L2L, L2P, M2P, P2L).
    pub indirect: f64,
    /// Transfers of lists to a GPU and of results back.
    pub transfer: f64,
    /// The evaluation, with direct and indirect interactions running concurrently.
    pub evaluation: f64,
}

/// The number of interactions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interactions {
    /// Pairs of a source and a point.
    pub direct: u64,
    /// Pairs of an expansion and a point.
    pub indirect: u64,
    /// Translations between expansions (FMM).
    pub translations: u64,
}

/// The method, parameters, work and time of a solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// The method used.
    pub method: Method,
    /// The device used: `cpu`, `cuda` or `hybrid`.
    pub device: &'static str,
    /// Source points.
    pub sources: usize,
    /// Target points.
    pub targets: usize,
    /// The opening parameter, for the treecode.
    pub theta: Option<f64>,
    /// The order of the expansions.
    pub order: Option<usize>,
    /// The largest number of sources in a leaf.
    pub leaf_capacity: Option<usize>,
    /// Boxes in the tree.
    pub boxes: usize,
    /// The depth of the tree.
    pub depth: usize,
    /// The instruction set.
    pub simd: SimdLevel,
    /// The accuracy of the treecode's reciprocal square roots.
    pub rsqrt: Option<RsqrtAccuracy>,
    /// The interactions evaluated.
    pub interactions: Interactions,
    /// The time by phase.
    pub seconds: SolveSeconds,
}
