//! Sums in the plane.

use super::{
    Counts, Data, Error, Executor, Facts, OutputError, Planned, Problem, Processor, Settings, check_size, with_settings,
};
use crate::failure::Failure;
use farfield::Method;
use farfield::kernel::Sizes;
use farfield::plan::Parameters;
use farfield::plane::{self, Core, Field, Kernel, Output, Plan, PlaneSet, Sum};
use farfield::report::Seconds;
use farfield::simd::Real;
use farfield_cuda::device::{Precision, Properties};
use farfield_cuda::{Device, auto};
use std::sync::Arc;

/// A kernel in the plane.
#[derive(Debug, Clone)]
pub struct Plane {
    pub kernel: Kernel,
    pub core: Core,
    /// Core size.
    pub size: Option<f64>,
    pub outputs: Vec<Output>,
    /// Strengths are complex.
    pub complex: bool,
}

impl Plane {
    /// A kernel without cores, real strengths.
    pub fn new(kernel: Kernel, outputs: &[Output]) -> Self {
        Self {
            kernel,
            core: Core::Singular,
            size: None,
            outputs: outputs.to_vec(),
            complex: false,
        }
    }

    fn sizes<T: Real>(&self) -> Sizes<T> {
        self.size.map_or(Sizes::None, |size| Sizes::Global(T::from_f64(size)))
    }

    fn sum<'a, T: Real>(&self, data: &Data<'a, T, 2>, settings: &Settings) -> Sum<'a, T> {
        let sum = Sum::new(self.kernel, data.sources)
            .core(self.core, self.sizes())
            .outputs(&self.outputs);
        let sum = with_settings!(sum, data.targets, data.vectors, settings);
        if self.complex { sum.complex() } else { sum }
    }
}

/// A plan on the CPU or on a GPU.
#[derive(Debug)]
pub enum PlanePlan<T: Precision> {
    Cpu(Box<Plan<T>>),
    Cuda(Box<farfield_cuda::plane::Plan<T>>, Arc<Device>),
}

impl<T: Precision> PlanePlan<T> {
    fn on(device: &Arc<Device>, sum: &Sum<T>) -> Result<Self, Error> {
        let plan = farfield_cuda::plane::Plan::new(device, sum)?;
        Ok(PlanePlan::Cuda(Box::new(plan), device.clone()))
    }
}

impl<T: Precision> Planned<T> for PlanePlan<T> {
    type Output = Output;

    fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T>, Error> {
        match self {
            PlanePlan::Cpu(plan) => Ok(plan.evaluate(strengths)?),
            PlanePlan::Cuda(plan, _) => plan.evaluate(strengths),
        }
    }

    fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
        match self {
            PlanePlan::Cpu(plan) => Ok(plan.evaluate_into(strengths, field)?),
            PlanePlan::Cuda(plan, _) => plan.evaluate_into(strengths, field),
        }
    }

    fn parameters(&self) -> &Parameters {
        match self {
            PlanePlan::Cpu(plan) => plan.parameters(),
            PlanePlan::Cuda(plan, _) => plan.parameters(),
        }
    }

    fn tolerance(&self) -> Option<f64> {
        match self {
            PlanePlan::Cpu(plan) => plan.tolerance(),
            PlanePlan::Cuda(plan, _) => plan.tolerance(),
        }
    }

    fn processor(&self) -> Processor {
        match self {
            PlanePlan::Cpu(plan) => Processor::cpu::<T>(plan.simd()),
            PlanePlan::Cuda(_, device) => Processor::Cuda(device.properties().clone()),
        }
    }

    fn notes(&self) -> &[String] {
        match self {
            PlanePlan::Cpu(plan) => plan.notes(),
            PlanePlan::Cuda(plan, _) => plan.notes(),
        }
    }

    fn seconds(&self) -> &Seconds {
        match self {
            PlanePlan::Cpu(plan) => plan.seconds(),
            PlanePlan::Cuda(plan, _) => plan.seconds(),
        }
    }
}

impl Problem<2> for Plane {
    type Output = Output;
    type Set = PlaneSet;
    type Plan<T: Precision> = PlanePlan<T>;

    const SETS: &'static [PlaneSet] = &PlaneSet::ALL;
    const BY_BOTH: bool = false;

    fn facts(&self) -> Facts {
        let name = match self.kernel {
            Kernel::Harmonic => "harmonic in the plane",
            Kernel::Log => "logarithm in the plane",
        };
        let core = match (self.core, self.size) {
            (Core::Singular, _) => String::new(),
            (core, size) => format!(", {core} core of size {}", size.unwrap_or(0.0)),
        };
        let strengths = if self.complex { "complex" } else { "real" };
        Facts {
            kernel: self.kernel.name(),
            title: format!("{name} ({strengths} strengths{core})"),
            core: Some(self.core.name()),
            core_size: self.size,
            complex: Some(self.complex),
            ..Facts::default()
        }
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn strength_components(&self) -> usize {
        if self.complex { 2 } else { 1 }
    }

    fn points<T: Real>(set: PlaneSet, n: usize, seed: u64) -> Vec<[T; 2]> {
        set.generate(n, seed)
    }

    fn check_size<T: Real>(&self) -> Result<(), Failure> {
        check_size::<T>("--core-size", self.size)
    }

    fn plan<T: Precision>(&self, data: &Data<'_, T, 2>, settings: &Settings) -> Result<PlanePlan<T>, Error> {
        let sum = self.sum(data, settings);
        match &settings.executor {
            // Sums in the plane are not shared; `Executor::open` says so.
            Executor::Cpu | Executor::Hybrid(_) => Ok(PlanePlan::Cpu(Box::new(sum.plan()?))),
            Executor::Cuda(device) => PlanePlan::on(device, &sum),
            Executor::Auto(device) => match PlanePlan::on(device, &sum) {
                Err(error) if !matches!(error, Error::Sum(_)) => Ok(PlanePlan::Cpu(Box::new(sum.plan()?))),
                plan => plan,
            },
        }
    }

    fn memory_forecast<T: Precision>(&self, counts: Counts, settings: &Settings) -> u64 {
        let sum = self.sum::<T>(&Data::nothing(counts.vectors), settings);
        sum.memory_forecast(counts.sources, counts.targets).total()
    }

    fn verify<T: Real>(
        &self,
        data: &Data<'_, T, 2>,
        field: &Field<T>,
        samples: usize,
        seed: u64,
    ) -> Result<Vec<OutputError>, Error> {
        let problem = plane::Problem {
            kernel: self.kernel,
            core: self.core,
            sources: data.sources,
            targets: data.targets,
            sizes: &self.sizes(),
            complex: self.complex,
            strengths: data.strengths,
        };
        let measured = plane::verify(&problem, field, samples, seed)?;
        let of = |error: plane::OutputError| OutputError {
            output: error.output.name(),
            relative_l2: error.relative_l2,
            maximum: Some(error.maximum),
        };
        Ok(measured.into_iter().map(of).collect())
    }

    fn gpu_pays<T: Precision>(&self, data: &Data<'_, T, 2>, settings: &Settings, gpu: &Properties) -> bool {
        auto::pays_in_plane(gpu, rayon::current_num_threads(), &self.sum(data, settings))
    }

    fn uses_theta(&self, method: Method) -> bool {
        method == Method::Fmm
    }
}
