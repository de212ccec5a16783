//! Every kernel for one pair in double precision, written as its formula: the reference that sums are compared with.

use super::{Description, Form, Kernel, Output};
use std::f64::consts::{FRAC_2_SQRT_PI, SQRT_2};

/// Adds the contribution of a source to a target to `sums`, the components of `output`. `d` is target minus source and
/// `size` the source's core size (zero: singular). A coincident pair of a singular kernel adds zero.
pub(crate) fn add_pair(kernel: Kernel, output: Output, d: [f64; 3], strength: &[f64], size: f64, sums: &mut [f64]) {
    let kernel = kernel.description();
    let scale = kernel.scale(output);
    let r2 = d.iter().map(|c| c * c).sum::<f64>();
    let core = kernel.regularisation.filter(|_| size > 0.0);
    if r2 == 0.0 && !core.is_some_and(|core| core.finite_centre) {
        return;
    }
    let (value, slope) = match core {
        Some(core) => (core.profile)(r2, size),
        None => singular_profile(&kernel, r2),
    };
    match kernel.form {
        Form::Charge => add_charge(output, d, scale * strength[0], (value, slope), sums),
        Form::Dipole => {
            add_charge(output, d, scale * strength[0], (value, slope), sums);
            add_dipole(output, d, [1, 2, 3].map(|k| scale * strength[k]), sums);
        }
        Form::Vortex => {
            let g = [scale * strength[0], scale * strength[1], scale * strength[2]];
            add_vortex(output, d, g, (value, slope), sums);
        }
    }
}

/// The profile of a source without size.
fn singular_profile(kernel: &Description, r2: f64) -> (f64, f64) {
    let r = r2.sqrt();
    match kernel.form {
        Form::Charge | Form::Dipole => (1.0 / r, 1.0 / (r2 * r)),
        Form::Vortex => (1.0 / (r2 * r), -3.0 / (r2 * r2 * r)),
    }
}

/// A charge of potential `phi` with `slope = -phi'/r`; only singular charges have a Hessian.
fn add_charge(output: Output, d: [f64; 3], q: f64, (potential, slope): (f64, f64), sums: &mut [f64]) {
    match output {
        Output::Potential => sums[0] += q * potential,
        Output::Gradient | Output::Acceleration => {
            for i in 0..3 {
                sums[i] -= q * slope * d[i];
            }
        }
        _ => {
            let r2 = d.iter().map(|c| c * c).sum::<f64>();
            for (k, (i, j)) in PAIRS_OF_AXES.into_iter().enumerate() {
                let delta = if i == j { 1.0 } else { 0.0 };
                sums[k] += q * slope * (3.0 * d[i] * d[j] / r2 - delta);
            }
        }
    }
}

/// The order in which the components of a symmetric matrix are stored.
const PAIRS_OF_AXES: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

/// A dipole of moment `p`: the derivatives of `p.d/r^3`.
fn add_dipole(output: Output, d: [f64; 3], p: [f64; 3], sums: &mut [f64]) {
    let r2 = d.iter().map(|c| c * c).sum::<f64>();
    let along = (0..3).map(|i| p[i] * d[i]).sum::<f64>();
    let cube = r2 * r2.sqrt();
    match output {
        Output::Potential => sums[0] += along / cube,
        Output::Gradient => {
            for i in 0..3 {
                sums[i] += (p[i] - 3.0 * along * d[i] / r2) / cube;
            }
        }
        _ => {
            for (k, (i, j)) in PAIRS_OF_AXES.into_iter().enumerate() {
                let delta = if i == j { 1.0 } else { 0.0 };
                let mixed = p[i] * d[j] + p[j] * d[i] + along * delta;
                sums[k] += (15.0 * along * d[i] * d[j] / r2 - 3.0 * mixed) / (cube * r2);
            }
        }
    }
}

/// A vortex element of profile `k` with `slope = k'/r`.
fn add_vortex(output: Output, d: [f64; 3], g: [f64; 3], (k, slope): (f64, f64), sums: &mut [f64]) {
    let c = [
        g[1] * d[2] - g[2] * d[1],
        g[2] * d[0] - g[0] * d[2],
        g[0] * d[1] - g[1] * d[0],
    ];
    let curl = [[0.0, -g[2], g[1]], [g[2], 0.0, -g[0]], [-g[1], g[0], 0.0]];
    for i in 0..3 {
        match output {
            Output::Velocity => sums[i] += k * c[i],
            _ => {
                for j in 0..3 {
                    sums[3 * i + j] += k * curl[i][j] + slope * c[i] * d[j];
                }
            }
        }
    }
}

