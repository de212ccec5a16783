//! Unusual input: empty, tiny, coincident, hopelessly clustered, wrong.

use farfield::kernel::{Core, Kernel, Output, Sizes};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::verify::{Problem, verify};
use farfield::{Error, Method, Sum};

fn check(points: &[[f64; 3]], kernel: Kernel, sizes: Sizes<f64>, tolerance: f64) {
    let strengths = ChargeDistribution::Signed.generate::<f64>(points.len() * kernel.strength_components(), 9);
    for method in [Method::Auto, Method::Fmm, Method::Treecode] {
        let sum = Sum::new(kernel, points)
            .tolerance(tolerance)
            .method(method)
            .sizes(sizes.clone());
        let field = sum.plan().unwrap().evaluate(&strengths).unwrap();
        let problem = Problem {
            kernel,
            sources: points,
            targets: None,
            sizes: &sizes,
            strengths: &strengths,
        };
        for error in verify(&problem, &field, 50, 1) {
            assert!(
                error.relative_l2 <= tolerance,
                "{kernel:?} {method}: {:e}",
                error.relative_l2
            );
        }
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
fn duplicates_by_the_thousand_are_merged_and_counted_right() {
    let distinct = PointSet::Cube.generate::<f64>(30, 1);
    let points: Vec<[f64; 3]> = (0..30_000)
        .map(|k| distinct[k % 30])
        .chain(PointSet::Sphere.generate(500, 2))
        .collect();
    check(&points, Kernel::Coulomb, Sizes::None, 1e-6);
    check(&points, Kernel::Gravity { constant: 1.0 }, Sizes::Global(1e-4), 1e-3);
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
        let sum = Sum::new(Kernel::Gravity { constant: 1.0 }, &points)
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
    for method in [Method::Direct, Method::Treecode, Method::Fmm] {
        let sum = Sum::new(Kernel::Coulomb, &sources).targets(&targets).method(method);
        let field = sum.plan().unwrap().evaluate(&charges).unwrap();
        let problem = Problem {
            kernel: Kernel::Coulomb,
            sources: &sources,
            targets: Some(&targets),
            sizes: &Sizes::None,
            strengths: &charges,
        };
        assert!(verify(&problem, &field, 100, 1)[0].relative_l2 < 1e-6);
    }
}

#[test]
fn no_sources_or_no_targets_give_zeros_or_nothing() {
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

#[test]
fn extreme_scales_work() {
    for scale in [1e-150, 1e-30, 1e30, 1e100] {
        let points: Vec<[f64; 3]> = PointSet::Cube
            .generate::<f64>(4000, 1)
            .iter()
            .map(|p| p.map(|c| c * scale))
            .collect();
        let charges = ChargeDistribution::Signed.generate::<f64>(4000, 1);
        let field = Sum::new(Kernel::Coulomb, &points)
            .method(Method::Fmm)
            .plan()
            .unwrap()
            .evaluate(&charges)
            .unwrap();
        let problem = Problem {
            kernel: Kernel::Coulomb,
            sources: &points,
            targets: None,
            sizes: &Sizes::None,
            strengths: &charges,
        };
        assert!(
            verify(&problem, &field, 100, 1)[0].relative_l2 < 1e-6,
            "scale {scale:e}"
        );
    }
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
