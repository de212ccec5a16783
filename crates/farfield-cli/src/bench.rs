//! `farfield bench`: the machine's peak rates, and the share of them that every operator and method reaches.
//!
//! The figure of merit `work` is seconds x (this machine's direct f64 Coulomb potential rate on all threads) / N: the
//! number of pairs per point that the machine could have summed directly in the same time. It does not depend on the
//! speed of the machine, so it can be compared between machines.

mod calibrate;
mod cuda;
mod leapfrog;

use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::problem::Problem;
use crate::profile::Profile;
use crate::{device, layout, print, threads};
use farfield::bench::{self, Benchmark, OperatorRate};
use farfield::kernel::{Core, Kernel, Output};
use farfield::plane::{self, Plane, PlaneSet};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::report::Phase;
use farfield::simd::{Real, SimdLevel};
use farfield::tuning::MachineProfile;
use farfield::{Device, Geometry, Method, Precision, Request, Space, SumOf};
use farfield_io::{columns, units};
use serde::Serialize;

#[derive(Serialize)]
struct Report {
    version: &'static str,
    simd: &'static str,
    threads: usize,
    ceilings: Vec<Ceiling>,
    plane: Vec<PlaneRate>,
    operators: Vec<Operator>,
    methods: Vec<MethodResult>,
    /// Whether another load kept the machine busy, so that rates cannot be compared.
    disturbed: bool,
}

#[derive(Serialize)]
struct Ceiling {
    precision: &'static str,
    /// 1e9 floating-point operations per second of one thread.
    fma_gflops: f64,
    /// Pairs per second of the direct sum, on one thread and on all threads.
    direct_pairs_one_thread: f64,
    direct_pairs: f64,
}

/// The direct sum of a kernel in the plane.
#[derive(Serialize)]
struct PlaneRate {
    kernel: &'static str,
    precision: &'static str,
    /// Pairs per second on all threads: for the potential alone, and with its derivative.
    pairs: f64,
    pairs_with_derivative: f64,
}

#[derive(Serialize)]
struct Operator {
    precision: &'static str,
    name: String,
    nanoseconds: f64,
    share_of_ceiling: f64,
}

#[derive(Serialize)]
struct MethodResult {
    case: String,
    n: usize,
    seconds: f64,
    /// Interactions per point; see the module's documentation.
    work: f64,
}

/// Runs the command.
pub fn run(args: &BenchArgs) -> Result<String, Failure> {
    threads::start(args.threads)?;
    if args.case.is_some() {
        return leapfrog::run(args, Profile::load(args.profile.as_deref())?.costs);
    }
    if args.calibrate {
        if args.device != Device::Cpu {
            return Err(Failure::Usage(format!(
                "--calibrate measures the CPU, not --device {}",
                args.device
            )));
        }
        return calibrate::run(args);
    }
    device::check(args.device)?;
    match args.device {
        Device::Cpu => {}
        Device::Cuda(number) => return cuda::run(number, args.quick, args.json),
        Device::Auto => return Err(Failure::Usage("--device: bench measures cpu or cuda".to_owned())),
    }
    let simd = SimdLevel::best();
    let profile = Profile::load(args.profile.as_deref())?;
    print::progress("measuring ceilings");
    let ceilings = vec![ceiling::<f32>(simd), ceiling::<f64>(simd)];
    let mut plane = plane_rates::<f32>();
    plane.extend(plane_rates::<f64>());
    print::progress("measuring operators");
    let mut operators = operators::<f32>(simd);
    operators.extend(self::operators::<f64>(simd));
    let methods = methods(args.quick, ceilings[1].direct_pairs, &profile.costs)?;
    let threads = rayon::current_num_threads();
    let impossible = operators.iter().any(|operator| operator.share_of_ceiling > 1.05);
    if impossible {
        print::progress(
            "warning: an operator seems faster than the machine's ceiling: another program was running during the \
             measurement. Repeat it on an idle machine",
        );
    }
    let report = Report {
        disturbed: impossible,
        version: env!("CARGO_PKG_VERSION"),
        simd: simd.name(),
        threads,
        ceilings,
        plane,
        operators,
        methods,
    };
    if args.json {
        let text = serde_json::to_string_pretty(&report).map_err(|error| Failure::Data(format!("JSON: {error}")))?;
        return Ok(text + "\n");
    }
    Ok(summary(&report))
}

