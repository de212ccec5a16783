//! The tolerance, measured: true sums at a few dozen targets of every evaluation, compared with what came out.
//!
//! No model of random strengths knows lattices, smooth waves, one giant among ones. So an evaluation looks at itself:
//!
//! 1. `sample` picks targets: at random, where values are large, and where errors are expected, each with a
//!    known probability;
//! 2. `truth` sums every source at them, in double precision, from the numbers as they were given;
//! 3. `compare` estimates the error over *all* targets, with its uncertainty;
//! 4. whoever evaluates sums again more exactly where the tolerance is exceeded ([`correct`]), and remembers.
//!
//! Nothing here knows an engine: points, strengths and outputs come as plain arrays, and summing again is a closure.

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
    /// The root of the summed squared errors over that of the values, over all targets, as estimated.
    pub relative_l2: f64,
    /// What it hardly exceeds: the estimate and twice its uncertainty.
    pub upper: f64,
    /// What rounding alone may leave: machine epsilon times the sum of absolute contributions, over the values.
    pub rounding: f64,
}

/// What an evaluation found out about its own error.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Check {
    /// At how many targets the true sum was computed.
    pub targets: usize,
    /// Whether these were all targets there are: then the errors are no estimates.
    pub complete: bool,
    /// How often it was summed; more than once where the tolerance was exceeded at first.
    pub attempts: usize,
    /// The measured error of each output.
    pub outputs: Vec<Measured>,
    /// What the tolerance does not hold for, and why.
    pub warnings: Vec<Warning>,
}

impl Check {
    /// Becomes like another one, in the memory it has.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.targets = other.targets;
        self.complete = other.complete;
        self.attempts = other.attempts;
        self.outputs.clone_from(&other.outputs);
        self.warnings.clone_from(&other.warnings);
    }
}

/// Why a result is not within its tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Contributions cancel, and what is left of their sum has fewer digits than were asked for. No method of this
    /// precision does better.
    Cancellation {
        /// Which output.
        output: &'static str,
        /// The measured error.
        error: f64,
        /// Decimal digits that are right.
        digits: f64,
    },
    /// The error exceeds the tolerance, and what would help costs too much or is not allowed.
    Exceeded {
        /// Which output.
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
                "{output}: contributions cancel, and {digits:.1} digits are left of their sum (error {error:.1e}); a higher \
                 precision is needed for more"
            ),
            Warning::Exceeded {
                output,
                error,
                tolerance,
            } => write!(
                f,
                "{output}: the measured error {error:.1e} exceeds the tolerance {tolerance:e}; the direct sum keeps it"
            ),
        }
    }
}
