//! Rotation matrices of real solid harmonics.
//!
//! Built degree by degree with the recurrence of Ivanic and Ruedenberg (J. Phys. Chem. 100, 6342, 1996, with the
//! 1998 correction), which is stable for all degrees up to [`MAX_ORDER`](super::MAX_ORDER).

/// For each degree `n`, the `(2n+1) x (2n+1)` matrix `D` with `R(Q x) = D R(x)`, rows and columns ordered
/// `m = -n..=n` (sines negative).
pub fn rotation_matrices(q: [[f64; 3]; 3], order: usize) -> Vec<Vec<f64>> {
    // Degree one has the components y, z, x, in this order.
    let axes = [1, 2, 0];
    let first: Vec<f64> = (0..9).map(|i| q[axes[i / 3]][axes[i % 3]]).collect();
    let mut degrees = vec![vec![1.0]];
    if order > 0 {
        degrees.push(first.clone());
    }
    let one = Degree { n: 1, matrix: &first };
    for l in 2..=order {
        let next = next_degree(
            l as i64,
            &one,
            &Degree {
                n: l as i64 - 1,
                matrix: &degrees[l - 1],
            },
        );
        degrees.push(next);
    }
    degrees
}

/// For each degree, the cosine block (`(n+1) x (n+1)`, row-major) and the sine block (`n x n`) of the rotation about y
/// that turns the direction `(sin t, 0, cos t)` into z.
pub fn polar_rotation(cos_t: f64, sin_t: f64, order: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let q = [[cos_t, 0.0, -sin_t], [0.0, 1.0, 0.0], [sin_t, 0.0, cos_t]];
    rotation_matrices(q, order)
        .into_iter()
        .enumerate()
        .map(|(n, full)| {
            let at = |row: usize, column: usize| full[row * (2 * n + 1) + column];
            let cosines = (0..(n + 1) * (n + 1))
                .map(|i| at(n + i / (n + 1), n + i % (n + 1)))
                .collect();
            let sines = (0..n * n).map(|i| at(n - 1 - i / n, n - 1 - i % n)).collect();
            (cosines, sines)
        })
        .collect()
}

struct Degree<'a> {
    n: i64,
    matrix: &'a [f64],
}

impl Degree<'_> {
    fn at(&self, row: i64, column: i64) -> f64 {
        self.matrix[((row + self.n) * (2 * self.n + 1) + column + self.n) as usize]
    }
}

fn next_degree(l: i64, one: &Degree, previous: &Degree) -> Vec<f64> {
    let product = |i: i64, a: i64, b: i64| -> f64 {
        if b == l {
            one.at(i, 1) * previous.at(a, l - 1) - one.at(i, -1) * previous.at(a, 1 - l)
        } else if b == -l {
            one.at(i, 1) * previous.at(a, 1 - l) + one.at(i, -1) * previous.at(a, l - 1)
        } else {
            one.at(i, 0) * previous.at(a, b)
        }
    };
    let mut out = Vec::with_capacity(((2 * l + 1) * (2 * l + 1)) as usize);
    for m in -l..=l {
        for k in -l..=l {
            let denominator = if k.abs() < l {
                (l + k) * (l - k)
            } else {
                2 * l * (2 * l - 1)
            } as f64;
            let root = |numerator: i64| (numerator as f64 / denominator).sqrt();
            let a = m.abs();
            let mut sum = 0.0;
            if a < l {
                sum += root((l + m) * (l - m)) * product(0, m, k);
            }
            let v = match m {
                0 => -std::f64::consts::FRAC_1_SQRT_2 * root((l - 1) * l) * (product(1, 1, k) + product(-1, -1, k)),
                1 => 0.5 * root((l + a - 1) * (l + a)) * product(1, 0, k) * std::f64::consts::SQRT_2,
                -1 => 0.5 * root((l + a - 1) * (l + a)) * product(-1, 0, k) * std::f64::consts::SQRT_2,
                m if m > 0 => 0.5 * root((l + a - 1) * (l + a)) * (product(1, m - 1, k) - product(-1, 1 - m, k)),
                m => 0.5 * root((l + a - 1) * (l + a)) * (product(1, m + 1, k) + product(-1, -m - 1, k)),
            };
            sum += v;
            if m != 0 && a < l - 1 {
                let w = if m > 0 {
                    product(1, m + 1, k) + product(-1, -m - 1, k)
                } else {
                    product(1, m - 1, k) - product(-1, 1 - m, k)
                };
                sum -= 0.5 * root((l - a - 1) * (l - a)) * w;
            }
            out.push(sum);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::{cosine, oracle, sine};

    fn signed(values: &[f64], n: usize) -> Vec<f64> {
        let sines = (1..=n).rev().map(|m| values[sine(n, m)]);
        sines.chain((0..=n).map(|m| values[cosine(n, m)])).collect()
    }

    #[test]
    fn rotating_the_point_equals_rotating_the_basis() {
        let (a, b): (f64, f64) = (0.7, -1.9);
        let turn_z = [[a.cos(), -a.sin(), 0.0], [a.sin(), a.cos(), 0.0], [0.0, 0.0, 1.0]];
        let turn_x = [[1.0, 0.0, 0.0], [0.0, b.cos(), -b.sin()], [0.0, b.sin(), b.cos()]];
        let q: [[f64; 3]; 3] =
            std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| turn_z[i][k] * turn_x[k][j]).sum()));
        let order = 36;
        let matrices = rotation_matrices(q, order);
        let x = [0.4, -0.5, 0.6];
        let qx: [f64; 3] = std::array::from_fn(|i| (0..3).map(|j| q[i][j] * x[j]).sum());
        let (before, after) = (oracle::regular(order, x), oracle::regular(order, qx));
        for n in 0..=order {
            let (before, after) = (signed(&before, n), signed(&after, n));
            let size = after.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
            for row in 0..2 * n + 1 {
                let got: f64 = (0..2 * n + 1)
                    .map(|c| matrices[n][row * (2 * n + 1) + c] * before[c])
                    .sum();
                assert!(
                    (got - after[row]).abs() < 1e-12 * size.max(1e-30),
                    "degree {n}, row {row}"
                );
            }
        }
    }

    #[test]
    fn polar_rotation_turns_its_direction_into_the_axis() {
        let t: f64 = 1.1;
        let values = oracle::regular(8, [t.sin(), 0.0, t.cos()]);
        for (n, (cosines, _)) in polar_rotation(t.cos(), t.sin(), 8).into_iter().enumerate() {
            for row in 0..=n {
                let got: f64 = (0..=n).map(|m| cosines[row * (n + 1) + m] * values[cosine(n, m)]).sum();
                assert!((got - if row == 0 { 1.0 } else { 0.0 }).abs() < 1e-13);
            }
        }
    }
}
