//! The sums of a simulation on a graphics processor.

use crate::args::Device;
use crate::failure::Failure;
use farfield::Sum;
use farfield_cuda::Plan;
use farfield_sim::summation::{self, Evaluated};
use std::sync::Arc;

#[derive(Debug)]
struct Cuda(Arc<farfield_cuda::Device>);

impl summation::Device for Cuda {
    fn evaluate(
        &self,
        sum: &Sum<'_, f64>,
        strengths: &[f64],
    ) -> Result<Evaluated, Box<dyn std::error::Error + Send + Sync>> {
        // Points move every step, so the tree is new every time; memory, kernels and matrices stay with the device.
        let mut plan = Plan::new(&self.0, sum)?;
        let field = plan.evaluate(strengths)?;
        Ok(Evaluated {
            field,
            parameters: *plan.parameters(),
            seconds: plan.seconds().total,
        })
    }
}

/// What is to sum, if not the CPU.
pub fn open(device: Device) -> Result<Option<Arc<dyn summation::Device>>, Failure> {
    match device {
        Device::Cpu => Ok(None),
        Device::Cuda => Ok(Some(Arc::new(Cuda(farfield_cuda::Device::open(0)?)))),
        Device::Auto | Device::Hybrid => Err(Failure::Usage("--device: a run sums on cpu or cuda".to_owned())),
    }
}
