//! Points and strengths with structure: lattices, waves, single huge strengths, graded quadratures, duplicates. Errors
//! are measured at *all* targets against an independent sum in twice the precision, and none may exceed its tolerance
//! without a warning.

use crate::doubled;
use crate::doubled::{Exact, Problem};
use farfield::Precision;
use farfield::kernel::{Core, Kernel, Output, Sizes};
use farfield::points::Random;
use farfield::points::structured::{self, Structured, cube, spiral};
use farfield::{Method, Sum};

fn rounded<T: Precision>(values: &[f64]) -> Vec<T> {
    values.iter().map(|value| T::from_f64(*value)).collect()
}

/// Sums, and compares at all targets.
fn check<T: Precision>(problem: &Problem, exact: &Exact, tolerance: f64, method: Method, failures: &mut Vec<String>) {
    let points: Vec<[T; 3]> = problem.points.iter().map(|p| p.map(T::from_f64)).collect();
    let strengths: Vec<T> = rounded(&problem.strengths);
    let mut plan = Sum::new(problem.kernel, &points)
        .outputs(&problem.outputs)
        .sizes(
            problem
                .size
                .map_or(Sizes::None, |size| Sizes::Global(T::from_f64(size))),
        )
        .allow_unbounded_gradient()
        .tolerance(tolerance)
        .method(method)
        .plan()
        .unwrap();
    let field = plan.evaluate(&strengths).unwrap();
    let found = field.check().unwrap();
    for output in &problem.outputs {
        let error = exact.error(*output, field.get(*output).unwrap(), T::EPSILON);
        let measured = found.outputs.iter().find(|m| m.output == output.name()).unwrap();
        let warned = field
            .warnings()
            .iter()
            .any(|warning| format!("{warning}").starts_with(output.name()));
        if std::env::var_os("FARFIELD_STRUCTURED").is_some() {
            println!(
                "{:9} {:28} {} {tolerance:e} {method} -> {} {}x {output}: {:.2} of it, measured {:.2} (up to {:.2}) rounding {:.1e}{}",
                problem.kernel.name(),
                problem.name,
                T::NAME,
                plan.parameters().method,
                found.attempts,
                error / tolerance,
                measured.relative_l2 / tolerance,
                measured.upper / tolerance,
                measured.rounding,
                if warned { " WARNED" } else { "" },
            );
        }
        if error > tolerance && !warned {
            failures.push(format!(
                "{} of {}, {}, {method}, {tolerance:e}: {output} is {:.2} times its tolerance, measured {:.2}",
                problem.kernel,
                problem.name,
                T::NAME,
                error / tolerance,
                measured.relative_l2 / tolerance
            ));
        }
    }
}

/// Tests the first output, the first two, and so on, over the range of tolerances.
fn sweep(problem: &Problem, failures: &mut Vec<String>) {
    let exact = Exact::of(problem);
    let subsets = |problem: &Problem| -> Vec<Problem> {
        let first = |count: usize| Problem {
            outputs: problem.outputs[..count].to_vec(),
            ..problem.clone()
        };
        (1..=problem.outputs.len()).map(first).collect()
    };
    for problem in subsets(problem) {
        for tolerance in [1e-2, 1e-4, 1e-6, 1e-9, 1e-12] {
            check::<f64>(&problem, &exact, tolerance, Method::Fmm, failures);
        }
        check::<f64>(&problem, &exact, 1e-6, Method::Auto, failures);
        check::<f64>(&problem, &exact, 1e-3, Method::Treecode, failures);
        check::<f64>(&problem, &exact, 1e-8, Method::Treecode, failures);
    }
    let single = problem.in_single();
    let exact = Exact::of(&single);
    for problem in subsets(&single) {
        for tolerance in [1e-2, 1e-3, 1e-5] {
            check::<f32>(&problem, &exact, tolerance, Method::Fmm, failures);
        }
    }
}

