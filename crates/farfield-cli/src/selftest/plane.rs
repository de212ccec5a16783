//! The device against the truth in the plane: the direct sum and the FMM of every kernel and core, point sets,
//! tolerances, orders, leaf sizes, other targets, several vectors, duplicates, small sums, and bitwise repeatability.

use super::Error;
use super::checks::{Checks, Extent, Row};
use farfield::cuda::Device;
use farfield::cuda::device::Precision;
use farfield::cuda::plane::Plan;
use farfield::plane::{Core, Field, Kernel, Output, PlaneSet, Sum};
use farfield_core::Method;
use farfield_core::kernel::Sizes;
use farfield_core::points::ChargeDistribution;
use std::sync::Arc;

/// Core sizes of points in a unit square: small enough for a far field at 1e-4, even of the algebraic core.
const SIZE: f64 = 2e-4;

/// Runs all checks of one precision.
pub(super) fn run_in<T: Precision>(
    device: &Arc<Device>,
    extent: Extent,
    report: &mut dyn FnMut(&Row),
) -> Result<(), Error> {
    let n = match extent {
        Extent::Quick => 3000,
        Extent::Full => 30_000,
    };
    let usual = if T::DOUBLE { 1e-6 } else { 1e-4 };
    let mut checks = Checks::default();
    add_core_checks::<T>(&mut checks, n, extent);
    for case in cases() {
        checks.add(move |device| case.direct::<T>(device, n / 10));
        // The algebraic core's slow tail leaves no far field at a tighter tolerance.
        let tolerance = if case.core == Core::Algebraic { 1e-3 } else { usual };
        checks.add(move |device| case.fmm::<T>(device, &TestPoints::new(PlaneSet::Square, n), tolerance));
    }
    let harmonic = PlaneSum::new(Kernel::Harmonic);
    let second = harmonic.with_second_derivative();
    for kernel in Kernel::ALL {
        for case in PlaneSum::new(kernel).of_both() {
            for set in PlaneSet::ALL {
                checks.add(move |device| case.fmm::<T>(device, &TestPoints::new(set, n), usual));
            }
        }
    }
    for (sources, targets) in [
        ((PlaneSet::Square, n), (PlaneSet::Circle, n / 3)),
        ((PlaneSet::Normal, n / 4), (PlaneSet::Layer, n)),
    ] {
        for case in harmonic.of_both() {
            checks.add(move |device| {
                let points = TestPoints::new(sources.0, sources.1).with_targets(targets.0, targets.1);
                case.fmm::<T>(device, &points, usual)
            });
        }
    }
    let vectors = PlaneSum { vectors: 5, ..harmonic };
    checks.add(move |device| vectors.fmm::<T>(device, &TestPoints::new(PlaneSet::Square, n / 3), usual));
    let tolerances: &[f64] = match (extent, T::DOUBLE) {
        (Extent::Quick, _) => &[1e-3],
        (Extent::Full, false) => &[1e-2, 1e-3, 1e-4, 1e-5],
        (Extent::Full, true) => &[1e-2, 1e-4, 1e-8, 1e-10, 1e-12],
    };
    for tolerance in tolerances {
        for case in Kernel::ALL
            .into_iter()
            .flat_map(|kernel| PlaneSum::new(kernel).of_both())
        {
            let points = move || TestPoints::new(PlaneSet::Square, 3 * n);
            checks.add(move |device| case.fmm::<T>(device, &points(), *tolerance));
        }
    }
    for order in [1, 2, 17, 30, 45] {
        checks.add(move |device| harmonic.order::<T>(device, n / 2, order));
    }
    for capacity in [1, 20, 100, 1_000_000] {
        checks.add(move |device| harmonic.capacity::<T>(device, n / 4, capacity));
    }
    for n in [1, 2, 3, 5, 17, 64, 200] {
        checks.add(move |device| harmonic.capacity::<T>(device, n, 1));
    }
    for case in [harmonic, second] {
        checks.add(move |device| case.duplicates::<T>(device, n));
    }
    checks.add(move |device| harmonic.repeated::<T>(device, n));
    checks.run(device, extent, report)
}

/// Cores from a tenth of the points' spacing to ten times it. Where they reach across the points there is no far field, and
/// the method is the plan's own.
fn add_core_checks<T: Precision>(checks: &mut Checks, n: usize, extent: Extent) {
    let tolerances: &[f64] = match (extent, T::DOUBLE) {
        (Extent::Quick, _) => &[1e-3],
        (Extent::Full, false) => &[1e-2, 1e-3, 1e-5],
        (Extent::Full, true) => &[1e-2, 1e-5, 1e-10],
    };
    for tolerance in tolerances {
        for kernel in Kernel::ALL {
            for core in [Core::Gaussian, Core::Algebraic] {
                for spacings in [0.1, 1.0, 10.0] {
                    let size = spacings / (n as f64).sqrt();
                    let case = PlaneSum {
                        core,
                        size,
                        ..PlaneSum::new(kernel)
                    };
                    checks.add(move |device| {
                        let points = TestPoints::<T>::new(PlaneSet::Square, n);
                        let sum = case.sum(&points).tolerance(*tolerance);
                        let what = format!("core of {spacings} spacings");
                        if sum.between().core_reach() > 0.1 {
                            return case.check(device, &what, &points, &sum, *tolerance);
                        }
                        case.check(
                            device,
                            &format!("fmm, {what}"),
                            &points,
                            &sum.method(Method::Fmm),
                            *tolerance,
                        )
                    });
                }
            }
        }
    }
}

