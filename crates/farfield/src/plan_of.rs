//! A planned sum, on any device.

use crate::engine::Engine;
use crate::geometry::Geometry;
use crate::report::{Facts, Processor, Report, Seconds};
use crate::{Error, Field};
use farfield_core::plan::Parameters;
use farfield_cuda::device::Precision;

/// A planned sum: points, tree, lists, tables and memory, on the device that sums. Further evaluations do not build the
/// tree again, and allocate nothing on the CPU. In space it is called [`crate::Plan`], in the plane
/// [`crate::plane::Plan`].
#[derive(Debug)]
pub struct PlanOf<T: Precision, G: Geometry> {
    engine: Box<dyn Engine<T, G>>,
    counts: (usize, usize),
    note: Option<String>,
}

impl<T: Precision, G: Geometry> PlanOf<T, G> {
    pub(crate) fn new(engine: Box<dyn Engine<T, G>>, counts: (usize, usize), note: Option<String>) -> Self {
        Self { engine, counts, note }
    }

    pub(crate) fn engine(&mut self) -> &mut dyn Engine<T, G> {
        self.engine.as_mut()
    }

    /// Sums for the given strengths: `strengths[(vector * sources + source) * components + component]`.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::NotFinite`] if the strengths do not fit the plan, [`Error::Overflow`] if a result
    /// exceeds the largest number, or an error of the device.
    pub fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T, G>, Error> {
        self.engine.evaluate(strengths)
    }

    /// A field of zeros of the plan's shape, for [`evaluate_into`](Self::evaluate_into).
    pub fn field(&self) -> Field<T, G> {
        self.engine.field()
    }

    /// [`evaluate`](Self::evaluate) into an existing field.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), and [`Error::Length`] if `field` does not have the plan's shape. After any
    /// error the field keeps its shape; after an error about the strengths or the field itself, its values are
    /// unchanged.
    pub fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T, G>) -> Result<(), Error> {
        self.engine.evaluate_into(strengths, field)
    }

    /// From now on, returns memory to the system as soon as an evaluation has finished with it; the next evaluation is
    /// a little slower for that. For plans that are kept while others are evaluated, or that are evaluated once. It has
    /// an effect in space on the CPU; a GPU keeps its memory.
    pub fn spare_memory(&mut self) {
        self.engine.spare_memory();
    }

    /// The parameters of the plan.
    pub fn parameters(&self) -> &Parameters {
        self.engine.parameters()
    }

    /// The tolerance; `None` if the order is fixed.
    pub fn tolerance(&self) -> Option<f64> {
        self.engine.tolerance()
    }

    /// The time of the last evaluation by phase; the first includes the planning.
    pub fn seconds(&self) -> &Seconds {
        self.engine.seconds()
    }

    /// Remarks on the plan's choices.
    pub fn notes(&self) -> Vec<String> {
        self.engine.notes().iter().chain(&self.note).cloned().collect()
    }

    /// The processor that sums.
    pub fn processor(&self) -> Processor {
        self.engine.processor()
    }

    /// The number of sources.
    pub fn source_count(&self) -> usize {
        self.counts.0
    }

    /// The number of targets.
    pub fn target_count(&self) -> usize {
        self.counts.1
    }

    /// The parameters, times and remarks in one record, which can be written as JSON.
    pub fn report(&self) -> Report {
        Report::new(Facts {
            counts: self.counts,
            precision: T::NAME,
            tolerance: self.tolerance(),
            parameters: self.parameters(),
            processor: self.processor(),
            seconds: *self.seconds(),
            notes: &self.notes(),
        })
    }
}
