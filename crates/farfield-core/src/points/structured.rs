//! Points and charges with structure: lattices, waves, dominant charges, graded quadratures, offsets. An error model
//! for random charges fails on them, so sums over them are tested on every device.

use super::Random;

const PI: f64 = std::f64::consts::PI;

type Points = Vec<[f64; 3]>;

/// Points with charges.
#[derive(Debug, Clone)]
pub struct Structured<const D: usize> {
    /// A description of the set.
    pub name: &'static str,
    /// The points.
    pub points: Vec<[f64; D]>,
    /// Their charges.
    pub charges: Vec<f64>,
}

fn set<const D: usize>(name: &'static str, points: Vec<[f64; D]>, charges: Vec<f64>) -> Structured<D> {
    assert_eq!(points.len(), charges.len());
    Structured { name, points, charges }
}

fn direction(random: &mut Random) -> [f64; 3] {
    let z = 2.0 * random.uniform() - 1.0;
    let (sin, cos) = (2.0 * PI * random.uniform()).sin_cos();
    let r = (1.0 - z * z).sqrt();
    [r * cos, r * sin, z]
}

/// `n` points uniformly distributed in the unit cube.
pub fn cube(n: usize, seed: u64) -> Points {
    let mut random = Random::new(seed);
    (0..n).map(|_| std::array::from_fn(|_| random.uniform())).collect()
}

/// Points with radii uniform in their logarithm over `decades` decades, and their charges.
fn graded(n: usize, decades: f64) -> (Points, Vec<f64>) {
    let mut random = Random::new(3);
    (0..n)
        .map(|_| {
            let r = 10f64.powf(-decades * random.uniform());
            (direction(&mut random).map(|c| r * c), r.powi(3))
        })
        .unzip()
}

fn lattice(side: usize, charge: impl Fn([usize; 3]) -> f64) -> (Points, Vec<f64>) {
    let (mut points, mut charges) = (Vec::new(), Vec::new());
    for i in 0..side {
        for j in 0..side {
            for k in 0..side {
                points.push([i as f64, j as f64, k as f64]);
                charges.push(charge([i, j, k]));
            }
        }
    }
    (points, charges)
}

/// A spiral of points that covers a sphere uniformly.
pub fn spiral(n: usize, radius: f64) -> Points {
    (0..n)
        .map(|k| {
            let z = 1.0 - (2 * k + 1) as f64 / n as f64;
            let (sin, cos) = (k as f64 * PI * (3.0 - 5f64.sqrt())).sin_cos();
            let r = (1.0 - z * z).sqrt();
            [radius * r * cos, radius * r * sin, radius * z]
        })
        .collect()
}

fn waves(points: &[[f64; 3]], k: f64) -> Vec<f64> {
    points.iter().map(|p| (k * p[0]).sin()).collect()
}

