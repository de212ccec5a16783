//! The device against the truth in space: trees, the direct sum of every kernel, FMM and treecode over
//! kernels, precisions, tolerances, orders and point sets, and bitwise repeatability.

use super::Error;
use super::checks::{Checks, Extent, Row};
use super::{cores, tree};
use farfield::Sum;
use farfield::cuda::Device;
use farfield::cuda::Plan;
use farfield::cuda::device::Precision;
use farfield_core::kernel::{Form, Kernel, Output, Sizes};
use farfield_core::plan::Parameters;
use farfield_core::points::{ChargeDistribution, PointSet};
use farfield_core::report::Interactions;
use farfield_core::{Field, Method};
use std::sync::Arc;

/// Runs all checks of sums in space, of one precision.
pub(super) fn run_in<T: Precision>(
    device: &Arc<Device>,
    extent: Extent,
    report: &mut dyn FnMut(&Row),
) -> Result<(), Error> {
    let n = extent.points();
    let coulomb = &KernelSum::<T>::new(Kernel::Coulomb);
    let mut checks = Checks::default();
    for set in PointSet::ALL {
        checks.add(move |device| tree::check::<T>(device, set, n, None));
    }
    checks.add(move |device| tree::check::<T>(device, PointSet::Plummer, n, Some(PointSet::Cube)));
    checks.add(tree::check_duplicates::<T>);
    for case in cases::<T>(1e-2) {
        checks.add(move |device| case.direct(device, n / 4));
    }
    for method in WITH_FAR_FIELD {
        let tolerance = if T::DOUBLE { 1e-6 } else { 1e-4 };
        for case in cases::<T>(tolerance) {
            checks.add(move |device| case.evaluated(device, n, PointSet::Cube, method, tolerance));
        }
    }
    for case in cases::<T>(1e-3) {
        checks.add(move |device| case.measured_error(device, n / 8));
    }
    for method in WITH_FAR_FIELD {
        for set in PointSet::ALL {
            checks.add(move |device| coulomb.evaluated(device, n, set, method, 1e-4));
        }
        checks.add(move |device| coulomb.two_sets(device, n, method));
        checks.add(move |device| coulomb.several_vectors(device, n, method, None));
        checks.add(move |device| coulomb.several_vectors(device, n, method, Some(12)));
    }
    let softened = cases::<T>(1e-3).into_iter().filter(|case| case.per_source);
    let softened = softened.filter(|case| matches!(case.kernel, Kernel::Gravity { .. }));
    for case in softened.chain([coulomb.clone()]) {
        for vectors in [2, 3, 8, 11] {
            let case = case.clone();
            checks.add(move |device| case.vectors_at_once(device, n, vectors));
        }
    }
    checks.add(move |device| coulomb.opening_angle(device, n));
    let tolerances: &[f64] = match (extent, T::DOUBLE) {
        (Extent::Quick, _) => &[1e-3],
        (Extent::Full, false) => &[1e-2, 1e-3, 1e-4, 1e-5],
        (Extent::Full, true) => &[1e-2, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-12],
    };
    for tolerance in tolerances {
        for set in PointSet::ALL {
            checks.add(move |device| coulomb.tolerance(device, 5 * n, set, *tolerance));
        }
    }
    for order in [1, 2, 3, 5, 8, 13, 20, 30] {
        checks.add(move |device| coulomb.order(device, n, order));
    }
    checks.add(move |device| coulomb.repeated(device, n));
    cores::add_checks::<T>(&mut checks, n, extent);
    checks.run(device, extent, report)
}

/// The methods with expansions.
const WITH_FAR_FIELD: [Method; 3] = [Method::Fmm, Method::Treecode, Method::TreecodeOnNeighbours];

/// A kernel with all its outputs and its sizes.
#[derive(Debug, Clone)]
pub(super) struct KernelSum<T> {
    pub kernel: Kernel,
    pub sizes: Sizes<T>,
    /// The size, or the middle one where each source has its own.
    pub size: f64,
    pub per_source: bool,
}

/// All outputs are asked for: some take two derivatives of the potential.
pub(super) const MOST_DERIVATIVES: usize = 2;

/// A core size of points in a unit cube that leaves a far field: cores reach a twentieth of it.
pub(super) fn size_for(kernel: Kernel, tolerance: f64) -> f64 {
    (0.05 / kernel.core_reach(1.0, 0.5 * tolerance, MOST_DERIVATIVES)).min(0.002)
}

