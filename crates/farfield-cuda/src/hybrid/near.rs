//! The device's side: points, then lists, then strengths go there; sums come back.

use super::program;
use super::tasks::{Cuts, Range, Task, Tasks};
use super::timeline::{Clock, Span, Who};
use crate::device::{Blocks, Buffers, Device, In, Out, Pinned, Precision, Source, forecast_fits, kernels, parameters};
use crate::error::{DriverCall, Error};
use crate::fmm::{LARGE_LEAF, P2pBlocking, PermutePoints};
use crate::kernel::{PairKind, SizeKind};
use cudarc::driver::{CudaEvent, CudaSlice};
use farfield_core::plan::{Arrangement, CheckedSum, NearField, NearLists, NearPoints};
use std::sync::Arc;
use std::time::Instant;

kernels! {
    /// The kernels of a near field.
    pub(super) struct Functions<T> { permute_points: PermutePoints<T>, pack_near: PackNear<T>, near_p2p: NearP2p<T> }
}

parameters! {
    /// Of `pack_near`.
    pub(super) struct PackNear<T> {
        positions: In<T>,
        strengths: In<T>,
        size2: In<T>,
        count: u32,
        sources: Out<Source<T>>,
    }

    /// Of `near_p2p` of `kernels/near.cuh`, in space and in the plane.
    pub(super) struct NearP2p<T> {
        tasks: In<Task>,
        lists: In<Range>,
        targets: In<T>,
        sources: In<Source<T>>,
        source_count: u32,
        global_size2: T,
        sums: Out<T>,
    }
}

/// Those of a kind of pairs.
#[derive(Debug)]
struct Kernels<T: Precision> {
    kind: PairKind,
    functions: Functions<T>,
}

impl<T: Precision> Kernels<T> {
    fn new(device: &Device, kind: PairKind) -> Result<Self, Error> {
        let functions = Functions::load(device, &program::<T>(&kind))?;
        Ok(Self { kind, functions })
    }

    /// Those for a plan's pairs: merged points may have other sizes than the caller's.
    fn fitted_to(self, buffers: &Buffers, lists: &NearLists<T>) -> Result<Self, Error> {
        let sizes = match self.kind.sizes {
            SizeKind::None => SizeKind::None,
            _ if lists.size2.is_empty() => SizeKind::Global,
            _ => SizeKind::PerSource,
        };
        let skip_same = lists.skip_same;
        let kind = PairKind {
            sizes,
            skip_same,
            ..self.kind
        };
        if kind == self.kind {
            return Ok(self);
        }
        Self::new(buffers.device(), kind)
    }
}

/// Points on the device, in the caller's order, waiting for lists.
#[derive(Debug)]
pub(super) struct Sent<T: Precision> {
    buffers: Buffers,
    clock: Clock,
    kernels: Kernels<T>,
    sources: CudaSlice<T>,
    targets: Option<CudaSlice<T>>,
    host_sums: Pinned<T>,
    spans: Vec<Span>,
}

impl<T: Precision> Sent<T> {
    /// Sends the points and loads the kernels.
    pub fn new(device: &Arc<Device>, checked: &CheckedSum<T>) -> Result<Self, Error> {
        let kind = PairKind::of(checked);
        forecast_fits(device, forecast(checked, &kind))?;
        let buffers = Buffers::new(device)?;
        let clock = Clock::new(buffers.stream())?;
        let from = Instant::now();
        // Not by all threads: these have a tree to build.
        let send = |points: &[[T; 3]]| -> Result<CudaSlice<T>, Error> {
            let mut buffer = buffers.uninit(3 * points.len())?;
            if !points.is_empty() {
                let copied = buffers.stream().memcpy_htod(points.as_flattened(), &mut buffer);
                copied.map_err(Error::driver("copy points to the device"))?;
            }
            Ok(buffer)
        };
        let sources = send(checked.sources)?;
        let targets = checked.targets.map(send).transpose()?;
        buffers.wait()?;
        let span = Span {
            who: Who::Gpu,
            phase: "send",
            from,
            to: Instant::now(),
        };
        let sums = checked.vectors * kind.sums() * checked.target_count();
        Ok(Self {
            kernels: Kernels::new(device, kind)?,
            host_sums: Pinned::new(device, buffers.stream(), sums)?,
            buffers,
            clock,
            sources,
            targets,
            spans: vec![span],
        })
    }
}

