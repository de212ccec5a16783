//! Unusual input: empty, tiny, coincident, extremely clustered, invalid.

use crate::measured::Case;
use farfield::Precision;
use farfield::kernel::{Core, Kernel, Output, Sizes};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Error, Field, Method, Sum};

fn check(points: &[[f64; 3]], kernel: Kernel, sizes: Sizes<f64>, tolerance: f64) {
    check_sum(points, kernel, sizes, tolerance, 1.0);
}

/// Asserts that every method sums random strengths times `strength` to the tolerance.
fn check_sum(points: &[[f64; 3]], kernel: Kernel, sizes: Sizes<f64>, tolerance: f64, strength: f64) {
    let mut strengths = ChargeDistribution::Signed.generate::<f64>(points.len() * kernel.strength_components(), 9);
    strengths.iter_mut().for_each(|q| *q *= strength);
    let case = Case {
        sizes,
        ..Case::new(kernel, points, &strengths, tolerance)
    };
    for method in [Method::Auto, Method::Fmm, Method::Treecode] {
        case.worst_error(method.name(), |sum| sum.method(method));
    }
}

#[test]
fn a_cluster_in_a_billionth_of_the_box_is_resolved() {
    let mut points = PointSet::Cube.generate::<f64>(20_000, 1);
    for point in &mut points[10..] {
        *point = point.map(|c| 0.7 + 1e-9 * c);
    }
    check(&points, Kernel::Coulomb, Sizes::None, 1e-6);
}

#[test]
fn thousands_of_duplicates_are_merged_and_counted_right() {
    let distinct = PointSet::Cube.generate::<f64>(30, 1);
    let points: Vec<[f64; 3]> = (0..30_000)
        .map(|k| distinct[k % 30])
        .chain(PointSet::Sphere.generate(500, 2))
        .collect();
    check(&points, Kernel::Coulomb, Sizes::None, 1e-6);
    check(&points, Kernel::gravity(1.0), Sizes::Global(1e-4), 1e-3);
    check(
        &points,
        Kernel::BiotSavart { core: Core::Gaussian },
        Sizes::Global(1e-3),
        1e-4,
    );
}

#[test]
fn all_points_equal_give_zero_or_the_core_value() {
    let n = 100_000;
    let points = vec![[0.1, 0.2, 0.3]; n];
    let charges = vec![1.0; n];
    for method in [Method::Fmm, Method::Treecode] {
        let plan = Sum::new(Kernel::Coulomb, &points).method(method).plan();
        assert!(
            plan.unwrap()
                .evaluate(&charges)
                .unwrap()
                .potential()
                .iter()
                .all(|p| *p == 0.0)
        );
        let sum = Sum::new(Kernel::gravity(1.0), &points)
            .method(method)
            .sizes(Sizes::Global(0.5));
        let field = sum.plan().unwrap().evaluate(&charges).unwrap();
        let want = -2.0 * (n - 1) as f64;
        assert!(
            field.potential().iter().all(|p| (p / want - 1.0).abs() < 1e-12),
            "{}",
            field.potential()[0]
        );
    }
}

#[test]
fn targets_on_top_of_sources_skip_them_for_singular_kernels() {
    let sources = PointSet::Cube.generate::<f64>(5000, 1);
    let charges = ChargeDistribution::Signed.generate::<f64>(5000, 1);
    let targets: Vec<[f64; 3]> = sources[..900].to_vec();
    let case = Case {
        targets: Some(&targets),
        ..Case::new(Kernel::Coulomb, &sources, &charges, 1e-6)
    };
    for method in [Method::Direct, Method::Treecode, Method::Fmm] {
        case.worst_error(method.name(), |sum| sum.method(method));
    }
}