/// Every kernel and core, with sizes that leave a far field at this tolerance.
pub(super) fn cases<T: Precision>(tolerance: f64) -> Vec<KernelSum<T>> {
    let mut cases = vec![KernelSum::new(Kernel::gravity(2.0))];
    for kernel in Kernel::all() {
        if !kernel.has_sizes() {
            cases.push(KernelSum::new(kernel));
            continue;
        }
        for per_source in [false, true] {
            let size = size_for(kernel, tolerance);
            cases.push(KernelSum {
                kernel,
                sizes: Sizes::Global(T::from_f64(size)),
                size,
                per_source,
            });
        }
    }
    cases
}

impl<T: Precision> KernelSum<T> {
    pub(super) fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            sizes: Sizes::None,
            size: 0.0,
            per_source: false,
        }
    }

    pub(super) fn name(&self) -> String {
        let core = self.kernel.description().regularisation;
        let core = core.filter(|_| self.sizes != Sizes::None);
        let core = core.map_or_else(String::new, |core| format!(" {}", core.name));
        let sizes = if self.per_source { ", sizes per source" } else { "" };
        format!("{}{core}{sizes}", self.kernel)
    }

    pub(super) fn sizes(&self, n: usize) -> Sizes<T> {
        if !self.per_source {
            return self.sizes.clone();
        }
        let size = |k: usize| T::from_f64(self.size * (0.5 + (k % 7) as f64 / 7.0));
        Sizes::PerSource((0..n).map(size).collect())
    }

    pub(super) fn strengths(&self, n: usize) -> Vec<T> {
        ChargeDistribution::Signed.generate::<T>(n * self.kernel.strength_components(), 2)
    }

    fn direct(&self, device: &Arc<Device>, n: usize) -> Result<Row, Error> {
        let sources = PointSet::Cube.generate::<T>(n, 1);
        let (sizes, strengths) = (self.sizes(n), self.strengths(n));
        let sum = self.sum(&sources, &sizes).method(Method::Direct);
        let field = Plan::new(device, &sum.between())?.evaluate(&strengths)?;
        let measured = self.error(&field, &sources, None, &sizes, &strengths);
        let allowed = if T::DOUBLE { 1e-12 } else { 2e-5 };
        Ok(self.row("direct", format!("cube {n}"), String::new(), measured, allowed))
    }

    fn evaluated(
        &self,
        device: &Arc<Device>,
        n: usize,
        set: PointSet,
        method: Method,
        tolerance: f64,
    ) -> Result<Row, Error> {
        let sources = set.generate::<T>(n, 1);
        let (sizes, strengths) = (self.sizes(n), self.strengths(n));
        // What the model of errors is worth by itself.
        let sum = self
            .sum(&sources, &sizes)
            .method(method)
            .tolerance(tolerance)
            .check_errors(false);
        let mut plan = Plan::new(device, &sum.between())?;
        let field = plan.evaluate(&strengths)?;
        let measured = self.error(&field, &sources, None, &sizes, &strengths);
        let measured = far_field_error(plan.parameters(), method, measured);
        let parameters = describe(&plan, tolerance);
        Ok(self.row(method.name(), format!("{set} {n}"), parameters, measured, tolerance))
    }

    /// The error that a sum measured itself at all targets, over the true one: of two vectors, at the sources and at other
    /// targets, of an order that leaves errors far above the rounding.
    fn measured_error(&self, device: &Arc<Device>, n: usize) -> Result<Row, Error> {
        let (sources, targets) = (
            PointSet::Cube.generate::<T>(n, 1),
            PointSet::Cube.generate::<T>(n / 2, 3),
        );
        let (sizes, mut strengths) = (self.sizes(n), self.strengths(n));
        strengths.extend_from_within(..);
        let mut ratio = 1.0;
        for targets in [None, Some(&targets[..])] {
            let mut sum = self.sum(&sources, &sizes).vectors(2).method(Method::Fmm).order(5);
            if let Some(targets) = targets {
                sum = sum.targets(targets);
            }
            let field = Plan::new(device, &sum.between())?.evaluate(&strengths)?;
            let found = field.check().map_or(&[][..], |check| &check.outputs);
            let truth = sum.verify(&strengths, &field, n, 1)?;
            if found.len() != truth.len() {
                ratio = f64::NAN;
            }
            // Where cores leave nothing but pairs, both are rounding.
            let truncated = |error: f64| error > 1e3 * T::EPSILON;
            for (found, truth) in found
                .iter()
                .zip(&truth)
                .filter(|(_, truth)| truncated(truth.relative_l2))
            {
                let times = found.relative_l2 / truth.relative_l2;
                ratio = larger(ratio, larger(times, 1.0 / times));
            }
        }
        let points = format!("cube {n}, {}", n / 2);
        Ok(self.row(
            "fmm, measured over true error",
            points,
            "order 5".to_owned(),
            ratio,
            1.01,
        ))
    }

    /// Potential and gradient, and the potential alone, of signed and of positive charges: the largest error of all.
    fn tolerance(&self, device: &Arc<Device>, n: usize, set: PointSet, tolerance: f64) -> Result<Row, Error> {
        let sources = set.generate::<T>(n, 1);
        let signed = self.strengths(n);
        let positive: Vec<T> = signed.iter().map(|q| T::from_f64(q.to_f64().abs())).collect();
        let (mut measured, mut parameters) = (0.0, String::new());
        for outputs in [&[Output::Potential, Output::Gradient][..], &[Output::Potential]] {
            let sum = Sum::new(self.kernel, &sources)
                .outputs(outputs)
                .method(Method::Fmm)
                .tolerance(tolerance)
                .check_errors(false);
            let mut plan = Plan::new(device, &sum.between())?;
            for strengths in [&signed, &positive] {
                let field = plan.evaluate(strengths)?;
                let error = self.error(&field, &sources, None, &Sizes::None, strengths);
                measured = larger(measured, far_field_error(plan.parameters(), Method::Fmm, error));
            }
            if parameters.is_empty() {
                parameters = describe(&plan, tolerance);
            }
        }
        Ok(self.row("fmm, tolerances", format!("{set} {n}"), parameters, measured, tolerance))
    }

    fn two_sets(&self, device: &Arc<Device>, n: usize, method: Method) -> Result<Row, Error> {
        let (sources, targets) = (
            PointSet::Cube.generate::<T>(n, 1),
            PointSet::Sphere.generate::<T>(n / 3, 3),
        );
        let strengths = self.strengths(n);
        let sum = self
            .sum(&sources, &Sizes::None)
            .targets(&targets)
            .method(method)
            .tolerance(1e-4);
        let mut plan = Plan::new(device, &sum.between())?;
        let field = plan.evaluate(&strengths)?;
        let measured = self.error(&field, &sources, Some(&targets), &Sizes::None, &strengths);
        let measured = far_field_error(plan.parameters(), method, measured);
        let points = format!("cube {n}, sphere {}", n / 3);
        let what = format!("{method}, other targets");
        Ok(self.row(&what, points, describe(&plan, 1e-4), measured, 1e-4))
    }

    /// More vectors than one batch has; with memory for so many at once only, in passes.
    fn several_vectors(
        &self,
        device: &Arc<Device>,
        n: usize,
        method: Method,
        at_once: Option<usize>,
    ) -> Result<Row, Error> {
        let sources = PointSet::Cube.generate::<T>(n, 1);
        let vectors = 70;
        let strengths = ChargeDistribution::Signed.generate::<T>(vectors * n, 5);
        let sum = self
            .sum(&sources, &Sizes::None)
            .vectors(vectors)
            .method(method)
            .tolerance(1e-3);
        let memory = at_once
            .map(|vectors| Plan::memory_forecast(device, &sum.clone().vectors(vectors).between(), n, None))
            .transpose()?;
        let mut plan = Plan::with_memory(device, &sum.between(), memory)?;
        let field = plan.evaluate(&strengths)?;
        let measured = self.error(&field, &sources, None, &Sizes::None, &strengths);
        let measured = far_field_error(plan.parameters(), method, measured);
        let passes = if at_once.is_some() { " in passes" } else { "" };
        let what = format!("{method}, {vectors} vectors{passes}");
        Ok(self.row(&what, format!("cube {n}"), describe(&plan, 1e-3), measured, 1e-3))
    }

    /// Vectors that pairs share the distances of: the first output alone, and the first two.
    fn vectors_at_once(&self, device: &Arc<Device>, n: usize, vectors: usize) -> Result<Row, Error> {
        let tolerance = 1e-3;
        let sources = PointSet::Cube.generate::<T>(n, 1);
        let sizes = self.sizes(n);
        let strengths = ChargeDistribution::Signed.generate::<T>(vectors * n, 5);
        let (mut measured, mut parameters) = (0.0, String::new());
        for outputs in [&self.kernel.outputs()[..1], &self.kernel.outputs()[..2]] {
            let sum = Sum::new(self.kernel, &sources)
                .outputs(outputs)
                .sizes(sizes.clone())
                .vectors(vectors)
                .method(Method::Fmm)
                .tolerance(tolerance);
            let mut plan = Plan::new(device, &sum.between())?;
            let field = plan.evaluate(&strengths)?;
            let error = self.error(&field, &sources, None, &sizes, &strengths);
            measured = larger(measured, far_field_error(plan.parameters(), Method::Fmm, error));
            parameters = describe(&plan, tolerance);
        }
        let what = format!("fmm, {vectors} vectors at once");
        Ok(self.row(&what, format!("cube {n}"), parameters, measured, tolerance))
    }

    /// A treecode whose angle and order are an expert's: the bound (a/r)^(p+1) / (1 - a/r) of every box, with room for
    /// cancellation to spare.
    fn opening_angle(&self, device: &Arc<Device>, n: usize) -> Result<Row, Error> {
        let (theta, order) = (0.4, 5);
        let sources = PointSet::Plummer.generate::<T>(n, 1);
        let strengths = self.strengths(n);
        let sum = Sum::new(self.kernel, &sources)
            .method(Method::Treecode)
            .theta(theta)
            .order(order);
        let mut plan = Plan::new(device, &sum.between())?;
        let field = plan.evaluate(&strengths)?;
        let measured = self.error(&field, &sources, None, &Sizes::None, &strengths);
        let measured = far_field_error(plan.parameters(), Method::Treecode, measured);
        let allowed = 0.06 * (0.85 * theta).powi(order as i32);
        let parameters = format!("theta {theta}, order {order}");
        Ok(self.row(
            "treecode, fixed angle",
            format!("plummer {n}"),
            parameters,
            measured,
            allowed,
        ))
    }

    /// One order for everything: the error falls with the order until it meets the rounding.
    fn order(&self, device: &Arc<Device>, n: usize, order: usize) -> Result<Row, Error> {
        let sources = PointSet::Cube.generate::<T>(n, 1);
        let strengths = self.strengths(n);
        let sum = Sum::new(self.kernel, &sources)
            .method(Method::Fmm)
            .order(order)
            .leaf_capacity(40);
        let mut plan = Plan::new(device, &sum.between())?;
        let field = plan.evaluate(&strengths)?;
        let measured = self.error(&field, &sources, None, &Sizes::None, &strengths);
        let measured = far_field_error(plan.parameters(), Method::Fmm, measured);
        // Far shifts gain half a digit an order, the nearest a third.
        let rounding = if T::DOUBLE { 1e-13 } else { 3e-6 };
        let allowed = (0.2 * 10f64.powf(-0.33 * order as f64)).max(rounding);
        Ok(self.row(
            "fmm, fixed order",
            format!("cube {n}"),
            format!("order {order}"),
            measured,
            allowed,
        ))
    }

    /// The number of values that differ between two evaluations of two plans.
    fn repeated(&self, device: &Arc<Device>, n: usize) -> Result<Row, Error> {
        let sources = PointSet::Plummer.generate::<T>(n, 1);
        let strengths = self.strengths(n);
        let sum = self.sum(&sources, &Sizes::None).method(Method::Fmm).tolerance(1e-4);
        let first = Plan::new(device, &sum.between())?.evaluate(&strengths)?;
        let mut plan = Plan::new(device, &sum.between())?;
        let mut different = 0;
        for _ in 0..3 {
            different += different_bits(&first, &plan.evaluate(&strengths)?);
        }
        let points = format!("plummer {n}");
        Ok(self.row(
            "fmm, repeated: bits that differ",
            points,
            describe(&plan, 1e-4),
            different as f64,
            0.0,
        ))
    }

    pub(super) fn sum<'a>(&self, sources: &'a [[T; 3]], sizes: &Sizes<T>) -> Sum<'a, T> {
        Sum::new(self.kernel, sources)
            .outputs(self.kernel.outputs())
            .sizes(sizes.clone())
            .allow_unbounded_gradient()
    }

    /// The largest relative error of any output at sampled targets.
    pub(super) fn error(
        &self,
        field: &Field<T>,
        sources: &[[T; 3]],
        targets: Option<&[[T; 3]]>,
        sizes: &Sizes<T>,
        strengths: &[T],
    ) -> f64 {
        let mut sum = self.sum(sources, sizes);
        if let Some(targets) = targets {
            sum = sum.targets(targets);
        }
        // In extended precision: most of the time of a check that compiles nothing. Fewer of a scalar's would be too few: a
        // gradient's error is relative to the few largest.
        let samples = match self.kernel {
            _ if field.vectors() > 1 => 10,
            kernel if kernel.form() == Form::Vortex => 50,
            _ => 200,
        };
        let Ok(errors) = sum.verify(strengths, field, samples, 1) else {
            return f64::NAN;
        };
        // The unbounded gradient of Hu's core has no meaningful relative error.
        let core = self.kernel.description().regularisation;
        let unbounded = core.is_some_and(|core| core.unbounded_gradient);
        let bounded = |output: &str| !unbounded || output != Output::VelocityGradient.name();
        errors
            .iter()
            .filter(|error| bounded(error.output))
            .map(|error| error.relative_l2)
            .fold(0.0, larger)
    }

    pub(super) fn row(&self, method: &str, points: String, parameters: String, measured: f64, allowed: f64) -> Row {
        Row {
            what: format!("{method}: {}", self.name()),
            precision: T::NAME,
            points,
            parameters,
            measured,
            allowed,
        }
    }
}

