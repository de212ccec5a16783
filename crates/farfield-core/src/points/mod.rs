//! Point sets and strengths for benchmarks, tests and the program, reproducible from a seed.
//!
//! All numbers are drawn in double precision and then rounded: the single-precision set of a seed is the rounded
//! double-precision set. The first points of a set do not depend on its size.
//!
//! ```
//! use farfield_core::points::{ChargeDistribution, PointSet};
//!
//! let points: Vec<[f64; 3]> = PointSet::Cube.generate(1000, 1);
//! let charges: Vec<f64> = ChargeDistribution::Signed.generate(1000, 1);
//! assert_eq!(points.len(), charges.len());
//! assert_eq!(PointSet::from_name("cube"), Some(PointSet::Cube));
//! ```

mod random;
pub mod structured;

pub use random::Random;

use crate::simd::Real;
use std::fmt;
use std::ops::Range;

/// The random stream of the points.
const POINTS: u32 = 0;
/// The random stream of the strengths.
const CHARGES: u32 = 1;

/// A kind of point set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PointSet {
    /// Uniform in the unit cube, from 0 to 1 along each axis.
    Cube,
    /// Uniform on the surface of the sphere of radius 1/2 about the centre of the unit cube.
    Sphere,
    /// A Plummer sphere of scale length 1 about the origin: the density goes as (1 + r²)^(-5/2). Radii above 100 are
    /// drawn again.
    Plummer,
    /// A thin torus about the origin, its axis along z: a tube of radius 0.05 around a circle of radius 1/2, uniform
    /// in the angle along the circle and in the tube's cross-section.
    Ring,
    /// Uniform on the segment from (0.1, 0.2, 0.3) to (0.9, 0.7, 0.5).
    Line,
    /// Uniform in two cubes of side 10⁻³, one with its lower corner at the origin, the other at distance 1 along x.
    /// Points alternate between them.
    Clusters,
}

impl PointSet {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Cube,
        Self::Sphere,
        Self::Plummer,
        Self::Ring,
        Self::Line,
        Self::Clusters,
    ];

    /// The name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cube => "cube",
            Self::Sphere => "sphere",
            Self::Plummer => "plummer",
            Self::Ring => "ring",
            Self::Line => "line",
            Self::Clusters => "clusters",
        }
    }

    /// The point set called `name` (see [`name`](Self::name)).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }

    /// The first `n` points of the set for seed `seed`.
    pub fn generate<T: Real>(self, n: usize, seed: u64) -> Vec<[T; 3]> {
        self.generate_part(0..n, seed)
    }

    /// The points with indices in `part`. Earlier points are drawn and discarded.
    pub fn generate_part<T: Real>(self, part: Range<usize>, seed: u64) -> Vec<[T; 3]> {
        let mut random = Random::stream(seed, POINTS);
        // One loop for each kind, so that the match is outside the loop.
        match self {
            Self::Cube => collect(part, |_| cube(&mut random)),
            Self::Sphere => collect(part, |_| random.on_sphere().map(|x| 0.5 + 0.5 * x)),
            Self::Plummer => collect(part, |_| plummer(&mut random)),
            Self::Ring => collect(part, |_| ring(&mut random)),
            Self::Line => collect(part, |_| line(&mut random)),
            Self::Clusters => collect(part, |i| clusters(&mut random, i)),
        }
    }
}

impl fmt::Display for PointSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The distribution of the source strengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChargeDistribution {
    /// Standard normal: both signs, with a sum near zero.
    Signed,
    /// Uniform in (0, 1].
    Positive,
    /// All one.
    Unit,
}

impl ChargeDistribution {
    /// Every distribution.
    pub const ALL: [Self; 3] = [Self::Signed, Self::Positive, Self::Unit];

    /// The name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::Positive => "positive",
            Self::Unit => "unit",
        }
    }

    /// The distribution called `name` (see [`name`](Self::name)).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|distribution| distribution.name() == name)
    }

    /// The first `count` strengths for seed `seed`. They are independent of the points that [`PointSet::generate`]
    /// returns for the same seed.
    pub fn generate<T: Real>(self, count: usize, seed: u64) -> Vec<T> {
        self.generate_part(0..count, seed)
    }

    /// The strengths with indices in `part`. Earlier strengths are drawn and discarded.
    pub fn generate_part<T: Real>(self, part: Range<usize>, seed: u64) -> Vec<T> {
        let mut random = Random::stream(seed, CHARGES);
        match self {
            Self::Signed => keep(part, |_| T::from_f64(random.normal())),
            Self::Positive => keep(part, |_| T::from_f64(1.0 - random.uniform())),
            Self::Unit => vec![T::from_f64(1.0); part.len()],
        }
    }
}

