//! A planned sum as a Python class.

use crate::failure::{Failure, Names};
use crate::numbers::{AnyNumbers, Scalar, Values};
use crate::pools::{check_device, with_threads};
use crate::request::Description;
use crate::wait;
use farfield::names::FromWords;
use farfield::plane::Plane;
use farfield::{Device, Field, PlanOf, Space};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The measured error of an output: its name, the relative L2 error and, in the plane, the largest relative error.
pub type MeasuredError = (&'static str, f64, Option<f64>);

/// A plan of either precision, in space or in the plane.
trait Planned: Send {
    fn evaluate(&mut self, strengths: &AnyNumbers, name: &str) -> Result<Values, Failure>;
    /// Evaluates the sum and compares it with a direct sum in double precision.
    fn verify(
        &mut self,
        request: &Description,
        strengths: &AnyNumbers,
        name: &str,
        samples: usize,
        seed: u64,
    ) -> Result<Vec<MeasuredError>, Failure>;
    /// The plan's report as JSON.
    fn report(&self) -> String;
    fn device(&self) -> &'static str;
}

impl<T: Scalar, G: FromWords> Planned for PlanOf<T, G> {
    fn evaluate(&mut self, strengths: &AnyNumbers, name: &str) -> Result<Values, Failure> {
        let field = PlanOf::evaluate(self, strengths.slice(name)?)?;
        Ok(T::values(field.into_values()))
    }

    fn verify(
        &mut self,
        request: &Description,
        strengths: &AnyNumbers,
        name: &str,
        samples: usize,
        seed: u64,
    ) -> Result<Vec<MeasuredError>, Failure> {
        let strengths = strengths.slice(name)?;
        let field: Field<T, G> = PlanOf::evaluate(self, strengths)?;
        let errors = request.sum::<T, G>()?.verify(strengths, &field, samples, seed)?;
        let of = |error: farfield::verify::OutputError| (error.output, error.relative_l2, error.maximum);
        Ok(errors.into_iter().map(of).collect())
    }

    fn report(&self) -> String {
        // A report consists of numbers and strings: it always serialises.
        serde_json::to_string(&PlanOf::report(self)).unwrap_or_default()
    }

    fn device(&self) -> &'static str {
        self.processor().device()
    }
}

/// A task that is generic over the precision and geometry of a request.
trait Do<R> {
    fn of<T: Scalar, G: FromWords>(request: &Description) -> Result<R, Failure>;
}

/// Runs a task with the precision and geometry of the request.
fn in_its_kind<D: Do<R>, R>(request: &Description) -> Result<R, Failure> {
    match (&request.sources, request.dimension) {
        (AnyNumbers::Single(_), 3) => D::of::<f32, Space>(request),
        (AnyNumbers::Double(_), 3) => D::of::<f64, Space>(request),
        (AnyNumbers::Single(_), 2) => D::of::<f32, Plane>(request),
        (AnyNumbers::Double(_), 2) => D::of::<f64, Plane>(request),
        (_, dimension) => Err(Failure::Argument(format!(
            "sources: points have {dimension} coordinates, not 2 or 3"
        ))),
    }
}

/// Plans the sum.
struct Make;

impl Do<Box<dyn Planned>> for Make {
    fn of<T: Scalar, G: FromWords>(request: &Description) -> Result<Box<dyn Planned>, Failure> {
        Ok(Box::new(request.sum::<T, G>()?.plan()?))
    }
}

/// Forecasts the memory of the plan in bytes.
struct Forecast;

impl Do<u64> for Forecast {
    fn of<T: Scalar, G: FromWords>(request: &Description) -> Result<u64, Failure> {
        let targets = request.has_targets().then(|| request.target_count());
        Ok(request.sum::<T, G>()?.memory_forecast(request.source_count(), targets))
    }
}

fn make(request: &Description) -> Result<Box<dyn Planned>, Failure> {
    in_its_kind::<Make, _>(request)
}

/// A planned sum: `Plan(request)`, then `evaluate(strengths)` any number of times, from any thread.
#[pyclass(frozen, module = "farfield._farfield")]
pub struct Plan {
    request: Arc<Description>,
    plan: Arc<Mutex<Box<dyn Planned>>>,
    names: Names,
}

