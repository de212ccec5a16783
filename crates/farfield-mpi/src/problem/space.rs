//! Sums in three dimensions.

use super::{Points, Shared};
use crate::equivalent::Carried;
use farfield::kernel::{Form, Kernel, Output};
use farfield::plan::Parameters;
use farfield::tuning::MachineProfile;
use farfield::{Precision, Request, Space, Sum};

impl Shared<3> for Space {
    fn carried(kernel: Kernel) -> Carried {
        match kernel.form() {
            Form::Dipole => Carried::ChargeAndDipole,
            form => Carried::Each(form.strengths()),
        }
    }

    fn derivatives(request: &Request<Self>) -> usize {
        request
            .outputs
            .iter()
            .map(|output| output.derivatives())
            .min()
            .unwrap_or(0)
    }

    fn reach(request: &Request<Self>, size: f64, tolerance: f64) -> f64 {
        let reach = |output: &Output| request.kernel.core_reach(size, tolerance, output.derivatives());
        request.outputs.iter().map(reach).fold(0.0, f64::max)
    }

    fn sum<'a, T: Precision>(request: Request<Self>, points: Points<'a, T, 3>) -> Sum<'a, T> {
        let sum = Sum::of(request, points.sources).sizes(points.sizes);
        match points.targets {
            Some(targets) => sum.targets(targets),
            None => sum,
        }
    }

    fn at_itself(kernel: Kernel, output: Output, strength: &[f64], size: f64, value: &mut [f64]) {
        value.fill(0.0);
        let core = match kernel.description().regularisation {
            Some(core) if core.finite_centre && size > 0.0 => core,
            _ => return,
        };
        let (profile, _) = (core.profile)(0.0, size);
        let scaled = kernel.scale(output) * profile;
        match (output, strength) {
            (Output::Potential, [charge]) => value[0] = scaled * charge,
            // The velocity gamma x r K has the gradient K times the matrix of the cross product.
            (Output::VelocityGradient, [x, y, z]) => {
                let cross = [0.0, -z, *y, *z, 0.0, -x, -y, *x, 0.0];
                value
                    .iter_mut()
                    .zip(cross)
                    .for_each(|(value, cross)| *value = scaled * cross);
            }
            // All other self terms vanish because the kernel is odd in r.
            _ => {}
        }
    }

    fn magnitude(kernel: Kernel, output: Output) -> (i32, f64) {
        (1 + output.derivatives() as i32, kernel.scale(output).abs())
    }

    fn work<T: Precision>(
        request: &Request<Self>,
        plan: &Parameters,
        points: usize,
        has_sizes: bool,
        profile: &MachineProfile,
    ) -> f64 {
        let costs = profile.of::<T>();
        let form = request.kernel.form();
        let derivatives = request
            .outputs
            .iter()
            .map(|output| output.derivatives())
            .max()
            .unwrap_or(0);
        let pair = costs.pair(form, derivatives) * request.kernel.description().pair_cost(has_sizes);
        let counts = &plan.interactions;
        let Some(order) = plan.order else {
            return counts.p2p as f64 * pair;
        };
        let mean_order = (order + plan.lowest_m2l_order.unwrap_or(order)) / 2;
        let coefficients = ((order + 1) * (order + 1)) as f64 * costs.point_coefficient;
        let expansions = form.expansions() as f64;
        let at_points = (points as u64 + counts.m2p + counts.p2l) as f64 * coefficients;
        counts.p2p as f64 * pair + expansions * (counts.m2l as f64 * costs.m2l(mean_order) + at_points)
    }
}
