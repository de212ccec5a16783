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

impl<T: Real> Planned<T> for Plan<T> {
    type Output = Output;

    fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T>, Error> {
        Ok(self.evaluate(strengths)?)
    }

    fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
        Ok(self.evaluate_into(strengths, field)?)
    }

    fn parameters(&self) -> &Parameters {
        self.parameters()
    }

    fn tolerance(&self) -> Option<f64> {
        self.tolerance()
    }

    fn processor(&self) -> Processor {
        Processor::cpu::<T>(self.simd())
    }

    fn notes(&self) -> &[String] {
        self.notes()
    }

    fn seconds(&self) -> &Seconds {
        self.seconds()
    }
}

impl Problem<2> for Plane {
    type Output = Output;
    type Set = PlaneSet;
    type Plan<T: Precision> = Plan<T>;

    const SETS: &'static [PlaneSet] = &PlaneSet::ALL;
    const ON_GPU: bool = false;

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

    fn plan<T: Precision>(&self, data: &Data<'_, T, 2>, settings: &Settings) -> Result<Plan<T>, Error> {
        match settings.executor {
            Executor::Cpu => Ok(self.sum(data, settings).plan()?),
            Executor::Cuda(_) | Executor::Auto(_) => Err(Error::Unsupported {
                what: "a sum in the plane".to_owned(),
                remedy: "use --device cpu",
            }),
        }
    }

    fn memory_forecast<T: Precision>(&self, counts: Counts, settings: &Settings) -> u64 {
        let sum = self.sum::<T>(&Data::nothing(counts.vectors), settings);
        sum.memory_forecast(counts.sources, counts.targets).total()
    }

    fn verify<T: Real>(&self, data: &Data<'_, T, 2>, field: &Field<T>, samples: usize, seed: u64) -> Vec<OutputError> {
        let problem = plane::Problem {
            kernel: self.kernel,
            core: self.core,
            sources: data.sources,
            targets: data.targets,
            sizes: &self.sizes(),
            complex: self.complex,
            strengths: data.strengths,
        };
        let measured = plane::verify(&problem, field, samples, seed);
        let of = |error: plane::OutputError| OutputError {
            output: error.output.name(),
            relative_l2: error.relative_l2,
            maximum: Some(error.maximum),
        };
        measured.into_iter().map(of).collect()
    }

    fn gpu_pays<T: Precision>(&self, _: &Data<'_, T, 2>, _: &Settings, _: &Properties) -> bool {
        Self::ON_GPU
    }

    fn uses_theta(&self, method: Method) -> bool {
        method == Method::Fmm
    }
}
