//! Sums over ranks against the direct sum over all points, every kernel and many point sets. Ranks are threads here; `run-tests` does
//! the same between processes.

use farfield::kernel::{Core, Kernel, Output, Sizes, Softening};
use farfield::plane;
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Method, Options, Precision};
use farfield_mpi::{Communicator, Plane, Points, Problem, Space, Sum, Threads};

/// What is summed, on all ranks together.
struct Input<T, const D: usize> {
    sources: Vec<[T; D]>,
    targets: Option<Vec<[T; D]>>,
    sizes: Sizes<T>,
    strengths: Vec<T>,
    vectors: usize,
}

impl<T: Precision, const D: usize> Input<T, D> {
    /// Points that are sources and targets, with normal strengths.
    fn new<P: Problem<D>>(problem: &P, sources: Vec<[T; D]>) -> Self {
        let count = sources.len() * problem.carried().of_source();
        Self {
            sources,
            targets: None,
            sizes: Sizes::None,
            strengths: ChargeDistribution::Signed.generate(count, 5),
            vectors: 1,
        }
    }
}

/// How points are dealt to ranks: which rank has point k of n.
type Deal = fn(k: usize, n: usize, ranks: usize) -> usize;

/// In turns, so that no rank has a piece of its own.
const TURNS: Deal = |k, _, ranks| k % ranks;
/// All on the last rank.
const ONE: Deal = |_, _, ranks| ranks - 1;
/// In pieces, the first rank none.
const PIECES: Deal = |k, n, ranks| (1 + k * (ranks - 1).max(1) / n.max(1)).min(ranks - 1);

fn picked<V: Copy>(values: &[V], width: usize, indices: &[usize]) -> Vec<V> {
    indices
        .iter()
        .flat_map(|k| values[k * width..(k + 1) * width].to_vec())
        .collect()
}

/// The results of a sum over ranks, output by output, in the order of all points.
fn over_ranks<P: Problem<D>, T: Precision, const D: usize>(
    ranks: usize,
    deal: Deal,
    sum: &Sum<P>,
    problem: &P,
    input: &Input<T, D>,
    evaluations: usize,
) -> Vec<Vec<T>> {
    let n = input.sources.len();
    let m = input.targets.as_ref().map_or(n, Vec::len);
    let width = problem.carried().of_source();
    let fields = Threads::run(ranks, |comm| {
        let mine = |n: usize| -> Vec<usize> { (0..n).filter(|k| deal(*k, n, ranks) == comm.rank()).collect() };
        let (sources, targets) = (mine(n), mine(m));
        let own = picked(&input.sources, 1, &sources);
        let own_targets = input.targets.as_ref().map(|all| picked(all, 1, &targets));
        let sizes = match &input.sizes {
            Sizes::PerSource(all) => Sizes::PerSource(picked(all, 1, &sources)),
            other => other.clone(),
        };
        let strengths: Vec<T> = (0..input.vectors)
            .flat_map(|v| picked(&input.strengths[v * n * width..(v + 1) * n * width], width, &sources))
            .collect();
        let mut points = Points::new(&own).sizes(sizes);
        if let Some(own_targets) = &own_targets {
            points = points.targets(own_targets);
        }
        let mut plan = sum.clone().vectors(input.vectors).plan(comm, points).unwrap();
        let mut field = plan.evaluate(&strengths).unwrap();
        for _ in 1..evaluations {
            field = plan.evaluate(&strengths).unwrap();
        }
        (targets, field.into_values())
    });
    let outputs = problem.outputs();
    let mut all: Vec<Vec<T>> = outputs
        .iter()
        .map(|output| vec![T::ZERO; input.vectors * m * problem.components(*output)])
        .collect();
    for (targets, values) in fields {
        for ((output, values), all) in outputs.iter().zip(values).zip(&mut all) {
            let c = problem.components(*output);
            for vector in 0..input.vectors {
                for (k, target) in targets.iter().enumerate() {
                    all[(vector * m + target) * c..][..c]
                        .copy_from_slice(&values[(vector * targets.len() + k) * c..][..c]);
                }
            }
        }
    }
    all
}

/// The true sums, in double precision.
fn direct<P: Problem<D>, T: Precision, const D: usize>(problem: &P, input: &Input<T, D>) -> Vec<Vec<f64>> {
    let double = |points: &[[T; D]]| -> Vec<[f64; D]> { points.iter().map(|p| p.map(T::to_f64)).collect() };
    let sources = double(&input.sources);
    let targets = input.targets.as_deref().map(double);
    let sizes = match &input.sizes {
        Sizes::None => Sizes::None,
        Sizes::Global(size) => Sizes::Global(size.to_f64()),
        Sizes::PerSource(sizes) => Sizes::PerSource(sizes.iter().map(|s| s.to_f64()).collect()),
    };
    let strengths: Vec<f64> = input.strengths.iter().map(|s| s.to_f64()).collect();
    let mut points = Points::new(&sources).sizes(sizes);
    if let Some(targets) = &targets {
        points = points.targets(targets);
    }
    let options = Options {
        method: Method::Direct,
        no_check: true,
        ..Options::default()
    };
    let mut plan = problem.sum(points, input.vectors, &options).plan().unwrap();
    plan.evaluate(&strengths).unwrap().into_values()
}

