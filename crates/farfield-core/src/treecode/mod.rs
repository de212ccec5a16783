//! The treecode: multipoles of boxes far enough away, pairs for the rest.
//!
//! It shares the FMM's tree, expansions and passes; only its lists differ ([`lists`]), and no local expansions exist.

pub(crate) mod evaluate;
pub(crate) mod lists;
pub(crate) mod tuning;
