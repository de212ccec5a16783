//! The self-check of an evaluation: true sums at a few dozen targets, compared with the results.
//!
//! A model for random strengths fails on lattices, smooth waves or one dominant charge. So every evaluation measures
//! its error:
//!
//! 1. `sample` picks targets: at random, where values are large, and where errors are expected, each with a
//!    known probability;
//! 2. `truth` sums over all sources at these targets, in double precision, from the caller's numbers;
//! 3. `compare` estimates the error over *all* targets, with its uncertainty;
//! 4. if the tolerance is exceeded, the plan sums again more accurately ([`correct`]) and keeps the higher orders.
//!
//! This module is independent of the engines: points, strengths and outputs are plain arrays, and summing again is a
//! closure.

mod absolute;
pub(crate) mod compare;
mod correct;
pub(crate) mod look;
pub(crate) mod sample;
pub(crate) mod truth;

pub use compare::{AtDrawn, OutputKind};
pub use correct::{Attempt, Verdict, correct};
pub use look::{Effort, Look, WITH_ABSOLUTE};
pub use sample::{Candidate, Drawn, Sample};
pub use truth::ABSOLUTE;

use std::fmt;

/// The measured error of one output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The name of the output.
    pub output: &'static str,
    /// The estimated relative error in the L2 norm over all targets.
    pub relative_l2: f64,
    /// A likely upper bound: the estimate plus twice its uncertainty.
    pub upper: f64,
    /// The relative error of round-off alone: machine epsilon times the sum of absolute contributions, divided by the
    /// values.
    pub rounding: f64,
}

/// The measured error of an evaluation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Check {
    /// The number of targets at which the true sum was computed.
    pub targets: usize,
    /// Whether these were all targets; then the errors are exact, not estimates.
    pub complete: bool,
    /// The number of times the sum was computed; more than one if the tolerance was exceeded at first.
    pub attempts: usize,
    /// The measured error of each output.
    pub outputs: Vec<Measured>,
    /// The outputs that exceed the tolerance, and why.
    pub warnings: Vec<Warning>,
}

impl Check {
    /// Copies `other` without allocating.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.targets = other.targets;
        self.complete = other.complete;
        self.attempts = other.attempts;
        self.outputs.clone_from(&other.outputs);
        self.warnings.clone_from(&other.warnings);
    }
}

/// The reason why a result is not within its tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Contributions cancel, and their sum has fewer correct digits than requested. No method does better in this
    /// precision.
    Cancellation {
        /// The name of the output.
        output: &'static str,
        /// The measured error.
        error: f64,
        /// Correct decimal digits.
        digits: f64,
    },
    /// The error exceeds the tolerance, and a more accurate sum is too expensive or not allowed.
    Exceeded {
        /// The name of the output.
        output: &'static str,
        /// The measured error.
        error: f64,
        /// The tolerance.
        tolerance: f64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Cancellation { output, error, digits } => write!(
                f,
                "{output}: contributions cancel and leave {digits:.1} correct digits (error {error:.1e}); more digits \
                 need a higher precision"
            ),
            Warning::Exceeded {
                output,
                error,
                tolerance,
            } => write!(
                f,
                "{output}: the measured error {error:.1e} exceeds the tolerance {tolerance:e}; a direct sum meets it"
            ),
        }
    }
}
