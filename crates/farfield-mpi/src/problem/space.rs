//! Sums in three dimensions.

use super::{Points, Problem};
use crate::equivalent::Carried;
use farfield::kernel::{Form, Kernel, Output};
use farfield::plan::Parameters;
use farfield::tuning::MachineProfile;
use farfield::{Error, Field, Options, Precision, Sum};

/// A problem in space.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// The kernel.
    pub kernel: Kernel,
    /// The quantities to compute.
    pub outputs: Vec<Output>,
    /// Accept the velocity gradient of a core whose gradient is unbounded at its centre.
    pub allow_unbounded_gradient: bool,
    /// Include the action of each source on itself where it is finite.
    pub count_self: bool,
}

impl Space {
    /// A kernel and the quantities to compute.
    pub fn new(kernel: Kernel, outputs: &[Output]) -> Self {
        Self {
            kernel,
            outputs: outputs.to_vec(),
            allow_unbounded_gradient: false,
            count_self: false,
        }
    }
}

impl Problem<3> for Space {
    type Geometry = farfield::Space;
    type Output = Output;

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn name(output: Output) -> &'static str {
        output.name()
    }

    fn components(&self, output: Output) -> usize {
        output.components()
    }

    fn carried(&self) -> Carried {
        match self.kernel.form() {
            Form::Dipole => Carried::ChargeAndDipole,
            form => Carried::Each(form.strengths()),
        }
    }

    fn derivatives(&self) -> usize {
        self.outputs
            .iter()
            .map(|output| output.derivatives())
            .min()
            .unwrap_or(0)
    }

    fn reach(&self, size: f64, tolerance: f64) -> f64 {
        let reach = |output: &Output| self.kernel.core_reach(size, tolerance, output.derivatives());
        self.outputs.iter().map(reach).fold(0.0, f64::max)
    }

    fn sum<'a, T: Precision>(&self, points: Points<'a, T, 3>, vectors: usize, options: &Options) -> Sum<'a, T> {
        let mut sum = Sum::new(self.kernel, points.sources)
            .sizes(points.sizes)
            .outputs(&self.outputs)
            .vectors(vectors)
            .options(options.clone());
        if let Some(targets) = points.targets {
            sum = sum.targets(targets);
        }
        if self.count_self {
            sum = sum.count_self();
        }
        if self.allow_unbounded_gradient {
            sum = sum.allow_unbounded_gradient();
        }
        sum
    }

    fn counts_self(&self) -> bool {
        self.count_self
    }

    fn at_itself(&self, output: Output, strength: &[f64], size: f64, value: &mut [f64]) {
        value.fill(0.0);
        let core = match self.kernel.description().regularisation {
            Some(core) if core.finite_centre && size > 0.0 => core,
            _ => return,
        };
        let (profile, _) = (core.profile)(0.0, size);
        let scaled = self.kernel.scale(output) * profile;
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

    fn magnitude(&self, output: Output) -> (i32, f64) {
        (1 + output.derivatives() as i32, self.kernel.scale(output).abs())
    }

    fn work<T: Precision>(&self, plan: &Parameters, points: usize, has_sizes: bool, profile: &MachineProfile) -> f64 {
        let costs = profile.of::<T>();
        let form = self.kernel.form();
        let derivatives = self
            .outputs
            .iter()
            .map(|output| output.derivatives())
            .max()
            .unwrap_or(0);
        let pair = costs.pair(form, derivatives) * self.kernel.description().pair_cost(has_sizes);
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

    fn field<T: Precision>(&self, vectors: usize, targets: usize, values: Vec<Vec<T>>) -> Result<Field<T>, Error> {
        Field::from_values(&self.outputs, vectors, targets, values, 0.0)
    }
}
