//! Regular harmonics in space and in the plane. Their sums over sources are the moments of the sources.
//!
//! In space these are the real solid harmonics $R_n^m$ in Schmidt normalisation, so that $\sum_m R_n^m(x) R_n^m(y) =
//! |x|^n |y|^n P_n(\cos\gamma)$. In the plane they are the real and imaginary parts of $z^n$. Both are ordered by
//! degree and computed by recurrences in Cartesian coordinates.

use farfield::simd::{self, SimdLevel, Vectorized};

/// The degree of each harmonic up to degree `order`, in order.
pub fn degrees<const D: usize>(order: usize) -> Vec<usize> {
    (0..=order)
        .flat_map(|degree| std::iter::repeat_n(degree, width::<D>(degree)))
        .collect()
}

/// The number of harmonics up to degree `order`.
pub fn count<const D: usize>(order: usize) -> usize {
    match D {
        3 => (order + 1) * (order + 1),
        _ => 2 * order + 1,
    }
}

fn width<const D: usize>(degree: usize) -> usize {
    match (D, degree) {
        (3, _) => 2 * degree + 1,
        (_, 0) => 1,
        _ => 2,
    }
}

/// The number of points that the recurrences process at a time, for vector registers.
pub const LANES: usize = 8;

/// A number for each of [`LANES`] points.
pub type Lanes = [f64; LANES];

/// The recurrences of harmonics up to an order, with their constants.
#[derive(Debug, Clone)]
pub struct Recurrence {
    order: usize,
    /// In space, the factors of z times the harmonic one degree lower and of r^2 times the harmonic two degrees
    /// lower. Those of degree n start at (n-1)^2; the last two harmonics of a degree have none.
    factors: Vec<[f64; 2]>,
    /// In space, the factor of the last two harmonics of degree m.
    diagonal: Vec<f64>,
}

impl Recurrence {
    /// Recurrences up to degree `order`.
    pub fn new(order: usize) -> Self {
        let root = |value: usize| (value as f64).sqrt();
        let factors = (0..=order).flat_map(|n| {
            (0..(2 * n).saturating_sub(1)).map(move |at| {
                let m = at.div_ceil(2);
                let norm = root(n * n - m * m);
                let below = if n >= m + 2 {
                    root((n - 1) * (n - 1) - m * m)
                } else {
                    0.0
                };
                [(2 * n - 1) as f64 / norm, below / norm]
            })
        });
        let diagonal = (0..=order).map(|m| match m {
            0 | 1 => 1.0,
            _ => root(2 * m - 1) / root(2 * m),
        });
        Self {
            order,
            factors: factors.collect(),
            diagonal: diagonal.collect(),
        }
    }

    /// The highest degree.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Evaluates the harmonics at [`LANES`] points into `values`. Inlined, so that it is compiled for the caller's
    /// SIMD level.
    #[inline(always)]
    pub fn evaluate<V: simd::Lanes<Elem = f64>, const D: usize>(&self, points: &[Lanes; D], values: &mut [Lanes]) {
        for first in (0..LANES).step_by(V::LANES) {
            let x = V::from_slice(&points[0][first..]);
            let y = V::from_slice(&points[1][first..]);
            match D {
                3 => self.in_space([x, y, V::from_slice(&points[D - 1][first..])], first, values),
                _ => self.in_plane([x, y], first, values),
            }
        }
    }

    #[inline(always)]
    fn in_plane<V: simd::Lanes<Elem = f64>>(&self, [x, y]: [V; 2], first: usize, values: &mut [Lanes]) {
        let mut power = [V::splat(1.0), V::zero()];
        write(power[0], first, &mut values[0]);
        for pair in values[1..].chunks_exact_mut(2) {
            power = times(power, x, y);
            write(power[0], first, &mut pair[0]);
            write(power[1], first, &mut pair[1]);
        }
    }

