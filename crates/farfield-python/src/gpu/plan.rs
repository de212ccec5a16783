//! A planned sum of arrays on a GPU, as a Python class.

use super::array::{AnyArray, GpuArray};
use super::input::{Input, PointArrays, PointOperands, Points, input};
use super::{OnGpu, wait_if_long};
use crate::failure::{Failure, Names};
use crate::numbers::AnyNumbers;
use crate::plan::MeasuredError;
use crate::pools::check_device;
use crate::request::Description;
use crate::wait;
use farfield::kernel::Sizes;
use farfield::memory::Memory;
use farfield::names::FromWords;
use farfield::plane::Plane;
use farfield::{Device, PlanOf, Space};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Plans a sum over points in the engine's memory. The plan does not keep `points`.
pub fn planned<T: OnGpu, G: FromWords>(
    request: &mut Description,
    memory: &Memory<T>,
    points: &PointArrays<T>,
) -> Result<PlanOf<T, G>, Failure> {
    if let Some(sizes) = &points.sizes {
        request.set_largest_size(sizes.longest(1)?.0);
    }
    Ok(memory.plan(&request.request::<G>()?, &points.of_sum(request)?)?)
}

/// A plan of either precision, in space or in the plane.
trait Planned: Send {
    fn evaluate(&mut self, strengths: &Input) -> Result<Vec<AnyArray>, Failure>;
    /// Evaluates the sum and compares it with a direct sum in double precision on the host.
    fn verify(&mut self, strengths: &Input, samples: usize, seed: u64) -> Result<Vec<MeasuredError>, Failure>;
    /// The plan's report as JSON.
    fn report(&self) -> String;
    fn memory_bytes(&self) -> Result<u64, Failure>;
}

/// A plan with its points, which `verify` needs.
struct Kept<T: OnGpu, G: FromWords> {
    request: Description,
    gpu: usize,
    memory: Memory<T>,
    points: PointArrays<T>,
    plan: PlanOf<T, G>,
}

impl<T: OnGpu, G: FromWords> Planned for Kept<T, G> {
    fn evaluate(&mut self, strengths: &Input) -> Result<Vec<AnyArray>, Failure> {
        let name = self.request.names().strengths;
        let strengths = strengths.array(&name, self.gpu, &self.memory)?;
        let outputs = self.plan.evaluate_array(&strengths)?;
        Ok(outputs.into_iter().map(T::any).collect())
    }

    fn verify(&mut self, strengths: &Input, samples: usize, seed: u64) -> Result<Vec<MeasuredError>, Failure> {
        let name = self.request.names().strengths;
        let strengths = strengths.array(&name, self.gpu, &self.memory)?;
        let strengths = strengths.values()?;
        let field = self.plan.evaluate(strengths)?;
        let points = &self.points;
        let sizes = match (&points.sizes, self.request.size()) {
            (Some(sizes), _) => Sizes::PerSource(sizes.values()?.to_vec()),
            (None, Some(size)) => Sizes::Global(T::from_f64(size)),
            (None, None) => Sizes::None,
        };
        let targets = points.targets.as_ref().map(|targets| targets.values()).transpose()?;
        let sum = self.request.sum_of::<T, G>(points.sources.values()?, targets, sizes)?;
        let errors = sum.verify(strengths, &field, samples, seed)?;
        let of = |error: farfield::verify::OutputError| (error.output, error.relative_l2, error.maximum);
        Ok(errors.into_iter().map(of).collect())
    }

    fn report(&self) -> String {
        // A report consists of numbers and strings: it always serialises.
        serde_json::to_string(&self.plan.report()).unwrap_or_default()
    }

    fn memory_bytes(&self) -> Result<u64, Failure> {
        let targets = self.points.targets.is_some().then(|| self.plan.target_count());
        Ok(self
            .request
            .sum::<T, G>()?
            .memory_forecast(self.plan.source_count(), targets))
    }
}

