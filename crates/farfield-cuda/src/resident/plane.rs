//! Sums in the plane between points on the device; results stay there.

use super::{Array, DevicePoints, Resident, Results};
use crate::device::Precision;
use crate::error::Error;
use farfield_core::{Plane, Request};
use std::time::Instant;

impl<T: Precision> Resident<T> {
    /// Plans and evaluates a sum in the plane, as [`sum`](Self::sum) does in space; points have two numbers each.
    ///
    /// # Errors
    /// As [`plan_in_plane`](Self::plan_in_plane) and [`evaluate`](Self::evaluate).
    pub fn sum_in_plane(
        &self,
        request: &Request<Plane>,
        points: &DevicePoints<T>,
        strengths: &Array<T>,
    ) -> Result<Results<T>, Error> {
        let start = Instant::now();
        let mut plan = self.plan_in_plane(request, points)?;
        let outputs = self.evaluate(&mut plan, strengths)?;
        Ok(Results {
            outputs,
            parameters: *plan.parameters(),
            check: plan.last_check().cloned(),
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}
