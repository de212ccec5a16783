//! Sums between arrays.

use super::array::{Array, Place};
use super::{GpuMemory, Memory};
use crate::geometry::Geometry;
use crate::options::apply;
use crate::plan_of::PlanOf;
use crate::{Error, Field, Options, Precision, Sum};
use farfield_core::check::Check;
use farfield_core::kernel::{Kernel, Output, Sizes};
use farfield_core::plan::Parameters;
use farfield_cuda::resident;
use std::sync::Arc;

/// A sum between arrays that lie in one memory. Points have three numbers each.
#[derive(Debug, Clone)]
pub struct ArraySum<'a, T: Precision> {
    /// The kernel.
    pub kernel: Kernel,
    /// What to compute. The velocity gradient of any core can be asked for.
    pub outputs: &'a [Output],
    /// How many vectors of strengths there are.
    pub vectors: usize,
    /// The sources.
    pub sources: &'a Array<T>,
    /// The targets, where they are not the sources.
    pub targets: Option<&'a Array<T>>,
    /// Core sizes or softening lengths.
    pub sizes: ArraySizes<'a, T>,
    /// Vector by vector, source by source, component by component.
    pub strengths: &'a Array<T>,
    /// How to sum. On a graphics processor's memory it sums there; on the host's, where the options say.
    pub options: &'a Options,
}

/// Core sizes or softening lengths.
#[derive(Debug, Clone, Copy)]
pub enum ArraySizes<'a, T: Precision> {
    /// None.
    None,
    /// The same for every source.
    Global(T),
    /// One for each source.
    PerSource {
        /// The sizes.
        each: &'a Array<T>,
        /// The largest of them.
        largest: T,
    },
}

/// What was summed.
#[derive(Debug)]
pub struct Summed<T: Precision> {
    /// The values of each output, in the order of the targets, in the memory of the points.
    pub outputs: Vec<Array<T>>,
    /// What the plan settled on.
    pub parameters: Parameters,
    /// The error that was measured; `None` where it was told not to.
    pub check: Option<Check>,
    /// Seconds it took, planning included.
    pub seconds: f64,
}

impl<T: Precision> Memory<T> {
    /// Plans and evaluates.
    ///
    /// # Errors
    /// As [`crate::Plan::evaluate`], and [`Error::Unsupported`] for an array that lies in another memory.
    pub fn sum(&self, sum: &ArraySum<'_, T>) -> Result<Summed<T>, Error> {
        match &self.gpu {
            None => sum.on_host(),
            Some(gpu) => sum.on_gpu(gpu),
        }
    }
}

impl<T: Precision> ArraySum<'_, T> {
    fn on_host(&self) -> Result<Summed<T>, Error> {
        let mut sum = Sum::new(self.kernel, points(self.sources)?)
            .sizes(self.sizes.on_host()?)
            .outputs(self.outputs)
            .vectors(self.vectors)
            .options(self.options.clone())
            .allow_unbounded_gradient();
        if let Some(targets) = self.targets {
            sum = sum.targets(points(targets)?);
        }
        let mut plan = sum.plan()?;
        let field = plan.evaluate(self.strengths.on_host()?)?;
        Ok(Summed::on_host(field, &plan))
    }

    fn on_gpu(&self, gpu: &Arc<GpuMemory<T>>) -> Result<Summed<T>, Error> {
        let (sizes, each) = self.sizes.on_gpu(gpu)?;
        let wishes = farfield_core::Sum::new(self.kernel, &[])
            .sizes(sizes)
            .outputs(self.outputs)
            .vectors(self.vectors)
            .allow_unbounded_gradient();
        let points = resident::DevicePoints {
            sources: self.sources.on(gpu)?,
            targets: self.targets.map(|targets| targets.on(gpu)).transpose()?,
            sizes: each,
        };
        let summed = gpu
            .resident
            .sum(&apply!(wishes, self.options), &points, self.strengths.on(gpu)?)?;
        Ok(Summed::on_gpu(summed, gpu))
    }
}

impl<'a, T: Precision> ArraySizes<'a, T> {
    /// Those of a sum on the host.
    pub(super) fn on_host(&self) -> Result<Sizes<T>, Error> {
        Ok(match self {
            ArraySizes::None => Sizes::None,
            ArraySizes::Global(size) => Sizes::Global(*size),
            ArraySizes::PerSource { each, .. } => Sizes::PerSource(each.on_host()?.to_vec()),
        })
    }

    /// The device's own plan takes the largest size from the sum and each source's from the array.
    pub(super) fn on_gpu(&self, gpu: &Arc<GpuMemory<T>>) -> Result<(Sizes<T>, Option<&'a resident::Array<T>>), Error> {
        Ok(match *self {
            ArraySizes::None => (Sizes::None, None),
            ArraySizes::Global(size) => (Sizes::Global(size), None),
            ArraySizes::PerSource { each, largest } => (Sizes::Global(largest), Some(each.on(gpu)?)),
        })
    }
}

impl<T: Precision> Summed<T> {
    /// What a plan summed on the host.
    pub(super) fn on_host<G: Geometry>(field: Field<T, G::Output>, plan: &PlanOf<T, G>) -> Self {
        let check = field.check().cloned();
        Self {
            outputs: field.into_values().into_iter().map(Array::of).collect(),
            parameters: *plan.parameters(),
            check,
            seconds: plan.seconds().total,
        }
    }

    /// What a device summed in its own memory.
    pub(super) fn on_gpu(summed: resident::Summed<T>, gpu: &Arc<GpuMemory<T>>) -> Self {
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

/// The points of an array that lies on the host.
pub(super) fn points<T: Precision, const D: usize>(array: &Array<T>) -> Result<&[[T; D]], Error> {
    Ok(array.on_host()?.as_chunks().0)
}
