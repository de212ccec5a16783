//! The error type of this crate.

use crate::forest::BlockId;

/// An error in making, changing or using a grid. Every message names the value and the place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter that does not describe a valid domain.
    #[error("the domain's {what} is {value}: it must be {must}")]
    Domain {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The condition on it.
        must: &'static str,
    },
    /// A level that is too fine or too coarse.
    #[error("level {level}: {why} {limit}")]
    Level {
        /// The level asked for.
        level: u8,
        /// The finest or coarsest level allowed.
        limit: u8,
        /// The words that precede the limit in the message.
        why: &'static str,
    },
    /// Points that move farther in a step than the ghosts around a block allow.
    #[error("points move by {cells:.2} spacings in a step; at most {limit} are allowed: take a shorter step")]
    Displacement {
        /// The displacement, in spacings.
        cells: f64,
        /// The largest displacement allowed, in spacings.
        limit: usize,
    },
    /// Two channels with the same name.
    #[error("channel `{name}` already exists")]
    DuplicateChannel {
        /// The name.
        name: String,
    },
    /// A channel that does not exist.
    #[error("unknown channel `{name}`; the channels are: {available}")]
    UnknownChannel {
        /// The name asked for.
        name: String,
        /// The names of all channels.
        available: String,
    },
    /// A channel with the wrong number of components.
    #[error("channel `{name}` has {found} components, {expected} are needed")]
    Components {
        /// The channel.
        name: String,
        /// The number of components it has.
        found: usize,
        /// The number of components needed.
        expected: usize,
    },
    /// One channel as both input and output.
    #[error("channel `{name}` cannot be both input and output of an operator: neighbours would read changed values")]
    InPlace {
        /// The channel.
        name: String,
    },
    /// A ghost layer wider than a block can have.
    #[error("a ghost layer of width {width} is too wide: the largest width is {limit} points")]
    GhostWidth {
        /// The width asked for.
        width: usize,
        /// The largest width.
        limit: usize,
    },
    /// Thresholds with which adaptation would not end.
    #[error(
        "thresholds refine = {refine:e}, compress = {compress:e} would refine without end: \
         0 < compress < refine is needed, both finite"
    )]
    Thresholds {
        /// The refinement threshold.
        refine: f64,
        /// The compression threshold.
        compress: f64,
    },
    /// A refinement threshold below the round-off of the values themselves.
    #[error(
        "the refinement threshold {refine:e} is below the round-off {round_off:e} of channel `{channel}` \
         (largest value {largest:e}, {precision}): noise would be refined without end; raise the threshold"
    )]
    ThresholdBelowRoundOff {
        /// The refinement threshold.
        refine: f64,
        /// The round-off of the channel's largest value.
        round_off: f64,
        /// The channel.
        channel: String,
        /// Its largest value.
        largest: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// An adaptation that did not reach a fixed point.
    #[error("the grid still changed after {rounds} rounds of adaptation; put the two thresholds further apart")]
    NoFixedPoint {
        /// The number of rounds tried.
        rounds: usize,
    },
    /// A grid that needs more memory than allowed.
    #[error(
        "{blocks} blocks need about {needed_mib:.1} MiB, the cap is {cap_mib:.1} MiB: \
         raise the cap or the thresholds, or lower the maximum level"
    )]
    Memory {
        /// The number of blocks of the grid.
        blocks: usize,
        /// The estimated memory.
        needed_mib: f64,
        /// The cap.
        cap_mib: f64,
    },
    /// A solution that needs more memory than allowed.
    #[error(
        "solving for {sources} sources and {targets} points needs about {needed_mib:.1} MiB in addition to the grid, \
         but {left_mib:.1} MiB are left: raise the cap or the source threshold, or solve for one component at a time"
    )]
    SolutionMemory {
        /// The number of sources.
        sources: usize,
        /// The number of points.
        targets: usize,
        /// The estimated memory.
        needed_mib: f64,
        /// The memory left under the cap.
        left_mib: f64,
    },
    /// A value that is NaN or infinite.
    #[error(
        "channel `{channel}` component {component} is {value} at point {point:?} of block {block} \
         (x = {position:?}): every value must be finite"
    )]
    NotFinite {
        /// The channel.
        channel: String,
        /// The component.
        component: usize,
        /// The block.
        block: BlockId,
        /// The point within the block.
        point: [usize; 3],
        /// Its position.
        position: [f64; 3],
        /// The offending value.
        value: f64,
    },
    /// Data of the wrong length.
    #[error("channel `{channel}` was given {found} values, expected {expected} ({why})")]
    Length {
        /// The channel.
        channel: String,
        /// The number of values given.
        found: usize,
        /// The number of values expected.
        expected: usize,
        /// The origin of the expected number.
        why: String,
    },
    /// Leaves that do not form a forest.
    #[error("these leaves do not form a forest: {reason}")]
    Leaves {
        /// The defect.
        reason: String,
    },
    /// A parameter outside its range.
    #[error("{name} = {value} is outside its range {range}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range.
        range: &'static str,
    },
    /// An unsupported combination of options.
    #[error("{what} is not supported; choose {instead}")]
    Unsupported {
        /// The combination asked for.
        what: &'static str,
        /// The supported alternative.
        instead: &'static str,
    },
    /// A sum over the sources that could not be planned or evaluated, or a GPU that could not be used.
    #[error(transparent)]
    Sum(#[from] farfield::Error),
}
