//! farfield from C: opaque sums and plans, a status from every call, and no panic across the border.
//!
//! The header `include/farfield.h` is generated from this crate and is its documentation for callers.
//!
//! 1. [`farfield_sum_new`] and the setters describe a sum by names and numbers ([`sum`]).
//! 2. [`farfield_plan_f64`] makes it ready for points, [`farfield_evaluate_f64`] sums ([`plan`]).
//! 3. [`farfield_coulomb_f64`] and its like do all of that in one call ([`one_call`]).
//! 4. [`status`]: what went wrong, as a code and a sentence; every function enters through [`status::guarded`].

#![allow(non_camel_case_types)]

pub mod one_call;
pub mod plan;
pub mod status;
pub mod sum;

pub use one_call::*;
pub use plan::*;
pub use status::{farfield_message, farfield_status, farfield_version};
pub use sum::*;
