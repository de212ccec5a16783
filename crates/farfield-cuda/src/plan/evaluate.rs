//! A plan on a device and its evaluation.
#![expect(private_bounds, reason = "engines are not public")]

use super::check::Wishes;
use super::geometry::PlannedOnDevice;
use super::on_device::PointsOnDevice;
use crate::check::{Checker, check_and_correct};
use crate::device::{Buffers, Device, Precision, Timeline, Values};
use crate::direct::Direct;
use crate::error::Error;
use crate::fmm::Fmm;
use cudarc::driver::CudaSlice;
use farfield_core::check::Check;
use farfield_core::plan::{Parameters, check_strength_count, check_strengths};
use farfield_core::report::Seconds;
use farfield_core::{Field, Request, Space, Sum};
use std::sync::Arc;
use std::time::Instant;

/// The method of a plan.
#[derive(Debug)]
pub(crate) enum Engine<T: Precision> {
    Direct(Box<Direct<T>>),
    Fmm(Box<Fmm<T>>),
}

/// A planned sum whose points are on the device. Further evaluations only send strengths and fetch results.
#[derive(Debug)]
pub struct Plan<T: Precision, G: PlannedOnDevice = Space> {
    pub(crate) request: Request<G>,
    /// The number of vectors whose results are on the device at once.
    pub(super) vectors_at_once: usize,
    pub(crate) source_count: usize,
    pub(crate) target_count: usize,
    /// The request and properties of the points.
    pub(super) wishes: G::Wishes<T>,
    /// Whether evaluations measure their error.
    pub(crate) checks: bool,
    pub(crate) checker: Option<Box<Checker<T>>>,
    pub(super) last_check: Option<Check>,
    /// The factor by which the error had to shrink at the last correction.
    pub(crate) last_factor: f64,
    pub(crate) notes: Vec<String>,
    pub(crate) parameters: Parameters,
    pub(crate) buffers: Buffers,
    pub(crate) engine: G::Engine<T>,
    pub(crate) planning: f64,
    pub(super) seconds: Seconds,
    pub(crate) evaluated: bool,
}

impl<T: Precision, G: PlannedOnDevice> Plan<T, G> {
    /// Checks the sum, chooses method and parameters, and copies everything that is independent of the strengths to the
    /// device.
    ///
    /// # Errors
    /// Any of [`Error`].
    pub fn new(device: &Arc<Device>, sum: &Sum<T, G>) -> Result<Self, Error> {
        G::plan_on(device, sum)
    }

    pub(crate) fn with_engine(
        buffers: Buffers,
        asked: &Sum<T, G>,
        ((source_count, target_count), vectors_at_once): ((usize, usize), usize),
        (engine, parameters): (G::Engine<T>, Parameters),
        wishes: G::Wishes<T>,
    ) -> Self {
        Self {
            request: asked.request.clone(),
            vectors_at_once,
            source_count,
            target_count,
            wishes,
            checks: asked.options().check && source_count > 0 && target_count > 0 && !asked.request.outputs.is_empty(),
            checker: None,
            last_check: None,
            last_factor: 1.0,
            notes: Vec::new(),
            parameters,
            buffers,
            engine,
            planning: 0.0,
            seconds: Seconds::default(),
            evaluated: false,
        }
    }

    /// Whether the vectors do not fit into the device's memory at once.
    pub(super) fn has_passes(&self) -> bool {
        self.vectors_at_once < self.request.vectors
    }

