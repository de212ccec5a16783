//! Each step of the algorithm, launched over all boxes.

use super::parameters::{GatherCharges, GatherSources, L2p, Output, P2m, P2p};
use super::{Counter, Fmm};
use crate::device::{Blocks, Function, In, Out, Precision, Values};
use crate::error::Error;
use crate::expansion::{AddSlices, Kind, Slices, Step, Translate, stride};
use crate::treecode::{OpeningArg, Treecode};
use cudarc::driver::CudaSlice;
use farfield_core::plan::first_sum;
use std::ops::Range;

/// Translations of one kind: the kernel, its shifts and its tasks.
struct Translation<'a, T: Precision> {
    kind: Kind,
    kernel: &'a Function<Translate<T>>,
    steps: &'a CudaSlice<Step>,
    tasks: Range<usize>,
    shared: u32,
    /// The expansions that are read and written.
    from: &'a CudaSlice<T>,
    to: &'a CudaSlice<T>,
}

impl<T: Precision> Fmm<T> {
    /// Packs the sources and their strengths of `vectors`, in tree order.
    pub(crate) fn gather(&mut self, strengths: Values<T>, vectors: &Range<usize>) -> Result<(), Error> {
        let per_vector = self.source_count as usize * self.kind.strengths();
        let strengths = strengths.part(vectors.start * per_vector..vectors.end * per_vector);
        self.buffers.put(strengths, &mut self.strengths)?;
        let grid = (self.source_count.div_ceil(256), vectors.len() as u32, 1);
        self.kernels.points.gather_sources.launch(
            self.buffers.stream(),
            Blocks::new(grid, 256),
            &GatherSources {
                positions: In::of(&self.source_positions),
                strengths: In::of(&self.strengths),
                sizes: In::of(&self.sizes),
                permutation: In::of(&self.tree.source_permutation),
                count: self.source_count,
                sources: Out::of(&mut self.packed),
            },
        )?;
        self.gather_charges(vectors.len() as u32)
    }

    /// Gathers the strengths of several vectors side by side, if P2P sums several at once.
    fn gather_charges(&mut self, vectors: u32) -> Result<(), Error> {
        let at_once = self.p2p_blocking.vectors;
        if at_once == 1 {
            return Ok(());
        }
        let grid = (self.source_count.div_ceil(256), vectors.div_ceil(at_once), 1);
        self.kernels.points.gather_charges.launch(
            self.buffers.stream(),
            Blocks::new(grid, 256),
            &GatherCharges {
                strengths: In::of(&self.strengths),
                permutation: In::of(&self.tree.source_permutation),
                count: self.source_count,
                vectors,
                at_once,
                charges: Out::of(&mut self.charges),
            },
        )
    }

    pub(crate) fn p2m(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        let boxes = self.tree.boxes as u32;
        let warps = super::p2m_warps(self.order) as u32;
        let grid = (boxes.div_ceil(warps), vectors.len() as u32, 1);
        self.kernels.points.p2m.launch(
            self.buffers.stream(),
            Blocks::new(grid, 32 * warps).shared(self.shared.p2m),
            &P2m {
                tree: In::of(&self.tree.tree),
                boxes: self.tree.arg(),
                box_count: boxes,
                sources: In::of(&self.packed),
                source_count: self.source_count,
                streams: self.streams(vectors),
                multipoles: Out::shared(&self.multipoles),
            },
        )
    }

