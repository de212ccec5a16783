//! A graphics processor as simulations know it: its sums, and memory in which their state stays.

use crate::args;
use crate::failure::Failure;
use farfield::Sum;
use farfield_cuda::resident::{self, Resident};
use farfield_cuda::{Error, Plan};
use farfield_grid::poisson::Processor;
use farfield_sim::device::{Array, Device, DeviceError, Evaluated, Memory, Points, StrengthLaw, Summed, Traffic};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What is to compute, if not the CPU.
pub fn open(device: args::Device) -> Result<Option<Arc<dyn Device>>, Failure> {
    match device {
        args::Device::Cpu => Ok(None),
        args::Device::Cuda => Ok(Some(Arc::new(Cuda::new(farfield_cuda::Device::open(0)?)))),
        args::Device::Auto | args::Device::Hybrid => {
            Err(Failure::Usage("--device: a run computes on cpu or cuda".to_owned()))
        }
    }
}

/// What is to solve the Poisson problem of a flow; `auto` takes a GPU if there is one.
pub fn solver(device: args::Device) -> Result<Processor, Failure> {
    match device {
        args::Device::Cpu => Ok(Processor::Cpu),
        args::Device::Cuda => Ok(Processor::Cuda(farfield_cuda::Device::open(0)?)),
        args::Device::Hybrid => Ok(Processor::Hybrid(farfield_cuda::Device::open(0)?)),
        args::Device::Auto => Ok(match farfield_cuda::Device::open(0) {
            Ok(device) => Processor::Cuda(device),
            Err(_) => Processor::Cpu,
        }),
    }
}

/// A GPU.
#[derive(Debug)]
pub struct Cuda {
    device: Arc<farfield_cuda::Device>,
    copying: Arc<Stopwatch>,
}

/// Arrays on a GPU, all ordered by one stream.
#[derive(Debug)]
struct CudaMemory {
    resident: Resident<f64>,
    copying: Arc<Stopwatch>,
}

type OnGpu = resident::Array<f64>;

/// Nanoseconds spent on something.
#[derive(Debug, Default)]
struct Stopwatch(AtomicU64);

impl Stopwatch {
    fn time<R>(&self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.0.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }

    fn seconds(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 * 1e-9
    }
}

impl Cuda {
    /// A device that is open.
    pub fn new(device: Arc<farfield_cuda::Device>) -> Self {
        Self {
            device,
            copying: Arc::default(),
        }
    }
}

impl Device for Cuda {
    fn name(&self) -> String {
        self.device.properties().name.clone()
    }

    fn evaluate(&self, sum: &Sum<'_, f64>, strengths: &[f64]) -> Result<Evaluated, DeviceError> {
        let mut plan = Plan::new(&self.device, sum).map_err(failed)?;
        let field = plan.evaluate(strengths).map_err(failed)?;
        Ok(Evaluated {
            field,
            parameters: *plan.parameters(),
            seconds: plan.seconds().total,
        })
    }

    fn memory(&self) -> Result<Option<Arc<dyn Memory>>, DeviceError> {
        Ok(Some(Arc::new(CudaMemory {
            resident: Resident::new(&self.device).map_err(failed)?,
            copying: self.copying.clone(),
        })))
    }

    fn traffic(&self) -> Traffic {
        let traffic = self.device.traffic();
        Traffic {
            sent: traffic.sent(),
            fetched: traffic.fetched(),
            seconds: self.copying.seconds(),
        }
    }
}

impl Memory for CudaMemory {
    fn upload(&self, values: &[f64]) -> Result<Array, DeviceError> {
        let array = self.copying.time(|| self.resident.upload(values));
        array.map(known).map_err(failed)
    }

    fn download(&self, array: &Array, values: &mut [f64]) -> Result<(), DeviceError> {
        let array = array.of::<OnGpu>()?;
        // What was asked for before is not part of the copy.
        self.resident.wait().map_err(failed)?;
        let copied = self.copying.time(|| self.resident.download(array, values));
        copied.map_err(failed)
    }

    fn copy(&self, array: &Array) -> Result<Array, DeviceError> {
        self.resident.copy(array.of()?).map(known).map_err(failed)
    }

    fn add_scaled(&self, values: &mut Array, h: f64, rates: &Array) -> Result<(), DeviceError> {
        self.resident
            .add_scaled(values.of_mut()?, h, rates.of()?)
            .map_err(failed)
    }

    fn strength_rates(
        &self,
        law: &StrengthLaw,
        strengths: &Array,
        gradients: &Array,
        sizes: Option<&Array>,
    ) -> Result<Array, DeviceError> {
        let law = resident::StrengthLaw {
            classical: law.classical,
            transpose: law.transpose,
            relaxation: law.relaxation,
            own_vorticity: law.own_vorticity,
            size: law.size,
        };
        let sizes = sizes.map(Array::of).transpose()?;
        let rates = self
            .resident
            .strength_rates(&law, strengths.of()?, gradients.of()?, sizes);
        rates.map(known).map_err(failed)
    }

    fn all_finite(&self, arrays: &[&Array]) -> Result<bool, DeviceError> {
        let arrays = arrays.iter().map(|array| array.of()).collect::<Result<Vec<_>, _>>()?;
        self.resident.all_finite(&arrays).map_err(failed)
    }

    fn longest(&self, array: &Array, components: usize) -> Result<(f64, usize), DeviceError> {
        self.resident.longest(array.of()?, components).map_err(failed)
    }

    fn sum(&self, sum: &Sum<'_, f64>, points: &Points<'_>, strengths: &Array) -> Result<Summed, DeviceError> {
        let points = resident::Points {
            sources: points.sources.of()?,
            targets: points.targets.map(Array::of).transpose()?,
            sizes: points.sizes.map(Array::of).transpose()?,
        };
        let summed = self.resident.sum(sum, &points, strengths.of()?).map_err(failed)?;
        Ok(Summed {
            outputs: summed.outputs.into_iter().map(known).collect(),
            parameters: summed.parameters,
            seconds: summed.seconds,
        })
    }
}

/// An array as simulations know it.
fn known(array: OnGpu) -> Array {
    Array::new(array.len(), array)
}

fn failed(error: Error) -> DeviceError {
    match error {
        Error::Sum(cause) => DeviceError::Sum(Box::new(cause)),
        other => DeviceError::Failed(Box::new(other)),
    }
}
