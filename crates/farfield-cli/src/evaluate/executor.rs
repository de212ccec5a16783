//! The CPU or a GPU behind one face.

use super::input::Input;
use super::request::{Request, SumDevice};
use crate::failure::Failure;
use farfield::plan::Parameters;
use farfield::report::Seconds;
use farfield::{Field, Plan};
use farfield_cuda::device::Precision;
use std::sync::Arc;

/// What sums.
pub enum Executor {
    Cpu,
    Cuda(Arc<farfield_cuda::Device>),
}

/// A plan of either.
pub enum Planned<T: Precision> {
    Cpu(Box<Plan<T>>),
    Cuda(Box<farfield_cuda::Plan<T>>),
}

/// What did the sum, for reports.
pub struct Processor {
    /// `cpu` or `cuda`.
    pub device: &'static str,
    /// The instruction set: `avx512`, or `sm_90`.
    pub simd: String,
    /// For reading.
    pub description: String,
}

impl Executor {
    pub fn open(device: SumDevice) -> Result<Self, Failure> {
        match device {
            SumDevice::Cpu => Ok(Executor::Cpu),
            SumDevice::Cuda => {
                let device = farfield_cuda::Device::open(0);
                device
                    .map(Executor::Cuda)
                    .map_err(|error| Failure::Data(format!("--device cuda: {error}")))
            }
        }
    }

    pub fn plan<T: Precision>(&self, request: &Request, input: &Input<T>) -> Result<Planned<T>, Failure> {
        let sum = request.sum(&input.sources, input.targets.as_deref(), input.vectors);
        match self {
            Executor::Cpu => match sum.plan() {
                Ok(plan) => Ok(Planned::Cpu(Box::new(plan))),
                Err(error) => Err(input.failure(request, error)),
            },
            Executor::Cuda(device) => match farfield_cuda::Plan::new(device, &sum) {
                Ok(plan) => Ok(Planned::Cuda(Box::new(plan))),
                Err(error) => Err(cuda_failure(request, input, error)),
            },
        }
    }

    pub fn processor<T: Precision>(&self, plan: &Planned<T>) -> Processor {
        match (self, plan) {
            (Executor::Cuda(device), _) => {
                let properties = device.properties();
                Processor {
                    device: "cuda",
                    simd: format!("sm_{}", properties.architecture),
                    description: format!(
                        "cuda, {}, {} multiprocessors",
                        properties.name, properties.multiprocessors
                    ),
                }
            }
            (Executor::Cpu, Planned::Cpu(plan)) => cpu::<T>(plan.simd()),
            (Executor::Cpu, Planned::Cuda(_)) => cpu::<T>(farfield::simd::SimdLevel::best()),
        }
    }
}

fn cpu<T: Precision>(simd: farfield::simd::SimdLevel) -> Processor {
    let threads = rayon::current_num_threads();
    let plural = if threads == 1 { "" } else { "s" };
    Processor {
        device: "cpu",
        simd: simd.name().to_owned(),
        description: format!("cpu, {threads} thread{plural}, {simd} ({} lanes)", simd.lanes::<T>()),
    }
}

impl<T: Precision> Planned<T> {
    pub fn evaluate(&mut self, request: &Request, input: &Input<T>) -> Result<Field<T>, Failure> {
        match self {
            Planned::Cpu(plan) => plan
                .evaluate(&input.strengths)
                .map_err(|error| input.failure(request, error)),
            Planned::Cuda(plan) => {
                let field = plan.evaluate(&input.strengths);
                field.map_err(|error| cuda_failure(request, input, error))
            }
        }
    }

    /// An empty field for [`Planned::evaluate_again`].
    pub fn field(&self) -> Option<Field<T>> {
        match self {
            Planned::Cpu(plan) => Some(plan.field()),
            Planned::Cuda(_) => None,
        }
    }

    /// Evaluates once more, into memory that is there where the device can.
    pub fn evaluate_again(
        &mut self,
        request: &Request,
        input: &Input<T>,
        field: &mut Option<Field<T>>,
    ) -> Result<(), Failure> {
        if let (Planned::Cpu(plan), Some(field)) = (&mut *self, field.as_mut()) {
            let done = plan.evaluate_into(&input.strengths, field);
            return done.map_err(|error| input.failure(request, error));
        }
        *field = Some(self.evaluate(request, input)?);
        Ok(())
    }

    pub fn seconds(&self) -> Seconds {
        match self {
            Planned::Cpu(plan) => *plan.seconds(),
            Planned::Cuda(plan) => *plan.seconds(),
        }
    }

    pub fn parameters(&self) -> Parameters {
        match self {
            Planned::Cpu(plan) => *plan.parameters(),
            Planned::Cuda(plan) => *plan.parameters(),
        }
    }

    pub fn tolerance(&self) -> Option<f64> {
        match self {
            Planned::Cpu(plan) => plan.tolerance(),
            Planned::Cuda(plan) => plan.tolerance(),
        }
    }

    pub fn notes(&self) -> Vec<String> {
        match self {
            Planned::Cpu(plan) => plan.notes().to_vec(),
            Planned::Cuda(_) => Vec::new(),
        }
    }
}

/// What is wrong with the sum names its file; everything else is the device's.
fn cuda_failure<T: Precision>(request: &Request, input: &Input<T>, error: farfield_cuda::Error) -> Failure {
    match error {
        farfield_cuda::Error::Sum(error) => input.failure(request, error),
        error => Failure::Data(format!("--device cuda: {error}")),
    }
}
