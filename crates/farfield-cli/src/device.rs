//! Devices as the command line names them.

use crate::failure::{Failure, with_remedy};
use farfield::{Device, Error};
use farfield_grid::poisson::PoissonDevice;

/// Says before any work whether the device asked for can be used.
pub fn check(device: impl Into<PoissonDevice>) -> Result<(), Failure> {
    let device = device.into();
    farfield::check_device(device.of_sums()).map_err(|error| failure(device, &error))
}

/// What is wrong with a graphics processor, with the device that was asked for.
pub fn failure(device: impl Into<PoissonDevice>, error: &Error) -> Failure {
    match device.into() {
        PoissonDevice::One(Device::Cpu | Device::Auto) => Failure::data(error),
        device => Failure::Data(format!("--device {device}: {}", with_remedy(error))),
    }
}
