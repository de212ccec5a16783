//! The sums of Yokota's measurements: accelerations of bodies in a cube, in single precision.

use super::measure::{Measurement, Problem, SEED};
use farfield::kernel::{Kernel, Output};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Method, Options, Space, Sum};

/// The accuracy of treecode and FMM.
pub const TOLERANCE: f64 = 1e-4;
/// Bodies at which the true error is measured.
pub const SAMPLES: usize = 100;

/// Bodies in the unit cube.
pub struct Bodies {
    points: Vec<[f32; 3]>,
    masses: Vec<f32>,
}

impl Bodies {
    /// The first `n` bodies.
    pub fn new(n: usize) -> Self {
        Self {
            points: PointSet::Cube.generate(n, SEED),
            masses: ChargeDistribution::Positive.generate(n, SEED),
        }
    }

    /// The sum with any options.
    pub fn with(&self, options: Options) -> Measurement<'_, f32, Space> {
        Measurement {
            sum: Sum::new(Kernel::gravity(1.0), &self.points)
                .outputs(&[Output::Acceleration])
                .options(options),
            strengths: &self.masses,
            sources: self.points.len(),
            targets: &self.points,
        }
    }
}

impl Problem for Bodies {
    type Number = f32;
    type Geometry = Space;

    /// The sum by a method, to the tolerance.
    fn case(&self, method: Method) -> Measurement<'_, f32, Space> {
        self.with(Options {
            method,
            tolerance: Some(TOLERANCE),
            ..Options::default()
        })
    }
}
