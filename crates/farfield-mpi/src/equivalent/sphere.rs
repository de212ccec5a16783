//! Points on the unit sphere (in the plane, on the unit circle), and the map from moments to strengths at these points.

use super::harmonics::{self, Recurrence};
use farfield::simd::{self, SimdLevel, Vectorized};

/// The positions of equivalent sources on the unit sphere, and the map from moments to strengths.
#[derive(Debug, Clone)]
pub struct Sphere<const D: usize> {
    /// The recurrences of the moments.
    pub recurrence: Recurrence,
    /// The points, on the unit sphere.
    pub points: Vec<[f64; D]>,
    /// The contribution of each moment about the centre to the strength of each point, moment by moment.
    map: Vec<f64>,
}

/// Up to this order the strengths of least norm on few points are used; above, a quadrature rule on more points
/// avoids the cost of solving for them.
const FEW: usize = 16;

impl<const D: usize> Sphere<D> {
    /// The points for moments up to degree `order`.
    pub fn new(order: usize) -> Self {
        let recurrence = Recurrence::new(order);
        let rule = match D {
            3 if order > FEW => Some(gauss_product(order)),
            3 => None,
            _ => Some(circle(order)),
        };
        match rule {
            Some((points, weights)) => {
                let mut map = Self::harmonics(&recurrence, &points);
                let rows = map.chunks_exact_mut(harmonics::count::<D>(order));
                for (row, weight) in rows.zip(weights) {
                    row.iter_mut().for_each(|value| *value *= weight);
                }
                Self::with_norms(recurrence, points, map, |norm| norm)
            }
            None => {
                let points = spiral(Self::count_of(order));
                let map = least_norm(&Self::harmonics(&recurrence, &points), points.len(), Self::norms(order));
                Self::with_norms(recurrence, points, map, |_| 1.0)
            }
        }
    }

    /// Finishes the map: multiplies each column by a function of its norm, and transposes.
    fn with_norms(recurrence: Recurrence, points: Vec<[f64; D]>, mut map: Vec<f64>, of: impl Fn(f64) -> f64) -> Self {
        let norms = Self::norms(recurrence.order());
        for row in map.chunks_exact_mut(norms.len()) {
            row.iter_mut().zip(&norms).for_each(|(value, norm)| *value *= of(*norm));
        }
        let (moments, count) = (norms.len(), points.len());
        let by_moment = (0..moments).flat_map(|l| (0..count).map(move |k| k * moments + l));
        Self {
            recurrence,
            map: by_moment.map(|at| map[at]).collect(),
            points,
        }
    }

    /// One over the mean square of each harmonic on the unit sphere.
    fn norms(order: usize) -> Vec<f64> {
        let norm = |degree: usize| match (D, degree) {
            (3, _) => (2 * degree + 1) as f64,
            (_, 0) => 1.0,
            _ => 2.0,
        };
        harmonics::degrees::<D>(order).into_iter().map(norm).collect()
    }

    /// The harmonics at each point, row by row.
    fn harmonics(recurrence: &Recurrence, points: &[[f64; D]]) -> Vec<f64> {
        points.iter().flat_map(|point| recurrence.at(*point)).collect()
    }

    /// The number of points.
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// The number of points for an order. In space up to order [`FEW`] it is a third more than the number of moments:
    /// fewer points have larger strengths, more points gain nothing.
    pub fn count_of(order: usize) -> usize {
        match D {
            3 if order > FEW => (order + 1) * (2 * order + 1),
            3 => (4 * (order + 1) * (order + 1)).div_ceil(3),
            _ => 2 * order + 1,
        }
    }

    /// The position of point `k` on a sphere of this centre and radius.
    pub fn place(&self, k: usize, centre: [f64; D], radius: f64) -> [f64; D] {
        std::array::from_fn(|axis| centre[axis] + radius * self.points[k][axis])
    }

    /// Computes the strengths with the given moments and writes them to column `column` of `columns`.
    pub fn strengths(&self, moments: &[f64], strengths: &mut [f64], (column, columns): (usize, usize)) {
        let mut sums = vec![0.0; self.points.len()];
        let product = Product {
            map: &self.map,
            moments,
            sums: &mut sums,
        };
        simd::dispatch(SimdLevel::best(), product);
        for (sum, out) in sums.into_iter().zip(strengths.chunks_exact_mut(columns)) {
            out[column] = sum;
        }
    }
}

/// The product of the map with the moments, at a SIMD level.
struct Product<'a> {
    map: &'a [f64],
    moments: &'a [f64],
    sums: &'a mut [f64],
}

impl Vectorized<f64> for Product<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: simd::Lanes<Elem = f64>>(self) {
        for (moment, row) in self.moments.iter().zip(self.map.chunks_exact(self.sums.len())) {
            for (sum, factor) in self.sums.iter_mut().zip(row) {
                *sum += factor * moment;
            }
        }
    }
}

