//! Sums between arrays that other libraries have on a GPU: nothing passes the host.
//!
//! The package asks a library for its array by `__dlpack__` with the handle of [`stream`], so that the library makes that
//! stream wait for its own work ([`input`]). The numbers are copied on the GPU into the engine's memory, summed ([`sum`],
//! [`plan`]), and the results handed out by DLPack ([`array`]): whoever takes one names its stream, which is made to wait
//! for the sum.

pub mod array;
mod input;
pub mod plan;
pub mod sum;

use crate::failure::Failure;
use crate::numbers::Scalar;
use crate::pools::check_device;
use crate::wait;
use array::AnyArray;
use farfield::Device;
use farfield::memory::{Array, Memory};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The memories of a GPU, one for each precision.
#[derive(Debug, Clone)]
struct Memories {
    single: Memory<f32>,
    double: Memory<f64>,
}

/// Those of this process, opened when they are first asked for.
fn memories(gpu: usize) -> Result<Memories, Failure> {
    static OPEN: Mutex<BTreeMap<usize, Memories>> = Mutex::new(BTreeMap::new());
    check_device(Device::Cuda(gpu))?;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(memories) = open.get(&gpu) {
        return Ok(memories.clone());
    }
    let memories = Memories {
        single: Memory::of(Device::Cuda(gpu))?,
        double: Memory::of(Device::Cuda(gpu))?,
    };
    open.insert(gpu, memories.clone());
    Ok(memories)
}

/// A precision and the memory for it.
pub trait OnGpu: Scalar {
    /// The memory among those of a GPU.
    fn memory(gpu: usize) -> Result<Memory<Self>, Failure>;
    /// An array of either precision.
    fn any(array: Array<Self>) -> AnyArray;
}

impl OnGpu for f32 {
    fn memory(gpu: usize) -> Result<Memory<f32>, Failure> {
        Ok(memories(gpu)?.single)
    }
    fn any(array: Array<f32>) -> AnyArray {
        AnyArray::Single(array)
    }
}

impl OnGpu for f64 {
    fn memory(gpu: usize) -> Result<Memory<f64>, Failure> {
        Ok(memories(gpu)?.double)
    }
    fn any(array: Array<f64>) -> AnyArray {
        AnyArray::Double(array)
    }
}

/// The handle of the stream that sums of this precision on this GPU are on.
#[pyfunction]
pub fn stream(gpu: usize, double: bool) -> PyResult<u64> {
    let memories = memories(gpu)?;
    let handle = if double {
        memories.double.stream_handle()
    } else {
        memories.single.stream_handle()
    };
    Ok(handle.map_err(Failure::from)?)
}

/// The bytes that travelled between the host and this GPU so far: sent and fetched.
#[pyfunction]
pub fn traffic(gpu: usize) -> PyResult<(u64, u64)> {
    let traffic = memories(gpu)?.single.traffic();
    Ok((traffic.sent, traffic.fetched))
}

/// Does the work of a sum: long ones where signals are heard meanwhile.
fn wait_if_long<R: Send + 'static>(
    py: Python<'_>,
    sources: usize,
    direct: bool,
    work: impl FnOnce() -> Result<R, Failure> + Send + 'static,
) -> PyResult<Result<R, Failure>> {
    // Up to there a GPU is done within a tenth of a second, and a thread to wait in would be felt.
    if sources > 4_000_000 || (direct && sources > 200_000) {
        wait::long(py, work)
    } else {
        Ok(wait::short(py, work))
    }
}
