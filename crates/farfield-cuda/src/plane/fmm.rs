//! The adaptive fast multipole method of the plane on the device.

use super::connect::{Connections, Criterion};
use super::ends::Ends;
use super::input::SumInput;
use super::pyramid::{BoxOf, Pyramid, Sorted};
use super::tuning::{Choice, leaf_targets};
use super::{connect_program, direct_program, expansion_program, first_of_level, leaf_program, pyramid_program};
use crate::device::{Blocks, Buffers, Complex, In, Out, Precision, Row, Source, Timeline, Values, kernels, parameters};
use crate::error::Error;
use crate::tree::DevicePoints;
use cudarc::driver::CudaSlice;
use farfield_core::report::Phase;
use std::ops::Range;

/// The number of leaves of a block of the last step, and of lanes that share a box: `WARPS` of `kernels/plane_leaf.cu`,
/// `POINT_LANES` and `SHIFT_LANES` of `kernels/plane_expansion.cu`.
const LEAF_WARPS: u32 = 4;
const POINT_LANES: u32 = 8;
const SHIFT_LANES: u32 = 8;
const THREADS: u32 = 128;
/// The deepest level at which one block can process all parents and children.
const TOP_LEVEL: usize = 4;
const TOP_THREADS: u32 = 256;

/// Everything an evaluation needs except the strengths.
#[derive(Debug)]
pub(crate) struct Fmm<T: Precision> {
    pub ends: Ends<T>,
    pub pyramid: Pyramid<T>,
    pub connections: Connections,
    criterion: Criterion,
    /// Coefficients, box by box, run by run.
    multipoles: CudaSlice<T>,
    locals: CudaSlice<T>,
    kernels: Kernels<T>,
    leaf: LeafKernels<T>,
    choice: Choice,
    /// The device's time to build pyramid and lists.
    pub building: Timeline,
}

kernels! {
    /// The kernels of expansions.
    pub(super) struct Kernels<T> { p2m: P2m<T>, m2m: Shift<T>, m2l: M2l<T>, p2l: P2l<T>, l2l: Shift<T> }
}

kernels! {
    /// The kernel of the last step, which ends at targets.
    pub(super) struct LeafKernels<T> { leaf: Leaf<T> }
}

parameters! {
    /// Parameters of `p2m`.
    pub(super) struct P2m<T> {
        boxes: In<BoxOf<T>>,
        first: u32,
        leaves: u32,
        box_count: u32,
        starts: In<u32>,
        sources: In<Source<T>>,
        source_count: u32,
        multipoles: Out<Complex<T>>,
    }

    /// Parameters of `m2m` and `l2l`: from level to level, on multipoles or locals.
    pub(super) struct Shift<T> { boxes: In<BoxOf<T>>, from: u32, to: u32, box_count: u32, expansions: Out<Complex<T>> }

    /// Parameters of `m2l`.
    pub(super) struct M2l<T> {
        boxes: In<BoxOf<T>>,
        box_count: u32,
        weak: In<Row>,
        list: In<u32>,
        multipoles: In<Complex<T>>,
        locals: Out<Complex<T>>,
    }

    /// Parameters of `p2l`.
    pub(super) struct P2l<T> {
        boxes: In<BoxOf<T>>,
        first: u32,
        leaves: u32,
        box_count: u32,
        criterion: Criterion,
        strong: In<Row>,
        list: In<u32>,
        starts: In<u32>,
        target_starts: In<u32>,
        sources: In<Source<T>>,
        source_count: u32,
        locals: Out<Complex<T>>,
    }

    /// Parameters of `leaf`.
    pub(super) struct Leaf<T> {
        boxes: In<BoxOf<T>>,
        first: u32,
        leaves: u32,
        box_count: u32,
        criterion: Criterion,
        strong: In<Row>,
        list: In<u32>,
        source_start: In<u32>,
        sources: In<Source<T>>,
        source_count: u32,
        target_start: In<u32>,
        targets: In<Complex<T>>,
        target_count: u32,
        global_size2: T,
        multipoles: In<Complex<T>>,
        locals: In<Complex<T>>,
        out: Out<T>,
    }
}