#[test]
fn no_sources_give_zeros_and_no_targets_an_empty_result() {
    let points = PointSet::Cube.generate::<f64>(100, 1);
    for method in [Method::Auto, Method::Direct, Method::Treecode, Method::Fmm] {
        let field = Sum::<f64>::new(Kernel::Coulomb, &[])
            .targets(&points)
            .method(method)
            .plan()
            .unwrap()
            .evaluate(&[])
            .unwrap();
        assert_eq!(field.potential(), vec![0.0; 100]);
        let field = Sum::new(Kernel::Coulomb, &points)
            .targets(&[])
            .method(method)
            .plan()
            .unwrap()
            .evaluate(&[1.0; 100])
            .unwrap();
        assert!(field.potential().is_empty());
        let field = Sum::<f64>::new(Kernel::Coulomb, &[])
            .method(method)
            .plan()
            .unwrap()
            .evaluate(&[])
            .unwrap();
        assert!(field.potential().is_empty());
    }
}

/// All outputs of `kernel` for points and core sizes times `2^length` and strengths times `2^strength`.
fn at_scale<T: Precision>(
    kernel: Kernel,
    outputs: &[Output],
    method: Method,
    (length, strength): (i32, i32),
) -> Field<T> {
    let two_to = |exponent: i32| T::from_f64(2f64.powi(exponent / 2));
    let scaled = |value: T, exponent: i32| value * two_to(exponent) * two_to(exponent);
    let n = 2000;
    let points: Vec<[T; 3]> = PointSet::Sphere
        .generate::<T>(n, 1)
        .iter()
        .map(|point| point.map(|c| scaled(c, length)))
        .collect();
    let strengths: Vec<T> = ChargeDistribution::Signed
        .generate::<T>(n * kernel.strength_components(), 1)
        .iter()
        .map(|q| scaled(*q, strength))
        .collect();
    let mut sum = Sum::new(kernel, &points)
        .outputs(outputs)
        .method(method)
        .tolerance(1e-4)
        .allow_unbounded_gradient();
    if kernel != Kernel::Coulomb {
        sum = sum.sizes(Sizes::Global(scaled(T::from_f64(1e-3), length)));
    }
    sum.plan().unwrap().evaluate(&strengths).unwrap()
}

/// Powers of two only change exponents: every bit of the mantissas must stay, even if intermediate squares overflow.
fn check_scales<T: Precision>(scales: &[(i32, i32)], all_outputs: bool) {
    for kernel in [
        Kernel::Coulomb,
        Kernel::gravity(6.7),
        Kernel::BiotSavart {
            core: Core::WinckelmansLeonard,
        },
        Kernel::BiotSavart { core: Core::Gaussian },
        Kernel::BiotSavart {
            core: Core::HuPolynomial,
        },
    ] {
        let outputs = if all_outputs {
            kernel.outputs()
        } else {
            &kernel.outputs()[..1]
        };
        for method in [Method::Direct, Method::Treecode, Method::Fmm] {
            let usual = at_scale::<T>(kernel, outputs, method, (0, 0));
            for &(length, strength) in scales {
                let scaled = at_scale::<T>(kernel, outputs, method, (length, strength));
                for output in outputs {
                    let powers = match output {
                        Output::Potential => 1,
                        Output::Gradient | Output::Acceleration | Output::Velocity => 2,
                        Output::Hessian | Output::VelocityGradient => 3,
                    };
                    let factor = T::from_f64(2f64.powi(strength - powers * length));
                    let (usual, scaled) = (usual.get(*output).unwrap(), scaled.get(*output).unwrap());
                    assert!(
                        usual.iter().zip(scaled).all(|(a, b)| *a * factor == *b),
                        "{} {kernel:?} {output} {method}, lengths 2^{length}, strengths 2^{strength}",
                        T::NAME
                    );
                }
            }
        }
    }
}

#[test]
fn extreme_scales_change_no_bit() {
    check_scales::<f64>(&[(100, 200), (-100, -200), (450, 900), (-450, -900)], true);
    check_scales::<f32>(&[(20, 40), (-20, -40), (56, 112), (-50, -100)], true);
    // Coordinates near the limits of the range.
    check_scales::<f64>(&[(1000, 1000), (-900, -900)], false);
    check_scales::<f32>(&[(110, 110), (-100, -100)], false);
}

