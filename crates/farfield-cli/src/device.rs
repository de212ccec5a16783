//! Devices as the command line names them.

use crate::failure::Failure;
use farfield::{Device, Error};

/// Says before any work whether the device asked for can be used.
pub fn check(device: Device) -> Result<(), Failure> {
    device.check().map_err(|error| failure(device, &error))
}

/// What is wrong with a graphics processor, with the device that was asked for.
pub fn failure(device: Device, error: &Error) -> Failure {
    match device {
        Device::Cpu | Device::Auto => Failure::data(error),
        device => Failure::Data(format!("--device {device}: {error}")),
    }
}
