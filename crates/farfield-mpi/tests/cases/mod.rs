//! Test cases of sums over ranks, for any communicator, run by all ranks together. Every rank generates all points,
//! takes its own, and compares its results with the direct sum over all points.

use farfield::kernel::{Core, Kernel, Output, Sizes, Softening};
use farfield::plane::{self, PlaneSet};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::{Method, Options, Precision, Request, Space};
use farfield_mpi::{Communicator, Error, Points, Shared, Sum};

/// Ranks of any communicator.
pub type Ranks<'a> = &'a dyn Communicator;

/// A case that all ranks run together.
pub type Case = (&'static str, fn(Ranks));

/// All cases.
pub const ALL: [Case; 14] = [
    ("every_kernel_in_space", every_kernel_in_space),
    ("every_kernel_in_the_plane", every_kernel_in_the_plane),
    ("all_point_sets_in_any_distribution", all_point_sets_in_any_distribution),
    (
        "tolerances_from_two_to_twelve_digits",
        tolerances_from_two_to_twelve_digits,
    ),
    (
        "targets_apart_from_sources_in_single_precision",
        targets_apart_from_sources_in_single_precision,
    ),
    ("several_strength_vectors", several_strength_vectors),
    ("few_points", few_points),
    (
        "duplicates_across_ranks_count_as_on_one_rank",
        duplicates_across_ranks_count_as_on_one_rank,
    ),
    ("structured_charges", structured_charges),
    ("repeated_sums_are_bitwise_equal", repeated_sums_are_bitwise_equal),
    ("moved_points_are_followed", moved_points_are_followed),
    (
        "an_invalid_number_on_one_rank_is_an_error_on_all",
        an_invalid_number_on_one_rank_is_an_error_on_all,
    ),
    ("work_is_even_on_clustered_points", work_is_even_on_clustered_points),
    (
        "far_segments_of_ranks_act_as_a_whole",
        far_segments_of_ranks_act_as_a_whole,
    ),
];

/// The input of all ranks together.
struct Input<T, const D: usize> {
    sources: Vec<[T; D]>,
    targets: Option<Vec<[T; D]>>,
    sizes: Sizes<T>,
    strengths: Vec<T>,
    vectors: usize,
}

impl<T: Precision, const D: usize> Input<T, D> {
    /// Points that are sources and targets, with normally distributed strengths.
    fn new<P: Shared<D>>(request: &Request<P>, sources: Vec<[T; D]>) -> Self {
        let count = sources.len() * P::strength_components(request.kernel);
        Self {
            sources,
            targets: None,
            sizes: Sizes::None,
            strengths: ChargeDistribution::Signed.generate(count, 5),
            vectors: 1,
        }
    }
}

fn in_space(kernel: Kernel, outputs: &[Output]) -> Request<Space> {
    Request {
        outputs: outputs.to_vec(),
        ..Request::new(kernel)
    }
}

fn in_plane(kernel: plane::Kernel, outputs: &[plane::Output]) -> Request<plane::Plane> {
    Request {
        outputs: outputs.to_vec(),
        ..Request::new(kernel)
    }
}

fn coulomb() -> Sum<Space> {
    Sum::of(Request::new(Kernel::Coulomb))
}

/// A distribution of points over ranks: the rank of point k of n.
type Deal = fn(k: usize, n: usize, ranks: usize) -> usize;

/// Round-robin, so that the points of a rank are not close together.
const TURNS: Deal = |k, _, ranks| k % ranks;
/// All on the last rank.
const ONE: Deal = |_, _, ranks| ranks - 1;
/// In contiguous pieces, none on the first rank.
const PIECES: Deal = |k, n, ranks| (1 + k * (ranks - 1).max(1) / n.max(1)).min(ranks - 1);

fn picked<V: Copy>(values: &[V], width: usize, indices: &[usize]) -> Vec<V> {
    let rows = indices.iter().flat_map(|k| values[k * width..(k + 1) * width].to_vec());
    rows.collect()
}

/// The indices of this rank's targets, and its results output by output.
fn over_ranks<P: Shared<D>, T: Precision, const D: usize>(
    ranks: Ranks,
    deal: Deal,
    request: &Request<P>,
    input: &Input<T, D>,
    evaluations: usize,
) -> (Vec<usize>, Vec<Vec<T>>) {
    let n = input.sources.len();
    let m = input.targets.as_ref().map_or(n, Vec::len);
    let width = P::strength_components(request.kernel);
    let mine = |n: usize| -> Vec<usize> { (0..n).filter(|k| deal(*k, n, ranks.size()) == ranks.rank()).collect() };
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
    let mut plan = Sum::of(Request {
        vectors: input.vectors,
        ..request.clone()
    })
    .plan(ranks, points)
    .unwrap();
    let mut field = plan.evaluate(&strengths).unwrap();
    for _ in 1..evaluations {
        field = plan.evaluate(&strengths).unwrap();
    }
    (targets, field.into_values())
}

/// The true sums over all points, in double precision.
fn direct<P: Shared<D>, T: Precision, const D: usize>(request: &Request<P>, input: &Input<T, D>) -> Vec<Vec<f64>> {
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
        check: false,
        // The tolerance determines the accuracy of square roots in direct sums.
        tolerance: Some(1e-12),
        allow_unbounded_gradient: true,
        ..Options::default()
    };
    let request = Request {
        vectors: input.vectors,
        options,
        ..request.clone()
    };
    let mut plan = P::sum(request, points).plan().unwrap();
    plan.evaluate(&strengths).unwrap().into_values()
}

