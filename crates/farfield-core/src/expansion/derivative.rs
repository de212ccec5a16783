//! Derivatives of expansions, as expansions.
//!
//! The gradient of a local expansion of order p is three local expansions of order p - 1. The gradient of a multipole
//! expansion is three multipole expansions of order p + 1. Each new coefficient combines at most two old ones, listed
//! in a table. Values and derivatives are then evaluated with one set of basis functions.

use super::{coefficient_count, cosine, sine};
use crate::simd::Real;

/// `out[k] = weight[0] * in[from[0]] + weight[1] * in[from[1]]`
#[derive(Debug, Clone, Copy)]
struct Term<T> {
    from: [u32; 2],
    weight: [T; 2],
}

impl<T: Real> Term<T> {
    #[inline(always)]
    fn of(&self, expansion: &[T]) -> T {
        self.weight[0] * expansion[self.from[0] as usize] + self.weight[1] * expansion[self.from[1] as usize]
    }
}

/// One partial derivative as a sparse map between coefficients.
#[derive(Debug, Clone)]
pub struct Derivative<T> {
    terms: Vec<Term<T>>,
}

impl<T: Real> Derivative<T> {
    /// Writes the first `out.len()` coefficients of the derivative of `expansion` to `out`.
    #[inline]
    pub fn apply(&self, expansion: &[T], out: &mut [T]) {
        for (value, term) in out.iter_mut().zip(&self.terms) {
            *value = term.of(expansion);
        }
    }

    /// Subtracts the derivative of `expansion` from `out`.
    #[inline]
    pub fn subtract(&self, expansion: &[T], out: &mut [T]) {
        for (value, term) in out.iter_mut().zip(&self.terms) {
            *value -= term.of(expansion);
        }
    }
}

/// The partial derivatives of local expansions of order `order`.
pub fn of_local<T: Real>(order: usize) -> [Derivative<T>; 3] {
    let mut maps = Builder::new(order.saturating_sub(1));
    for n in 1..=order {
        let ratio = |m: usize, to: usize| -> f64 {
            let (n, m) = (n as f64, m as f64);
            match to as f64 - m {
                d if d > 0.0 => ((n - m) * (n - m - 1.0)).sqrt(),
                d if d < 0.0 => ((n + m) * (n + m - 1.0)).sqrt(),
                _ => ((n - m) * (n + m)).sqrt(),
            }
        };
        maps.degree(n, n - 1, 1.0, ratio);
    }
    maps.finish()
}

/// The partial derivatives of multipole expansions of order `order`; the results have order `order + 1`.
pub fn of_multipole<T: Real>(order: usize) -> [Derivative<T>; 3] {
    let mut maps = Builder::new(order + 1);
    for n in 0..=order {
        let ratio = |m: usize, to: usize| -> f64 {
            let (n, m) = (n as f64, m as f64);
            match to as f64 - m {
                d if d > 0.0 => ((n + m + 2.0) * (n + m + 1.0)).sqrt(),
                d if d < 0.0 => ((n - m + 2.0) * (n - m + 1.0)).sqrt(),
                _ => ((n - m + 1.0) * (n + m + 1.0)).sqrt(),
            }
        };
        maps.degree(n, n + 1, -1.0, ratio);
    }
    maps.finish()
}

/// Collects, for each axis and output coefficient, the input coefficients and their weights.
struct Builder {
    entries: [Vec<Vec<(usize, f64)>>; 3],
}

impl Builder {
    fn new(order: usize) -> Self {
        Self {
            entries: std::array::from_fn(|_| vec![Vec::new(); coefficient_count(order)]),
        }
    }

    /// Adds the derivatives of the basis functions of degree `n`, which are combinations of basis functions of degree
    /// `to`: $\partial_z$ keeps m, and $\partial_x \pm i\partial_y$ raises or lowers it.
    fn degree(&mut self, n: usize, to: usize, z_sign: f64, ratio: impl Fn(usize, usize) -> f64) {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        for m in 0..=n {
            let exists = |k: usize| k <= to;
            if exists(m) {
                self.add(2, cosine(to, m), cosine(n, m), z_sign * ratio(m, m));
                if m > 0 {
                    self.add(2, sine(to, m), sine(n, m), z_sign * ratio(m, m));
                }
            }
            if m == 0 {
                if exists(1) {
                    let b = half * ratio(0, 1);
                    self.add(0, cosine(to, 1), cosine(n, 0), -b);
                    self.add(1, sine(to, 1), cosine(n, 0), -b);
                }
                continue;
            }
            // From m to m - 1, with a factor sqrt 2 if m - 1 = 0, which has no sine partner.
            let a = 0.5 * ratio(m, m - 1) * if m == 1 { std::f64::consts::SQRT_2 } else { 1.0 };
            self.add(0, cosine(to, m - 1), cosine(n, m), a);
            self.add(1, cosine(to, m - 1), sine(n, m), a);
            if m > 1 {
                self.add(0, sine(to, m - 1), sine(n, m), a);
                self.add(1, sine(to, m - 1), cosine(n, m), -a);
            }
            if exists(m + 1) {
                let b = 0.5 * ratio(m, m + 1);
                self.add(0, cosine(to, m + 1), cosine(n, m), -b);
                self.add(0, sine(to, m + 1), sine(n, m), -b);
                self.add(1, sine(to, m + 1), cosine(n, m), -b);
                self.add(1, cosine(to, m + 1), sine(n, m), b);
            }
        }
    }

    fn add(&mut self, axis: usize, to: usize, from: usize, weight: f64) {
        self.entries[axis][to].push((from, weight));
    }

    fn finish<T: Real>(self) -> [Derivative<T>; 3] {
        self.entries.map(|axis| Derivative {
            terms: axis
                .into_iter()
                .map(|mut entries| {
                    assert!(entries.len() <= 2);
                    entries.resize(2, (0, 0.0));
                    Term {
                        from: [entries[0].0 as u32, entries[1].0 as u32],
                        weight: [T::from_f64(entries[0].1), T::from_f64(entries[1].1)],
                    }
                })
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::oracle;

    fn check(order: usize, maps: [Derivative<f64>; 3], basis: impl Fn(usize, [f64; 3]) -> Vec<f64>, out_order: usize) {
        let coefficients: Vec<f64> = (0..coefficient_count(order))
            .map(|k| ((k * 37 + 11) % 19) as f64 - 9.0)
            .collect();
        let value = |x: [f64; 3]| -> f64 { basis(order, x).iter().zip(&coefficients).map(|(a, b)| a * b).sum() };
        let x = [0.7, -0.5, 0.9];
        let h = 1e-3;
        for axis in 0..3 {
            let shifted = |k: f64| {
                let mut y = x;
                y[axis] += k * h;
                value(y)
            };
            // A sixth-order difference.
            let want = (shifted(3.0) - shifted(-3.0)) / 60.0 - 0.15 * (shifted(2.0) - shifted(-2.0))
                + 0.75 * (shifted(1.0) - shifted(-1.0));
            let mut out = vec![0.0; coefficient_count(out_order)];
            maps[axis].apply(&coefficients, &mut out);
            let got: f64 = basis(out_order, x).iter().zip(&out).map(|(a, b)| a * b).sum();
            assert!(
                (got - want / h).abs() < 1e-9 * got.abs().max(1.0),
                "order {order}, axis {axis}: {got} {}",
                want / h
            );
        }
    }

    #[test]
    fn derivatives_match_differences_of_the_expansion() {
        for order in 1..=9 {
            check(order, of_local(order), oracle::regular, order - 1);
            check(order, of_multipole(order), oracle::irregular, order + 1);
        }
    }
}