    /// Degree by degree: each harmonic is z times the harmonic one degree lower minus r^2 times the harmonic two
    /// degrees lower, at the same position within their degrees. The last two harmonics of a degree are powers of x +
    /// iy. The cosine harmonic m > 0 of degree n is at n^2 + 2 m - 1, its sine after it; the harmonic m = 0 is at
    /// n^2.
    #[inline(always)]
    fn in_space<V: simd::Lanes<Elem = f64>>(&self, [x, y, z]: [V; 3], first: usize, values: &mut [Lanes]) {
        let r2 = x.mul_add(x, y.mul_add(y, z * z));
        let mut power = [V::splat(1.0), V::zero()];
        write(power[0], first, &mut values[0]);
        for n in 1..=self.order {
            let (lower, row) = values.split_at_mut(n * n);
            let (lowest, lower) = lower.split_at((n - 1) * (n - 1));
            let lowest = &lowest[(n.max(2) - 2) * (n.max(2) - 2)..];
            let factors = &self.factors[(n - 1) * (n - 1)..n * n];
            // Indices, because iterators over four arrays are not compiled for the caller's SIMD level.
            let both = lowest.len();
            let (value, near, far, factor) = (&mut row[..both], &lower[..both], &lowest[..both], &factors[..both]);
            for at in 0..both {
                let [up, below] = factor[at];
                let near = z * read::<V>(first, &near[at]) * V::splat(up);
                let far = r2 * read::<V>(first, &far[at]);
                write(far.neg_mul_add(V::splat(below), near), first, &mut value[at]);
            }
            for at in both..lower.len() {
                write(
                    z * read::<V>(first, &lower[at]) * V::splat(factors[at][0]),
                    first,
                    &mut row[at],
                );
            }
            power = times(power, x, y);
            for part in 0..2 {
                power[part] = power[part] * V::splat(self.diagonal[n]);
                write(power[part], first, &mut row[2 * n - 1 + part]);
            }
        }
    }

    /// The harmonics at one point.
    pub fn at<const D: usize>(&self, point: [f64; D]) -> Vec<f64> {
        self.at_level(point, SimdLevel::best())
    }

    fn at_level<const D: usize>(&self, point: [f64; D], level: SimdLevel) -> Vec<f64> {
        let mut values = vec![[0.0; LANES]; count::<D>(self.order)];
        let points = point.map(|c| [c; LANES]);
        let at = At {
            recurrence: self,
            points: &points,
            values: &mut values,
        };
        simd::dispatch(level, at);
        values.iter().map(|lanes| lanes[LANES - 1]).collect()
    }

    /// Evaluates the harmonics at a point (index 0) and their derivatives along `direction` (index 1), by
    /// differentiating the recurrences.
    pub fn along<const D: usize>(&self, point: [f64; D], direction: [f64; D], values: &mut [[f64; 2]]) {
        match D {
            3 => self.along_in_space(
                [point[0], point[1], point[D - 1]],
                [direction[0], direction[1], direction[D - 1]],
                values,
            ),
            _ => self.along_in_plane([point[0], point[D - 1]], [direction[0], direction[D - 1]], values),
        }
    }

    fn along_in_plane(&self, x: [f64; 2], d: [f64; 2], values: &mut [[f64; 2]]) {
        values[0] = [1.0, 0.0];
        let mut power = ([1.0, 0.0], [0.0, 0.0]);
        for pair in values[1..].chunks_exact_mut(2) {
            power = dual_times(power, [x[0], d[0]], [x[1], d[1]]);
            (pair[0], pair[1]) = power;
        }
    }

    fn along_in_space(&self, x: [f64; 3], d: [f64; 3], values: &mut [[f64; 2]]) {
        let r2 = [
            x.iter().map(|c| c * c).sum::<f64>(),
            2.0 * x.iter().zip(d).map(|(c, d)| c * d).sum::<f64>(),
        ];
        values[0] = [1.0, 0.0];
        let mut power = ([1.0, 0.0], [0.0, 0.0]);
        for n in 1..=self.order {
            power = dual_times(power, [x[0], d[0]], [x[1], d[1]]);
            power = (
                power.0.map(|v| v * self.diagonal[n]),
                power.1.map(|v| v * self.diagonal[n]),
            );
            (values[n * n + 2 * n - 1], values[n * n + 2 * n]) = power;
            for (place, [up, below]) in self.factors[(n - 1) * (n - 1)..n * n].iter().enumerate() {
                let lower = dual([x[2], d[2]], values[(n - 1) * (n - 1) + place]);
                let lowest = if place + 3 < 2 * n {
                    dual(r2, values[(n - 2) * (n - 2) + place])
                } else {
                    [0.0; 2]
                };
                values[n * n + place] = [up * lower[0] - below * lowest[0], up * lower[1] - below * lowest[1]];
            }
        }
    }
}

/// [`Recurrence::evaluate`] at a SIMD level.
struct At<'a, const D: usize> {
    recurrence: &'a Recurrence,
    points: &'a [Lanes; D],
    values: &'a mut [Lanes],
}