fn errors<T: Precision>(found: &[Vec<T>], truth: &[Vec<f64>]) -> Vec<f64> {
    let error = |(found, truth): (&Vec<T>, &Vec<f64>)| {
        assert_eq!(found.len(), truth.len());
        let difference: f64 = found.iter().zip(truth).map(|(a, b)| (a.to_f64() - b).powi(2)).sum();
        let norm: f64 = truth.iter().map(|b| b * b).sum();
        if difference == 0.0 {
            0.0
        } else {
            (difference / norm).sqrt()
        }
    };
    found.iter().zip(truth).map(error).collect()
}

fn check<P: Problem<D>, T: Precision, const D: usize>(
    (ranks, deal): (usize, Deal),
    tolerance: f64,
    problem: &P,
    input: &Input<T, D>,
) {
    let sum = Sum::of(problem.clone()).tolerance(tolerance);
    let found = over_ranks(ranks, deal, &sum, problem, input, 1);
    for (output, error) in problem.outputs().iter().zip(errors(&found, &direct(problem, input))) {
        assert!(
            error <= tolerance,
            "{problem:?} {output:?} on {ranks} ranks: {error:e} for {tolerance:e}"
        );
    }
}

#[test]
fn every_kernel_in_space_keeps_its_tolerance() {
    for kernel in Kernel::all() {
        let mut problem = Space::new(kernel, kernel.outputs());
        problem.allow_unbounded_gradient = true;
        let mut input = Input::new(&problem, PointSet::Cube.generate::<f64>(3000, 1));
        if kernel.has_sizes() {
            input.sizes = Sizes::Global(0.01);
        }
        for ranks in [2, 3] {
            check((ranks, TURNS), 1e-6, &problem, &input);
        }
        if kernel.has_sizes() {
            // Sizes of their own, some of them zero.
            input.sizes = Sizes::PerSource((0..3000).map(|k| 0.004 * (k % 4) as f64).collect());
            check((4, PIECES), 1e-4, &problem, &input);
        }
    }
}

#[test]
fn every_kernel_in_the_plane_keeps_its_tolerance() {
    for kernel in plane::Kernel::ALL {
        for core in plane::Core::ALL {
            for complex in [false, true] {
                let singular = core == plane::Core::Singular;
                let both = kernel == plane::Kernel::Log || singular;
                let outputs = if both {
                    &plane::Output::ALL[..]
                } else {
                    &plane::Output::ALL[..1]
                };
                let problem = Plane {
                    core,
                    complex,
                    ..Plane::new(kernel, outputs)
                };
                let mut input = Input::new(&problem, plane::PlaneSet::Square.generate::<f64>(2500, 1));
                if !singular {
                    input.sizes = Sizes::Global(0.003);
                }
                check((3, TURNS), 1e-6, &problem, &input);
            }
        }
    }
}

#[test]
fn all_point_sets_on_any_number_of_ranks() {
    let problem = Space::new(Kernel::Coulomb, &[Output::Potential, Output::Gradient]);
    for set in PointSet::ALL {
        let input = Input::new(&problem, set.generate::<f64>(4000, 2));
        for (ranks, deal) in [(1, TURNS), (2, ONE), (3, PIECES), (4, TURNS), (7, ONE), (7, TURNS)] {
            check((ranks, deal), 1e-6, &problem, &input);
        }
    }
}

#[test]
fn tolerances_from_two_to_twelve_digits() {
    let problem = Space::new(Kernel::Coulomb, &[Output::Potential, Output::Gradient]);
    let input = Input::new(&problem, PointSet::Cube.generate::<f64>(6000, 2));
    let in_plane = Plane::new(plane::Kernel::Harmonic, &[plane::Output::Potential]);
    let input_in_plane = Input::new(&in_plane, plane::PlaneSet::Square.generate::<f64>(6000, 2));
    for digits in [2, 4, 6, 8, 10, 12] {
        let tolerance = 10f64.powi(-digits);
        check((4, TURNS), tolerance, &problem, &input);
        check((4, TURNS), tolerance, &in_plane, &input_in_plane);
    }
}

#[test]
fn targets_apart_from_sources_and_single_precision() {
    let kernel = Kernel::BiotSavart { core: Core::Gaussian };
    let problem = Space::new(kernel, &[Output::Velocity, Output::VelocityGradient]);
    let mut input = Input::new(&problem, PointSet::Ring.generate::<f32>(3000, 2));
    input.sizes = Sizes::Global(0.02);
    // Some targets are at sources, and most are far off.
    let mut targets = PointSet::Cube.generate::<f32>(1500, 8);
    targets.extend(&input.sources[..200]);
    input.targets = Some(targets);
    for ranks in [1, 3, 4] {
        check((ranks, TURNS), 1e-4, &problem, &input);
    }
    input.targets = Some(vec![]);
    check((3, TURNS), 1e-4, &problem, &input);
}

