//! Plans for points on the device: strengths change, and results stay there.

use super::{Array, DevicePoints, Resident, same_length};
use crate::device::Precision;
use crate::error::Error;
use crate::plan::{Plan, PlannedOnDevice};
use crate::plane;
use farfield_core::{Plane, Request, Space};
use std::sync::Arc;
use std::time::Instant;

impl<T: Precision> Resident<T> {
    /// A plan for points on the device. It does not need the arrays afterwards.
    ///
    /// # Errors
    /// As [`Resident::sum`].
    pub fn plan(&self, request: &Request<Space>, points: &DevicePoints<T>) -> Result<Plan<T>, Error> {
        let sum = points.asked(request);
        sum.validate()?;
        let (extent, _) = self.look_at(points, 3, None)?;
        let extent = if extent > 0.0 { extent } else { sum.largest_size() };
        Space::plan_resident(self.buffers.clone(), &sum, &self.input(points)?, extent)
    }

    /// As [`plan`](Self::plan), for points in the plane, two numbers each.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Error::Unsupported`] for a leaf capacity.
    pub fn plan_in_plane(&self, request: &Request<Plane>, points: &DevicePoints<T>) -> Result<plane::Plan<T>, Error> {
        let sum = points.asked(request);
        sum.validate()?;
        let (extent, _) = self.look_at(points, 2, None)?;
        Plane::plan_resident(self.buffers.clone(), &sum, &self.input(points)?, extent)
    }

    /// Sums for strengths on the device: the values of each output in the caller's order, each in a new array.
    ///
    /// # Errors
    /// As [`Plan::evaluate`], and [`Error::Unsupported`] for a plan of another resident state.
    #[expect(private_bounds, reason = "engines are not public")]
    pub fn evaluate<G: PlannedOnDevice>(
        &self,
        plan: &mut Plan<T, G>,
        strengths: &Array<T>,
    ) -> Result<Vec<Array<T>>, Error> {
        let start = Instant::now();
        if !Arc::ptr_eq(plan.buffers.stream(), self.buffers.stream()) {
            return Err(Error::Unsupported {
                what: "a plan of another resident state".to_owned(),
                remedy: "plan and evaluate with the same state",
            });
        }
        let components = G::strength_components(plan.request.kernel);
        same_length(plan.request.vectors * plan.source_count * components, strengths.len())?;
        let largest = self.finite(&[("strengths", strengths, components)])?[0].largest();
        let timeline = plan.launch_on_device(self.values(strengths)?)?;
        let outputs = self.copies_of_results(plan)?;
        self.check_results(&plan.named_outputs(), &outputs, largest)?;
        plan.note_times(&timeline, start.elapsed().as_secs_f64())?;
        Ok(outputs)
    }

    /// Copies of the results of a plan, which its next evaluation does not overwrite.
    fn copies_of_results<G: PlannedOnDevice>(&self, plan: &Plan<T, G>) -> Result<Vec<Array<T>>, Error> {
        let (rows, results) = (plan.request.vectors * plan.target_count, G::results(plan));
        let copy = |(k, (_, components)): (usize, (&'static str, usize))| {
            let length = rows * components;
            let values = match &results {
                Some(results) => self
                    .buffers
                    .place(crate::device::Values::on_device(results[k], length))?,
                None => self.buffers.zeros(length)?,
            };
            Ok(Array { values, length })
        };
        plan.named_outputs().into_iter().enumerate().map(copy).collect()
    }
}
