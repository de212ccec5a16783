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
    /// The request and the properties of the points, if planning again needs them.
    type Wishes<T: Precision>: Debug;

    /// Checks the sum and plans it.
    fn plan_on<T: Precision>(device: &Arc<Device>, sum: &Sum<T, Self>) -> Result<Plan<T, Self>, Error>;
    /// [`PlannedOnDevice::plan_on`] for points with extent `extent` that work on the stream of `buffers` has written.
    fn plan_resident<T: Precision>(
        buffers: Buffers,
        sum: &Sum<T, Self>,
        points: &PointsOnDevice<T>,
        extent: f64,
    ) -> Result<Plan<T, Self>, Error>;
    /// Starts the sum into the outputs on the device; returns the times of its steps.
    fn launch<T: Precision>(plan: &mut Plan<T, Self>, strengths: Values<T>) -> Result<Timeline, Error>;
    /// The values of each output, which the next evaluation overwrites; `None` without sources or targets.
    fn results<T: Precision>(plan: &Plan<T, Self>) -> Option<Vec<&CudaSlice<T>>>;
    /// Adds to the first evaluation the time to build the tree, and the counts of the device.
    fn add_building<T: Precision>(plan: &mut Plan<T, Self>, seconds: &mut Seconds) -> Result<(), Error>;
    /// Measures the error of the latest sum.
    fn measure<T: Precision>(plan: &mut Plan<T, Self>, strengths: Values<T>, check: &mut Check) -> Result<(), Error>;
    /// Reduces the error of the next sum by `factor`; returns whether that was possible. With `in_vain`, higher orders
    /// did not help: the error is not from truncation, or not where the model expects it.
    fn become_more_exact<T: Precision>(plan: &mut Plan<T, Self>, factor: f64, in_vain: bool) -> Result<bool, Error>;
}