impl<T: Precision> Fmm<T> {
    /// Bytes of device memory.
    pub fn forecast(input: &SumInput<T>, batch: usize, choice: &Choice) -> u64 {
        let points = input.counts().points();
        let (boxes, leaves) = (first_of_level(choice.depth + 1), 1 << (2 * choice.depth));
        let streams = batch * input.runs();
        let expansions = 4 * boxes * streams * (choice.order + 1) * std::mem::size_of::<T>();
        let caller_positions = 2 * points * std::mem::size_of::<T>();
        Ends::forecast(input, batch, 1)
            + Pyramid::<T>::forecast(points, choice.depth)
            + Connections::forecast(boxes, leaves)
            + (expansions + caller_positions) as u64
    }

    /// `None` if too many points coincide for lists of couplings.
    pub fn new(
        buffers: Buffers,
        input: &SumInput<T>,
        batch: usize,
        choice: &Choice,
        most_list_bytes: u64,
    ) -> Result<Option<Self>, Error> {
        let (counts, kind) = (input.counts(), input.kind);
        let leaves = 1usize << (2 * choice.depth);
        let per_leaf = counts.targets().div_ceil(leaves);
        let expansions = expansion_program::<T>(&kind, choice.order);
        let leaf = leaf_program::<T>(&kind, choice.order, leaf_targets(per_leaf));
        let device = buffers.device();
        device.load(&[
            &pyramid_program::<T>(),
            &connect_program::<T>(),
            &direct_program::<T>(&kind),
            &expansions,
            &leaf,
        ])?;
        let kernels = Kernels::load(device, &expansions)?;
        let leaf = LeafKernels::load(device, &leaf)?;
        let sources = buffers.place(input.sources)?;
        let targets = input.targets.map(|targets| buffers.place(targets)).transpose()?;
        let mut building = Timeline::start(buffers.stream())?;
        let points = DevicePoints {
            sources: &sources,
            source_count: counts.sources,
            targets: targets.as_ref().map(|targets| (targets, counts.targets())),
        };
        let pyramid = Pyramid::build(&buffers, &points, choice.depth)?;
        building.end(Phase::Sort)?;
        let criterion = Criterion::new(choice.theta, input.asked.core_reach(), choice.shortcut);
        let Some(connections) = Connections::build(&buffers, &pyramid, &criterion, most_list_bytes)? else {
            return Ok(None);
        };
        building.end(Phase::Connect)?;
        let streams = batch * input.runs();
        let coefficients = 2 * pyramid.box_count() * streams * (choice.order + 1);
        Ok(Some(Self {
            multipoles: buffers.uninit(coefficients)?,
            locals: buffers.uninit(coefficients)?,
            ends: Ends::new(buffers, input, batch, 1)?,
            pyramid,
            connections,
            criterion,
            kernels,
            leaf,
            choice: *choice,
            building,
        }))
    }

    /// The order of the expansions.
    pub fn order(&self) -> usize {
        self.choice.order
    }

    /// The criterion of the couplings.
    pub fn theta(&self) -> f64 {
        self.choice.theta
    }

    /// Uses expansions of this order from now on.
    pub fn set_order(&mut self, order: usize) -> Result<(), Error> {
        let kind = &self.ends.kind;
        let per_leaf = (self.ends.target_count as usize).div_ceil(self.pyramid.leaves());
        let expansions = expansion_program::<T>(kind, order);
        let leaf = leaf_program::<T>(kind, order, leaf_targets(per_leaf));
        let (device, buffers) = (self.ends.buffers.device(), &self.ends.buffers);
        device.load(&[&expansions, &leaf])?;
        let coefficients = 2 * self.pyramid.box_count() * self.ends.most_streams() * (order + 1);
        let (multipoles, locals) = (buffers.uninit(coefficients)?, buffers.uninit(coefficients)?);
        self.kernels = Kernels::load(device, &expansions)?;
        self.leaf = LeafKernels::load(device, &leaf)?;
        (self.multipoles, self.locals) = (multipoles, locals);
        self.choice.order = order;
        Ok(())
    }

