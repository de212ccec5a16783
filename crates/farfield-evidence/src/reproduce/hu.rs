//! The sums of Hu's measurements: between `n` sources and as many other receivers in a cube.

use super::measure::{Measurement, Problem, RECEIVER_SEED, SEED};
use farfield::kernel::{Core, Kernel, Output};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Method, Precision, Space, Sum};

/// The accuracy in single precision; the paper does not state its own.
pub const TOLERANCE: f64 = 1e-4;

/// The accuracy in double precision.
const DOUBLE_TOLERANCE: f64 = 1e-6;

/// What is summed: the kernel and its outputs.
pub type Column = (Kernel, &'static [Output]);

/// The Coulomb potential: no derivative.
pub const COULOMB: Column = (Kernel::Coulomb, &[Output::Potential]);
/// The Coulomb potential and its gradient: one derivative, like the velocity.
pub const COULOMB_GRADIENT: Column = (Kernel::Coulomb, &[Output::Potential, Output::Gradient]);
/// The Biot-Savart velocity.
pub const BIOT_SAVART: Column = (Kernel::BiotSavart { core: Core::Singular }, &[Output::Velocity]);

/// Sources, receivers and strengths.
pub struct Particles<T> {
    column: Column,
    sources: Vec<[T; 3]>,
    receivers: Vec<[T; 3]>,
    strengths: Vec<T>,
}

impl<T: Precision> Particles<T> {
    /// `n` sources with strengths of both signs, and as many receivers.
    pub fn new(column: Column, n: usize) -> Self {
        Self::with(column, n, ChargeDistribution::Signed)
    }

    /// The same with strengths of another distribution.
    pub fn with(column: Column, n: usize, strengths: ChargeDistribution) -> Self {
        Self {
            column,
            sources: PointSet::Cube.generate(n, SEED),
            receivers: PointSet::Cube.generate(n, RECEIVER_SEED),
            strengths: strengths.generate(n * column.0.strength_components(), SEED),
        }
    }
}

impl<T: Precision> Problem for Particles<T> {
    type Number = T;
    type Geometry = Space;

    /// The sum by a method, to the tolerance of the precision.
    fn case(&self, method: Method) -> Measurement<'_, T, Space> {
        let (kernel, outputs) = self.column;
        Measurement {
            sum: Sum::new(kernel, &self.sources)
                .targets(&self.receivers)
                .outputs(outputs)
                .method(method)
                .tolerance(tolerance::<T>()),
            strengths: &self.strengths,
            sources: self.sources.len(),
            targets: &self.receivers,
        }
    }
}

/// The tolerance of a precision.
pub fn tolerance<T: Precision>() -> f64 {
    if T::DOUBLE { DOUBLE_TOLERANCE } else { TOLERANCE }
}