impl Plan {
    /// Runs `work` on the plan, one caller at a time, with the threads of the request.
    fn with<R: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Planned, &Description) -> Result<R, Failure> + Send + 'static,
    ) -> PyResult<R> {
        let (request, plan) = (self.request.clone(), self.plan.clone());
        let work = move || {
            with_threads(request.threads, || {
                // After a panic the plan is still usable: the next sum overwrites its state.
                let mut plan = plan.lock().unwrap_or_else(PoisonError::into_inner);
                if plan.device() != "cpu" {
                    check_device(Device::Cuda(0))?;
                }
                work(plan.as_mut(), &request)
            })?
        };
        let done = if self.request.is_long() {
            wait::long(py, work)?
        } else {
            wait::short(py, work)
        };
        done.map_err(|failure| self.names.exception(&failure))
    }
}

#[pymethods]
impl Plan {
    #[new]
    fn new(py: Python<'_>, request: Description) -> PyResult<Self> {
        let names = request.names();
        let request = Arc::new(request);
        let asked = request.clone();
        let work = move || with_threads(asked.threads, || make(&asked))?;
        let made = if request.is_long() {
            wait::long(py, work)?
        } else {
            wait::short(py, work)
        };
        let plan = made.map_err(|failure| names.exception(&failure))?;
        Ok(Self {
            request,
            plan: Arc::new(Mutex::new(plan)),
            names,
        })
    }

    /// Evaluates the sum. Returns one flat array per output: vector by vector, target by target, component by
    /// component.
    fn evaluate(&self, py: Python<'_>, strengths: AnyNumbers) -> PyResult<Vec<Py<PyAny>>> {
        let name = self.names.strengths.clone();
        let values = self.with(py, move |plan, _| plan.evaluate(&strengths, &name))?;
        Ok(values.into_arrays(py))
    }

    /// Evaluates the sum and measures its error at random targets.
    fn verify(&self, py: Python<'_>, strengths: AnyNumbers, samples: usize, seed: u64) -> PyResult<Vec<MeasuredError>> {
        let name = self.names.strengths.clone();
        self.with(py, move |plan, request| {
            plan.verify(request, &strengths, &name, samples, seed)
        })
    }

    /// The method and parameters of the plan and the times of the last evaluation, as JSON.
    fn report(&self, py: Python<'_>) -> String {
        let plan = self.plan.clone();
        py.detach(move || plan.lock().unwrap_or_else(PoisonError::into_inner).report())
    }

    /// The forecast memory of the plan in bytes.
    #[getter]
    fn memory_bytes(&self) -> PyResult<u64> {
        let bytes = in_its_kind::<Forecast, _>(&self.request);
        bytes.map_err(|failure| self.names.exception(&failure))
    }
}

/// Plans and evaluates a sum in one call. Returns one flat array per output, as [`Plan::evaluate`].
#[pyfunction]
pub fn sum_on_host(py: Python<'_>, request: Description, strengths: AnyNumbers) -> PyResult<Vec<Py<PyAny>>> {
    let (names, long) = (request.names(), request.is_long());
    let name = names.strengths.clone();
    let work = move || {
        with_threads(request.threads, || {
            let mut plan = make(&request)?;
            plan.evaluate(&strengths, &name)
        })?
    };
    let done = if long {
        wait::long(py, work)?
    } else {
        wait::short(py, work)
    };
    let values = done.map_err(|failure| names.exception(&failure))?;
    Ok(values.into_arrays(py))
}

/// The seconds of each of `repeats` sums called from Rust, planning included: the cost without Python.
#[pyfunction]
pub fn seconds_on_host(
    py: Python<'_>,
    request: Description,
    strengths: AnyNumbers,
    repeats: usize,
) -> PyResult<Vec<f64>> {
    let work = move || {
        with_threads(request.threads, || {
            let one = |_| {
                let start = std::time::Instant::now();
                let values = make(&request)?.evaluate(&strengths, "strengths")?;
                let seconds = start.elapsed().as_secs_f64();
                drop(values);
                Ok(seconds)
            };
            (0..repeats).map(one).collect::<Result<Vec<f64>, Failure>>()
        })?
    };
    Ok(wait::short(py, work)?)
}
