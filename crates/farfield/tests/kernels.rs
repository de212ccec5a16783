//! Every kernel meets its tolerance; cores, softening and dipoles follow their definitions.

use crate::measured::Case;
use farfield::kernel::{Core, Kernel, Output, Sizes, Softening};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::simd::Real;
use farfield::{Error, Method, Sum, coulomb, gravity};

const DIPOLES: Kernel = Kernel::CoulombDipoles;

/// Charges times `charge` and moments times `moment`.
fn dipoles<T: Real>(n: usize, signs: ChargeDistribution, charge: f64, moment: f64) -> Vec<T> {
    let mut strengths = signs.generate::<T>(4 * n, 12);
    for (k, strength) in strengths.iter_mut().enumerate() {
        *strength = T::from_f64(strength.to_f64() * if k % 4 == 0 { charge } else { moment });
    }
    strengths
}

#[test]
fn dipoles_honour_the_tolerance_in_single_precision_by_other_methods_and_at_other_targets() {
    let n = 4000;
    let outputs = [Output::Potential, Output::Gradient];
    let points = PointSet::Cube.generate::<f32>(n, 11);
    let strengths = dipoles::<f32>(n, ChargeDistribution::Signed, 1.0, 0.1);
    for tolerance in [1e-2, 1e-3, 1e-4, 1e-5] {
        let case = Case::new(DIPOLES, &points, &strengths, tolerance);
        case.worst_error("in a cube", |sum| sum.outputs(&outputs).method(Method::Fmm));
    }
    let points = PointSet::Plummer.generate::<f64>(n, 11);
    let targets = PointSet::Sphere.generate::<f64>(n / 3, 5);
    let strengths = dipoles::<f64>(n, ChargeDistribution::Signed, 1.0, 0.1);
    for method in [
        Method::Fmm,
        Method::Treecode,
        Method::TreecodeOnNeighbours,
        Method::Direct,
    ] {
        for targets in [None, Some(&targets[..])] {
            for tolerance in [1e-3, 1e-6] {
                let case = Case {
                    targets,
                    ..Case::new(DIPOLES, &points, &strengths, tolerance)
                };
                let what = format!("{method}, other targets: {}", targets.is_some());
                case.worst_error(&what, |sum| sum.outputs(&outputs).method(method));
            }
        }
    }
}

#[test]
fn moments_are_charges_times_lengths_in_any_unit() {
    let n = 500;
    let points = PointSet::Cube.generate::<f64>(n, 3);
    let strengths = dipoles::<f64>(n, ChargeDistribution::Signed, 1.0, 0.1);
    for method in [Method::Direct, Method::Fmm] {
        let field = |length: f64| {
            let points: Vec<[f64; 3]> = points.iter().map(|point| point.map(|c| c * length)).collect();
            let mut strengths = strengths.clone();
            for (k, strength) in strengths.iter_mut().enumerate() {
                *strength *= if k % 4 == 0 { 1.0 } else { length };
            }
            let sum = Sum::new(DIPOLES, &points).outputs(&[Output::Potential, Output::Gradient]);
            sum.method(method).plan().unwrap().evaluate(&strengths).unwrap()
        };
        let usual = field(1.0);
        for exponent in [-300, 300] {
            let length = 2f64.powi(exponent);
            let scaled = field(length);
            for (a, b) in usual.potential().iter().zip(scaled.potential()) {
                assert_eq!(*a, b * length, "{method} {exponent}");
            }
            for (a, b) in usual.gradient().iter().zip(scaled.gradient()) {
                assert_eq!(*a, b.map(|c| c * length * length), "{method} {exponent}");
            }
        }
    }
}

#[test]
fn dipoles_in_one_call_need_no_charges_and_as_many_moments_as_charges() {
    let sources = [[0.0, 0.0, 0.0], [0.0, 2.0, 0.0]];
    let moments = [[0.0, 3.0, 0.0], [0.0, 0.0, 0.0]];
    let alone = coulomb::<f64>(&sources, &[])
        .dipoles(&moments)
        .gradient()
        .evaluate()
        .unwrap();
    assert!((alone.potential()[1] - 0.75).abs() < 1e-6 && (alone.gradient()[1][1] + 0.75).abs() < 1e-6);
    let both = coulomb(&sources, &[1.0, 1.0]).dipoles(&moments).evaluate().unwrap();
    assert!((both.potential()[1] - 1.25).abs() < 1e-6 && (both.potential()[0] - 0.5).abs() < 1e-6);
    let error = coulomb(&sources, &[1.0]).dipoles(&moments).evaluate().unwrap_err();
    assert!(matches!(error, Error::Length { array: "dipoles", .. }), "{error}");
}

/// Bodies in a unit cube with softening of the mean spacing.
fn softened(softening: Softening) -> Kernel {
    Kernel::Gravity {
        constant: 1.5,
        softening,
    }
}

