//! Sums in the plane: the tolerance is kept, results do not depend on threads, bad input is told.

use farfield::Precision;
use farfield::kernel::Sizes;
use farfield::plane::{Core, Field, Inputs, Kernel, Output, PlaneSet, Sum, verify};
use farfield::points::{ChargeDistribution, Random};
use farfield::simd::SimdLevel;
use farfield::{Error, Method};

/// What is summed; how, the caller says.
struct Case<'a, T> {
    kernel: Kernel,
    core: Core,
    sizes: Sizes<T>,
    sources: &'a [[T; 2]],
    targets: Option<&'a [[T; 2]]>,
    complex: bool,
    strengths: &'a [T],
    tolerance: f64,
}

impl<'a, T: Precision> Case<'a, T> {
    fn new(kernel: Kernel, sources: &'a [[T; 2]], strengths: &'a [T], tolerance: f64) -> Self {
        Self {
            kernel,
            core: Core::Singular,
            sizes: Sizes::None,
            sources,
            targets: None,
            complex: strengths.len() == 2 * sources.len(),
            strengths,
            tolerance,
        }
    }

    fn sum(&self) -> Sum<'a, T> {
        let mut sum = Sum::new(self.kernel, self.sources)
            .tolerance(self.tolerance)
            .core(self.core, self.sizes.clone());
        if let Some(targets) = self.targets {
            sum = sum.targets(targets);
        }
        if self.complex {
            sum = sum.complex();
        }
        sum
    }

    /// The largest error of all outputs in units of the tolerance; panics if it exceeds one.
    fn worst(&self, what: &str, wishes: impl FnOnce(Sum<'a, T>) -> Sum<'a, T>) -> f64 {
        let field = wishes(self.sum()).plan().unwrap().evaluate(self.strengths).unwrap();
        self.worst_of(what, &field)
    }

    fn worst_of(&self, what: &str, field: &Field<T>) -> f64 {
        let problem = Inputs {
            kernel: self.kernel,
            core: self.core,
            sources: self.sources,
            targets: self.targets,
            sizes: &self.sizes,
            complex: self.complex,
            strengths: self.strengths,
        };
        let mut worst: f64 = 0.0;
        for error in verify(&problem, field, 60, 5).unwrap() {
            assert!(
                error.relative_l2 <= self.tolerance,
                "{} {} {what}: {} is {:e}, asked {:e}",
                self.kernel,
                T::NAME,
                error.output,
                error.relative_l2,
                self.tolerance
            );
            assert!(error.maximum >= 0.0 && error.maximum.is_finite());
            worst = worst.max(error.relative_l2 / self.tolerance);
        }
        worst
    }
}

const BOTH: [Output; 2] = [Output::Potential, Output::Derivative];

