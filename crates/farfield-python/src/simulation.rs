//! Simulations: runs in a folder, and stepping by hand.

use crate::failure::Failure;
use crate::numbers::AnyNumbers;
use crate::pools::{check_device, with_threads};
use crate::wait;
use farfield::Device;
use farfield::tuning::MachineProfile;
use farfield_grid::poisson::PoissonDevice;
use farfield_sim::case::{self, BuiltIn, Case, Override};
use farfield_sim::model::{Model, Show, State};
use farfield_sim::run::{Control, Observer, Outcome, Progress, Run, case_text, model_of};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

impl From<farfield_sim::Error> for Failure {
    fn from(error: farfield_sim::Error) -> Self {
        use farfield_sim::Error as E;
        match error {
            E::Case(_) | E::Folder { .. } => Failure::Argument(error.to_string()),
            E::Sum { cause, .. } => Failure::Sum(*cause),
            error => Failure::Machine(error.to_string()),
        }
    }
}

impl From<farfield_sim::CaseError> for Failure {
    fn from(error: farfield_sim::CaseError) -> Self {
        Failure::Argument(error.to_string().replace("--set ", "set: "))
    }
}

/// A case, built-in or given as text, with overrides.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    name: String,
    /// The text of the case; `None` for the built-in case `name`.
    text: Option<String>,
    /// Overrides, each `key=value`.
    set: Vec<String>,
    device: String,
    threads: Option<usize>,
}

impl Asked {
    fn overrides(&self) -> Result<Vec<Override>, Failure> {
        Ok(self
            .set
            .iter()
            .map(|text| Override::parse(text))
            .collect::<Result<_, _>>()?)
    }

    fn case(&self) -> Result<Case, Failure> {
        let text = match &self.text {
            Some(text) => text.as_str(),
            None => BuiltIn::find(&self.name).map_err(|near| self.no_such_case(near))?.text,
        };
        Ok(case::read(text, &self.name, &self.overrides()?)?)
    }

    fn no_such_case(&self, near: Option<&str>) -> Failure {
        let hint = near.map_or(String::new(), |near| format!(" Did you mean `{near}`?"));
        let names: Vec<&str> = BuiltIn::ALL.iter().map(|case| case.name).collect();
        let (name, names) = (&self.name, names.join(", "));
        Failure::Argument(format!(
            "case: unknown case `{name}`; give a path that ends in .toml or one of: {names}.{hint}"
        ))
    }

    fn device(&self) -> Result<PoissonDevice, Failure> {
        let device = self
            .device
            .parse()
            .map_err(|text| Failure::Argument(format!("device: {text}")))?;
        check_device(device)
    }
}

/// The built-in cases: name and description.
#[pyfunction]
pub fn cases() -> Vec<(&'static str, &'static str)> {
    BuiltIn::ALL.iter().map(|case| (case.name, case.about())).collect()
}

/// Messages from the thread that runs to the thread that waits.
#[derive(Default)]
struct News {
    progress: Option<Progress>,
    remarks: Vec<String>,
}

struct Reporter(Arc<Mutex<News>>);

impl Observer for Reporter {
    fn progress(&mut self, progress: &Progress) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).progress = Some(*progress);
    }
    fn remark(&mut self, remark: &str) {
        let mut news = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        news.remarks.push(remark.to_owned());
    }
}