#[test]
fn several_vectors_of_strengths() {
    for kernel in [Kernel::CoulombDipoles, Kernel::BiotSavart { core: Core::Singular }] {
        let problem = Space::new(kernel, kernel.outputs());
        let mut input = Input::new(&problem, PointSet::Sphere.generate::<f64>(2000, 2));
        input.vectors = 3;
        input.strengths = ChargeDistribution::Signed.generate(3 * 2000 * kernel.strength_components(), 9);
        check((3, TURNS), 1e-6, &problem, &input);
    }
}

#[test]
fn hardly_any_points() {
    let problem = Space::new(Kernel::Coulomb, &[Output::Potential, Output::Gradient]);
    for n in [0, 1, 2, 3, 10] {
        let input = Input::new(&problem, PointSet::Cube.generate::<f64>(n, 1));
        for ranks in [1, 2, 4, 7] {
            check((ranks, TURNS), 1e-6, &problem, &input);
        }
    }
}

#[test]
fn duplicates_across_ranks_count_as_on_one() {
    // Many points at two places, dealt in turns; soft kernels count distinct ones at the same place, singular ones do not.
    for (kernel, size) in [
        (Kernel::Coulomb, None),
        (Kernel::gravity(1.0), Some(0.05)),
        (
            Kernel::Gravity {
                constant: 2.0,
                softening: Softening::ALL[1],
            },
            Some(0.05),
        ),
    ] {
        let problem = Space::new(kernel, kernel.outputs());
        let mut points = PointSet::Cube.generate::<f64>(600, 1);
        points.extend([[0.25, 0.5, 0.5]; 700]);
        points.extend([[0.9, 0.1, 0.2]; 300]);
        let mut input = Input::new(&problem, points);
        input.sizes = size.map_or(Sizes::None, Sizes::Global);
        for ranks in [2, 4] {
            check((ranks, TURNS), 1e-6, &problem, &input);
        }
        // All at one place: nothing but pairs at distance zero.
        let mut input = Input::new(&problem, vec![[0.25, 0.5, 0.5]; 900]);
        input.sizes = size.map_or(Sizes::None, Sizes::Global);
        check((3, TURNS), 1e-6, &problem, &input);
    }
}

#[test]
fn a_plan_gives_the_same_bits_again() {
    let problem = Space::new(Kernel::Coulomb, &[Output::Potential]);
    let input = Input::new(&problem, PointSet::Plummer.generate::<f64>(5000, 1));
    let sum = Sum::of(problem.clone()).tolerance(1e-5);
    let once = over_ranks(4, TURNS, &sum, &problem, &input, 1);
    assert_eq!(once, over_ranks(4, TURNS, &sum, &problem, &input, 1));
    assert_eq!(once, over_ranks(4, TURNS, &sum, &problem, &input, 3));
}

#[test]
fn structured_charges_keep_the_tolerance() {
    // One giant among ones, and a smooth wave.
    let problem = Space::new(Kernel::Coulomb, &[Output::Potential]);
    let points = PointSet::Cube.generate::<f64>(4000, 1);
    let mut input = Input::new(&problem, points.clone());
    input.strengths = points.iter().map(|p| (9.0 * p[0]).sin()).collect();
    check((4, TURNS), 1e-7, &problem, &input);
    input.strengths = vec![1.0; 4000];
    input.strengths[17] = 1e6;
    check((4, TURNS), 1e-7, &problem, &input);
}

#[test]
fn a_wrong_number_on_one_rank_is_known_to_all() {
    let results = Threads::run(3, |ranks| {
        let mut own = PointSet::Cube.generate::<f64>(50, ranks.rank() as u64);
        if ranks.rank() == 2 {
            own[7][1] = f64::NAN;
        }
        Sum::space(Kernel::Coulomb).plan(ranks, Points::new(&own)).map(|_| ())
    });
    for result in results {
        let message = result.unwrap_err().to_string();
        assert!(
            message.starts_with("rank 2") && message.contains("sources[7] component 1"),
            "{message}"
        );
    }
    let results = Threads::run(2, |ranks| {
        let own = PointSet::Cube.generate::<f64>(50, ranks.rank() as u64);
        let mut plan = Sum::space(Kernel::Coulomb).plan(ranks, Points::new(&own)).unwrap();
        // One rank has a strength too many.
        let wrong = plan.evaluate(&vec![1.0; 50 + ranks.rank()]).map(|_| ()).unwrap_err();
        // The plan is still good.
        assert!(plan.evaluate(&[1.0; 50]).is_ok());
        wrong.to_string()
    });
    assert!(
        results[0] == results[1] && results[0].contains("strengths has 51"),
        "{}",
        results[0]
    );
}
