//! Slow, plain implementations of the basis and of the O(p^4) translations, for tests.
//!
//! They use complex harmonics $\hat R_n^m = r^n P_n^m e^{im\varphi}/(n+m)!$ and
//! $\hat I_n^m = (n-m)!\\, P_n^m e^{im\varphi}/r^{n+1}$, whose translation formulas have no further factors.

use super::{coefficient_count, cosine, sine};

type Complex = (f64, f64);

fn mul(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn ln_factorial(n: usize) -> f64 {
    (2..=n).map(|k| (k as f64).ln()).sum()
}

/// Schmidt semi-normalised P_n^m(cos t) times r^n, by upward recursion in n.
fn schmidt(n: usize, m: usize, x: [f64; 3]) -> f64 {
    let r = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
    let c = if r > 0.0 { x[2] / r } else { 1.0 };
    let s = if r > 0.0 { (x[0].hypot(x[1])) / r } else { 0.0 };
    // Starts from P_m^m = (2m-1)!! s^m, in the normalised form.
    let mut pmm = 1.0;
    for k in 1..=m {
        pmm *= ((2 * k - 1) as f64 / (2 * k) as f64).sqrt() * s;
    }
    if m > 0 {
        pmm *= std::f64::consts::SQRT_2;
    }
    let (mut before, mut last) = (0.0, pmm);
    for k in m + 1..=n {
        let (k, m) = (k as f64, m as f64);
        let next = ((2.0 * k - 1.0) * c * last - ((k - 1.0).powi(2) - m * m).max(0.0).sqrt() * before)
            / (k * k - m * m).sqrt();
        (before, last) = (last, next);
    }
    last * r.powi(n as i32)
}

/// All `R_n^m(x)` up to `order`, in the library's layout.
pub fn regular(order: usize, x: [f64; 3]) -> Vec<f64> {
    let phi = x[1].atan2(x[0]);
    let mut out = vec![0.0; coefficient_count(order)];
    for n in 0..=order {
        for m in 0..=n {
            let value = schmidt(n, m, x);
            out[cosine(n, m)] = value * (m as f64 * phi).cos();
            if m > 0 {
                out[sine(n, m)] = value * (m as f64 * phi).sin();
            }
        }
    }
    out
}

/// All `I_n^m(x)` up to `order`, in the library's layout.
pub fn irregular(order: usize, x: [f64; 3]) -> Vec<f64> {
    let r = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
    let mut out = regular(order, x);
    for n in 0..=order {
        for value in &mut out[n * n..(n + 1) * (n + 1)] {
            *value /= r.powi(2 * n as i32 + 1);
        }
    }
    out
}

/// `sqrt(eps_m (n-m)! (n+m)!)` with eps_0 = 1, else 2: R = kappa * R-hat and I = eps/kappa * I-hat.
fn kappa(n: usize, m: usize) -> f64 {
    let epsilon: f64 = if m == 0 { 1.0 } else { 2.0 };
    epsilon.sqrt() * (0.5 * (ln_factorial(n - m) + ln_factorial(n + m))).exp()
}

/// The complex coefficients c_n^m, m = -n..=n, of R-hat (or I-hat) that represent a real expansion.
fn to_complex(order: usize, real: &[f64], factor: impl Fn(usize, usize) -> f64) -> Vec<Vec<Complex>> {
    (0..=order)
        .map(|n| {
            (-(n as i64)..=n as i64)
                .map(|m| {
                    let a = m.unsigned_abs() as usize;
                    let f = factor(n, a);
                    let c = real[cosine(n, a)] * f;
                    if m == 0 {
                        return (c, 0.0);
                    }
                    // c cos + s sin = Re((c - i s) e^{i a phi}) = half of itself and its conjugate, and
                    // B^{-m} = (-1)^m conj(B^m).
                    let s = real[sine(n, a)] * f;
                    let sign = if m < 0 && a % 2 == 1 { -1.0 } else { 1.0 };
                    (0.5 * sign * c, 0.5 * sign * if m > 0 { -s } else { s })
                })
                .collect()
        })
        .collect()
}

fn to_real(order: usize, complex: &[Vec<Complex>], factor: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut out = vec![0.0; coefficient_count(order)];
    for n in 0..=order {
        out[cosine(n, 0)] = complex[n][n].0 / factor(n, 0);
        for m in 1..=n {
            let (re, im) = complex[n][n + m];
            out[cosine(n, m)] = 2.0 * re / factor(n, m);
            out[sine(n, m)] = -2.0 * im / factor(n, m);
        }
    }
    out
}

/// `basis(x)` in hat normalisation, index `[n][m + n]`.
fn hat(order: usize, x: [f64; 3], irregular_basis: bool) -> Vec<Vec<Complex>> {
    let values = if irregular_basis {
        irregular(order, x)
    } else {
        regular(order, x)
    };
    (0..=order)
        .map(|n| {
            (-(n as i64)..=n as i64)
                .map(|m| {
                    let a = m.unsigned_abs() as usize;
                    let epsilon = if a == 0 { 1.0 } else { 2.0 };
                    let f = if irregular_basis {
                        kappa(n, a) / epsilon
                    } else {
                        1.0 / kappa(n, a)
                    };
                    let (c, s) = (
                        values[cosine(n, a)] * f,
                        if a > 0 { values[sine(n, a)] * f } else { 0.0 },
                    );
                    let sign = if m < 0 && a % 2 == 1 { -1.0 } else { 1.0 };
                    (sign * c, if m < 0 { -sign * s } else { s })
                })
                .collect()
        })
        .collect()
}

/// M2L by the plain fourfold loop: converts a multipole expansion about the origin to a local one about `shift`.
pub fn m2l(order: usize, multipole: &[f64], shift: [f64; 3]) -> Vec<f64> {
    let source = to_complex(order, multipole, |n, m| if m == 0 { 1.0 } else { 2.0 } / kappa(n, m));
    let basis = hat(2 * order, shift, true);
    // I^m'_n'(X + x) = sum_nm (-1)^n conj(R_n^m(x)) I^{m+m'}_{n+n'}(X), and conj(R^m) = (-1)^m R^-m
    let mut local = (0..=order).map(|n| vec![(0.0, 0.0); 2 * n + 1]).collect::<Vec<_>>();
    for n in 0..=order as i64 {
        for m in -n..=n {
            let mut sum = (0.0, 0.0);
            for k in 0..=order as i64 {
                for l in -k..=k {
                    let term = mul(
                        source[k as usize][(l + k) as usize],
                        basis[(n + k) as usize][(m + l + n + k) as usize],
                    );
                    sum = (sum.0 + term.0, sum.1 + term.1);
                }
            }
            let sign = if (n + m) % 2 == 0 { 1.0 } else { -1.0 };
            local[n as usize][(n - m) as usize] = (sign * sum.0, sign * sum.1);
        }
    }
    to_real(order, &local, kappa)
}

/// M2M by the plain fourfold loop: moves a multipole expansion about `shift` to the origin.
pub fn m2m(order: usize, multipole: &[f64], shift: [f64; 3]) -> Vec<f64> {
    // M_n^m = sum over sources of R_n^m(y + shift). The addition theorem of R-hat has no factors, so use its moments.
    let moments = moments_from(order, multipole);
    let basis = hat(order, shift, false);
    let mut out = (0..=order).map(|n| vec![(0.0, 0.0); 2 * n + 1]).collect::<Vec<_>>();
    for n in 0..=order as i64 {
        for m in -n..=n {
            for k in 0..=n {
                for l in -k..=k {
                    if (m - l).abs() <= n - k {
                        let term = mul(
                            moments[k as usize][(l + k) as usize],
                            basis[(n - k) as usize][(m - l + n - k) as usize],
                        );
                        let at = &mut out[n as usize][(m + n) as usize];
                        *at = (at.0 + term.0, at.1 + term.1);
                    }
                }
            }
        }
    }
    moments_to(order, &out)
}

/// L2L by the plain fourfold loop: moves a local expansion about the origin to `shift`.
pub fn l2l(order: usize, local: &[f64], shift: [f64; 3]) -> Vec<f64> {
    let source = to_complex(order, local, kappa);
    let basis = hat(order, shift, false);
    let mut out = (0..=order).map(|n| vec![(0.0, 0.0); 2 * n + 1]).collect::<Vec<_>>();
    // R_n^m(x + b) = sum_kl R_k^l(x) R_{n-k}^{m-l}(b)
    for n in 0..=order as i64 {
        for m in -n..=n {
            for k in 0..=n {
                for l in -k..=k {
                    if (m - l).abs() <= n - k {
                        let term = mul(
                            source[n as usize][(m + n) as usize],
                            basis[(n - k) as usize][(m - l + n - k) as usize],
                        );
                        let at = &mut out[k as usize][(l + k) as usize];
                        *at = (at.0 + term.0, at.1 + term.1);
                    }
                }
            }
        }
    }
    to_real(order, &out, kappa)
}

fn moments_from(order: usize, multipole: &[f64]) -> Vec<Vec<Complex>> {
    (0..=order)
        .map(|n| {
            (-(n as i64)..=n as i64)
                .map(|m| {
                    let a = m.unsigned_abs() as usize;
                    let f = 1.0 / kappa(n, a);
                    let (c, s) = (
                        multipole[cosine(n, a)] * f,
                        if a > 0 { multipole[sine(n, a)] * f } else { 0.0 },
                    );
                    let sign = if m < 0 && a % 2 == 1 { -1.0 } else { 1.0 };
                    (sign * c, if m < 0 { -sign * s } else { s })
                })
                .collect()
        })
        .collect()
}

fn moments_to(order: usize, moments: &[Vec<Complex>]) -> Vec<f64> {
    let mut out = vec![0.0; coefficient_count(order)];
    for n in 0..=order {
        for m in 0..=n {
            let (re, im) = moments[n][n + m];
            out[cosine(n, m)] = re * kappa(n, m);
            if m > 0 {
                out[sine(n, m)] = im * kappa(n, m);
            }
        }
    }
    out
}
