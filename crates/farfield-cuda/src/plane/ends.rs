//! The first and last steps of the direct sum and the FMM: sources are packed with their strengths, sums become
//! outputs.

use super::direct_program;
use super::input::SumInput;
use super::kind::PairKind;
use crate::device::{Blocks, Buffers, Complex, In, Out, Precision, Source, Values, kernels, parameters};
use crate::error::Error;
use cudarc::driver::CudaSlice;
use farfield_core::plane::Output;
use farfield_core::{Geometry, Plane};
use std::ops::Range;

/// The order of points: the caller's index of each, or `None` for the caller's order.
pub(super) type Permutation<'a> = Option<&'a CudaSlice<u32>>;

/// Strengths, packed sources, sums and outputs on the device.
#[derive(Debug)]
pub(crate) struct Ends<T: Precision> {
    pub buffers: Buffers,
    pub kind: PairKind,
    pub source_count: u32,
    pub target_count: u32,
    pub global_size2: T,
    vectors: usize,
    /// The number of vectors summed at once.
    batch: usize,
    /// The number of strength components per source.
    parts: u32,
    /// The number of runs per vector: one for each part that is summed alone.
    runs: u32,
    /// The number of partial sums for each target, which are added.
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
    /// Parameters of `pack_sources`.
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

    /// Parameters of `finish`.
    pub(super) struct Finish<T> {
        partial: In<T>,
        target_count: u32,
        slices: u32,
        runs: u32,
        permutation: In<u32>,
        potential: Out<T>,
        derivative: Out<T>,
        second_derivative: Out<T>,
    }
}

kernels! {
    /// The kernels of the first and last steps of every sum.
    pub(super) struct Kernels<T> { pack_sources: PackSources<T>, finish: Finish<T> }
}

/// The number of values of a packed source.
const SOURCE: usize = 4;

impl<T: Precision> Ends<T> {
    /// Bytes of device memory.
    pub fn forecast(input: &SumInput<T>, batch: usize, slices: u32) -> u64 {
        let (sources, targets) = (input.counts().sources, input.counts().targets());
        let streams = batch * input.runs();
        let per_source = 1 + batch * input.parts() + streams * SOURCE;
        let results = input.asked.request.vectors * 2 * input.asked.request.outputs.len();
        let per_target = streams * slices as usize * input.kind.sums() + results;
        ((sources * per_source + targets * per_target) * std::mem::size_of::<T>()) as u64
    }

    pub fn new(buffers: Buffers, input: &SumInput<T>, batch: usize, slices: u32) -> Result<Self, Error> {
        let (asked, kind) = (&input.asked, input.kind);
        let kernels = Kernels::load(buffers.device(), &direct_program::<T>(&kind))?;
        let (sources, targets) = (input.counts().sources, input.counts().targets());
        let (parts, runs) = (input.parts(), input.runs());
        let outputs = asked
            .request
            .outputs
            .iter()
            .map(|output| {
                let components = Plane::output_components(asked.request.kernel, *output);
                Ok((*output, buffers.uninit(asked.request.vectors * targets * components)?))
            })
            .collect::<Result<_, Error>>()?;
        Ok(Self {
            kind,
            source_count: sources as u32,
            target_count: targets as u32,
            global_size2: input.global_size2(),
            vectors: asked.request.vectors,
            batch,
            parts: parts as u32,
            runs: runs as u32,
            slices,
            sizes: buffers.place(input.sizes)?,
            strengths: buffers.uninit(batch * parts * sources)?,
            packed: buffers.uninit(batch * runs * SOURCE * sources)?,
            sums: buffers.uninit(batch * runs * slices as usize * kind.sums() * targets)?,
            outputs,
            kernels,
            buffers,
        })
    }

    /// The number of runs per vector.
    pub fn runs(&self) -> usize {
        self.runs as usize
    }

    /// The number of runs of all vectors that are summed at once.
    pub fn most_streams(&self) -> usize {
        self.batch * self.runs as usize
    }

    /// Allocates memory for `slices` partial sums per target.
    pub fn set_slices(&mut self, slices: u32) -> Result<(), Error> {
        let of_slice = self.most_streams() * self.kind.sums() * self.target_count as usize;
        self.sums = self.buffers.uninit(slices as usize * of_slice)?;
        self.slices = slices;
        Ok(())
    }

    /// The ranges of strength vectors that are summed at once.
    pub fn batches(&self) -> impl Iterator<Item = Range<usize>> + use<T> {
        let (vectors, batch) = (self.vectors, self.batch);
        (0..vectors)
            .step_by(batch)
            .map(move |first| first..(first + batch).min(vectors))
    }

    /// The number of runs of `vectors`.
    pub fn streams(&self, vectors: &Range<usize>) -> u32 {
        vectors.len() as u32 * self.runs
    }

    /// Packs the sources with the strengths of `vectors`; positions are in the engine's order.
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

    /// Writes the outputs of `vectors` in the caller's order.
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
                second_derivative: place(Output::SecondDerivative),
            },
        )
    }

    /// The values of each output, on the device.
    pub fn outputs(&self) -> impl Iterator<Item = &CudaSlice<T>> {
        self.outputs.iter().map(|(_, values)| values)
    }
}
