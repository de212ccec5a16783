//! Arrays in the memory of the host or of a GPU, and the operations of simulation steps on them.
//!
//! A [`Memory`] is the place of arrays. An [`Array`] is stepped, copied and read by the same calls in any memory.
//! [`Memory::sum`] sums between arrays and leaves the results in the memory where they are computed. So a model that
//! uses arrays runs on the CPU and on a GPU.
//!
//! ```
//! use farfield::memory::{ArrayPoints, Memory};
//! use farfield::kernel::{Kernel, Output};
//! use farfield::{Request, Space};
//!
//! let memory = Memory::<f64>::host(); // or Memory::of(Device::Cuda(0))?
//! let mut positions = memory.store(vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0])?;
//! let mut velocities = memory.store(vec![0.0; 6])?;
//! let masses = memory.store(vec![1.0, 1.0])?;
//! let mut request = Request::<Space>::new(Kernel::gravity(1.0));
//! request.outputs = vec![Output::Acceleration];
//! let summed = memory.sum(&request, &ArrayPoints::of(&positions), &masses)?;
//! velocities.add_scaled(0.01, &summed.outputs[0])?;
//! positions.add_scaled(0.01, &velocities)?;
//! assert!(positions.values()?[0] > 0.0);
//! # Ok::<(), farfield::Error>(())
//! ```

mod array;
mod foreign;
mod plan;
mod strengths;
mod sum;

pub use array::Array;
pub use farfield_cuda::resident::ShrunkPoints;
pub use plan::ArrayPoints;
pub(crate) use plan::not_between_arrays;
pub use strengths::StrengthLaw;
pub use sum::{ArraySizes, Summed};

use crate::{Device, Error, Precision, open};
use array::Place;
use farfield_cuda::resident::Resident;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The place of arrays. Clones of it are the same memory.
#[derive(Debug, Clone)]
pub struct Memory<T: Precision> {
    gpu: Option<Arc<GpuMemory<T>>>,
}

/// Memory of a GPU. All work on it is done in the order of the calls.
#[derive(Debug)]
pub(crate) struct GpuMemory<T: Precision> {
    device: Arc<farfield_cuda::Device>,
    resident: Resident<T>,
    copying: AtomicU64,
}

impl<T: Precision> GpuMemory<T> {
    /// Times a copy, after the work queued before it is done.
    fn timed<R>(&self, copy: impl FnOnce(&Resident<T>) -> Result<R, Error>) -> Result<R, Error> {
        self.resident.wait()?;
        let start = Instant::now();
        let result = copy(&self.resident);
        self.copying
            .fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }
}

impl<T: Precision> Memory<T> {
    /// The host's memory.
    pub fn host() -> Self {
        Self { gpu: None }
    }

    /// The memory that sums on this device work in: a GPU's for [`Device::Cuda`], else the host's.
    ///
    /// # Errors
    /// An error of the GPU.
    pub fn of(device: Device) -> Result<Self, Error> {
        let Device::Cuda(number) = device else {
            return Ok(Self::host());
        };
        let device = open(number)?;
        let gpu = GpuMemory {
            resident: Resident::new(&device)?,
            device,
            copying: AtomicU64::new(0),
        };
        Ok(Self {
            gpu: Some(Arc::new(gpu)),
        })
    }

    /// Whether it is a GPU's memory.
    pub fn is_on_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    /// An array of these values.
    ///
    /// # Errors
    /// [`Error::TooMany`], [`Error::DeviceMemory`] or [`Error::Driver`]; never on the host.
    pub fn store(&self, values: Vec<T>) -> Result<Array<T>, Error> {
        let place = match &self.gpu {
            None => Place::Host(values),
            Some(gpu) => Place::gpu(gpu, gpu.timed(|resident| resident.upload(&values))?),
        };
        Ok(Array { place })
    }

    /// Whether all values of these arrays are finite.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device failed.
    pub fn all_finite(&self, arrays: &[&Array<T>]) -> Result<bool, Error> {
        match &self.gpu {
            None => {
                let finite = |array: &&Array<T>| Ok(array.values()?.iter().all(|value| value.is_finite()));
                arrays
                    .iter()
                    .map(finite)
                    .try_fold(true, |all, one: Result<bool, Error>| Ok(all && one?))
            }
            Some(gpu) => {
                let arrays = arrays
                    .iter()
                    .map(|array| array.on(gpu))
                    .collect::<Result<Vec<_>, _>>()?;
                gpu.resident.all_finite(&arrays)
            }
        }
    }

    /// The transfers between the host and the GPU so far; zero for the host's memory.
    pub fn traffic(&self) -> Traffic {
        self.gpu.as_ref().map_or_else(Traffic::default, |gpu| {
            let traffic = gpu.device.traffic();
            Traffic {
                sent: traffic.sent(),
                fetched: traffic.fetched(),
                seconds: gpu.copying.load(Ordering::Relaxed) as f64 * 1e-9,
            }
        })
    }
}

/// Transfers between the host and a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Traffic {
    /// Bytes to the device.
    pub sent: u64,
    /// Bytes to the host.
    pub fetched: u64,
    /// Seconds spent sending and fetching arrays. The transfers of sums from host to host count as part of the sums.
    pub seconds: f64,
}

impl Traffic {
    /// The transfers since `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            fetched: self.fetched - before.fetched,
            seconds: self.seconds - before.seconds,
        }
    }
}
