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
        Self {
            order,
            alpha,
            beta,
            diagonal,
        }
    }

    /// `out[k] = R_k(x, y, z)` for all coefficients `k` up to `order`.
    #[cfg(test)]
    #[inline(always)]
    pub fn regular<V: Lanes<Elem = T>>(&self, order: usize, x: V, y: V, z: V, out: &mut [V]) {
        let r2 = x.mul_add(x, y.mul_add(y, z * z));
        self.fill(
            order,
            PointLanes {
                x: [x],
                y: [y],
                z: [z],
                r2: [r2],
                first: [V::splat(T::ONE)],
            },
            out,
        );
    }

    /// `out[k] = I_k(x, y, z)`.
    #[cfg(test)]
    #[inline(always)]
    pub fn irregular<V: Lanes<Elem = T>>(&self, order: usize, x: V, y: V, z: V, inverse_r: V, out: &mut [V]) {
        let r2 = inverse_r * inverse_r;
        self.fill(
            order,
            PointLanes {
                x: [x * r2],
                y: [y * r2],
                z: [z * r2],
                r2: [r2],
                first: [inverse_r],
            },
            out,
        );
    }

    #[cfg(test)]
    fn fill<V: Lanes<Elem = T>>(&self, order: usize, points: PointLanes<V, 1>, out: &mut [V]) {
        out[..coefficient_count(order)].fill(V::zero());
        self.accumulate(order, &points, &[[V::splat(T::ONE)]], out);
    }
}

/// `B` vectors of points, prepared for either basis: `regular` at (x, y, z) with `first = 1` and `r2 = r^2`, or
/// `irregular` at (x, y, z)/r^2 with `first = 1/r` and `r2 = 1/r^2`.
#[derive(Clone, Copy)]
pub struct PointLanes<V, const B: usize> {
    pub x: [V; B],
    pub y: [V; B],
    pub z: [V; B],
    pub r2: [V; B],
    pub first: [V; B],
}

impl<T: Real> Recurrence<T> {
    /// The values of `S` expansions at `B` vectors of points.
    ///
    /// $R_n^m = Q_n^m(z, r) \times \{C_m, S_m\}(x, y)$: for each m the recurrence runs through n in registers and each
    /// expansion accumulates its cosine and sine coefficients times Q, so the basis is never stored.
    ///
    /// Each expansion must hold all coefficients up to `order`, padded with zeros.
    #[inline(always)]
    pub fn evaluate<V: Lanes<Elem = T>, const S: usize, const B: usize>(
        &self,
        order: usize,
        expansions: [&[T]; S],
        points: &PointLanes<V, B>,
    ) -> [[V; B]; S] {
        let count = coefficient_count(order);
        assert!(order <= self.order && expansions.iter().all(|expansion| expansion.len() >= count));
        let mut values = [[V::zero(); B]; S];
        let (mut c, mut s) = (points.first, [V::zero(); B]);
        for m in 0..=order {
            if m > 0 {
                self.next_azimuth(m, points, &mut c, &mut s);
            }
            let (mut q, mut before) = ([V::splat(T::ONE); B], [V::zero(); B]);
            let (mut cosines, mut sines) = ([[V::zero(); B]; S], [[V::zero(); B]; S]);
            for n in m..=order {
                if n > m {
                    self.next_degree(n, m, points, &mut q, &mut before);
                }
                for e in 0..S {
                    // SAFETY: cosine(n, m) and sine(n, m) are below coefficient_count(order) for m <= n <= order, and
                    // every expansion is at least that long.
                    let a = V::splat(unsafe { *expansions[e].get_unchecked(cosine(n, m)) });
                    for b in 0..B {
                        cosines[e][b] = a.mul_add(q[b], cosines[e][b]);
                    }
                    if m > 0 {
                        // SAFETY: as above.
                        let a = V::splat(unsafe { *expansions[e].get_unchecked(sine(n, m)) });
                        for b in 0..B {
                            sines[e][b] = a.mul_add(q[b], sines[e][b]);
                        }
                    }
                }
            }
            for e in 0..S {
                for b in 0..B {
                    values[e][b] = c[b].mul_add(cosines[e][b], s[b].mul_add(sines[e][b], values[e][b]));
                }
            }
        }
        values
    }