/// Computes on the first rank and sends the result to all ranks.
fn shared(ranks: Ranks, compute: impl FnOnce() -> Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let mut outgoing = Vec::new();
    if ranks.rank() == 0 {
        let mut bytes = Vec::new();
        for values in compute() {
            bytes.extend((values.len() as u64).to_ne_bytes());
            bytes.extend(values.iter().flat_map(|value| value.to_ne_bytes()));
        }
        outgoing = (0..ranks.size()).map(|rank| (rank, bytes.clone())).collect();
    }
    let received = ranks.send(outgoing);
    let mut rest: &[[u8; 8]] = received.first().map_or(&[], |(_, bytes)| bytes.as_chunks().0);
    let mut all = Vec::new();
    while let Some((length, numbers)) = rest.split_first() {
        let (values, others) = numbers.split_at(u64::from_ne_bytes(*length) as usize);
        all.push(values.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect());
        rest = others;
    }
    all
}

/// The sums of the numbers of all ranks, in the order of ranks.
fn add_up(ranks: Ranks, own: &[f64]) -> Vec<f64> {
    let all = ranks.all_gather(&own.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>());
    let numbers: Vec<f64> = all
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f64::from_ne_bytes(*bytes))
        .collect();
    (0..own.len())
        .map(|k| numbers.iter().skip(k).step_by(own.len()).sum())
        .collect()
}

fn check<P: Shared<D>, T: Precision, const D: usize>(
    ranks: Ranks,
    deal: Deal,
    tolerance: f64,
    request: &Request<P>,
    input: &Input<T, D>,
) {
    let request = request.clone().with(|options| options.tolerance = Some(tolerance));
    let found = over_ranks(ranks, deal, &request, input, 1);
    compare(ranks, found, tolerance, &request, input);
}

/// Compares this rank's results with the direct sum.
fn compare<P: Shared<D>, T: Precision, const D: usize>(
    ranks: Ranks,
    (targets, values): (Vec<usize>, Vec<Vec<T>>),
    tolerance: f64,
    request: &Request<P>,
    input: &Input<T, D>,
) {
    let truth = shared(ranks, || direct(request, input));
    for (k, output) in request.outputs.iter().enumerate() {
        let c = P::output_components(request.kernel, *output);
        let m = truth[k].len() / (c * input.vectors);
        let mut squares = [0.0; 2];
        assert_eq!(values[k].len(), input.vectors * targets.len() * c);
        for vector in 0..input.vectors {
            for (row, target) in targets.iter().enumerate() {
                for component in 0..c {
                    let exact = truth[k][(vector * m + target) * c + component];
                    let found = values[k][(vector * targets.len() + row) * c + component].to_f64();
                    squares[0] += (found - exact).powi(2);
                    squares[1] += exact * exact;
                }
            }
        }
        let sums = add_up(ranks, &squares);
        let error = if sums[0] == 0.0 {
            0.0
        } else {
            (sums[0] / sums[1]).sqrt()
        };
        let count = ranks.size();
        assert!(
            error <= tolerance,
            "{:?} {output:?} on {count} ranks: {error:e} for {tolerance:e}",
            request.kernel
        );
    }
}

