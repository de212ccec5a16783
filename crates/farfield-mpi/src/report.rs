//! What a sum over ranks took, on one rank.

use crate::traffic::Traffic;

/// Seconds of one rank by step: they add up to the total, less what is hidden. Steps that wait for other ranks include the waiting.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Seconds {
    /// Checks, keys, cuts and the moving of points.
    pub partition: f64,
    /// The light tree, walks, and the exchange of positions.
    pub essential: f64,
    /// The plans of both engines.
    pub plan: f64,
    /// What of the last two went on at the same time.
    pub plan_hidden: f64,
    /// The moving of strengths and results.
    pub moving: f64,
    /// Equivalent sources, and the exchange of strengths.
    pub exchange: f64,
    /// The sums of both engines.
    pub engine: f64,
    /// The part of the engine that sums over received sources.
    pub engine_received: f64,
    /// What of the exchange was hidden behind the sum over own sources.
    pub hidden: f64,
    /// The measuring of the error.
    pub check: f64,
    /// Waiting for the slowest rank after the engines' sums.
    pub waiting: f64,
    /// All of it.
    pub total: f64,
}

/// What one rank had and did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RankReport {
    /// Sources that it sums over as its own.
    pub sources: usize,
    /// Targets that it sums at.
    pub targets: usize,
    /// Sources received from other ranks as they are.
    pub received: usize,
    /// Equivalent sources received.
    pub equivalent: usize,
    /// The order of equivalent sources.
    pub order: usize,
    /// The radius of a far box over its distance, at most.
    pub theta: f64,
    /// What the sum is expected to cost, in nanoseconds of one thread.
    pub work: f64,
    /// What planning sent.
    pub planning: Traffic,
    /// What the last evaluation sent.
    pub evaluation: Traffic,
    /// Where the time went; the first evaluation includes the planning.
    pub seconds: Seconds,
}
