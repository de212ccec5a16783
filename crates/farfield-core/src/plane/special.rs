//! The exponential integral.

/// $E_1(x) = \int_x^\infty e^{-t}/t\\,dt$ for $x>0$: the power series below one, a continued fraction above.
pub(crate) fn exponential_integral(x: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    if x > 700.0 {
        return 0.0;
    }
    if x <= 1.0 {
        let mut sum = -EULER - x.ln();
        let mut term = 1.0;
        for k in 1..30 {
            term *= -x / f64::from(k);
            sum -= term / f64::from(k);
            if term.abs() < 1e-18 {
                break;
            }
        }
        return sum;
    }
    // exp(-x) / (x + 1 - 1/(x + 3 - 4/(x + 5 - ...))) by Lentz's method, which starts from an infinite numerator.
    let mut b = x + 1.0;
    let mut c = f64::INFINITY;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for k in 1..200 {
        let a = -f64::from(k * k);
        b += 2.0;
        d = 1.0 / (a * d + b);
        c = b + a / c;
        let step = c * d;
        fraction *= step;
        if (step - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction * (-x).exp()
}

#[cfg(test)]
mod tests {
    use super::exponential_integral;

    #[test]
    fn exponential_integral_matches_tables() {
        // Abramowitz and Stegun, table 5.1.
        let table = [
            (0.01, 4.037_929_576_538_11),
            (0.5, 0.559_773_594_776_160_8),
            (1.0, 0.219_383_934_395_520_3),
            (2.0, 0.048_900_510_708_061_12),
            (5.0, 0.001_148_295_591_275_325_8),
            (10.0, 4.156_968_929_685_324e-6),
            (50.0, 3.783_264_029_550_46e-24),
        ];
        for (x, value) in table {
            let got = exponential_integral(x);
            assert!((got / value - 1.0).abs() < 2e-14, "E1({x}) = {got}, not {value}");
        }
    }
}
