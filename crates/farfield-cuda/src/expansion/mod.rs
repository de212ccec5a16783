//! Expansions on the device: their layout, the matrices that translate them, the shifts they are translated by.
//!
//! The basis and the order of the coefficients are those of [`farfield_core::expansion`]. Translations are dense matrices:
//! on tensor cores that is faster than rotating, because all boxes of a column share their matrices.

mod harmonics;
mod layout;
mod matrices;
mod parameters;
mod steps;

pub(crate) use layout::LOW_ORDER;
pub use layout::{Kind, Layout, Warps, translate_program};
pub(crate) use matrices::Matrices;
pub(crate) use parameters::{AddSlices, BuildMatrices, Slices, Task, Translate};
pub(crate) use steps::{Step, Steps};

use farfield_core::expansion::coefficient_count;

/// Numbers of a stored expansion: `STRIDE` of `kernels/expansion.cuh`.
pub(crate) fn stride(order: usize) -> usize {
    16 * row_tiles(order)
}

/// Tiles of 16 rows of a translation matrix.
pub(crate) fn row_tiles(order: usize) -> usize {
    coefficient_count(order).div_ceil(16)
}