/// Bytes of device memory, lists apart.
fn forecast<T>(checked: &CheckedSum<T>, kind: &PairKind) -> u64 {
    let (sources, targets) = (checked.sources.len(), checked.target_count());
    let per_source = 6 + 1 + checked.vectors * (kind.strengths() + kind.source_len());
    let own = if checked.targets.is_some() { 6 } else { 0 };
    let numbers = sources * per_source + targets * (own + checked.vectors * kind.sums());
    let orders = 4 * (sources + checked.targets.map_or(0, <[_]>::len));
    (numbers * std::mem::size_of::<T>() + orders) as u64
}

/// A plan's pairs on a device, ready for strengths.
#[derive(Debug)]
pub(super) struct DeviceNear<T: Precision> {
    buffers: Buffers,
    clock: Clock,
    kernels: Kernels<T>,
    threads: u32,
    vectors: u32,
    blocks: usize,
    source_count: u32,
    global_size2: T,
    /// Positions in the plan's order.
    sources: CudaSlice<T>,
    targets: Option<CudaSlice<T>>,
    size2: CudaSlice<T>,
    tasks: CudaSlice<Task>,
    task_count: u32,
    ranges: CudaSlice<Range>,
    strengths: CudaSlice<T>,
    packed: CudaSlice<T>,
    sums: CudaSlice<T>,
    host_sums: Pinned<T>,
    pub sum_count: usize,
    /// Where the stream ends a phase that began at the mark before; `None` is only a beginning.
    marks: Vec<(Option<&'static str>, CudaEvent)>,
    spans: Vec<Span>,
    /// Pairs of points it sums.
    pub pairs: u64,
    /// When the plan last called.
    pub calls: Calls,
    /// Why the last evaluation failed.
    pub failure: Option<Error>,
}

/// When `start` and `finish` were called and returned.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Calls {
    pub start: Option<(Instant, Instant)>,
    pub finish: Option<(Instant, Instant)>,
}

impl<T: Precision> DeviceNear<T> {
    /// The first `blocks` blocks of a plan.
    pub fn new(sent: Sent<T>, lists: &NearLists<T>, blocks: usize) -> Result<Self, Error> {
        let Sent {
            buffers,
            clock,
            kernels,
            sources,
            targets,
            host_sums,
            spans,
        } = sent;
        let kernels = kernels.fitted_to(&buffers, lists)?;
        let (kind, blocking) = (kernels.kind, P2pBlocking::of::<T>(&kernels.kind, LARGE_LEAF, 1));
        let work = Tasks::new(lists, blocks, &Cuts::new(blocking.threads, blocking.targets));
        let began = clock.mark()?;
        let sources = permuted(&buffers, &kernels, sources, &lists.sources)?;
        let targets = match (targets, &lists.targets) {
            (Some(targets), Some(points)) => Some(permuted(&buffers, &kernels, targets, points)?),
            _ => None,
        };
        let (size2, tasks) = (buffers.upload(lists.size2)?, buffers.upload(&work.tasks)?);
        let ranges = buffers.upload(&work.ranges)?;
        let ended = clock.mark()?;
        let source_count = lists.sources.columns[0].len();
        let sum_count = work.targets * lists.rows;
        Ok(Self {
            threads: blocking.threads,
            vectors: lists.vectors as u32,
            blocks,
            source_count: source_count as u32,
            global_size2: lists.global_size2,
            sources,
            targets,
            size2,
            tasks,
            task_count: work.tasks.len() as u32,
            ranges,
            strengths: buffers.uninit(lists.vectors * kind.strengths() * source_count)?,
            packed: buffers.uninit(lists.vectors * kind.source_len() * source_count)?,
            sums: buffers.uninit(sum_count)?,
            host_sums,
            sum_count,
            marks: vec![(None, began), (Some("send"), ended)],
            spans,
            pairs: work.pairs,
            calls: Calls::default(),
            failure: None,
            buffers,
            clock,
            kernels,
        })
    }

