//! Sums in the plane: the tolerance is met, results do not depend on threads, invalid input is reported.

use farfield::Precision;
use farfield::kernel::Sizes;
use farfield::plane::{Core, Field, Kernel, Output, PlaneSet, Sum};
use farfield::points::{ChargeDistribution, Random};
use farfield::simd::SimdLevel;
use farfield::{Error, Method};

/// The points, strengths and kernel of a sum. The caller chooses the method.
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
        let mut worst: f64 = 0.0;
        for error in self.sum().verify(self.strengths, field, 60, 5).unwrap() {
            assert!(
                error.relative_l2 <= self.tolerance,
                "{} {} {what}: {} is {:e}, tolerance {:e}",
                self.kernel,
                T::NAME,
                error.output,
                error.relative_l2,
                self.tolerance
            );
            assert!(
                error
                    .maximum
                    .is_some_and(|maximum| maximum >= 0.0 && maximum.is_finite())
            );
            worst = worst.max(error.relative_l2 / self.tolerance);
        }
        worst
    }
}

/// The potential with its derivative, and with both derivatives: each set has its own pair loops.
const BOTH: &[Output] = &[Output::Potential, Output::Derivative];
const ALL: &[Output] = &Output::ALL;

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
                for outputs in [BOTH, ALL] {
                    case.worst(&format!("n = {n}, {method}"), |sum| sum.method(method).outputs(outputs));
                }
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
                for outputs in [BOTH, ALL] {
                    case.worst(&what, |sum| sum.method(method).outputs(outputs).vectors(vectors));
                }
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
        for tolerance in [1e-3, 1e-6, 1e-9, 1e-12] {
            let mut case = Case::new(kernel, &sources, &strengths, tolerance);
            case.targets = Some(&targets);
            case.worst("far", |sum| sum.method(Method::Fmm).outputs(ALL));
        }
    }
}

#[test]
fn cores_act_as_far_as_they_reach() {
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
                        case.worst(&format!("{core} {method}"), |sum| {
                            sum.method(method).outputs(kernel.outputs(core)).check_errors(false)
                        });
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
        case.worst(core.name(), |sum| sum.method(Method::Fmm).outputs(BOTH));
    }
}

