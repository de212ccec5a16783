//! Sums in the plane.

use super::{Points, Problem};
use crate::equivalent::Carried;
use farfield::plan::Parameters;
use farfield::plane::{Core, Field, Kernel, Output, Sum};
use farfield::tuning::MachineProfile;
use farfield::{Error, Options, Precision};

/// A problem in the plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// The kernel.
    pub kernel: Kernel,
    /// The core of the sources.
    pub core: Core,
    /// The quantities to compute.
    pub outputs: Vec<Output>,
    /// Whether strengths are complex: two numbers each.
    pub complex: bool,
}

impl Plane {
    /// A kernel without cores and with real strengths, and the quantities to compute.
    pub fn new(kernel: Kernel, outputs: &[Output]) -> Self {
        Self {
            kernel,
            core: Core::Singular,
            outputs: outputs.to_vec(),
            complex: false,
        }
    }
}

impl Problem<2> for Plane {
    type Geometry = farfield::plane::Plane;
    type Output = Output;

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn name(output: Output) -> &'static str {
        output.name()
    }

    fn components(&self, output: Output) -> usize {
        output.components(self.kernel, self.complex)
    }

    fn carried(&self) -> Carried {
        Carried::Each(1 + usize::from(self.complex))
    }

    fn derivatives(&self) -> usize {
        let of_kernel = usize::from(self.kernel == Kernel::Harmonic);
        of_kernel
            + self
                .outputs
                .iter()
                .map(|output| output.derivatives())
                .min()
                .unwrap_or(0)
    }

    fn reach(&self, size: f64, tolerance: f64) -> f64 {
        self.core.reach(size, tolerance)
    }

    fn sum<'a, T: Precision>(&self, points: Points<'a, T, 2>, vectors: usize, options: &Options) -> Sum<'a, T> {
        let mut sum = Sum::new(self.kernel, points.sources)
            .core(self.core, points.sizes)
            .outputs(&self.outputs)
            .vectors(vectors)
            .options(options.clone());
        if let Some(targets) = points.targets {
            sum = sum.targets(targets);
        }
        if self.complex { sum.complex() } else { sum }
    }

    fn counts_self(&self) -> bool {
        false
    }

    fn at_itself(&self, output: Output, strength: &[f64], size: f64, value: &mut [f64]) {
        const EULER: f64 = 0.577_215_664_901_532_9;
        value.fill(0.0);
        if (self.kernel, output) != (Kernel::Log, Output::Potential) || size <= 0.0 {
            // All other self terms vanish because the kernel is odd.
            return;
        }
        // The limits of log r + E_1(r^2/s^2)/2 and log(r^2 + s^2)/2 for r -> 0.
        let log = match self.core {
            Core::Singular => return,
            Core::Gaussian => size.ln() - 0.5 * EULER,
            Core::Algebraic => size.ln(),
        };
        value
            .iter_mut()
            .zip(strength)
            .for_each(|(value, strength)| *value = strength * log);
    }

    fn magnitude(&self, output: Output) -> (i32, f64) {
        let of_kernel = i32::from(self.kernel == Kernel::Harmonic);
        (of_kernel + output.derivatives() as i32, 1.0)
    }

    fn work<T: Precision>(&self, plan: &Parameters, points: usize, _: bool, profile: &MachineProfile) -> f64 {
        let costs = &profile.of::<T>().plane;
        let pair = costs.pair(self.kernel == Kernel::Log, Output::most_derivatives(&self.outputs));
        let counts = &plan.interactions;
        let Some(order) = plan.order else {
            return counts.p2p as f64 * pair;
        };
        let p = order as f64;
        let m2l = costs.m2l[0] + p * (costs.m2l[1] + p * costs.m2l[2]);
        let at_points = (points as u64 + counts.m2p + counts.p2l) as f64 * p * costs.point_coefficient;
        counts.p2p as f64 * pair + counts.m2l as f64 * m2l + at_points
    }

    fn field<T: Precision>(&self, vectors: usize, targets: usize, values: Vec<Vec<T>>) -> Result<Field<T>, Error> {
        Field::of_values(
            (self.kernel, self.complex),
            &self.outputs,
            (vectors, targets),
            values,
            0.0,
        )
    }
}
