//! Expansions on the device: their layout, the translation matrices and the shifts.
//!
//! The basis and the order of the coefficients are those of [`farfield_core::expansion`]. Translations are dense
//! matrices. On tensor cores these are faster than rotations, because all boxes of a column share their matrices.

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

/// The number of values in a stored expansion: `STRIDE` of `kernels/expansion.cuh`.
pub(crate) fn stride(order: usize) -> usize {
    16 * row_tiles(order)
}

/// The number of tiles of 16 rows in a translation matrix.
pub(crate) fn row_tiles(order: usize) -> usize {
    coefficient_count(order).div_ceil(16)
}
