//! The direct sum in the plane: every pair.

use super::direct_program;
use super::ends::Ends;
use super::kind::PairKind;
use crate::device::{Buffers, Function, Precision, Timeline, launch};
use crate::error::Error;
use cudarc::driver::CudaSlice;
use farfield::plane::{Kernel, Request};
use farfield::report::Phase;

/// Threads of a block, and sources of a tile.
pub(super) const THREADS: u32 = 128;

/// Targets of a thread.
pub(super) fn targets_per_thread(kind: &PairKind) -> u32 {
    match kind.kernel {
        Kernel::Harmonic => 2,
        Kernel::Log => 1,
    }
}

/// Points on the device, ready for strengths.
#[derive(Debug)]
pub(super) struct Direct<T: Precision> {
    pub ends: Ends<T>,
    slice_length: u32,
    sources: CudaSlice<T>,
    /// `None`: the sources are the targets.
    targets: Option<CudaSlice<T>>,
    direct: Function,
}

impl<T: Precision> Direct<T> {
    /// Bytes of device memory.
    pub fn forecast(request: &Request<T>, batch: usize, multiprocessors: usize) -> u64 {
        let (slices, _) = slices_of(request, multiprocessors);
        let positions = 2 * request.point_count() * std::mem::size_of::<T>();
        Ends::forecast(request, batch, slices) + positions as u64
    }

    pub fn new(buffers: Buffers, request: &Request<T>, batch: usize) -> Result<Self, Error> {
        let (slices, slice_length) = slices_of(request, buffers.device().properties().multiprocessors);
        let [direct] = buffers
            .device()
            .functions(&direct_program::<T>(&PairKind::of(request)), ["direct"])?;
        Ok(Self {
            slice_length,
            sources: buffers.upload(request.sources.as_flattened())?,
            targets: request
                .targets
                .map(|targets| buffers.upload(targets.as_flattened()))
                .transpose()?,
            ends: Ends::new(buffers, request, batch, slices)?,
            direct,
        })
    }

    /// Sums for the given strengths.
    pub fn evaluate(&mut self, strengths: &[T], timeline: &mut Timeline) -> Result<(), Error> {
        for vectors in self.ends.batches() {
            self.ends.pack(strengths, &vectors, &self.sources, None)?;
            let groups = self
                .ends
                .target_count
                .div_ceil(THREADS * targets_per_thread(&self.ends.kind));
            let grid = (groups, self.ends.slices, self.ends.streams(&vectors));
            let targets = self.targets.as_ref().unwrap_or(&self.sources);
            launch!(self.ends.buffers.stream(), self.direct, grid, THREADS, 0;
                targets, &self.ends.target_count, &self.ends.packed, &self.ends.source_count, &self.slice_length,
                &self.ends.global_size2, &mut self.ends.sums);
            self.ends.finish(&vectors, None)?;
        }
        timeline.end(Phase::P2p)
    }
}

/// Into how many slices the sources are cut, and the length of a slice: enough blocks to fill the device several times.
fn slices_of<T: Precision>(request: &Request<T>, multiprocessors: usize) -> (u32, u32) {
    let per_block = THREADS * targets_per_thread(&PairKind::of(request));
    let groups = request.target_count().div_ceil(per_block as usize).max(1);
    let tiles = request.sources.len().div_ceil(THREADS as usize).max(1);
    let slices = (64 * multiprocessors / groups).clamp(1, tiles.min(64));
    let tiles_per_slice = tiles.div_ceil(slices);
    (tiles.div_ceil(tiles_per_slice) as u32, tiles_per_slice as u32 * THREADS)
}