fn ceiling<T: Precision>(simd: SimdLevel) -> Ceiling {
    let kernel = Kernel::Coulomb;
    let tolerance = if T::EPSILON > 1e-10 { 1e-5 } else { 1e-11 };
    let fma = Benchmark::FmaRate.measure::<T>(simd);
    let one = Benchmark::PairRate {
        kernel,
        derivatives: 0,
        tolerance,
        leaf: 1024,
        leaves: 4,
    }
    .measure::<T>(simd);
    Ceiling {
        precision: T::NAME,
        fma_gflops: 2e-9 * fma,
        direct_pairs_one_thread: one,
        direct_pairs: direct_rate::<_, T, 3>(&Request::<Space>::new(kernel), 30_000, tolerance),
    }
}

/// A request for these outputs of a kernel.
fn of<G: Geometry>(kernel: impl Into<G::Kernel>, outputs: &[G::Output]) -> Request<G> {
    Request {
        outputs: outputs.to_vec(),
        ..Request::new(kernel)
    }
}

/// Pairs per second of a complete direct sum on all threads.
fn direct_rate<P: Problem<D>, T: Precision, const D: usize>(request: &Request<P>, n: usize, tolerance: f64) -> f64 {
    let points = P::generate::<T>(P::SETS[0], 0..n, 1);
    let strengths = ChargeDistribution::Signed.generate::<T>(n * P::strength_components(request.kernel), 1);
    let request = request.clone().with(|options| {
        (options.method, options.tolerance) = (Method::Direct, Some(tolerance));
    });
    let Ok(mut plan) = SumOf::of(request, P::points(points.as_flattened())).plan() else {
        return 0.0;
    };
    let Ok(mut field) = plan.evaluate(&strengths) else {
        return 0.0;
    };
    let mut best = f64::MAX;
    for _ in 0..5 {
        if plan.evaluate_into(&strengths, &mut field).is_ok() {
            best = best.min(plan.seconds().of(Phase::P2p));
        }
    }
    (n * n) as f64 / best
}

/// The rates of direct sums in the plane.
fn plane_rates<T: Precision>() -> Vec<PlaneRate> {
    let tolerance = if T::EPSILON > 1e-10 { 1e-5 } else { 1e-6 };
    let rate = |kernel, outputs: &[plane::Output]| direct_rate::<Plane, T, 2>(&of(kernel, outputs), 12_000, tolerance);
    let both = [plane::Output::Potential, plane::Output::Derivative];
    let of = |kernel: plane::Kernel| PlaneRate {
        kernel: kernel.name(),
        precision: T::NAME,
        pairs: rate(kernel, &both[..1]),
        pairs_with_derivative: rate(kernel, &both),
    };
    plane::Kernel::ALL.map(of).into()
}

fn operators<T: Real>(simd: SimdLevel) -> Vec<Operator> {
    let name = |rate: OperatorRate| Operator {
        precision: T::NAME,
        name: rate.name,
        nanoseconds: rate.nanoseconds,
        share_of_ceiling: rate.share_of_ceiling,
    };
    bench::operators::<T>(simd).into_iter().map(name).collect()
}

/// A method on a point set.
#[derive(Clone)]
struct BenchSum<P: Problem<D>, const D: usize> {
    name: &'static str,
    single: bool,
    request: Request<P>,
    set: P::Set,
    tolerance: f64,
    method: Method,
    /// The fraction of the points to use; below 1 for slow methods.
    share: f64,
}

