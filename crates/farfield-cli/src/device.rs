//! Devices as the command line names them.

use crate::failure::{Failure, with_remedy};
use farfield::{Device, Error};
use farfield_grid::poisson::PoissonDevice;

/// Checks before any work that the requested device can be used.
pub fn check(device: impl Into<PoissonDevice>) -> Result<(), Failure> {
    let device = device.into();
    farfield::check_device(device.of_sums()).map_err(|error| failure(device, &error))
}

/// The failure for an error of a GPU; its message names the requested device.
pub fn failure(device: impl Into<PoissonDevice>, error: &Error) -> Failure {
    match device.into() {
        PoissonDevice::One(Device::Cpu | Device::Auto) => Failure::data(error),
        device => Failure::Data(format!("--device {device}: {}", with_remedy(error))),
    }
}
