//! Every kernel through the whole engine, on a few points divided into many boxes.

use super::{Kernel, Output, Sizes};
use crate::geometry::Space;
use crate::points::{ChargeDistribution, PointSet};
use crate::simd::Real;
use crate::sum::{Method, Options, Points, Request};
use crate::verify::verify;

fn keeps_its_tolerance<T: Real>(kernel: Kernel, method: Method, tolerance: f64) {
    let n = 700;
    let points = PointSet::Cube.generate::<T>(n, 1);
    let strengths = ChargeDistribution::Signed.generate::<T>(n * kernel.strength_components(), 2);
    let sizes = if kernel.has_sizes() {
        Sizes::Global(T::from_f64(0.004))
    } else {
        Sizes::None
    };
    let request = Request::<Space> {
        outputs: kernel.outputs()[..2].to_vec(),
        options: Options {
            tolerance: Some(tolerance),
            method,
            leaf_capacity: Some(12),
            allow_unbounded_gradient: true,
            ..Options::default()
        },
        ..Request::new(kernel)
    };
    let sum = request.over(Points::new(&points, None, &sizes));
    let mut plan = sum.plan().unwrap();
    let field = plan.evaluate(&strengths).unwrap();
    let core = kernel.description().regularisation;
    for error in verify(&sum, &strengths, &field, 60, 1).unwrap() {
        // The unbounded gradient of Hu's core has no meaningful relative error.
        if core.is_some_and(|core| core.unbounded_gradient) && error.output == Output::VelocityGradient.name() {
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
