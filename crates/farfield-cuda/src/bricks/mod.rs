//! Sums at the points of bricks. A brick is $8^3$ points of a regular grid that share a plan: the sources that act on
//! them directly, and the expansions.
//!
//! The caller passes flat arrays: [`Sources`] first, which are transferred while the caller prepares the plans, then
//! [`Plans`]. [`BrickSum::evaluate`] is the algorithm on one screen.

mod evaluate;
mod rate;

pub use evaluate::{BrickSeconds, BrickSum};
pub use rate::{rate_program, root_rate};

use crate::compile::Program;
use crate::device::{Precision, device_struct};

/// The contribution of a pair: the kinds of `kernels/bricks.cu`. With $s=1/\sqrt{r^2+\varepsilon^2}$:
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BrickPair {
    /// $w/r$.
    Singular,
    /// $w\\,s(1+\frac12\varepsilon^2s^2)$.
    Regularised,
    /// $w\times(x-x_j)/r^3$.
    Velocity,
    /// $w\times(x-x_j)\\,s^3(1+\frac32\varepsilon^2s^2)$.
    RegularisedVelocity,
}

impl BrickPair {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::Singular,
        Self::Regularised,
        Self::Velocity,
        Self::RegularisedVelocity,
    ];
}

/// Sources, one array per axis and component.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a, T> {
    /// Coordinates.
    pub position: [&'a [T]; 3],
    /// One array for each component.
    pub weights: &'a [Vec<T>],
    /// Squared smoothing lengths; empty for singular pairs.
    pub epsilon2: &'a [T],
}

device_struct! {
    /// The first point of a brick and the distance between points.
    #[derive(PartialEq)]
    pub struct Brick = "Brick" {
        /// The point with the lowest coordinates.
        pub first: [f64; 3],
        /// The distance between points.
        pub spacing: f64,
    }
}

device_struct! {
    /// The centre of a node and the unit of length of its expansion.
    #[derive(PartialEq)]
    pub struct Node = "Node" {
        /// The centre.
        pub center: [f64; 3],
        /// The unit of length.
        pub unit: f64,
    }
}

device_struct! {
    /// A range of sources.
    #[derive(PartialEq, Eq)]
    pub struct Range = "Range" {
        /// The first source.
        pub start: u32,
        /// One past the last source.
        pub end: u32,
        /// Nonzero if some of the sources may be points of the brick.
        pub touching: u32,
    }
}

/// The expansions of nodes.
#[derive(Debug, Clone, Copy)]
pub struct Expansions<'a, T> {
    /// The order: 4, 6, 8, 10 or 12.
    pub order: usize,
    /// The coefficients, node by node, component by component.
    pub coefficients: &'a [T],
    /// The nodes.
    pub nodes: &'a [Node],
}

/// The plans of all bricks: brick `b` has the entries `offsets[b]..offsets[b + 1]`. Eight bricks form a block of
/// $16^3$ points.
#[derive(Debug, Clone, Copy)]
pub struct Plans<'a, T> {
    /// The bricks.
    pub bricks: &'a [Brick],
    /// Sources that act directly.
    pub direct: &'a [Range],
    /// The start of each brick's entries in `direct`.
    pub direct_offsets: &'a [u32],
    /// Expansions and the nodes that act on each brick; `None` if the caller evaluates them.
    pub indirect: Option<Indirect<'a, T>>,
}

/// Expansions and the bricks they act on.
#[derive(Debug, Clone, Copy)]
pub struct Indirect<'a, T> {
    /// The expansions.
    pub expansions: Expansions<'a, T>,
    /// The nodes that act on each brick.
    pub nodes: &'a [u32],
    /// The start of each brick's entries in `nodes`.
    pub offsets: &'a [u32],
}

/// The division of a brick's work into threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Blocking {
    /// Threads per block, and sources per tile.
    pub threads: u32,
    /// Lines of points per thread.
    pub lines: u32,
    /// The unrolling factor of the loop over the sources.
    pub unroll: u32,
}

impl Blocking {
    /// The fastest blocking for direct plans, measured on an H200; see docs/notes/poisson.md.
    pub const fn direct<T: Precision>(pair: BrickPair, components: usize) -> Self {
        let one_smooth = components == 1 && matches!(pair, BrickPair::Regularised);
        Self {
            threads: if one_smooth && !T::DOUBLE { 512 } else { 256 },
            lines: if T::DOUBLE && components == 1 { 2 } else { 1 },
            unroll: 4,
        }
    }

    /// The fastest blocking for indirect plans.
    pub const INDIRECT: Self = Self {
        threads: 128,
        lines: 1,
        unroll: 1,
    };
}

fn program<T: Precision>(name: &'static str, components: usize, blocking: Blocking) -> Program {
    Program::new(name, include_str!("../../kernels/bricks.cu"))
        .define("FARFIELD_DOUBLE", u8::from(T::DOUBLE))
        .define("FARFIELD_COMPONENTS", components)
        .define("FARFIELD_THREADS", blocking.threads)
        .define("FARFIELD_LINES", blocking.lines)
        .define("FARFIELD_UNROLL", blocking.unroll)
}

/// The program of direct plans.
pub fn direct_program<T: Precision>(pair: BrickPair, components: usize) -> Program {
    let program = program::<T>("bricks-direct", components, Blocking::direct::<T>(pair, components));
    evaluate::DirectKernels::<T>::check(program).define("FARFIELD_PAIR", pair as u8)
}

/// The program of indirect plans.
pub fn indirect_program<T: Precision>(order: usize, components: usize) -> Program {
    let program = program::<T>("bricks-indirect", components, Blocking::INDIRECT);
    evaluate::IndirectKernels::<T>::check(program).define("FARFIELD_ORDER", order)
}
