//! The drag of a sphere that starts at once in a stream.

/// The Reynolds number of [`CURVE`].
pub const REYNOLDS: f64 = 550.0;

/// $T=Ut/R$ and the drag coefficient at Reynolds number 550, from an axisymmetric solution of the Navier-Stokes equations in
/// stream function and vorticity, whose numbers change by less than 5e-4 with its grid from T = 0.1 on.
pub const CURVE: [(f64, f64); 30] = [
    (0.01, 4.10798),
    (0.02, 2.92428),
    (0.05, 1.8701),
    (0.1, 1.34066),
    (0.2, 0.97388),
    (0.3, 0.81965),
    (0.4, 0.73453),
    (0.5, 0.68217),
    (0.6, 0.6484),
    (0.7, 0.62633),
    (0.8, 0.6121),
    (0.9, 0.60336),
    (1.0, 0.59855),
    (1.2, 0.59671),
    (1.4, 0.60107),
    (1.5, 0.60453),
    (1.6, 0.6085),
    (1.8, 0.61718),
    (2.0, 0.626),
    (2.5, 0.64499),
    (3.0, 0.65676),
    (3.5, 0.66093),
    (4.0, 0.65897),
    (4.5, 0.65302),
    (5.0, 0.64503),
    (6.0, 0.62773),
    (7.0, 0.61202),
    (8.0, 0.59881),
    (9.0, 0.58772),
    (10.0, 0.57815),
];

/// The drag coefficient of the first instants, $\frac{12}{\sqrt{\pi Re_RT}}+\frac{12}{Re_R}$ with $Re_R=Re/2$ (Basset).
pub fn early(reynolds: f64, t: f64) -> f64 {
    let of_radius = 0.5 * reynolds;
    12.0 / (std::f64::consts::PI * of_radius * t).sqrt() + 12.0 / of_radius
}

/// The curve at some T, linear between its points.
pub fn at(t: f64) -> f64 {
    let after = CURVE
        .iter()
        .position(|(known, _)| *known >= t)
        .unwrap_or(CURVE.len() - 1)
        .max(1);
    let ((t0, c0), (t1, c1)) = (CURVE[after - 1], CURVE[after]);
    c0 + (c1 - c0) * (t - t0) / (t1 - t0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_begins_as_theory_says() {
        let (t, drag) = CURVE[0];
        assert!((early(REYNOLDS, t) / drag - 1.0).abs() < 0.01);
        assert_eq!(at(1.0), 0.59855);
        assert!((at(0.15) - 0.5 * (1.34066 + 0.97388)).abs() < 1e-9);
    }
}