fn every_kernel_in_space(ranks: Ranks) {
    for kernel in Kernel::all() {
        let mut problem = in_space(kernel, kernel.outputs());
        problem.options.allow_unbounded_gradient = true;
        let mut input = Input::new(&problem, PointSet::Cube.generate::<f64>(2500, 1));
        if kernel.has_sizes() {
            input.sizes = Sizes::Global(0.01);
        }
        check(ranks, TURNS, 1e-6, &problem, &input);
        if kernel.has_sizes() {
            // A size for each source, some of them zero.
            input.sizes = Sizes::PerSource((0..2500).map(|k| 0.004 * (k % 4) as f64).collect());
            check(ranks, PIECES, 1e-4, &problem, &input);
        }
    }
}

fn every_kernel_in_the_plane(ranks: Ranks) {
    for kernel in plane::Kernel::ALL {
        for core in plane::Core::ALL {
            for complex in [false, true] {
                let mut problem = in_plane(kernel, kernel.outputs(core));
                (problem.kernel.core, problem.kernel.complex) = (core, complex);
                let mut input = Input::new(&problem, PlaneSet::Square.generate::<f64>(2500, 1));
                if core != plane::Core::Singular {
                    input.sizes = Sizes::Global(0.003);
                }
                check(ranks, TURNS, 1e-6, &problem, &input);
            }
        }
    }
}

fn all_point_sets_in_any_distribution(ranks: Ranks) {
    let problem = in_space(Kernel::Coulomb, &[Output::Potential, Output::Gradient]);
    for set in PointSet::ALL {
        let input = Input::new(&problem, set.generate::<f64>(4000, 2));
        for deal in [TURNS, ONE, PIECES] {
            check(ranks, deal, 1e-6, &problem, &input);
        }
    }
    let problem = in_plane(plane::Kernel::Harmonic, &[plane::Output::Potential]);
    for set in PlaneSet::ALL {
        let input = Input::new(&problem, set.generate::<f64>(3000, 2));
        check(ranks, ONE, 1e-6, &problem, &input);
    }
}

fn tolerances_from_two_to_twelve_digits(ranks: Ranks) {
    let problem = in_space(Kernel::Coulomb, &[Output::Potential, Output::Gradient]);
    let input = Input::new(&problem, PointSet::Cube.generate::<f64>(6000, 2));
    let of_plane = in_plane(plane::Kernel::Harmonic, &[plane::Output::Potential]);
    let input_in_plane = Input::new(&of_plane, PlaneSet::Square.generate::<f64>(6000, 2));
    for digits in [2, 4, 6, 8, 10, 12] {
        let tolerance = 10f64.powi(-digits);
        check(ranks, TURNS, tolerance, &problem, &input);
        check(ranks, TURNS, tolerance, &of_plane, &input_in_plane);
    }
}

fn targets_apart_from_sources_in_single_precision(ranks: Ranks) {
    let kernel = Kernel::BiotSavart { core: Core::Gaussian };
    let problem = in_space(kernel, &[Output::Velocity, Output::VelocityGradient]);
    let mut input = Input::new(&problem, PointSet::Ring.generate::<f32>(3000, 2));
    input.sizes = Sizes::Global(0.02);
    // Some targets coincide with sources, most are far away.
    let mut targets = PointSet::Cube.generate::<f32>(1500, 8);
    targets.extend(&input.sources[..200]);
    input.targets = Some(targets);
    check(ranks, TURNS, 1e-4, &problem, &input);
    input.targets = Some(vec![]);
    check(ranks, TURNS, 1e-4, &problem, &input);
}

fn several_strength_vectors(ranks: Ranks) {
    for kernel in [Kernel::CoulombDipoles, Kernel::BiotSavart { core: Core::Singular }] {
        let problem = in_space(kernel, kernel.outputs());
        let mut input = Input::new(&problem, PointSet::Sphere.generate::<f64>(2000, 2));
        input.vectors = 3;
        input.strengths = ChargeDistribution::Signed.generate(3 * 2000 * kernel.strength_components(), 9);
        check(ranks, TURNS, 1e-6, &problem, &input);
    }
}