#[test]
fn extreme_scales_are_verified_too() {
    for scale in [1e-300, 1e-150, 1e-30, 1e30, 1e100, 1e300] {
        let points: Vec<[f64; 3]> = PointSet::Cube
            .generate::<f64>(4000, 1)
            .iter()
            .map(|p| p.map(|c| c * scale))
            .collect();
        // Denormal coordinates have few digits, but are still valid.
        check_sum(&points, Kernel::Coulomb, Sizes::None, 1e-6, scale);
    }
}

#[test]
fn points_a_tiny_distance_apart_give_the_exact_sum() {
    for (spacing, charge) in [(1e-300f64, 1e-10), (1e-200, 1.0), (1e200, 1e200), (1e300, 1e290)] {
        let points = [0.0, 1.0, 3.0].map(|k| [k * spacing, 0.0, 0.0]);
        for method in [Method::Direct, Method::Treecode, Method::Fmm] {
            let sum = Sum::new(Kernel::Coulomb, &points).method(method).tolerance(1e-12);
            let field = sum.plan().unwrap().evaluate(&[charge; 3]).unwrap();
            for (potential, want) in field.potential().iter().zip([4.0 / 3.0, 1.5, 5.0 / 6.0]) {
                let want = want * charge / spacing;
                assert!(
                    (potential / want - 1.0).abs() < 1e-11,
                    "{spacing:e}: {potential:e} {want:e}"
                );
            }
        }
    }
}