#[test]
fn compact_softening_of_each_source_honours_the_tolerance() {
    let n = 5000;
    let outputs = [Output::Potential, Output::Acceleration];
    let spacing = (n as f64).cbrt().recip();
    for softening in [Softening::Spline, Softening::WendlandC2] {
        for set in [PointSet::Cube, PointSet::Plummer] {
            let points = set.generate::<f64>(n, 11);
            let masses = ChargeDistribution::Positive.generate::<f64>(n, 12);
            let sizes: Vec<f64> = (0..n).map(|k| spacing * (k % 4) as f64 / 3.0).collect();
            for tolerance in [1e-2, 1e-4, 1e-6, 1e-9, 1e-12] {
                for method in [Method::Fmm, Method::Treecode, Method::Direct] {
                    let case = Case {
                        sizes: Sizes::PerSource(sizes.clone()),
                        ..Case::new(softened(softening), &points, &masses, tolerance)
                    };
                    let what = format!("on {set}, {method}");
                    case.worst_error(&what, |sum| sum.outputs(&outputs).method(method).check_errors(false));
                }
            }
        }
    }
}

#[test]
fn compact_softening_sums_as_many_pairs_as_newton() {
    let n = 60_000;
    let points = PointSet::Cube.generate::<f64>(n, 1);
    let size = (n as f64).cbrt().recip();
    let interactions = |kernel: Kernel, sizes: Sizes<f64>| {
        let sum = Sum::new(kernel, &points).outputs(kernel.outputs()).sizes(sizes);
        sum.method(Method::Fmm)
            .tolerance(1e-6)
            .plan()
            .unwrap()
            .parameters()
            .interactions
    };
    let newton = interactions(Kernel::gravity(1.0), Sizes::None);
    for softening in [Softening::Spline, Softening::WendlandC2] {
        let ended = interactions(softened(softening), Sizes::Global(size));
        assert!(
            ended.m2l > 0 && ended.p2p as f64 <= 1.3 * newton.p2p as f64,
            "{softening:?} {ended:?} {newton:?}"
        );
    }
}

#[test]
fn softening_in_one_call_is_plummer_by_default() {
    let sources = [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]];
    let potential = |softening: Option<Softening>| {
        let sum = gravity(&sources, &[1.0, 1.0], 1.0).softening(Sizes::Global(0.1));
        let sum = match softening {
            Some(softening) => sum.softening_kernel(softening),
            None => sum,
        };
        sum.evaluate().unwrap().potential()[0]
    };
    assert!((potential(None) + 1.0 / 0.26f64.sqrt()).abs() < 1e-6);
    assert_eq!(potential(None), potential(Some(Softening::Plummer)));
    for softening in [Softening::Spline, Softening::WendlandC2] {
        assert!((potential(Some(softening)) + 2.0).abs() < 1e-6, "{softening:?}");
    }
}

#[test]
fn softened_kernels_are_right_even_if_the_core_is_larger_than_boxes() {
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
                        case.worst_error(&format!("size {size} {method}"), |sum| {
                            sum.method(method).check_errors(false)
                        });
                    }
                }
            }
        }
    }
}

/// Cores that make boxes so large that there is no M2L: expansions act on points only, with an order of their own.
#[test]
fn expansions_that_act_on_points_only_keep_the_tolerance() {
    let n = 6000;
    let points = PointSet::Plummer.generate::<f64>(n, 11);
    let algebraic = Kernel::BiotSavart {
        core: Core::WinckelmansLeonard,
    };
    for (kernel, size, tolerance) in [
        (Kernel::gravity(1.5), 1e-3, 1e-10),
        (Kernel::gravity(1.5), 0.055, 1e-6),
        (algebraic, 0.055, 1e-8),
        (algebraic, 0.055, 1e-9),
    ] {
        let strengths = ChargeDistribution::Signed.generate::<f64>(n * kernel.strength_components(), 12);
        let case = Case {
            sizes: Sizes::Global(size),
            samples: 300,
            ..Case::new(kernel, &points, &strengths, tolerance)
        };
        case.worst_error(&format!("size {size}"), |sum| {
            sum.method(Method::Fmm).check_errors(false)
        });
    }
}

#[test]
fn sizes_on_a_kernel_without_a_core_are_refused() {
    let points = PointSet::Cube.generate::<f64>(10, 1);
    for kernel in [Kernel::Coulomb, DIPOLES, Kernel::BiotSavart { core: Core::Singular }] {
        for sizes in [Sizes::Global(0.1), Sizes::PerSource(vec![0.1; 10])] {
            let error = Sum::new(kernel, &points).sizes(sizes).plan().unwrap_err();
            assert_eq!(error, Error::UselessSizes { kernel: kernel.name() });
        }
    }
}

#[test]
fn sources_of_size_zero_are_singular_among_blobs() {
    let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let strengths = [0.0, 0.0, 1.0, 1.0, 0.5, 0.0, 0.3, 0.0, -1.0];
    for core in [Core::WinckelmansLeonard, Core::Gaussian, Core::HuPolynomial] {
        let case = Case {
            sizes: Sizes::PerSource(vec![0.0, 0.1, 0.1]),
            ..Case::new(Kernel::BiotSavart { core }, &points, &strengths, 1e-9)
        };
        let outputs = [Output::Velocity, Output::VelocityGradient];
        case.worst_error("one size zero", |sum| sum.outputs(&outputs).allow_unbounded_gradient());
    }
}
