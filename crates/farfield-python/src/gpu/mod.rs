//! Sums of arrays that other libraries hold on a GPU. No array passes through the host.
//!
//! The package requests an array by calling its `__dlpack__` with the handle of [`stream`], so that the other library
//! makes that stream wait for its own work ([`input`]). The numbers are copied on the GPU into the engine's memory and
//! summed ([`sum`], [`plan`]). Results are exported by DLPack ([`array`]): the library that takes one names its stream,
//! which is made to wait for the sum.

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

/// The memories of a GPU in this process, opened on first use.
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

/// Connects a precision with GPU memory and arrays of that precision.
pub trait OnGpu: Scalar {
    /// The memory of a GPU for this precision.
    fn memory(gpu: usize) -> Result<Memory<Self>, Failure>;
    /// Wraps an array of this precision.
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

/// The handle of the stream on which sums of this precision run on this GPU.
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

/// The bytes sent to and fetched from this GPU so far.
#[pyfunction]
pub fn traffic(gpu: usize) -> PyResult<(u64, u64)> {
    let traffic = memories(gpu)?.single.traffic();
    Ok((traffic.sent, traffic.fetched))
}

/// Runs the work of a sum; if it is long, on another thread while this one checks for signals.
fn wait_if_long<R: Send + 'static>(
    py: Python<'_>,
    sources: usize,
    direct: bool,
    work: impl FnOnce() -> Result<R, Failure> + Send + 'static,
) -> PyResult<Result<R, Failure>> {
    // Up to these sizes a GPU needs less than a tenth of a second, and starting a thread would be noticeable.
    if sources > 4_000_000 || (direct && sources > 200_000) {
        wait::long(py, work)
    } else {
        Ok(wait::short(py, work))
    }
}
