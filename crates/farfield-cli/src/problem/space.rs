//! Sums in three dimensions.

use super::{
    Counts, Data, Error, Executor, Facts, OutputError, Planned, Problem, Processor, Settings, Shared, check_size,
    with_settings,
};
use crate::failure::Failure;
use farfield::kernel::{Kernel, Output, Sizes};
use farfield::plan::Parameters;
use farfield::points::PointSet;
use farfield::report::Seconds;
use farfield::simd::Real;
use farfield::{Field, Method, Plan, Sum, verify};
use farfield_cuda::device::{Precision, Properties};
use farfield_cuda::{Device, auto, hybrid};
use std::sync::Arc;

/// A kernel in space.
#[derive(Debug, Clone)]
pub struct Space {
    pub kernel: Kernel,
    /// Core size or softening length.
    pub size: Option<f64>,
    pub outputs: Vec<Output>,
    pub allow_unbounded_gradient: bool,
}

impl Space {
    /// A kernel without cores or softening.
    pub fn new(kernel: Kernel, outputs: &[Output]) -> Self {
        Self {
            kernel,
            size: None,
            outputs: outputs.to_vec(),
            allow_unbounded_gradient: false,
        }
    }

    fn sizes<T: Real>(&self) -> Sizes<T> {
        self.size.map_or(Sizes::None, |size| Sizes::Global(T::from_f64(size)))
    }

    fn sum<'a, T: Real>(&self, data: &Data<'a, T, 3>, settings: &Settings) -> Sum<'a, T> {
        let sum = Sum::new(self.kernel, data.sources)
            .sizes(self.sizes())
            .outputs(&self.outputs);
        let sum = with_settings!(sum, data.targets, data.vectors, settings);
        if self.allow_unbounded_gradient {
            sum.allow_unbounded_gradient()
        } else {
            sum
        }
    }
}

/// A plan on the CPU, on a GPU, or on both.
#[derive(Debug)]
pub enum SpacePlan<T: Precision> {
    Cpu(Box<Plan<T>>),
    Cuda(Box<farfield_cuda::Plan<T>>, Arc<Device>),
    Hybrid(Box<hybrid::Plan<T>>, Arc<Device>),
}

impl<T: Precision> SpacePlan<T> {
    fn on(device: &Arc<Device>, sum: &Sum<T>) -> Result<Self, Error> {
        let plan = farfield_cuda::Plan::new(device, sum)?;
        Ok(SpacePlan::Cuda(Box::new(plan), device.clone()))
    }
}

impl<T: Precision> Planned<T> for SpacePlan<T> {
    type Output = Output;

    fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T>, Error> {
        match self {
            SpacePlan::Cpu(plan) => Ok(plan.evaluate(strengths)?),
            SpacePlan::Cuda(plan, _) => plan.evaluate(strengths),
            SpacePlan::Hybrid(plan, _) => plan.evaluate(strengths),
        }
    }

    fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
        match self {
            SpacePlan::Cpu(plan) => Ok(plan.evaluate_into(strengths, field)?),
            SpacePlan::Cuda(plan, _) => plan.evaluate_into(strengths, field),
            SpacePlan::Hybrid(plan, _) => plan.evaluate_into(strengths, field),
        }
    }

    fn parameters(&self) -> &Parameters {
        match self {
            SpacePlan::Cpu(plan) => plan.parameters(),
            SpacePlan::Cuda(plan, _) => plan.parameters(),
            SpacePlan::Hybrid(plan, _) => plan.parameters(),
        }
    }

    fn tolerance(&self) -> Option<f64> {
        match self {
            SpacePlan::Cpu(plan) => plan.tolerance(),
            SpacePlan::Cuda(plan, _) => plan.tolerance(),
            SpacePlan::Hybrid(plan, _) => plan.tolerance(),
        }
    }

    fn processor(&self) -> Processor {
        match self {
            SpacePlan::Cpu(plan) => Processor::cpu::<T>(plan.simd()),
            SpacePlan::Cuda(_, device) => Processor::Cuda(device.properties().clone()),
            SpacePlan::Hybrid(plan, device) => Processor::Hybrid(plan.simd(), device.properties().clone()),
        }
    }

    fn notes(&self) -> &[String] {
        match self {
            SpacePlan::Cpu(plan) => plan.notes(),
            SpacePlan::Cuda(..) => &[],
            SpacePlan::Hybrid(plan, _) => plan.notes(),
        }
    }

    fn seconds(&self) -> &Seconds {
        match self {
            SpacePlan::Cpu(plan) => plan.seconds(),
            SpacePlan::Cuda(plan, _) => plan.seconds(),
            SpacePlan::Hybrid(plan, _) => plan.seconds(),
        }
    }

    fn shared(&self) -> Option<Shared> {
        match self {
            SpacePlan::Hybrid(plan, _) => Some(Shared {
                timeline: plan.timeline().to_vec(),
                gpu_pairs: plan.device_share(),
                halves: plan.halves(),
            }),
            _ => None,
        }
    }
}

