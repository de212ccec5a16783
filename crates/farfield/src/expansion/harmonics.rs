//! Values of the basis functions at vectors of points.

use super::{coefficient_count, cosine, sine};
use crate::simd::{Lanes, Real};

/// The constants of the recurrences, for all degrees up to an order.
#[derive(Debug, Clone)]
pub struct Recurrence<T> {
    order: usize,
    /// `alpha[cosine(n, m)] = (2n-1) / sqrt(n^2 - m^2)`
    alpha: Vec<T>,
    /// `beta[cosine(n, m)] = sqrt(((n-1)^2 - m^2) / (n^2 - m^2))`
    beta: Vec<T>,
    /// `diagonal[n] = sqrt((2n-1) / 2n)`, one for n = 1.
    diagonal: Vec<T>,
}

impl<T: Real> Recurrence<T> {
    pub fn new(order: usize) -> Self {
        let mut alpha = vec![T::ZERO; coefficient_count(order)];
        let mut beta = alpha.clone();
        let mut diagonal = vec![T::ONE; order + 1];
        for n in 1..=order {
            let nn = n as f64;
            for m in 0..n {
                let mm = (m * m) as f64;
                alpha[cosine(n, m)] = T::from_f64((2.0 * nn - 1.0) / (nn * nn - mm).sqrt());
                beta[cosine(n, m)] = T::from_f64((((nn - 1.0).powi(2) - mm).max(0.0) / (nn * nn - mm)).sqrt());
            }
            if n > 1 {
                diagonal[n] = T::from_f64(((2.0 * nn - 1.0) / (2.0 * nn)).sqrt());
            }
        }
        Self { order, alpha, beta, diagonal }
    }

    /// `out[k] = R_k(x, y, z)` for all coefficients `k` up to `order`.
    #[inline(always)]
    pub fn regular<V: Lanes<Elem = T>>(&self, order: usize, x: V, y: V, z: V, out: &mut [V]) {
        let r2 = x.mul_add(x, y.mul_add(y, z * z));
        self.fill(order, [x, y, z], r2, V::splat(T::ONE), out);
    }

    /// `out[k] = I_k(x, y, z)`: since $R_n^m$ is homogeneous, $I_n^m(x) = R_n^m(x/r^2)/r$.
    #[inline(always)]
    pub fn irregular<V: Lanes<Elem = T>>(&self, order: usize, x: V, y: V, z: V, inverse_r: V, out: &mut [V]) {
        let inverse_r2 = inverse_r * inverse_r;
        self.fill(order, [x * inverse_r2, y * inverse_r2, z * inverse_r2], inverse_r2, inverse_r, out);
    }

    #[inline(always)]
    fn fill<V: Lanes<Elem = T>>(&self, order: usize, [x, y, z]: [V; 3], r2: V, first: V, out: &mut [V]) {
        assert!(order <= self.order);
        let out = &mut out[..coefficient_count(order)];
        out[0] = first;
        if order == 0 {
            return;
        }
        out[cosine(1, 0)] = z * first;
        out[cosine(1, 1)] = x * first;
        out[sine(1, 1)] = y * first;
        for n in 2..=order {
            let (lower, current) = out.split_at_mut(n * n);
            let (before, last) = lower.split_at((n - 1) * (n - 1));
            let before = &before[(n - 2) * (n - 2)..];
            let alpha = &self.alpha[cosine(n, 0)..][..n];
            let beta = &self.beta[cosine(n, 0)..][..n];
            let (last_cosines, last_sines) = last.split_at(n);
            let (before_cosines, before_sines) = before.split_at(n - 1);
            let (cosines, sines) = current[..2 * n + 1].split_at_mut(n + 1);
            // Sines start at m = 1: their slices are one shorter, index m - 1.
            for m in 0..n - 1 {
                let (az, br2) = (V::splat(alpha[m]) * z, V::splat(beta[m]) * r2);
                cosines[m] = br2.neg_mul_add(before_cosines[m], az * last_cosines[m]);
                if m > 0 {
                    sines[m - 1] = br2.neg_mul_add(before_sines[m - 1], az * last_sines[m - 1]);
                }
            }
            let az = V::splat(alpha[n - 1]) * z;
            cosines[n - 1] = az * last_cosines[n - 1];
            sines[n - 2] = az * last_sines[n - 2];
            let (c, s) = (last_cosines[n - 1], last_sines[n - 2]);
            let (dx, dy) = (V::splat(self.diagonal[n]) * x, V::splat(self.diagonal[n]) * y);
            cosines[n] = dy.neg_mul_add(s, dx * c);
            sines[n - 1] = dy.mul_add(c, dx * s);
        }
    }
}

/// The value of an expansion: the sum of `coefficients[k] * basis[k]`.
#[inline(always)]
pub fn dot<V: Lanes>(coefficients: &[V::Elem], basis: &[V]) -> V {
    let count = coefficients.len();
    let basis = &basis[..count];
    let mut sums = [V::zero(); 4];
    let (blocks, rest) = coefficients.as_chunks::<4>();
    let (basis_blocks, basis_rest) = basis.as_chunks::<4>();
    for (c, b) in blocks.iter().zip(basis_blocks) {
        for k in 0..4 {
            sums[k] = V::splat(c[k]).mul_add(b[k], sums[k]);
        }
    }
    for (c, b) in rest.iter().zip(basis_rest) {
        sums[0] = V::splat(*c).mul_add(*b, sums[0]);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::oracle;
    use crate::simd::{SimdLevel, Vectorized, dispatch};

    #[test]
    fn basis_matches_the_closed_form_at_every_level_and_precision() {
        #[derive(Clone, Copy)]
        struct Check;
        impl<T: Real> Vectorized<T> for Check {
            type Output = ();
            fn run<V: Lanes<Elem = T>>(self) {
                let order = if T::EPSILON > 1e-10 { 12 } else { 32 };
                let recurrence = Recurrence::<T>::new(order);
                let mut out = vec![V::zero(); coefficient_count(order)];
                for x in [[0.3, -0.2, 0.4], [0.0, 0.0, 0.7], [-0.5, 0.1, -0.4], [0.2, 0.6, 0.0]] {
                    let v = x.map(|c| V::splat(T::from_f64(c)));
                    let x = x.map(|c| T::from_f64(c).to_f64());
                    recurrence.regular(order, v[0], v[1], v[2], &mut out);
                    compare(&out, &oracle::regular(order, x));
                    let r = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
                    recurrence.irregular(order, v[0], v[1], v[2], V::splat(T::from_f64(1.0 / r)), &mut out);
                    compare(&out, &oracle::irregular(order, x));
                }
            }
        }
        fn compare<V: Lanes>(got: &[V], want: &[f64]) {
            for n in 0.. {
                if n * n == got.len() {
                    break;
                }
                let degree = n * n..(n + 1) * (n + 1);
                let size = want[degree.clone()].iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                for k in degree {
                    let error = (got[k].sum().to_f64() / V::LANES as f64 - want[k]).abs();
                    assert!(error <= 10.0 * (n + 4) as f64 * V::Elem::EPSILON * size, "degree {n}, coefficient {k}: {error:e} of {size:e}");
                }
            }
        }
        for level in SimdLevel::available() {
            dispatch::<f32, _>(level, Check);
            dispatch::<f64, _>(level, Check);
        }
    }
}
