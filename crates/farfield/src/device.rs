//! Where a sum is done.

use crate::Error;
use farfield_cuda::device::Properties;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

/// Where to sum. As a text: `cpu`, `cuda`, `cuda:1`, `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Device {
    /// The processor's cores.
    #[default]
    Cpu,
    /// The NVIDIA graphics processor of this number, from 0.
    Cuda(usize),
    /// The graphics processor 0 where there is one and the sum is expected to be done sooner there, transfers included;
    /// else the cores. Nothing is timed to decide.
    Auto,
}

impl Device {
    /// The kind without the number: `cpu`, `cuda` or `auto`.
    pub fn name(self) -> &'static str {
        match self {
            Device::Cpu => "cpu",
            Device::Cuda(_) => "cuda",
            Device::Auto => "auto",
        }
    }

    /// The graphics processor asked for, if one is.
    pub fn gpu(self) -> Option<usize> {
        match self {
            Device::Cuda(number) => Some(number),
            Device::Cpu | Device::Auto => None,
        }
    }

    /// Says early whether the device asked for can be used: opens the graphics processor, which the sums that follow
    /// share. The CPU can always be used, and so can `auto`.
    ///
    /// # Errors
    /// What is wrong with the graphics processor or its driver; see [`Error::is_of_the_device`].
    pub fn check(self) -> Result<(), Error> {
        self.gpu().map_or(Ok(()), |number| open(number).map(|_| ()))
    }

    /// The graphics processors there are. None is opened.
    ///
    /// # Errors
    /// [`Error::NoDriver`] or [`Error::NoDevice`].
    pub fn all_gpus() -> Result<Vec<Properties>, Error> {
        farfield_cuda::Device::all()
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.gpu() {
            Some(number) if number > 0 => write!(f, "{}:{number}", self.name()),
            _ => f.write_str(self.name()),
        }
    }
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, number) = match text.split_once(':') {
            Some((kind, number)) => (kind, Some(number)),
            None => (text, None),
        };
        let gpu = || match number {
            None => Ok(0),
            Some(number) => number
                .parse()
                .map_err(|_| format!("`{number}` is not the number of a graphics processor: 0, 1, ...")),
        };
        match kind {
            "cuda" => Ok(Device::Cuda(gpu()?)),
            "cpu" if number.is_none() => Ok(Device::Cpu),
            "auto" if number.is_none() => Ok(Device::Auto),
            _ => Err(format!(
                "`{text}` is not a device; the devices are: cpu, cuda, cuda:N, auto"
            )),
        }
    }
}

/// Opens a graphics processor, or returns the one that is open: a context takes a third of a second to create, so it
/// stays open until the process ends.
///
/// # Errors
/// As [`Device::check`].
pub fn open(number: usize) -> Result<Arc<farfield_cuda::Device>, Error> {
    static OPEN: Mutex<BTreeMap<usize, Arc<farfield_cuda::Device>>> = Mutex::new(BTreeMap::new());
    // A map that a panic left behind is still a map of open devices.
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
    fn devices_are_read_as_they_are_written() {
        for device in [Device::Cpu, Device::Cuda(0), Device::Cuda(3), Device::Auto] {
            assert_eq!(device.to_string().parse(), Ok(device));
        }
        for wrong in [
            "", "gpu", "hybrid", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "auto:1", "cuda:0:1",
        ] {
            assert!(wrong.parse::<Device>().is_err(), "{wrong}");
        }
        assert!("cuda:x".parse::<Device>().unwrap_err().contains("`x`"));
    }

    #[test]
    fn the_cpu_can_always_be_used() {
        assert_eq!(Device::Cpu.check(), Ok(()));
        assert_eq!(Device::Auto.check(), Ok(()));
    }
}
