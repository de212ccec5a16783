//! farfield sums long-range interactions fast: direct, treecode and FMM, to a tolerance you choose.

pub use farfield_core::*;
