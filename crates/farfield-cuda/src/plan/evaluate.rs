//! A plan on a device and its evaluation.

use crate::device::{Buffers, Precision, Timeline};
use crate::direct::Direct;
use crate::error::Error;
use crate::fmm::Fmm;
use farfield::Field;
use farfield::kernel::{Kernel, Output};
use farfield::plan::{Parameters, Request, check_strengths};
use farfield::report::Seconds;
use std::time::Instant;

/// What does the summing.
#[derive(Debug)]
pub(super) enum Engine<T: Precision> {
    Direct(Box<Direct<T>>),
    Fmm(Box<Fmm<T>>),
}

/// A planned sum whose points are on the device. Evaluating it again sends strengths and fetches results, nothing
/// else.
#[derive(Debug)]
pub struct Plan<T: Precision> {
    kernel: Kernel,
    outputs: Vec<Output>,
    vectors: usize,
    source_count: usize,
    target_count: usize,
    tolerance: Option<f64>,
    parameters: Parameters,
    buffers: Buffers,
    engine: Engine<T>,
    pub(super) planning: f64,
    seconds: Seconds,
    evaluated: bool,
}

impl<T: Precision> Plan<T> {
    pub(super) fn with_engine(
        buffers: Buffers,
        request: &Request<T>,
        engine: Engine<T>,
        parameters: Parameters,
    ) -> Self {
        Self {
            kernel: request.kernel,
            outputs: request.outputs.to_vec(),
            vectors: request.vectors,
            source_count: request.sources.len(),
            target_count: request.target_count(),
            tolerance: request.order.is_none().then_some(request.tolerance),
            parameters,
            buffers,
            engine,
            planning: 0.0,
            seconds: Seconds::default(),
            evaluated: false,
        }
    }

    /// Sums for the given strengths, as [`farfield::Plan::evaluate`] does: from host memory to host memory.
    ///
    /// # Errors
    /// [`Error::Sum`] if the strengths do not fit the plan, [`Error::Driver`] if the device failed.
    pub fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T>, Error> {
        let start = Instant::now();
        let components = self.kernel.strength_components();
        let largest = check_strengths(strengths, self.source_count, components, self.vectors)?;
        let mut seconds = Seconds::default();
        let values = if self.source_count == 0 || self.target_count == 0 {
            let length = |output: &Output| self.vectors * self.target_count * output.components();
            self.outputs
                .iter()
                .map(|output| vec![T::ZERO; length(output)])
                .collect()
        } else {
            self.sum(strengths, &mut seconds)?
        };
        seconds.total = start.elapsed().as_secs_f64();
        if !self.evaluated {
            seconds.total += self.planning;
        }
        self.evaluated = true;
        self.seconds = seconds;
        Ok(Field::from_values(
            &self.outputs,
            self.vectors,
            self.target_count,
            values,
            largest,
        )?)
    }

    fn sum(&mut self, strengths: &[T], seconds: &mut Seconds) -> Result<Vec<Vec<T>>, Error> {
        let mut timeline = Timeline::start(self.buffers.stream())?;
        match &mut self.engine {
            Engine::Direct(direct) => direct.evaluate(strengths, &mut timeline)?,
            Engine::Fmm(fmm) => fmm.evaluate(strengths, &mut timeline)?,
        }
        let on_device: Vec<_> = match &self.engine {
            Engine::Direct(direct) => direct.outputs().collect(),
            Engine::Fmm(fmm) => fmm.outputs().collect(),
        };
        let mut values = Vec::with_capacity(self.outputs.len());
        for (output, sums) in self.outputs.iter().zip(on_device) {
            let mut host = vec![T::ZERO; self.vectors * self.target_count * output.components()];
            self.buffers.read(sums, &mut host)?;
            values.push(host);
        }
        timeline.add_to(seconds)?;
        if let Engine::Fmm(fmm) = &self.engine
            && !self.evaluated
        {
            fmm.building.add_to(seconds)?;
        }
        Ok(values)
    }

    /// What the plan settled on.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The tolerance; `None` where an expert fixed the order.
    pub fn tolerance(&self) -> Option<f64> {
        self.tolerance
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
