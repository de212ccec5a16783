//! The devices of this machine.

use crate::{Device, Error};
use farfield_cuda::device::Properties;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Reports early whether `device` can be used. Opens the GPU, and the sums that follow share it. The CPU and `auto` can
/// always be used.
///
/// # Errors
/// An error of the GPU or its driver; see [`Error::is_of_the_device`].
pub fn check_device(device: Device) -> Result<(), Error> {
    device.gpu().map_or(Ok(()), |number| open(number).map(|_| ()))
}

/// The GPUs of this machine. Does not open any.
///
/// # Errors
/// [`Error::NoDriver`] or [`Error::NoDevice`].
pub fn all_gpus() -> Result<Vec<Properties>, Error> {
    farfield_cuda::Device::all()
}

/// Opens a GPU, or returns it if it is open. Creating a context takes a third of a second, so it stays open until the
/// process ends.
///
/// # Errors
/// As [`check_device`].
pub fn open(number: usize) -> Result<Arc<farfield_cuda::Device>, Error> {
    static OPEN: Mutex<BTreeMap<usize, Arc<farfield_cuda::Device>>> = Mutex::new(BTreeMap::new());
    // A panic cannot leave the map in an invalid state.
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = open.get(&number) {
        return Ok(device.clone());
    }
    let device = farfield_cuda::Device::open(number)?;
    open.insert(number, device.clone());
    Ok(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_can_always_be_used() {
        assert_eq!(check_device(Device::Cpu), Ok(()));
        assert_eq!(check_device(Device::Auto), Ok(()));
    }
}
