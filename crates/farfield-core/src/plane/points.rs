//! Point sets of the plane, reproducible from a seed.

use crate::points::{Random, keep};
use crate::simd::Real;
use std::fmt;
use std::ops::Range;

/// The random stream of the points.
const POINTS: u32 = 2;
/// The default standard deviation of the normal and layer sets.
const SPREAD: f64 = 0.1;

/// A kind of point set in the unit square.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaneSet {
    /// Uniform in the unit square.
    Square,
    /// Normal about the centre with variance 1/100; points outside the unit square are drawn again.
    Normal,
    /// x uniform, y normal about 1/2 with variance 1/100; points outside the unit square are drawn again.
    Layer,
    /// Uniform on the segment from (0.1, 0.2) to (0.9, 0.7).
    Line,
    /// Uniform on the circle of radius 1/2 about the centre.
    Circle,
    /// Uniform in two squares of side 10⁻³, one with its lower corner at the origin, the other at distance 1 along x.
    /// Points alternate between them.
    Clusters,
}

impl PlaneSet {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Square,
        Self::Normal,
        Self::Layer,
        Self::Line,
        Self::Circle,
        Self::Clusters,
    ];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Square => "square",
            Self::Normal => "normal",
            Self::Layer => "layer",
            Self::Line => "line",
            Self::Circle => "circle",
            Self::Clusters => "clusters",
        }
    }

    /// The first `n` points of the set for seed `seed`.
    pub fn generate<T: Real>(self, n: usize, seed: u64) -> Vec<[T; 2]> {
        self.generate_with_spread(n, seed, SPREAD)
    }

    /// [`generate`](Self::generate) with the standard deviation `spread` for the normal and layer sets.
    ///
    /// # Panics
    /// If `spread` is not positive and finite.
    pub fn generate_with_spread<T: Real>(self, n: usize, seed: u64, spread: f64) -> Vec<[T; 2]> {
        assert!(
            spread > 0.0 && spread.is_finite(),
            "spread = {spread} is not positive and finite"
        );
        self.draw(0..n, seed, spread)
    }

    /// The points of [`generate`](Self::generate) with indices in `part`. Earlier points are drawn and discarded.
    pub fn generate_part<T: Real>(self, part: Range<usize>, seed: u64) -> Vec<[T; 2]> {
        self.draw(part, seed, SPREAD)
    }

    fn draw<T: Real>(self, part: Range<usize>, seed: u64, spread: f64) -> Vec<[T; 2]> {
        let mut random = Random::stream(seed, POINTS);
        keep(part, |k| self.point(k, &mut random, spread).map(T::from_f64))
    }

    fn point(self, k: usize, random: &mut Random, spread: f64) -> [f64; 2] {
        match self {
            Self::Square => [random.uniform(), random.uniform()],
            Self::Normal => [within(random, spread), within(random, spread)],
            Self::Layer => [random.uniform(), within(random, spread)],
            Self::Line => {
                let t = random.uniform();
                [0.1 + 0.8 * t, 0.2 + 0.5 * t]
            }
            Self::Circle => {
                let (sin, cos) = (std::f64::consts::TAU * random.uniform()).sin_cos();
                [0.5 + 0.5 * cos, 0.5 + 0.5 * sin]
            }
            Self::Clusters => [(k % 2) as f64 + 1e-3 * random.uniform(), 1e-3 * random.uniform()],
        }
    }
}

/// A normal number about 1/2, drawn again until it lies in the unit interval.
fn within(random: &mut Random, spread: f64) -> f64 {
    loop {
        let x = 0.5 + spread * random.normal();
        if (0.0..=1.0).contains(&x) {
            return x;
        }
    }
}

impl fmt::Display for PlaneSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
