//! Sums in the plane that the CPU's cores and a device share: the device sums pairs of points, the cores everything else.
//!
//! The cores build pyramid and lists; then points, lists and strengths travel, the device goes through the lists, and its sums
//! come back while the cores do P2M to M2P. Leaves are larger than the cores alone would make them, by the rates of both.

use super::near::NearP2p;
use super::tasks::{Cuts, Range, Task, Tasks};
use crate::compile::Program;
use crate::device::{
    Blocks, Buffers, Complex, Device, In, Out, Pinned, Precision, Properties, Source, Timeline, forecast_fits, kernels,
    parameters,
};
use crate::error::Error;
use crate::fmm::P2pBlocking;
use crate::kernel::SizeKind;
use crate::plane::kind::PairKind;
use cudarc::driver::CudaSlice;
use farfield_core::Method;
use farfield_core::plan::Parameters;
use farfield_core::plane::{CheckedSum, Field, NearField, NearLists, Sum};
use farfield_core::report::{Phase, Seconds};
use farfield_core::simd::SimdLevel;
use std::sync::Arc;

parameters! {
    /// Of `pack_near`.
    pub(super) struct PackNear<T> {
        positions: In<Complex<T>>,
        strengths: In<T>,
        size2: In<T>,
        count: u32,
        sources: Out<Source<T>>,
    }
}

kernels! {
    /// The kernels of a near field in the plane.
    pub(super) struct Functions<T> { pack_near: PackNear<T>, near_p2p: NearP2p<T> }
}

/// The program of the near field in the plane.
pub fn program<T: Precision>(kind: &PairKind) -> Program {
    let program = Program::new("plane_near", include_str!("../../kernels/plane_near.cu"));
    kind.define::<T>(P2pBlocking::IN_PLANE.define(Functions::<T>::check(program)))
}

/// A plan of the CPU engine whose pairs of points a device sums.
#[derive(Debug)]
pub struct Plan<T: Precision> {
    plan: farfield_core::plane::Plan<T>,
    /// `None` where there are no pairs.
    near: Option<DeviceNear<T>>,
    seconds: Seconds,
}

impl<T: Precision> Plan<T> {
    /// Checks the sum, builds pyramid and lists on the cores and brings the pairs to the device.
    ///
    /// # Errors
    /// Any of [`Error`].
    pub fn new(device: &Arc<Device>, sum: &Sum<T>) -> Result<Self, Error> {
        let checked = sum.checked();
        let mut shared = sum.clone();
        if checked.leaf_capacity.is_none() {
            shared = shared.leaf_capacity(leaf_capacity(device.properties()));
        }
        if checked.method == Method::Auto && checked.point_count() > FEWEST_POINTS {
            shared = shared.method(Method::Fmm);
        }
        let plan = shared.plan()?;
        let lists = plan.near_lists();
        let near = match lists.pairs {
            0 => None,
            _ => Some(DeviceNear::new(device, &checked, &lists)?),
        };
        Ok(Self {
            plan,
            near,
            seconds: Seconds::default(),
        })
    }

    /// Sums for the given strengths, as [`farfield_core::plane::Plan::evaluate`] does.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::NotFinite`] if the strengths do not fit the plan, [`Error::Driver`] if the device failed.
    pub fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T>, Error> {
        let mut field = self.plan.field();
        self.evaluate_into(strengths, &mut field)?;
        Ok(field)
    }

    /// [`Plan::evaluate`] into memory that is already there.
    ///
    /// # Errors
    /// As [`Plan::evaluate`].
    pub fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
        let Some(near) = &mut self.near else {
            self.plan.evaluate_into(strengths, field)?;
            self.seconds = *self.plan.seconds();
            return Ok(());
        };
        near.timelines.clear();
        let summed = self.plan.evaluate_beside(strengths, field, near);
        summed.map_err(|error| near.failure.take().unwrap_or(error))?;
        let mut seconds = *self.plan.seconds();
        for timeline in near.timelines.drain(..) {
            timeline.add_to(&mut seconds)?;
        }
        self.seconds = seconds;
        Ok(())
    }

    /// Pairs of points that the device sums: all there are.
    pub fn device_pairs(&self) -> u64 {
        self.near.as_ref().map_or(0, |near| near.pairs)
    }

    /// A field of zeros of the right size for [`Plan::evaluate_into`].
    pub fn field(&self) -> Field<T> {
        self.plan.field()
    }

    /// What the plan settled on.
    pub fn parameters(&self) -> &Parameters {
        self.plan.parameters()
    }

    /// The tolerance; `None` where an expert fixed the order.
    pub fn tolerance(&self) -> Option<f64> {
        self.plan.tolerance()
    }

    /// The instruction set of the cores.
    pub fn simd(&self) -> SimdLevel {
        self.plan.simd()
    }

    /// Remarks on choices the caller may want to know of.
    pub fn notes(&self) -> &[String] {
        self.plan.notes()
    }

    /// Where the time of the last evaluation went; the first includes the planning. P2P is the device's, beside the rest.
    pub fn seconds(&self) -> &Seconds {
        &self.seconds
    }
}

/// From so many points on an FMM is taken where the method is free.
const FEWEST_POINTS: usize = 20_000;

/// Points of a leaf with which device and cores are done together. Equal machines have equal plans, whatever threads this process
/// has.
fn leaf_capacity(properties: &Properties) -> usize {
    let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    properties.gpu().plane_leaf_beside(cores)
}

