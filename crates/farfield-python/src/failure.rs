//! Errors, as Python's own exceptions.

use farfield::names::UnknownName;
use farfield::{Error, Remedy};
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};

/// An error on the way to a result.
#[derive(Debug)]
pub enum Failure {
    /// An error of the library.
    Sum(Error),
    /// An argument is invalid; the message names it.
    Argument(String),
    /// The machine failed: a GPU, a thread, a file.
    Machine(String),
    /// A panic, which is a bug in the library.
    Panic(String),
}

impl From<UnknownName> for Failure {
    fn from(mut unknown: UnknownName) -> Self {
        // Python's names have underscores.
        let known: Vec<String> = unknown.known.drain(..).map(|name| name.replace('-', "_")).collect();
        let UnknownName { what, name, .. } = unknown;
        Failure::Argument(format!("{what}: unknown name `{name}`; known: {}", known.join(", ")))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Sum(error)
    }
}

/// The caller's names for the arrays, for messages.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The name of the strengths.
    pub strengths: String,
    /// Whether charges come with dipole moments: four numbers per source, the charge first.
    pub dipoles: bool,
    /// The name of the core sizes or softening lengths.
    pub sizes: String,
    /// The number of sources; splits the index of a strength into vector and source.
    pub sources: usize,
    /// The number of strength vectors.
    pub vectors: usize,
}

impl Names {
    /// `charges[2]`, or `charges[1, 2]` if there are several vectors.
    fn strength(&self, index: usize, component: usize) -> String {
        let name = if self.dipoles && component > 0 {
            "dipoles"
        } else {
            &self.strengths
        };
        if self.vectors > 1 && self.sources > 0 {
            return format!("{name}[{}, {}]", index / self.sources, index % self.sources);
        }
        format!("{name}[{index}]")
    }

    /// The message of an error, with the caller's names.
    pub fn message(&self, error: &Error) -> String {
        let size = |index: &usize| format!("{}[{index}]", self.sizes);
        match error {
            Error::NotFinite {
                array,
                index,
                component,
                value,
            } => match *array {
                "strengths" => {
                    format!(
                        "{} is {value}: every number must be finite",
                        self.strength(*index, *component)
                    )
                }
                "core sizes" => format!("{} is {value}: every number must be finite", size(index)),
                array => format!("{array}[{index}, {component}] is {value}: every number must be finite"),
            },
            Error::Length {
                array: "strengths",
                found,
                expected,
                why,
            } => {
                format!("{} has {found} numbers, expected {expected} ({why})", self.strengths)
            }
            Error::Length {
                array: "core sizes",
                found,
                expected,
                why,
            } => {
                format!("{} has {found} numbers, expected {expected} ({why})", self.sizes)
            }
            Error::NegativeSize { index, value } => format!("{} is {value}: it must not be negative", size(index)),
            Error::SizeRange { index, value, .. } => {
                let text = error.to_string();
                let old = format!("core size {value:e} of source {index}");
                text.replace(&old, &format!("{} = {value:e}", size(index)))
            }
            Error::UselessSizes { kernel } => {
                format!(
                    "{} was given, but the {kernel} kernel has no core: leave it out, or choose a core",
                    self.sizes
                )
            }
            Error::MissingSize { core } => format!("{}: the {core} core needs a size", self.sizes),
            Error::Output {
                kernel,
                output,
                available,
            } => format!(
                "outputs: the {kernel} kernel has no output `{output}`; it has: {}",
                available.replace('-', "_")
            ),
            Error::UnboundedGradient => {
                "outputs: the velocity gradient of the hu-polynomial core is unbounded at its centre; accept it with \
                 allow_unbounded_gradient=True, or choose another core"
                    .to_owned()
            }
            Error::NotAnalytic { .. } => format!("outputs: {error}"),
            Error::MethodInPlane { .. } => format!("method: {error}"),
            Error::Overflow { .. } => format!("{}: {error}", self.strengths),
            Error::Extent { .. } => format!("sources: {error}"),
            Error::Memory { .. } => format!("{error}: see memory_limit"),
            _ => error.to_string(),
        }
    }

    /// The exception for a failure.
    pub fn exception(&self, failure: &Failure) -> PyErr {
        match failure {
            Failure::Argument(text) => PyValueError::new_err(text.clone()),
            Failure::Machine(text) => PyRuntimeError::new_err(text.clone()),
            Failure::Panic(text) => PyRuntimeError::new_err(format!(
                "this is a bug in farfield, please report it: {text}. Python can continue"
            )),
            Failure::Sum(error) => {
                let text = match error.remedy() {
                    Some(Remedy::Device(device)) => format!("{} (device=\"{device}\")", self.message(error)),
                    _ => self.message(error),
                };
                match error {
                    Error::Memory { .. } | Error::DeviceMemory { .. } => PyMemoryError::new_err(text),
                    Error::Threads { .. } | Error::Simd(_) => PyRuntimeError::new_err(text),
                    error if error.is_of_the_device() => PyRuntimeError::new_err(text),
                    _ => PyValueError::new_err(text),
                }
            }
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Names::default().exception(&failure)
    }
}