impl<P: Problem<D>, const D: usize> BenchSum<P, D> {
    /// An FMM in double precision.
    fn fmm(name: &'static str, request: Request<P>, set: P::Set, tolerance: f64) -> Self {
        Self {
            name,
            single: false,
            request,
            set,
            tolerance,
            method: Method::Fmm,
            share: 1.0,
        }
    }
}

fn methods(quick: bool, direct_pairs: f64, profile: &MachineProfile) -> Result<Vec<MethodResult>, Failure> {
    let mut results = measured(&in_space(), quick, direct_pairs, profile)?;
    results.extend(measured(&in_plane(), quick, direct_pairs, profile)?);
    Ok(results)
}

fn in_space() -> Vec<BenchSum<Space, 3>> {
    use Output::{Gradient, Potential, Velocity};
    let (cube, sphere, plummer) = (PointSet::Cube, PointSet::Sphere, PointSet::Plummer);
    let potential = || of(Kernel::Coulomb, &[Potential]);
    let gradient = of(Kernel::Coulomb, &[Potential, Gradient]);
    let velocity = of(Kernel::BiotSavart { core: Core::Singular }, &[Velocity]);
    vec![
        BenchSum {
            method: Method::Direct,
            share: 0.05,
            ..BenchSum::fmm("direct f64", potential(), cube, 1e-9)
        },
        BenchSum {
            method: Method::Treecode,
            share: 0.2,
            ..BenchSum::fmm("treecode 1e-4 f64 cube", potential(), cube, 1e-4)
        },
        BenchSum {
            single: true,
            ..BenchSum::fmm("fmm 1e-3 f32 cube", potential(), cube, 1e-3)
        },
        BenchSum::fmm("fmm 1e-6 f64 cube", potential(), cube, 1e-6),
        BenchSum::fmm("fmm 1e-9 f64 cube", potential(), cube, 1e-9),
        BenchSum::fmm("fmm 1e-6 f64 sphere", potential(), sphere, 1e-6),
        BenchSum::fmm("fmm 1e-6 f64 plummer", potential(), plummer, 1e-6),
        BenchSum::fmm("fmm 1e-6 f64 cube, potential+gradient", gradient, cube, 1e-6),
        BenchSum::fmm("fmm 1e-6 f64 cube, biot-savart velocity", velocity, cube, 1e-6),
    ]
}

fn in_plane() -> Vec<BenchSum<Plane, 2>> {
    use plane::Kernel::{Harmonic, Log};
    let (square, normal, layer) = (PlaneSet::Square, PlaneSet::Normal, PlaneSet::Layer);
    let potential = |kernel| of(kernel, &[plane::Output::Potential]);
    vec![
        BenchSum {
            method: Method::Direct,
            share: 0.05,
            ..BenchSum::fmm("direct f64, harmonic2d", potential(Harmonic), square, 1e-6)
        },
        BenchSum::fmm("fmm 1e-6 f64 square, harmonic2d", potential(Harmonic), square, 1e-6),
        BenchSum::fmm("fmm 1e-12 f64 square, harmonic2d", potential(Harmonic), square, 1e-12),
        BenchSum::fmm("fmm 1e-6 f64 normal, harmonic2d", potential(Harmonic), normal, 1e-6),
        BenchSum::fmm("fmm 1e-6 f64 layer, harmonic2d", potential(Harmonic), layer, 1e-6),
        BenchSum::fmm("fmm 1e-6 f64 square, log2d", potential(Log), square, 1e-6),
    ]
}

