//! Sums in the plane.

use super::{Points, Shared};
use crate::equivalent::Carried;
use farfield::plan::Parameters;
use farfield::plane::{Core, Interaction, Kernel, Output, Plane, Sum};
use farfield::tuning::MachineProfile;
use farfield::{Precision, Request};

impl Shared<2> for Plane {
    fn carried(kernel: Interaction) -> Carried {
        Carried::Each(kernel.strength_components())
    }

    fn derivatives(request: &Request<Self>) -> usize {
        let of_kernel = usize::from(request.kernel.kernel == Kernel::Harmonic);
        of_kernel
            + request
                .outputs
                .iter()
                .map(|output| output.derivatives())
                .min()
                .unwrap_or(0)
    }

    fn reach(request: &Request<Self>, size: f64, tolerance: f64) -> f64 {
        request.kernel.core.reach(size, tolerance)
    }

    fn sum<'a, T: Precision>(request: Request<Self>, points: Points<'a, T, 2>) -> Sum<'a, T> {
        let sum = Sum::of(request, points.sources).sizes(points.sizes);
        match points.targets {
            Some(targets) => sum.targets(targets),
            None => sum,
        }
    }

    fn at_itself(kernel: Interaction, output: Output, strength: &[f64], size: f64, value: &mut [f64]) {
        const EULER: f64 = 0.577_215_664_901_532_9;
        value.fill(0.0);
        if (kernel.kernel, output) != (Kernel::Log, Output::Potential) || size <= 0.0 {
            // All other self terms vanish because the kernel is odd.
            return;
        }
        // The limits of log r + E_1(r^2/s^2)/2 and log(r^2 + s^2)/2 for r -> 0.
        let log = match kernel.core {
            Core::Singular => return,
            Core::Gaussian => size.ln() - 0.5 * EULER,
            Core::Algebraic => size.ln(),
        };
        value
            .iter_mut()
            .zip(strength)
            .for_each(|(value, strength)| *value = strength * log);
    }

    fn magnitude(kernel: Interaction, output: Output) -> (i32, f64) {
        let of_kernel = i32::from(kernel.kernel == Kernel::Harmonic);
        (of_kernel + output.derivatives() as i32, 1.0)
    }

    fn work<T: Precision>(
        request: &Request<Self>,
        plan: &Parameters,
        points: usize,
        _: bool,
        profile: &MachineProfile,
    ) -> f64 {
        let costs = &profile.of::<T>().plane;
        let pair = costs.pair(
            request.kernel.kernel == Kernel::Log,
            Output::most_derivatives(&request.outputs),
        );
        let counts = &plan.interactions;
        let Some(order) = plan.order else {
            return counts.p2p as f64 * pair;
        };
        let p = order as f64;
        let m2l = costs.m2l[0] + p * (costs.m2l[1] + p * costs.m2l[2]);
        let at_points = (points as u64 + counts.m2p + counts.p2l) as f64 * p * costs.point_coefficient;
        counts.p2p as f64 * pair + counts.m2l as f64 * m2l + at_points
    }
}
