//! Sums between arrays that other libraries have on a GPU: nothing passes the host.
//!
//! The package asks a library for its array by `__dlpack__` with the handle of [`stream`], so that the library makes that
//! stream wait for its own work. The numbers are copied on the GPU into the engine's memory, summed, and the results handed
//! out by DLPack: whoever takes one names its stream, which is made to wait for the sum.

use crate::dlpack::{self, Foreign};
use crate::failure::Failure;
use crate::numbers::{AnyNumbers, Scalar};
use crate::pools::check_device;
use crate::request::Request;
use crate::wait;
use farfield::memory::{Array, ArraySizes, ArraySum, Memory};
use farfield::{Device, Error};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

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

/// Numbers for a sum: on the GPU already, or on the host, to be sent.
#[derive(Debug)]
pub enum Input {
    /// There already.
    Gpu(Foreign),
    /// To be sent.
    Host(AnyNumbers),
}

/// An input as the package describes it: a numpy array, a capsule of DLPack, or a tuple of object, address, GPU, shape,
/// whether it is float64, and the stream it is written on.
fn input(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Input> {
    if let Ok(numbers) = object.extract::<AnyNumbers>() {
        return Ok(Input::Host(numbers));
    }
    type Interface = (Py<PyAny>, u64, usize, Vec<usize>, bool, u64);
    if let Ok((keep, address, gpu, shape, double, stream)) = object.extract::<Interface>() {
        let memories = memories(gpu)?;
        // SAFETY: the object's interface names the stream that it is written on.
        let ordered = unsafe {
            match double {
                true => memories.double.wait_for(stream),
                false => memories.single.wait_for(stream),
            }
        };
        ordered.map_err(Failure::from)?;
        return Ok(Input::Gpu(Foreign::of_interface(keep, address, gpu, shape, double)));
    }
    Ok(Input::Gpu(Foreign::of_capsule(name, object)?))
}

impl Input {
    fn array<T: OnGpu>(&self, name: &str, gpu: usize, memory: &Memory<T>) -> Result<Array<T>, Failure> {
        match self {
            Input::Host(numbers) => Ok(memory.store(numbers.slice::<T>(name)?.to_vec())?),
            Input::Gpu(foreign) => {
                if foreign.gpu != gpu {
                    return Err(Failure::Argument(format!(
                        "{name}: is on GPU {}, but sources are on GPU {gpu}",
                        foreign.gpu
                    )));
                }
                if foreign.double != (size_of::<T>() == 8) {
                    let (found, expected) = if foreign.double {
                        ("float64", "float32")
                    } else {
                        ("float32", "float64")
                    };
                    return Err(Failure::Argument(format!(
                        "{name}: is {found}, but sources are {expected}"
                    )));
                }
                // SAFETY: the array is alive as long as the input, which outlives the sum; its library made the memory's
                // stream wait for what writes it.
                Ok(unsafe { memory.copy_of_foreign(foreign.address, foreign.len()) }?)
            }
        }
    }
}

/// The arrays of a sum as the package hands them over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Operands<'py> {
    sources: Bound<'py, PyAny>,
    targets: Option<Bound<'py, PyAny>>,
    sizes: Option<Bound<'py, PyAny>>,
    strengths: Bound<'py, PyAny>,
}

/// All inputs of a sum.
struct Inputs {
    sources: Input,
    targets: Option<Input>,
    sizes: Option<Input>,
    strengths: Input,
}

/// A result on the GPU: other libraries take it over by `__dlpack__` or `__cuda_array_interface__`.
#[pyclass(frozen, module = "farfield._farfield")]
pub struct GpuArray {
    held: Arc<Held>,
    gpu: usize,
    shape: Vec<usize>,
}

/// The memory of a result, and who reads it: it is given back when they are done.
struct Held {
    array: AnyArray,
    readers: Mutex<Vec<u64>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        let readers = self.readers.get_mut().unwrap_or_else(PoisonError::into_inner);
        for stream in readers {
            // If the device failed there is nothing left to wait for.
            // SAFETY: the stream was named by whoever took the array, for this GPU.
            let _ = unsafe { self.array.wait_for(*stream) };
        }
    }
}

/// DLPack's default: CUDA's legacy stream.
const LEGACY_STREAM: i64 = 1;

#[pymethods]
impl GpuArray {
    /// DLPack's capsule. `stream` is the one it will be read on: -1 for a reader that takes care itself.
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
                "copies are not made: copy what you take",
            ));
        }
        let stream = stream.unwrap_or(LEGACY_STREAM);
        if stream >= 0 {
            // 0 is not DLPack's to say, but what it means is clear.
            let stream = if stream == 0 { LEGACY_STREAM } else { stream } as u64;
            // SAFETY: by DLPack's protocol it is a stream of this GPU.
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

    /// Its shape.
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    /// Whether it is float64; else it is float32.
    #[getter]
    fn is_double(&self) -> bool {
        matches!(self.held.array, AnyArray::Double(_))
    }
}

