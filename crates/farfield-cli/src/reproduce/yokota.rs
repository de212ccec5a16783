//! The sums of Yokota's measurements: accelerations of bodies in a cube, in single precision.

use super::measure::{Case, SEED};
use crate::problem::{Data, Settings, Space};
use farfield::Method;
use farfield::kernel::{Kernel, Output};
use farfield::points::{ChargeDistribution, PointSet};

/// The accuracy of treecode and FMM alike.
pub const TOLERANCE: f64 = 1e-4;
/// Where the true error is measured.
pub const SAMPLES: usize = 100;

/// Bodies in the unit cube.
pub struct Bodies {
    points: Vec<[f32; 3]>,
    masses: Vec<f32>,
}

impl Bodies {
    /// The first `n` bodies.
    pub fn new(n: usize) -> Self {
        let masses = ChargeDistribution::Positive.generate(n, SEED);
        Self {
            points: PointSet::Cube.generate(n, SEED),
            masses,
        }
    }

    /// The sum by a method, to the tolerance.
    pub fn case(&self, method: Method) -> Case<'_, Space, f32, 3> {
        self.with(Settings {
            method,
            tolerance: Some(TOLERANCE),
            ..Settings::default()
        })
    }

    /// The sum with any settings.
    pub fn with(&self, settings: Settings) -> Case<'_, Space, f32, 3> {
        Case {
            problem: Space::new(Kernel::gravity(1.0), &[Output::Acceleration]),
            data: Data {
                sources: &self.points,
                targets: None,
                strengths: &self.masses,
                vectors: 1,
            },
            settings,
        }
    }
}
