//! Results on a GPU, handed over to other libraries.

use crate::dlpack::{self, Foreign};
use crate::failure::Failure;
use farfield::Error;
use farfield::memory::Array;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex, PoisonError};

/// An array of either precision.
#[derive(Debug)]
pub enum AnyArray {
    /// float32
    Single(Array<f32>),
    /// float64
    Double(Array<f64>),
}

impl AnyArray {
    fn address(&self) -> Result<u64, Error> {
        match self {
            AnyArray::Single(array) => array.device_address(),
            AnyArray::Double(array) => array.device_address(),
        }
    }

    fn stream_handle(&self) -> Result<u64, Error> {
        match self {
            AnyArray::Single(array) => array.memory().stream_handle(),
            AnyArray::Double(array) => array.memory().stream_handle(),
        }
    }

    /// # Safety
    /// `stream` is a stream of the array's GPU.
    unsafe fn waited_for_by(&self, stream: u64) -> Result<(), Error> {
        match self {
            // SAFETY: the same contract.
            AnyArray::Single(array) => unsafe { array.memory().waited_for_by(stream) },
            // SAFETY: the same contract.
            AnyArray::Double(array) => unsafe { array.memory().waited_for_by(stream) },
        }
    }

    /// # Safety
    /// `stream` is a stream of the array's GPU.
    unsafe fn wait_for(&self, stream: u64) -> Result<(), Error> {
        match self {
            // SAFETY: the same contract.
            AnyArray::Single(array) => unsafe { array.memory().wait_for(stream) },
            // SAFETY: the same contract.
            AnyArray::Double(array) => unsafe { array.memory().wait_for(stream) },
        }
    }
}

/// A result on a GPU. Other libraries take it over through `__dlpack__` or `__cuda_array_interface__`.
#[pyclass(frozen, module = "farfield._farfield")]
pub struct GpuArray {
    held: Arc<Held>,
    gpu: usize,
    shape: Vec<usize>,
}

impl GpuArray {
    /// A result with this shape.
    pub fn new(array: AnyArray, gpu: usize, shape: Vec<usize>) -> Self {
        let held = Held {
            array,
            readers: Mutex::default(),
        };
        Self {
            held: Arc::new(held),
            gpu,
            shape,
        }
    }
}

/// The memory of a result, and the streams that read it. The memory is freed when they are done.
struct Held {
    array: AnyArray,
    readers: Mutex<Vec<u64>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        let readers = self.readers.get_mut().unwrap_or_else(PoisonError::into_inner);
        for stream in readers {
            // If the device failed, there is nothing left to wait for.
            // SAFETY: the library that took the array named this stream as one of this GPU.
            let _ = unsafe { self.array.wait_for(*stream) };
        }
    }
}

/// DLPack's default stream: CUDA's legacy default stream.
const LEGACY_STREAM: i64 = 1;

#[pymethods]
impl GpuArray {
    /// Returns a DLPack capsule. `stream` is the stream on which the array will be read; -1 requests no
    /// synchronisation.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<Bound<'py, PyAny>>,
        dl_device: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = (max_version, dl_device);
        if copy == Some(true) {
            return Err(pyo3::exceptions::PyBufferError::new_err(
                "copy=True is not supported: copy the array after taking it over",
            ));
        }
        let stream = stream.unwrap_or(LEGACY_STREAM);
        if stream >= 0 {
            // DLPack forbids 0 for CUDA as ambiguous; it is read as the legacy default stream.
            let stream = if stream == 0 { LEGACY_STREAM } else { stream } as u64;
            // SAFETY: by the DLPack protocol it is a stream of this GPU.
            unsafe { self.held.array.waited_for_by(stream) }.map_err(Failure::from)?;
            let mut readers = self.held.readers.lock().unwrap_or_else(PoisonError::into_inner);
            if !readers.contains(&stream) {
                readers.push(stream);
            }
        }
        let address = self.held.array.address().map_err(Failure::from)?;
        let double = matches!(self.held.array, AnyArray::Double(_));
        dlpack::capsule(py, address, self.gpu, &self.shape, double, self.held.clone())
    }

    fn __dlpack_device__(&self) -> (i32, usize) {
        (2, self.gpu)
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let address = self.held.array.address().map_err(Failure::from)?;
        dict.set_item("shape", pyo3::types::PyTuple::new(py, &self.shape)?)?;
        dict.set_item("typestr", if self.is_double() { "<f8" } else { "<f4" })?;
        dict.set_item("data", (address, false))?;
        dict.set_item("strides", py.None())?;
        dict.set_item("stream", self.held.array.stream_handle().map_err(Failure::from)?)?;
        dict.set_item("version", 3)?;
        Ok(dict)
    }

    /// The shape of the array.
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    /// True for float64, false for float32.
    #[getter]
    fn is_double(&self) -> bool {
        matches!(self.held.array, AnyArray::Double(_))
    }
}

/// Exports an address as a DLPack capsule and imports it again, without reading the memory. For tests.
#[pyfunction]
pub fn round_trip<'py>(
    py: Python<'py>,
    address: u64,
    shape: Vec<usize>,
    double: bool,
) -> PyResult<(u64, Vec<usize>, bool)> {
    let capsule = dlpack::capsule(py, address, 0, &shape, double, ())?;
    let foreign = Foreign::of_capsule("array", &capsule)?;
    if Foreign::of_capsule("array", &capsule).is_ok() {
        return Err(Failure::Panic("a capsule was taken over twice".to_owned()).into());
    }
    Ok((foreign.address, foreign.shape.clone(), foreign.double))
}
