//! The algorithm: pack the sources, sum over all pairs slice by slice, add the slices.

use super::program;
use crate::compile::Program;
use crate::device::{Blocks, Buffers, In, Out, Precision, Source, Timeline, Values, kernels, parameters};
use crate::error::Error;
use crate::kernel::PairKind;
use cudarc::driver::CudaSlice;
use farfield_core::kernel::{Kernel, Output};
use farfield_core::plan::first_sum;
use farfield_core::report::Phase;

/// The division of the work into threads: the constants of `kernels/all_pairs.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Blocking {
    /// Threads per block, and sources per tile.
    pub threads: u32,
    /// Targets per thread.
    pub targets: u32,
    /// The unrolling factor of the loop over the sources.
    pub unroll: u32,
    /// The number of blocks that must fit on a multiprocessor; 0 leaves it to the compiler.
    pub blocks: u32,
}

impl Blocking {
    /// Adds these constants to a program.
    pub(crate) fn define(&self, program: Program) -> Program {
        program
            .define("FARFIELD_THREADS", self.threads)
            .define("FARFIELD_TARGETS", self.targets)
            .define("FARFIELD_UNROLL", self.unroll)
            .define("FARFIELD_BLOCKS", self.blocks)
    }

    /// The number of thread blocks for `targets` targets.
    pub(crate) fn groups(&self, targets: u32) -> u32 {
        targets.div_ceil(self.threads * self.targets)
    }

    /// The fastest blocking, measured on an H200; see docs/notes/gpu.md.
    pub fn fastest<T: Precision>(kind: &PairKind) -> Self {
        let (threads, targets, unroll, blocks) = match (T::DOUBLE, kind.sums()) {
            (false, 1) => (512, 4, 4, 0),
            (false, 4) => (128, 4, 8, 2),
            (false, 3) => (128, 1, 8, 0),
            (true, 1 | 3 | 4) => (128, 2, 4, 0),
            _ => (128, 1, 4, 0),
        };
        Self {
            threads,
            targets,
            unroll,
            blocks,
        }
    }
}

kernels! {
    /// The kernels of a direct sum.
    pub(super) struct Kernels<T> { pack_sources: PackSources<T>, direct: AllPairs<T>, finish: Finish<T> }
}

parameters! {
    /// Parameters of `pack_sources`.
    pub(super) struct PackSources<T> {
        positions: In<T>,
        strengths: In<T>,
        sizes: In<T>,
        count: u32,
        sources: Out<Source<T>>,
    }

    /// Parameters of `direct` of `kernels/all_pairs.cuh`, in space and in the plane.
    pub(crate) struct AllPairs<T> {
        targets: In<T>,
        target_count: u32,
        sources: In<Source<T>>,
        source_count: u32,
        slice_length: u32,
        global_size2: T,
        partial: Out<T>,
    }

    /// Parameters of `finish`.
    pub(super) struct Finish<T> {
        partial: In<T>,
        target_count: u32,
        slices: u32,
        first_sum: u32,
        components: u32,
        scale: T,
        output: Out<T>,
    }
}

/// Points on the device, ready for strengths.
#[derive(Debug)]
pub(crate) struct Direct<T: Precision> {
    buffers: Buffers,
    blocking: Blocking,
    /// Strength values per vector.
    per_vector: usize,
    source_count: u32,
    target_count: u32,
    slices: u32,
    slice_length: u32,
    pub(crate) global_size2: T,
    sources: CudaSlice<T>,
    /// `None` if the sources are the targets.
    targets: Option<CudaSlice<T>>,
    sizes: CudaSlice<T>,
    strengths: CudaSlice<T>,
    pub(crate) packed: CudaSlice<T>,
    partial: CudaSlice<T>,
    outputs: Vec<(Output, T, CudaSlice<T>)>,
    kernels: Kernels<T>,
}

/// The description of a sum, with the caller's arrays flattened.
#[derive(Clone, Copy)]
pub(crate) struct SumInput<'a, T> {
    pub kernel: Kernel,
    pub kind: PairKind,
    pub vectors: usize,
    pub sources: Values<'a, T>,
    pub targets: Option<Values<'a, T>>,
    /// One size per source, or empty.
    pub sizes: Values<'a, T>,
    pub global_size2: T,
    pub outputs: &'a [Output],
    /// A limit on the device memory to use, in bytes; `None` for all free memory.
    pub most_bytes: Option<u64>,
    /// Whether targets are also kept in the caller's order, to plan the sum again.
    pub keeps_targets: bool,
}

impl<T: Copy> SumInput<'_, T> {
    /// The numbers of sources and of targets.
    pub fn counts(&self) -> (usize, usize) {
        (self.sources.len() / 3, self.targets.unwrap_or(self.sources).len() / 3)
    }
}

impl<T: Precision> Direct<T> {
    /// The device memory that a sum needs, in bytes.
    pub fn forecast(
        kind: &PairKind,
        vectors: usize,
        (sources, targets): (usize, usize),
        multiprocessors: usize,
    ) -> u64 {
        let blocking = Blocking::fastest::<T>(kind);
        let (slices, _) = slices(&blocking, sources, targets, multiprocessors);
        let per_source = 4 + vectors * (kind.strengths() + kind.source_len());
        let per_target = 3 + vectors * kind.sums() * (slices as usize + 1);
        ((sources * per_source + targets * per_target) * std::mem::size_of::<T>()) as u64
    }

