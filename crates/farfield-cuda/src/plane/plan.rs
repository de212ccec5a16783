//! From a [`Sum`] in the plane to a plan on a device, and its evaluation.

use super::direct::Direct;
use super::ends::Ends;
use super::fmm::Fmm;
use super::input::SumInput;
use super::tuning::{self, Choice};
use crate::check::{Checker, check_and_correct};
use crate::device::{Buffers, Device, Precision, Timeline, Values, vectors_at_once};
use crate::error::Error;
use crate::plan::check_point_count;
use farfield_core::check::Check;
use farfield_core::plan::{Parameters, check_strength_count, check_strengths};
use farfield_core::plane::{Core, Field};
use farfield_core::report::{Interactions, Seconds};
use farfield_core::{Method, Plane, Request, Sum};
use std::sync::Arc;
use std::time::Instant;

/// Vectors summed at once: so many fill the device at any size worth an FMM.
const MOST_AT_ONCE: usize = 16;

/// What does the summing.
#[derive(Debug)]
pub(super) enum Engine<T: Precision> {
    Direct(Box<Direct<T>>),
    Fmm(Box<Fmm<T>>),
}

impl<T: Precision> Engine<T> {
    /// What it begins and ends with.
    pub fn ends(&self) -> &Ends<T> {
        match self {
            Engine::Direct(direct) => &direct.ends,
            Engine::Fmm(fmm) => &fmm.ends,
        }
    }
}

/// A planned sum in the plane whose points are on the device. Evaluating it again sends strengths and fetches results,
/// nothing else.
#[derive(Debug)]
pub struct Plan<T: Precision> {
    pub(super) request: Request<Plane>,
    pub(super) source_count: usize,
    pub(super) target_count: usize,
    pub(super) parameters: Parameters,
    pub(super) notes: Vec<String>,
    /// Whether evaluations look at their error.
    pub(super) checks: bool,
    pub(super) checker: Option<Box<Checker<T>>>,
    pub(super) last_check: Option<Check>,
    /// By how much the error was to shrink last.
    pub(super) last_factor: f64,
    pub(super) buffers: Buffers,
    /// `None` without sources or targets.
    pub(super) engine: Option<Engine<T>>,
    pub(super) planning: f64,
    pub(super) seconds: Seconds,
    pub(super) evaluated: bool,
}

impl<T: Precision> Plan<T> {
    /// Checks the sum, chooses method and parameters, and brings everything that does not depend on the strengths to
    /// the device.
    ///
    /// # Errors
    /// Any of [`Error`].
    pub fn new(device: &Arc<Device>, sum: &Sum<T, Plane>) -> Result<Self, Error> {
        let start = Instant::now();
        check_extent::<T>(sum.validate()?)?;
        Self::build(Buffers::new(device)?, &SumInput::of(sum), start)
    }

    /// Chooses method and parameters for a valid sum, whose points may be on the device already.
    pub(super) fn build(buffers: Buffers, input: &SumInput<T>, start: Instant) -> Result<Self, Error> {
        let (asked, counts) = (&input.asked, input.counts());
        check_point_count(counts.points())?;
        let rates = tuning::rates::<T>(buffers.device().properties(), &input.kind);
        let mut plan = Self::empty(buffers, input);
        if counts.pairs() == 0 {
            return Ok(plan);
        }
        let choice = tuning::choose(asked, counts, &rates);
        let pairs = counts.pairs() as f64 * asked.request.vectors as f64;
        let direct = match asked.options().method {
            Method::Direct => true,
            Method::Auto => 1e-9 * rates.direct(pairs) < choice.seconds,
            _ => false,
        };
        if direct {
            plan.use_direct(input)?;
        } else {
            plan.use_fmm(input, &choice)?;
        }
        plan.planning = start.elapsed().as_secs_f64();
        Ok(plan)
    }

