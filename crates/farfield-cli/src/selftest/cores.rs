//! Cores from a tenth of the points' spacing to ten times it: every kernel that has one, tolerances over the whole range.
//!
//! A core takes from the nearest pairs what they add to derivatives, so that the far field is a larger part of a sum: orders
//! chosen without looking at the core are too low. Where cores reach across the points there is no far field, and where they are
//! wide at the tightest tolerances orders are too high for a device; then the method is the plan's own.

use super::Error;
use super::checks::{Checks, Extent, Row};
use super::space::{KernelSum, MOST_DERIVATIVES, describe, far_field_error};
use farfield::cuda::Device;
use farfield::cuda::Plan;
use farfield::cuda::device::Precision;
use farfield_core::Method;
use farfield_core::kernel::{Kernel, Sizes};
use farfield_core::points::PointSet;
use std::sync::Arc;

/// Core sizes in spacings of the points.
const SIZES: [f64; 6] = [0.1, 0.25, 0.5, 1.0, 3.0, 10.0];

/// Cores that reach no farther than this part of the points' extent leave a far field.
const NEAR: f64 = 0.1;

/// The kernels that have a core.
fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::all().into_iter().filter(|kernel| kernel.has_sizes())
}

/// Adds all checks of one precision.
pub(super) fn add_checks<T: Precision>(checks: &mut Checks, n: usize, extent: Extent) {
    let tolerances: &[f64] = match (extent, T::DOUBLE) {
        (Extent::Quick, _) => &[1e-3],
        (Extent::Full, false) => &[1e-2, 1e-3, 1e-4, 1e-5],
        (Extent::Full, true) => &[1e-2, 1e-4, 1e-7, 1e-10],
    };
    for tolerance in tolerances {
        for kernel in kernels() {
            for spacings in SIZES {
                checks.add(move |device| check::<T>(device, kernel, spacings, n, *tolerance));
            }
        }
    }
}

fn check<T: Precision>(
    device: &Arc<Device>,
    kernel: Kernel,
    spacings: f64,
    n: usize,
    tolerance: f64,
) -> Result<Row, Error> {
    let size = spacings * (n as f64).powf(-1.0 / 3.0);
    let case = KernelSum {
        kernel,
        sizes: Sizes::Global(T::from_f64(size)),
        size,
        per_source: false,
    };
    let sources = PointSet::Cube.generate::<T>(n, 1);
    let (sizes, strengths) = (case.sizes(n), case.strengths(n));
    let mut is_far = kernel.core_reach(size, 0.5 * tolerance, MOST_DERIVATIVES) < NEAR;
    let sum = case.sum(&sources, &sizes).tolerance(tolerance);
    let mut plan = match is_far.then(|| Plan::new(device, &sum.clone().method(Method::Fmm).between())) {
        // An order that no block has memory for: the plan's own method must do.
        None | Some(Err(farfield::Error::Unsupported { .. })) => {
            is_far = false;
            Plan::new(device, &sum.between())?
        }
        Some(plan) => plan?,
    };
    let field = plan.evaluate(&strengths)?;
    let mut measured = case.error(&field, &sources, None, &sizes, &strengths);
    if is_far {
        measured = far_field_error(plan.parameters(), Method::Fmm, measured);
    }
    let what = format!("{}, core of {spacings} spacings", plan.parameters().method);
    Ok(case.row(
        &what,
        format!("cube {n}"),
        describe(&plan, tolerance),
        measured,
        tolerance,
    ))
}
