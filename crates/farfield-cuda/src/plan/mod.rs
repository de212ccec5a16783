//! Sums planned and evaluated on a device: the GPU's counterpart of [`farfield::Plan`].

mod build;
mod evaluate;

pub use evaluate::Plan;