fn kept<T: OnGpu, G: FromWords>(
    mut request: Description,
    gpu: usize,
    points: &Points,
) -> Result<Box<dyn Planned>, Failure> {
    let memory = T::memory(gpu)?;
    let points = points.arrays::<T>(&request.names(), gpu, &memory)?;
    let plan = planned::<T, G>(&mut request, &memory, &points)?;
    Ok(Box::new(Kept {
        request,
        gpu,
        memory,
        points,
        plan,
    }))
}

/// A planned sum of points on a GPU: `GpuPlan(request, gpu, points)`, then `evaluate(strengths, shapes)`.
#[pyclass(frozen, module = "farfield._farfield")]
pub struct GpuPlan {
    plan: Arc<Mutex<Box<dyn Planned>>>,
    names: Names,
    gpu: usize,
    direct: bool,
}

impl GpuPlan {
    /// Runs `work` on the plan, one caller at a time.
    fn with<R: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Planned) -> Result<R, Failure> + Send + 'static,
    ) -> PyResult<R> {
        let (plan, gpu) = (self.plan.clone(), self.gpu);
        let work = move || {
            check_device(Device::Cuda(gpu))?;
            work(plan.lock().unwrap_or_else(PoisonError::into_inner).as_mut())
        };
        let done = wait_if_long(py, self.names.sources, self.direct, work)?;
        done.map_err(|failure| self.names.exception(&failure))
    }
}

#[pymethods]
impl GpuPlan {
    #[new]
    fn new(py: Python<'_>, request: Description, gpu: usize, points: PointOperands<'_>) -> PyResult<Self> {
        let mut names = request.names();
        let points = Points::of(&points, &names)?;
        names.sources = points.source_numbers() / request.dimension.max(1);
        let direct = request.options()?.method == farfield::Method::Direct;
        let work = move || match (&request.sources, request.dimension) {
            (AnyNumbers::Single(_), 2) => kept::<f32, Plane>(request, gpu, &points),
            (AnyNumbers::Double(_), 2) => kept::<f64, Plane>(request, gpu, &points),
            (AnyNumbers::Single(_), _) => kept::<f32, Space>(request, gpu, &points),
            (AnyNumbers::Double(_), _) => kept::<f64, Space>(request, gpu, &points),
        };
        let made = wait::short(py, work);
        let plan = made.map_err(|failure| names.exception(&failure))?;
        Ok(Self {
            plan: Arc::new(Mutex::new(plan)),
            names,
            gpu,
            direct,
        })
    }

    /// Evaluates the sum. Returns one array per output, with the given shapes.
    fn evaluate(
        &self,
        py: Python<'_>,
        strengths: Bound<'_, PyAny>,
        shapes: Vec<Vec<usize>>,
    ) -> PyResult<Vec<GpuArray>> {
        let strengths = input(&self.names.strengths, &strengths)?;
        let arrays = self.with(py, move |plan| plan.evaluate(&strengths))?;
        let result = |(array, shape)| GpuArray::new(array, self.gpu, shape);
        Ok(arrays.into_iter().zip(shapes).map(result).collect())
    }

    /// Evaluates the sum and measures its error at random targets on the host.
    fn verify(
        &self,
        py: Python<'_>,
        strengths: Bound<'_, PyAny>,
        samples: usize,
        seed: u64,
    ) -> PyResult<Vec<MeasuredError>> {
        let strengths = input(&self.names.strengths, &strengths)?;
        self.with(py, move |plan| plan.verify(&strengths, samples, seed))
    }

    /// The method and parameters of the plan and the times of the last evaluation, as JSON.
    fn report(&self, py: Python<'_>) -> String {
        let plan = self.plan.clone();
        py.detach(move || plan.lock().unwrap_or_else(PoisonError::into_inner).report())
    }

    /// The forecast memory of the plan in bytes.
    #[getter]
    fn memory_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |plan| plan.memory_bytes())
    }
}
