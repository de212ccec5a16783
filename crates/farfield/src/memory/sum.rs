//! Sums between arrays.

use super::array::{Array, Place};
use super::plan::ArrayPoints;
use super::{GpuMemory, Memory};
use crate::geometry::Geometry;
use crate::{Error, Precision, Request, SumOf};
use farfield_core::check::Check;
use farfield_core::kernel::Sizes;
use farfield_core::plan::Parameters;
use farfield_cuda::resident;
use std::sync::Arc;

/// Core sizes or softening lengths.
#[derive(Debug, Clone, Copy)]
pub enum ArraySizes<'a, T: Precision> {
    /// No sizes.
    None,
    /// One size for all sources.
    Global(T),
    /// One for each source.
    PerSource {
        /// The sizes.
        each: &'a Array<T>,
        /// The largest of them.
        largest: T,
    },
}

/// The results of a sum between arrays.
#[derive(Debug)]
pub struct Summed<T: Precision> {
    /// The values of each output, in the order of the targets, in the memory of the points.
    pub outputs: Vec<Array<T>>,
    /// The parameters of the plan.
    pub parameters: Parameters,
    /// The measured error; `None` if the request has no check.
    pub check: Option<Check>,
    /// Total seconds, planning included.
    pub seconds: f64,
}

impl<T: Precision> Memory<T> {
    /// Plans and evaluates. `strengths` are ordered by vector, source and component. Sums in a GPU's memory are done on
    /// that GPU; sums on the host, on the device of the request.
    ///
    /// # Errors
    /// As [`crate::PlanOf::evaluate`], and [`Error::Unsupported`] for an array in another memory.
    pub fn sum<G: Geometry>(
        &self,
        request: &Request<G>,
        points: &ArrayPoints<'_, T>,
        strengths: &Array<T>,
    ) -> Result<Summed<T>, Error> {
        match &self.gpu {
            None => on_host(request, points, strengths),
            Some(gpu) => {
                let summed = G::sum_arrays(&gpu.resident, request, &points.on_gpu(gpu)?, strengths.on(gpu)?)?;
                Ok(Summed::on_gpu(summed, gpu))
            }
        }
    }
}

fn on_host<T: Precision, G: Geometry>(
    request: &Request<G>,
    points: &ArrayPoints<'_, T>,
    strengths: &Array<T>,
) -> Result<Summed<T>, Error> {
    let mut sum = SumOf::of(request.clone(), G::points(points.sources.on_host()?)).sizes(points.sizes.on_host()?);
    if let Some(targets) = points.targets {
        sum = sum.targets(G::points(targets.on_host()?));
    }
    let mut plan = sum.plan()?;
    let field = plan.evaluate(strengths.on_host()?)?;
    let check = field.check().cloned();
    Ok(Summed {
        outputs: field.into_values().into_iter().map(Array::of).collect(),
        parameters: *plan.parameters(),
        check,
        seconds: plan.seconds().total,
    })
}

impl<'a, T: Precision> ArraySizes<'a, T> {
    /// The sizes of a sum on the host.
    fn on_host(&self) -> Result<Sizes<T>, Error> {
        Ok(match self {
            ArraySizes::None => Sizes::None,
            ArraySizes::Global(size) => Sizes::Global(*size),
            ArraySizes::PerSource { each, .. } => Sizes::PerSource(each.on_host()?.to_vec()),
        })
    }

    /// The size of all sources, or the largest; and the size of each source.
    pub(super) fn on_gpu(&self, gpu: &Arc<GpuMemory<T>>) -> Result<(Sizes<T>, Option<&'a resident::Array<T>>), Error> {
        Ok(match *self {
            ArraySizes::None => (Sizes::None, None),
            ArraySizes::Global(size) => (Sizes::Global(size), None),
            ArraySizes::PerSource { each, largest } => (Sizes::Global(largest), Some(each.on(gpu)?)),
        })
    }
}

impl<T: Precision> Summed<T> {
    /// The results of a sum on a device, in its memory.
    fn on_gpu(summed: resident::Results<T>, gpu: &Arc<GpuMemory<T>>) -> Self {
        let outputs = summed.outputs.into_iter().map(|array| Array {
            place: Place::gpu(gpu, array),
        });
        Self {
            outputs: outputs.collect(),
            parameters: summed.parameters,
            check: summed.check,
            seconds: summed.seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::{Core, Interaction, Kernel, Plane};

    #[test]
    fn arrays_on_the_host_are_summed_as_points_are() {
        let memory = Memory::<f64>::host();
        let store = |values: &[f64]| memory.store(values.to_vec()).unwrap();
        let (sources, targets) = (store(&[0.0, 0.0, 1.0, 0.0]), store(&[0.0, 2.0]));
        let (strengths, sizes) = (store(&[1.0, -2.0]), store(&[0.1, 0.5]));
        let request = Request::<Plane>::new(Interaction {
            core: Core::Algebraic,
            ..Kernel::Harmonic.into()
        });
        let points = ArrayPoints {
            sources: &sources,
            targets: Some(&targets),
            sizes: ArraySizes::PerSource {
                each: &sizes,
                largest: 0.5,
            },
        };
        let found = memory.sum(&request, &points, &strengths).unwrap();
        // gamma (dx - i dy) / (r^2 + size^2) with d from the target to the source
        let (a, b) = (1.0 / (4.0 + 0.01), -2.0 / (5.0 + 0.25));
        let expected = [b, 2.0 * (a + b)];
        for (found, expected) in found.outputs[0].values().unwrap().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