/// A golden spiral on the sphere: nearly uniform points.
fn spiral<const D: usize>(count: usize) -> Vec<[f64; D]> {
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let point = |k: usize| {
        let z = 1.0 - (2 * k + 1) as f64 / count as f64;
        let (sine, cosine) = (std::f64::consts::TAU * (k as f64 * golden).fract()).sin_cos();
        let s = (1.0 - z * z).sqrt();
        let point = [s * cosine, s * sine, z];
        std::array::from_fn(|axis| point[axis])
    };
    (0..count).map(point).collect()
}

/// The map from moments to the strengths of least norm that have them: $A^T(AA^T)^{-1}$, by Cholesky factorisation,
/// with the harmonics $A$ (a row for each moment, a column for each point). `rows` has the harmonics point by point.
fn least_norm(rows: &[f64], points: usize, norms: Vec<f64>) -> Vec<f64> {
    let count = norms.len();
    let root: Vec<f64> = norms.iter().map(|norm| norm.sqrt()).collect();
    let a: Vec<Vec<f64>> = (0..count)
        .map(|l| (0..points).map(|k| root[l] * rows[k * count + l]).collect())
        .collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    let mut factor: Vec<Vec<f64>> = Vec::with_capacity(count);
    for i in 0..count {
        let mut row: Vec<f64> = Vec::with_capacity(i + 1);
        for j in 0..=i {
            let above: &[f64] = if j < i { &factor[j] } else { &row };
            let rest = dot(&a[i], &a[j]) - dot(&row[..j], &above[..j]);
            row.push(if i == j { rest.sqrt() } else { rest / above[j] });
        }
        factor.push(row);
    }
    let mut x = a;
    let subtract = |x: &mut [Vec<f64>], from: usize, what: usize, times: f64| {
        let other = x[what].clone();
        x[from]
            .iter_mut()
            .zip(other)
            .for_each(|(value, other)| *value -= times * other);
    };
    for i in 0..count {
        (0..i).for_each(|t| subtract(&mut x, i, t, factor[i][t]));
        x[i].iter_mut().for_each(|value| *value /= factor[i][i]);
    }
    for i in (0..count).rev() {
        (i + 1..count).for_each(|t| subtract(&mut x, i, t, factor[t][i]));
        x[i].iter_mut().for_each(|value| *value /= factor[i][i]);
    }
    let mut map = Vec::with_capacity(count * points);
    for k in 0..points {
        map.extend((0..count).map(|l| root[l] * x[l][k]));
    }
    map
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

/// Gauss-Legendre nodes in z and equal angles around: exact for products of two harmonics up to degree `order`.
fn gauss_product<const D: usize>(order: usize) -> (Vec<[f64; D]>, Vec<f64>) {
    let around = 2 * order + 1;
    let (mut points, mut weights) = (Vec::new(), Vec::new());
    for (row, (z, weight)) in gauss(order + 1).into_iter().enumerate() {
        let s = (1.0 - z * z).sqrt();
        for k in 0..around {
            // Every second row is rotated by half a step, so that points do not line up.
            let angle = std::f64::consts::TAU * (k as f64 + 0.5 * (row % 2) as f64) / around as f64;
            let (sine, cosine) = angle.sin_cos();
            let point = [s * cosine, s * sine, z];
            points.push(std::array::from_fn(|axis| point[axis]));
            weights.push(0.5 * weight / around as f64);
        }
    }
    (points, weights)
}

/// Gauss-Legendre nodes and weights on [-1, 1], by Newton's method.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn moments_come_back<const D: usize>(order: usize) {
        let sphere = Sphere::<D>::new(order);
        assert_eq!(sphere.count(), Sphere::<D>::count_of(order));
        let count = harmonics::count::<D>(order);
        let moments: Vec<f64> = (0..count).map(|l| ((l * 37 + 11) % 17) as f64 - 8.0).collect();
        let mut strengths = vec![0.0; sphere.count()];
        sphere.strengths(&moments, &mut strengths, (0, 1));
        let rows = Sphere::harmonics(&sphere.recurrence, &sphere.points);
        for (l, moment) in moments.iter().enumerate() {
            let found: f64 = strengths.iter().enumerate().map(|(k, q)| q * rows[k * count + l]).sum();
            assert!(
                (found - moment).abs() < 1e-10,
                "order {order}, moment {l}: {found} for {moment}"
            );
        }
    }

    #[test]
    fn strengths_have_the_moments() {
        for order in [0, 1, 2, 5, 10, 16, 17, 20] {
            moments_come_back::<3>(order);
            moments_come_back::<2>(order);
        }
    }
}
