//! The device against the truth: sums in space and in the plane, the Poisson problem's bricks, simulations.
//!
//! Needs a GPU, so it is not a `cargo test`: `farfield selftest --device cuda` runs it and prints the table.

mod checks;
mod cores;
mod plane;
mod poisson;
mod simulations;
mod space;
mod structured;
mod tree;

pub use checks::{Checks, Extent, Row};
pub use poisson::run as run_poisson;
pub use simulations::run as run_simulations;

use crate::error::Error;
use farfield::cuda::Device;
use farfield::cuda::device::Precision;
use std::sync::Arc;

/// A kind of sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sums {
    /// Operators, kernels, cores and methods in space.
    Space,
    /// The same in the plane.
    Plane,
    /// Points and strengths with structure.
    Structured,
}

impl Sums {
    /// All kinds.
    pub const ALL: [Sums; 3] = [Sums::Space, Sums::Plane, Sums::Structured];
}

/// Runs the checks of one kind of sums in one precision, and hands each row to `report` as it comes.
///
/// # Errors
/// Any of [`Error`]: a device that fails ends the test; a wrong result is a row.
pub fn run_in<T: Precision>(
    device: &Arc<Device>,
    sums: Sums,
    extent: Extent,
    report: &mut dyn FnMut(&Row),
) -> Result<(), Error> {
    match sums {
        Sums::Space => space::run_in::<T>(device, extent, report),
        Sums::Plane => plane::run_in::<T>(device, extent, report),
        Sums::Structured => {
            let mut checks = Checks::default();
            structured::add_checks::<T>(&mut checks, extent);
            checks.run(device, extent, report)
        }
    }
}
