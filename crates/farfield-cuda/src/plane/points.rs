//! Points of the plane, wherever they are, and plans for those that are on the device.

use super::plan::Plan;
use crate::device::{Buffers, Precision, Values};
use crate::error::Error;
use cudarc::driver::CudaSlice;
use farfield_core::kernel::Sizes;
use farfield_core::plane::{CheckedSum, Sum};

/// Checked points, two numbers each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PointsInPlane<'a, T> {
    pub sources: Values<'a, T>,
    /// `None`: the sources are the targets.
    pub targets: Option<Values<'a, T>>,
    /// Core sizes, where each source has its own.
    pub sizes: Values<'a, T>,
}

impl<'a, T: Precision> PointsInPlane<'a, T> {
    /// Those of a sum whose points are on the host.
    pub fn of(checked: &CheckedSum<'a, T>) -> Self {
        Self {
            sources: Values::Host(checked.sources.as_flattened()),
            targets: checked.targets.map(|targets| Values::Host(targets.as_flattened())),
            sizes: match checked.sizes {
                Sizes::PerSource(sizes) => Values::Host(sizes),
                _ => Values::Host(&[]),
            },
        }
    }
}

impl<T: Precision> Plan<T> {
    /// As [`Plan::new`], for points that were written by work on the stream of `buffers`. Of the points of `sum` only their
    /// number counts, of its sizes the largest.
    pub(crate) fn of_points_on_device(
        buffers: Buffers,
        sum: &Sum<T>,
        points: &PointsInPlane<T>,
    ) -> Result<Self, Error> {
        Self::build(buffers, &sum.checked(), points)
    }

    /// Sums for strengths on the device; returns the values of each output, not waiting for them.
    pub(crate) fn evaluate_on_device(mut self, strengths: Values<T>) -> Result<Vec<CudaSlice<T>>, Error> {
        self.launch_all(strengths)?;
        self.into_outputs()
    }
}