#[test]
fn distinct_points_whose_distance_has_no_square_are_refused() {
    let close = [[0.5, 0.5, 0.0], [0.5, 0.5, 1e-200], [1.0, 1.0, 1.0]];
    let error = Sum::new(Kernel::Coulomb, &close).plan().unwrap_err();
    assert!(
        matches!(
            error,
            Error::TooClose {
                array: "sources",
                index: 1,
                component: 2,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error.to_string().contains("sources[1] component 2 is 1e-200"),
        "{error}"
    );
    let close = [[0.0f32, 0.0, 0.0], [1.0, 1.0, 1.0]];
    let target = [[1e-30f32, 0.0, 0.0]];
    let error = Sum::new(Kernel::Coulomb, &close).targets(&target).plan().unwrap_err();
    assert!(matches!(error, Error::TooClose { array: "targets", .. }), "{error}");
    // A tiny coordinate alone is harmless.
    let mut apart = PointSet::Cube.generate::<f64>(1000, 1);
    apart[7][1] = 1e-250;
    apart[9] = [1e-310, 0.25, 0.5];
    apart[11] = [0.0; 3];
    check(&apart, Kernel::Coulomb, Sizes::None, 1e-6);
}

#[test]
fn core_sizes_out_of_proportion_are_refused() {
    fn refuse<T: Precision>(kernel: Kernel, sizes: Sizes<T>, says: &str) {
        let points = PointSet::Cube.generate::<T>(50, 1);
        let error = Sum::new(kernel, &points).sizes(sizes).plan().unwrap_err();
        assert!(matches!(error, Error::SizeRange { .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
    let gravity = Kernel::gravity(1.0);
    let vortex = Kernel::BiotSavart { core: Core::Gaussian };
    refuse::<f64>(gravity, Sizes::Global(1e300), "core size 1e300 of source 0");
    refuse::<f64>(gravity, Sizes::Global(1e-300), "1e-300");
    refuse::<f32>(gravity, Sizes::Global(1e20), "f32");
    let mut sizes = vec![0.01; 50];
    sizes[17] = 1e200;
    refuse::<f64>(vortex, Sizes::PerSource(sizes), "source 17");
    // A size of zero is harmless.
    let points = PointSet::Cube.generate::<f64>(50, 1);
    assert!(Sum::new(gravity, &points).sizes(Sizes::Global(0.0)).plan().is_ok());
}

#[test]
fn a_hessian_of_close_points_has_no_intermediate_overflow() {
    // 1.5e-8 apart: the fifth power of the inverse distance overflows in single precision, its third does not.
    let close = 0.236_843_42f32;
    let gap = f32::EPSILON / 8.0;
    let sources = [
        [close, 0.25, 0.5],
        [close + gap, 0.25, 0.5],
        [0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0],
    ];
    let outputs = [Output::Gradient, Output::Hessian];
    let sum = Sum::new(Kernel::Coulomb, &sources)
        .outputs(&outputs)
        .method(Method::Direct);
    let field = sum.plan().unwrap().evaluate(&[1.0, 2.0, 0.0, 0.0]).unwrap();
    let distance = f64::from(sources[1][0]) - f64::from(sources[0][0]);
    assert!(distance > 0.0 && distance.powi(-5) > f64::from(f32::MAX));
    let hessian = field.get(Output::Hessian).unwrap();
    let expected = [2.0, 0.0, 0.0, -1.0, 0.0, -1.0].map(|factor| 2.0 * factor * distance.powi(-3));
    for (found, expected) in hessian.iter().zip(expected) {
        let error = (f64::from(*found) - expected).abs() * distance.powi(3);
        assert!(error < 1e-5, "{found} instead of {expected}");
    }
}

#[test]
fn results_beyond_the_largest_number_are_refused() {
    fn refuse<T: Precision>(kernel: Kernel, strength: f64) {
        let points = PointSet::Cube.generate::<T>(300, 1);
        for method in [Method::Direct, Method::Treecode, Method::Fmm] {
            let mut plan = Sum::new(kernel, &points).method(method).plan().unwrap();
            let error = plan.evaluate(&[T::from_f64(strength); 300]).unwrap_err();
            assert!(
                matches!(error, Error::Overflow { output: "potential", precision, .. } if precision == T::NAME),
                "{error}"
            );
        }
    }
    refuse::<f64>(Kernel::Coulomb, 1e307);
    refuse::<f32>(Kernel::Coulomb, 1e37);
    refuse::<f64>(Kernel::gravity(1e300), 1e10);
    refuse::<f32>(Kernel::gravity(1e300), 1.0);
    // The largest strengths possible, and a constant that overflows in single precision.
    let points = PointSet::Cube.generate::<f32>(300, 1);
    let usual = Sum::new(Kernel::gravity(1.0), &points);
    let usual = usual.plan().unwrap().evaluate(&[1.0; 300]).unwrap();
    let large = Sum::new(Kernel::gravity(2f64.powi(200)), &points);
    let large = large.plan().unwrap().evaluate(&[2f32.powi(-100); 300]).unwrap();
    assert!(
        usual
            .potential()
            .iter()
            .zip(large.potential())
            .all(|(a, b)| *a * 2f32.powi(100) == *b)
    );
}

#[test]
fn wrong_input_is_named() {
    let points = PointSet::Cube.generate::<f64>(10, 1);
    let mut bad = points.clone();
    bad[7][1] = f64::NAN;
    let message = |error: Error| error.to_string();
    let error = Sum::new(Kernel::Coulomb, &bad).plan().unwrap_err();
    assert!(message(error).contains("sources[7] component 1 is NaN"));
    let error = Sum::new(Kernel::Coulomb, &points).targets(&bad).plan().unwrap_err();
    assert!(message(error).contains("targets[7]"));
    let mut plan = Sum::new(Kernel::Coulomb, &points).plan().unwrap();
    assert!(matches!(
        plan.evaluate(&[1.0; 9]),
        Err(Error::Length {
            found: 9,
            expected: 10,
            ..
        })
    ));
    let mut charges = [1.0; 10];
    charges[3] = f64::INFINITY;
    assert!(message(plan.evaluate(&charges).unwrap_err()).contains("strengths[3]"));
    for tolerance in [0.0, -1.0, 1e-13, 0.5, f64::NAN] {
        let error = Sum::new(Kernel::Coulomb, &points)
            .tolerance(tolerance)
            .plan()
            .unwrap_err();
        assert!(matches!(error, Error::Tolerance { .. }), "{tolerance}");
    }
    let single: Vec<[f32; 3]> = PointSet::Cube.generate(10, 1);
    assert!(message(Sum::new(Kernel::Coulomb, &single).tolerance(1e-7).plan().unwrap_err()).contains("f32"));
    let error = Sum::new(Kernel::Coulomb, &points)
        .outputs(&[Output::Velocity])
        .plan()
        .unwrap_err();
    assert!(message(error).contains("potential, gradient, hessian"));
    let vortex = Sum::new(Kernel::BiotSavart { core: Core::Gaussian }, &points);
    assert_eq!(
        vortex.clone().plan().unwrap_err(),
        Error::MissingSize { core: "gaussian" }
    );
    assert!(matches!(
        vortex.clone().sizes(Sizes::Global(-1.0)).plan(),
        Err(Error::NegativeSize { index: 0, .. })
    ));
    assert!(matches!(
        vortex.sizes(Sizes::PerSource(vec![0.1; 9])).plan(),
        Err(Error::Length { .. })
    ));
    let hu = Sum::new(
        Kernel::BiotSavart {
            core: Core::HuPolynomial,
        },
        &points,
    )
    .sizes(Sizes::Global(0.1));
    assert_eq!(
        hu.clone().outputs(&[Output::VelocityGradient]).plan().unwrap_err(),
        Error::UnboundedGradient
    );
    assert!(
        hu.outputs(&[Output::VelocityGradient])
            .allow_unbounded_gradient()
            .plan()
            .is_ok()
    );
    assert!(matches!(
        Sum::new(Kernel::Coulomb, &points).order(99).plan(),
        Err(Error::Parameter { name: "order", .. })
    ));
    assert!(matches!(
        Sum::new(Kernel::Coulomb, &points).theta(1.5).plan(),
        Err(Error::Parameter { name: "theta", .. })
    ));
    let error = Sum::new(Kernel::Coulomb, &points).memory_limit(100).plan().unwrap_err();
    assert!(matches!(error, Error::Memory { .. }));
}

#[test]
fn a_million_coincident_softened_bodies_are_one() {
    let n = 1_000_000;
    let mut points = vec![[0.5f64; 3]; n];
    points.extend(PointSet::Cube.generate::<f64>(500, 1));
    let masses = vec![1e-6; points.len()];
    let mut plan = Sum::new(Kernel::gravity(1.0), &points)
        .sizes(Sizes::Global(1e-3))
        .tolerance(1e-4)
        .method(Method::Fmm)
        .plan()
        .unwrap();
    assert!(
        plan.parameters().interactions.p2p < 1_000_000_000,
        "{:?}",
        plan.parameters()
    );
    let field = plan.evaluate(&masses).unwrap();
    let potential = field.get(Output::Potential).unwrap();
    // All others at its own position, and five hundred light ones elsewhere.
    let own = -(n as f64 - 1.0) * 1e-6 / 1e-3;
    assert!((potential[0] / own - 1.0).abs() < 1e-4, "{} {own}", potential[0]);
}

#[test]
fn the_self_term_of_softened_kernels_is_the_callers_choice() {
    let points = PointSet::Cube.generate::<f64>(40, 1);
    let masses = vec![1.0; 40];
    let potential = |sum: Sum<f64>| {
        let mut plan = sum.sizes(Sizes::Global(0.1)).tolerance(1e-9).plan().unwrap();
        plan.evaluate(&masses).unwrap().get(Output::Potential).unwrap().to_vec()
    };
    let sum = || Sum::new(Kernel::gravity(1.0), &points);
    let (without, with, targets) = (
        potential(sum()),
        potential(sum().count_self()),
        potential(sum().targets(&points)),
    );
    for k in 0..40 {
        assert!((with[k] - without[k] + 1.0 / 0.1).abs() < 1e-7);
        assert_eq!(with[k], targets[k]);
    }
}

#[test]
fn lists_that_would_not_fit_are_refused_before_they_are_built() {
    let points = PointSet::Cube.generate::<f64>(30_000, 1);
    let small = Sum::new(Kernel::Coulomb, &points)
        .method(Method::Treecode)
        .theta(0.02)
        .leaf_capacity(2)
        .memory_limit(60_000_000)
        .plan();
    assert!(
        matches!(small, Err(Error::Memory { .. })),
        "{:?}",
        small.map(|plan| *plan.parameters())
    );
}
