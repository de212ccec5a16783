//! Every kernel for one pair in double precision, written as its formula: the truth that sums are measured against.

use super::{Core, Kernel, Output};

/// Adds to `sums` (the components of `output`) what a source contributes to a target, `d` being target minus source
/// and `size` the source's core size (zero: singular). A coincident pair adds nothing to a singular kernel.
pub(crate) fn add_pair(kernel: Kernel, output: Output, d: [f64; 3], strength: &[f64], size: f64, sums: &mut [f64]) {
    let scale = kernel.scale(output);
    let r2 = d.iter().map(|c| c * c).sum::<f64>();
    match kernel {
        Kernel::Coulomb | Kernel::Gravity { .. } => {
            let q = scale * strength[0];
            let s2 = r2 + size * size;
            if s2 == 0.0 {
                return;
            }
            let s = s2.sqrt();
            match output {
                Output::Potential => sums[0] += q / s,
                Output::Gradient | Output::Acceleration => {
                    for i in 0..3 {
                        sums[i] -= q * d[i] / (s2 * s);
                    }
                }
                _ => {
                    let mut k = 0;
                    for i in 0..3 {
                        for j in i..3 {
                            let delta = if i == j { 1.0 } else { 0.0 };
                            sums[k] += q * (3.0 * d[i] * d[j] / (s2 * s2 * s) - delta / (s2 * s));
                            k += 1;
                        }
                    }
                }
            }
        }
        Kernel::BiotSavart { core } => {
            if r2 == 0.0 && (size == 0.0 || core == Core::Singular || core == Core::HuPolynomial) {
                return;
            }
            let (k, slope) = vortex_profile(core, r2, size);
            let g = [scale * strength[0], scale * strength[1], scale * strength[2]];
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
    }
}

/// `K(r)` and `K'(r)/r`.
fn vortex_profile(core: Core, r2: f64, size: f64) -> (f64, f64) {
    let r = r2.sqrt();
    match core {
        Core::WinckelmansLeonard if size > 0.0 => {
            let s2 = r2 + size * size;
            let k = (r2 + 2.5 * size * size) / s2.powf(2.5);
            (k, 2.0 / s2.powf(2.5) - 5.0 * (r2 + 2.5 * size * size) / s2.powf(3.5))
        }
        Core::Gaussian if size > 0.0 => {
            let s = r / (std::f64::consts::SQRT_2 * size);
            let slope_of_g = 2.0 * std::f64::consts::FRAC_2_SQRT_PI * (-s * s).exp() / (2.0 * size * size).powf(1.5);
            // g/r^3 and (g'/r^3 - 3 g/r^4)/r with g' = slope_of_g r^2
            if s < 2.0 {
                let (mut value, mut derivative, mut term) = (0.0, 0.0, 1.0);
                for k in 0..60 {
                    value += term / (2 * k + 3) as f64;
                    derivative -= term / (2 * k + 5) as f64;
                    term *= -s * s / (k + 1) as f64;
                }
                let c = 2.0 * std::f64::consts::FRAC_2_SQRT_PI / (2.0 * size * size).powf(1.5);
                return (c * value, 2.0 * c * derivative / (2.0 * size * size));
            }
            let g = 1.0 - erfc_tail(s) - std::f64::consts::FRAC_2_SQRT_PI * s * (-s * s).exp();
            (g / (r2 * r), (slope_of_g - 3.0 * g / (r2 * r)) / r2)
        }
        Core::HuPolynomial if r <= size => (1.0 / (size * size * r), -1.0 / (size * size * r * r2)),
        _ => (1.0 / (r2 * r), -3.0 / (r2 * r2 * r)),
    }
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

    const KERNELS: [Kernel; 6] = [
        Kernel::Coulomb,
        Kernel::Gravity { constant: 2.0 },
        Kernel::BiotSavart { core: Core::Singular },
        Kernel::BiotSavart {
            core: Core::WinckelmansLeonard,
        },
        Kernel::BiotSavart { core: Core::Gaussian },
        Kernel::BiotSavart {
            core: Core::HuPolynomial,
        },
    ];

    fn value(kernel: Kernel, output: Output, d: [f64; 3], size: f64) -> Vec<f64> {
        let mut sums = vec![0.0; output.components()];
        add_pair(kernel, output, d, &[0.7, -0.4, 1.1], size, &mut sums);
        sums
    }

    #[test]
    fn each_derivative_matches_differences_of_the_output_below_it() {
        for kernel in KERNELS {
            let size = if kernel == Kernel::Coulomb { 0.0 } else { 0.6 };
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
        for core in Core::ALL {
            for tolerance in [1e-2, 1e-5, 1e-9] {
                let kernel = Kernel::BiotSavart { core };
                let r = kernel.core_reach(0.3, tolerance).max(0.31);
                let singular = vortex_profile(Core::Singular, r * r, 0.0).0;
                let k = vortex_profile(core, r * r, 0.3).0;
                assert!((k / singular - 1.0).abs() <= 1.01 * tolerance, "{core:?} at {r}");
            }
        }
    }

    #[test]
    fn gaussian_branches_agree_where_they_meet() {
        let at = |s: f64| vortex_profile(Core::Gaussian, 2.0 * s * s, 1.0);
        let (below, above) = (at(2.0 - 1e-9), at(2.0));
        assert!((below.0 / above.0 - 1.0).abs() < 1e-8 && (below.1 / above.1 - 1.0).abs() < 1e-8);
    }
}
