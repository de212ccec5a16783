//! The one description of a sum: kernel, outputs, accuracy and device. Every interface fills it in: the library's
//! builder, the command line, Python, C, ranks and simulations.

use super::{Device, Method, Points, Sum};
use crate::error::Error;
use crate::geometry::{Geometry, Limits};
use crate::kernel::Sizes;
use crate::simd::{Real, SimdLevel};
use crate::tuning::MachineProfile;
use std::sync::LazyLock;

/// A sum without its points.
///
/// ```
/// use farfield_core::kernel::{Kernel, Output};
/// use farfield_core::sum::Request;
/// use farfield_core::Space;
///
/// let mut request = Request::<Space>::new(Kernel::Coulomb);
/// request.outputs.push(Output::Gradient);
/// request.options.tolerance = Some(1e-6);
/// assert!(request.validate::<f64>().is_ok());
/// assert!(Request::<Space>::new(Kernel::gravity(f64::NAN)).validate::<f64>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(bound(
        serialize = "G::Kernel: serde::Serialize, G::Output: serde::Serialize",
        deserialize = "G::Kernel: serde::Deserialize<'de>, G::Output: serde::Deserialize<'de>"
    ))
)]
pub struct Request<G: Geometry> {
    /// The kernel.
    pub kernel: G::Kernel,
    /// The outputs, in the order in which results are returned.
    pub outputs: Vec<G::Output>,
    /// The number of strength vectors that one evaluation sums.
    pub vectors: usize,
    /// The options.
    pub options: Options,
}

/// Options of a sum. The library chooses each value that is not set.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Options {
    /// The device.
    pub device: Device,
    /// The relative error allowed in each output: the root of the summed squared errors over that of the values, over all
    /// targets. From 1e-2 to 1e-12 in double, to 1e-5 in single precision; 1e-6 (1e-4 in single precision) if not set.
    pub tolerance: Option<f64>,
    /// The method.
    pub method: Method,
    /// For experts: one order for all expansions instead of the tolerance.
    pub order: Option<usize>,
    /// For experts: the treecode's opening criterion, a/r < theta; in the plane the criterion that couples boxes.
    pub theta: Option<f64>,
    /// For experts: the largest number of points in a box that is not divided; in the plane the desired number of
    /// points in a leaf, which determines the number of levels (Goude and Engblom, eq. 5.2).
    pub leaf_capacity: Option<usize>,
    /// The instruction set of the CPU; the best one available if not set.
    pub simd: Option<SimdLevel>,
    /// The machine profile of the cost model; the built-in profile if not set.
    pub profile: Option<MachineProfile>,
    /// Whether every evaluation compares a few dozen targets with the exact sum, and sums again with higher accuracy if
    /// the tolerance is exceeded.
    pub check: bool,
    /// The largest number of bytes of host memory that a plan may take; the available memory if not set.
    pub memory_limit: Option<u64>,
    /// Whether to accept the velocity gradient of [`crate::kernel::Core::HuPolynomial`], which is unbounded at the
    /// centre.
    pub allow_unbounded_gradient: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            device: Device::Cpu,
            tolerance: None,
            method: Method::Auto,
            order: None,
            theta: None,
            leaf_capacity: None,
            simd: None,
            profile: None,
            check: true,
            memory_limit: None,
            allow_unbounded_gradient: false,
        }
    }
}

impl Options {
    /// The requested relative error, or the default of the precision.
    pub fn tolerance<T: Real>(&self) -> f64 {
        self.tolerance.unwrap_or(if T::EPSILON > 1e-10 { 1e-4 } else { 1e-6 })
    }

    /// The relative error to meet; `None` if the order is fixed.
    pub fn kept_tolerance<T: Real>(&self) -> Option<f64> {
        self.order.is_none().then(|| self.tolerance::<T>())
    }

    /// The relative error allowed from treating cores as points in the far field.
    pub fn core_tolerance<T: Real>(&self) -> f64 {
        0.5 * self.kept_tolerance::<T>().unwrap_or(1e-12)
    }

    /// The instruction set of the CPU.
    pub fn simd(&self) -> SimdLevel {
        self.simd.unwrap_or_else(SimdLevel::best)
    }

    /// The machine profile of the cost model.
    pub fn profile(&self) -> &MachineProfile {
        static BUILT_IN: LazyLock<MachineProfile> = LazyLock::new(MachineProfile::default);
        self.profile.as_ref().unwrap_or(&BUILT_IN)
    }
}

/// The range of tolerances in a precision, lowest first.
pub fn tolerance_range<T: Real>() -> (f64, f64) {
    if T::EPSILON > 1e-10 {
        (1e-5, 1e-2)
    } else {
        (1e-12, 1e-2)
    }
}

impl<G: Geometry> Request<G> {
    /// A request for the default output of `kernel`, for one vector of strengths, with default options.
    pub fn new(kernel: impl Into<G::Kernel>) -> Self {
        let kernel = kernel.into();
        Self {
            kernel,
            outputs: G::outputs(kernel)[..1].to_vec(),
            vectors: 1,
            options: Options::default(),
        }
    }

    /// The request with its options changed by `change`.
    pub fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    /// The sum over `sources` without core sizes, at the sources themselves.
    pub fn between<'a, T: Real>(&'a self, sources: &'a [G::Point<T>]) -> Sum<'a, T, G> {
        self.over(Points::new(sources, None, &Sizes::None))
    }

    /// The sum over `points`.
    pub fn over<'a, T: Real>(&'a self, points: Points<'a, T, G>) -> Sum<'a, T, G> {
        Sum { request: self, points }
    }

    /// Makes all checks of planning that need no points. Opens no device.
    ///
    /// # Errors
    /// Any of [`Error`], with the invalid value.
    pub fn validate<T: Real>(&self) -> Result<(), Error> {
        G::validate_kernel(self)?;
        let options = &self.options;
        validate_tolerance::<T>(options)?;
        within("order", options.order, &G::ORDERS, |order| order as f64)?;
        within("theta", options.theta, &G::THETAS, |theta| theta)?;
        if let Some(capacity) = options.leaf_capacity {
            parameter("leaf_capacity", capacity as f64, "at least 1", capacity >= 1)?;
        }
        let vectors = self.vectors;
        parameter("vectors", vectors as f64, "1 to 1024", (1..=1024).contains(&vectors))
    }
}

fn validate_tolerance<T: Real>(options: &Options) -> Result<(), Error> {
    let (lowest, highest) = tolerance_range::<T>();
    match options.kept_tolerance::<T>() {
        Some(value) if !(lowest * (1.0 - 1e-9)..=highest * (1.0 + 1e-9)).contains(&value) => Err(Error::Tolerance {
            value,
            lowest,
            highest,
            precision: T::NAME,
        }),
        _ => Ok(()),
    }
}

/// [`Error::Parameter`] if a value is set and lies outside its limits.
fn within<V: Copy + PartialOrd>(
    name: &'static str,
    value: Option<V>,
    limits: &Limits<V>,
    number: impl Fn(V) -> f64,
) -> Result<(), Error> {
    value.map_or(Ok(()), |value| {
        parameter(name, number(value), limits.text, limits.range.contains(&value))
    })
}

/// [`Error::Parameter`] unless `valid`.
pub(crate) fn parameter(name: &'static str, value: f64, range: &'static str, valid: bool) -> Result<(), Error> {
    if valid {
        return Ok(());
    }
    Err(Error::Parameter { name, value, range })
}
