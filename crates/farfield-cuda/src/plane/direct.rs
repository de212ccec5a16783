//! The direct sum in the plane: all pairs.

use super::direct_program;
use super::ends::{Ends, Permutation};
use super::fmm::Fmm;
use super::input::SumInput;
use super::kind::PairKind;
use crate::device::{Blocks, Buffers, In, Out, Precision, Timeline, Values, kernels};
use crate::direct::{AllPairs, Blocking, slices};
use crate::error::Error;
use cudarc::driver::CudaSlice;
use farfield_core::plane::Kernel;
use farfield_core::report::Phase;
use std::ops::Range;

/// The division of the work among threads.
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

/// Points on the device and the memory of the direct sum.
#[derive(Debug)]
pub(crate) struct Direct<T: Precision> {
    pub ends: Ends<T>,
    slice_length: u32,
    sources: CudaSlice<T>,
    /// `None` if the sources are the targets.
    targets: Option<CudaSlice<T>>,
    /// The caller's index of each source and target, if they are in another order.
    sorted: Option<SortedAs>,
    kernels: Kernels<T>,
}

/// The caller's index of each source, and of each target unless the sources are the targets.
type SortedAs = (CudaSlice<u32>, Option<CudaSlice<u32>>);

impl<T: Precision> Direct<T> {
    /// Bytes of device memory.
    pub fn forecast(input: &SumInput<T>, batch: usize, multiprocessors: usize) -> u64 {
        let (slices, _) = slices_of(input, multiprocessors);
        let positions = 2 * input.counts().points() * std::mem::size_of::<T>();
        Ends::forecast(input, batch, slices) + positions as u64
    }

    pub fn new(buffers: Buffers, input: &SumInput<T>, batch: usize) -> Result<Self, Error> {
        let (slices, slice_length) = slices_of(input, buffers.device().properties().multiprocessors);
        let kernels = Kernels::load(buffers.device(), &direct_program::<T>(&input.kind))?;
        Ok(Self {
            slice_length,
            sources: buffers.place(input.sources)?,
            targets: input.targets.map(|targets| buffers.place(targets)).transpose()?,
            ends: Ends::new(buffers, input, batch, slices)?,
            sorted: None,
            kernels,
        })
    }

    /// A direct sum over the points of an FMM, in their order there.
    pub fn of_sorted_points(fmm: Fmm<T>) -> Result<Self, Error> {
        let (mut ends, sources, targets) = fmm.into_points();
        let device = ends.buffers.device().clone();
        let (slices, slice_length) = slices(
            &blocking(&ends.kind),
            ends.source_count as usize,
            ends.target_count as usize,
            device.properties().multiprocessors,
        );
        ends.set_slices(slices)?;
        let (target_positions, target_permutation) = targets.map_or((None, None), |targets| {
            (Some(targets.positions), Some(targets.permutation))
        });
        Ok(Self {
            slice_length,
            sources: sources.positions,
            targets: target_positions,
            sorted: Some((sources.permutation, target_permutation)),
            kernels: Kernels::load(&device, &direct_program::<T>(&ends.kind))?,
            ends,
        })
    }

    /// The targets, which may be the sources.
    pub fn target_positions(&self) -> &CudaSlice<T> {
        self.targets.as_ref().unwrap_or(&self.sources)
    }

    /// The caller's index of each target; `None` if they are in the caller's order.
    pub fn target_permutation(&self) -> Permutation<'_> {
        let (sources, targets) = self.sorted.as_ref()?;
        Some(targets.as_ref().unwrap_or(sources))
    }

    /// Packs the sources with the strengths of `vectors`.
    pub fn pack(&mut self, strengths: Values<T>, vectors: &Range<usize>) -> Result<(), Error> {
        let permutation = self.sorted.as_ref().map(|(sources, _)| sources);
        self.ends.pack(strengths, vectors, &self.sources, permutation)
    }

    /// Sums for the given strengths.
    pub fn evaluate(&mut self, strengths: Values<T>, timeline: &mut Timeline) -> Result<(), Error> {
        for vectors in self.ends.batches() {
            self.pack(strengths, &vectors)?;
            let blocking = blocking(&self.ends.kind);
            let groups = blocking.groups(self.ends.target_count);
            let grid = (groups, self.ends.slices, self.ends.streams(&vectors));
            self.kernels.direct.launch(
                self.ends.buffers.stream(),
                Blocks::new(grid, blocking.threads),
                &AllPairs {
                    targets: In::of(self.target_positions()),
                    target_count: self.ends.target_count,
                    sources: In::of(&self.ends.packed),
                    source_count: self.ends.source_count,
                    slice_length: self.slice_length,
                    global_size2: self.ends.global_size2,
                    partial: Out::of(&mut self.ends.sums),
                },
            )?;
            let targets = self
                .sorted
                .as_ref()
                .map(|(sources, targets)| targets.as_ref().unwrap_or(sources));
            self.ends.finish(&vectors, targets)?;
        }
        timeline.end(Phase::P2p)
    }
}

fn slices_of<T: Precision>(input: &SumInput<T>, multiprocessors: usize) -> (u32, u32) {
    let counts = input.counts();
    slices(
        &blocking(&input.kind),
        counts.sources,
        counts.targets(),
        multiprocessors,
    )
}
