//! The sums of Goude's measurements: the harmonic potential of random strengths, in double precision.

use super::Context;
use super::measure::{Measured, Measurement, Problem, SEED};
use super::published::GOUDE_ORDER;
use farfield::plane::{Kernel, Plane, PlaneSet, Sum};
use farfield::points::ChargeDistribution;
use farfield::report::Phase;
use farfield::{Method, Options};

/// Targets at which errors are measured.
pub const SAMPLES: usize = 100;

/// Points of the plane and their strengths.
pub struct Vortices {
    points: Vec<[f64; 2]>,
    strengths: Vec<f64>,
}

impl Problem for Vortices {
    type Number = f64;
    type Geometry = Plane;

    /// FMM or direct sum with p = 17; the library chooses the number of levels.
    fn case(&self, method: Method) -> Measurement<'_, f64, Plane> {
        self.with(Options {
            method,
            // Direct sums have an order too: with a tolerance, their reciprocals would be only as exact as it asks for.
            order: Some(GOUDE_ORDER),
            ..Options::default()
        })
    }
}

impl Vortices {
    /// The first `n` points of a set.
    pub fn new(set: PlaneSet, n: usize) -> Self {
        Self::at(set.generate(n, SEED))
    }

    /// The same, with the standard deviation `spread` of the normal and layer sets.
    pub fn with_spread(set: PlaneSet, n: usize, spread: f64) -> Self {
        Self::at(set.generate_with_spread(n, SEED, spread))
    }

    fn at(points: Vec<[f64; 2]>) -> Self {
        let strengths = ChargeDistribution::Signed.generate(points.len(), SEED);
        Self { points, strengths }
    }

    /// The FMM of order `order`, its number of levels chosen for `per_box` points in a box.
    pub fn fmm_with(&self, order: usize, per_box: usize) -> Measurement<'_, f64, Plane> {
        self.with(Options {
            method: Method::Fmm,
            order: Some(order),
            leaf_capacity: Some(per_box),
            ..Options::default()
        })
    }

    fn with(&self, options: Options) -> Measurement<'_, f64, Plane> {
        Measurement {
            sum: Sum::new(Kernel::Harmonic, &self.points).options(options),
            strengths: &self.strengths,
            sources: self.points.len(),
            targets: &self.points,
        }
    }
}

/// Seconds of a part of the FMM, as the paper cuts it; "total" is the whole, and "Other" the time in no other part. On our
/// GPU one kernel does all work at the leaves, so "P2P + L2P" compares across processors.
pub fn seconds_of(part: &str, measured: &Measured) -> f64 {
    let seconds = &measured.seconds;
    let phases: &[Phase] = match part {
        "P2P" => &[Phase::P2p],
        "Sort" => &[Phase::Sort],
        "M2L" => &[Phase::M2l],
        "P2M" => &[Phase::P2m, Phase::P2l],
        "L2P" => &[Phase::L2p, Phase::M2p],
        "P2P + L2P" => &[Phase::P2p, Phase::L2p, Phase::M2p],
        "Connect" => &[Phase::Connect],
        "M2M" => &[Phase::M2m],
        "L2L" => &[Phase::L2l],
        "total" => return seconds.total,
        // The phase of the tree, which prepares and plans, and the time outside of all phases.
        _ => return (seconds.total - measured.in_phases()).max(0.0) + seconds.of(Phase::Tree),
    };
    phases.iter().map(|phase| seconds.of(*phase)).sum()
}

/// Boxes of the finest level in the paper's table 5.1 and figure 5.1: level 8, or the finest level that the largest size
/// allows.
pub fn boxes(context: &Context) -> usize {
    let most = context.size(75 << 16, 75 << 8) / 75;
    [1 << 16, 1 << 14, 1 << 12, 1 << 10]
        .into_iter()
        .find(|boxes| *boxes <= most)
        .unwrap_or(1 << 8)
}

/// The number of levels for `per_box` points in a box (Goude, eq. 5.2).
pub fn levels(n: usize, per_box: usize) -> usize {
    let levels = 0.5 * (5.0 * n as f64 / (8.0 * per_box as f64)).log2();
    levels.ceil().max(0.0) as usize
}