impl fmt::Display for ChargeDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Draws values one after another and keeps those with indices in `part`.
pub(crate) fn keep<V>(part: Range<usize>, mut draw: impl FnMut(usize) -> V) -> Vec<V> {
    for i in 0..part.start {
        draw(i);
    }
    part.map(draw).collect()
}

/// [`keep`] for points, rounded to `T`.
fn collect<T: Real>(part: Range<usize>, mut point: impl FnMut(usize) -> [f64; 3]) -> Vec<[T; 3]> {
    keep(part, |i| point(i).map(T::from_f64))
}

fn cube(random: &mut Random) -> [f64; 3] {
    [random.uniform(), random.uniform(), random.uniform()]
}

fn plummer(random: &mut Random) -> [f64; 3] {
    const LARGEST: f64 = 100.0;
    loop {
        // The fraction of the mass inside r is (1 + r^-2)^(-3/2).
        let root = random.uniform().cbrt();
        let radius = root / ((1.0 - root) * (1.0 + root)).sqrt();
        if radius <= LARGEST {
            return random.on_sphere().map(|x| radius * x);
        }
    }
}

fn ring(random: &mut Random) -> [f64; 3] {
    const RADIUS: f64 = 0.5;
    const CORE: f64 = 0.05;
    let (x, y, square) = random.in_disc();
    let (across, along, _) = random.in_disc();
    let scale = (RADIUS + CORE * across) / square.sqrt();
    [x * scale, y * scale, CORE * along]
}

fn line(random: &mut Random) -> [f64; 3] {
    const START: [f64; 3] = [0.1, 0.2, 0.3];
    const STEP: [f64; 3] = [0.8, 0.5, 0.2];
    let t = random.uniform();
    std::array::from_fn(|axis| START[axis] + t * STEP[axis])
}