fn measured<P: Problem<D>, const D: usize>(
    cases: &[BenchSum<P, D>],
    quick: bool,
    direct_pairs: f64,
    profile: &MachineProfile,
) -> Result<Vec<MethodResult>, Failure> {
    let points = if quick { 20_000 } else { 1_000_000 };
    let repeats = if quick { 1 } else { 3 };
    cases
        .iter()
        .map(|case| {
            print::progress(&format!("measuring {}", case.name));
            let n = (case.share * points as f64) as usize;
            let time = if case.single {
                time_case::<P, f32, D>
            } else {
                time_case::<P, f64, D>
            };
            let seconds = time(case, n, repeats, profile)?;
            Ok(MethodResult {
                case: case.name.to_owned(),
                n,
                seconds,
                work: seconds * direct_pairs / n as f64,
            })
        })
        .collect()
}

/// The fastest of `repeats` sums, from raw points to results.
fn time_case<P: Problem<D>, T: Precision, const D: usize>(
    case: &BenchSum<P, D>,
    n: usize,
    repeats: usize,
    profile: &MachineProfile,
) -> Result<f64, Failure> {
    let points = P::generate::<T>(case.set, 0..n, 1);
    let strengths = ChargeDistribution::Signed.generate::<T>(n * P::strength_components(case.request.kernel), 1);
    let request = case.request.clone().with(|options| {
        (options.method, options.tolerance) = (case.method, Some(case.tolerance));
        options.profile = Some(profile.clone());
    });
    let sum = SumOf::of(request, P::points(points.as_flattened()));
    let mut best = f64::MAX;
    for _ in 0..repeats {
        let mut plan = sum.plan()?;
        plan.evaluate(&strengths)?;
        best = best.min(plan.seconds().total);
    }
    Ok(best)
}

fn summary(report: &Report) -> String {
    let pairs = |rate: f64| format!("{} pairs/s", units::with_prefix(rate));
    let mut text = format!("SIMD {}, {} threads\n", report.simd, report.threads);
    let mut section = |head: [&str; 4], rows: Vec<[String; 4]>| {
        let head = head.map(str::to_owned);
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).map(Vec::from).collect();
        text.push('\n');
        text.push_str(&columns::aligned(&rows, true, layout::width()));
    };
    section(
        [
            "ceilings",
            "FMA, one thread",
            "direct, one thread",
            "direct, all threads",
        ],
        report.ceilings.iter().map(Ceiling::row).collect(),
    );
    section(
        ["direct in the plane, all threads", "potential", "with derivative", ""],
        report
            .plane
            .iter()
            .map(|p| {
                let name = format!("{} {}", p.precision, p.kernel);
                [name, pairs(p.pairs), pairs(p.pairs_with_derivative), String::new()]
            })
            .collect(),
    );
    for precision in ["f32", "f64"] {
        let of_precision = report
            .operators
            .iter()
            .filter(|operator| operator.precision == precision);
        section(
            [
                &format!("operators, one thread, {precision}"),
                "leaf",
                "time",
                "of bound",
            ],
            of_precision.map(Operator::row).collect(),
        );
    }
    section(
        ["methods, raw points to results", "N", "seconds", "work (pairs/point)"],
        report
            .methods
            .iter()
            .map(|m| {
                let (n, seconds, work) = (m.n.to_string(), format!("{:.3}", m.seconds), format!("{:.0}", m.work));
                [m.case.clone(), n, seconds, work]
            })
            .collect(),
    );
    text
}

impl Ceiling {
    fn row(&self) -> [String; 4] {
        let pairs = |rate: f64| format!("{} pairs/s", units::with_prefix(rate));
        [
            self.precision.to_owned(),
            format!("{:.1} GFLOP/s", self.fma_gflops),
            pairs(self.direct_pairs_one_thread),
            pairs(self.direct_pairs),
        ]
    }
}

impl Operator {
    fn row(&self) -> [String; 4] {
        let (name, leaf) = self.name.split_once(", leaves of ").unwrap_or((&self.name, ""));
        [
            name.to_owned(),
            leaf.to_owned(),
            format!("{:.2} ns", self.nanoseconds),
            format!("{:.0} %", 100.0 * self.share_of_ceiling),
        ]
    }
}