    /// Its points in the pyramid's order: the sources, and the targets unless these are the sources.
    pub fn into_points(self) -> (Ends<T>, Sorted<T>, Option<Sorted<T>>) {
        (self.ends, self.pyramid.sources, self.pyramid.targets)
    }

    /// Packs the sources with the strengths of `vectors`.
    pub fn pack(&mut self, strengths: Values<T>, vectors: &Range<usize>) -> Result<(), Error> {
        let sources = &self.pyramid.sources;
        self.ends
            .pack(strengths, vectors, &sources.positions, Some(&sources.permutation))
    }

    /// Sums for `strengths`, in the caller's order, into the outputs on the device.
    pub fn evaluate(&mut self, strengths: Values<T>, timeline: &mut Timeline) -> Result<(), Error> {
        for vectors in self.ends.batches() {
            self.evaluate_vectors(strengths, &vectors, timeline)?;
        }
        Ok(())
    }

    fn evaluate_vectors(
        &mut self,
        strengths: Values<T>,
        vectors: &Range<usize>,
        timeline: &mut Timeline,
    ) -> Result<(), Error> {
        let streams = self.ends.streams(vectors);
        self.pack(strengths, vectors)?;
        timeline.end(Phase::Tree)?;
        self.p2m(streams)?; // sources into their leaf's multipole
        timeline.end(Phase::P2m)?;
        self.m2m(streams)?; // children into parents, from the leaves up
        timeline.end(Phase::M2m)?;
        self.m2l(streams)?; // multipoles into locals of weakly coupled boxes, on all levels at once
        timeline.end(Phase::M2l)?;
        self.p2l(streams)?; // sources of larger leaves nearby into locals
        timeline.end(Phase::P2l)?;
        self.l2l(streams)?; // parents into children, from the root down
        timeline.end(Phase::L2l)?;
        self.leaves(streams)?; // locals, multipoles and sources nearby to targets
        self.ends.finish(vectors, Some(&self.pyramid.targets().permutation))?;
        timeline.end(Phase::P2p)
    }

    /// The index of the first leaf among all boxes, the number of leaves and the number of boxes.
    fn counts(&self) -> (u32, u32, u32) {
        let (leaves, boxes) = (self.pyramid.leaves(), self.pyramid.box_count());
        ((boxes - leaves) as u32, leaves as u32, boxes as u32)
    }

    fn p2m(&mut self, streams: u32) -> Result<(), Error> {
        let (first, leaves, box_count) = self.counts();
        let grid = ((POINT_LANES * leaves).div_ceil(THREADS), streams, 1);
        self.kernels.p2m.launch(
            self.ends.buffers.stream(),
            Blocks::new(grid, THREADS),
            &P2m {
                boxes: In::of(&self.pyramid.boxes),
                first,
                leaves,
                box_count,
                starts: In::of(&self.pyramid.sources.leaf_start),
                sources: In::of(&self.ends.packed),
                source_count: self.ends.source_count,
                multipoles: Out::of(&mut self.multipoles),
            },
        )
    }

    fn m2m(&mut self, streams: u32) -> Result<(), Error> {
        let (_, _, box_count) = self.counts();
        // The root's multipole has no effect.
        for (highest, lowest) in level_runs(1, self.pyramid.depth.saturating_sub(1)).into_iter().rev() {
            let (blocks, threads) = blocks_of((highest, lowest), 4 << (2 * lowest));
            self.kernels.m2m.launch(
                self.ends.buffers.stream(),
                Blocks::new((blocks, streams, 1), threads),
                &Shift {
                    boxes: In::of(&self.pyramid.boxes),
                    from: lowest as u32,
                    to: highest as u32,
                    box_count,
                    expansions: Out::of(&mut self.multipoles),
                },
            )?;
        }
        Ok(())
    }

    fn m2l(&mut self, streams: u32) -> Result<(), Error> {
        let (_, _, box_count) = self.counts();
        let grid = ((SHIFT_LANES * box_count).div_ceil(THREADS), streams, 1);
        self.kernels.m2l.launch(
            self.ends.buffers.stream(),
            Blocks::new(grid, THREADS),
            &M2l {
                boxes: In::of(&self.pyramid.boxes),
                box_count,
                weak: In::of(&self.connections.weak),
                list: In::of(&self.connections.weak_list),
                multipoles: In::of(&self.multipoles),
                locals: Out::of(&mut self.locals),
            },
        )
    }

