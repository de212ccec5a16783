//! What the direct sum and the FMM begin and end with: sources are packed with their strengths, sums become outputs.

use super::direct_program;
use super::kind::PairKind;
use super::points::PointsInPlane;
use crate::device::{Blocks, Buffers, Complex, In, Out, Precision, Source, Values, kernels, parameters};
use crate::error::Error;
use crate::kernel::SizeKind;
use cudarc::driver::CudaSlice;
use farfield_core::kernel::Sizes;
use farfield_core::plane::{CheckedSum, Output};
use std::ops::Range;

/// The order points are in: the caller's number of each, or `None` if that is the caller's.
pub(super) type Permutation<'a> = Option<&'a CudaSlice<u32>>;

/// Strengths, packed sources, sums and outputs on the device.
#[derive(Debug)]
pub(super) struct Ends<T: Precision> {
    pub buffers: Buffers,
    pub kind: PairKind,
    pub source_count: u32,
    pub target_count: u32,
    pub global_size2: T,
    vectors: usize,
    /// Vectors summed at once.
    batch: usize,
    /// Numbers of strength per source.
    parts: u32,
    /// Runs per vector: one for each part that is summed alone.
    runs: u32,
    /// Sets of sums for each target, which are added.
    pub slices: u32,
    sizes: CudaSlice<T>,
    strengths: CudaSlice<T>,
    /// Sources with strengths, in the engine's order, run by run.
    pub packed: CudaSlice<T>,
    /// `sums[((run * slices + slice) * kind.sums() + k) * targets + i]`, in the engine's order.
    pub sums: CudaSlice<T>,
    outputs: Vec<(Output, CudaSlice<T>)>,
    kernels: Kernels<T>,
}

parameters! {
    /// Of `pack_sources`.
    pub(super) struct PackSources<T> {
        positions: In<Complex<T>>,
        permutation: In<u32>,
        count: u32,
        strengths: In<T>,
        parts: u32,
        runs: u32,
        sizes: In<T>,
        sources: Out<Source<T>>,
    }

    /// Of `finish`.
    pub(super) struct Finish<T> {
        partial: In<T>,
        target_count: u32,
        slices: u32,
        runs: u32,
        permutation: In<u32>,
        potential: Out<T>,
        derivative: Out<T>,
    }
}

kernels! {
    /// The kernels that every sum begins and ends with.
    pub(super) struct Kernels<T> { pack_sources: PackSources<T>, finish: Finish<T> }
}

/// Numbers of a packed source.
const SOURCE: usize = 4;

impl<T: Precision> Ends<T> {
    /// Bytes of device memory.
    pub fn forecast(checked: &CheckedSum<T>, batch: usize, slices: u32) -> u64 {
        let kind = PairKind::of(checked);
        let (sources, targets) = (checked.sources.len(), checked.target_count());
        let streams = batch * runs_of(checked, &kind);
        let per_source = 1 + batch * parts_of(checked) + streams * SOURCE;
        let per_target = streams * slices as usize * kind.sums() + checked.vectors * 2 * checked.outputs.len();
        ((sources * per_source + targets * per_target) * std::mem::size_of::<T>()) as u64
    }

    pub fn new(
        buffers: Buffers,
        checked: &CheckedSum<T>,
        points: &PointsInPlane<T>,
        batch: usize,
        slices: u32,
    ) -> Result<Self, Error> {
        let kind = PairKind::of(checked);
        let kernels = Kernels::load(buffers.device(), &direct_program::<T>(&kind))?;
        let (sources, targets) = (checked.sources.len(), checked.target_count());
        let (parts, runs) = (parts_of(checked), runs_of(checked, &kind));
        let outputs = checked
            .outputs
            .iter()
            .map(|output| {
                let components = output.components(checked.kernel, checked.complex);
                Ok((*output, buffers.uninit(checked.vectors * targets * components)?))
            })
            .collect::<Result<_, Error>>()?;
        Ok(Self {
            kind,
            source_count: sources as u32,
            target_count: targets as u32,
            global_size2: match checked.sizes {
                Sizes::Global(size) if kind.sizes == SizeKind::Global => *size * *size,
                _ => T::ZERO,
            },
            vectors: checked.vectors,
            batch,
            parts: parts as u32,
            runs: runs as u32,
            slices,
            sizes: buffers.place(points.sizes)?,
            strengths: buffers.uninit(batch * parts * sources)?,
            packed: buffers.uninit(batch * runs * SOURCE * sources)?,
            sums: buffers.uninit(batch * runs * slices as usize * kind.sums() * targets)?,
            outputs,
            kernels,
            buffers,
        })
    }

