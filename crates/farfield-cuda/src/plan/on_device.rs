//! Plans for points on the device, whose results stay there.

use super::Plan;
use super::build::{check_extent, input_of};
use super::evaluate::Engine;
use super::geometry::PlannedOnDevice;
use crate::check::check_and_correct;
use crate::device::{Buffers, Precision, Timeline, Values};
use crate::direct::SumInput;
use crate::error::Error;
use crate::kernel::{PairKind, SizeKind};
use cudarc::driver::CudaSlice;
use farfield_core::check::Check;
use farfield_core::report::Seconds;
use farfield_core::{Space, Sum};
use std::time::Instant;

/// Checked points on the device, three numbers each; in the plane two.
pub(crate) struct PointsOnDevice<'a, T> {
    pub sources: Values<'a, T>,
    pub targets: Option<Values<'a, T>>,
    /// Core sizes, if each source has its own.
    pub sizes: Option<Values<'a, T>>,
}

/// The values of each output, and their measured error.
type OnDevice<T> = (Vec<CudaSlice<T>>, Option<Check>);

impl<T: Precision> Plan<T> {
    /// As [`Plan::new`], for points with extent `extent` that work on the stream of `buffers` has written.
    pub(super) fn of_points_on_device(
        buffers: Buffers,
        sum: &Sum<T, Space>,
        points: &PointsOnDevice<T>,
        extent: f64,
    ) -> Result<Self, Error> {
        let start = Instant::now();
        check_extent::<T>(extent)?;
        let mut kind = PairKind::of(sum);
        if points.sizes.is_some() && kind.sizes == SizeKind::Global {
            kind.sizes = SizeKind::PerSource;
        }
        let input = input_of(sum, kind);
        let global_size2 = match kind.sizes {
            SizeKind::PerSource => T::ZERO,
            _ => input.global_size2,
        };
        let input = SumInput {
            sources: points.sources,
            targets: points.targets,
            sizes: points.sizes.unwrap_or(Values::Host(&[])),
            global_size2,
            ..input
        };
        let mut plan = Self::build(buffers, sum, input, extent)?;
        plan.planning = start.elapsed().as_secs_f64();
        Ok(plan)
    }

    /// Sums for strengths on the device; returns the values of each output and their measured error.
    pub(crate) fn evaluate_on_device(mut self, strengths: Values<T>) -> Result<OnDevice<T>, Error> {
        if Space::results(&self).is_none() {
            let zeros = |components: usize| {
                self.buffers
                    .zeros(self.request.vectors * self.target_count * components)
            };
            let zeros = self.request.outputs.iter().map(|output| zeros(output.components()));
            return Ok((zeros.collect::<Result<_, Error>>()?, None));
        }
        self.launch_on_device(strengths)?;
        let outputs = match self.engine {
            Engine::Direct(direct) => direct.into_outputs(),
            Engine::Fmm(fmm) => fmm.into_outputs(),
        };
        Ok((outputs, self.last_check))
    }
}

#[expect(private_bounds, reason = "engines are not public")]
impl<T: Precision, G: PlannedOnDevice> Plan<T, G> {
    /// The name of each output, and its number of values at a target.
    pub(crate) fn named_outputs(&self) -> Vec<(&'static str, usize)> {
        let components = |output| G::output_components(self.request.kernel, output);
        let outputs = self.request.outputs.iter();
        outputs
            .map(|output| (G::output_name(*output), components(*output)))
            .collect()
    }

    /// Sums for strengths on the device; the results stay there.
    pub(crate) fn launch_on_device(&mut self, strengths: Values<T>) -> Result<Timeline, Error> {
        if G::results(self).is_none() {
            return Timeline::start(self.buffers.stream());
        }
        if self.has_passes() {
            return Err(Error::Unsupported {
                what: format!(
                    "{} vectors of strengths on the device that do not fit into its memory",
                    self.request.vectors
                ),
                remedy: "sum fewer vectors at once",
            });
        }
        let timeline = G::launch(self, strengths)?;
        self.last_check = check_and_correct(self, strengths, &mut Seconds::default())?;
        Ok(timeline)
    }

    /// Records the times of an evaluation once the device has finished.
    pub(crate) fn note_times(&mut self, timeline: &Timeline, total: f64) -> Result<(), Error> {
        let mut seconds = Seconds::default();
        timeline.add_to(&mut seconds)?;
        G::add_building(self, &mut seconds)?;
        seconds.total = total + if self.evaluated { 0.0 } else { self.planning };
        (self.seconds, self.evaluated) = (seconds, true);
        Ok(())
    }
}
