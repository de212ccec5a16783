//! The treecode: multipoles of distant boxes, pairs for the rest.
//!
//! It shares the FMM's tree, expansions and passes. Only its lists differ ([`lists`]), and it has no local expansions.

pub(crate) mod evaluate;
pub(crate) mod lists;
pub(crate) mod tuning;
