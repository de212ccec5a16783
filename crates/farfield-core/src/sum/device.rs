//! The device of a sum.

use std::fmt;
use std::str::FromStr;

/// The device of a sum. As text: `cpu`, `cuda`, `cuda:1`, `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "String", into = "String")
)]
pub enum Device {
    /// The CPU.
    #[default]
    Cpu,
    /// The NVIDIA GPU with this index, from 0.
    Cuda(usize),
    /// GPU 0 if there is one and it is expected to be faster, transfers included; else the CPU. The decision takes no
    /// timings.
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

    /// The index of the requested GPU.
    pub fn gpu(self) -> Option<usize> {
        match self {
            Device::Cuda(number) => Some(number),
            Device::Cpu | Device::Auto => None,
        }
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
                .map_err(|_| format!("`{number}` is not the index of a GPU: 0, 1, ...")),
        };
        match kind {
            "cuda" => Ok(Device::Cuda(gpu()?)),
            "cpu" if number.is_none() => Ok(Device::Cpu),
            "auto" if number.is_none() => Ok(Device::Auto),
            _ => Err(format!("`{text}` is not a device; devices are cpu, cuda, cuda:N, auto")),
        }
    }
}

impl TryFrom<String> for Device {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Device> for String {
    fn from(device: Device) -> Self {
        device.to_string()
    }
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
            "", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "auto:1", "cuda:0:1", "hybrid",
        ] {
            assert!(wrong.parse::<Device>().is_err(), "{wrong}");
        }
        assert!("cuda:x".parse::<Device>().unwrap_err().contains("`x`"));
    }
}