#[track_caller]
fn none(failures: Vec<String>) {
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn potential_gradient_and_hessian_of_structured_charges() {
    let mut failures = Vec::new();
    for Structured { name, points, charges } in structured::in_space(3000, 14) {
        // The Hessian of a few sets is enough.
        let most = if name.starts_with("heavy") || name.starts_with("graded") {
            3
        } else {
            2
        };
        let problem = Problem {
            name,
            kernel: Kernel::Coulomb,
            points,
            strengths: charges,
            outputs: [Output::Potential, Output::Gradient, Output::Hessian][..most].to_vec(),
            size: None,
        };
        sweep(&problem, &mut failures);
    }
    none(failures);
}

#[test]
fn velocities_of_structured_vortices() {
    let mut failures = Vec::new();
    for Structured { name, points, charges } in structured::in_space(3000, 14) {
        let strengths = charges.iter().flat_map(|q| [0.3 * q, -0.5 * q, *q]).collect();
        let problem = Problem {
            name,
            kernel: Kernel::BiotSavart { core: Core::Singular },
            points,
            strengths,
            outputs: vec![Output::Velocity],
            size: None,
        };
        sweep(&problem, &mut failures);
    }
    none(failures);
}

/// 2,000 and 1,500 points that coincide, and 1,500 others.
#[test]
fn coincident_softened_points() {
    let mut points = vec![[0.25; 3]; 2000];
    points.extend(vec![[0.75, 0.5, 0.25]; 1500]);
    points.extend(cube(1500, 4));
    let mut random = Random::new(5);
    let signed: Vec<f64> = (0..3 * points.len()).map(|_| random.normal()).collect();
    let masses: Vec<f64> = (0..points.len()).map(|_| random.uniform()).collect();
    let mut failures = Vec::new();
    let velocity = [Output::Velocity, Output::VelocityGradient];
    let biot_savart = |core| Kernel::BiotSavart { core };
    for (kernel, outputs, sizes) in [
        (
            Kernel::gravity(1.0),
            &[Output::Potential, Output::Acceleration],
            [1e-6, 1e-2],
        ),
        (biot_savart(Core::WinckelmansLeonard), &velocity, [1e-3, 1e-2]),
        (biot_savart(Core::Gaussian), &velocity, [1e-3, 1e-2]),
        (biot_savart(Core::HuPolynomial), &velocity, [1e-3, 1e-2]),
    ] {
        for size in sizes {
            let strengths = if kernel.strength_components() == 1 {
                &masses
            } else {
                &signed
            };
            let problem = Problem {
                name: "coincident",
                kernel,
                points: points.clone(),
                strengths: strengths.clone(),
                outputs: outputs.to_vec(),
                size: Some(size),
            };
            let exact = Exact::of(&problem);
            for tolerance in [1e-2, 1e-6, 1e-9] {
                for method in [Method::Fmm, Method::Auto] {
                    check::<f64>(&problem, &exact, tolerance, method, &mut failures);
                }
            }
            let single = problem.in_single();
            let exact = Exact::of(&single);
            check::<f32>(&single, &exact, 1e-4, Method::Fmm, &mut failures);
        }
    }
    none(failures);
}

/// A million charges of 0.1 at one point act on a thousand others like one of 100,000.
#[test]
fn strengths_of_coincident_points_are_added_without_loss() {
    let n = 1_000_000;
    let others = cube(1000, 1);
    let points: Vec<[f32; 3]> = (0..n)
        .map(|_| [0.5; 3])
        .chain(others.iter().map(|p| p.map(|c| c as f32)))
        .collect();
    let charges = vec![0.1f32; points.len()];
    let mut plan = Sum::new(Kernel::Coulomb, &points)
        .tolerance(1e-5)
        .method(Method::Fmm)
        .plan()
        .unwrap();
    let field = plan.evaluate(&charges).unwrap();
    let potential = field.get(Output::Potential).unwrap();
    let mut worst: f64 = 0.0;
    for (k, p) in points[n..].iter().enumerate().step_by(37) {
        let x = p.map(f64::from);
        let mut truth = 0.0;
        for (j, q) in points[n - 1..].iter().enumerate() {
            let d: f64 = (0..3).map(|a| (x[a] - f64::from(q[a])).powi(2)).sum();
            let charge = f64::from(0.1f32) * if j == 0 { n as f64 } else { 1.0 };
            if d > 0.0 {
                truth += charge / d.sqrt();
            }
        }
        worst = worst.max((f64::from(potential[n + k]) / truth - 1.0).abs());
    }
    assert!(worst < 1e-5, "{worst:e}");
}

/// The gradient inside a charged sphere is only round-off: the field warns of it.
#[test]
fn results_of_cancellation_are_warned_of() {
    let n = 3000;
    let sources = spiral(n, 1.0);
    // At inner targets the sum of antipodal pairs cancels almost exactly.
    let sources: Vec<[f64; 3]> = sources.iter().flat_map(|p| [*p, p.map(|c| -c)]).collect();
    let targets: Vec<[f64; 3]> = vec![[0.0; 3], [1e-17, 0.0, 0.0], [0.0, -1e-17, 1e-18]];
    let charges = vec![1.0; sources.len()];
    for method in [Method::Fmm, Method::Direct] {
        let mut plan = Sum::new(Kernel::Coulomb, &sources)
            .targets(&targets)
            .outputs(&[Output::Gradient])
            .tolerance(1e-6)
            .method(method)
            .plan()
            .unwrap();
        let field = plan.evaluate(&charges).unwrap();
        let exact: f64 = field
            .get(Output::Gradient)
            .unwrap()
            .iter()
            .map(|g| g.abs())
            .fold(0.0, f64::max);
        let error = field.check().unwrap().outputs[0];
        assert!(exact < 1e-8, "{exact:e}");
        assert!(
            error.relative_l2 <= 1e-6 || !field.warnings().is_empty(),
            "{method}: {error:?} {:?}",
            field.warnings()
        );
    }
}

#[test]
fn structured_strengths_in_the_plane() {
    use farfield::plane;
    let mut failures = Vec::new();
    for set in structured::in_plane(3000, 54) {
        let Structured {
            name,
            points,
            charges: strengths,
        } = set;
        for kernel in plane::Kernel::ALL {
            let exact = doubled::plane_sums(kernel, &points, &strengths);
            for outputs in [&plane::Output::ALL[..1], &plane::Output::ALL[..]] {
                for tolerance in [1e-2, 1e-3, 1e-6, 1e-9, 1e-12] {
                    for method in [Method::Fmm, Method::Auto] {
                        let sum = plane::Sum::new(kernel, &points).outputs(outputs).tolerance(tolerance);
                        let mut plan = sum.method(method).plan().unwrap();
                        let field = plan.evaluate(&strengths).unwrap();
                        for output in outputs {
                            let error = exact.error(*output, field.get(*output).unwrap());
                            let warned = field
                                .warnings()
                                .iter()
                                .any(|w| format!("{w}").starts_with(output.name()));
                            let check = field.check().unwrap();
                            let measured = check.outputs.iter().find(|m| m.output == output.name()).unwrap();
                            let line = format!(
                                "{kernel} of {name}, {tolerance:e}, {method}, {} times: {output} is {:.2} of its tolerance, \
                                 measured {:.2} (up to {:.2})",
                                check.attempts,
                                error / tolerance,
                                measured.relative_l2 / tolerance,
                                measured.upper / tolerance
                            );
                            if std::env::var_os("FARFIELD_STRUCTURED").is_some() {
                                println!("{line}{}", if warned { " WARNED" } else { "" });
                            }
                            if error > tolerance && !warned {
                                failures.push(line);
                            }
                        }
                    }
                }
            }
        }
    }
    none(failures);
}
