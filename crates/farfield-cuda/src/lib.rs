//! farfield on NVIDIA GPUs.
//!
//! ```no_run
//! use farfield_core::kernel::{Kernel, Output};
//! use farfield_core::points::{ChargeDistribution, PointSet};
//! use farfield_core::{Request, Space};
//!
//! let device = farfield_cuda::Device::open(0)?;
//! let sources = PointSet::Cube.generate::<f32>(1_000_000, 1);
//! let charges = ChargeDistribution::Signed.generate::<f32>(1_000_000, 1);
//! let mut request = Request::<Space>::new(Kernel::Coulomb);
//! request.outputs.push(Output::Gradient);
//! let field = farfield_cuda::Plan::new(&device, &request.between(&sources))?.evaluate(&charges)?;
//! println!("{}", field.potential()[0]);
//! # Ok::<(), farfield_cuda::Error>(())
//! ```
//!
//! This crate builds and links without CUDA: the driver and the run-time compiler libnvrtc are loaded when
//! [`Device::open`] and the first plan need them. If one is missing, a typed [`Error`] names what to install.
//!
//! - [`device`]: a GPU, its memory and its timers;
//! - [`compile`]: kernels compiled at run time, with a cache on disk;
//! - [`kernel`]: the specialisation of the device code;
//! - [`tree`]: the octree, built on the device;
//! - [`expansion`]: translations as matrix products on tensor cores;
//! - [`bricks`]: sums at the points of regular grids that share a plan;
//! - [`direct`], [`fmm`], [`treecode`]: the methods; each `evaluate.rs` is the algorithm on one screen;
//! - [`plane`]: all of this for sums in the plane;
//! - [`tuning`]: tolerance to orders and leaf size; [`auto`]: device or CPU;
//! - [`resident`]: states that stay on the device between sums;
//! - [`plan`]: plans in space, the way in.
//!
//! The sources of the device code are in `kernels/`.

pub mod auto;
pub mod bricks;
pub mod check;
pub mod compile;
pub mod device;
pub mod direct;
pub mod expansion;
pub mod fmm;
pub mod kernel;
pub mod plan;
pub mod plane;
pub mod resident;
#[doc(hidden)]
pub mod structure;
pub mod tree;
pub mod treecode;
pub mod tuning;

mod error;

pub use device::Device;
pub use error::Error;
pub use plan::Plan;
