//! The basis functions at a point in double precision, for the translation matrices.

use farfield_core::expansion::coefficient_count;

/// All `R_n^m(x)` up to `order`.
pub fn regular(order: usize, [x, y, z]: [f64; 3]) -> Vec<f64> {
    let r2 = x * x + y * y + z * z;
    let mut out = vec![0.0; coefficient_count(order)];
    let (mut c, mut s) = (1.0, 0.0);
    for m in 0..=order {
        let mf = m as f64;
        if m > 0 {
            let d = if m > 1 {
                ((2.0 * mf - 1.0) / (2.0 * mf)).sqrt()
            } else {
                1.0
            };
            (c, s) = (d * (x * c - y * s), d * (x * s + y * c));
        }
        let (mut q, mut before) = (1.0, 0.0);
        for n in m..=order {
            if n > m {
                let nf = n as f64;
                let square = nf * nf - mf * mf;
                let alpha = (2.0 * nf - 1.0) / square.sqrt();
                let beta = (((nf - 1.0).powi(2) - mf * mf).max(0.0) / square).sqrt();
                (q, before) = (alpha * z * q - beta * r2 * before, q);
            }
            out[n * n + m] = q * c;
            if m > 0 {
                out[n * n + n + m] = q * s;
            }
        }
    }
    out
}

/// All `I_n^m(x) = R_n^m(x) / r^(2n+1)` up to `order`.
pub fn irregular(order: usize, x: [f64; 3]) -> Vec<f64> {
    let r2: f64 = x.iter().map(|c| c * c).sum();
    // At the inverted point the regular functions are smaller by r^2n, which avoids overflow.
    let mut out = regular(order, x.map(|c| c / r2));
    let inverse = 1.0 / r2.sqrt();
    out.iter_mut().for_each(|value| *value *= inverse);
    out
}

/// The logarithms of the factorials up to `n!`.
pub fn ln_factorials(n: usize) -> Vec<f64> {
    let mut sum = 0.0;
    (0..=n)
        .map(|k| {
            if k > 1 {
                sum += (k as f64).ln();
            }
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_both_bases_sum_to_the_inverse_distance() {
        let (x, y) = ([2.0, -1.5, 3.0], [0.3, 0.4, -0.5]);
        let sum: f64 = irregular(40, x).iter().zip(regular(40, y)).map(|(i, r)| i * r).sum();
        let r = (0..3).map(|a| (x[a] - y[a]) * (x[a] - y[a])).sum::<f64>().sqrt();
        assert!((sum * r - 1.0).abs() < 1e-14, "{sum}");
    }

    #[test]
    fn factorials() {
        assert!(
            ln_factorials(5)
                .iter()
                .zip([1.0f64, 1.0, 2.0, 6.0, 24.0, 120.0])
                .all(|(a, b)| (a - b.ln()).abs() < 1e-14)
        );
    }
}
