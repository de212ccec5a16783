//! farfield sums long-range interactions fast: direct, treecode and FMM, to a tolerance you choose.
//!
//! ```
//! use farfield_core::points::{ChargeDistribution, PointSet};
//!
//! let sources = PointSet::Cube.generate::<f64>(10_000, 1);
//! let charges = ChargeDistribution::Signed.generate::<f64>(10_000, 1);
//! let field = farfield_core::coulomb(&sources, &charges).gradient().tolerance(1e-6).evaluate()?;
//! println!("{} {:?}", field.potential()[0], field.gradient()[0]);
//! # Ok::<(), farfield_core::Error>(())
//! ```
//!
//! Three levels: one call ([`coulomb`], [`gravity`], [`biot_savart`]), a reusable plan ([`Sum`], [`Plan`]), and the
//! parts (the modules). How a sum flows:
//! points -> tree -> upward (P2M, M2M) -> interact (M2L, P2P, or M2P) -> downward (L2L, L2P) -> results in the
//! caller's own order.

pub mod bench;
pub mod check;
pub mod expansion;
pub mod kernel;
pub mod machine;
pub mod plan;
pub mod plane;
pub mod points;
pub mod report;
pub mod simd;
pub mod structure;
pub mod tuning;
pub mod verify;

mod direct;
mod error;
mod fmm;
mod p2p;
mod parallel;
mod tree;
mod treecode;

pub use error::Error;
pub use plan::{Field, Method, Plan, Sum, biot_savart, coulomb, gravity};
