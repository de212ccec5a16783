//! Points and strengths with structure: lattices, waves, giants, graded quadratures, duplicates. Errors are measured at
//! *all* targets against an independent sum in twice the precision, and none may exceed its tolerance without a warning.

mod doubled;

use doubled::{Exact, Problem};
use farfield::Precision;
use farfield::kernel::{Core, Kernel, Output, Sizes};
use farfield::points::Random;
use farfield::{Method, Sum};

const PI: f64 = std::f64::consts::PI;

type Points = Vec<[f64; 3]>;

/// A named set of points with strengths.
struct Set {
    name: &'static str,
    points: Points,
    charges: Vec<f64>,
}

fn set(name: &'static str, points: Points, charges: Vec<f64>) -> Set {
    assert_eq!(points.len(), charges.len());
    Set { name, points, charges }
}

fn direction(random: &mut Random) -> [f64; 3] {
    let z = 2.0 * random.uniform() - 1.0;
    let (sin, cos) = (2.0 * PI * random.uniform()).sin_cos();
    let r = (1.0 - z * z).sqrt();
    [r * cos, r * sin, z]
}

fn cube(n: usize, seed: u64) -> Points {
    let mut random = Random::new(seed);
    (0..n).map(|_| std::array::from_fn(|_| random.uniform())).collect()
}

/// Radii spread evenly in their logarithm over so many decades.
fn graded(n: usize, decades: f64) -> (Points, Vec<f64>) {
    let mut random = Random::new(3);
    (0..n)
        .map(|_| {
            let r = 10f64.powf(-decades * random.uniform());
            (direction(&mut random).map(|c| r * c), r.powi(3))
        })
        .unzip()
}

fn lattice(side: usize, charge: impl Fn([usize; 3]) -> f64) -> (Points, Vec<f64>) {
    let (mut points, mut charges) = (Vec::new(), Vec::new());
    for i in 0..side {
        for j in 0..side {
            for k in 0..side {
                points.push([i as f64, j as f64, k as f64]);
                charges.push(charge([i, j, k]));
            }
        }
    }
    (points, charges)
}

/// A spiral of points spread evenly on a sphere.
fn spiral(n: usize, radius: f64) -> Points {
    (0..n)
        .map(|k| {
            let z = 1.0 - (2 * k + 1) as f64 / n as f64;
            let (sin, cos) = (k as f64 * PI * (3.0 - 5f64.sqrt())).sin_cos();
            let r = (1.0 - z * z).sqrt();
            [radius * r * cos, radius * r * sin, radius * z]
        })
        .collect()
}

fn waves(points: &[[f64; 3]], k: f64) -> Vec<f64> {
    points.iter().map(|p| (k * p[0]).sin()).collect()
}

/// What the tolerance was seen to fail for, and relatives.
fn sets() -> Vec<Set> {
    let n = 3000;
    let mut random = Random::new(9);
    let mut sets = Vec::new();
    for decades in [2.0, 6.0] {
        let (points, charges) = graded(n, decades);
        sets.push(set("graded quadrature", points, charges));
    }
    let (mut points, _) = graded(n, 3.0);
    let mut masses = vec![1.0; n];
    for (point, mass) in points.iter_mut().zip(&mut masses) {
        let r = point.iter().map(|c| c * c).sum::<f64>().sqrt();
        *mass = 8f64.powf((8.0 * (r.log10() + 3.0) / 3.0).floor());
    }
    sets.push(set("zoom simulation", points, masses));
    let centre = cube(n / 2, 1).into_iter().map(|p| p.map(|c| 0.01 * (c - 0.5)));
    let shell = spiral(n / 2, 1.0);
    let charges = (0..n).map(|k| if k < n / 2 { 1e3 } else { 1e-3 }).collect();
    sets.push(set("heavy centre, light shell", centre.chain(shell).collect(), charges));
    let mut charges = vec![1.0; n];
    charges[17] = 1e6;
    let mut points = cube(n, 2);
    points[17] = [0.5; 3];
    sets.push(set("one giant in a corner", points, charges));
    let belt = (1..n).map(|_| {
        let (sin, cos) = (2.0 * PI * random.uniform()).sin_cos();
        let r = 1.0 + 0.2 * random.uniform();
        [r * cos, r * sin, 0.02 * random.normal()]
    });
    let points: Points = std::iter::once([0.0; 3]).chain(belt).collect();
    let masses = (0..n).map(|k| if k == 0 { 1.0 } else { 1e-9 }).collect();
    sets.push(set("a sun and its belt", points, masses));
    let (points, charges) = lattice(14, |[i, j, k]| if (i + j + k).is_multiple_of(2) { 1.0 } else { -1.0 });
    sets.push(set("rock salt", points, charges));
    let signs: Vec<f64> = (0..14 * 14 * 14)
        .map(|_| if random.uniform() < 0.5 { 1.0 } else { -1.0 })
        .collect();
    let (points, charges) = lattice(14, |[i, j, k]| signs[(i * 14 + j) * 14 + k]);
    sets.push(set("lattice with random signs", points, charges));
    let points = spiral(n, 1.0);
    let charges = waves(&points, 5.0);
    sets.push(set("waves on a spiral", points, charges));
    let points: Points = (1..=4).flat_map(|k| spiral(n / 4, f64::from(k))).collect();
    let charges = waves(&points, 2.0);
    sets.push(set("waves on nested shells", points, charges));
    let needle = cube(n, 5)
        .into_iter()
        .map(|p| [p[0], 1e-3 * p[1], 1e-3 * p[2]])
        .collect();
    sets.push(set("needle", needle, vec![1.0; n]));
    let apart = |far: f64| -> Points {
        let shift = |(k, p): (usize, [f64; 3])| {
            if k.is_multiple_of(2) {
                p
            } else {
                [p[0] + far, p[1], p[2]]
            }
        };
        cube(n, 6).into_iter().enumerate().map(shift).collect()
    };
    sets.push(set("two cubes far apart", apart(1e8), vec![1.0; n]));
    for (name, offset, width) in [
        ("cube + 1e6", 1e6, 1.0),
        ("cube + 1e8", 1e8, 1.0),
        ("cube of 1e-12 at 0.7", 0.7, 1e-12),
    ] {
        let points = cube(n, 7).into_iter().map(|p| p.map(|c| offset + width * c)).collect();
        let charges = (0..n).map(|_| random.normal()).collect();
        sets.push(set(name, points, charges));
    }
    let points = cube(n, 8);
    let charges = points
        .iter()
        .map(|p| (20.0 * p[0]).sin() * (15.0 * p[1]).cos() * p[2])
        .collect();
    sets.push(set("a smooth wave in a cube", points, charges));
    let points = cube(n, 9);
    let charges = (0..n).map(|_| random.normal().powi(9)).collect();
    sets.push(set("strengths with heavy tails", points, charges));
    let dipoles = cube(n / 2, 10)
        .into_iter()
        .flat_map(|p| [p, [p[0] + 1e-5, p[1], p[2]]])
        .collect();
    let charges = (0..n)
        .map(|k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 })
        .collect();
    sets.push(set("dipoles", dipoles, charges));
    sets
}

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