fn few_points(ranks: Ranks) {
    let problem = in_space(Kernel::Coulomb, &[Output::Potential, Output::Gradient]);
    for n in [0, 1, 2, 3, 10, 300] {
        let input = Input::new(&problem, PointSet::Cube.generate::<f64>(n, 1));
        check(ranks, TURNS, 1e-6, &problem, &input);
        check(ranks, ONE, 1e-6, &problem, &input);
    }
}

fn duplicates_across_ranks_count_as_on_one_rank(ranks: Ranks) {
    // Many points at two positions, distributed round-robin. Softened kernels include pairs of distinct coincident
    // points, singular kernels do not.
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
        let problem = in_space(kernel, kernel.outputs());
        let mut points = PointSet::Cube.generate::<f64>(600, 1);
        points.extend([[0.25, 0.5, 0.5]; 700]);
        points.extend([[0.9, 0.1, 0.2]; 300]);
        let mut input = Input::new(&problem, points);
        input.sizes = size.map_or(Sizes::None, Sizes::Global);
        check(ranks, TURNS, 1e-6, &problem, &input);
        // All points coincide: only pairs at distance zero.
        let mut input = Input::new(&problem, vec![[0.25, 0.5, 0.5]; 900]);
        input.sizes = size.map_or(Sizes::None, Sizes::Global);
        check(ranks, TURNS, 1e-6, &problem, &input);
    }
}

fn structured_charges(ranks: Ranks) {
    // A smooth wave, and one very large charge among unit charges.
    let problem = in_space(Kernel::Coulomb, &[Output::Potential]);
    let points = PointSet::Cube.generate::<f64>(4000, 1);
    let mut input = Input::new(&problem, points.clone());
    input.strengths = points.iter().map(|p| (9.0 * p[0]).sin()).collect();
    check(ranks, TURNS, 1e-7, &problem, &input);
    input.strengths = vec![1.0; 4000];
    input.strengths[17] = 1e6;
    check(ranks, TURNS, 1e-7, &problem, &input);
}

fn repeated_sums_are_bitwise_equal(ranks: Ranks) {
    let problem = in_space(Kernel::Coulomb, &[Output::Potential]);
    let input = Input::new(&problem, PointSet::Plummer.generate::<f64>(5000, 1));
    let problem = problem.with(|options| options.tolerance = Some(1e-5));
    let once = over_ranks(ranks, TURNS, &problem, &input, 1);
    assert_eq!(once, over_ranks(ranks, TURNS, &problem, &input, 1), "another plan");
    assert_eq!(
        once,
        over_ranks(ranks, TURNS, &problem, &input, 3),
        "the same plan again"
    );
}

fn moved_points_are_followed(ranks: Ranks) {
    let problem = in_space(Kernel::Coulomb, &[Output::Potential, Output::Gradient]);
    let mut input = Input::new(&problem, PointSet::Plummer.generate::<f64>(12_000, 1));
    let mine: Vec<usize> = (0..input.sources.len())
        .filter(|k| TURNS(*k, 0, ranks.size()) == ranks.rank())
        .collect();
    let strengths = picked(&input.strengths, 1, &mine);
    let own = picked(&input.sources, 1, &mine);
    let sum = Sum::of(problem.clone());
    let mut plan = sum.plan(ranks, Points::new(&own)).unwrap();
    plan.evaluate(&strengths).unwrap();
    // After a small move, points stay on their ranks. After a permutation of the positions they are redistributed;
    // otherwise every rank would need all points.
    let little: Vec<[f64; 3]> = input
        .sources
        .iter()
        .map(|p| p.map(|c| c + 0.01 * (40.0 * c).sin()))
        .collect();
    let far = (0..little.len()).map(|k| little[k * 4999 % little.len()]).collect();
    for (moved, is_much) in [(little, false), (far, true)] {
        input.sources = moved;
        let own = picked(&input.sources, 1, &mine);
        let dealt_anew = plan.move_to(Points::new(&own)).unwrap();
        // Two ranks that need all points of each other have little more work than before.
        if !is_much || ranks.size() != 2 {
            assert_eq!(dealt_anew, is_much && ranks.size() > 1, "{} ranks", ranks.size());
        }
        let field = plan.evaluate(&strengths).unwrap();
        compare(ranks, (mine.clone(), field.into_values()), 1e-6, &problem, &input);
    }
    // A missing point on the last rank is an error on all ranks, and the plan is unchanged.
    let fewer = own.len() - usize::from(ranks.rank() + 1 == ranks.size());
    let message = plan.move_to(Points::new(&own[..fewer])).unwrap_err().to_string();
    assert!(message.contains("sources has"), "{message}");
    assert!(plan.evaluate(&strengths).is_ok());
}

