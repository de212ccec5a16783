//! What simulations ask of a graphics processor: sums, and memory in which a state stays between steps.
//!
//! This crate knows no device. Whoever has one implements [`Device`] and, so that states can stay there, [`Memory`]:
//! arrays, the little arithmetic a step does between its sums, and sums between arrays. What a state is and how it
//! steps is in the models alone.

use crate::error::Error;
use farfield::plan::Parameters;
use farfield::{Field, Sum};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// What sums in place of the CPU's cores.
pub trait Device: fmt::Debug + Send + Sync {
    /// Its name, for reports and checkpoints.
    fn name(&self) -> String;

    /// Plans and evaluates, from the host's memory to the host's memory.
    ///
    /// # Errors
    /// What is wrong with the sum or the device.
    fn evaluate(&self, sum: &Sum<'_, f64>, strengths: &[f64]) -> Result<Evaluated, DeviceError>;

    /// Memory for states; `None` if states cannot stay, and points are to travel for every sum.
    ///
    /// # Errors
    /// What is wrong with the device.
    fn memory(&self) -> Result<Option<Arc<dyn Memory>>, DeviceError> {
        Ok(None)
    }

    /// What has travelled so far.
    fn traffic(&self) -> Traffic;
}

/// Memory of a device and what is done there. Work is done in the order of the calls.
pub trait Memory: fmt::Debug + Send + Sync {
    /// A copy of the host's numbers.
    ///
    /// # Errors
    /// [`DeviceError`], as from every method.
    fn upload(&self, values: &[f64]) -> Result<Array, DeviceError>;

    /// Copies an array to as many numbers of the host.
    ///
    /// # Errors
    /// As all.
    fn download(&self, array: &Array, values: &mut [f64]) -> Result<(), DeviceError>;

    /// A second array with the same numbers.
    ///
    /// # Errors
    /// As all.
    fn copy(&self, array: &Array) -> Result<Array, DeviceError>;

    /// `values += h rates`
    ///
    /// # Errors
    /// As all.
    fn add_scaled(&self, values: &mut Array, h: f64, rates: &Array) -> Result<(), DeviceError>;

    /// How strengths change, from the velocity gradients at their elements.
    ///
    /// # Errors
    /// As all.
    fn strength_rates(
        &self,
        law: &StrengthLaw,
        strengths: &Array,
        gradients: &Array,
        sizes: Option<&Array>,
    ) -> Result<Array, DeviceError>;

    /// Whether all numbers are finite.
    ///
    /// # Errors
    /// As all.
    fn all_finite(&self, arrays: &[&Array]) -> Result<bool, DeviceError>;

    /// The length of the longest vector of the given number of components, and the last index that has it.
    ///
    /// # Errors
    /// As all.
    fn longest(&self, array: &Array, components: usize) -> Result<(f64, usize), DeviceError>;

    /// Plans and evaluates a sum between arrays. `sum` has no points of its own; where each source has its own size, the
    /// size of `sum` is the largest.
    ///
    /// # Errors
    /// As all; numbers that are not finite are [`farfield::Error::NotFinite`].
    fn sum(&self, sum: &Sum<'_, f64>, points: &Points<'_>, strengths: &Array) -> Result<Summed, DeviceError>;
}

/// Replaces vectors of the host by those of an array.
pub(crate) fn fetch<const N: usize>(memory: &dyn Memory, array: &Array, to: &mut Vec<[f64; N]>) -> Result<(), Error> {
    to.resize(array.len() / N, [0.0; N]);
    Ok(memory.download(array, to.as_flattened_mut())?)
}

/// What a device summed for the host.
#[derive(Debug)]
pub struct Evaluated {
    /// The results.
    pub field: Field<f64>,
    /// What its plan settled on.
    pub parameters: Parameters,
    /// Seconds it took, planning included.
    pub seconds: f64,
}

/// What a device summed between its arrays.
#[derive(Debug)]
pub struct Summed {
    /// The values of each output.
    pub outputs: Vec<Array>,
    /// What the plan settled on.
    pub parameters: Parameters,
    /// Seconds it took, planning included.
    pub seconds: f64,
}

/// Numbers in a device's memory, freed when this is dropped.
#[derive(Debug)]
pub struct Array {
    length: usize,
    memory: Box<dyn Any + Send + Sync>,
}

impl Array {
    /// So many numbers, held by whatever the device knows them by.
    pub fn new<M: Any + Send + Sync>(length: usize, memory: M) -> Self {
        Self {
            length,
            memory: Box::new(memory),
        }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// What the device knows them by.
    ///
    /// # Errors
    /// [`DeviceError::Failed`] if the array is another device's.
    pub fn of<M: Any>(&self) -> Result<&M, DeviceError> {
        self.memory.downcast_ref().ok_or_else(DeviceError::foreign)
    }

    /// The same, to be changed.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn of_mut<M: Any>(&mut self) -> Result<&mut M, DeviceError> {
        self.memory.downcast_mut().ok_or_else(DeviceError::foreign)
    }
}

/// The points of a sum, three numbers each.
#[derive(Debug, Clone, Copy)]
pub struct Points<'a> {
    /// The sources.
    pub sources: &'a Array,
    /// The targets, where they are not the sources.
    pub targets: Option<&'a Array>,
    /// Core sizes, where each source has its own.
    pub sizes: Option<&'a Array>,
}

/// How the strength $\gamma$ of an element changes where the velocity gradient is $G$: by
/// $(cG+tG^T)\gamma+\lambda(|\gamma|\omega/|\omega|-\gamma)$, with $\omega$ the curl of the velocity and the element's
/// own $k\gamma/\sigma^3$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrengthLaw {
    /// $c$
    pub classical: f64,
    /// $t$
    pub transpose: f64,
    /// $\lambda$
    pub relaxation: f64,
    /// $k$
    pub own_vorticity: f64,
    /// $\sigma$, where elements do not each have their own.
    pub size: f64,
}

/// What travelled between the host and a device.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Traffic {
    /// Bytes to the device.
    pub sent: u64,
    /// Bytes to the host.
    pub fetched: u64,
    /// Seconds spent sending and fetching states; what sums from the host to the host take is in the sums.
    pub seconds: f64,
}

impl Traffic {
    /// What travelled since.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            fetched: self.fetched - before.fetched,
            seconds: self.seconds - before.seconds,
        }
    }
}

/// Why a device did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The sum is wrong, wherever it is done.
    #[error(transparent)]
    Sum(Box<farfield::Error>),
    /// The device failed or cannot do this.
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

impl DeviceError {
    fn foreign() -> Self {
        Self::Failed("an array of another device".into())
    }

    /// With the name of what was to be done.
    pub fn during(self, what: &'static str) -> Error {
        match self {
            Self::Sum(cause) => Error::Sum { what, cause },
            Self::Failed(cause) => Error::Device { what, cause },
        }
    }
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Self {
        error.during("the state on the device")
    }
}
