//! Each step of the algorithm, launched over all boxes.

use super::{Counter, Fmm};
use crate::device::{Function, Precision, Values, launch};
use crate::error::Error;
use crate::expansion::{Kind, Step, stride};
use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr};
use farfield_core::plan::first_sum;
use std::ops::Range;

/// Where an output goes: `Output` of `kernels/p2p.cu`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct OutputArg<T> {
    values: u64,
    first_sum: u32,
    components: u32,
    scale: T,
}

// SAFETY: an address and numbers, laid out as the kernel's struct.
unsafe impl<T: DeviceRepr> DeviceRepr for OutputArg<T> {}

/// `Slices` of `kernels/steps.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct SlicesArg {
    sums: u64,
    length: u64,
}

// SAFETY: an address and a number, as in the kernel's struct.
unsafe impl DeviceRepr for SlicesArg {}

/// Translations of one kind: the kernel, its shifts and the tasks to do.
struct Translation<'a> {
    kind: Kind,
    kernel: &'a Function,
    steps: &'a CudaSlice<Step>,
    tasks: Range<usize>,
    shared: u32,
    /// Addresses of the expansions read and written.
    from: u64,
    to: u64,
}

impl<T: Precision> Fmm<T> {
    /// Packs the sources of some strength vectors in tree order.
    pub(crate) fn gather(&mut self, strengths: Values<T>, vectors: &Range<usize>) -> Result<(), Error> {
        let per_vector = self.source_count as usize * self.kind.strengths();
        let strengths = strengths.part(vectors.start * per_vector..vectors.end * per_vector);
        self.buffers.put(strengths, &mut self.strengths)?;
        self.buffers.clear(&mut self.counters)?;
        let grid = (self.source_count.div_ceil(256), vectors.len() as u32, 1);
        launch!(self.buffers.stream(), self.kernels.gather_sources, grid, 256, 0;
            &self.source_positions, &self.strengths, &self.sizes, &self.tree.source_order, &self.source_count,
            &mut self.packed);
        Ok(())
    }

    pub(crate) fn p2m(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        let boxes = self.tree.boxes as u32;
        let warps = super::p2m_warps(self.order) as u32;
        let grid = (boxes.div_ceil(warps), vectors.len() as u32, 1);
        let (arg, streams) = (self.tree.arg(&self.buffers), self.streams(vectors));
        launch!(self.buffers.stream(), self.kernels.p2m, grid, 32 * warps, self.shared.p2m;
            &self.tree.tree, &arg, &boxes, &self.packed, &self.source_count, &streams, &mut self.multipoles);
        Ok(())
    }

    pub(crate) fn m2m(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        // In an FMM multipoles of the first two levels act on nothing.
        let first = if self.treecode.is_some() { 0 } else { 2 };
        for level in (first..self.tree.depth).rev() {
            self.translate(
                vectors,
                &Translation {
                    kind: Kind::M2m,
                    kernel: &self.kernels.m2m,
                    steps: &self.steps.m2m,
                    tasks: self.m2m_tasks[level].clone(),
                    shared: self.shared.m2m,
                    from: self.address(&self.multipoles),
                    to: self.address(&self.multipoles),
                },
            )?;
        }
        Ok(())
    }

    pub(super) fn m2l(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        let (first, last) = (
            self.column_tasks[2.min(self.tree.depth)].start,
            self.column_tasks[self.tree.depth].end,
        );
        if self.tree.depth < 2 {
            return Ok(());
        }
        let few = self.few_blocks(last - first);
        self.translate(
            vectors,
            &Translation {
                kind: Kind::M2l,
                kernel: if few { &self.kernels.m2l_few } else { &self.kernels.m2l },
                steps: &self.steps.m2l,
                tasks: first..last,
                shared: self.shared.m2l,
                from: self.address(&self.multipoles),
                to: self.address(&self.locals),
            },
        )?;
        self.add_slices(vectors)
    }

    /// Adds what blocks that share the shifts of M2L have left beside the locals.
    fn add_slices(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        let (Some(kernel), slices @ 2..) = (&self.kernels.add_slices, self.slices.count as u32) else {
            return Ok(());
        };
        let (arg, per_box) = (self.slices_arg(vectors), self.per_box(vectors));
        let first = u64::from(self.tree.level(2).start) * per_box;
        let grid = ((arg.length - first).div_ceil(256) as u32, 1, 1);
        launch!(self.buffers.stream(), *kernel, grid, 256, 0; &mut self.locals, &arg, &slices, &first);
        Ok(())
    }

