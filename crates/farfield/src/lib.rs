//! farfield sums long-range interactions fast: direct, treecode and FMM, to a tolerance you choose.

pub use farfield_core::*;

/// The programs of the README, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
