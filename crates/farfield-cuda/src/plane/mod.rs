//! Sums in the plane on the device: Goude and Engblom's adaptive FMM and the direct sum, the counterparts of
//! [`farfield_core::plane`].
//!
//! ```no_run
//! use farfield_core::plane::{Kernel, PlaneSet};
//! use farfield_core::{Plane, Request};
//!
//! let device = farfield_cuda::Device::open(0)?;
//! let sources = PlaneSet::Normal.generate::<f64>(1_000_000, 1);
//! let circulations = vec![1.0; 1_000_000];
//! let request = Request::<Plane>::new(Kernel::Harmonic);
//! let field = farfield_cuda::plane::Plan::new(&device, &request.between(&sources))?.evaluate(&circulations)?;
//! # Ok::<(), farfield_cuda::Error>(())
//! ```
//!
//! - `pyramid`: the median-split pyramid, sorted on the device;
//! - `connect`: the interaction lists, by the theta criterion;
//! - `fmm`: the algorithm on one screen; `direct`: all pairs;
//! - `input`: a sum with points on the host or on the device; `ends`: the first and last steps of both methods;
//! - [`kind`]: the specialisation of the device code; [`tuning`]: tolerance to order and depth;
//! - [`Plan`]: the way in.

mod check;
mod connect;
mod direct;
mod ends;
mod fmm;
mod input;
pub mod kind;
mod on_device;
mod plan;
mod pyramid;
pub mod tuning;

/// A planned sum in the plane whose points are on the device.
pub type Plan<T> = crate::plan::Plan<T, farfield_core::Plane>;

use crate::compile::Program;
use crate::device::Precision;
use kind::PairKind;

/// The program that builds pyramids.
pub fn pyramid_program<T: Precision>() -> Program {
    let program = Program::new("plane_pyramid", include_str!("../../kernels/plane_pyramid.cu"));
    pyramid::Kernels::<T>::check(program).define("FARFIELD_DOUBLE", i32::from(T::DOUBLE))
}

/// The program that couples boxes.
pub fn connect_program<T: Precision>() -> Program {
    let program = Program::new("plane_connect", include_str!("../../kernels/plane_connect.cu"));
    connect::Kernels::<T>::check(program).define("FARFIELD_DOUBLE", i32::from(T::DOUBLE))
}

/// The program of the expansions up to the leaves.
pub fn expansion_program<T: Precision>(kind: &PairKind, order: usize) -> Program {
    // The number of rows of M2L that registers hold at once.
    let rows = if T::DOUBLE { 18 } else { 34 };
    let program = Program::new("plane_expansion", include_str!("../../kernels/plane_expansion.cu"));
    let program = fmm::Kernels::<T>::check(program)
        .define("FARFIELD_ORDER", order)
        .define("FARFIELD_ROWS", rows);
    kind.far().define::<T>(program)
}

/// The program of L2P, M2P and P2P, with `targets` targets per thread.
pub fn leaf_program<T: Precision>(kind: &PairKind, order: usize, targets: u32) -> Program {
    let program = Program::new("plane_leaf", include_str!("../../kernels/plane_leaf.cu"));
    let program = fmm::LeafKernels::<T>::check(program)
        .define("FARFIELD_ORDER", order)
        .define("FARFIELD_TARGETS", targets);
    kind.define::<T>(program)
}

/// The program of the direct sum, and of packing sources and writing outputs.
pub fn direct_program<T: Precision>(kind: &PairKind) -> Program {
    let program = Program::new("plane_direct", include_str!("../../kernels/plane_direct.cu"));
    let program = ends::Kernels::<T>::check(direct::Kernels::<T>::check(program));
    kind.define::<T>(direct::blocking(kind).define(program))
}

/// The number of boxes on all levels above `level`, which is the index of its first box in arrays over all boxes.
pub(crate) fn first_of_level(level: usize) -> usize {
    ((1 << (2 * level)) - 1) / 3
}