/// Runs a case in a folder, or resumes the run in it. `watch(step, time, end, seconds_left)` is called during the run.
/// Ctrl-C ends the run after the current step, with a checkpoint; a second Ctrl-C returns at once.
#[pyfunction]
pub fn run<'py>(
    py: Python<'py>,
    asked: Asked,
    folder: PathBuf,
    resume: bool,
    most_steps: Option<u64>,
    watch: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (control, news) = (
        Control {
            most_steps,
            ..Control::default()
        },
        Arc::new(Mutex::new(News::default())),
    );
    let (stop, told, threads) = (control.stop.clone(), news.clone(), asked.threads);
    let work = move || with_threads(threads, || go(&asked, &folder, resume, &control, told))?;
    let mut interrupted: Option<PyErr> = None;
    let mut seen = 0;
    let outcome = wait::watched(py, work, |py, signal| {
        if let Err(error) = signal {
            // A second Ctrl-C, and any other exception of a signal handler, is raised at once.
            if interrupted.is_some() || !error.is_instance_of::<PyKeyboardInterrupt>(py) {
                return Err(error);
            }
            stop.store(true, Ordering::Relaxed);
            interrupted = Some(error);
        }
        let progress = news.lock().unwrap_or_else(PoisonError::into_inner).progress;
        if let (Some(watch), Some(now)) = (&watch, progress.filter(|now| now.step != seen)) {
            seen = now.step;
            if let Err(error) = watch.call1((now.step, now.time, now.end, now.seconds_left)) {
                stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    })??;
    if let Some(error) = interrupted {
        return Err(error);
    }
    let dict = PyDict::new(py);
    dict.set_item("finished", outcome.finished)?;
    dict.set_item("steps", outcome.steps)?;
    dict.set_item("time", outcome.time)?;
    dict.set_item("seconds", outcome.seconds)?;
    dict.set_item("sum_seconds", outcome.sum_seconds)?;
    dict.set_item("sums", outcome.sums)?;
    dict.set_item("frames", outcome.frames)?;
    dict.set_item("device", outcome.device.map(|device| device.name))?;
    let remarks = std::mem::take(&mut news.lock().unwrap_or_else(PoisonError::into_inner).remarks);
    dict.set_item("remarks", remarks)?;
    Ok(dict)
}

fn go(
    asked: &Asked,
    folder: &Path,
    resume: bool,
    control: &Control,
    news: Arc<Mutex<News>>,
) -> Result<Outcome, Failure> {
    let device = asked.device()?;
    let mut run = if resume {
        let overrides = asked.overrides()?;
        let change = |case: Case| -> Result<Case, farfield_sim::Error> {
            if overrides.is_empty() {
                return Ok(case);
            }
            let text = case_text(&case, folder)?;
            Ok(case::read(&text, &folder.display().to_string(), &overrides)?)
        };
        Run::resume(folder, change)?.0
    } else {
        let case = asked.case()?;
        case.check_device(device)?;
        farfield::check_device(device.of_sums())?;
        Run::new(case, folder, MachineProfile::default())?
    };
    run.compute_on(device)?;
    Ok(run.go(control, &mut Reporter(news))?)
}

/// The simulation that is stepped.
struct Inner {
    case: Case,
    model: Box<dyn Model>,
    step: u64,
    time: f64,
    dt: f64,
}

impl Inner {
    fn new(asked: &Asked, arrays: BTreeMap<String, (usize, AnyNumbers)>) -> Result<Self, Failure> {
        let case = asked.case()?;
        let mut model = model_of(&case, &MachineProfile::default())?;
        if !arrays.is_empty() {
            let state = replaced(model.state()?, arrays)?;
            model
                .restore(&state)
                .map_err(|why| Failure::Argument(format!("state: {why}")))?;
        }
        let device = match asked.device()? {
            PoissonDevice::One(Device::Auto) => Device::Cpu.into(),
            device => device,
        };
        case.check_device(device)?;
        farfield::check_device(device.of_sums())?;
        model.summation().device = device;
        Ok(Self {
            case,
            model,
            step: 0,
            time: 0.0,
            dt: 0.0,
        })
    }

    fn advance(&mut self, dt: Option<f64>) -> Result<(), Failure> {
        self.model.evaluate()?;
        let dt = match dt {
            Some(dt) => dt,
            None => self.model.choose_step(&self.case.time)?.dt,
        };
        self.model.advance(dt, self.step + 1)?;
        self.step += 1;
        self.time += dt;
        self.dt = dt;
        if !self.model.is_finite()? {
            let (step, time) = (self.step, self.time);
            return Err(Failure::Machine(format!(
                "step {step}, time {time}: the state is not finite; take shorter steps"
            )));
        }
        Ok(())
    }
}

/// Replaces arrays of the state by name.
fn replaced(mut state: State, mut arrays: BTreeMap<String, (usize, AnyNumbers)>) -> Result<State, Failure> {
    for (name, width, values) in &mut state.arrays {
        if let Some((found, numbers)) = arrays.remove(name) {
            if found != *width {
                return Err(Failure::Argument(format!(
                    "state: `{name}` has {found} numbers per row, expected {width}"
                )));
            }
            *values = numbers.slice::<f64>(name)?.to_vec();
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                let (value, row) = (values[at], at / *width);
                return Err(Failure::Argument(format!(
                    "state: {name}[{row}] is {value}: every number must be finite"
                )));
            }
        }
    }
    match arrays.keys().next() {
        None => Ok(state),
        Some(name) => {
            let names: Vec<&str> = state.arrays.iter().map(|(name, ..)| name.as_str()).collect();
            let names = names.join(", ");
            Err(Failure::Argument(format!(
                "state: unknown array `{name}`; known arrays: {names}"
            )))
        }
    }
}

