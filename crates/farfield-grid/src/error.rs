//! What can be wrong.

use crate::forest::BlockId;

/// Why a grid could not be made, changed or used. Every message names the value and the place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number of the domain that makes no box.
    #[error("the domain's {what} is {value}: it must be {must}")]
    Domain {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
    /// A level beyond what can be numbered or beyond a limit that was set.
    #[error("level {level} is above the {limit} that {why}")]
    Level {
        /// The level asked for.
        level: u8,
        /// The highest there may be.
        limit: u8,
        /// Where the limit comes from.
        why: &'static str,
    },
    /// Points that move farther in a step than the ghosts around a block allow.
    #[error("points move by {cells:.2} spacings in a step; {limit} is the most: take a shorter step")]
    Displacement {
        /// How far, in spacings.
        cells: f64,
        /// The most there may be.
        limit: usize,
    },
    /// Two channels of one name.
    #[error("there is a channel `{name}` already")]
    DuplicateChannel {
        /// The name.
        name: String,
    },
    /// A channel that is not there.
    #[error("there is no channel `{name}`; there are: {available}")]
    UnknownChannel {
        /// The name asked for.
        name: String,
        /// The names there are.
        available: String,
    },
    /// A channel with another number of components than needed.
    #[error("channel `{name}` has {found} components, {expected} are needed")]
    Components {
        /// The channel.
        name: String,
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// One channel as input and output.
    #[error("channel `{name}` cannot be input and output of one operator: neighbours would read changed numbers")]
    InPlace {
        /// The channel.
        name: String,
    },
    /// More ghosts than blocks can give.
    #[error("a ghost layer of width {width} is wider than the {limit} points there can be")]
    GhostWidth {
        /// The width asked for.
        width: usize,
        /// The widest there is.
        limit: usize,
    },
    /// Thresholds that no adaptation can end with.
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
    /// A refinement threshold below the round-off of the numbers themselves.
    #[error(
        "the refinement threshold {refine:e} is below the round-off {round_off:e} of channel `{channel}` \
         (largest number {largest:e}, {precision}): noise would be refined without end; raise it"
    )]
    ThresholdBelowRoundOff {
        /// The refinement threshold.
        refine: f64,
        /// What rounding leaves.
        round_off: f64,
        /// The channel.
        channel: String,
        /// Its largest number.
        largest: f64,
        /// `f32` or `f64`.
        precision: &'static str,
    },
    /// The grid kept changing.
    #[error("the grid still changed after {rounds} rounds of adaptation; put the two thresholds further apart")]
    NoFixedPoint {
        /// How many rounds were tried.
        rounds: usize,
    },
    /// The grid would need more memory than allowed.
    #[error(
        "{blocks} blocks need about {needed_mib:.1} MiB, the cap is {cap_mib:.1} MiB: \
         raise the cap or the thresholds, or lower the maximum level"
    )]
    Memory {
        /// How many blocks there would be.
        blocks: usize,
        /// The forecast.
        needed_mib: f64,
        /// The cap.
        cap_mib: f64,
    },
    /// The solution would need more memory than allowed.
    #[error(
        "solving for {sources} sources and {targets} points needs about {needed_mib:.1} MiB besides the grid's own, \
         {left_mib:.1} MiB are left: raise the cap or the threshold of the sources, or solve for one component at a time"
    )]
    SolutionMemory {
        /// How many sources there are.
        sources: usize,
        /// How many points.
        targets: usize,
        /// The forecast.
        needed_mib: f64,
        /// What is left under the cap.
        left_mib: f64,
    },
    /// A number that is NaN or infinite.
    #[error(
        "channel `{channel}` component {component} is {value} at point {point:?} of block {block} \
         (x = {position:?}): every number must be finite"
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
        /// Where that is.
        position: [f64; 3],
        /// The offending value.
        value: f64,
    },
    /// Data of the wrong length.
    #[error("channel `{channel}` was given {found} numbers, expected {expected} ({why})")]
    Length {
        /// The channel.
        channel: String,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
        /// Where the expectation comes from.
        why: String,
    },
    /// Leaves that do not make a forest.
    #[error("these leaves do not form a forest: {reason}")]
    Leaves {
        /// What is wrong with them.
        reason: String,
    },
    /// A parameter outside its range.
    #[error("{name} = {value} is outside its range {range}")]
    Parameter {
        /// Which parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range.
        range: &'static str,
    },
    /// A combination that is not there.
    #[error("{what} is not supported; choose {instead}")]
    Unsupported {
        /// What was asked for.
        what: &'static str,
        /// What there is.
        instead: &'static str,
    },
    /// The sum over the sources could not be planned or evaluated, or a graphics processor could not be used.
    #[error(transparent)]
    Sum(#[from] farfield::Error),
}
