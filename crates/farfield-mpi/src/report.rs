//! The report of one rank about a sum over ranks.

use crate::traffic::Exchanged;

/// Seconds of one rank by step. They add up to the total plus the overlapped times. Steps that wait for other ranks
/// include the waiting.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RankSeconds {
    /// Validating input, computing keys, cutting the curve and moving points.
    pub partition: f64,
    /// Building the coarse tree, walking it, and exchanging positions.
    pub essential: f64,
    /// Planning of both engines.
    pub plan: f64,
    /// The time for which `essential` and `plan` overlapped.
    pub plan_hidden: f64,
    /// Moving strengths and results.
    pub moving: f64,
    /// Computing equivalent sources, and exchanging strengths.
    pub exchange: f64,
    /// Evaluation by both engines.
    pub engine: f64,
    /// The part of `engine` for received sources.
    pub engine_received: f64,
    /// The time for which `exchange` overlapped with the sum over own sources.
    pub hidden: f64,
    /// Measuring the error.
    pub check: f64,
    /// Waiting for the slowest rank after the engines' sums.
    pub waiting: f64,
    /// The total.
    pub total: f64,
}

/// Counts, work, traffic and times of one rank.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RankReport {
    /// The number of its own sources.
    pub sources: usize,
    /// The number of its own targets.
    pub targets: usize,
    /// The number of sources received unchanged from other ranks.
    pub received: usize,
    /// The number of equivalent sources received.
    pub equivalent: usize,
    /// The order of equivalent sources.
    pub order: usize,
    /// The largest ratio of radius to distance of a far box.
    pub theta: f64,
    /// The forecast cost of the sum, in nanoseconds of one thread.
    pub work: f64,
    /// The traffic of planning.
    pub planning: Exchanged,
    /// The traffic of the last evaluation.
    pub evaluation: Exchanged,
    /// Seconds by step; those of the first evaluation include planning.
    pub seconds: RankSeconds,
}
