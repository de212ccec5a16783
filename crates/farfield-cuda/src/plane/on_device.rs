//! Plans of the plane for points that are on the device, whose results stay there.

use super::input::SumInput;
use super::kind::PairKind;
use super::plan::{Plan, check_extent};
use crate::check::check_and_correct;
use crate::device::{Buffers, Precision, Timeline, Values};
use crate::error::Error;
use crate::kernel::SizeKind;
use crate::plan::{EvaluatedOnDevice, PointsOnDevice};
use cudarc::driver::CudaSlice;
use farfield_core::report::Seconds;
use farfield_core::{Geometry, Plane, Sum};
use std::time::Instant;

impl<T: Precision> Plan<T> {
    /// As [`Plan::new`], for points that extend over `extent` and were written by work on the stream of `buffers`.
    pub(crate) fn of_points_on_device(
        buffers: Buffers,
        sum: &Sum<T, Plane>,
        points: &PointsOnDevice<T>,
        extent: f64,
    ) -> Result<Self, Error> {
        let start = Instant::now();
        check_extent::<T>(extent)?;
        if sum.options().leaf_capacity.is_some() {
            return Err(Error::Unsupported {
                what: "a leaf capacity for points of the plane that are on the device".to_owned(),
                remedy: "leave it out, or plan for points of the host",
            });
        }
        let mut kind = PairKind::of(sum);
        if points.sizes.is_some() && kind.sizes == SizeKind::Global {
            kind.sizes = SizeKind::PerSource;
        }
        let input = SumInput {
            asked: *sum,
            kind,
            sources: points.sources,
            targets: points.targets,
            sizes: points.sizes.unwrap_or(Values::Host(&[])),
        };
        Self::build(buffers, &input, start)
    }
}

impl<T: Precision> EvaluatedOnDevice<T> for Plan<T> {
    fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    fn strengths(&self) -> (usize, usize) {
        (
            self.request.vectors * self.source_count,
            self.request.kernel.strength_components(),
        )
    }

    fn outputs(&self) -> Vec<(&'static str, usize)> {
        let components = |output| Plane::output_components(self.request.kernel, output);
        let outputs = self.request.outputs.iter();
        outputs.map(|output| (output.name(), components(*output))).collect()
    }

    fn result_rows(&self) -> usize {
        self.request.vectors * self.target_count
    }

    fn launch_on_device(&mut self, strengths: Values<T>) -> Result<Timeline, Error> {
        let mut timeline = Timeline::start(self.buffers.stream())?;
        self.launch(strengths, &mut timeline)?;
        self.last_check = check_and_correct(self, strengths, &mut Seconds::default())?;
        Ok(timeline)
    }

    fn results(&self) -> Option<Vec<&CudaSlice<T>>> {
        Some(self.engine.as_ref()?.ends().outputs().collect())
    }

    fn note_times(&mut self, timeline: &Timeline, total: f64) -> Result<(), Error> {
        let mut seconds = Seconds::default();
        self.add_times(timeline, &mut seconds)?;
        seconds.total = total + if self.evaluated { 0.0 } else { self.planning };
        (self.seconds, self.evaluated) = (seconds, true);
        Ok(())
    }
}
