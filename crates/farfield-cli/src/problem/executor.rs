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
}

impl Executor {
    /// Opens the device asked for; `on_gpu` says whether the sum can be done on a GPU at all.
    pub fn open(device: Device, on_gpu: bool) -> Result<Self, Failure> {
        match device {
            // `auto` looks for a GPU when the size of the sum is known.
            Device::Cpu | Device::Auto => Ok(Executor::Cpu),
            Device::Cuda if !on_gpu => Err(Failure::data(
                "--device cuda: in this build the plane is summed on the CPU; use --device cpu",
            )),
            Device::Cuda => Ok(Executor::Cuda(farfield_cuda::Device::open(0)?)),
            Device::Hybrid => Err(Failure::data(
                "--device hybrid: this build sums on the CPU or on the GPU, not on both at once; use --device cpu or cuda",
            )),
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

    /// The device that sums, if not the CPU.
    pub fn device(&self) -> Option<&Arc<farfield_cuda::Device>> {
        match self {
            Executor::Cpu => None,
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
        }
    }

    /// The instruction set: `avx512`, or `sm_90`.
    pub fn instruction_set(&self) -> String {
        match self {
            Processor::Cpu { simd, .. } => simd.name().to_owned(),
            Processor::Cuda(properties) => format!("sm_{}", properties.architecture),
        }
    }
}
