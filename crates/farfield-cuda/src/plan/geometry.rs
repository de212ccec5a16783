//! The parts of a plan that depend on the geometry.

use super::{Plan, PointsOnDevice};
use crate::device::{Buffers, Device, Precision, Timeline, Values};
use crate::error::Error;
use cudarc::driver::CudaSlice;
use farfield_core::check::Check;
use farfield_core::report::Seconds;
use farfield_core::{Geometry, Sum};
use std::fmt::Debug;
use std::sync::Arc;

/// A geometry whose sums can be planned on a device.
pub(crate) trait PlannedOnDevice: Geometry {
    /// The direct sum or the FMM.
    type Engine<T: Precision>: Debug;
    /// What a plan was asked for apart from its points, if that takes part in planning again.
    type Wishes<T: Precision>: Debug;

    /// Checks the sum and plans it.
    fn plan_on<T: Precision>(device: &Arc<Device>, sum: &Sum<T, Self>) -> Result<Plan<T, Self>, Error>;
    /// [`PlannedOnDevice::plan_on`] for points that extend over `extent` and were written by work on the stream of `buffers`.
    fn plan_resident<T: Precision>(
        buffers: Buffers,
        sum: &Sum<T, Self>,
        points: &PointsOnDevice<T>,
        extent: f64,
    ) -> Result<Plan<T, Self>, Error>;
    /// Starts to sum into the outputs on the device; returns the times of its steps.
    fn launch<T: Precision>(plan: &mut Plan<T, Self>, strengths: Values<T>) -> Result<Timeline, Error>;
    /// The values of each output, which the next evaluation overwrites; `None` without sources or targets.
    fn results<T: Precision>(plan: &Plan<T, Self>) -> Option<Vec<&CudaSlice<T>>>;
    /// Adds what only the first evaluation has: the time to build the tree, and counts that the device made.
    fn add_building<T: Precision>(plan: &mut Plan<T, Self>, seconds: &mut Seconds) -> Result<(), Error>;
    /// Measures the error of the latest sum.
    fn measure<T: Precision>(plan: &mut Plan<T, Self>, strengths: Values<T>, check: &mut Check) -> Result<(), Error>;
    /// Reduces the error of the next sum by `factor`; returns whether that was possible. It is `in_vain` to raise orders if
    /// that did not help: the error is not that of truncation, or not where the model has it.
    fn become_more_exact<T: Precision>(plan: &mut Plan<T, Self>, factor: f64, in_vain: bool) -> Result<bool, Error>;
}