/// A kernel with all its outputs and its sizes.
#[derive(Debug, Clone, Copy)]
struct PlaneSum {
    kernel: Kernel,
    core: Core,
    /// The size, or the largest one where each source has its own.
    size: f64,
    per_source: bool,
    complex: bool,
    vectors: usize,
    /// The most that an output takes, where the core has so many.
    derivatives: usize,
}

/// Sources, and targets where they differ.
struct TestPoints<T> {
    name: String,
    sources: Vec<[T; 2]>,
    targets: Option<Vec<[T; 2]>>,
}

impl<T: Precision> TestPoints<T> {
    fn new(set: PlaneSet, n: usize) -> Self {
        Self {
            name: format!("{set} {n}"),
            sources: set.generate(n, 1),
            targets: None,
        }
    }

    fn with_targets(self, set: PlaneSet, n: usize) -> Self {
        Self {
            name: format!("{}, {set} {n}", self.name),
            targets: Some(set.generate(n, 3)),
            ..self
        }
    }
}

/// Every kernel with every core, real and complex strengths; without a core, with the second derivative too.
fn cases() -> Vec<PlaneSum> {
    let mut cases = Vec::new();
    for kernel in Kernel::ALL {
        for complex in [false, true] {
            let case = PlaneSum {
                complex,
                ..PlaneSum::new(kernel)
            };
            cases.extend(case.of_both());
            for core in [Core::Gaussian, Core::Algebraic] {
                for per_source in [false, true] {
                    cases.push(PlaneSum {
                        core,
                        per_source,
                        ..case
                    });
                }
            }
        }
    }
    cases
}

