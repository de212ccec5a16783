//! The entry points of the loops that are compiled for every instruction set.

use super::bricks;
use super::kernel::Pair;
use super::lists::{Brick, DirectRange};
use super::multipole::{self, Expansions};
use super::sources::Sources;
use super::tree::{Node, SourceTree};
use farfield::simd::{RsqrtAccuracy, SimdLevel};

/// A precision in which the Poisson problem can be solved: `f32` or `f64`.
///
/// Its methods are not generic, so that the loops behind them are compiled once, in this crate, and not again in every
/// crate that solves a problem.
pub trait Precision: farfield::Precision {
    #[doc(hidden)]
    fn moments(simd: SimdLevel, sources: &Sources<Self>, node: &Node, order: usize, moments: &mut [f64]);
    #[doc(hidden)]
    fn add_direct(
        how: (SimdLevel, RsqrtAccuracy),
        pair: Pair,
        sources: &Sources<Self>,
        ranges: &[DirectRange],
        brick: &Brick,
        sums: &mut [Self],
    );
    #[doc(hidden)]
    fn add_indirect(
        how: (SimdLevel, RsqrtAccuracy),
        expansions: &Expansions<Self>,
        tree: &SourceTree,
        nodes: &[u32],
        brick: &Brick,
        sums: &mut [Self],
    );
    #[doc(hidden)]
    fn rsqrt_accuracy(simd: SimdLevel, error: f64) -> RsqrtAccuracy;
}

macro_rules! precision {
    ($float:ident) => {
        impl Precision for $float {
            fn moments(simd: SimdLevel, sources: &Sources<Self>, node: &Node, order: usize, moments: &mut [f64]) {
                multipole::sources_to_moments(simd, sources, node, order, moments);
            }
            fn add_direct(
                how: (SimdLevel, RsqrtAccuracy),
                pair: Pair,
                sources: &Sources<Self>,
                ranges: &[DirectRange],
                brick: &Brick,
                sums: &mut [Self],
            ) {
                bricks::add_direct(how, pair, sources, ranges, brick, sums);
            }
            fn add_indirect(
                how: (SimdLevel, RsqrtAccuracy),
                expansions: &Expansions<Self>,
                tree: &SourceTree,
                nodes: &[u32],
                brick: &Brick,
                sums: &mut [Self],
            ) {
                bricks::add_indirect(how, expansions, tree, nodes, brick, sums);
            }
            fn rsqrt_accuracy(simd: SimdLevel, error: f64) -> RsqrtAccuracy {
                bricks::rsqrt_accuracy::<Self>(simd, error)
            }
        }
    };
}

precision!(f32);
precision!(f64);