/// A simulation that is stepped by hand.
#[pyclass(frozen, module = "farfield._farfield")]
pub struct Simulation {
    inner: Arc<Mutex<Inner>>,
    threads: Option<usize>,
}

/// Arrays with their names and numbers per row.
type Arrays<'py> = Vec<(String, usize, Bound<'py, PyAny>)>;

impl Simulation {
    fn with<R: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Inner) -> Result<R, Failure> + Send + 'static,
    ) -> PyResult<R> {
        let (inner, threads) = (self.inner.clone(), self.threads);
        let work = move || {
            with_threads(threads, || {
                work(&mut inner.lock().unwrap_or_else(PoisonError::into_inner))
            })?
        };
        Ok(wait::long(py, work)??)
    }
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(py: Python<'_>, asked: Asked, arrays: BTreeMap<String, (usize, AnyNumbers)>) -> PyResult<Self> {
        let threads = asked.threads;
        let work = move || with_threads(threads, || Inner::new(&asked, arrays))?;
        let inner = Arc::new(Mutex::new(wait::long(py, work)??));
        Ok(Self { inner, threads })
    }

    /// Does one step of length `dt`; `None` lets the case choose the length.
    fn step(&self, py: Python<'_>, dt: Option<f64>) -> PyResult<()> {
        self.with(py, move |inner| inner.advance(dt))
    }

    /// The number of steps done, the time, the length of the last step, and the end time of the case.
    fn clock(&self, py: Python<'_>) -> PyResult<(u64, f64, f64, f64)> {
        self.with(py, |inner| Ok((inner.step, inner.time, inner.dt, inner.case.time.end)))
    }

    /// The diagnostics of the current state, by name.
    fn measure(&self, py: Python<'_>, energy: bool) -> PyResult<Vec<(String, f64)>> {
        self.with(py, move |inner| {
            inner.model.evaluate()?;
            let values = inner.model.measure(energy)?;
            Ok(inner.model.columns().into_iter().zip(values).collect())
        })
    }

    /// The arrays of the state.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Arrays<'py>> {
        let state = self.with(py, |inner| Ok(inner.model.state()?))?;
        let array = |(name, width, values)| (name, width, PyArray1::from_vec(py, values).into_any());
        Ok(state.arrays.into_iter().map(array).collect())
    }

    /// Replaces arrays of the state.
    fn restore(&self, py: Python<'_>, arrays: BTreeMap<String, (usize, AnyNumbers)>) -> PyResult<()> {
        self.with(py, move |inner| {
            let state = replaced(inner.model.state()?, arrays)?;
            inner
                .model
                .restore(&state)
                .map_err(|why| Failure::Argument(format!("state: {why}")))
        })
    }

    /// All points with all their attributes: the name and the arrays of each cloud.
    fn clouds<'py>(&self, py: Python<'py>) -> PyResult<Vec<(&'static str, Arrays<'py>)>> {
        let snapshot = self.with(py, |inner| {
            inner.model.evaluate()?;
            Ok(inner.model.snapshot(Show::Everything)?)
        })?;
        let vectors = |values: Vec<[f64; 3]>| PyArray1::from_vec(py, values.into_flattened()).into_any();
        let mut clouds = Vec::new();
        for cloud in snapshot.clouds {
            let mut arrays = vec![("points".to_owned(), 3, vectors(cloud.points))];
            for (name, values) in cloud.scalars {
                arrays.push((name.to_owned(), 1, PyArray1::from_vec(py, values).into_any()));
            }
            for (name, values) in cloud.vectors {
                arrays.push((name.to_owned(), 3, vectors(values)));
            }
            let groups = PyArray1::from_vec(py, cloud.groups);
            arrays.push(("groups".to_owned(), 1, groups.cast_array::<i64>(false)?.into_any()));
            clouds.push((cloud.name, arrays));
        }
        Ok(clouds)
    }

    /// One line that describes the size of the system.
    fn describe(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |inner| Ok(inner.model.describe()))
    }
}
