//! What can be wrong with the input.

use crate::kernel::Output;

/// Why a sum could not be planned or evaluated. Every message names the value and the place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A coordinate, strength or core size is NaN or infinite.
    #[error("{array}[{index}] component {component} is {value}: every number must be finite")]
    NotFinite {
        /// Which array.
        array: &'static str,
        /// Which point.
        index: usize,
        /// Which component of it.
        component: usize,
        /// The offending value.
        value: f64,
    },
    /// Two arrays that belong together have different lengths.
    #[error("{array} has {found} numbers, expected {expected} ({why})")]
    Length {
        /// Which array.
        array: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
        /// Where the expectation comes from.
        why: String,
    },
    /// A negative core size or softening length.
    #[error("core size {value} of source {index} is negative")]
    NegativeSize {
        /// Which source.
        index: usize,
        /// The offending value.
        value: f64,
    },
    /// The tolerance is outside what the precision can honour.
    #[error("tolerance {value:e} is outside [{lowest:e}, {highest:e}], the range honoured in {precision}")]
    Tolerance {
        /// The tolerance asked for.
        value: f64,
        /// The lowest that can be honoured.
        lowest: f64,
        /// The highest.
        highest: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// A parameter is outside its range.
    #[error("{name} = {value} is outside its range {range}")]
    Parameter {
        /// Which parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range.
        range: &'static str,
    },
    /// An output the kernel does not have.
    #[error("the {kernel} kernel has no output `{output}`; it has: {available}")]
    Output {
        /// The kernel.
        kernel: &'static str,
        /// The output asked for.
        output: Output,
        /// The outputs there are.
        available: String,
    },
    /// The velocity gradient of a core whose gradient is unbounded.
    #[error(
        "the gradient of the hu-polynomial core is unbounded at its centre; ask for it explicitly \
         (allow_unbounded_gradient) or choose another core"
    )]
    UnboundedGradient,
    /// A core that needs a size was given none.
    #[error("the {core} core needs a core size")]
    MissingSize {
        /// The core.
        core: &'static str,
    },
    /// The derivative of a regularised planar field, which is not analytic.
    #[error(
        "the harmonic2d field of the {core} core has no complex derivative; ask for its potential alone, or use the \
         singular core"
    )]
    NotAnalytic {
        /// The core.
        core: &'static str,
    },
    /// A method the plane does not have.
    #[error("in the plane there is no method `{method}`; there are: auto, direct, fmm")]
    MethodInPlane {
        /// The method asked for.
        method: &'static str,
    },
    /// More points than indices of 32 bits can number.
    #[error("{count} {array} are more than the {limit} this version can number")]
    TooMany {
        /// Which array.
        array: &'static str,
        /// How many.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// The problem does not fit into memory.
    #[error("this sum needs about {needed_gib:.1} GiB, but only {available_gib:.1} GiB of memory are available")]
    Memory {
        /// The forecast.
        needed_gib: f64,
        /// What the machine has.
        available_gib: f64,
    },
    /// The machine cannot run the instruction set asked for.
    #[error("this machine does not support the SIMD level {level}")]
    Simd {
        /// The level asked for.
        level: &'static str,
    },
    /// The thread pool could not be made.
    #[error("could not start {threads} threads: {reason}")]
    Threads {
        /// How many.
        threads: usize,
        /// What the system said.
        reason: String,
    },
}