    fn p2l(&mut self, streams: u32) -> Result<(), Error> {
        if self.connections.totals.p2l == 0 {
            return Ok(());
        }
        let (first, leaves, box_count) = self.counts();
        let grid = ((32 * leaves).div_ceil(THREADS), streams, 1);
        self.kernels.p2l.launch(
            self.ends.buffers.stream(),
            Blocks::new(grid, THREADS),
            &P2l {
                boxes: In::of(&self.pyramid.boxes),
                first,
                leaves,
                box_count,
                criterion: self.criterion,
                strong: In::of(&self.connections.strong),
                list: In::of(&self.connections.strong_list),
                starts: In::of(&self.pyramid.sources.leaf_start),
                target_starts: In::of(&self.pyramid.targets().leaf_start),
                sources: In::of(&self.ends.packed),
                source_count: self.ends.source_count,
                locals: Out::of(&mut self.locals),
            },
        )
    }

    fn l2l(&mut self, streams: u32) -> Result<(), Error> {
        let (_, _, box_count) = self.counts();
        // Boxes of the first level get nothing from the root.
        for (from, to) in level_runs(2, self.pyramid.depth) {
            let (blocks, threads) = blocks_of((from, to), 1 << (2 * to));
            self.kernels.l2l.launch(
                self.ends.buffers.stream(),
                Blocks::new((blocks, streams, 1), threads),
                &Shift {
                    boxes: In::of(&self.pyramid.boxes),
                    from: from as u32,
                    to: to as u32,
                    box_count,
                    expansions: Out::of(&mut self.locals),
                },
            )?;
        }
        Ok(())
    }

    fn leaves(&mut self, streams: u32) -> Result<(), Error> {
        let (first, leaves, box_count) = self.counts();
        let (sources, targets) = (&self.pyramid.sources, self.pyramid.targets());
        let grid = (leaves.div_ceil(LEAF_WARPS), streams, 1);
        self.leaf.leaf.launch(
            self.ends.buffers.stream(),
            Blocks::new(grid, 32 * LEAF_WARPS),
            &Leaf {
                boxes: In::of(&self.pyramid.boxes),
                first,
                leaves,
                box_count,
                criterion: self.criterion,
                strong: In::of(&self.connections.strong),
                list: In::of(&self.connections.strong_list),
                source_start: In::of(&sources.leaf_start),
                sources: In::of(&self.ends.packed),
                source_count: self.ends.source_count,
                target_start: In::of(&targets.leaf_start),
                targets: In::of(&targets.positions),
                target_count: self.ends.target_count,
                global_size2: self.ends.global_size2,
                multipoles: In::of(&self.multipoles),
                locals: In::of(&self.locals),
                out: Out::of(&mut self.ends.sums),
            },
        )
    }
}

/// The levels `first..=last`, divided into those that one block processes together and those that are launched one by
/// one.
fn level_runs(first: usize, last: usize) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let top = last.min(TOP_LEVEL);
    if first <= top {
        runs.push((first, top));
    }
    runs.extend((first.max(TOP_LEVEL + 1)..=last).map(|level| (level, level)));
    runs
}

/// The number of blocks and threads for `items` items of the last of some levels.
fn blocks_of((_, last): (usize, usize), items: u32) -> (u32, u32) {
    if last <= TOP_LEVEL {
        (1, TOP_THREADS)
    } else {
        (items.div_ceil(THREADS), THREADS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_in_one_run() {
        for last in 0..12 {
            let runs = level_runs(2, last);
            let levels: Vec<usize> = runs.iter().flat_map(|(from, to)| *from..=*to).collect();
            assert_eq!(levels, (2..=last).collect::<Vec<_>>());
            assert!(runs.iter().all(|(from, to)| from == to || *to <= TOP_LEVEL));
        }
    }
}