impl Problem<3> for Space {
    type Output = Output;
    type Set = PointSet;
    type Plan<T: Precision> = SpacePlan<T>;

    const SETS: &'static [PointSet] = &PointSet::ALL;
    const BY_BOTH: bool = true;

    fn facts(&self) -> Facts {
        let facts = Facts {
            kernel: self.kernel.name(),
            ..Facts::default()
        };
        match self.kernel {
            Kernel::Coulomb => Facts {
                title: "Coulomb".to_owned(),
                ..facts
            },
            Kernel::Gravity { constant } => {
                let softening = self.size.map_or_else(String::new, |size| format!(", softening {size}"));
                Facts {
                    title: format!("gravity (G = {constant}{softening})"),
                    softening: self.size,
                    gravitational_constant: Some(constant),
                    ..facts
                }
            }
            Kernel::BiotSavart { core } => {
                let size = self.size.map_or_else(String::new, |size| format!(" of size {size}"));
                Facts {
                    title: format!("Biot-Savart ({} core{size})", core.name()),
                    core: Some(core.name()),
                    core_size: self.size,
                    ..facts
                }
            }
        }
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn strength_components(&self) -> usize {
        self.kernel.strength_components()
    }

    fn points<T: Real>(set: PointSet, n: usize, seed: u64) -> Vec<[T; 3]> {
        set.generate(n, seed)
    }

    fn check_size<T: Real>(&self) -> Result<(), Failure> {
        let option = match self.kernel {
            Kernel::Gravity { .. } => "--softening",
            _ => "--core-size",
        };
        check_size::<T>(option, self.size)
    }

    fn plan<T: Precision>(&self, data: &Data<'_, T, 3>, settings: &Settings) -> Result<SpacePlan<T>, Error> {
        let sum = self.sum(data, settings);
        match &settings.executor {
            Executor::Cpu => Ok(SpacePlan::Cpu(Box::new(sum.plan()?))),
            Executor::Cuda(device) => SpacePlan::on(device, &sum),
            Executor::Hybrid(device) => {
                let plan = hybrid::Plan::new(device, &sum, &settings.profile)?;
                Ok(SpacePlan::Hybrid(Box::new(plan), device.clone()))
            }
            Executor::Auto(device) => match SpacePlan::on(device, &sum) {
                Err(error) if !matches!(error, Error::Sum(_)) => Ok(SpacePlan::Cpu(Box::new(sum.plan()?))),
                plan => plan,
            },
        }
    }

    fn memory_forecast<T: Precision>(&self, counts: Counts, settings: &Settings) -> u64 {
        let sum = self.sum::<T>(&Data::nothing(counts.vectors), settings);
        let on_cpu = || sum.memory_forecast(counts.sources, counts.targets).total();
        settings.executor.device().map_or_else(on_cpu, |device| {
            farfield_cuda::Plan::memory_forecast(device, &sum, counts.sources, counts.targets)
                .unwrap_or_else(|_| on_cpu())
        })
    }

    fn gpu_pays<T: Precision>(&self, data: &Data<'_, T, 3>, settings: &Settings, gpu: &Properties) -> bool {
        let sum = self.sum(data, settings);
        auto::pays(gpu, &settings.profile, rayon::current_num_threads(), &sum)
    }

    fn verify<T: Real>(
        &self,
        data: &Data<'_, T, 3>,
        field: &Field<T>,
        samples: usize,
        seed: u64,
    ) -> Result<Vec<OutputError>, Error> {
        let problem = verify::Problem {
            kernel: self.kernel,
            sources: data.sources,
            targets: data.targets,
            sizes: &self.sizes(),
            strengths: data.strengths,
        };
        let measured = verify::verify(&problem, field, samples, seed)?;
        let of = |error: verify::OutputError| OutputError {
            output: error.output.name(),
            relative_l2: error.relative_l2,
            maximum: None,
        };
        Ok(measured.into_iter().map(of).collect())
    }

    fn uses_theta(&self, method: Method) -> bool {
        method == Method::Treecode
    }
}
