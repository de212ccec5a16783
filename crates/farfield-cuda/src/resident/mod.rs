//! States that stay on the device: arrays, the operations of simulation steps on them, and sums between them.
//!
//! ```no_run
//! # use farfield_core::kernel::{Kernel, Output};
//! # use farfield_core::{Request, Space};
//! # use farfield_cuda::resident::{DevicePoints, Resident};
//! let device = farfield_cuda::Device::open(0)?;
//! let resident = Resident::<f64>::new(&device)?;
//! let mut positions = resident.upload(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0])?;
//! let mut velocities = resident.upload(&[0.0; 6])?;
//! let masses = resident.upload(&[1.0, 1.0])?;
//! let mut request = Request::<Space>::new(Kernel::gravity(1.0));
//! request.outputs = vec![Output::Acceleration];
//! let summed = resident.sum(&request, &DevicePoints::of(&positions), &masses)?;
//! resident.add_scaled(&mut velocities, 0.01, &summed.outputs[0])?;
//! resident.add_scaled(&mut positions, 0.01, &velocities)?;
//! # Ok::<(), farfield_cuda::Error>(())
//! ```
//!
//! All work of a [`Resident`] is on one stream, in the order of its calls. Freed memory of arrays and sums is reused by
//! later ones.

mod arithmetic;
mod foreign;
mod plan;
mod plane;
mod shrink;
mod sum;
mod survey;

pub use arithmetic::StrengthLaw;
pub use shrink::ShrunkPoints;
pub use sum::{DevicePoints, Results};

use crate::compile::Program;
use crate::device::{Buffers, Device, Precision, kernels};
use crate::error::Error;
use arithmetic::{AddScaled, StrengthRates, Turn};
use cudarc::driver::CudaSlice;
use shrink::{ShrinkLengths, ShrinkPoints};
use std::sync::Arc;
use survey::{FindLongest, TakeSurvey};

/// The program of all operations except the sums.
pub fn program<T: Precision>() -> Program {
    let program = Program::new("resident", include_str!("../../kernels/resident.cu"));
    Kernels::<T>::check(program).define("FARFIELD_DOUBLE", i32::from(T::DOUBLE))
}

/// The place of states: a device, a stream, and the kernels that work on arrays.
#[derive(Debug)]
pub struct Resident<T: Precision> {
    buffers: Buffers,
    kernels: Kernels<T>,
}

/// Values on the device. They belong to the [`Resident`] that made them.
#[derive(Debug)]
pub struct Array<T> {
    values: CudaSlice<T>,
    length: usize,
}

kernels! {
    /// The kernels of states.
    struct Kernels<T> {
        add_scaled: AddScaled<T>,
        strength_rates: StrengthRates<T>,
        survey: TakeSurvey<T>,
        longest_square: FindLongest<T>,
        longest_index: FindLongest<T>,
        shrink_points: ShrinkPoints<T>,
        shrink_lengths: ShrinkLengths<T>,
        turn: Turn<T>,
    }
}

impl<T> Array<T> {
    /// The number of values.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether the array is empty.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl<T: Precision> Resident<T> {
    /// A place for states on a device.
    ///
    /// # Errors
    /// [`Error::Driver`], or an error of compiling its kernels.
    pub fn new(device: &Arc<Device>) -> Result<Self, Error> {
        Ok(Self {
            buffers: Buffers::new(device)?,
            kernels: Kernels::load(device, &program::<T>())?,
        })
    }

    /// A copy of values of the host.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] or [`Error::Driver`].
    pub fn upload(&self, values: &[T]) -> Result<Array<T>, Error> {
        check_length(values.len())?;
        Ok(Array {
            values: self.buffers.upload(values)?,
            length: values.len(),
        })
    }

    /// Copies an array to the host, after all work queued before.
    ///
    /// # Errors
    /// [`Error::Length`] if `values` has another length, [`Error::Driver`] if the device failed.
    pub fn download(&self, array: &Array<T>, values: &mut [T]) -> Result<(), Error> {
        same_length(array.len(), values.len())?;
        self.buffers.read(self.own(array)?, values)
    }

    /// A second array with the same values.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`] or [`Error::Driver`].
    pub fn copy(&self, array: &Array<T>) -> Result<Array<T>, Error> {
        let length = array.len();
        let from = crate::device::Values::on_device(self.own(array)?, length);
        Ok(Array {
            values: self.buffers.place(from)?,
            length,
        })
    }

    /// Waits until all queued work is done.
    ///
    /// # Errors
    /// [`Error::Driver`] if a kernel failed.
    pub fn wait(&self) -> Result<(), Error> {
        self.buffers.wait()
    }

    /// Uninitialised memory for results.
    fn uninit(&self, length: usize) -> Result<Array<T>, Error> {
        Ok(Array {
            values: self.buffers.uninit(length)?,
            length,
        })
    }

    /// An array's memory, if the array belongs to this state.
    fn own<'a>(&self, array: &'a Array<T>) -> Result<&'a CudaSlice<T>, Error> {
        if Arc::ptr_eq(array.values.stream(), self.buffers.stream()) {
            return Ok(&array.values);
        }
        Err(Error::Unsupported {
            what: "an array of another resident state".to_owned(),
            remedy: "download it there and upload it here",
        })
    }
}

/// Refuses arrays too long for kernels, which count in 32 bits.
fn check_length(length: usize) -> Result<(), Error> {
    let limit = u32::MAX as usize;
    if length <= limit {
        return Ok(());
    }
    let (array, count) = ("numbers", length);
    Err(Error::TooMany { array, count, limit })
}

fn same_length(expected: usize, found: usize) -> Result<(), Error> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Length {
        array: "array",
        found,
        expected,
        why: "both belong together".to_owned(),
    })
}
