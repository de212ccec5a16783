//! Every kernel through the whole engine, on a few points divided into many boxes.

use super::{Kernel, Sizes};
use crate::plan::{Method, Sum};
use crate::points::{ChargeDistribution, PointSet};
use crate::simd::Real;
use crate::verify::{Inputs, verify};

fn keeps_its_tolerance<T: Real>(kernel: Kernel, method: Method, tolerance: f64) {
    let n = 700;
    let points = PointSet::Cube.generate::<T>(n, 1);
    let strengths = ChargeDistribution::Signed.generate::<T>(n * kernel.strength_components(), 2);
    let sizes = if kernel.has_sizes() {
        Sizes::Global(T::from_f64(0.004))
    } else {
        Sizes::None
    };
    let outputs = &kernel.outputs()[..2];
    let sum = Sum::new(kernel, &points)
        .sizes(sizes.clone())
        .outputs(outputs)
        .tolerance(tolerance);
    let sum = sum.method(method).leaf_capacity(12).allow_unbounded_gradient();
    let mut plan = sum.plan().unwrap();
    let field = plan.evaluate(&strengths).unwrap();
    let problem = Inputs {
        kernel,
        sources: &points,
        targets: None,
        sizes: &sizes,
        strengths: &strengths,
    };
    let core = kernel.description().regularisation;
    for error in verify(&problem, &field, 60, 1).unwrap() {
        // The unbounded gradient of Hu's core has no meaningful relative error.
        if core.is_some_and(|core| core.unbounded_gradient) && error.output.derivatives() > 1 {
            continue;
        }
        let what = format!("{kernel:?} {method} {} {}", T::NAME, error.output);
        assert!(
            error.relative_l2 <= tolerance,
            "{what} at {tolerance:e}: {:e}",
            error.relative_l2
        );
    }
    // The tail of a core may reach across the cube. Only then may the far field be empty.
    let ends = core.is_none_or(|core| (core.reach)(1e-12, 2) < 4.0);
    let far = plan.parameters().interactions;
    assert!(!ends || far.m2l + far.m2p > 0, "{kernel:?} {method}: no far field");
}

#[test]
fn every_kernel_keeps_its_tolerance_through_the_far_field() {
    for kernel in Kernel::all() {
        for tolerance in [1e-3, 1e-7] {
            keeps_its_tolerance::<f64>(kernel, Method::Fmm, tolerance);
        }
        keeps_its_tolerance::<f64>(kernel, Method::Treecode, 1e-3);
        keeps_its_tolerance::<f32>(kernel, Method::Fmm, 1e-3);
    }
}