fn an_invalid_number_on_one_rank_is_an_error_on_all(ranks: Ranks) {
    let last = ranks.size() - 1;
    let mut own = PointSet::Cube.generate::<f64>(50, ranks.rank() as u64);
    if ranks.rank() == last {
        own[7][1] = f64::NAN;
    }
    let Err(Error::OnRank { rank, message, .. }) = coulomb().plan(ranks, Points::new(&own)) else {
        panic!("NaN was accepted");
    };
    assert!(rank == last && message.contains("sources[7] component 1"), "{message}");
    let own = PointSet::Cube.generate::<f64>(50, ranks.rank() as u64);
    let mut plan = coulomb().plan(ranks, Points::new(&own)).unwrap();
    // The last rank gives one strength too many.
    let strengths = vec![1.0; 51];
    let wrong = plan
        .evaluate(&strengths[..50 + usize::from(ranks.rank() == last)])
        .map(|_| ());
    let message = wrong.unwrap_err().to_string();
    assert!(
        message.starts_with(&format!("rank {last}: ")) && message.contains("strengths has 51"),
        "{message}"
    );
    // The plan is still usable.
    assert!(plan.evaluate(&strengths[..50]).is_ok());
}

fn work_is_even_on_clustered_points(ranks: Ranks) {
    for set in [PointSet::Plummer, PointSet::Cube, PointSet::Ring] {
        let all = set.generate::<f64>(100_000, 4);
        let own: Vec<[f64; 3]> = all.into_iter().skip(ranks.rank()).step_by(ranks.size()).collect();
        let charges = ChargeDistribution::Signed.generate::<f64>(own.len(), ranks.rank() as u64);
        let mut plan = Sum::of(Request::<Space>::new(Kernel::Coulomb).with(|options| options.tolerance = Some(1e-5)))
            .plan(ranks, Points::new(&own))
            .unwrap();
        let field = plan.evaluate(&charges).unwrap();
        let error = plan.verify(&charges, &field, 200, 1).unwrap()[0].relative_l2;
        assert!(error <= 1e-5, "{set}: {error:e}");
        let work = plan.report().work;
        let mean = add_up(ranks, &[work])[0] / ranks.size() as f64;
        let count = ranks.size();
        // The goal is 5 %, but the engines' boxes, and thereby the work, change with the distribution of points.
        assert!(
            work / mean < 1.2,
            "{set} on {count} ranks: {:.3} of the mean work",
            work / mean
        );
    }
}

fn far_segments_of_ranks_act_as_a_whole(ranks: Ranks) {
    // Along a line most ranks are far from each other. Includes dipoles, several vectors, and a core size for each
    // source.
    for (kernel, set) in [
        (Kernel::CoulombDipoles, PointSet::Line),
        (Kernel::BiotSavart { core: Core::Gaussian }, PointSet::Ring),
        (Kernel::Coulomb, PointSet::Clusters),
    ] {
        let problem = in_space(kernel, kernel.outputs());
        let mut input = Input::new(&problem, set.generate::<f64>(250 * ranks.size().max(6), 3));
        let n = input.sources.len();
        if kernel.has_sizes() {
            input.sizes = Sizes::PerSource((0..n).map(|k| 0.002 * (1 + k % 3) as f64).collect());
        }
        input.vectors = 2;
        input.strengths = ChargeDistribution::Signed.generate(2 * n * kernel.strength_components(), 9);
        check(ranks, TURNS, 1e-3, &problem, &input);
    }
    let problem = in_plane(plane::Kernel::Log, &plane::Output::ALL);
    let input = Input::new(&problem, PlaneSet::Circle.generate::<f64>(3000, 3));
    check(ranks, TURNS, 1e-6, &problem, &input);
}
