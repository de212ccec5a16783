//! Sums that cores and device share, against the truth: kernels, methods, point sets, and bitwise repeatability.

use super::checks::{Checks, Row};
use super::space::{KernelSum, cases, different_bits, size_for};
use crate::error::Error;
use farfield::cuda::Device;
use farfield::cuda::device::Precision;
use farfield::cuda::hybrid::Plan;
use farfield_core::kernel::{Kernel, Sizes};
use farfield_core::points::{ChargeDistribution, PointSet};
use farfield_core::tuning::{DeviceRates, MachineProfile, PairRates};
use farfield_core::{Method, Sum};
use std::sync::Arc;

/// Adds all checks of one precision.
pub(super) fn add_checks<T: Precision>(checks: &mut Checks, n: usize) {
    let usual = if T::DOUBLE { 1e-6 } else { 1e-4 };
    for case in cases::<T>(usual) {
        checks.add(move |device| check(device, &case, PointSet::Cube, n, Method::Fmm, usual));
    }
    for set in [PointSet::Sphere, PointSet::Plummer] {
        checks.add(move |device| {
            check(
                device,
                &KernelSum::<T>::new(Kernel::Coulomb),
                set,
                n,
                Method::Fmm,
                usual,
            )
        });
    }
    for method in [Method::Treecode, Method::Direct] {
        let kernel = Kernel::gravity(1.0);
        let size = size_for(kernel, usual);
        let softened = KernelSum {
            sizes: Sizes::Global(T::from_f64(size)),
            size,
            ..KernelSum::new(kernel)
        };
        checks.add(move |device| check(device, &softened, PointSet::Plummer, n, method, usual));
    }
    checks.add(move |device| other_targets::<T>(device, n, usual));
    checks.add(move |device| duplicates::<T>(device, n));
    checks.add(move |device| several_vectors_on_both::<T>(device, n));
    checks.add(move |device| repeated::<T>(device, n));
}

/// The largest error of all outputs.
fn check<T: Precision>(
    device: &Arc<Device>,
    case: &KernelSum<T>,
    set: PointSet,
    n: usize,
    method: Method,
    tolerance: f64,
) -> Result<Row, Error> {
    let sources = set.generate::<T>(n, 1);
    let (sizes, strengths) = (case.sizes(n), case.strengths(n));
    let sum = case.sum(&sources, &sizes).method(method).tolerance(tolerance);
    let mut plan = Plan::new(device, &sum, &MachineProfile::default())?;
    let field = plan.evaluate(&strengths)?;
    let measured = case.error(&field, &sources, None, &sizes, &strengths);
    let what = format!("hybrid, {method}");
    Ok(case.row(&what, format!("{set} {n}"), describe(&plan), measured, tolerance))
}

fn other_targets<T: Precision>(device: &Arc<Device>, n: usize, tolerance: f64) -> Result<Row, Error> {
    let case = KernelSum::<T>::new(Kernel::Coulomb);
    let (sources, targets) = (
        PointSet::Cube.generate::<T>(n, 1),
        PointSet::Sphere.generate::<T>(n / 3, 3),
    );
    let strengths = case.strengths(n);
    let sum = case.sum(&sources, &Sizes::None).targets(&targets).method(Method::Fmm);
    let mut plan = Plan::new(device, &sum.tolerance(tolerance), &MachineProfile::default())?;
    let field = plan.evaluate(&strengths)?;
    let measured = case.error(&field, &sources, Some(&targets), &Sizes::None, &strengths);
    let points = format!("cube {n}, sphere {}", n / 3);
    Ok(case.row("hybrid, other targets", points, describe(&plan), measured, tolerance))
}

/// A third of all points at one place: the plan's points are not the caller's.
fn duplicates<T: Precision>(device: &Arc<Device>, n: usize) -> Result<Row, Error> {
    let case = KernelSum::<T>::new(Kernel::Coulomb);
    let mut sources = PointSet::Cube.generate::<T>(n, 1);
    let place = sources[n / 2];
    sources[..n / 3].fill(place);
    let strengths = case.strengths(n);
    let sum = Sum::new(Kernel::Coulomb, &sources).method(Method::Fmm).tolerance(1e-4);
    let mut plan = Plan::new(device, &sum, &MachineProfile::default())?;
    let field = plan.evaluate(&strengths)?;
    let measured = case.error(&field, &sources, None, &Sizes::None, &strengths);
    let points = format!("cube {n}, a third at one place");
    Ok(case.row("hybrid, duplicates", points, describe(&plan), measured, 1e-4))
}

/// Three vectors, and a profile of a device so slow that the cores sum pairs as well.
fn several_vectors_on_both<T: Precision>(device: &Arc<Device>, n: usize) -> Result<Row, Error> {
    // The fewest points whose leaves are enough for both.
    let n = n.max(6000);
    let case = KernelSum::<T>::new(Kernel::Coulomb);
    let rates = PairRates {
        scalar: [3e8; 3],
        vector: [3e8; 2],
    };
    let profile = MachineProfile {
        device: Some(DeviceRates {
            name: device.properties().name.clone(),
            speedup: 1.0,
            bus: 1e10,
            f32: rates.clone(),
            f64: rates,
        }),
        ..MachineProfile::default()
    };
    let sources = PointSet::Cube.generate::<T>(n, 1);
    let strengths = ChargeDistribution::Signed.generate::<T>(3 * n, 5);
    let sum = case.sum(&sources, &Sizes::None).vectors(3).method(Method::Fmm);
    let mut plan = Plan::new(device, &sum.tolerance(1e-4), &profile)?;
    let field = plan.evaluate(&strengths)?;
    let shared = (0.05..0.95).contains(&plan.device_share());
    let measured = case.error(&field, &sources, None, &Sizes::None, &strengths);
    let measured = if shared { measured } else { f64::NAN };
    let what = "hybrid, pairs on both, 3 vectors";
    Ok(case.row(what, format!("cube {n}"), describe(&plan), measured, 1e-4))
}

/// The number of values that differ between evaluations of two plans.
fn repeated<T: Precision>(device: &Arc<Device>, n: usize) -> Result<Row, Error> {
    let case = KernelSum::<T>::new(Kernel::Coulomb);
    let sources = PointSet::Plummer.generate::<T>(n, 1);
    let strengths = case.strengths(n);
    let sum = case.sum(&sources, &Sizes::None).method(Method::Fmm).tolerance(1e-4);
    let profile = MachineProfile::default();
    let first = Plan::new(device, &sum, &profile)?.evaluate(&strengths)?;
    let mut plan = Plan::new(device, &sum, &profile)?;
    let mut different = 0;
    for _ in 0..3 {
        different += different_bits(&first, &plan.evaluate(&strengths)?);
    }
    let (what, points) = ("hybrid, repeated: bits that differ", format!("plummer {n}"));
    Ok(case.row(what, points, describe(&plan), different as f64, 0.0))
}

fn describe<T: Precision>(plan: &Plan<T>) -> String {
    let parameters = plan.parameters();
    format!(
        "order {}, capacity {}, {:.0} % of the pairs",
        parameters.order.unwrap_or(0),
        parameters.leaf_capacity.unwrap_or(0),
        100.0 * plan.device_share()
    )
}
