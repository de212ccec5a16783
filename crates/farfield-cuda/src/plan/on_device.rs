//! Plans for points that are on the device, whose results stay there.

use super::Plan;
use super::build::{check_extent, input_of};
use super::evaluate::Engine;
use crate::device::{Buffers, Precision, Values};
use crate::direct::SumInput;
use crate::error::Error;
use crate::kernel::{PairKind, SizeKind};
use cudarc::driver::CudaSlice;
use farfield_core::Sum;

/// Checked points on the device, three numbers each.
pub(crate) struct PointsOnDevice<'a, T> {
    pub sources: Values<'a, T>,
    pub targets: Option<Values<'a, T>>,
    /// Core sizes, where each source has its own.
    pub sizes: Option<Values<'a, T>>,
}

impl<T: Precision> Plan<T> {
    /// As [`Plan::new`], for points that extend over `extent` and were written by work on the stream of `buffers`.
    pub(crate) fn of_points_on_device(
        buffers: Buffers,
        sum: &Sum<T>,
        points: &PointsOnDevice<T>,
        extent: f64,
    ) -> Result<Self, Error> {
        check_extent::<T>(extent)?;
        let checked = sum.checked();
        let mut kind = PairKind::of(&checked);
        if points.sizes.is_some() && kind.sizes == SizeKind::Global {
            kind.sizes = SizeKind::PerSource;
        }
        let input = input_of(&checked, kind);
        let global_size2 = match kind.sizes {
            SizeKind::PerSource => T::ZERO,
            _ => input.global_size2,
        };
        let input = SumInput {
            sources: points.sources,
            targets: points.targets,
            sizes: points.sizes.unwrap_or(Values::Host(&[])),
            global_size2,
            ..input
        };
        Self::build(buffers, &checked, input, extent)
    }

    /// Sums for strengths on the device; returns the values of each output, not waiting for them.
    pub(crate) fn evaluate_on_device(mut self, strengths: Values<T>) -> Result<Vec<CudaSlice<T>>, Error> {
        if self.source_count == 0 || self.target_count == 0 {
            let zeros = |components: usize| self.buffers.zeros(self.vectors * self.target_count * components);
            return self.outputs.iter().map(|output| zeros(output.components())).collect();
        }
        if self.has_passes() {
            return Err(Error::Unsupported {
                what: format!(
                    "{} vectors of strengths on the device that do not fit into its memory",
                    self.vectors
                ),
                remedy: "sum fewer vectors at once",
            });
        }
        self.engine.evaluate(&self.buffers, strengths)?;
        Ok(match self.engine {
            Engine::Direct(direct) => direct.into_outputs(),
            Engine::Fmm(fmm) => fmm.into_outputs(),
        })
    }
}
