//! The direct sum in the plane: every pair.

use super::direct_program;
use super::ends::Ends;
use super::kind::PairKind;
use super::points::PointsInPlane;
use crate::device::{Blocks, Buffers, In, Out, Precision, Timeline, Values, kernels};
use crate::direct::{AllPairs, Blocking, slices};
use crate::error::Error;
use cudarc::driver::CudaSlice;
use farfield_core::plane::{CheckedSum, Kernel};
use farfield_core::report::Phase;

/// How the work is cut into threads.
pub(super) fn blocking(kind: &PairKind) -> Blocking {
    Blocking {
        threads: 128,
        targets: match kind.kernel {
            Kernel::Harmonic => 2,
            Kernel::Log => 1,
        },
        unroll: 4,
        blocks: 0,
    }
}

kernels! {
    /// The kernel of all pairs.
    pub(super) struct Kernels<T> { direct: AllPairs<T> }
}

/// Points on the device, ready for strengths.
#[derive(Debug)]
pub(super) struct Direct<T: Precision> {
    pub ends: Ends<T>,
    slice_length: u32,
    sources: CudaSlice<T>,
    /// `None`: the sources are the targets.
    targets: Option<CudaSlice<T>>,
    kernels: Kernels<T>,
}

impl<T: Precision> Direct<T> {
    /// Bytes of device memory.
    pub fn forecast(checked: &CheckedSum<T>, batch: usize, multiprocessors: usize) -> u64 {
        let (slices, _) = slices_of(checked, multiprocessors);
        let positions = 2 * checked.point_count() * std::mem::size_of::<T>();
        Ends::forecast(checked, batch, slices) + positions as u64
    }

    pub fn new(
        buffers: Buffers,
        checked: &CheckedSum<T>,
        points: &PointsInPlane<T>,
        batch: usize,
    ) -> Result<Self, Error> {
        let (slices, slice_length) = slices_of(checked, buffers.device().properties().multiprocessors);
        let kernels = Kernels::load(buffers.device(), &direct_program::<T>(&PairKind::of(checked)))?;
        Ok(Self {
            slice_length,
            sources: buffers.place(points.sources)?,
            targets: points.targets.map(|targets| buffers.place(targets)).transpose()?,
            ends: Ends::new(buffers, checked, points, batch, slices)?,
            kernels,
        })
    }

    /// Sums for the given strengths.
    pub fn evaluate(&mut self, strengths: Values<T>, timeline: &mut Timeline) -> Result<(), Error> {
        for vectors in self.ends.batches() {
            self.ends.pack(strengths, &vectors, &self.sources, None)?;
            let blocking = blocking(&self.ends.kind);
            let groups = blocking.groups(self.ends.target_count);
            let grid = (groups, self.ends.slices, self.ends.streams(&vectors));
            self.kernels.direct.launch(
                self.ends.buffers.stream(),
                Blocks::new(grid, blocking.threads),
                &AllPairs {
                    targets: In::of(self.targets.as_ref().unwrap_or(&self.sources)),
                    target_count: self.ends.target_count,
                    sources: In::of(&self.ends.packed),
                    source_count: self.ends.source_count,
                    slice_length: self.slice_length,
                    global_size2: self.ends.global_size2,
                    partial: Out::of(&mut self.ends.sums),
                },
            )?;
            self.ends.finish(&vectors, None)?;
        }
        timeline.end(Phase::P2p)
    }
}

fn slices_of<T: Precision>(checked: &CheckedSum<T>, multiprocessors: usize) -> (u32, u32) {
    let blocking = blocking(&PairKind::of(checked));
    slices(
        &blocking,
        checked.sources.len(),
        checked.target_count(),
        multiprocessors,
    )
}
