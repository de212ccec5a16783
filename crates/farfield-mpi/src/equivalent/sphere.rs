//! Points on the unit sphere (in the plane, on the unit circle), and the strengths there that have given moments.

use super::harmonics::{self, LANES, Recurrence};

/// Points around a box that stand for the sources in it: positions on the unit sphere, and the map from moments to strengths.
#[derive(Debug, Clone)]
pub struct Sphere<const D: usize> {
    /// The recurrences of the moments.
    pub recurrence: Recurrence,
    /// The points, on the unit sphere.
    pub points: Vec<[f64; D]>,
    /// Row by row for each point: what moments about the centre of the unit sphere are multiplied with.
    map: Vec<f64>,
}

impl<const D: usize> Sphere<D> {
    /// Points that have the moments of any sources up to degree `order`.
    pub fn new(order: usize) -> Self {
        let recurrence = Recurrence::new(order);
        let (points, weights) = match D {
            3 => gauss_product(order),
            _ => circle(order),
        };
        let degrees = harmonics::degrees::<D>(order);
        let mut map = Vec::with_capacity(points.len() * degrees.len());
        let mut values = vec![[0.0; LANES]; degrees.len()];
        for (point, weight) in points.iter().zip(&weights) {
            recurrence.evaluate(&point.map(|c| [c; LANES]), &mut values);
            let norm = |degree: usize| match (D, degree) {
                (3, _) => (2 * degree + 1) as f64,
                (_, 0) => 1.0,
                _ => 2.0,
            };
            map.extend(
                values
                    .iter()
                    .zip(&degrees)
                    .map(|(value, degree)| weight * norm(*degree) * value[0]),
            );
        }
        Self {
            recurrence,
            points,
            map,
        }
    }

    /// How many points there are.
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// Where point `k` of a sphere of this centre and radius is.
    pub fn place(&self, k: usize, centre: [f64; D], radius: f64) -> [f64; D] {
        std::array::from_fn(|axis| centre[axis] + radius * self.points[k][axis])
    }

    /// The strengths at the points of the unit sphere that have the given moments; the `column`-th of `columns` beside each other.
    pub fn strengths(&self, moments: &[f64], strengths: &mut [f64], (column, columns): (usize, usize)) {
        let rows = self.map.chunks_exact(moments.len());
        for (row, out) in rows.zip(strengths.chunks_exact_mut(columns)) {
            out[column] = row.iter().zip(moments).map(|(a, b)| a * b).sum();
        }
    }
}

fn circle<const D: usize>(order: usize) -> (Vec<[f64; D]>, Vec<f64>) {
    let count = 2 * order + 1;
    let angle = |k: usize| std::f64::consts::TAU * (k as f64 + 0.5) / count as f64;
    let points = (0..count).map(|k| {
        let (sine, cosine) = angle(k).sin_cos();
        std::array::from_fn(|axis| if axis == 0 { cosine } else { sine })
    });
    (points.collect(), vec![1.0 / count as f64; count])
}

/// Gauss's nodes in z and equal angles around: exact for products of two harmonics up to degree `order`.
fn gauss_product<const D: usize>(order: usize) -> (Vec<[f64; D]>, Vec<f64>) {
    let around = 2 * order + 1;
    let (mut points, mut weights) = (Vec::new(), Vec::new());
    for (row, (z, weight)) in gauss(order + 1).into_iter().enumerate() {
        let s = (1.0 - z * z).sqrt();
        for k in 0..around {
            // Rows are turned against each other, so that points do not line up.
            let angle = std::f64::consts::TAU * (k as f64 + 0.5 * (row % 2) as f64) / around as f64;
            let (sine, cosine) = angle.sin_cos();
            let point = [s * cosine, s * sine, z];
            points.push(std::array::from_fn(|axis| point[axis]));
            weights.push(0.5 * weight / around as f64);
        }
    }
    (points, weights)
}

/// The nodes and weights of Gauss and Legendre on [-1, 1], by Newton's method.
fn gauss(count: usize) -> Vec<(f64, f64)> {
    let n = count as f64;
    let node = |k: usize| {
        let mut x = (std::f64::consts::PI * (k as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..100 {
            let (mut p, mut before) = (1.0, 0.0);
            for j in 1..=count {
                let j = j as f64;
                (p, before) = (((2.0 * j - 1.0) * x * p - (j - 1.0) * before) / j, p);
            }
            slope = n * (x * p - before) / (x * x - 1.0);
            let step = p / slope;
            x -= step;
            if step.abs() < 1e-16 {
                break;
            }
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    match count {
        1 => vec![(0.0, 2.0)],
        _ => (0..count).map(node).collect(),
    }
}
