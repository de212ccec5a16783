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
    /// A core size or softening length whose square cannot be added to squared distances.
    #[error(
        "core size {value:e} of source {index} is outside [{lowest:e}, {highest:e}], the range (apart from 0) in \
         {precision} for points that extend over {extent:e}"
    )]
    SizeRange {
        /// Which source; the first if all have this size.
        index: usize,
        /// The offending value.
        value: f64,
        /// The lowest size other than zero.
        lowest: f64,
        /// The highest.
        highest: f64,
        /// What the points extend over.
        extent: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// Points in the plane so far apart, or so close together, that powers of distances are lost.
    #[error(
        "the points extend over {extent:e}, outside [{lowest:e}, {highest:e}], the range in {precision}: scale them to \
         about one"
    )]
    Extent {
        /// What the points extend over.
        extent: f64,
        /// The least extent other than zero.
        lowest: f64,
        /// The largest.
        highest: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// Distinct points so close that the square of their distance is lost.
    #[error(
        "{array}[{index}] component {component} is {value:e}, less than {least:e} from that of another point: where \
         points extend over so much, {precision} cannot tell them apart"
    )]
    TooClose {
        /// Which array.
        array: &'static str,
        /// Which point.
        index: usize,
        /// Which component of it.
        component: usize,
        /// The offending value.
        value: f64,
        /// The least distance.
        least: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// A result beyond the largest number.
    #[error(
        "the {output} at target {target} is beyond {largest:e}, the largest number in {precision}, or was on the way \
         to it: strengths reach {strengths:e}; use smaller ones{hint}"
    )]
    Overflow {
        /// Which output.
        output: &'static str,
        /// Which target.
        target: usize,
        /// The largest number there is.
        largest: f64,
        /// The largest strength.
        strengths: f64,
        /// `f32` or `f64`.
        precision: &'static str,
        /// What else may help.
        hint: &'static str,
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
    /// Whoever was to sum the pairs of a plan did not.
    #[error("the near field was not summed: {reason}")]
    NearField {
        /// What it said.
        reason: String,
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

impl Error {
    /// So many bytes are needed, and so many there.
    pub(crate) fn memory(needed: u64, available: u64) -> Self {
        let gib = |bytes: u64| bytes as f64 / 1024f64.powi(3);
        Error::Memory {
            needed_gib: gib(needed),
            available_gib: gib(available),
        }
    }
}