    pub fn new(buffers: Buffers, input: SumInput<T>) -> Result<Self, Error> {
        let (source_count, target_count) = input.counts();
        let SumInput {
            kernel,
            kind,
            vectors,
            sources,
            targets,
            sizes,
            global_size2,
            outputs,
            ..
        } = input;
        let blocking = Blocking::fastest::<T>(&kind);
        let multiprocessors = buffers.device().properties().multiprocessors;
        let (slices, slice_length) = slices(&blocking, source_count, target_count, multiprocessors);
        let program = program::<T>(&kind, &blocking);
        let kernels = Kernels::load(buffers.device(), &program)?;
        let outputs = outputs
            .iter()
            .map(|output| {
                let scale = T::from_f64(kernel.scale(*output));
                let values = buffers.uninit(vectors * target_count * output.components())?;
                Ok((*output, scale, values))
            })
            .collect::<Result<_, Error>>()?;
        Ok(Self {
            blocking,
            per_vector: source_count * kind.strengths(),
            source_count: source_count as u32,
            target_count: target_count as u32,
            slices,
            slice_length,
            global_size2,
            sources: buffers.place(sources)?,
            targets: targets.map(|targets| buffers.place(targets)).transpose()?,
            sizes: buffers.place(sizes)?,
            strengths: buffers.uninit(vectors * source_count * kind.strengths())?,
            packed: buffers.uninit(vectors * source_count * kind.source_len())?,
            partial: buffers.uninit(vectors * slices as usize * kind.sums() * target_count)?,
            outputs,
            kernels,
            buffers,
        })
    }

    /// Sums for the given strengths, of at most as many vectors as the buffers were allocated for.
    pub fn evaluate(&mut self, strengths: Values<T>, timeline: &mut Timeline) -> Result<(), Error> {
        let vectors = (strengths.len() / self.per_vector) as u32;
        self.buffers.put(strengths, &mut self.strengths)?;
        self.pack(vectors)?;
        self.sum(vectors)?;
        self.finish(vectors)?;
        timeline.end(Phase::P2p)
    }

    /// The targets, which may be the sources.
    pub fn target_positions(&self) -> &CudaSlice<T> {
        self.targets.as_ref().unwrap_or(&self.sources)
    }

    /// The values of each output, on the device.
    pub fn outputs(&self) -> impl Iterator<Item = &CudaSlice<T>> {
        self.outputs.iter().map(|(_, _, values)| values)
    }

    /// Consumes the sum and returns the values of each output, on the device.
    pub fn into_outputs(self) -> Vec<CudaSlice<T>> {
        self.outputs.into_iter().map(|(_, _, values)| values).collect()
    }

    fn pack(&mut self, vectors: u32) -> Result<(), Error> {
        let blocks = Blocks::new((self.source_count.div_ceil(256), vectors, 1), 256);
        self.kernels.pack_sources.launch(
            self.buffers.stream(),
            blocks,
            &PackSources {
                positions: In::of(&self.sources),
                strengths: In::of(&self.strengths),
                sizes: In::of(&self.sizes),
                count: self.source_count,
                sources: Out::of(&mut self.packed),
            },
        )
    }

    fn sum(&mut self, vectors: u32) -> Result<(), Error> {
        let grid = (self.blocking.groups(self.target_count), self.slices, vectors);
        self.kernels.direct.launch(
            self.buffers.stream(),
            Blocks::new(grid, self.blocking.threads),
            &AllPairs {
                targets: In::of(self.target_positions()),
                target_count: self.target_count,
                sources: In::of(&self.packed),
                source_count: self.source_count,
                slice_length: self.slice_length,
                global_size2: self.global_size2,
                partial: Out::of(&mut self.partial),
            },
        )
    }

    fn finish(&mut self, vectors: u32) -> Result<(), Error> {
        let blocks = Blocks::new((self.target_count.div_ceil(256), vectors, 1), 256);
        for (output, scale, values) in &mut self.outputs {
            self.kernels.finish.launch(
                self.buffers.stream(),
                blocks,
                &Finish {
                    partial: In::of(&self.partial),
                    target_count: self.target_count,
                    slices: self.slices,
                    first_sum: first_sum(*output) as u32,
                    components: output.components() as u32,
                    scale: *scale,
                    output: Out::of(values),
                },
            )?;
        }
        Ok(())
    }

    /// The number of pairs of points.
    pub fn pairs(&self) -> u64 {
        u64::from(self.source_count) * u64::from(self.target_count)
    }
}

/// The number of slices of the sources and their length: enough blocks to fill the device several times.
pub(crate) fn slices(blocking: &Blocking, sources: usize, targets: usize, multiprocessors: usize) -> (u32, u32) {
    let groups = blocking.groups(targets as u32).max(1) as usize;
    let tiles = sources.div_ceil(blocking.threads as usize).max(1);
    // About 64 blocks per multiprocessor: the last, incomplete wave is then a small part of the work.
    let wanted = 64 * multiprocessors;
    let slices = (wanted / groups).clamp(1, tiles.min(64));
    let tiles_per_slice = tiles.div_ceil(slices);
    let slices = tiles.div_ceil(tiles_per_slice);
    (slices as u32, (tiles_per_slice * blocking.threads as usize) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_cover_all_sources_and_end_on_tiles() {
        let blocking = Blocking {
            threads: 128,
            targets: 4,
            unroll: 4,
            blocks: 0,
        };
        for (sources, targets) in [
            (1, 1),
            (127, 5000),
            (128, 1),
            (129, 10),
            (10_000, 10_000),
            (1 << 20, 1 << 20),
        ] {
            let (slices, length) = slices(&blocking, sources, targets, 132);
            assert!(slices as usize * length as usize >= sources, "{sources} {targets}");
            assert!(
                (slices as usize - 1) * (length as usize) < sources,
                "{sources} {targets}"
            );
            assert_eq!(length % 128, 0);
        }
        assert_eq!(slices(&blocking, 1 << 22, 1 << 22, 132).0, 1);
        assert!(slices(&blocking, 10_000, 10_000, 132).0 > 10);
    }
}
