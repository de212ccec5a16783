//! The phases, times and interactions of an evaluation.

use std::time::Instant;

/// A step of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Sorting points, building boxes and lists, and choosing parameters; in the plane, without
    /// [`Sort`](Phase::Sort) and [`Connect`](Phase::Connect).
    Tree,
    /// Sorting points into the boxes of the pyramid (plane only).
    Sort,
    /// Finding strongly and weakly coupled boxes of the pyramid (plane only).
    Connect,
    /// Sources to multipoles.
    P2m,
    /// Multipoles to parents.
    M2m,
    /// Multipoles to locals.
    M2l,
    /// Sources to locals.
    P2l,
    /// Locals to children.
    L2l,
    /// Locals to targets.
    L2p,
    /// Multipoles to targets.
    M2p,
    /// Pairs of points.
    P2p,
    /// True sums at a few targets, to measure the error.
    Check,
}

impl Phase {
    /// All phases, in the order they run.
    pub const ALL: [Phase; 12] = [
        Phase::Tree,
        Phase::Sort,
        Phase::Connect,
        Phase::P2m,
        Phase::M2m,
        Phase::M2l,
        Phase::P2l,
        Phase::L2l,
        Phase::L2p,
        Phase::M2p,
        Phase::P2p,
        Phase::Check,
    ];

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        [
            "tree", "sort", "connect", "p2m", "m2m", "m2l", "p2l", "l2l", "l2p", "m2p", "p2p", "check",
        ][self as usize]
    }
}

/// Wall-clock seconds by phase.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seconds {
    phases: [f64; 12],
    began: [Option<Instant>; 12],
    /// From points and strengths in memory to results in the caller's order. On a reused plan, the evaluation only.
    pub total: f64,
}

impl Seconds {
    /// The seconds of one phase.
    pub fn of(&self, phase: Phase) -> f64 {
        self.phases[phase as usize]
    }

    /// The start of the first run of a phase, if this crate ran it.
    pub fn began(&self, phase: Phase) -> Option<Instant> {
        self.began[phase as usize]
    }

    /// Adds time to a phase.
    pub fn add(&mut self, phase: Phase, seconds: f64) {
        self.phases[phase as usize] += seconds;
    }

    /// Runs `work` and adds its time to `phase`.
    pub(crate) fn time<R>(&mut self, phase: Phase, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        self.began[phase as usize].get_or_insert(start);
        let result = work();
        self.phases[phase as usize] += start.elapsed().as_secs_f64();
        result
    }
}

/// The number of interactions of each kind in an evaluation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interactions {
    /// Pairs of points.
    pub p2p: u64,
    /// Translations between boxes.
    pub m2l: u64,
    /// Pairs of a multipole expansion and a target.
    pub m2p: u64,
    /// Pairs of a source and a local expansion.
    pub p2l: u64,
}
