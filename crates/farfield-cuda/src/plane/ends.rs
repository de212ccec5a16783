//! What the direct sum and the FMM begin and end with: sources are packed with their strengths, sums become outputs.

use super::direct_program;
use super::kind::PairKind;
use crate::device::{Buffers, Function, Precision, launch};
use crate::error::Error;
use crate::kernel::SizeKind;
use cudarc::driver::{CudaSlice, DevicePtr};
use farfield_core::kernel::Sizes;
use farfield_core::plane::{Output, Request};
use std::ops::Range;

/// The order points are in: the caller's number of each, or `None` if that is the caller's.
pub(super) type Order<'a> = Option<&'a CudaSlice<u32>>;

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
    pack_sources: Function,
    finish: Function,
}

/// Numbers of a packed source.
const SOURCE: usize = 4;

impl<T: Precision> Ends<T> {
    /// Bytes of device memory.
    pub fn forecast(request: &Request<T>, batch: usize, slices: u32) -> u64 {
        let kind = PairKind::of(request);
        let (sources, targets) = (request.sources.len(), request.target_count());
        let streams = batch * runs_of(request, &kind);
        let per_source = 1 + batch * parts_of(request) + streams * SOURCE;
        let per_target = streams * slices as usize * kind.sums() + request.vectors * 2 * request.outputs.len();
        ((sources * per_source + targets * per_target) * std::mem::size_of::<T>()) as u64
    }

    pub fn new(buffers: Buffers, request: &Request<T>, batch: usize, slices: u32) -> Result<Self, Error> {
        let kind = PairKind::of(request);
        let [pack_sources, finish] = buffers
            .device()
            .functions(&direct_program::<T>(&kind), ["pack_sources", "finish"])?;
        let (sources, targets) = (request.sources.len(), request.target_count());
        let (parts, runs) = (parts_of(request), runs_of(request, &kind));
        let sizes = match request.sizes {
            Sizes::PerSource(sizes) if kind.sizes == SizeKind::PerSource => sizes,
            _ => &[][..],
        };
        let outputs = request
            .outputs
            .iter()
            .map(|output| {
                let components = output.components(request.kernel, request.complex);
                Ok((*output, buffers.uninit(request.vectors * targets * components)?))
            })
            .collect::<Result<_, Error>>()?;
        Ok(Self {
            kind,
            source_count: sources as u32,
            target_count: targets as u32,
            global_size2: match request.sizes {
                Sizes::Global(size) if kind.sizes == SizeKind::Global => *size * *size,
                _ => T::ZERO,
            },
            vectors: request.vectors,
            batch,
            parts: parts as u32,
            runs: runs as u32,
            slices,
            sizes: buffers.upload(sizes)?,
            strengths: buffers.uninit(batch * parts * sources)?,
            packed: buffers.uninit(batch * runs * SOURCE * sources)?,
            sums: buffers.uninit(batch * runs * slices as usize * kind.sums() * targets)?,
            outputs,
            pack_sources,
            finish,
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
        strengths: &[T],
        vectors: &Range<usize>,
        positions: &CudaSlice<T>,
        order: Order,
    ) -> Result<(), Error> {
        let per_vector = (self.source_count * self.parts) as usize;
        let strengths = &strengths[vectors.start * per_vector..vectors.end * per_vector];
        self.buffers.write(strengths, &mut self.strengths)?;
        let grid = (self.source_count.div_ceil(256), self.streams(vectors), 1);
        let order = self.address_of(order);
        launch!(self.buffers.stream(), self.pack_sources, grid, 256, 0;
            positions, &order, &self.source_count, &self.strengths, &self.parts, &self.runs, &self.sizes,
            &mut self.packed);
        Ok(())
    }

    /// Writes the outputs of some vectors in the caller's order.
    pub fn finish(&mut self, vectors: &Range<usize>, order: Order) -> Result<(), Error> {
        let order = self.address_of(order);
        let place = |output: Output| -> u64 {
            self.outputs
                .iter()
                .find(|(known, _)| *known == output)
                .map_or(0, |(_, values)| {
                    let per_vector = values.len() / self.vectors;
                    let offset = vectors.start * per_vector * std::mem::size_of::<T>();
                    values.device_ptr(self.buffers.stream()).0 + offset as u64
                })
        };
        let (potential, derivative) = (place(Output::Potential), place(Output::Derivative));
        let grid = (self.target_count.div_ceil(256), vectors.len() as u32, 1);
        launch!(self.buffers.stream(), self.finish, grid, 256, 0;
            &self.sums, &self.target_count, &self.slices, &self.runs, &order, &potential, &derivative);
        Ok(())
    }

    /// Brings the values of each output to the host, into memory that `values` has if it has any.
    pub fn read_outputs(&self, values: &mut [Vec<T>]) -> Result<(), Error> {
        for ((_, on_device), values) in self.outputs.iter().zip(values) {
            values.clear();
            self.buffers.append_to(on_device, on_device.len(), values)?;
        }
        Ok(())
    }

    fn address_of(&self, order: Order) -> u64 {
        order.map_or(0, |order| order.device_ptr(self.buffers.stream()).0)
    }
}

/// Numbers of strength per source.
pub(super) fn parts_of<T>(request: &Request<T>) -> usize {
    1 + usize::from(request.complex)
}

/// Runs of the engine for each vector.
pub(super) fn runs_of<T>(request: &Request<T>, kind: &PairKind) -> usize {
    if kind.complex { 1 } else { parts_of(request) }
}