#[test]
fn tolerance_is_kept_over_its_whole_range() {
    let n = 20_000;
    for set in PlaneSet::ALL {
        let points = set.generate::<f64>(n, 1);
        for distribution in [ChargeDistribution::Signed, ChargeDistribution::Positive] {
            let strengths = distribution.generate::<f64>(n, 1);
            for kernel in Kernel::ALL {
                for digits in 2..=12 {
                    let case = Case::new(kernel, &points, &strengths, 10f64.powi(-digits));
                    case.worst(&format!("{set} {distribution}"), |sum| sum.method(Method::Fmm));
                    if digits % 5 == 2 {
                        case.worst(&format!("{set} {distribution} derivative"), |sum| {
                            sum.method(Method::Fmm).outputs(&BOTH)
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn tolerance_is_not_wasted() {
    let n = 30_000;
    let points = PlaneSet::Square.generate::<f64>(n, 2);
    let strengths = ChargeDistribution::Signed.generate::<f64>(n, 2);
    for digits in [3, 6, 9] {
        let case = Case::new(Kernel::Harmonic, &points, &strengths, 10f64.powi(-digits));
        let worst = case.worst("square", |sum| sum.method(Method::Fmm));
        assert!(worst > 1.0 / 100.0, "1e-{digits}: only {worst} of it");
    }
}

#[test]
fn tolerance_is_kept_in_single_precision() {
    let n = 20_000;
    for set in PlaneSet::ALL {
        let points = set.generate::<f32>(n, 3);
        for distribution in [ChargeDistribution::Signed, ChargeDistribution::Positive] {
            let strengths = distribution.generate::<f32>(n, 3);
            for kernel in Kernel::ALL {
                for digits in 2..=5 {
                    let case = Case::new(kernel, &points, &strengths, 10f64.powi(-digits));
                    case.worst(&format!("{set} {distribution}"), |sum| sum.method(Method::Fmm));
                }
            }
        }
    }
}

#[test]
fn tolerance_is_kept_for_any_number_of_points() {
    for n in [1, 2, 3, 5, 17, 64, 65, 257, 1000, 4099, 60_000] {
        let points = PlaneSet::Layer.generate::<f64>(n, 4);
        let strengths = ChargeDistribution::Signed.generate::<f64>(n, 4);
        for kernel in Kernel::ALL {
            for method in [Method::Auto, Method::Fmm, Method::Direct] {
                if method == Method::Direct && n > 5000 {
                    continue;
                }
                let case = Case::new(kernel, &points, &strengths, 1e-8);
                case.worst(&format!("n = {n}, {method}"), |sum| sum.method(method).outputs(&BOTH));
            }
        }
    }
}

#[test]
fn complex_strengths_targets_and_several_vectors() {
    let (n, m, vectors) = (6000, 2500, 3);
    let points = PlaneSet::Normal.generate::<f64>(n, 5);
    let targets = PlaneSet::Circle.generate::<f64>(m, 6);
    let strengths = ChargeDistribution::Signed.generate::<f64>(2 * n * vectors, 5);
    for kernel in Kernel::ALL {
        for method in [Method::Fmm, Method::Direct] {
            for targets in [None, Some(&targets[..])] {
                let mut case = Case::new(kernel, &points, &strengths, 1e-7);
                case.complex = true;
                case.targets = targets;
                let what = format!("{method}, own targets: {}", targets.is_none());
                case.worst(&what, |sum| sum.method(method).outputs(&BOTH).vectors(vectors));
            }
        }
    }
}

#[test]
fn targets_may_lie_far_from_the_sources() {
    let sources = PlaneSet::Clusters.generate::<f64>(3000, 1);
    let strengths = ChargeDistribution::Positive.generate::<f64>(3000, 1);
    let targets: Vec<[f64; 2]> = PlaneSet::Square
        .generate::<f64>(2000, 2)
        .iter()
        .map(|p| [p[0] + 40.0, 9.0 * p[1]])
        .collect();
    for kernel in Kernel::ALL {
        let mut case = Case::new(kernel, &sources, &strengths, 1e-9);
        case.targets = Some(&targets);
        case.worst("far", |sum| sum.method(Method::Fmm).outputs(&BOTH));
    }
}

#[test]
fn cores_are_felt_as_far_as_they_reach() {
    let n = 4000;
    let points = PlaneSet::Square.generate::<f64>(n, 7);
    let strengths = ChargeDistribution::Signed.generate::<f64>(n, 7);
    let mut random = Random::new(7);
    let sizes: Vec<f64> = (0..n)
        .map(|k| if k % 7 == 0 { 0.0 } else { 0.01 * random.uniform() })
        .collect();
    for core in [Core::Gaussian, Core::Algebraic] {
        for sizes in [Sizes::Global(0.02), Sizes::PerSource(sizes.clone())] {
            for tolerance in [1e-3, 1e-6, 1e-9] {
                for kernel in Kernel::ALL {
                    for method in [Method::Auto, Method::Fmm] {
                        let mut case = Case::new(kernel, &points, &strengths, tolerance);
                        (case.core, case.sizes) = (core, sizes.clone());
                        let outputs = if kernel == Kernel::Log { &BOTH[..] } else { &BOTH[..1] };
                        case.worst(&format!("{core} {method}"), |sum| sum.method(method).outputs(outputs));
                    }
                }
            }
        }
    }
    let small = Sizes::Global(1e-4f32);
    let points = PlaneSet::Normal.generate::<f32>(n, 8);
    let strengths = ChargeDistribution::Signed.generate::<f32>(n, 8);
    for core in [Core::Gaussian, Core::Algebraic] {
        let mut case = Case::new(Kernel::Log, &points, &strengths, 1e-4);
        (case.core, case.sizes) = (core, small.clone());
        case.worst(core.name(), |sum| sum.method(Method::Fmm).outputs(&BOTH));
    }
}

/// Leaves of 50 points, 256 of them: they meet each other both ways at once, those of a group.
#[test]
fn pairs_met_once_count_for_both_points() {
    fn check<T: Precision>(tolerance: f64) {
        let n = 13_000;
        let sources = PlaneSet::Normal.generate::<T>(n, 3);
        let strengths = ChargeDistribution::Signed.generate::<T>(n, 4);
        for kernel in [Kernel::Harmonic, Kernel::Log] {
            for core in [Core::Singular, Core::Gaussian, Core::Algebraic] {
                for outputs in [&[Output::Potential][..], &[Output::Potential, Output::Derivative]] {
                    if kernel == Kernel::Harmonic && core != Core::Singular && outputs.len() == 2 {
                        continue;
                    }
                    let mut case = Case::new(kernel, &sources, &strengths, tolerance);
                    case.core = core;
                    if core != Core::Singular {
                        // As large as the smallest leaves.
                        case.sizes = Sizes::Global(T::from_f64(2e-3));
                    }
                    for level in SimdLevel::available() {
                        let what = format!("{core} {level} {} outputs", outputs.len());
                        case.worst(&what, |sum| {
                            sum.method(Method::Fmm).leaf_capacity(50).outputs(outputs).simd(level)
                        });
                    }
                }
            }
        }
    }
    check::<f64>(1e-11);
    check::<f32>(1e-5);
}

#[test]
fn duplicates_stay_fast_and_right() {
    let n = 40_000;
    let spread = PlaneSet::Square.generate::<f64>(n, 9);
    let strengths = ChargeDistribution::Signed.generate::<f64>(n, 9);
    let all_equal = vec![[0.3, 0.4]; n];
    let thousands: Vec<[f64; 2]> = (0..n).map(|k| spread[k % 9]).collect();
    let some: Vec<[f64; 2]> = (0..n)
        .map(|k| if k % 3 == 0 { [0.5, 0.5] } else { spread[k] })
        .collect();
    let in_pairs: Vec<[f64; 2]> = (0..n).map(|k| spread[k / 2]).collect();
    for (what, points) in [
        ("equal", &all_equal),
        ("thousands", &thousands),
        ("some", &some),
        ("pairs", &in_pairs),
    ] {
        for kernel in Kernel::ALL {
            let case = Case::new(kernel, points, &strengths, 1e-7);
            case.worst(what, |sum| sum.method(Method::Fmm).outputs(&BOTH));
            let mut case = Case::new(Kernel::Log, points, &strengths, 1e-5);
            (case.core, case.sizes) = (Core::Algebraic, Sizes::Global(1e-6));
            case.worst(what, |sum| sum.outputs(&BOTH));
        }
    }
}

#[test]
fn a_hopeless_cluster_stays_right() {
    let mut points = PlaneSet::Square.generate::<f64>(10_000, 10);
    for point in &mut points[..9000] {
        *point = [0.25 + 1e-12 * point[0], 0.75 + 1e-12 * point[1]];
    }
    let strengths = ChargeDistribution::Signed.generate::<f64>(10_000, 10);
    for kernel in Kernel::ALL {
        Case::new(kernel, &points, &strengths, 1e-6).worst("cluster", |sum| sum.method(Method::Fmm));
    }
}

#[test]
fn scales_from_tiny_to_huge() {
    let unit = PlaneSet::Normal.generate::<f64>(3000, 11);
    let strengths = ChargeDistribution::Signed.generate::<f64>(3000, 11);
    for scale in [1e-100, 1e-9, 1e9, 1e100] {
        let points: Vec<[f64; 2]> = unit.iter().map(|p| p.map(|c| c * scale)).collect();
        Case::new(Kernel::Harmonic, &points, &strengths, 1e-10)
            .worst(&format!("{scale:e}"), |sum| sum.method(Method::Fmm));
    }
}

fn evaluate<T: Precision>(threads: usize, kernel: Kernel, method: Method, level: SimdLevel) -> Field<T> {
    // Leaves of 50 points: those of the harmonic kernel meet both ways at once.
    let n = 13_000;
    let points = PlaneSet::Layer.generate::<T>(n, 12);
    let targets = PlaneSet::Square.generate::<T>(2000, 13);
    let strengths = ChargeDistribution::Signed.generate::<T>(n, 12);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut sum = Sum::new(kernel, &points)
            .outputs(&BOTH)
            .method(method)
            .simd(level)
            .leaf_capacity(50)
            .tolerance(1e-4);
        if kernel == Kernel::Log {
            sum = sum.targets(&targets);
        }
        sum.plan().unwrap().evaluate(&strengths).unwrap()
    })
}

#[test]
fn thread_count_changes_no_bit() {
    for method in [Method::Fmm, Method::Direct] {
        for kernel in Kernel::ALL {
            let one = evaluate::<f64>(1, kernel, method, SimdLevel::best());
            for threads in [2, 7] {
                assert!(
                    one == evaluate(threads, kernel, method, SimdLevel::best()),
                    "{kernel} {method} {threads}"
                );
            }
        }
    }
}

#[test]
fn a_small_sum_is_the_same_on_the_callers_thread_and_in_a_pool() {
    let points = PlaneSet::Square.generate::<f64>(1500, 2);
    let strengths = ChargeDistribution::Signed.generate::<f64>(1500, 2);
    for method in [Method::Fmm, Method::Direct, Method::Auto] {
        let evaluate = || {
            let sum = Sum::new(Kernel::Log, &points).outputs(&BOTH).method(method);
            sum.plan().unwrap().evaluate(&strengths).unwrap()
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert!(evaluate() == pool.install(evaluate), "{method}");
    }
}

#[test]
fn every_simd_level_agrees_to_the_tolerance() {
    fn check<T: Precision>(kernel: Kernel) {
        let reference = evaluate::<T>(2, kernel, Method::Fmm, SimdLevel::SCALAR);
        for level in SimdLevel::available() {
            let field = evaluate::<T>(2, kernel, Method::Fmm, level);
            for output in BOTH {
                let (a, b) = (reference.get(output).unwrap(), field.get(output).unwrap());
                let size: f64 = a.iter().map(|x| x.to_f64().powi(2)).sum();
                let difference: f64 = a.iter().zip(b).map(|(x, y)| (x.to_f64() - y.to_f64()).powi(2)).sum();
                assert!(difference <= 1e-8 * size, "{kernel} {level} {output}");
            }
        }
    }
    for kernel in Kernel::ALL {
        check::<f32>(kernel);
        check::<f64>(kernel);
    }
}

#[test]
fn a_plan_is_reused_for_new_strengths() {
    let points = PlaneSet::Normal.generate::<f64>(5000, 14);
    let mut plan = Sum::new(Kernel::Harmonic, &points).method(Method::Fmm).plan().unwrap();
    for seed in 1..4 {
        let strengths = ChargeDistribution::Signed.generate::<f64>(5000, seed);
        let field = plan.evaluate(&strengths).unwrap();
        Case::new(Kernel::Harmonic, &points, &strengths, 1e-6).worst_of("reused", &field);
    }
}

#[test]
fn point_vortices_turn_around_each_other() {
    // Two vortices of circulation 2 pi at distance 2 move with speed 1/2, at right angles to the line between them.
    let points = [[-1.0, 0.0], [1.0, 0.0]];
    let circulation = [std::f64::consts::TAU; 2];
    let mut plan = Sum::new(Kernel::Log, &points).outputs(&BOTH).plan().unwrap();
    let field = plan.evaluate(&circulation).unwrap();
    let derivative = field.get(Output::Derivative).unwrap();
    // u - i v = phi'/(2 pi i)
    let velocity = |k: usize| {
        [
            derivative[2 * k + 1] / std::f64::consts::TAU,
            derivative[2 * k] / std::f64::consts::TAU,
        ]
    };
    assert!((velocity(0)[0]).abs() < 1e-14 && (velocity(0)[1] + 0.5).abs() < 1e-14);
    assert!((velocity(1)[0]).abs() < 1e-14 && (velocity(1)[1] - 0.5).abs() < 1e-14);
    let potential = field.get(Output::Potential).unwrap();
    assert!((potential[0] - std::f64::consts::TAU * 2f64.ln()).abs() < 1e-12);
}

#[test]
fn bad_input_is_named() {
    let points = [[0.0, 0.0], [1.0, f64::NAN], [2.0, 0.0]];
    let error = Sum::new(Kernel::Harmonic, &points).plan().unwrap_err();
    assert!(
        matches!(
            error,
            Error::NotFinite {
                array: "sources",
                index: 1,
                component: 1,
                ..
            }
        ),
        "{error}"
    );
    let points = [[0.0, 0.0], [1.0, 0.0]];
    let sum = || Sum::new(Kernel::Harmonic, &points);
    let error = sum().targets(&[[f64::INFINITY, 0.0]]).plan().unwrap_err();
    assert!(matches!(
        error,
        Error::NotFinite {
            array: "targets",
            index: 0,
            component: 0,
            ..
        }
    ));
    assert!(matches!(sum().tolerance(1e-13).plan(), Err(Error::Tolerance { .. })));
    assert!(matches!(sum().tolerance(f64::NAN).plan(), Err(Error::Tolerance { .. })));
    assert!(matches!(
        sum().order(0).plan(),
        Err(Error::Parameter { name: "order", .. })
    ));
    assert!(matches!(
        sum().theta(1.0).plan(),
        Err(Error::Parameter { name: "theta", .. })
    ));
    assert!(matches!(
        sum().leaf_capacity(0).plan(),
        Err(Error::Parameter {
            name: "leaf_capacity",
            ..
        })
    ));
    assert!(matches!(
        sum().vectors(0).plan(),
        Err(Error::Parameter { name: "vectors", .. })
    ));
    assert!(matches!(
        sum().method(Method::Treecode).plan(),
        Err(Error::MethodInPlane { .. })
    ));
    assert!(matches!(
        sum().core(Core::Gaussian, Sizes::None).plan(),
        Err(Error::MissingSize { .. })
    ));
    let with_derivative = sum().core(Core::Gaussian, Sizes::Global(0.1)).outputs(&BOTH);
    assert!(matches!(with_derivative.plan(), Err(Error::NotAnalytic { .. })));
    let negative = sum().core(Core::Algebraic, Sizes::PerSource(vec![0.1, -0.1]));
    assert!(matches!(negative.plan(), Err(Error::NegativeSize { index: 1, .. })));
    assert!(matches!(sum().memory_limit(10).plan(), Err(Error::Memory { .. })));
    let mut plan = sum().plan().unwrap();
    assert!(matches!(
        plan.evaluate(&[1.0]),
        Err(Error::Length {
            array: "strengths",
            found: 1,
            expected: 2,
            ..
        })
    ));
    assert!(matches!(
        plan.evaluate(&[1.0, f64::NAN]),
        Err(Error::NotFinite {
            array: "strengths",
            index: 1,
            ..
        })
    ));
    let huge = [[0.0, 0.0], [1e200, 0.0]];
    assert!(matches!(
        Sum::new(Kernel::Log, &huge).plan(),
        Err(Error::Extent { extent: 1e200, .. })
    ));
}

#[test]
fn the_largest_results_are_right_and_larger_ones_are_an_overflow() {
    // gamma / (z_j - z_i): one over the distance, so a distance of one keeps the strength and a quarter makes four of it.
    let result = |distance: f64, strength: f64, method: Method| {
        let points = [[0.0, 0.0], [distance, 0.0]];
        let mut plan = Sum::new(Kernel::Harmonic, &points).method(method).plan().unwrap();
        let field = plan.evaluate(&[strength, strength])?;
        Ok::<_, Error>(field.get(Output::Potential).unwrap().to_vec())
    };
    for method in [Method::Auto, Method::Fmm, Method::Direct] {
        for strength in [1.0, 0.5 * f64::MAX] {
            let values = result(1.0, strength, method).unwrap();
            for (value, want) in values.iter().zip([1.0, 0.0, -1.0, 0.0]) {
                assert!((value / strength - want).abs() < 1e-12, "{method}: {values:?}");
            }
        }
        let error = result(0.25, 0.5 * f64::MAX, method).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Overflow {
                    output: "potential",
                    ..
                }
            ),
            "{method}: {error}"
        );
    }
}

#[test]
fn nothing_to_sum_is_not_an_error() {
    let points = [[0.5, 0.5], [0.25, 0.5]];
    let empty: [[f64; 2]; 0] = [];
    for kernel in Kernel::ALL {
        for method in [Method::Auto, Method::Fmm, Method::Direct] {
            let field = Sum::new(kernel, &points)
                .targets(&empty)
                .method(method)
                .plan()
                .unwrap()
                .evaluate(&[1.0, 2.0])
                .unwrap();
            assert!(field.get(Output::Potential).unwrap().is_empty());
            let field = Sum::new(kernel, &empty)
                .targets(&points)
                .method(method)
                .plan()
                .unwrap()
                .evaluate(&[])
                .unwrap();
            assert!(field.get(Output::Potential).unwrap().iter().all(|x| *x == 0.0));
            let mut plan = Sum::new(kernel, &points[..1]).method(method).plan().unwrap();
            assert!(
                plan.evaluate(&[3.0])
                    .unwrap()
                    .get(Output::Potential)
                    .unwrap()
                    .iter()
                    .all(|x| *x == 0.0)
            );
        }
    }
}

#[test]
fn zero_strengths_give_zero() {
    let points = PlaneSet::Square.generate::<f64>(5000, 15);
    let field = Sum::new(Kernel::Harmonic, &points)
        .method(Method::Fmm)
        .plan()
        .unwrap()
        .evaluate(&vec![0.0; 5000])
        .unwrap();
    assert!(field.get(Output::Potential).unwrap().iter().all(|x| *x == 0.0));
}
