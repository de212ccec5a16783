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
}

impl Executor {
    /// Opens the device asked for; `on_gpu` says whether the sum can be done on a GPU at all.
    pub fn open(device: Device, on_gpu: bool) -> Result<Self, Failure> {
        match device {
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