    /// Adds `weights[e][b] * R(points b)`, lane by lane, to the sums of every expansion `e`. The expansions follow one
    /// another in `sums`.
    #[inline(always)]
    pub fn accumulate<V: Lanes<Elem = T>, const B: usize>(
        &self,
        order: usize,
        points: &PointLanes<V, B>,
        weights: &[[V; B]],
        sums: &mut [V],
    ) {
        let count = coefficient_count(order);
        assert!(order <= self.order && sums.len() >= weights.len() * count);
        let (mut c, mut s) = (points.first, [V::zero(); B]);
        for m in 0..=order {
            if m > 0 {
                self.next_azimuth(m, points, &mut c, &mut s);
            }
            let (mut q, mut before) = ([V::splat(T::ONE); B], [V::zero(); B]);
            for n in m..=order {
                if n > m {
                    self.next_degree(n, m, points, &mut q, &mut before);
                }
                let (mut qc, mut qs) = (q, q);
                for b in 0..B {
                    qc[b] = q[b] * c[b];
                    qs[b] = q[b] * s[b];
                }
                for (e, weight) in weights.iter().enumerate() {
                    // SAFETY: below weights.len() * count, which `sums` holds.
                    let at = unsafe { sums.get_unchecked_mut(e * count + cosine(n, m)) };
                    let mut sum = *at;
                    for b in 0..B {
                        sum = weight[b].mul_add(qc[b], sum);
                    }
                    *at = sum;
                    if m > 0 {
                        // SAFETY: as above.
                        let at = unsafe { sums.get_unchecked_mut(e * count + sine(n, m)) };
                        let mut sum = *at;
                        for b in 0..B {
                            sum = weight[b].mul_add(qs[b], sum);
                        }
                        *at = sum;
                    }
                }
            }
        }
    }

    /// From order m - 1 to m: `C + iS` times `diagonal (x + iy)`.
    #[inline(always)]
    fn next_azimuth<V: Lanes<Elem = T>, const B: usize>(
        &self,
        m: usize,
        points: &PointLanes<V, B>,
        c: &mut [V; B],
        s: &mut [V; B],
    ) {
        let d = V::splat(self.diagonal[m]);
        for b in 0..B {
            let (x, y) = (d * points.x[b], d * points.y[b]);
            (c[b], s[b]) = (y.neg_mul_add(s[b], x * c[b]), y.mul_add(c[b], x * s[b]));
        }
    }

    /// From degree n - 1 to n at order m.
    #[inline(always)]
    fn next_degree<V: Lanes<Elem = T>, const B: usize>(
        &self,
        n: usize,
        m: usize,
        points: &PointLanes<V, B>,
        q: &mut [V; B],
        before: &mut [V; B],
    ) {
        let (alpha, beta) = (V::splat(self.alpha[cosine(n, m)]), V::splat(self.beta[cosine(n, m)]));
        for b in 0..B {
            let next = (beta * points.r2[b]).neg_mul_add(before[b], alpha * points.z[b] * q[b]);
            (before[b], q[b]) = (q[b], next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::oracle;
    use crate::simd::{SimdLevel, Vectorized, dispatch};

    #[test]
    fn the_value_of_an_expansion_is_the_sum_of_coefficients_times_basis() {
        #[derive(Clone, Copy)]
        struct Check;
        impl<T: Real> Vectorized<T> for Check {
            type Output = ();
            fn run<V: Lanes<Elem = T>>(self) {
                let order = 11;
                let recurrence = Recurrence::<T>::new(order);
                let expansions: [Vec<T>; 2] =
                    [3, 5].map(|k| (0..144).map(|i| T::from_f64(((i * k) % 7) as f64 - 3.0)).collect());
                let x = [0.3, -0.2, 0.4].map(|c| V::splat(T::from_f64(c)));
                let mut basis = vec![V::zero(); 144];
                recurrence.regular(order, x[0], x[1], x[2], &mut basis);
                let r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
                let points = PointLanes {
                    x: [x[0]; 2],
                    y: [x[1]; 2],
                    z: [x[2]; 2],
                    r2: [r2; 2],
                    first: [V::splat(T::ONE); 2],
                };
                let values = recurrence.evaluate(order, [&expansions[0][..], &expansions[1][..]], &points);
                for (expansion, values) in expansions.iter().zip(values) {
                    let want = basis
                        .iter()
                        .zip(expansion)
                        .fold(V::zero(), |sum, (b, e)| V::splat(*e).mul_add(*b, sum));
                    for value in values {
                        let (value, want) = (value.sum().to_f64(), want.sum().to_f64());
                        assert!(
                            (value - want).abs() < 200.0 * T::EPSILON * want.abs().max(1.0),
                            "{value} {want}"
                        );
                    }
                }
            }
        }
        for level in SimdLevel::available() {
            dispatch::<f32, _>(level, Check);
            dispatch::<f64, _>(level, Check);
        }
    }

    #[test]
    fn basis_matches_the_closed_form_at_every_level_and_precision() {
        #[derive(Clone, Copy)]
        struct Check;
        impl<T: Real> Vectorized<T> for Check {
            type Output = ();
            fn run<V: Lanes<Elem = T>>(self) {
                let order = match (cfg!(miri), T::EPSILON > 1e-10) {
                    (true, _) => 5, // Miri takes hours for higher orders.
                    (false, true) => 12,
                    (false, false) => 32,
                };
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
                    assert!(
                        error <= 10.0 * (n + 4) as f64 * V::Elem::EPSILON * size,
                        "degree {n}, coefficient {k}: {error:e} of {size:e}"
                    );
                }
            }
        }
        for level in SimdLevel::available() {
            dispatch::<f32, _>(level, Check);
            dispatch::<f64, _>(level, Check);
        }
    }
}