/// A plan's pairs on a device, ready for strengths.
#[derive(Debug)]
struct DeviceNear<T: Precision> {
    buffers: Buffers,
    functions: Functions<T>,
    source_count: u32,
    global_size2: T,
    sources: CudaSlice<T>,
    targets: Option<CudaSlice<T>>,
    size2: CudaSlice<T>,
    tasks: CudaSlice<Task>,
    task_count: u32,
    ranges: CudaSlice<Range>,
    strengths: CudaSlice<T>,
    packed: CudaSlice<T>,
    sums: CudaSlice<T>,
    sum_count: usize,
    host_sums: Pinned<T>,
    pairs: u64,
    /// Of each run of the last evaluation.
    timelines: Vec<Timeline>,
    /// Why the last evaluation failed.
    failure: Option<Error>,
}

impl<T: Precision> DeviceNear<T> {
    fn new(device: &Arc<Device>, checked: &CheckedSum<T>, lists: &NearLists<T>) -> Result<Self, Error> {
        let sizes = match PairKind::of(checked).sizes {
            SizeKind::None => SizeKind::None,
            _ if lists.size2.is_empty() => SizeKind::Global,
            SizeKind::Global | SizeKind::PerSource => SizeKind::PerSource,
        };
        let kind = PairKind {
            sizes,
            complex: lists.parts == 2,
            skip_same: lists.skip_same,
            ..PairKind::of(checked)
        };
        let source_count = lists.sources[0].len();
        let target_count = lists.targets.unwrap_or(lists.sources)[0].len();
        let work = Tasks::in_plane(
            lists,
            &Cuts::new(P2pBlocking::IN_PLANE.threads, P2pBlocking::IN_PLANE.targets),
        );
        let sum_count = lists.rows * target_count;
        let numbers = (2 + 1 + lists.parts + 4) * source_count + 2 * target_count + sum_count;
        let listed = 16 * work.tasks.len() + 8 * work.ranges.len();
        forecast_fits(device, (numbers * std::mem::size_of::<T>() + listed) as u64)?;
        let buffers = Buffers::new(device)?;
        let send = |[x, y]: [&[T]; 2]| -> Result<CudaSlice<T>, Error> {
            let points: Vec<[T; 2]> = x.iter().zip(y).map(|(x, y)| [*x, *y]).collect();
            buffers.upload(points.as_flattened())
        };
        Ok(Self {
            functions: Functions::load(device, &program::<T>(&kind))?,
            source_count: source_count as u32,
            global_size2: lists.global_size2,
            sources: send(lists.sources)?,
            targets: lists.targets.map(send).transpose()?,
            size2: buffers.upload(lists.size2)?,
            task_count: work.tasks.len() as u32,
            tasks: buffers.upload(&work.tasks)?,
            ranges: buffers.upload(&work.ranges)?,
            strengths: buffers.uninit(lists.parts * source_count)?,
            packed: buffers.uninit(4 * source_count)?,
            sums: buffers.zeros(sum_count)?,
            sum_count,
            host_sums: Pinned::new(device, buffers.stream(), sum_count)?,
            pairs: work.pairs,
            timelines: Vec::new(),
            failure: None,
            buffers,
        })
    }

    /// Strengths go there, sources are packed, pairs summed, sums sent back; nothing is waited for.
    fn begin(&mut self, strengths: &[T]) -> Result<(), Error> {
        let stream = self.buffers.stream();
        self.buffers.write(strengths, &mut self.strengths)?;
        let mut timeline = Timeline::start(stream)?;
        self.functions.pack_near.launch(
            stream,
            Blocks::over(self.source_count, 256),
            &PackNear {
                positions: In::of(&self.sources),
                strengths: In::of(&self.strengths),
                size2: In::of(&self.size2),
                count: self.source_count,
                sources: Out::of(&mut self.packed),
            },
        )?;
        self.functions.near_p2p.launch(
            stream,
            Blocks::row(self.task_count, P2pBlocking::IN_PLANE.threads),
            &NearP2p {
                tasks: In::of(&self.tasks),
                lists: In::of(&self.ranges),
                targets: In::of(self.targets.as_ref().unwrap_or(&self.sources)),
                sources: In::of(&self.packed),
                source_count: self.source_count,
                global_size2: self.global_size2,
                sums: Out::of(&mut self.sums),
            },
        )?;
        timeline.end(Phase::P2p)?;
        self.timelines.push(timeline);
        self.host_sums.begin_read(&self.sums, self.sum_count)
    }

    /// Keeps what went wrong for whoever evaluates the plan.
    fn failed(&mut self, error: Error) -> farfield_core::Error {
        let reason = error.to_string();
        self.failure = Some(error);
        farfield_core::Error::NearField { reason }
    }
}

impl<T: Precision> NearField<T> for DeviceNear<T> {
    fn start(&mut self, strengths: &[T]) -> Result<(), farfield_core::Error> {
        self.begin(strengths).map_err(|error| self.failed(error))
    }

    fn finish(&mut self) -> Result<&[T], farfield_core::Error> {
        self.buffers.wait().map_err(|error| self.failed(error))?;
        Ok(self.host_sums.values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::tests::h200;

    #[test]
    fn faster_devices_take_larger_leaves() {
        let slow = Properties {
            multiprocessors: 33,
            ..h200()
        };
        let (fast, slow) = (leaf_capacity(&h200()), leaf_capacity(&slow));
        assert!((1.9..2.1).contains(&(fast as f64 / slow as f64)), "{fast} {slow}");
    }
}
