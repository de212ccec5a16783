//! Sums planned and evaluated on a device: the GPU's counterpart of [`farfield_core::Plan`].

mod build;
mod check;
mod evaluate;
mod geometry;
mod on_device;

pub(crate) use build::check_point_count;
pub use evaluate::Plan;
pub(crate) use geometry::PlannedOnDevice;
pub(crate) use on_device::PointsOnDevice;
