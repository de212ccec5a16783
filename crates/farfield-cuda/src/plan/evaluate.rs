//! A plan on a device and its evaluation.

use super::check::Wishes;
use crate::check::{Checker, check_and_correct};
use crate::device::{Buffers, Precision, Timeline, Values};
use crate::direct::Direct;
use crate::error::Error;
use crate::fmm::Fmm;
use farfield_core::check::Check;
use farfield_core::plan::{Parameters, check_strength_count, check_strengths};
use farfield_core::report::Seconds;
use farfield_core::{Field, Request, Space, Sum};
use std::time::Instant;

/// What does the summing.
#[derive(Debug)]
pub(super) enum Engine<T: Precision> {
    Direct(Box<Direct<T>>),
    Fmm(Box<Fmm<T>>),
}

impl<T: Precision> Engine<T> {
    /// Sums into the outputs on the device; says where its time goes.
    pub fn evaluate(&mut self, buffers: &Buffers, strengths: Values<T>) -> Result<Timeline, Error> {
        let mut timeline = Timeline::start(buffers.stream())?;
        match self {
            Engine::Direct(direct) => direct.evaluate(strengths, &mut timeline)?,
            Engine::Fmm(fmm) => fmm.evaluate(strengths, &mut timeline)?,
        }
        Ok(timeline)
    }
}

/// A planned sum whose points are on the device. Evaluating it again sends strengths and fetches results, nothing
/// else.
#[derive(Debug)]
pub struct Plan<T: Precision> {
    pub(super) request: Request<Space>,
    /// Vectors whose results are on the device at once.
    pub(super) vectors_at_once: usize,
    pub(super) source_count: usize,
    pub(super) target_count: usize,
    /// What else was asked for.
    pub(super) wishes: Wishes<T>,
    /// Whether evaluations look at their error.
    pub(super) checks: bool,
    pub(super) checker: Option<Box<Checker<T>>>,
    pub(super) last_check: Option<Check>,
    pub(super) notes: Vec<String>,
    pub(super) parameters: Parameters,
    pub(super) buffers: Buffers,
    pub(super) engine: Engine<T>,
    pub(super) planning: f64,
    pub(super) seconds: Seconds,
    pub(super) evaluated: bool,
}

impl<T: Precision> Plan<T> {
    pub(super) fn with_engine(
        buffers: Buffers,
        asked: &Sum<T, Space>,
        ((source_count, target_count), vectors_at_once): ((usize, usize), usize),
        (engine, parameters): (Engine<T>, Parameters),
        wishes: Wishes<T>,
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
            notes: Vec::new(),
            parameters,
            buffers,
            engine,
            planning: 0.0,
            seconds: Seconds::default(),
            evaluated: false,
        }
    }

    /// Whether its vectors do not fit into the device's memory at once.
    pub(super) fn has_passes(&self) -> bool {
        self.vectors_at_once < self.request.vectors
    }

    /// Sums for the given strengths, as [`farfield_core::Plan::evaluate`] does: from host memory to host memory.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::NotFinite`] if the strengths do not fit the plan, [`Error::Driver`] if the device failed.
    pub fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T>, Error> {
        let mut field = Field::unfilled(&self.request, self.target_count);
        self.evaluate_to(strengths, &mut field)?;
        Ok(field)
    }

    /// [`Plan::evaluate`] into memory that is already there.
    ///
    /// # Errors
    /// As [`Plan::evaluate`], and [`Error::Length`] if `field` is not of this plan's size. The field keeps its size, and its
    /// numbers if the strengths are wrong.
    pub fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
        field.check_shape(&self.request, self.target_count)?;
        self.evaluate_to(strengths, field)
    }

    /// A field of zeros of the right size for [`Plan::evaluate_into`].
    pub fn field(&self) -> Field<T> {
        Field::zeros(&self.request, self.target_count)
    }

    fn evaluate_to(&mut self, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
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

    /// The values of each output in place of those that were there; returns the largest strength.
    fn sum_to(
        &mut self,
        strengths: &[T],
        seconds: &mut Seconds,
        values: &mut [Vec<T>],
        check: &mut Option<Check>,
    ) -> Result<f64, Error> {
        let components = self.request.kernel.strength_components();
        check_strength_count(strengths.len(), self.source_count, components, self.request.vectors)?;
        if self.source_count > 0 && self.target_count > 0 {
            return self.sum(strengths, seconds, values, check);
        }
        let largest = check_strengths(strengths, self.source_count, components, self.request.vectors)?;
        // The results of no sources; the field takes care of their number.
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
        let components = self.request.kernel.strength_components();
        let per_vector = self.source_count * components;
        let mut largest = None;
        for pass in strengths.chunks(self.vectors_at_once * per_vector) {
            let timeline = self.engine.evaluate(&self.buffers, Values::Host(pass))?;
            // All of them during the first pass: an error names a place among all.
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
        self.add_building(seconds)?;
        Ok(largest.unwrap_or(0.0))
    }

    /// Waits for the results of the last so many vectors and appends them.
    fn fetch(&self, vectors: usize, values: &mut [Vec<T>]) -> Result<(), Error> {
        let on_device: Vec<_> = match &self.engine {
            Engine::Direct(direct) => direct.outputs().collect(),
            Engine::Fmm(fmm) => fmm.outputs().collect(),
        };
        for ((output, sums), values) in self.request.outputs.iter().zip(on_device).zip(values) {
            let per_vector = self.target_count * output.components();
            if values.is_empty() {
                values.reserve_exact(self.request.vectors * per_vector);
            }
            self.buffers.append_to(sums, vectors * per_vector, values)?;
        }
        Ok(())
    }

    /// What only the first evaluation adds: the time to build the tree, and the counts.
    pub(super) fn add_building(&mut self, seconds: &mut Seconds) -> Result<(), Error> {
        if let Engine::Fmm(fmm) = &self.engine
            && !self.evaluated
        {
            fmm.building.add_to(seconds)?;
            self.parameters.interactions = fmm.interactions()?;
        }
        Ok(())
    }

    /// What the plan settled on.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The tolerance; `None` where an expert fixed the order.
    pub fn tolerance(&self) -> Option<f64> {
        self.request.options.kept_tolerance::<T>()
    }

    /// What the last evaluation found out about its error; `None` where it was told not to look.
    pub fn last_check(&self) -> Option<&Check> {
        self.last_check.as_ref()
    }

    /// Remarks on choices the caller may want to know of.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Where the time of the last evaluation went; the first includes the planning. Phases are device time, the total
    /// is the time of the call.
    pub fn seconds(&self) -> &Seconds {
        &self.seconds
    }

    /// How many sources there are.
    pub fn source_count(&self) -> usize {
        self.source_count
    }

    /// How many targets there are.
    pub fn target_count(&self) -> usize {
        self.target_count
    }
}

/// What two passes found out about the error, taken together: the worse of each output.
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