    /// Strengths go there, sources are packed, pairs summed, sums sent back; nothing is waited for.
    fn begin(&mut self, strengths: &[T]) -> Result<(), Error> {
        self.mark(None)?;
        self.buffers.write(strengths, &mut self.strengths)?;
        self.mark(Some("send"))?;
        let grid = (self.source_count.div_ceil(256), self.vectors, 1);
        self.kernels.functions.pack_near.launch(
            self.buffers.stream(),
            Blocks::new(grid, 256),
            &PackNear {
                positions: In::of(&self.sources),
                strengths: In::of(&self.strengths),
                size2: In::of(&self.size2),
                count: self.source_count,
                sources: Out::of(&mut self.packed),
            },
        )?;
        self.kernels.functions.near_p2p.launch(
            self.buffers.stream(),
            Blocks::new((self.task_count, self.vectors, 1), self.threads),
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
        self.mark(Some("p2p"))?;
        self.host_sums.begin_read(&self.sums, self.sum_count)?;
        self.mark(Some("receive"))
    }

    fn mark(&mut self, ends: Option<&'static str>) -> Result<(), Error> {
        self.marks.push((ends, self.clock.mark()?));
        Ok(())
    }

    /// What the device did since this was last asked; all of it is over.
    pub fn take_spans(&mut self) -> Result<Vec<Span>, Error> {
        let mut spans = std::mem::take(&mut self.spans);
        let mut from = None;
        for (phase, mark) in self.marks.drain(..) {
            let to = self.clock.time_of(&mark)?;
            if let (Some(phase), Some(from)) = (phase, from) {
                let who = Who::Gpu;
                spans.push(Span { who, phase, from, to });
            }
            from = Some(to);
        }
        Ok(spans)
    }

    /// Keeps what went wrong for whoever evaluates the plan.
    fn failed(&mut self, error: Error) -> farfield_core::Error {
        let reason = error.to_string();
        self.failure = Some(error);
        farfield_core::Error::NearField { reason }
    }
}

impl<T: Precision> NearField<T> for DeviceNear<T> {
    fn blocks(&self) -> usize {
        self.blocks
    }

    fn start(&mut self, strengths: &[T]) -> Result<(), farfield_core::Error> {
        let called = Instant::now();
        let begun = self.begin(strengths);
        self.calls.start = Some((called, Instant::now()));
        begun.map_err(|error| self.failed(error))
    }

    fn finish(&mut self) -> Result<&[T], farfield_core::Error> {
        let called = Instant::now();
        let waited = self.buffers.wait();
        self.calls.finish = Some((called, Instant::now()));
        waited.map_err(|error| self.failed(error))?;
        Ok(self.host_sums.values())
    }
}

/// Points in the plan's order, from the caller's where they are the same.
fn permuted<T: Precision>(
    buffers: &Buffers,
    kernels: &Kernels<T>,
    callers: CudaSlice<T>,
    points: &NearPoints<T>,
) -> Result<CudaSlice<T>, Error> {
    match points.arrangement {
        Arrangement::Callers => Ok(callers),
        Arrangement::Permuted(permutation) => {
            let (count, permutation) = (permutation.len() as u32, buffers.upload(permutation)?);
            let mut permuted = buffers.uninit(3 * count as usize)?;
            kernels.functions.permute_points.launch(
                buffers.stream(),
                Blocks::row(count.div_ceil(256).max(1), 256),
                &PermutePoints {
                    positions: In::of(&callers),
                    permutation: In::of(&permutation),
                    count,
                    permuted: Out::of(&mut permuted),
                },
            )?;
            Ok(permuted)
        }
        Arrangement::Others => {
            let [x, y, z] = points.columns;
            let rows: Vec<[T; 3]> = (0..x.len()).map(|k| [x[k], y[k], z[k]]).collect();
            buffers.upload(rows.as_flattened())
        }
    }
}
