//! Plans between arrays: points are fixed, strengths change, and results stay in the memory where they are computed.

use super::array::Place;
use super::{Array, ArraySizes, GpuMemory, Memory};
use crate::{Error, Geometry, PlanOf, Precision, Request};
use farfield_cuda::resident::DevicePoints;
use std::sync::Arc;

/// The points of a sum, each with as many values as the geometry has coordinates.
#[derive(Debug, Clone, Copy)]
pub struct ArrayPoints<'a, T: Precision> {
    /// The sources.
    pub sources: &'a Array<T>,
    /// The targets, unless they are the sources.
    pub targets: Option<&'a Array<T>>,
    /// Core sizes or softening lengths.
    pub sizes: ArraySizes<'a, T>,
}

impl<'a, T: Precision> ArrayPoints<'a, T> {
    /// Sources that are also the targets, without sizes.
    pub fn of(sources: &'a Array<T>) -> Self {
        Self {
            sources,
            targets: None,
            sizes: ArraySizes::None,
        }
    }

    pub(super) fn on_gpu(&self, gpu: &Arc<GpuMemory<T>>) -> Result<DevicePoints<'a, T>, Error> {
        let (size, sizes) = self.sizes.on_gpu(gpu)?;
        Ok(DevicePoints {
            sources: self.sources.on(gpu)?,
            targets: self.targets.map(|targets| targets.on(gpu)).transpose()?,
            size,
            sizes,
        })
    }
}

impl<T: Precision> Memory<T> {
    /// A plan for points in this memory, on its GPU. The plan copies what it needs of the arrays.
    ///
    /// Evaluate it for an array of strengths by [`PlanOf::evaluate_array`], or from the host like any other plan.
    ///
    /// # Errors
    /// As [`crate::SumOf::plan`]; [`Error::Unsupported`] on the host, where [`crate::SumOf::plan`] is used instead, and
    /// for arrays in another memory.
    pub fn plan<G: Geometry>(&self, request: &Request<G>, points: &ArrayPoints<'_, T>) -> Result<PlanOf<T, G>, Error> {
        let gpu = self.gpu()?;
        let points = points.on_gpu(gpu)?;
        let sources = points.sources.len() / G::COORDINATES;
        let targets = points.targets.map_or(sources, |targets| targets.len() / G::COORDINATES);
        let engine = G::on_arrays(&gpu.device, &gpu.resident, request, &points)?;
        Ok(PlanOf::new(engine, (sources, targets), None))
    }
}

impl<T: Precision, G: Geometry> PlanOf<T, G> {
    /// Sums for strengths in the memory of the plan's points. The results stay there, one array per output.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate); [`Error::Unsupported`] for a plan that was not made by [`Memory::plan`] of the
    /// same memory.
    pub fn evaluate_array(&mut self, strengths: &Array<T>) -> Result<Vec<Array<T>>, Error> {
        let memory = strengths.memory();
        let gpu = memory.gpu()?;
        let outputs = self.engine().evaluate_array(&gpu.resident, strengths.on(gpu)?)?;
        let array = |array| Array {
            place: Place::gpu(gpu, array),
        };
        Ok(outputs.into_iter().map(array).collect())
    }
}

/// The error of engines that do not sum between arrays.
pub(crate) fn not_between_arrays<E: ?Sized>(_: &E) -> Error {
    Error::Unsupported {
        what: "strengths in a GPU's memory for a plan of the host's points".to_owned(),
        remedy: "plan with `Memory::plan`, or evaluate strengths of the host",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;

    #[test]
    fn plans_between_arrays_need_a_gpu() {
        let memory = Memory::<f64>::host();
        let array = memory.store(vec![0.0; 6]).unwrap();
        let made = memory.plan(&Request::<crate::Space>::new(Kernel::Coulomb), &ArrayPoints::of(&array));
        assert!(matches!(made, Err(Error::Unsupported { .. })));
        let mut plan = crate::Sum::new(Kernel::Coulomb, &[[0.0; 3]]).plan().unwrap();
        assert!(matches!(plan.evaluate_array(&array), Err(Error::Unsupported { .. })));
    }
}
