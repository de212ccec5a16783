//! Input arrays on a GPU, from other libraries.

use super::{OnGpu, memories};
use crate::dlpack::Foreign;
use crate::failure::{Failure, Names};
use crate::numbers::AnyNumbers;
use crate::request::Description;
use farfield::memory::{Array, ArrayPoints, ArraySizes, Memory};
use pyo3::prelude::*;

/// An input array of a sum.
#[derive(Debug)]
pub enum Input {
    /// On the GPU already.
    Gpu(Foreign),
    /// On the host, to be sent to the GPU.
    Host(AnyNumbers),
}

/// Reads an input as the package passes it: a numpy array, a DLPack capsule, or a tuple of object, address, GPU, shape,
/// whether it is float64, and the stream that writes it.
pub fn input(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Input> {
    if let Ok(numbers) = object.extract::<AnyNumbers>() {
        return Ok(Input::Host(numbers));
    }
    type Interface = (Py<PyAny>, u64, usize, Vec<usize>, bool, u64);
    if let Ok((keep, address, gpu, shape, double, stream)) = object.extract::<Interface>() {
        let memories = memories(gpu)?;
        // SAFETY: the object's interface names the stream that writes it.
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
    /// The number of elements.
    fn len(&self) -> usize {
        match self {
            Input::Gpu(foreign) => foreign.len(),
            Input::Host(numbers) => numbers.len(),
        }
    }

    /// Copies the array into the engine's memory.
    pub fn array<T: OnGpu>(&self, name: &str, gpu: usize, memory: &Memory<T>) -> Result<Array<T>, Failure> {
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
                // SAFETY: the array lives as long as the input, which outlives the sum; its library made the memory's
                // stream wait for the work that writes it.
                Ok(unsafe { memory.copy_of_foreign(foreign.address, foreign.len()) }?)
            }
        }
    }
}

/// The points of a sum as the package passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PointOperands<'py> {
    sources: Bound<'py, PyAny>,
    targets: Option<Bound<'py, PyAny>>,
    sizes: Option<Bound<'py, PyAny>>,
}

/// The points of a sum, on the host or on a GPU.
pub struct Points {
    sources: Input,
    targets: Option<Input>,
    sizes: Option<Input>,
}

/// Points in the engine's memory.
#[derive(Debug)]
pub struct PointArrays<T: OnGpu> {
    pub sources: Array<T>,
    pub targets: Option<Array<T>>,
    /// The core sizes, if each source has its own.
    pub sizes: Option<Array<T>>,
}

impl<T: OnGpu> PointArrays<T> {
    /// The points of a sum between arrays.
    pub fn of_sum(&self, request: &Description) -> Result<ArrayPoints<'_, T>, Failure> {
        let sizes = match (&self.sizes, request.size()) {
            (Some(each), _) => ArraySizes::PerSource {
                each,
                largest: T::from_f64(each.longest(1)?.0),
            },
            (None, Some(size)) => ArraySizes::Global(T::from_f64(size)),
            (None, None) => ArraySizes::None,
        };
        Ok(ArrayPoints {
            sources: &self.sources,
            targets: self.targets.as_ref(),
            sizes,
        })
    }
}

impl Points {
    pub fn of(operands: &PointOperands<'_>, names: &Names) -> PyResult<Self> {
        let optional = |name: &str, object: &Option<Bound<'_, PyAny>>| {
            let object = object.as_ref();
            object.map(|object| input(name, object)).transpose()
        };
        Ok(Self {
            sources: input("sources", &operands.sources)?,
            targets: optional("targets", &operands.targets)?,
            sizes: optional(&names.sizes, &operands.sizes)?,
        })
    }

    /// The number of coordinates of all sources.
    pub fn source_numbers(&self) -> usize {
        self.sources.len()
    }

    pub fn arrays<T: OnGpu>(&self, names: &Names, gpu: usize, memory: &Memory<T>) -> Result<PointArrays<T>, Failure> {
        let optional = |name: &str, input: &Option<Input>| {
            let input = input.as_ref();
            input.map(|input| input.array(name, gpu, memory)).transpose()
        };
        Ok(PointArrays {
            sources: self.sources.array("sources", gpu, memory)?,
            targets: optional("targets", &self.targets)?,
            sizes: optional(&names.sizes, &self.sizes)?,
        })
    }
}