    fn slices_arg(&self, vectors: &Range<usize>) -> SlicesArg {
        SlicesArg {
            sums: self.address(&self.slices.sums),
            length: self.tree.boxes as u64 * self.per_box(vectors),
        }
    }

    /// Numbers of all expansions of a box.
    fn per_box(&self, vectors: &Range<usize>) -> u64 {
        u64::from(self.streams(vectors)) * stride(self.order) as u64
    }

    pub(super) fn l2l(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        for level in 3..=self.tree.depth {
            self.translate(
                vectors,
                &Translation {
                    kind: Kind::L2l,
                    kernel: &self.kernels.l2l,
                    steps: &self.steps.l2l,
                    tasks: self.column_tasks[level].clone(),
                    shared: self.shared.l2l,
                    from: self.address(&self.locals),
                    to: self.address(&self.locals),
                },
            )?;
        }
        Ok(())
    }

    pub(super) fn l2p(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        let grid = (self.tree.boxes as u32, vectors.len() as u32, 1);
        let (arg, streams) = (self.tree.arg(&self.buffers), self.streams(vectors));
        launch!(self.buffers.stream(), self.kernels.l2p, grid, 64, self.shared.l2p;
            &self.tree.tree, &arg, &self.target_positions, &self.target_count, &streams, &self.locals, &mut self.far);
        Ok(())
    }

    pub(crate) fn p2p(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        let blocking = self.p2p_blocking;
        let rounds = (self.tree.most_points as u32).div_ceil(blocking.threads * blocking.targets);
        let grid = (self.tree.boxes as u32, rounds, vectors.len() as u32);
        let arg = self.tree.arg(&self.buffers);
        let none = OutputArg {
            values: 0,
            first_sum: 0,
            components: 0,
            scale: T::ZERO,
        };
        let mut outputs = [none; 3];
        for (arg, (output, scale, values)) in outputs.iter_mut().zip(&self.outputs) {
            let components = output.components();
            // The batch's first vector starts so far into the values.
            let offset = vectors.start * self.target_count as usize * components * std::mem::size_of::<T>();
            *arg = OutputArg {
                values: self.address(values) + offset as u64,
                first_sum: first_sum(*output) as u32,
                components: components as u32,
                scale: *scale,
            };
        }
        let output_count = self.outputs.len().min(3) as u32;
        let opening = self.treecode.as_ref().map(|treecode| treecode.arg(&self.buffers));
        let opening = opening.unwrap_or_default();
        let pairs = self.counter(Counter::P2p);
        // Only the treecode's program reads the last argument.
        launch!(self.buffers.stream(), self.kernels.p2p, grid, blocking.threads, 0;
            &self.tree.tree, &arg, &self.target_positions, &self.target_count, self.tree.target_order(), &self.packed, &self.source_count,
            &self.global_size2, &self.far, &outputs[0], &outputs[1], &outputs[2], &output_count,
            &pairs, &opening);
        Ok(())
    }

    fn translate(&self, vectors: &Range<usize>, work: &Translation) -> Result<(), Error> {
        if work.tasks.is_empty() {
            return Ok(());
        }
        let tasks = self.tasks.slice(work.tasks.clone());
        let slices = if work.kind == Kind::M2l { self.slices.count } else { 1 };
        let grid = (work.tasks.len() as u32, self.layout.row_blocks() as u32, slices as u32);
        let more = self.slices_arg(vectors);
        let (arg, streams) = (self.tree.arg(&self.buffers), self.streams(vectors));
        let shifts = work.kind.shifts() as u32;
        let threads = self.layout.threads(work.kind, self.few_blocks(work.tasks.len()));
        let counter = self.counter(if work.kind == Kind::M2l {
            Counter::M2l
        } else {
            Counter::Other
        });
        launch!(self.buffers.stream(), *work.kernel, grid, threads, work.shared;
            &arg, &tasks, work.steps, &shifts, &self.orders, &self.matrices.table, &streams, &work.from,
            &work.to, &more, &counter);
        Ok(())
    }

    fn few_blocks(&self, tasks: usize) -> bool {
        let multiprocessors = self.buffers.device().properties().multiprocessors;
        self.layout.has_few(tasks, multiprocessors)
    }

    /// The address of a counter.
    pub(crate) fn counter(&self, counter: Counter) -> u64 {
        self.address(&self.counters) + (8 * counter as usize) as u64
    }

    /// Expansions of a box.
    pub(crate) fn streams(&self, vectors: &Range<usize>) -> u32 {
        (vectors.len() * self.kind.expansions()) as u32
    }

    fn address<E>(&self, slice: &CudaSlice<E>) -> u64 {
        slice.device_ptr(self.buffers.stream()).0
    }
}