fn clusters(random: &mut Random, index: usize) -> [f64; 3] {
    const SIDE: f64 = 1e-3;
    let [x, y, z] = cube(random).map(|x| SIDE * x);
    [if index % 2 == 1 { 1.0 + x } else { x }, y, z]
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 100_000;

    // From an implementation in another language, for seed 1: the second point of each set ...
    const GOLDEN_POINTS: [[f64; 3]; 6] = [
        [0.7462168706168104, 0.18467857211916938, 0.5904788847320792],
        [0.2253041820749273, 0.66915067523918, 0.11799181071526132],
        [-2.050447935646841, 0.5883591345673935, 0.29961293175111425],
        [-0.5274047383477668, 0.1513344425998046, 0.002341686399030585],
        [0.697683772926575, 0.5735523580791093, 0.4494209432316437],
        [1.0007462168706167, 0.0001846785721191694, 0.0005904788847320792],
    ];
    // ... and the first two strengths of each distribution.
    const GOLDEN_CHARGES: [[f64; 2]; 3] = [
        [1.1516804141390304, 0.1244913140817765],
        [0.14456826781861398, 0.46157947737723604],
        [1.0, 1.0],
    ];

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
        sum / count
    }

    fn norm([x, y, z]: [f64; 3]) -> f64 {
        (x * x + y * y + z * z).sqrt()
    }

    fn close(got: f64, expected: f64, tolerance: f64) {
        assert!(
            (got - expected).abs() <= tolerance,
            "{got} instead of {expected} within {tolerance}"
        );
    }

    /// Checks the means of the coordinates and of their products.
    fn moments(points: &[[f64; 3]], centre: [f64; 3], variances: [f64; 3], tolerance: f64) {
        for axis in 0..3 {
            close(mean(points.iter().map(|p| p[axis])), centre[axis], tolerance);
            for other in axis..3 {
                let product = mean(
                    points
                        .iter()
                        .map(|p| (p[axis] - centre[axis]) * (p[other] - centre[other])),
                );
                close(product, if axis == other { variances[axis] } else { 0.0 }, tolerance);
            }
        }
    }

    #[test]
    fn names_and_variants_map_to_each_other() {
        for set in PointSet::ALL {
            assert_eq!(PointSet::from_name(set.name()), Some(set));
            assert_eq!(set.to_string(), set.name());
        }
        for distribution in ChargeDistribution::ALL {
            assert_eq!(ChargeDistribution::from_name(distribution.name()), Some(distribution));
            assert_eq!(distribution.to_string(), distribution.name());
        }
        assert_eq!(PointSet::from_name("Cube"), None);
        assert_eq!(ChargeDistribution::from_name(""), None);
    }

    #[test]
    fn points_of_a_seed_match_the_reference() {
        for (set, expected) in PointSet::ALL.into_iter().zip(GOLDEN_POINTS) {
            let got = set.generate::<f64>(2, 1)[1];
            for axis in 0..3 {
                // The last bit of the cube root may differ between platforms.
                close(got[axis], expected[axis], 16.0 * f64::EPSILON * expected[axis].abs());
            }
            assert_eq!(set.generate::<f64>(1000, 5), set.generate::<f64>(1000, 5));
        }
        for (distribution, expected) in ChargeDistribution::ALL.into_iter().zip(GOLDEN_CHARGES) {
            let got = distribution.generate::<f64>(2, 1);
            close(got[0], expected[0], 4.0 * f64::EPSILON * expected[0].abs());
            close(got[1], expected[1], 4.0 * f64::EPSILON * expected[1].abs());
        }
    }

    #[test]
    fn seeds_differ() {
        for set in PointSet::ALL {
            assert_ne!(set.generate::<f64>(1, 1), set.generate::<f64>(1, 2), "{set}");
        }
        for distribution in [ChargeDistribution::Signed, ChargeDistribution::Positive] {
            assert_ne!(
                distribution.generate::<f64>(1, 1),
                distribution.generate::<f64>(1, 2),
                "{distribution}"
            );
        }
    }

    #[test]
    fn the_first_points_do_not_depend_on_the_number_of_points() {
        for set in PointSet::ALL {
            let all = set.generate::<f64>(101, 9);
            for n in [0, 1, 2, 100] {
                assert_eq!(set.generate::<f64>(n, 9), all[..n], "{set}");
            }
        }
        for distribution in ChargeDistribution::ALL {
            let all = distribution.generate::<f64>(101, 9);
            for n in [0, 1, 2, 100] {
                assert_eq!(distribution.generate::<f64>(n, 9), all[..n], "{distribution}");
            }
        }
    }

    #[test]
    fn single_precision_is_double_precision_rounded() {
        for set in PointSet::ALL {
            let rounded: Vec<[f32; 3]> = set
                .generate::<f64>(1000, 2)
                .iter()
                .map(|p| p.map(|x| x as f32))
                .collect();
            assert_eq!(set.generate::<f32>(1000, 2), rounded, "{set}");
        }
        for distribution in ChargeDistribution::ALL {
            let rounded: Vec<f32> = distribution
                .generate::<f64>(1000, 2)
                .iter()
                .map(|&q| q as f32)
                .collect();
            assert_eq!(distribution.generate::<f32>(1000, 2), rounded, "{distribution}");
        }
    }

    #[test]
    fn cube_is_uniform() {
        let points = PointSet::Cube.generate::<f64>(N, 1);
        assert!(points.iter().flatten().all(|x| (0.0..1.0).contains(x)));
        moments(&points, [0.5; 3], [1.0 / 12.0; 3], 4e-3);
    }

    #[test]
    fn sphere_is_uniform() {
        let points = PointSet::Sphere.generate::<f64>(N, 1);
        for point in &points {
            close(norm(point.map(|x| x - 0.5)), 0.5, 4.0 * f64::EPSILON);
        }
        moments(&points, [0.5; 3], [1.0 / 12.0; 3], 4e-3);
        // Each coordinate of a point on a sphere is uniformly distributed (Archimedes).
        for axis in 0..3 {
            let fourth = mean(points.iter().map(|p| (p[axis] - 0.5).powi(4)));
            close(fourth, 1.0 / 80.0, 3e-4);
        }
    }

    #[test]
    fn plummer_has_its_mass_profile() {
        let points = PointSet::Plummer.generate::<f64>(N, 1);
        let mut radii: Vec<f64> = points.iter().map(|&p| norm(p)).collect();
        radii.sort_by(f64::total_cmp);
        assert!(radii[N - 1] <= 100.0 * (1.0 + 4.0 * f64::EPSILON));
        let mass = |r: f64| (r * r / (1.0 + r * r)).powf(1.5);
        for r in [0.3, 1.0, 3.0, 10.0] {
            close(
                radii.partition_point(|&x| x < r) as f64 / N as f64,
                mass(r) / mass(100.0),
                6e-3,
            );
        }
        close(radii[N / 2], 1.3048, 0.02);
        let directions: Vec<[f64; 3]> = points.iter().map(|&p| p.map(|x| x / norm(p))).collect();
        moments(&directions, [0.0; 3], [1.0 / 3.0; 3], 0.01);
    }

    #[test]
    fn ring_is_a_thin_torus() {
        let points = PointSet::Ring.generate::<f64>(N, 1);
        let section: Vec<[f64; 2]> = points.iter().map(|p| [p[0].hypot(p[1]) - 0.5, p[2]]).collect();
        assert!(section.iter().all(|[a, b]| a.hypot(*b) <= 0.05 * (1.0 + 1e-12)));
        // Uniform in a disc of radius a: the mean squares are a²/4 along each axis and a²/2 together.
        close(mean(section.iter().map(|s| s[0] * s[0])), 6.25e-4, 2e-5);
        close(mean(section.iter().map(|s| s[1] * s[1])), 6.25e-4, 2e-5);
        close(mean(section.iter().map(|s| s[0] * s[1])), 0.0, 2e-5);
        let across = (0.25 + 6.25e-4) / 2.0;
        moments(&points, [0.0; 3], [across, across, 6.25e-4], 4e-3);
    }

    #[test]
    fn line_is_straight() {
        let points = PointSet::Line.generate::<f64>(N, 1);
        let (start, end) = ([0.1, 0.2, 0.3], [0.9, 0.7, 0.5]);
        for point in &points {
            let t = (point[0] - start[0]) / (end[0] - start[0]);
            assert!((-1e-15..=1.0 + 1e-15).contains(&t));
            for axis in 1..3 {
                close(
                    point[axis],
                    start[axis] + t * (end[axis] - start[axis]),
                    4.0 * f64::EPSILON,
                );
            }
        }
        close(mean(points.iter().map(|p| p[0])), 0.5, 4e-3);
        close(mean(points.iter().map(|p| (p[0] - 0.5).powi(2))), 0.64 / 12.0, 4e-3);
    }

    #[test]
    fn clusters_are_two_small_cubes() {
        let points = PointSet::Clusters.generate::<f64>(N + 1, 1);
        let (near, far): (Vec<[f64; 3]>, Vec<[f64; 3]>) = points.into_iter().partition(|p| p[0] < 0.5);
        assert_eq!((near.len(), far.len()), (N / 2 + 1, N / 2));
        let far: Vec<[f64; 3]> = far.iter().map(|p| [p[0] - 1.0, p[1], p[2]]).collect();
        for cluster in [near, far] {
            assert!(
                cluster
                    .iter()
                    .flatten()
                    .all(|x| (0.0..=1e-3 + f64::EPSILON).contains(x))
            );
            let scaled: Vec<[f64; 3]> = cluster.iter().map(|p| p.map(|x| 1e3 * x)).collect();
            moments(&scaled, [0.5; 3], [1.0 / 12.0; 3], 6e-3);
        }
    }

    #[test]
    fn charges_follow_their_distribution() {
        let signed = ChargeDistribution::Signed.generate::<f64>(N, 1);
        close(mean(signed.iter().copied()), 0.0, 0.015);
        close(mean(signed.iter().map(|q| q * q)), 1.0, 0.02);
        let positive = ChargeDistribution::Positive.generate::<f64>(N, 1);
        assert!(positive.iter().all(|&q| q > 0.0 && q <= 1.0));
        close(mean(positive.iter().copied()), 0.5, 4e-3);
        close(mean(positive.iter().map(|q| q * q)), 1.0 / 3.0, 4e-3);
        assert!(ChargeDistribution::Unit.generate::<f32>(N, 1).iter().all(|&q| q == 1.0));
    }

    #[test]
    fn charges_are_independent_of_points() {
        let points = PointSet::Cube.generate::<f64>(N, 1);
        let charges = ChargeDistribution::Positive.generate::<f64>(3 * N, 1);
        let product = mean(
            points
                .iter()
                .flatten()
                .zip(&charges)
                .map(|(x, q)| (x - 0.5) * (q - 0.5)),
        );
        close(product, 0.0, 1e-3);
    }

    #[test]
    fn parts_equal_slices_of_the_whole() {
        for part in [0..0, 0..7, 5..5, 13..40, 39..40] {
            for set in PointSet::ALL {
                let whole = set.generate::<f32>(40, 3);
                assert_eq!(set.generate_part::<f32>(part.clone(), 3), whole[part.clone()]);
            }
            for charges in ChargeDistribution::ALL {
                let whole = charges.generate::<f64>(40, 3);
                assert_eq!(charges.generate_part::<f64>(part.clone(), 3), whole[part.clone()]);
            }
            for set in crate::plane::PlaneSet::ALL {
                let whole = set.generate::<f64>(40, 3);
                assert_eq!(set.generate_part::<f64>(part.clone(), 3), whole[part.clone()]);
            }
        }
    }
}