    /// The strength vectors that are summed at once, one range after the other.
    pub fn batches(&self) -> impl Iterator<Item = Range<usize>> + use<T> {
        let (vectors, batch) = (self.vectors, self.batch);
        (0..vectors)
            .step_by(batch)
            .map(move |first| first..(first + batch).min(vectors))
    }

    /// Runs of some vectors.
    pub fn streams(&self, vectors: &Range<usize>) -> u32 {
        vectors.len() as u32 * self.runs
    }

    /// Packs the sources of some vectors, whose positions are in the engine's order.
    pub fn pack(
        &mut self,
        strengths: Values<T>,
        vectors: &Range<usize>,
        positions: &CudaSlice<T>,
        permutation: Permutation,
    ) -> Result<(), Error> {
        let per_vector = (self.source_count * self.parts) as usize;
        let strengths = strengths.part(vectors.start * per_vector..vectors.end * per_vector);
        self.buffers.put(strengths, &mut self.strengths)?;
        let grid = (self.source_count.div_ceil(256), self.streams(vectors), 1);
        self.kernels.pack_sources.launch(
            self.buffers.stream(),
            Blocks::new(grid, 256),
            &PackSources {
                positions: In::of(positions),
                permutation: In::of_any(permutation),
                count: self.source_count,
                strengths: In::of(&self.strengths),
                parts: self.parts,
                runs: self.runs,
                sizes: In::of(&self.sizes),
                sources: Out::of(&mut self.packed),
            },
        )
    }

    /// Writes the outputs of some vectors in the caller's order.
    pub fn finish(&mut self, vectors: &Range<usize>, permutation: Permutation) -> Result<(), Error> {
        let place = |output: Output| -> Out<T> {
            let found = self.outputs.iter().find(|(known, _)| *known == output);
            found.map_or(Out::NONE, |(_, values)| {
                Out::shared(values).plus(vectors.start * values.len() / self.vectors)
            })
        };
        let grid = (self.target_count.div_ceil(256), vectors.len() as u32, 1);
        self.kernels.finish.launch(
            self.buffers.stream(),
            Blocks::new(grid, 256),
            &Finish {
                partial: In::of(&self.sums),
                target_count: self.target_count,
                slices: self.slices,
                runs: self.runs,
                permutation: In::of_any(permutation),
                potential: place(Output::Potential),
                derivative: place(Output::Derivative),
            },
        )
    }

    /// The values of each output, where they are.
    pub fn into_outputs(self) -> Vec<CudaSlice<T>> {
        self.outputs.into_iter().map(|(_, values)| values).collect()
    }

    /// Brings the values of each output to the host, into memory that `values` has if it has any.
    pub fn read_outputs(&self, values: &mut [Vec<T>]) -> Result<(), Error> {
        for ((_, on_device), values) in self.outputs.iter().zip(values) {
            values.clear();
            self.buffers.append_to(on_device, on_device.len(), values)?;
        }
        Ok(())
    }
}

/// Numbers of strength per source.
pub(super) fn parts_of<T>(checked: &CheckedSum<T>) -> usize {
    1 + usize::from(checked.complex)
}

/// Runs of the engine for each vector.
pub(super) fn runs_of<T>(checked: &CheckedSum<T>, kind: &PairKind) -> usize {
    if kind.complex { 1 } else { parts_of(checked) }
}