    fn empty(buffers: Buffers, input: &SumInput<T>) -> Self {
        let (asked, counts) = (&input.asked, input.counts());
        Self {
            request: asked.request.clone(),
            source_count: counts.sources,
            target_count: counts.targets(),
            parameters: Parameters {
                method: Method::Direct,
                ..Parameters::default()
            },
            notes: Vec::new(),
            checks: asked.options().check && !asked.request.outputs.is_empty(),
            checker: None,
            last_check: None,
            last_factor: 1.0,
            buffers,
            engine: None,
            planning: 0.0,
            seconds: Seconds::default(),
            evaluated: false,
        }
    }

    fn use_direct(&mut self, input: &SumInput<T>) -> Result<(), Error> {
        let device = self.buffers.device();
        let multiprocessors = device.properties().multiprocessors;
        let batch = vectors_at_once(device, self.request.vectors.min(MOST_AT_ONCE), None, |batch| {
            Direct::forecast(input, batch, multiprocessors)
        })?;
        let direct = Direct::new(self.buffers.clone(), input, batch)?;
        self.parameters = Parameters {
            method: Method::Direct,
            interactions: Interactions {
                p2p: input.counts().pairs(),
                ..Interactions::default()
            },
            ..Parameters::default()
        };
        self.engine = Some(Engine::Direct(Box::new(direct)));
        Ok(())
    }

    fn use_fmm(&mut self, input: &SumInput<T>, choice: &Choice) -> Result<(), Error> {
        let asked = &input.asked;
        let device = self.buffers.device();
        let free = device.free_memory()?;
        let batch = vectors_at_once(device, asked.request.vectors.min(MOST_AT_ONCE), Some(free), |batch| {
            Fmm::forecast(input, batch, choice)
        })?;
        let fmm = Fmm::new(self.buffers.clone(), input, batch, choice, free / 4)?;
        let Some(fmm) = fmm
            .filter(|fmm| !(asked.options().method == Method::Auto && meets_nearly_all(fmm, input.counts().pairs())))
        else {
            let note = match asked.core() {
                Core::Singular => "direct: cheaper than the FMM for these points".to_owned(),
                _ => format!(
                    "direct: cores of size {:e} reach too far for a far field at this tolerance",
                    asked.largest_size()
                ),
            };
            self.notes.push(note);
            return self.use_direct(input);
        };
        let totals = fmm.connections.totals;
        self.parameters = Parameters {
            method: Method::Fmm,
            order: Some(choice.order),
            lowest_m2l_order: None,
            theta: Some(choice.theta),
            leaf_capacity: Some(input.counts().points().div_ceil(fmm.pyramid.leaves())),
            depth: Some(choice.depth),
            boxes: fmm.pyramid.box_count(),
            interactions: Interactions {
                p2p: totals.p2p,
                m2l: totals.weak,
                m2p: totals.m2p,
                p2l: totals.p2l,
            },
        };
        self.engine = Some(Engine::Fmm(Box::new(fmm)));
        Ok(())
    }

