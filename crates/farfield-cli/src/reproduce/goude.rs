//! The sums of Goude's measurements: the harmonic potential of random strengths, in double precision.

use super::measure::{Case, SEED};
use super::published::GOUDE_ORDER;
use crate::problem::{Data, Plane, Settings};
use farfield::Method;
use farfield::plane::{Kernel, Output, PlaneSet};
use farfield::points::ChargeDistribution;

/// Targets at which errors are measured.
pub const SAMPLES: usize = 100;

/// Points of the plane and their strengths.
pub struct Vortices {
    points: Vec<[f64; 2]>,
    strengths: Vec<f64>,
}

impl Vortices {
    /// The first `n` points of a set.
    pub fn new(set: PlaneSet, n: usize) -> Self {
        Self::at(set.generate(n, SEED))
    }

    /// The same, with another standard deviation of the normal and layer sets.
    pub fn with_spread(set: PlaneSet, n: usize, spread: f64) -> Self {
        Self::at(set.generate_with_spread(n, SEED, spread))
    }

    fn at(points: Vec<[f64; 2]>) -> Self {
        let strengths = ChargeDistribution::Signed.generate(points.len(), SEED);
        Self { points, strengths }
    }

    /// The FMM with p = 17; the library chooses the number of levels.
    pub fn fmm(&self) -> Case<'_, Plane, f64, 2> {
        self.case(Settings {
            method: Method::Fmm,
            order: Some(GOUDE_ORDER),
            ..Settings::default()
        })
    }

    /// The FMM with another order and with so many points in a box as the number of levels is chosen for.
    pub fn fmm_with(&self, order: usize, per_box: usize) -> Case<'_, Plane, f64, 2> {
        self.case(Settings {
            method: Method::Fmm,
            order: Some(order),
            leaf_capacity: Some(per_box),
            ..Settings::default()
        })
    }

    /// The direct sum, its pairs as exact as those of the FMM.
    pub fn direct(&self) -> Case<'_, Plane, f64, 2> {
        self.case(Settings {
            method: Method::Direct,
            // With a tolerance instead, reciprocals would be just as exact as that asks for.
            order: Some(GOUDE_ORDER),
            ..Settings::default()
        })
    }

    fn case(&self, settings: Settings) -> Case<'_, Plane, f64, 2> {
        Case {
            problem: Plane::new(Kernel::Harmonic, &[Output::Potential]),
            data: Data {
                sources: &self.points,
                targets: None,
                strengths: &self.strengths,
                vectors: 1,
            },
            settings,
        }
    }
}

/// The number of levels for `per_box` points in a box (Goude, eq. 5.2).
pub fn levels(n: usize, per_box: usize) -> usize {
    let levels = 0.5 * (5.0 * n as f64 / (8.0 * per_box as f64)).log2();
    levels.ceil().max(0.0) as usize
}