    pub(crate) fn m2m(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        // In an FMM the multipoles of the first two levels have no effect.
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
                    from: &self.multipoles,
                    to: &self.multipoles,
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
                from: &self.multipoles,
                to: &self.locals,
            },
        )?;
        self.add_slices(vectors)
    }

    /// Adds the partial sums that blocks sharing the shifts of M2L store beside the locals.
    fn add_slices(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        let (Some(kernel), slices @ 2..) = (&self.kernels.add_slices, self.slices.count as u32) else {
            return Ok(());
        };
        let (arg, per_box) = (self.slices_arg(vectors), self.per_box(vectors));
        let first = u64::from(self.tree.level(2).start) * per_box;
        kernel.launch(
            self.buffers.stream(),
            Blocks::row((arg.length - first).div_ceil(256) as u32, 256),
            &AddSlices {
                to: Out::of(&mut self.locals),
                slices: arg,
                count: slices,
                first,
            },
        )
    }

    fn slices_arg(&self, vectors: &Range<usize>) -> Slices<T> {
        Slices {
            sums: Out::shared(&self.slices.sums),
            length: self.tree.boxes as u64 * self.per_box(vectors),
        }
    }

    /// The number of values in all expansions of a box.
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
                    from: &self.locals,
                    to: &self.locals,
                },
            )?;
        }
        Ok(())
    }

    pub(super) fn l2p(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        let groups = vectors.len().div_ceil(self.l2p_vectors) as u32;
        let grid = (self.tree.boxes as u32, groups, 1);
        self.kernels.points.l2p.launch(
            self.buffers.stream(),
            Blocks::new(grid, 64).shared(self.shared.l2p),
            &L2p {
                tree: In::of(&self.tree.tree),
                boxes: self.tree.arg(),
                targets: In::of(&self.target_positions),
                target_count: self.target_count,
                streams: self.streams(vectors),
                locals: In::of(&self.locals),
                far: Out::shared(&self.far),
            },
        )
    }

    pub(crate) fn p2p(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        let blocking = self.p2p_blocking;
        let rounds = (self.tree.most_points as u32).div_ceil(blocking.threads * blocking.targets);
        let groups = (vectors.len() as u32).div_ceil(blocking.vectors);
        let grid = (self.tree.boxes as u32, rounds, groups);
        let mut outputs = [Output::NONE; 3];
        for (place, (output, scale, values)) in outputs.iter_mut().zip(&self.outputs) {
            let components = output.components();
            *place = Output {
                // The offset of the batch's first vector in the values.
                values: Out::shared(values).plus(vectors.start * self.target_count as usize * components),
                first_sum: first_sum(*output) as u32,
                components: components as u32,
                scale: *scale,
            };
        }
        let [out0, out1, out2] = outputs;
        self.kernels.pairs.p2p.launch(
            self.buffers.stream(),
            Blocks::new(grid, blocking.threads),
            &P2p {
                tree: In::of(&self.tree.tree),
                boxes: self.tree.arg(),
                targets: In::of(&self.target_positions),
                target_count: self.target_count,
                permutation: In::of(self.tree.target_permutation()),
                sources: In::of(&self.packed),
                source_count: self.source_count,
                global_size2: self.global_size2,
                far: In::of(&self.far),
                out0,
                out1,
                out2,
                outputs: self.outputs.len().min(3) as u32,
                pairs: self.counter(Counter::P2p),
                opening: self.treecode.as_ref().map_or(OpeningArg::NONE, Treecode::arg),
                vectors: vectors.len() as u32,
                charges: In::of(&self.charges),
            },
        )
    }

    fn translate(&self, vectors: &Range<usize>, work: &Translation<T>) -> Result<(), Error> {
        if work.tasks.is_empty() {
            return Ok(());
        }
        let tasks = self.tasks.slice(work.tasks.clone());
        let slices = if work.kind == Kind::M2l { self.slices.count } else { 1 };
        let grid = (work.tasks.len() as u32, self.layout.row_blocks() as u32, slices as u32);
        let threads = self.layout.threads(work.kind, self.few_blocks(work.tasks.len()));
        work.kernel.launch(
            self.buffers.stream(),
            Blocks::new(grid, threads).shared(work.shared),
            &Translate {
                boxes: self.tree.arg(),
                tasks: In::of(&tasks),
                steps: In::of(work.steps),
                step_count: work.kind.shifts() as u32,
                orders: In::of(&self.orders),
                table: In::of(&self.matrices.table),
                streams: self.streams(vectors),
                from: In::of(work.from),
                to: Out::shared(work.to),
                slices: self.slices_arg(vectors),
                translations: self.counter(match work.kind {
                    Kind::M2l => Counter::M2l,
                    Kind::M2m | Kind::L2l => Counter::Other,
                }),
            },
        )
    }

    fn few_blocks(&self, tasks: usize) -> bool {
        let multiprocessors = self.buffers.device().properties().multiprocessors;
        self.layout.has_few(tasks, multiprocessors)
    }

    /// The address of a counter.
    pub(crate) fn counter(&self, counter: Counter) -> Out<u64> {
        Out::shared(&self.counters).plus(counter as usize)
    }

    /// The number of expansions of a box.
    pub(crate) fn streams(&self, vectors: &Range<usize>) -> u32 {
        (vectors.len() * self.kind.expansions()) as u32
    }
}
