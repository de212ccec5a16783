//! A planned sum, on any device.

use crate::engine::Engine;
use crate::geometry::Geometry;
use crate::report::{Facts, Processor, Report, Seconds};
use crate::{Error, Field};
use farfield_core::plan::Parameters;
use farfield_cuda::device::Precision;

/// A planned sum: points, tree, lists, tables and memory, on the device that sums. Evaluating it again costs no tree, and
/// on the CPU no allocation. In space it is called [`crate::Plan`], in the plane [`crate::plane::Plan`].
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
    /// [`Error::Length`] or [`Error::NotFinite`] if the strengths do not fit the plan, [`Error::Overflow`] if a result is
    /// beyond the largest number, or what is wrong with the device.
    pub fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T, G>, Error> {
        self.engine.evaluate(strengths)
    }

    /// A field of zeros of the right size for [`evaluate_into`](Self::evaluate_into).
    pub fn field(&self) -> Field<T, G> {
        self.engine.field()
    }

    /// [`evaluate`](Self::evaluate) into memory that is already there.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), and [`Error::Length`] if `field` is not of this plan's size. After an error the
    /// field is still of its size; after one about the strengths or the field itself, its numbers are untouched.
    pub fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T, G>) -> Result<(), Error> {
        self.engine.evaluate_into(strengths, field)
    }

    /// From now on, gives memory back to the system as soon as an evaluation is done with it; the next evaluation is a little slower for
    /// it. For plans that are kept while others are evaluated, or that are evaluated once. In space, on the cores; a GPU keeps its memory.
    pub fn spare_memory(&mut self) {
        self.engine.spare_memory();
    }

    /// What the plan settled on.
    pub fn parameters(&self) -> &Parameters {
        self.engine.parameters()
    }

    /// The tolerance; `None` where an expert fixed the order.
    pub fn tolerance(&self) -> Option<f64> {
        self.engine.tolerance()
    }

    /// Where the time of the last evaluation went; the first includes the planning.
    pub fn seconds(&self) -> &Seconds {
        self.engine.seconds()
    }

    /// Remarks on choices the caller may want to know of.
    pub fn notes(&self) -> Vec<String> {
        self.engine.notes().iter().chain(&self.note).cloned().collect()
    }

    /// What sums.
    pub fn processor(&self) -> Processor {
        self.engine.processor()
    }

    /// How many sources there are.
    pub fn source_count(&self) -> usize {
        self.counts.0
    }

    /// How many targets there are.
    pub fn target_count(&self) -> usize {
        self.counts.1
    }

    /// All of this in one record, to be kept or written as JSON.
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
