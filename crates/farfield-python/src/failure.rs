//! What went wrong, as Python's own exceptions.

use farfield::Error;
use farfield::names::UnknownName;
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};

/// Why there is no result.
#[derive(Debug)]
pub enum Failure {
    /// The library refused.
    Sum(Error),
    /// An argument makes no sense; the sentence names it.
    Argument(String),
    /// The machine could not.
    Machine(String),
    /// A defect of the library.
    Panic(String),
}

impl From<UnknownName> for Failure {
    fn from(mut unknown: UnknownName) -> Self {
        // As Python writes names.
        let known: Vec<String> = unknown.known.drain(..).map(|name| name.replace('-', "_")).collect();
        let UnknownName { what, name, .. } = unknown;
        Failure::Argument(format!("{what}: there is no `{name}`; there are: {}", known.join(", ")))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Sum(error)
    }
}

/// What the caller calls the arrays.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The strengths.
    pub strengths: String,
    /// Charges come with dipole moments: four numbers per source, the first the charge.
    pub dipoles: bool,
    /// Core sizes or softening lengths.
    pub sizes: String,
    /// How many sources there are: strengths of several vectors are numbered by vector and source.
    pub sources: usize,
    /// How many vectors of strengths.
    pub vectors: usize,
}

impl Names {
    /// `charges[2]`, or `charges[1, 2]` of several vectors.
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

    /// The message of an error with the caller's names in it.
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
            Error::NegativeSize { index, value } => format!("{} is {value}, negative", size(index)),
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
                "outputs: the velocity gradient of the hu-polynomial core is unbounded at its centre; accept that by \
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
                "a defect of farfield, please report it: {text}. Python can go on"
            )),
            Failure::Sum(error) => {
                let text = self.message(error).replace("--device cpu", "device=\"cpu\"");
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