/// Sums; one array per output, of the shape (vectors, targets, components) without axes of one number, and the seconds
/// that the library itself took.
#[pyfunction]
pub fn sum_on_gpu(
    py: Python<'_>,
    request: Request,
    gpu: usize,
    operands: Operands<'_>,
    shapes: Vec<Vec<usize>>,
) -> PyResult<(Vec<GpuArray>, f64)> {
    let mut names = request.names();
    let optional = |name: &str, object: Option<Bound<'_, PyAny>>| object.map(|object| input(name, &object)).transpose();
    let inputs = Inputs {
        sources: input("sources", &operands.sources)?,
        targets: optional("targets", operands.targets)?,
        sizes: optional(&names.sizes, operands.sizes)?,
        strengths: input(&names.strengths, &operands.strengths)?,
    };
    names.sources = match &inputs.sources {
        Input::Gpu(foreign) => foreign.len() / 3,
        Input::Host(numbers) => numbers.len() / 3,
    };
    let double = matches!(request.sources, AnyNumbers::Double(_));
    // Up to there a GPU is done within a tenth of a second, and a thread to wait in would be felt.
    let long = names.sources > 4_000_000 || request.options()?.method == farfield::Method::Direct;
    let work = move || match double {
        true => sum::<f64>(&request, gpu, &inputs),
        false => sum::<f32>(&request, gpu, &inputs),
    };
    let done = if long {
        wait::long(py, work)?
    } else {
        wait::short(py, work)
    };
    let (arrays, seconds) = done.map_err(|failure| names.exception(&failure))?;
    let result = |(array, shape)| GpuArray {
        held: Arc::new(Held {
            array,
            readers: Mutex::default(),
        }),
        gpu,
        shape,
    };
    Ok((arrays.into_iter().zip(shapes).map(result).collect(), seconds))
}

fn sum<T: OnGpu>(request: &Request, gpu: usize, inputs: &Inputs) -> Result<(Vec<AnyArray>, f64), Failure> {
    let memory = T::memory(gpu)?;
    let names = request.names();
    let sources = inputs.sources.array("sources", gpu, &memory)?;
    let targets = inputs
        .targets
        .as_ref()
        .map(|targets| targets.array("targets", gpu, &memory));
    let targets = targets.transpose()?;
    let each = inputs
        .sizes
        .as_ref()
        .map(|sizes| sizes.array(&names.sizes, gpu, &memory));
    let each = each.transpose()?;
    let strengths = inputs.strengths.array(&names.strengths, gpu, &memory)?;
    let sizes = match (&each, request.size()) {
        (Some(each), _) => ArraySizes::PerSource {
            each,
            largest: T::from_f64(each.longest(1)?.0),
        },
        (None, Some(size)) => ArraySizes::Global(T::from_f64(size)),
        (None, None) => ArraySizes::None,
    };
    let (outputs, options) = (request.outputs_in_space()?, request.options()?);
    let summed = memory.sum(&ArraySum {
        kernel: request.kernel_in_space()?,
        outputs: &outputs,
        vectors: request.vectors,
        sources: &sources,
        targets: targets.as_ref(),
        sizes,
        strengths: &strengths,
        options: &options,
    })?;
    Ok((summed.outputs.into_iter().map(T::any).collect(), summed.seconds))
}

/// The least seconds of so many sums of numpy arrays whose copies are on a GPU already, from Rust alone: what the same sum
/// costs without Python.
#[pyfunction]
pub fn seconds_on_gpu(
    py: Python<'_>,
    request: Request,
    gpu: usize,
    sources: AnyNumbers,
    strengths: AnyNumbers,
    repeats: usize,
) -> PyResult<Vec<f64>> {
    fn repeat<T: OnGpu>(
        request: &Request,
        gpu: usize,
        (sources, strengths): (&AnyNumbers, &AnyNumbers),
        repeats: usize,
    ) -> Result<Vec<f64>, Failure> {
        let memory = T::memory(gpu)?;
        let sources = memory.store(sources.slice::<T>("sources")?.to_vec())?;
        let strengths = memory.store(strengths.slice::<T>("strengths")?.to_vec())?;
        let (outputs, options) = (request.outputs_in_space()?, request.options()?);
        let one = |_| {
            let start = std::time::Instant::now();
            let summed = memory.sum(&ArraySum {
                kernel: request.kernel_in_space()?,
                outputs: &outputs,
                vectors: request.vectors,
                sources: &sources,
                targets: None,
                sizes: request
                    .size()
                    .map_or(ArraySizes::None, |size| ArraySizes::Global(T::from_f64(size))),
                strengths: &strengths,
                options: &options,
            })?;
            drop(summed);
            Ok(start.elapsed().as_secs_f64())
        };
        (0..repeats).map(one).collect()
    }
    let work = move || match &sources {
        AnyNumbers::Single(_) => repeat::<f32>(&request, gpu, (&sources, &strengths), repeats),
        AnyNumbers::Double(_) => repeat::<f64>(&request, gpu, (&sources, &strengths), repeats),
    };
    Ok(wait::long(py, work)??)
}

/// Hands an array of the host out and takes it in again as one on a GPU would be; only its address travels. For tests.
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
