//! The sums of Hu's measurements: between `n` sources and as many other receivers in a cube.

use super::measure::{Measurement, RECEIVER_SEED, SEED};
use farfield::kernel::{Core, Kernel, Output};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Method, Precision, Space, Sum};

/// The accuracy in single precision; the paper does not state its own.
pub const TOLERANCE: f64 = 1e-4;

/// The accuracy in double precision.
pub const DOUBLE_TOLERANCE: f64 = 1e-6;

/// What is summed.
#[derive(Debug, Clone, Copy)]
pub enum Column {
    /// The Coulomb potential: no derivative.
    Coulomb,
    /// The Coulomb potential and its gradient: one derivative, as the velocity.
    CoulombGradient,
    /// The Biot-Savart velocity.
    BiotSavart,
}

impl Column {
    fn kernel(self) -> Kernel {
        match self {
            Column::Coulomb | Column::CoulombGradient => Kernel::Coulomb,
            Column::BiotSavart => Kernel::BiotSavart { core: Core::Singular },
        }
    }

    fn outputs(self) -> &'static [Output] {
        match self {
            Column::Coulomb => &[Output::Potential],
            Column::CoulombGradient => &[Output::Potential, Output::Gradient],
            Column::BiotSavart => &[Output::Velocity],
        }
    }
}

/// Sources, receivers and strengths.
pub struct Particles<T> {
    column: Column,
    sources: Vec<[T; 3]>,
    receivers: Vec<[T; 3]>,
    strengths: Vec<T>,
}

impl<T: Precision> Particles<T> {
    /// `n` sources and as many receivers.
    pub fn new(column: Column, n: usize) -> Self {
        let components = column.kernel().strength_components();
        Self {
            column,
            sources: PointSet::Cube.generate(n, SEED),
            receivers: PointSet::Cube.generate(n, RECEIVER_SEED),
            strengths: ChargeDistribution::Signed.generate(n * components, SEED),
        }
    }

    /// The sum by a method, to the tolerance of the precision.
    pub fn case(&self, method: Method) -> Measurement<'_, T, Space> {
        Measurement {
            sum: Sum::new(self.column.kernel(), &self.sources)
                .targets(&self.receivers)
                .outputs(self.column.outputs())
                .method(method)
                .tolerance(tolerance::<T>()),
            strengths: &self.strengths,
            sources: self.sources.len(),
            targets: &self.receivers,
        }
    }

    /// The FMM.
    pub fn fmm(&self) -> Measurement<'_, T, Space> {
        self.case(Method::Fmm)
    }
}

/// The tolerance of a precision.
pub fn tolerance<T: Precision>() -> f64 {
    if T::DOUBLE { DOUBLE_TOLERANCE } else { TOLERANCE }
}