/// Sets of about `n` points in space; lattices have `side` points along an edge.
pub fn in_space(n: usize, side: usize) -> Vec<Structured<3>> {
    let mut random = Random::new(9);
    let mut sets = Vec::new();
    for decades in [2.0, 6.0] {
        let (points, charges) = graded(n, decades);
        sets.push(set("graded quadrature", points, charges));
    }
    let (mut points, _) = graded(n, 3.0);
    let mut masses = vec![1.0; n];
    for (point, mass) in points.iter_mut().zip(&mut masses) {
        let r = point.iter().map(|c| c * c).sum::<f64>().sqrt();
        *mass = 8f64.powf((8.0 * (r.log10() + 3.0) / 3.0).floor());
    }
    sets.push(set("zoom simulation", points, masses));
    let centre = cube(n / 2, 1).into_iter().map(|p| p.map(|c| 0.01 * (c - 0.5)));
    let shell = spiral(n / 2, 1.0);
    let charges = (0..n).map(|k| if k < n / 2 { 1e3 } else { 1e-3 }).collect();
    sets.push(set("heavy centre, light shell", centre.chain(shell).collect(), charges));
    let mut charges = vec![1.0; n];
    charges[17] = 1e6;
    let mut points = cube(n, 2);
    points[17] = [0.5; 3];
    sets.push(set("one giant in a corner", points, charges));
    let belt = (1..n).map(|_| {
        let (sin, cos) = (2.0 * PI * random.uniform()).sin_cos();
        let r = 1.0 + 0.2 * random.uniform();
        [r * cos, r * sin, 0.02 * random.normal()]
    });
    let points: Points = std::iter::once([0.0; 3]).chain(belt).collect();
    let masses = (0..n).map(|k| if k == 0 { 1.0 } else { 1e-9 }).collect();
    sets.push(set("a sun and its belt", points, masses));
    let (points, charges) = lattice(side, |[i, j, k]| if (i + j + k).is_multiple_of(2) { 1.0 } else { -1.0 });
    sets.push(set("rock salt", points, charges));
    let signs: Vec<f64> = (0..side.pow(3))
        .map(|_| if random.uniform() < 0.5 { 1.0 } else { -1.0 })
        .collect();
    let (points, charges) = lattice(side, |[i, j, k]| signs[(i * side + j) * side + k]);
    sets.push(set("lattice with random signs", points, charges));
    let points = spiral(n, 1.0);
    let charges = waves(&points, 5.0);
    sets.push(set("waves on a spiral", points, charges));
    let points: Points = (1..=4).flat_map(|k| spiral(n / 4, f64::from(k))).collect();
    let charges = waves(&points, 2.0);
    sets.push(set("waves on nested shells", points, charges));
    let needle = cube(n, 5)
        .into_iter()
        .map(|p| [p[0], 1e-3 * p[1], 1e-3 * p[2]])
        .collect();
    sets.push(set("needle", needle, vec![1.0; n]));
    let apart = |far: f64| -> Points {
        let shift = |(k, p): (usize, [f64; 3])| {
            if k.is_multiple_of(2) {
                p
            } else {
                [p[0] + far, p[1], p[2]]
            }
        };
        cube(n, 6).into_iter().enumerate().map(shift).collect()
    };
    sets.push(set("two cubes far apart", apart(1e8), vec![1.0; n]));
    for (name, offset, width) in [
        ("cube + 1e6", 1e6, 1.0),
        ("cube + 1e8", 1e8, 1.0),
        ("cube of 1e-12 at 0.7", 0.7, 1e-12),
    ] {
        let points = cube(n, 7).into_iter().map(|p| p.map(|c| offset + width * c)).collect();
        let charges = (0..n).map(|_| random.normal()).collect();
        sets.push(set(name, points, charges));
    }
    let points = cube(n, 8);
    let charges = points
        .iter()
        .map(|p| (20.0 * p[0]).sin() * (15.0 * p[1]).cos() * p[2])
        .collect();
    sets.push(set("a smooth wave in a cube", points, charges));
    let points = cube(n, 9);
    let charges = (0..n).map(|_| random.normal().powi(9)).collect();
    sets.push(set("strengths with heavy tails", points, charges));
    let dipoles = cube(n / 2, 10)
        .into_iter()
        .flat_map(|p| [p, [p[0] + 1e-5, p[1], p[2]]])
        .collect();
    let charges = (0..n)
        .map(|k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 })
        .collect();
    sets.push(set("dipoles", dipoles, charges));
    sets
}

/// Sets of about `n` points in the plane; lattices have `side` points along an edge.
pub fn in_plane(n: usize, side: usize) -> Vec<Structured<2>> {
    let mut random = Random::new(2);
    let mut sets = Vec::new();
    let at = |r: f64, turn: f64| [r * (2.0 * PI * turn).cos(), r * (2.0 * PI * turn).sin()];
    let annulus = (1..n).map(|_| at(1.0 + 0.3 * random.uniform(), random.uniform()));
    let points: Vec<[f64; 2]> = std::iter::once([0.0; 2]).chain(annulus).collect();
    let strengths = (0..n).map(|k| if k == 0 { 1e4 } else { 1.0 }).collect();
    sets.push(set("annulus with a strong centre", points, strengths));
    let roots = (0..n).map(|k| at(1.0, k as f64 / n as f64)).collect();
    let strengths = (0..n)
        .map(|k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 })
        .collect();
    sets.push(set("roots of unity, alternating", roots, strengths));
    let graded: Vec<f64> = (0..n).map(|_| 10f64.powf(-6.0 * random.uniform())).collect();
    let points = graded.iter().map(|r| at(*r, random.uniform())).collect();
    sets.push(set("graded quadrature", points, graded.iter().map(|r| r * r).collect()));
    let grid = |k: usize| [(k / side) as f64, (k % side) as f64];
    let strengths = (0..side * side)
        .map(|k: usize| {
            if (k / side + k % side).is_multiple_of(2) {
                1.0
            } else {
                -1.0
            }
        })
        .collect();
    sets.push(set("checkerboard", (0..side * side).map(grid).collect(), strengths));
    let points: Vec<[f64; 2]> = (0..n)
        .map(|_| [1e6 + random.uniform(), 1e6 + random.uniform()])
        .collect();
    sets.push(set("square + 1e6", points, (0..n).map(|_| random.normal()).collect()));
    let points: Vec<[f64; 2]> = (0..n).map(|_| [random.uniform(), random.uniform()]).collect();
    let waves = points
        .iter()
        .map(|z| (20.0 * z[0]).sin() * (11.0 * z[1]).cos())
        .collect();
    sets.push(set("a smooth wave", points, waves));
    sets
}
