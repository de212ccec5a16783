//! Sums in the plane between arrays.

use super::array::Array;
use super::sum::{ArraySizes, Summed, points};
use super::{GpuMemory, Memory};
use crate::options::apply;
use crate::{Error, Options, Precision};
use farfield_core::plane::{Core, Kernel, Output};
use farfield_cuda::resident;
use std::sync::Arc;

/// A sum in the plane between arrays that lie in one memory. Points have two numbers each, strengths are real.
#[derive(Debug, Clone)]
pub struct PlaneArraySum<'a, T: Precision> {
    /// The kernel.
    pub kernel: Kernel,
    /// The core of the sources.
    pub core: Core,
    /// What to compute.
    pub outputs: &'a [Output],
    /// The sources.
    pub sources: &'a Array<T>,
    /// The targets, where they are not the sources.
    pub targets: Option<&'a Array<T>>,
    /// Core sizes.
    pub sizes: ArraySizes<'a, T>,
    /// One for each source.
    pub strengths: &'a Array<T>,
    /// How to sum. On a graphics processor's memory it sums there; on the host's, where the options say.
    pub options: &'a Options,
}

impl<T: Precision> Memory<T> {
    /// Plans and evaluates a sum in the plane.
    ///
    /// # Errors
    /// As [`crate::plane::Plan::evaluate`], and [`Error::Unsupported`] for an array that lies in another memory.
    pub fn sum_in_plane(&self, sum: &PlaneArraySum<'_, T>) -> Result<Summed<T>, Error> {
        match &self.gpu {
            None => sum.on_host(),
            Some(gpu) => sum.on_gpu(gpu),
        }
    }
}

impl<T: Precision> PlaneArraySum<'_, T> {
    fn on_host(&self) -> Result<Summed<T>, Error> {
        let mut sum = crate::plane::Sum::new(self.kernel, points(self.sources)?)
            .core(self.core, self.sizes.on_host()?)
            .outputs(self.outputs)
            .options(self.options.clone());
        if let Some(targets) = self.targets {
            sum = sum.targets(points(targets)?);
        }
        let mut plan = sum.plan()?;
        let field = plan.evaluate(self.strengths.on_host()?)?;
        Ok(Summed::on_host(field, &plan))
    }

    fn on_gpu(&self, gpu: &Arc<GpuMemory<T>>) -> Result<Summed<T>, Error> {
        let (sizes, each) = self.sizes.on_gpu(gpu)?;
        let points = resident::DevicePoints {
            sources: self.sources.on(gpu)?,
            targets: self.targets.map(|targets| targets.on(gpu)).transpose()?,
            sizes: each,
        };
        let sum = farfield_core::plane::Sum::new(self.kernel, &[])
            .core(self.core, sizes)
            .outputs(self.outputs);
        let summed = gpu
            .resident
            .sum_in_plane(&apply!(sum, self.options), &points, self.strengths.on(gpu)?)?;
        Ok(Summed::on_gpu(summed, gpu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_on_the_host_are_summed_as_points_are() {
        let memory = Memory::<f64>::host();
        let store = |values: &[f64]| memory.store(values.to_vec()).unwrap();
        let (sources, targets) = (store(&[0.0, 0.0, 1.0, 0.0]), store(&[0.0, 2.0]));
        let (strengths, sizes) = (store(&[1.0, -2.0]), store(&[0.1, 0.5]));
        let sum = PlaneArraySum {
            kernel: Kernel::Harmonic,
            core: Core::Algebraic,
            outputs: &[Output::Potential],
            sources: &sources,
            targets: Some(&targets),
            sizes: ArraySizes::PerSource {
                each: &sizes,
                largest: 0.5,
            },
            strengths: &strengths,
            options: &Options::default(),
        };
        let found = memory.sum_in_plane(&sum).unwrap();
        // gamma (dx - i dy) / (r^2 + size^2) with d from the target to the source
        let (a, b) = (1.0 / (4.0 + 0.01), -2.0 / (5.0 + 0.25));
        let expected = [b, 2.0 * (a + b)];
        for (found, expected) in found.outputs[0].values().unwrap().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