/// `K` and `K'/r` of the Gaussian core.
pub(super) fn gaussian_profile(r2: f64, size: f64) -> (f64, f64) {
    let r = r2.sqrt();
    let s = r / (SQRT_2 * size);
    let cube = (2.0 * size * size).powf(1.5);
    // g/r^3 and (g'/r^3 - 3 g/r^4)/r with g' = slope_of_g r^2
    if s < 2.0 {
        let (mut value, mut derivative, mut term) = (0.0, 0.0, 1.0);
        for k in 0..60 {
            value += term / (2 * k + 3) as f64;
            derivative -= term / (2 * k + 5) as f64;
            term *= -s * s / (k + 1) as f64;
        }
        let c = 2.0 * FRAC_2_SQRT_PI / cube;
        return (c * value, 2.0 * c * derivative / (2.0 * size * size));
    }
    let slope_of_g = 2.0 * FRAC_2_SQRT_PI * (-s * s).exp() / cube;
    let g = 1.0 - erfc_tail(s) - FRAC_2_SQRT_PI * s * (-s * s).exp();
    (g / (r2 * r), (slope_of_g - 3.0 * g / (r2 * r)) / r2)
}

/// `erfc(s)` for s >= 2, by its continued fraction.
fn erfc_tail(s: f64) -> f64 {
    let mut fraction = s;
    for k in (1..=120).rev() {
        fraction = s + 0.5 * k as f64 / fraction;
    }
    (-s * s).exp() / (std::f64::consts::PI.sqrt() * fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(kernel: Kernel, output: Output, d: [f64; 3], size: f64) -> Vec<f64> {
        let mut sums = vec![0.0; output.components()];
        add_pair(kernel, output, d, &[0.7, -0.4, 1.1, 0.3], size, &mut sums);
        sums
    }

    #[test]
    fn each_derivative_matches_differences_of_the_output_below_it() {
        for kernel in Kernel::all() {
            let size = if kernel.has_sizes() { 0.6 } else { 0.0 };
            for pair in kernel.outputs().windows(2) {
                let sign = if pair[1] == Output::Acceleration { -1.0 } else { 1.0 };
                for d in [[0.3, -0.2, 0.25], [0.5, 0.9, -0.7], [2.0, 1.0, 3.0]] {
                    let derivative = value(kernel, pair[1], d, size);
                    let h = 1e-5;
                    for axis in 0..3 {
                        let (mut up, mut down) = (d, d);
                        up[axis] += h;
                        down[axis] -= h;
                        let (up, down) = (value(kernel, pair[0], up, size), value(kernel, pair[0], down, size));
                        for i in 0..pair[0].components() {
                            let want = sign * (up[i] - down[i]) / (2.0 * h);
                            let got = match pair[1] {
                                Output::Hessian => derivative[[[0, 1, 2], [1, 3, 4], [2, 4, 5]][i][axis]],
                                Output::VelocityGradient => derivative[3 * i + axis],
                                _ => derivative[axis],
                            };
                            assert!(
                                (got - want).abs() < 1e-7 * (1.0 + want.abs()),
                                "{kernel:?} {} {d:?}: {got} {want}",
                                pair[1]
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_core_joins_the_singular_kernel_beyond_its_reach() {
        for kernel in Kernel::all() {
            let kernel = kernel.description();
            let Some(core) = kernel.regularisation else { continue };
            for tolerance in [1e-2, 1e-5, 1e-9] {
                // Values have one derivative fewer than slopes.
                let values_take = if kernel.form == Form::Vortex { 1 } else { 0 };
                for derivatives in [values_take, values_take + 1] {
                    let r = 0.3 * (core.reach)(tolerance, derivatives).max(1.01);
                    let (singular, regular) = (singular_profile(&kernel, r * r), (core.profile)(r * r, 0.3));
                    let difference = if derivatives == values_take {
                        regular.0 / singular.0 - 1.0
                    } else {
                        regular.1 / singular.1 - 1.0
                    };
                    assert!(
                        difference.abs() <= 1.01 * tolerance,
                        "{} at {r}: {difference:e}",
                        core.name
                    );
                }
            }
        }
    }

    #[test]
    fn gaussian_branches_agree_where_they_meet() {
        let at = |s: f64| gaussian_profile(2.0 * s * s, 1.0);
        let (below, above) = (at(2.0 - 1e-9), at(2.0));
        assert!((below.0 / above.0 - 1.0).abs() < 1e-8 && (below.1 / above.1 - 1.0).abs() < 1e-8);
    }
}