/// How many values of two fields differ.
pub(super) fn different_bits<T: Precision>(a: &Field<T>, b: &Field<T>) -> usize {
    let differ = |output: &Output| {
        let (a, b) = (a.get(*output).unwrap_or(&[]), b.get(*output).unwrap_or(&[]));
        let bits = |value: &T| value.to_f64().to_bits();
        a.iter().zip(b).filter(|(a, b)| bits(a) != bits(b)).count()
    };
    a.outputs().iter().map(differ).sum()
}

/// The larger of two errors; not a number beats all.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// The error of a sum that had to have a far field: not a number, which never passes, if it was summed by another method or
/// all in pairs.
pub(super) fn far_field_error(parameters: &Parameters, method: Method, measured: f64) -> f64 {
    let far = match method {
        Method::Fmm => parameters.interactions.m2l,
        _ => parameters.interactions.m2p,
    };
    if parameters.method == method && far > 0 {
        measured
    } else {
        f64::NAN
    }
}

pub(super) fn describe<T: Precision>(plan: &Plan<T>, tolerance: f64) -> String {
    let parameters = plan.parameters();
    let Interactions { m2l, m2p, .. } = parameters.interactions;
    format!(
        "{tolerance:.0e}: order {}, depth {}, capacity {}, {} far",
        parameters.order.unwrap_or(0),
        parameters.depth.unwrap_or(0),
        parameters.leaf_capacity.unwrap_or(0),
        m2l + m2p
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_all_in_pairs_or_by_another_method_does_not_pass() {
        let parameters = |method, m2l, m2p| Parameters {
            method,
            interactions: Interactions {
                m2l,
                m2p,
                ..Interactions::default()
            },
            ..Parameters::default()
        };
        let error = |parameters: &Parameters, method| far_field_error(parameters, method, 0.5);
        assert_eq!(error(&parameters(Method::Fmm, 1, 0), Method::Fmm), 0.5);
        assert_eq!(error(&parameters(Method::Treecode, 0, 1), Method::Treecode), 0.5);
        for (method, m2l, m2p) in [(Method::Fmm, 0, 1), (Method::Direct, 1, 1)] {
            assert!(error(&parameters(method, m2l, m2p), Method::Fmm).is_nan());
        }
        assert!(error(&parameters(Method::Treecode, 1, 0), Method::Treecode).is_nan());
    }

    #[test]
    fn sizes_of_cases_leave_a_far_field_at_every_tolerance() {
        for tolerance in [1e-2, 1e-4, 1e-6, 1e-12] {
            for case in cases::<f64>(tolerance) {
                assert!(
                    case.kernel
                        .core_reach(1.4 * case.size, 0.5 * tolerance, MOST_DERIVATIVES)
                        < 0.08,
                    "{}",
                    case.name()
                );
            }
        }
    }
}
