//! The one knob: every requested output is within the tolerance of the true sum.

mod measured;

use farfield::Method;
use farfield::Precision;
use farfield::kernel::{Core, Kernel, Output, Sizes};
use farfield::points::{ChargeDistribution, PointSet};
use measured::Case;

const SIGNS: [ChargeDistribution; 2] = [ChargeDistribution::Signed, ChargeDistribution::Positive];

/// Plans, sums and measures; returns the largest error over the tolerance.
fn worst<T: Precision>(
    kernel: Kernel,
    set: PointSet,
    n: usize,
    signs: ChargeDistribution,
    outputs: &[Output],
    tolerance: f64,
    method: Method,
) -> f64 {
    let points = set.generate::<T>(n, 11);
    let strengths = signs.generate::<T>(n * kernel.strength_components(), 12);
    let sizes = match kernel {
        Kernel::BiotSavart { core } if core != Core::Singular => Sizes::Global(T::from_f64(1e-3)),
        _ => Sizes::None,
    };
    let case = Case {
        sizes,
        samples: 150,
        ..Case::new(kernel, &points, &strengths, tolerance)
    };
    let what = format!("on {set}, n = {n}, {signs:?}, {method}, {} outputs", outputs.len());
    case.worst_error(&what, |sum| sum.outputs(outputs).method(method))
}

#[test]
fn fmm_potential_honours_the_tolerance_everywhere_in_double() {
    for set in PointSet::ALL {
        for signs in SIGNS {
            for tolerance in [1e-2, 1e-3, 1e-5, 1e-7, 1e-9, 1e-12] {
                worst::<f64>(
                    Kernel::Coulomb,
                    set,
                    9000,
                    signs,
                    &[Output::Potential],
                    tolerance,
                    Method::Fmm,
                );
            }
        }
    }
}

#[test]
fn fmm_gradient_and_hessian_honour_the_tolerance_in_double() {
    let outputs = [Output::Potential, Output::Gradient, Output::Hessian];
    for set in PointSet::ALL {
        for signs in SIGNS {
            for tolerance in [1e-2, 1e-4, 1e-6, 1e-9] {
                worst::<f64>(Kernel::Coulomb, set, 6000, signs, &outputs[..2], tolerance, Method::Fmm);
                worst::<f64>(Kernel::Coulomb, set, 6000, signs, &outputs, tolerance, Method::Fmm);
            }
        }
    }
}

#[test]
fn single_precision_honours_the_tolerance_down_to_1e_minus_5() {
    for set in PointSet::ALL {
        for signs in SIGNS {
            for tolerance in [1e-2, 1e-3, 1e-4, 1e-5] {
                for method in [Method::Fmm, Method::Direct] {
                    let outputs = [Output::Potential, Output::Gradient];
                    worst::<f32>(Kernel::Coulomb, set, 7000, signs, &outputs, tolerance, method);
                }
            }
        }
    }
}

#[test]
fn treecode_honours_the_tolerance() {
    for set in PointSet::ALL {
        for signs in SIGNS {
            for tolerance in [1e-2, 1e-4, 1e-6, 1e-9] {
                for method in [Method::Treecode, Method::TreecodeOnNeighbours] {
                    let outputs = [Output::Potential, Output::Gradient];
                    worst::<f64>(Kernel::Coulomb, set, 5000, signs, &outputs, tolerance, method);
                }
            }
        }
    }
}

#[test]
fn gravity_and_vortices_honour_the_tolerance() {
    for set in [PointSet::Cube, PointSet::Plummer, PointSet::Ring] {
        for tolerance in [1e-2, 1e-4, 1e-6, 1e-9] {
            let gravity = Kernel::gravity(6.7);
            let outputs = [Output::Potential, Output::Acceleration];
            worst::<f64>(
                gravity,
                set,
                6000,
                ChargeDistribution::Positive,
                &outputs,
                tolerance,
                Method::Fmm,
            );
            for core in Core::ALL {
                let outputs = [Output::Velocity, Output::VelocityGradient];
                let outputs = if core == Core::HuPolynomial {
                    &outputs[..1]
                } else {
                    &outputs[..]
                };
                let kernel = Kernel::BiotSavart { core };
                worst::<f64>(
                    kernel,
                    set,
                    4000,
                    ChargeDistribution::Signed,
                    outputs,
                    tolerance,
                    Method::Auto,
                );
                worst::<f64>(
                    kernel,
                    set,
                    4000,
                    ChargeDistribution::Signed,
                    outputs,
                    tolerance,
                    Method::Fmm,
                );
            }
        }
    }
}

#[test]
fn auto_honours_the_tolerance_for_every_number_of_points() {
    for n in [1, 2, 3, 10, 100, 1000, 3000, 20_000, 60_000] {
        for tolerance in [1e-3, 1e-6, 1e-10] {
            worst::<f64>(
                Kernel::Coulomb,
                PointSet::Cube,
                n,
                SIGNS[0],
                &[Output::Potential],
                tolerance,
                Method::Auto,
            );
            worst::<f64>(
                Kernel::Coulomb,
                PointSet::Sphere,
                n,
                SIGNS[1],
                &[Output::Potential],
                tolerance,
                Method::Auto,
            );
        }
    }
}

#[test]
fn accuracy_is_not_wasted_on_the_cube() {
    for tolerance in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9] {
        let ratio = worst::<f64>(
            Kernel::Coulomb,
            PointSet::Cube,
            40_000,
            SIGNS[0],
            &[Output::Potential],
            tolerance,
            Method::Fmm,
        );
        assert!(ratio > 1.0 / 30.0, "tolerance {tolerance:e}: {ratio} of it is used");
    }
}

#[test]
fn softened_kernels_are_right_even_where_the_core_is_larger_than_boxes() {
    let n = 4000;
    let points = PointSet::Cube.generate::<f64>(n, 3);
    let masses = ChargeDistribution::Positive.generate::<f64>(n, 4);
    let vortices = ChargeDistribution::Signed.generate::<f64>(3 * n, 4);
    for tolerance in [1e-3, 1e-6] {
        for size in [1e-4, 0.01, 0.1, 1.0] {
            for method in [Method::Auto, Method::Fmm, Method::Treecode] {
                let per_source: Vec<f64> = (0..n).map(|k| size * (0.5 + (k % 7) as f64 / 7.0)).collect();
                for sizes in [Sizes::Global(size), Sizes::PerSource(per_source)] {
                    for kernel in [
                        Kernel::gravity(1.0),
                        Kernel::BiotSavart {
                            core: Core::WinckelmansLeonard,
                        },
                        Kernel::BiotSavart { core: Core::Gaussian },
                        Kernel::BiotSavart {
                            core: Core::HuPolynomial,
                        },
                    ] {
                        let strengths = if kernel.strength_components() == 1 {
                            &masses
                        } else {
                            &vortices
                        };
                        let case = Case {
                            sizes: sizes.clone(),
                            ..Case::new(kernel, &points, strengths, tolerance)
                        };
                        case.worst_error(&format!("size {size} {method}"), |sum| sum.method(method));
                    }
                }
            }
        }
    }
}