    /// Sums for the given strengths from host memory to host memory, like [`farfield_core::Plan::evaluate`].
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::NotFinite`] if the strengths do not fit the plan, [`Error::Driver`] if the device failed.
    pub fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T, G>, Error> {
        let mut field = Field::unfilled(&self.request, self.target_count);
        self.evaluate_to(strengths, &mut field)?;
        Ok(field)
    }

    /// [`Plan::evaluate`] into an existing field.
    ///
    /// # Errors
    /// As [`Plan::evaluate`], and [`Error::Length`] if `field` does not have the plan's shape. The field keeps its
    /// shape, and its values if the strengths are invalid.
    pub fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T, G>) -> Result<(), Error> {
        field.check_shape(&self.request, self.target_count)?;
        self.evaluate_to(strengths, field)
    }

    /// A field of zeros of the plan's shape, for [`Plan::evaluate_into`].
    pub fn field(&self) -> Field<T, G> {
        Field::zeros(&self.request, self.target_count)
    }

    fn evaluate_to(&mut self, strengths: &[T], field: &mut Field<T, G>) -> Result<(), Error> {
        let start = Instant::now();
        let mut seconds = Seconds::default();
        let mut check = None;
        field.refill(|values| self.sum_to(strengths, &mut seconds, values, &mut check))?;
        self.last_check.clone_from(&check);
        field.set_check(check);
        seconds.total = start.elapsed().as_secs_f64();
        if !self.evaluated {
            seconds.total += self.planning;
        }
        self.evaluated = true;
        self.seconds = seconds;
        Ok(())
    }

    /// Replaces the values of each output; returns the largest strength.
    fn sum_to(
        &mut self,
        strengths: &[T],
        seconds: &mut Seconds,
        values: &mut [Vec<T>],
        check: &mut Option<Check>,
    ) -> Result<f64, Error> {
        let components = G::strength_components(self.request.kernel);
        check_strength_count(strengths.len(), self.source_count, components, self.request.vectors)?;
        if self.source_count > 0 && self.target_count > 0 {
            return self.sum(strengths, seconds, values, check);
        }
        let largest = check_strengths(strengths, self.source_count, components, self.request.vectors)?;
        // Without sources there are no results; the field fills in zeros.
        values.iter_mut().for_each(Vec::clear);
        Ok(largest)
    }

    /// Sums pass by pass, checks the strengths while the device works, and returns the largest.
    fn sum(
        &mut self,
        strengths: &[T],
        seconds: &mut Seconds,
        values: &mut [Vec<T>],
        check: &mut Option<Check>,
    ) -> Result<f64, Error> {
        let components = G::strength_components(self.request.kernel);
        let per_vector = self.source_count * components;
        let mut largest = None;
        for pass in strengths.chunks(self.vectors_at_once * per_vector) {
            let timeline = G::launch(self, Values::Host(pass))?;
            // All strengths are checked during the first pass, so that an error has the right index.
            if largest.is_none() {
                largest = Some(check_strengths(
                    strengths,
                    self.source_count,
                    components,
                    self.request.vectors,
                )?);
                values.iter_mut().for_each(Vec::clear);
            }
            let measured = check_and_correct(self, Values::Host(pass), seconds)?;
            *check = worse(check.take(), measured);
            self.fetch(pass.len() / per_vector, values)?;
            timeline.add_to(seconds)?;
        }
        G::add_building(self, seconds)?;
        Ok(largest.unwrap_or(0.0))
    }

    /// Waits for the results of the last `vectors` vectors and appends them.
    fn fetch(&self, vectors: usize, values: &mut [Vec<T>]) -> Result<(), Error> {
        let on_device = G::results(self).unwrap_or_default();
        for ((output, sums), values) in self.request.outputs.iter().zip(on_device).zip(values) {
            let per_vector = self.target_count * G::output_components(self.request.kernel, *output);
            if values.is_empty() {
                values.reserve_exact(self.request.vectors * per_vector);
            }
            self.buffers.append_to(sums, vectors * per_vector, values)?;
        }
        Ok(())
    }

    /// The parameters of the plan.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The tolerance; `None` if the order is fixed.
    pub fn tolerance(&self) -> Option<f64> {
        self.request.options.kept_tolerance::<T>()
    }

    /// The error that the last evaluation measured; `None` if the check is off.
    pub fn last_check(&self) -> Option<&Check> {
        self.last_check.as_ref()
    }

    /// Remarks on the plan's choices.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The time of the last evaluation by phase; the first includes the planning. Phases are device time, the total is
    /// the time of the call.
    pub fn seconds(&self) -> &Seconds {
        &self.seconds
    }

    /// The number of sources.
    pub fn source_count(&self) -> usize {
        self.source_count
    }

    /// The number of targets.
    pub fn target_count(&self) -> usize {
        self.target_count
    }
}

impl PlannedOnDevice for Space {
    type Engine<T: Precision> = Engine<T>;
    type Wishes<T: Precision> = Wishes<T>;

    fn plan_on<T: Precision>(device: &Arc<Device>, sum: &Sum<T, Self>) -> Result<Plan<T>, Error> {
        Plan::with_memory(device, sum, None)
    }

    fn plan_resident<T: Precision>(
        buffers: Buffers,
        sum: &Sum<T, Self>,
        points: &PointsOnDevice<T>,
        extent: f64,
    ) -> Result<Plan<T>, Error> {
        Plan::<T>::of_points_on_device(buffers, sum, points, extent)
    }

    fn launch<T: Precision>(plan: &mut Plan<T>, strengths: Values<T>) -> Result<Timeline, Error> {
        let mut timeline = Timeline::start(plan.buffers.stream())?;
        match &mut plan.engine {
            Engine::Direct(direct) => direct.evaluate(strengths, &mut timeline)?,
            Engine::Fmm(fmm) => fmm.evaluate(strengths, &mut timeline)?,
        }
        Ok(timeline)
    }

    fn results<T: Precision>(plan: &Plan<T>) -> Option<Vec<&CudaSlice<T>>> {
        if plan.source_count == 0 || plan.target_count == 0 {
            return None;
        }
        Some(match &plan.engine {
            Engine::Direct(direct) => direct.outputs().collect(),
            Engine::Fmm(fmm) => fmm.outputs().collect(),
        })
    }

    fn add_building<T: Precision>(plan: &mut Plan<T>, seconds: &mut Seconds) -> Result<(), Error> {
        if let Engine::Fmm(fmm) = &plan.engine
            && !plan.evaluated
        {
            fmm.building.add_to(seconds)?;
            plan.parameters.interactions = fmm.interactions()?;
        }
        Ok(())
    }

    fn measure<T: Precision>(plan: &mut Plan<T>, strengths: Values<T>, check: &mut Check) -> Result<(), Error> {
        plan.measure(strengths, check)
    }

    fn become_more_exact<T: Precision>(plan: &mut Plan<T>, factor: f64, in_vain: bool) -> Result<bool, Error> {
        plan.become_more_exact(factor, in_vain)
    }
}

/// The errors measured in two passes combined: the worse for each output.
fn worse(one: Option<Check>, other: Option<Check>) -> Option<Check> {
    let (mut one, other) = match (one, other) {
        (Some(one), Some(other)) => (one, other),
        (one, other) => return one.or(other),
    };
    for (one, other) in one.outputs.iter_mut().zip(other.outputs) {
        if other.upper > one.upper {
            *one = other;
        }
    }
    one.attempts = one.attempts.max(other.attempts);
    one.complete &= other.complete;
    one.warnings.extend(other.warnings);
    Some(one)
}
