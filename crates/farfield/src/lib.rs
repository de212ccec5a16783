//! farfield sums long-range interactions fast: direct, treecode and FMM, to a tolerance you choose, on the CPU or on an
//! NVIDIA GPU.
//!
//! ```
//! use farfield::Device;
//! use farfield::points::{ChargeDistribution, PointSet};
//!
//! let sources = PointSet::Cube.generate::<f64>(10_000, 1);
//! let charges = ChargeDistribution::Signed.generate::<f64>(10_000, 1);
//! let field = farfield::coulomb(&sources, &charges)
//!     .gradient()
//!     .tolerance(1e-6)
//!     .device(Device::Auto) // a GPU if there is one and it is faster
//!     .evaluate()?;
//! println!("{} {:?}", field.potential()[0], field.gradient()[0]);
//! # Ok::<(), farfield::Error>(())
//! ```
//!
//! There are three levels: one call ([`coulomb`], [`gravity`], [`biot_savart`]), a reusable plan ([`Sum`], [`Plan`]; in
//! the plane [`plane::Sum`], [`plane::Plan`]), and the parts (the modules). This crate is the front door: it chooses
//! the device and hands the sum to an engine, `farfield-core` on the CPU or `farfield-cuda` on a GPU. Only Rust is
//! needed to build it; CUDA is loaded when a GPU is used.
//!
//! Options, errors and reports are the same for every device ([`Options`], [`Error`], [`report::Report`]), and so is
//! the contract: results in the caller's order, bitwise equal for any number of threads, and a field that keeps its
//! shape after an error.

mod device;
mod engine;
mod geometry;
mod one_call;
mod plan_of;
mod sum;

pub mod memory;
pub mod names;
pub mod plane;
pub mod report;
pub mod verify;

pub use device::{all_gpus, check_device, open};
pub use farfield_core::{Device, Error, Field, Method, Options, Remedy, Request};
pub use farfield_core::{bench, check, cost, expansion, kernel, machine, plan, points, simd, structure, tuning};
/// The engine on NVIDIA GPUs, for direct use of its parts.
pub use farfield_cuda as cuda;
pub use farfield_cuda::device::Precision;
pub use geometry::{Geometry, Space};
pub use one_call::{biot_savart, coulomb, gravity};
pub use plan_of::PlanOf;
pub use sum::SumOf;

/// A sum in space that can be planned.
pub type Sum<'a, T> = SumOf<'a, T, Space>;

/// A planned sum in space.
pub type Plan<T> = PlanOf<T, Space>;

/// The programs of the README, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
