//! C interface of farfield: opaque sums and plans, a status from every call, and no panic that crosses into C.
//!
//! The header `include/farfield.h` is generated from this crate and is its documentation for callers.
//!
//! 1. [`farfield_sum_new`] and the setters describe a sum by names and numbers ([`sum`]).
//! 2. [`farfield_plan_f64`] plans the sum for given points, [`farfield_evaluate_f64`] evaluates it ([`plan`]).
//! 3. [`farfield_coulomb_f64`] and the other one-call functions do all of that at once ([`one_call`]).
//! 4. [`status`]: error codes and messages. Every function runs inside [`status::guarded`].

#![allow(non_camel_case_types)]

pub mod one_call;
pub mod plan;
pub mod status;
pub mod sum;

pub use one_call::*;
pub use plan::*;
pub use status::{farfield_message, farfield_status, farfield_version};
pub use sum::*;
