//! The octree, built and stored on the device.
//!
//! It has the same boxes as the CPU's (cut if they exceed the capacity) in another order: level by level, within a
//! level octant by octant, within an octant along the Morton curve, so that all boxes that share their shifts are
//! consecutive. There are no interaction lists: the boxes that act on a target box follow from its parent's
//! neighbours.

mod build;
mod parameters;

pub(crate) use build::{BoxesArg, DevicePoints};
pub use build::{BuildKind, Header, Octree, TreeShape};
pub(crate) use parameters::SortPass;

use crate::compile::Program;
use crate::device::Precision;

/// The program that builds trees.
pub fn program<T: Precision>() -> Program {
    let program = Program::new("tree", include_str!("../../kernels/tree.cu"));
    build::Kernels::<T>::check(program).define("FARFIELD_DOUBLE", i32::from(T::DOUBLE))
}