/// Asks for the first output, for the first two, and so on, over the range of tolerances.
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
    for Set { name, points, charges } in sets() {
        let outputs: &[&[Output]] = &[
            &[Output::Potential],
            &[Output::Potential, Output::Gradient],
            &[Output::Potential, Output::Gradient, Output::Hessian],
        ];
        // The Hessian of a few is enough.
        let most = if name.starts_with("heavy") || name.starts_with("graded") {
            3
        } else {
            2
        };
        for outputs in &outputs[..most] {
            let problem = Problem {
                name,
                kernel: Kernel::Coulomb,
                points: points.clone(),
                strengths: charges.clone(),
                outputs: outputs.to_vec(),
                size: None,
            };
            sweep(&problem, &mut failures);
        }
    }
    none(failures);
}

#[test]
fn velocities_of_structured_vortices() {
    let mut failures = Vec::new();
    for Set { name, points, charges } in sets() {
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

/// A million charges of 0.1 at one place act on a thousand others like one of 100,000.
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

/// The gradient inside of a charged sphere is what rounding leaves: the field says so.
#[test]
fn what_cancellation_leaves_is_said() {
    let n = 3000;
    let sources = spiral(n, 1.0);
    // An inner shell at which the sum of antipodal pairs cancels all but exactly.
    let sources: Points = sources.iter().flat_map(|p| [*p, p.map(|c| -c)]).collect();
    let targets: Points = vec![[0.0; 3], [1e-17, 0.0, 0.0], [0.0, -1e-17, 1e-18]];
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

/// Points of the plane with strengths.
/// A name, points and strengths.
type PlaneInput = (&'static str, Vec<[f64; 2]>, Vec<f64>);

fn plane_sets() -> Vec<PlaneInput> {
    let n = 3000;
    let mut random = Random::new(2);
    let mut sets = Vec::new();
    let at = |r: f64, turn: f64| [r * (2.0 * PI * turn).cos(), r * (2.0 * PI * turn).sin()];
    let annulus = (1..n).map(|_| at(1.0 + 0.3 * random.uniform(), random.uniform()));
    let points: Vec<[f64; 2]> = std::iter::once([0.0; 2]).chain(annulus).collect();
    let strengths = (0..n).map(|k| if k == 0 { 1e4 } else { 1.0 }).collect();
    sets.push(("annulus with a strong centre", points, strengths));
    let roots = (0..n).map(|k| at(1.0, k as f64 / n as f64)).collect();
    let strengths = (0..n)
        .map(|k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 })
        .collect();
    sets.push(("roots of unity, alternating", roots, strengths));
    let graded: Vec<f64> = (0..n).map(|_| 10f64.powf(-6.0 * random.uniform())).collect();
    let points = graded.iter().map(|r| at(*r, random.uniform())).collect();
    sets.push(("graded quadrature", points, graded.iter().map(|r| r * r).collect()));
    let grid = |k: usize| [(k / 54) as f64, (k % 54) as f64];
    let strengths = (0..2916)
        .map(|k: usize| if (k / 54 + k % 54).is_multiple_of(2) { 1.0 } else { -1.0 })
        .collect();
    sets.push(("checkerboard", (0..2916).map(grid).collect(), strengths));
    let points: Vec<[f64; 2]> = (0..n)
        .map(|_| [1e6 + random.uniform(), 1e6 + random.uniform()])
        .collect();
    sets.push(("square + 1e6", points, (0..n).map(|_| random.normal()).collect()));
    let points: Vec<[f64; 2]> = (0..n).map(|_| [random.uniform(), random.uniform()]).collect();
    let waves = points
        .iter()
        .map(|z| (20.0 * z[0]).sin() * (11.0 * z[1]).cos())
        .collect();
    sets.push(("a smooth wave", points, waves));
    sets
}

#[test]
fn structured_strengths_in_the_plane() {
    use farfield::plane;
    let mut failures = Vec::new();
    for (name, points, strengths) in plane_sets() {
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
