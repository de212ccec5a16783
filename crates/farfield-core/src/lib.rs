//! The engine of farfield on the CPU: kernels, expansions, trees, plans.
//!
//! Users depend on the crate `farfield`, which adds the choice of a device. The steps of a sum:
//! points -> tree -> upward (P2M, M2M) -> interactions (M2L, P2P, or M2P) -> downward (L2L, L2P) -> results in the
//! caller's order.

pub mod bench;
pub mod check;
pub mod cost;
pub mod expansion;
mod geometry;
pub mod kernel;
pub mod machine;
pub mod plan;
pub mod plane;
pub mod points;
pub mod report;
pub mod simd;
#[doc(hidden)]
pub mod structure;
pub mod sum;
pub mod tuning;
pub mod verify;

mod direct;
mod error;
mod fmm;
mod p2p;
mod pages;
mod parallel;
mod tree;
mod treecode;

pub use error::{Error, Remedy};
pub use geometry::{Geometry, Limits, Plane, Space};
pub use plan::{Field, Plan};
pub use sum::{Device, Method, Options, Points, Request, Sum};