/// 256 leaves of 50 points: within a group, each pair of leaves is summed once for both.
#[test]
fn pairs_summed_once_count_for_both_points() {
    fn check<T: Precision>(tolerance: f64) {
        let n = 13_000;
        let sources = PlaneSet::Normal.generate::<T>(n, 3);
        let strengths = ChargeDistribution::Signed.generate::<T>(n, 4);
        for kernel in [Kernel::Harmonic, Kernel::Log] {
            for core in [Core::Singular, Core::Gaussian, Core::Algebraic] {
                let known = kernel.outputs(core);
                for outputs in (1..=known.len()).map(|count| &known[..count]) {
                    let mut case = Case::new(kernel, &sources, &strengths, tolerance);
                    case.core = core;
                    if core != Core::Singular {
                        // The core size is that of the smallest leaves.
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
            case.worst(what, |sum| sum.method(Method::Fmm).outputs(ALL));
            let mut case = Case::new(Kernel::Log, points, &strengths, 1e-5);
            (case.core, case.sizes) = (Core::Algebraic, Sizes::Global(1e-6));
            case.worst(what, |sum| sum.outputs(BOTH));
        }
    }
}

#[test]
fn an_extreme_cluster_stays_right() {
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
    // Errors are squared, so outputs with the cube of the distance allow a smaller range.
    for (outputs, scales) in [(&ALL[..1], [1e-100, 1e-9, 1e9, 1e100]), (ALL, [1e-40, 1e-9, 1e9, 1e40])] {
        for scale in scales {
            let points: Vec<[f64; 2]> = unit.iter().map(|p| p.map(|c| c * scale)).collect();
            Case::new(Kernel::Harmonic, &points, &strengths, 1e-10)
                .worst(&format!("{scale:e}"), |sum| sum.method(Method::Fmm).outputs(outputs));
        }
    }
}

type Complex = (f64, f64);

fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// The outputs of a kernel at a target by definition, without the source at its own position.
fn defined(kernel: Kernel, sources: &[[f64; 2]], strengths: &[Complex], z: [f64; 2]) -> [Complex; 3] {
    let mut sums = [(0.0, 0.0); 3];
    for (source, strength) in sources.iter().zip(strengths) {
        let d = (z[0] - source[0], z[1] - source[1]);
        let r2 = d.0 * d.0 + d.1 * d.1;
        if r2 == 0.0 {
            continue;
        }
        // 1/(z_i - z_j)
        let w = (d.0 / r2, -d.1 / r2);
        let (square, minus) = (times(w, w), (-1.0, 0.0));
        let terms = match kernel {
            Kernel::Harmonic => [times(minus, w), square, times((-2.0, 0.0), times(square, w))],
            Kernel::Log => [(0.5 * r2.ln(), 0.0), w, times(minus, square)],
        };
        for (sum, term) in sums.iter_mut().zip(terms) {
            let term = times(*strength, term);
            *sum = (sum.0 + term.0, sum.1 + term.1);
        }
    }
    sums
}

#[test]
fn every_output_equals_its_definition_at_every_target() {
    fn check<T: Precision>(tolerances: &[f64]) {
        let (n, m) = (1500, 400);
        let points = PlaneSet::Layer.generate::<T>(n, 16);
        let others = PlaneSet::Normal.generate::<T>(m, 17);
        let numbers = ChargeDistribution::Signed.generate::<T>(2 * n, 18);
        let wide = |points: &[[T; 2]]| points.iter().map(|p| p.map(|c| c.to_f64())).collect::<Vec<_>>();
        for (kernel, complex) in Kernel::ALL
            .into_iter()
            .flat_map(|kernel| [(kernel, false), (kernel, true)])
        {
            let strengths = &numbers[..n * (1 + usize::from(complex))];
            let as_complex: Vec<Complex> = match complex {
                true => strengths.chunks(2).map(|c| (c[0].to_f64(), c[1].to_f64())).collect(),
                false => strengths.iter().map(|re| (re.to_f64(), 0.0)).collect(),
            };
            for targets in [None, Some(&others[..])] {
                let at = wide(targets.unwrap_or(&points));
                let truth: Vec<_> = at
                    .iter()
                    .map(|z| defined(kernel, &wide(&points), &as_complex, *z))
                    .collect();
                for level in SimdLevel::available() {
                    for (method, tolerance) in [Method::Fmm, Method::Direct]
                        .into_iter()
                        .flat_map(|method| tolerances.iter().map(move |tolerance| (method, *tolerance)))
                    {
                        let mut case = Case::new(kernel, &points, strengths, tolerance);
                        case.targets = targets;
                        let sum = case.sum().method(method).simd(level).outputs(ALL).check_errors(false);
                        let field = sum.plan().unwrap().evaluate(strengths).unwrap();
                        for output in Output::ALL {
                            let components = output.components(kernel, complex);
                            let (mut difference, mut norm) = (0.0, 0.0);
                            for (value, truth) in field.get(output).unwrap().chunks(components).zip(&truth) {
                                let truth = truth[output.derivatives()];
                                for (value, truth) in value.iter().zip([truth.0, truth.1]) {
                                    difference += (value.to_f64() - truth).powi(2);
                                    norm += truth * truth;
                                }
                            }
                            let error = (difference / norm).sqrt();
                            assert!(
                                error <= tolerance,
                                "{kernel} {} {level} {method}, complex: {complex}, own targets: {}: {output} is {error:e}, tolerance {tolerance:e}",
                                T::NAME,
                                targets.is_none()
                            );
                        }
                    }
                }
            }
        }
    }
    check::<f64>(&[1e-3, 1e-7, 1e-12]);
    check::<f32>(&[1e-2, 1e-5]);
}

#[test]
fn each_derivative_is_the_slope_of_the_one_before() {
    // No source is near, so the error of these differences is of fourth order in the step.
    let (n, m, step) = (200, 40, 1e-3);
    let sources = PlaneSet::Circle.generate::<f64>(n, 19);
    let strengths = ChargeDistribution::Signed.generate::<f64>(2 * n, 19);
    let targets: Vec<[f64; 2]> = PlaneSet::Square
        .generate::<f64>(m, 20)
        .iter()
        .map(|p| p.map(|c| 0.4 + 0.2 * c))
        .collect();
    for kernel in Kernel::ALL {
        let outputs = |shift: Complex| {
            let moved: Vec<[f64; 2]> = targets.iter().map(|z| [z[0] + shift.0, z[1] + shift.1]).collect();
            let sum = Sum::new(kernel, &sources).targets(&moved).complex().outputs(ALL);
            sum.tolerance(1e-12).plan().unwrap().evaluate(&strengths).unwrap()
        };
        // Along x and along y; 1/i = -i.
        for (direction, inverse) in [((1.0, 0.0), (1.0, 0.0)), ((0.0, 1.0), (0.0, -1.0))] {
            let at = |steps: f64| outputs((steps * step * direction.0, steps * step * direction.1));
            let fields = [at(-2.0), at(-1.0), at(1.0), at(2.0)];
            let here = at(0.0);
            // The logarithm's potential is not analytic: its derivative is half of (the one along x minus i times the
            // one along y).
            let first = if kernel == Kernel::Log { 1 } else { 0 };
            for pair in Output::ALL[first..].windows(2) {
                let of = |field: &Field<f64>, k: usize| {
                    let values = field.get(pair[0]).unwrap();
                    (values[2 * k], values[2 * k + 1])
                };
                let (mut difference, mut norm) = (0.0, 0.0);
                for k in 0..m {
                    let mut slope = (0.0, 0.0);
                    for (field, weight) in fields.iter().zip([1.0, -8.0, 8.0, -1.0]) {
                        let term = times((weight / (12.0 * step), 0.0), times(inverse, of(field, k)));
                        slope = (slope.0 + term.0, slope.1 + term.1);
                    }
                    let value = &here.get(pair[1]).unwrap()[2 * k..2 * k + 2];
                    difference += (value[0] - slope.0).powi(2) + (value[1] - slope.1).powi(2);
                    norm += value[0].powi(2) + value[1].powi(2);
                }
                let error = (difference / norm).sqrt();
                assert!(
                    error < 1e-7,
                    "{kernel}: {} along {direction:?} is off by {error:e}",
                    pair[1]
                );
            }
        }
    }
}

fn evaluate<T: Precision>(threads: usize, kernel: Kernel, method: Method, level: SimdLevel) -> Field<T> {
    // Leaves of 50 points: the harmonic kernel sums each pair of leaves once for both.
    let n = 13_000;
    let points = PlaneSet::Layer.generate::<T>(n, 12);
    let targets = PlaneSet::Square.generate::<T>(2000, 13);
    let strengths = ChargeDistribution::Signed.generate::<T>(n, 12);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut sum = Sum::new(kernel, &points)
            .outputs(ALL)
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
            let sum = Sum::new(Kernel::Log, &points).outputs(ALL).method(method);
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
            for output in Output::ALL {
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
    let mut plan = Sum::new(Kernel::Log, &points).outputs(BOTH).plan().unwrap();
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
fn invalid_input_is_named() {
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
    for kernel in Kernel::ALL {
        for core in [Core::Gaussian, Core::Algebraic] {
            for output in Output::ALL {
                let sum = Sum::new(kernel, &points)
                    .core(core, Sizes::Global(0.1))
                    .outputs(&[output]);
                if kernel.outputs(core).contains(&output) {
                    assert!(sum.plan().is_ok(), "{kernel} {core} {output}");
                    continue;
                }
                let error = sum.plan().unwrap_err();
                assert!(matches!(error, Error::NotAnalytic { .. }), "{error}");
                let text = error.to_string();
                for name in [kernel.name(), core.name(), output.name(), "it has: potential"] {
                    assert!(text.contains(name), "{text}");
                }
            }
        }
    }
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
    // The cube of this distance overflows.
    let large = [[0.0, 0.0], [1e110, 0.0]];
    let sum = |outputs: &[Output]| Sum::new(Kernel::Harmonic, &large).outputs(outputs).plan();
    assert!(sum(BOTH).is_ok());
    assert!(matches!(sum(ALL), Err(Error::Extent { extent: 1e110, .. })));
}

#[test]
fn the_largest_results_are_right_and_larger_ones_are_an_overflow() {
    // gamma / (z_j - z_i): a distance of one gives the strength itself, a distance of a quarter four times it.
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
fn an_empty_sum_is_not_an_error() {
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