    /// Sums for the given strengths, as [`farfield_core::plane::Plan::evaluate`] does: from host memory to host memory.
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
        field.refill(|values| self.sum_to(strengths, &mut seconds, values))?;
        field.set_check(self.last_check.clone());
        seconds.total = start.elapsed().as_secs_f64();
        if !self.evaluated {
            seconds.total += self.planning;
        }
        self.evaluated = true;
        self.seconds = seconds;
        Ok(())
    }

    /// The values of each output in place of those that were there; returns the largest strength.
    fn sum_to(&mut self, strengths: &[T], seconds: &mut Seconds, values: &mut [Vec<T>]) -> Result<f64, Error> {
        let parts = self.request.kernel.strength_components();
        check_strength_count(strengths.len(), self.source_count, parts, self.request.vectors)?;
        let mut timeline = Timeline::start(self.buffers.stream())?;
        self.launch(Values::Host(strengths), &mut timeline)?;
        // Looked at while the device works.
        let largest = check_strengths(strengths, self.source_count, parts, self.request.vectors)?;
        self.last_check = check_and_correct(self, Values::Host(strengths), seconds)?;
        self.fetch(values)?;
        self.add_times(&timeline, seconds)?;
        Ok(largest)
    }

    /// Starts all of an evaluation's work on the device.
    pub(super) fn launch(&mut self, strengths: Values<T>, timeline: &mut Timeline) -> Result<(), Error> {
        match &mut self.engine {
            None => Ok(()),
            Some(Engine::Direct(direct)) => direct.evaluate(strengths, timeline),
            Some(Engine::Fmm(fmm)) => fmm.evaluate(strengths, timeline),
        }
    }

    /// Waits for the results.
    fn fetch(&self, values: &mut [Vec<T>]) -> Result<(), Error> {
        match &self.engine {
            // The results of no sources; the field takes care of their number.
            None => {
                values.iter_mut().for_each(Vec::clear);
                Ok(())
            }
            Some(engine) => engine.ends().read_outputs(values),
        }
    }

    /// Where the device's time went, once it is done.
    pub(super) fn add_times(&self, timeline: &Timeline, seconds: &mut Seconds) -> Result<(), Error> {
        timeline.add_to(seconds)?;
        match &self.engine {
            Some(Engine::Fmm(fmm)) if !self.evaluated => fmm.building.add_to(seconds),
            _ => Ok(()),
        }
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
    /// is the time of the call. L2P and M2P are part of P2P.
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

/// Whether an FMM would leave less than a tenth of the pairs to expansions.
fn meets_nearly_all<T: Precision>(fmm: &Fmm<T>, pairs: u64) -> bool {
    10 * u128::from(fmm.connections.totals.p2p) > 9 * u128::from(pairs)
}

/// Squares of distances must neither overflow nor be flushed to zero.
pub(super) fn check_extent<T: Precision>(extent: f64) -> Result<(), Error> {
    let range = if T::DOUBLE {
        0.0..=f64::INFINITY
    } else {
        2f64.powi(-30)..=2f64.powi(50)
    };
    if extent == 0.0 || range.contains(&extent) {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: format!("{} points of the plane that extend over {extent:e}", T::NAME),
        remedy: "scale them to about one, use f64, or sum on the CPU",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield_core::plane::{Kernel, PlaneSet};

    #[test]
    fn extents_that_single_precision_cannot_square_are_refused() {
        for extent in [0.0, 1e-8, 1.0, 1e14] {
            assert!(check_extent::<f32>(extent).is_ok(), "{extent}");
        }
        for extent in [1e-12, 1e20] {
            let error = check_extent::<f32>(extent).unwrap_err().to_string();
            assert!(error.contains("f32") && error.contains("the CPU"), "{error}");
            assert!(check_extent::<f64>(extent).is_ok());
        }
    }

    #[test]
    fn forecasts_grow_with_vectors_and_orders() {
        let points = PlaneSet::Square.generate::<f64>(10_000, 1);
        let sum = Request::<Plane> {
            vectors: 8,
            ..Request::new(Kernel::Harmonic)
        };
        let choice = Choice {
            theta: 0.5,
            order: 14,
            depth: 5,
            shortcut: 18,
            seconds: 0.0,
        };
        let sum = sum.between(&points);
        let bytes = |batch: usize, order: usize| Fmm::forecast(&SumInput::of(&sum), batch, &Choice { order, ..choice });
        assert!(bytes(1, 14) < bytes(8, 14) && bytes(1, 14) < bytes(1, 30));
        // Packed sources, sums, and two expansions of 1365 boxes for every vector more.
        let per_vector = 10_000 * 8 * (1 + 4 + 2) + 4 * 1365 * 15 * 8;
        assert_eq!(bytes(8, 14) - bytes(1, 14), 7 * per_vector);
    }
}