impl PlaneSum {
    fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            core: Core::Singular,
            size: SIZE,
            per_source: false,
            complex: false,
            vectors: 1,
            derivatives: 1,
        }
    }

    fn with_second_derivative(self) -> Self {
        Self { derivatives: 2, ..self }
    }

    /// With the first derivative, and with the second as well: device code of their own.
    fn of_both(self) -> [Self; 2] {
        [self, self.with_second_derivative()]
    }

    fn name(&self) -> String {
        let core = match self.core {
            Core::Singular => String::new(),
            core => format!(" {core}"),
        };
        let sizes = if self.per_source { ", sizes per source" } else { "" };
        let second = if self.derivatives > 1 {
            ", second derivative"
        } else {
            ""
        };
        let complex = if self.complex { ", complex" } else { "" };
        let vectors = match self.vectors {
            1 => String::new(),
            several => format!(", {several} vectors"),
        };
        format!("{}{core}{sizes}{complex}{second}{vectors}", self.kernel)
    }

    /// As many as there are with the core, up to the derivatives of this row.
    fn outputs(&self) -> &'static [Output] {
        let there = self.kernel.outputs(self.core);
        &there[..there.len().min(self.derivatives + 1)]
    }

    fn sizes<T: Precision>(&self, n: usize) -> Sizes<T> {
        let size = |k: usize| T::from_f64(self.size * (k % 7) as f64 / 6.0);
        match self.core {
            Core::Singular => Sizes::None,
            _ if self.per_source => Sizes::PerSource((0..n).map(size).collect()),
            _ => Sizes::Global(T::from_f64(self.size)),
        }
    }

    fn strengths<T: Precision>(&self, n: usize) -> Vec<T> {
        let parts = 1 + usize::from(self.complex);
        ChargeDistribution::Signed.generate::<T>(n * parts * self.vectors, 2)
    }

    fn sum<'a, T: Precision>(&self, points: &'a TestPoints<T>) -> Sum<'a, T> {
        let mut sum = Sum::new(self.kernel, &points.sources)
            .core(self.core, self.sizes(points.sources.len()))
            .outputs(self.outputs())
            .vectors(self.vectors);
        if let Some(targets) = &points.targets {
            sum = sum.targets(targets);
        }
        if self.complex { sum.complex() } else { sum }
    }

    fn direct<T: Precision>(&self, device: &Arc<Device>, n: usize) -> Result<Row, Error> {
        let points = TestPoints::<T>::new(PlaneSet::Square, n);
        let sum = self.sum(&points).method(Method::Direct);
        let allowed = if T::DOUBLE { 1e-12 } else { 2e-5 };
        self.check(device, "direct", &points, &sum, allowed)
    }

    fn fmm<T: Precision>(&self, device: &Arc<Device>, points: &TestPoints<T>, tolerance: f64) -> Result<Row, Error> {
        let sum = self.sum(points).method(Method::Fmm).tolerance(tolerance);
        self.check(device, "fmm", points, &sum, tolerance)
    }

    /// One order for all expansions: the error falls with it until it meets the rounding.
    fn order<T: Precision>(&self, device: &Arc<Device>, n: usize, order: usize) -> Result<Row, Error> {
        let points = TestPoints::<T>::new(PlaneSet::Square, n);
        let sum = self.sum(&points).method(Method::Fmm).order(order).leaf_capacity(20);
        let rounding = if T::DOUBLE { 1e-12 } else { 1e-5 };
        let allowed = (0.2 * 10f64.powf(-0.33 * order as f64)).max(rounding);
        self.check(device, "fmm, fixed order", &points, &sum, allowed)
    }

    /// Any number of points, and of points to a leaf.
    fn capacity<T: Precision>(&self, device: &Arc<Device>, n: usize, capacity: usize) -> Result<Row, Error> {
        let points = TestPoints::<T>::new(PlaneSet::Normal, n);
        let sum = self.sum(&points).method(Method::Fmm).order(13).leaf_capacity(capacity);
        self.check(device, "fmm, fixed leaf capacity", &points, &sum, 1e-4)
    }

    /// A third of the points at one place, the others in pairs.
    fn duplicates<T: Precision>(&self, device: &Arc<Device>, n: usize) -> Result<Row, Error> {
        self.fmm(device, &self.doubled::<T>(n), 1e-4)
    }

    fn doubled<T: Precision>(&self, n: usize) -> TestPoints<T> {
        let mut points = TestPoints::<T>::new(PlaneSet::Square, n);
        points.name = format!("duplicates {n}");
        for k in 0..n {
            let from = if k % 3 == 0 { 0 } else { k - k % 2 };
            points.sources[k] = points.sources[from];
        }
        points
    }

    /// The number of values that differ between evaluations of two plans.
    fn repeated<T: Precision>(&self, device: &Arc<Device>, n: usize) -> Result<Row, Error> {
        let points = TestPoints::<T>::new(PlaneSet::Normal, n);
        let strengths = self.strengths(n);
        let sum = self.sum(&points).method(Method::Fmm).tolerance(1e-4);
        let first = Plan::new(device, &sum.between())?.evaluate(&strengths)?;
        let mut plan = Plan::new(device, &sum.between())?;
        let mut different = 0;
        for _ in 0..3 {
            let again = plan.evaluate(&strengths)?;
            for output in first.outputs() {
                let (a, b) = (first.get(*output).unwrap_or(&[]), again.get(*output).unwrap_or(&[]));
                let bits = |value: &T| value.to_f64().to_bits();
                different += a.iter().zip(b).filter(|(a, b)| bits(a) != bits(b)).count();
            }
        }
        let what = "plane fmm, repeated: bits that differ";
        Ok(self.row(what, &points, describe(&plan), different as f64, 0.0))
    }

    fn check<T: Precision>(
        &self,
        device: &Arc<Device>,
        method: &str,
        points: &TestPoints<T>,
        sum: &Sum<T>,
        allowed: f64,
    ) -> Result<Row, Error> {
        let strengths = self.strengths(points.sources.len());
        let mut plan = Plan::new(device, &sum.between())?;
        let field = plan.evaluate(&strengths)?;
        let measured = self.error(&field, points, &strengths);
        // An FMM that fell back to the direct sum was not tested.
        let fell_back = sum.request().options.method == Method::Fmm && plan.parameters().method != Method::Fmm;
        let measured = if fell_back { f64::NAN } else { measured };
        Ok(self.row(&format!("plane {method}"), points, describe(&plan), measured, allowed))
    }

    /// The largest relative error of any output at sampled targets.
    fn error<T: Precision>(&self, field: &Field<T>, points: &TestPoints<T>, strengths: &[T]) -> f64 {
        let Ok(errors) = self.sum(points).verify(strengths, field, 200, 1) else {
            return f64::NAN;
        };
        errors
            .iter()
            .map(|error| error.relative_l2)
            .fold(0.0, |a, b| if b.is_nan() { b } else { f64::max(a, b) })
    }

    fn row<T: Precision>(
        &self,
        what: &str,
        points: &TestPoints<T>,
        parameters: String,
        measured: f64,
        allowed: f64,
    ) -> Row {
        Row {
            what: format!("{what}: {}", self.name()),
            precision: T::NAME,
            points: points.name.clone(),
            parameters,
            measured,
            allowed,
        }
    }
}

fn describe<T: Precision>(plan: &Plan<T>) -> String {
    let parameters = plan.parameters();
    match parameters.order {
        None => plan.notes().join("; "),
        Some(order) => format!(
            "order {order}, depth {}, capacity {}",
            parameters.depth.unwrap_or(0),
            parameters.leaf_capacity.unwrap_or(0)
        ),
    }
}
