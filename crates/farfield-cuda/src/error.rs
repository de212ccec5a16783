//! What can go wrong on the way to a graphics processor, each with its remedy.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use std::path::PathBuf;

/// Why a sum could not be planned or evaluated on a GPU.
///
/// After any of these the process stays usable: the same sum can be evaluated on the CPU.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The NVIDIA driver is not installed.
    #[error(
        "no NVIDIA driver: the library libcuda was not found. Install the driver, or mount it into the container \
         (docker run --gpus all), or sum on the CPU (--device cpu)"
    )]
    NoDriver,
    /// The driver is there but has no device for this process.
    #[error(
        "the NVIDIA driver offers no device ({reason}). Check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or use --device cpu"
    )]
    NoDevice {
        /// What the driver said.
        reason: String,
    },
    /// A device number beyond those there are.
    #[error("there is no CUDA device {asked}: this machine has {count}, numbered from 0")]
    DeviceNumber {
        /// The number asked for.
        asked: usize,
        /// How many there are.
        count: usize,
    },
    /// The device's instruction set is older than the kernels need.
    #[error(
        "the GPU {name} has compute capability {major}.{minor}; 8.0 (Ampere) or later is needed. Use --device cpu, or a \
         newer GPU"
    )]
    TooOld {
        /// The device.
        name: String,
        /// Its compute capability.
        major: i32,
        /// The part after the dot.
        minor: i32,
    },
    /// The run-time compiler is missing.
    #[error(
        "no libnvrtc, the CUDA run-time compiler. Install the CUDA toolkit or `pip install nvidia-cuda-nvrtc-cu12`, or \
         set FARFIELD_NVRTC to the library's path. Looked in: {searched}"
    )]
    NoNvrtc {
        /// Where it was looked for.
        searched: String,
    },
    /// The library found is not a usable run-time compiler.
    #[error("{path} is not a usable libnvrtc: {reason}. Set FARFIELD_NVRTC to another one")]
    BadNvrtc {
        /// The library.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A kernel did not compile: a defect of this library or of the compiler.
    #[error("the kernel {program} does not compile for {architecture}: {log}")]
    Compile {
        /// Which program.
        program: String,
        /// For which GPU.
        architecture: String,
        /// What the compiler said.
        log: String,
    },
    /// The sum does not fit into the device's memory.
    #[error(
        "this sum needs about {needed_gib:.2} GiB of device memory, but only {available_gib:.2} GiB are free on {device}. \
         Use fewer points or charge vectors at once, single precision, or --device cpu"
    )]
    Memory {
        /// The forecast.
        needed_gib: f64,
        /// What is free.
        available_gib: f64,
        /// The device.
        device: String,
    },
    /// The driver refused or failed a call; a failed kernel shows up here.
    #[error("CUDA failed to {action}: {reason}. The device may need a new process; the CPU still works (--device cpu)")]
    Driver {
        /// What was tried.
        action: String,
        /// The driver's own words.
        reason: String,
    },
    /// Something the CPU engine can do and this one cannot.
    #[error("{what} does not run on the GPU yet: {remedy}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// What to do instead.
        remedy: &'static str,
    },
    /// The sum itself is wrong.
    #[error(transparent)]
    Sum(#[from] farfield_core::Error),
}

impl Error {
    /// Names what was tried when the driver failed.
    pub(crate) fn driver(action: impl Into<String>) -> impl FnOnce(DriverError) -> Error {
        let action = action.into();
        move |error| Error::Driver {
            action,
            reason: describe(&error),
        }
    }
}

/// The driver's name and text of an error, and what often helps.
pub(crate) fn describe(error: &DriverError) -> String {
    let text = |text: Result<&std::ffi::CStr, DriverError>| text.map(|text| text.to_string_lossy().into_owned());
    let (Ok(name), Ok(words)) = (text(error.error_name()), text(error.error_string())) else {
        return format!("{:?}", error.0);
    };
    let hint = match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => "; free device memory or use a smaller sum",
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            "; the run-time compiler is newer than the driver: update the driver or use an older libnvrtc"
        }
        _ => "",
    };
    format!("{name}, {words}{hint}")
}