impl<const D: usize> Vectorized<f64> for At<'_, D> {
    type Output = ();
    #[inline(always)]
    fn run<V: simd::Lanes<Elem = f64>>(self) {
        self.recurrence.evaluate::<V, D>(self.points, self.values);
    }
}

/// The lanes from `first` on.
#[inline(always)]
fn read<V: simd::Lanes<Elem = f64>>(first: usize, from: &Lanes) -> V {
    V::from_slice(&from[first..])
}

#[inline(always)]
fn write<V: simd::Lanes<Elem = f64>>(values: V, first: usize, to: &mut Lanes) {
    values.write_partial(&mut to[first..], V::LANES);
}

/// A complex number for each lane, times x + iy.
#[inline(always)]
fn times<V: simd::Lanes<Elem = f64>>([re, im]: [V; 2], x: V, y: V) -> [V; 2] {
    [im.neg_mul_add(y, re * x), re.mul_add(y, im * x)]
}

/// The product of two dual numbers (value and derivative).
fn dual(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] * b[0], a[0] * b[1] + a[1] * b[0]]
}

/// [`times`] for dual numbers.
fn dual_times((re, im): ([f64; 2], [f64; 2]), x: [f64; 2], y: [f64; 2]) -> ([f64; 2], [f64; 2]) {
    let (a, b, c, d) = (dual(re, x), dual(im, y), dual(re, y), dual(im, x));
    ([a[0] - b[0], a[1] - b[1]], [c[0] + d[0], c[1] + d[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legendre(order: usize, t: f64) -> Vec<f64> {
        let mut p = vec![1.0, t];
        for n in 2..=order {
            let n_ = n as f64;
            p.push(((2.0 * n_ - 1.0) * t * p[n - 1] - (n_ - 1.0) * p[n - 2]) / n_);
        }
        p
    }

    fn at<const D: usize>(recurrence: &Recurrence, point: [f64; D]) -> Vec<f64> {
        let values = recurrence.at(point);
        for level in SimdLevel::available() {
            let other = recurrence.at_level(point, level);
            let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-13 * (1.0 + a.abs());
            assert!(values.iter().zip(&other).all(is_close), "{level:?}");
        }
        values
    }

    #[test]
    fn harmonics_of_two_points_satisfy_the_addition_theorem() {
        let (order, x, y) = (12, [0.3, -0.7, 0.45], [-0.2, 0.5, 0.9]);
        let recurrence = Recurrence::new(order);
        let (a, b) = (at(&recurrence, x), at(&recurrence, y));
        let norm = |v: [f64; 3]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
        let cosine = (0..3).map(|k| x[k] * y[k]).sum::<f64>() / (norm(x) * norm(y));
        let expected = legendre(order, cosine);
        for n in 0..=order {
            let sum: f64 = (n * n..(n + 1) * (n + 1)).map(|k| a[k] * b[k]).sum();
            let radii = (norm(x) * norm(y)).powi(n as i32);
            assert!(
                (sum - radii * expected[n]).abs() < 1e-13,
                "degree {n}: {sum} against {}",
                radii * expected[n]
            );
        }
        assert_eq!(degrees::<3>(2), [0, 1, 1, 1, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn harmonics_in_the_plane_are_powers() {
        let values = at(&Recurrence::new(3), [0.5, 2.0]);
        // (1/2 + 2i)^2 and its cube.
        let expected = [1.0, 0.5, 2.0, -3.75, 2.0, -5.875, -6.5];
        assert!(
            values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14),
            "{values:?}"
        );
        assert_eq!(degrees::<2>(2), [0, 1, 1, 2, 2]);
    }

    #[test]
    fn derivatives_match_finite_differences() {
        fn check<const D: usize>(point: [f64; D], direction: [f64; D]) {
            let recurrence = Recurrence::new(9);
            let mut values = vec![[0.0; 2]; count::<D>(9)];
            recurrence.along(point, direction, &mut values);
            let step = 1e-6;
            let shifted = |s: f64| at::<D>(&recurrence, std::array::from_fn(|k| point[k] + s * direction[k]));
            let (up, down, here) = (shifted(step), shifted(-step), shifted(0.0));
            for (k, [value, derivative]) in values.iter().enumerate() {
                assert!((value - here[k]).abs() < 1e-14);
                assert!(
                    (derivative - (up[k] - down[k]) / (2.0 * step)).abs() < 1e-8,
                    "harmonic {k}"
                );
            }
        }
        check([0.3, -0.7, 0.45], [0.1, 0.8, -0.5]);
        check([0.3, -0.7], [0.1, 0.8]);
    }
}
