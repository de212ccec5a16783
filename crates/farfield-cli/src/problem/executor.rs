//! What sums: the processor's cores or a graphics processor.

use crate::args::Device;
use crate::failure::Failure;
use farfield::simd::{Real, SimdLevel};
use std::sync::Arc;

/// Where sums are done.
#[derive(Debug, Clone, Default)]
pub enum Executor {
    #[default]
    Cpu,
    Cuda(Arc<farfield_cuda::Device>),
    /// A graphics processor, or the CPU where it cannot do the sum.
    Auto(Arc<farfield_cuda::Device>),
    /// Pairs of points on a graphics processor, the rest on the CPU, at the same time.
    Hybrid(Arc<farfield_cuda::Device>),
}

impl Executor {
    /// Opens the device asked for; `by_both` says whether CPU and GPU can share the sum.
    pub fn open(device: Device, by_both: bool) -> Result<Self, Failure> {
        match device {
            // `auto` looks for a GPU when the size of the sum is known.
            Device::Cpu | Device::Auto => Ok(Executor::Cpu),
            Device::Cuda => Ok(Executor::Cuda(farfield_cuda::Device::open(0)?)),
            Device::Hybrid if !by_both => Err(Failure::data(
                "--device hybrid: in the plane a sum is done on the CPU or on the GPU, not on both at once; use --device \
                 cpu or cuda",
            )),
            Device::Hybrid => {
                let gpu = farfield_cuda::Device::open(0);
                Ok(Executor::Hybrid(gpu.map_err(|error| device.failure(error))?))
            }
        }
    }

    /// The GPU, if there is one and `pays` says that it is worth opening; else the CPU.
    pub fn fastest(pays: impl FnOnce(&farfield_cuda::device::Properties) -> bool) -> Self {
        let Ok(devices) = farfield_cuda::Device::all() else {
            return Executor::Cpu;
        };
        match devices.first() {
            Some(properties) if pays(properties) => {
                farfield_cuda::Device::open(properties.ordinal).map_or(Executor::Cpu, Executor::Auto)
            }
            _ => Executor::Cpu,
        }
    }

    /// The device that sums alone, if not the CPU.
    pub fn device(&self) -> Option<&Arc<farfield_cuda::Device>> {
        match self {
            Executor::Cpu | Executor::Hybrid(_) => None,
            Executor::Cuda(device) | Executor::Auto(device) => Some(device),
        }
    }
}

/// What did a sum, for reports.
#[derive(Debug, Clone)]
pub enum Processor {
    Cpu {
        simd: SimdLevel,
        /// Numbers in a SIMD register.
        lanes: usize,
    },
    Cuda(farfield_cuda::device::Properties),
    /// The CPU and a GPU.
    Hybrid(SimdLevel, farfield_cuda::device::Properties),
}

impl Processor {
    /// The CPU with an instruction set, in a precision.
    pub fn cpu<T: Real>(simd: SimdLevel) -> Self {
        Processor::Cpu {
            simd,
            lanes: simd.lanes::<T>(),
        }
    }

    /// Its name on the command line.
    pub fn device(&self) -> &'static str {
        match self {
            Processor::Cpu { .. } => "cpu",
            Processor::Cuda(_) => "cuda",
            Processor::Hybrid(..) => "hybrid",
        }
    }

    /// The instruction set: `avx512`, or `sm_90`.
    pub fn instruction_set(&self) -> String {
        match self {
            Processor::Cpu { simd, .. } => simd.name().to_owned(),
            Processor::Cuda(gpu) => format!("sm_{}", gpu.architecture),
            Processor::Hybrid(simd, gpu) => format!("{}+sm_{}", simd.name(), gpu.architecture),
        }
    }
}
