//! Tables and memory of an FMM, made once per plan.

use super::parameters::{PairKernels, PermutePoints, PointKernels};
use super::tasks::{batch_of, orders_by_level, tasks_of};
use super::{P2pBlocking, l2p_vectors, p2m_warps, p2p_program, points_program};
use crate::compile::Program;
use crate::device::{Blocks, Buffers, Device, Function, In, Out, Precision, Timeline};
use crate::direct::SumInput;
use crate::error::Error;
use crate::expansion::{AddSlices, Kind, Layout, Matrices, Steps, Task, Translate, stride, translate_program};
use crate::kernel::PairKind;
use crate::tree::{DevicePoints, Octree, TreeShape};
use crate::treecode::{ActingBoxes, Opening, Treecode};
use crate::tuning::Choice;
use cudarc::driver::CudaSlice;
use farfield_core::expansion::coefficient_count;
use farfield_core::kernel::Output;
use farfield_core::report::{Interactions, Phase};
use std::ops::Range;
use std::sync::Arc;

/// Everything an FMM evaluation needs except the strengths.
#[derive(Debug)]
pub(crate) struct Fmm<T: Precision> {
    pub(crate) buffers: Buffers,
    pub(super) kind: PairKind,
    /// The number of strength vectors summed at once.
    batch: usize,
    pub(super) order: usize,
    pub tree: Octree,
    pub(super) source_count: u32,
    pub(crate) target_count: u32,
    pub(crate) global_size2: T,
    /// In the caller's order.
    pub(crate) source_positions: CudaSlice<T>,
    /// In the caller's order, if the targets are not the sources and the sum may have to be planned again.
    pub(crate) caller_targets: Option<CudaSlice<T>>,
    pub(crate) sizes: CudaSlice<T>,
    pub(super) strengths: CudaSlice<T>,
    /// Sources with strengths, in tree order.
    pub(crate) packed: CudaSlice<T>,
    /// The strengths of the vectors that P2P sums at once, side by side in tree order.
    pub(super) charges: CudaSlice<T>,
    /// In tree order.
    pub(crate) target_positions: CudaSlice<T>,
    pub(super) matrices: Arc<Matrices<T>>,
    /// The order of M2L for each level and class of shifts.
    pub(super) orders: CudaSlice<u8>,
    pub(super) steps: Arc<Steps>,
    pub(super) tasks: CudaSlice<Task>,
    /// For each level, its tasks with boxes of one octant each.
    pub(super) column_tasks: Vec<Range<usize>>,
    /// For each level, its tasks with boxes of any octant.
    pub(super) m2m_tasks: Vec<Range<usize>>,
    pub(super) layout: Layout,
    pub(crate) multipoles: CudaSlice<T>,
    pub(super) locals: CudaSlice<T>,
    /// The partial sums that blocks sharing the shifts of M2L store beside the locals.
    pub(super) slices: MoreSlices<T>,
    /// The sums of L2P, to which P2P adds.
    pub(crate) far: CudaSlice<T>,
    pub(super) outputs: Vec<(Output, T, CudaSlice<T>)>,
    /// The counts of the kernels; see [`Counter`].
    pub(crate) counters: CudaSlice<u64>,
    pub(super) kernels: Kernels<T>,
    pub(super) shared: SharedBytes,
    pub(super) p2p_blocking: P2pBlocking,
    /// The number of vectors that L2P evaluates at once.
    pub(super) l2p_vectors: usize,
    /// Present if multipoles are evaluated directly at targets.
    pub(crate) treecode: Option<Treecode<T>>,
    /// The device's time to build the tree.
    pub building: Timeline,
}

#[derive(Debug)]
pub(super) struct Kernels<T: Precision> {
    pub points: PointKernels<T>,
    pub m2m: Function<Translate<T>>,
    pub m2l: Function<Translate<T>>,
    pub m2l_few: Function<Translate<T>>,
    /// Present if blocks may share shifts.
    pub add_slices: Option<Function<AddSlices<T>>>,
    pub l2l: Function<Translate<T>>,
    pub pairs: PairKernels<T>,
}

/// The counts that kernels keep, each with its index in [`Fmm::counters`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counter {
    P2p,
    M2l,
    M2p,
    /// M2M and L2L, which are not reported.
    Other,
}

impl Counter {
    pub const COUNT: usize = 4;
}

/// The partial sums of M2L beside those in the locals: `count - 1` times as many values.
#[derive(Debug)]
pub(super) struct MoreSlices<T: Precision> {
    pub count: usize,
    pub sums: CudaSlice<T>,
}

/// Dynamic shared memory of each kernel, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedBytes {
    pub p2m: u32,
    pub m2m: u32,
    pub m2l: u32,
    pub l2l: u32,
    pub l2p: u32,
}

/// The input of an FMM.
pub(crate) struct FmmInput<'a, T> {
    pub sum: SumInput<'a, T>,
    pub shape: TreeShape,
    pub far_field: FarField<'a>,
}

/// The action of boxes at a distance.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FarField<'a> {
    /// The FMM: through local expansions, with these orders.
    Locals(&'a Choice),
    /// A treecode: multipoles are evaluated directly at the targets.
    Multipoles(Opening),
}

impl FarField<'_> {
    /// The order of the expansions.
    pub fn order(&self) -> usize {
        match self {
            FarField::Locals(choice) => choice.orders.highest,
            FarField::Multipoles(opening) => opening.order,
        }
    }

    /// The treecode's opening angle.
    pub fn theta(&self) -> Option<f64> {
        match self {
            FarField::Locals(_) => None,
            FarField::Multipoles(opening) => Some(match opening.boxes {
                ActingBoxes::ByAngle => opening.theta,
                // The nearest box is two sides away, the farthest touching one one and a half; the CPU reports the same
                // ratio.
                ActingBoxes::OnNeighbours => 2.0 / 3.0,
            }),
        }
    }
}

impl SharedBytes {
    fn of<T: Precision>(kind: &PairKind, order: usize, l2p_vectors: usize) -> Self {
        let (coefficients, layout) = (coefficient_count(order), Layout::of::<T>(order));
        let recurrence = (2 * coefficients + order + 1).next_multiple_of(2) * std::mem::size_of::<T>();
        let expansions = p2m_warps(order) * kind.strengths() * stride(order) * std::mem::size_of::<T>();
        let derived = l2p_vectors * kind.sums() * coefficients * std::mem::size_of::<T>();
        Self {
            p2m: (recurrence + expansions) as u32,
            m2m: layout.shared_bytes::<T>(order, Kind::M2m),
            m2l: layout.shared_bytes::<T>(order, Kind::M2l),
            l2l: layout.shared_bytes::<T>(order, Kind::L2l),
            l2p: (recurrence + derived) as u32,
        }
    }

    fn most(&self) -> u32 {
        [self.p2m, self.m2m, self.m2l, self.l2l, self.l2p]
            .into_iter()
            .max()
            .unwrap_or(0)
    }
}

impl<T: Precision> Kernels<T> {
    fn load(
        buffers: &Buffers,
        order: usize,
        shared: &SharedBytes,
        (points, p2p): (&Program, &Program),
    ) -> Result<Self, Error> {
        let (device, layout) = (buffers.device(), Layout::of::<T>(order));
        let translations = translate_program::<T>(order);
        device.load(&[points, &translations, p2p, &crate::tree::program::<T>()])?;
        let kernels = Self {
            points: PointKernels::load(device, points)?,
            m2m: device.function(&translations, "m2m")?,
            m2l: device.function(&translations, "m2l")?,
            m2l_few: device.function(&translations, layout.m2l_few())?,
            add_slices: match layout {
                Layout::Blocks(_) => Some(device.function(&translations, "add_slices")?),
                Layout::LowOrder => None,
            },
            l2l: device.function(&translations, "l2l")?,
            pairs: PairKernels::load(device, p2p)?,
        };
        kernels.points.p2m.allow_shared(shared.p2m)?;
        kernels.points.l2p.allow_shared(shared.l2p)?;
        kernels.m2m.allow_shared(shared.m2m)?;
        kernels.m2l.allow_shared(shared.m2l)?;
        kernels.m2l_few.allow_shared(shared.m2l)?;
        kernels.l2l.allow_shared(shared.l2l)?;
        Ok(kernels)
    }
}

impl<T: Precision> Fmm<T> {
    /// Checks that a block's shared memory suffices for this kind of pair at this order.
    pub fn check_order(device: &Device, kind: &PairKind, order: usize) -> Result<(), Error> {
        if SharedBytes::of::<T>(kind, order, 1).most() <= device.properties().shared_bytes {
            return Ok(());
        }
        Err(Error::Unsupported {
            what: format!("order {order} with {} sums a target in {}", kind.sums(), T::NAME),
            remedy: "use a lower order or a larger tolerance, the direct method, or the CPU",
        })
    }

    /// Bytes of device memory.
    pub fn forecast(
        kind: &PairKind,
        vectors: usize,
        (sources, targets): (usize, usize),
        shape: &TreeShape,
        far_field: &FarField,
    ) -> u64 {
        let order = far_field.order();
        let batch = batch_of(kind, vectors, Layout::of::<T>(order));
        let points = sources + targets;
        let boxes = 3 * points / shape.leaf_capacity.max(1) + 64;
        let charges = P2pBlocking::of::<T>(kind, shape.leaf_mean, batch).charges(batch);
        let numbers = sources * (4 + charges + batch * (kind.strengths() + kind.source_len()))
            + targets * (6 + (batch + vectors) * kind.sums())
            + boxes
                * match far_field {
                    FarField::Locals(_) => 2 * batch * kind.expansions() * stride(order),
                    FarField::Multipoles(_) => {
                        batch * kind.expansions() * stride(order) + Treecode::<T>::per_box(kind, order, batch)
                    }
                };
        let slices = Layout::of::<T>(order).most_in_slices(boxes * batch * kind.expansions()) * stride(order);
        let numbers = numbers + slices;
        Octree::forecast(points, shape) + Matrices::<T>::forecast(order) + (numbers * std::mem::size_of::<T>()) as u64
    }

    pub fn new(buffers: Buffers, input: FmmInput<T>) -> Result<Self, Error> {
        let FmmInput { sum, shape, far_field } = input;
        let SumInput {
            kernel,
            kind,
            vectors,
            sources,
            targets,
            sizes,
            global_size2,
            outputs,
            keeps_targets,
            ..
        } = sum;
        let (source_count, target_count) = sum.counts();
        let order = far_field.order();
        let opening = match far_field {
            FarField::Locals(_) => None,
            FarField::Multipoles(opening) => Some(opening),
        };
        let layout = Layout::of::<T>(order);
        let batch = batch_of(&kind, vectors, layout);
        let at_leaves = l2p_vectors::<T>(&kind, order, batch);
        let shared = SharedBytes::of::<T>(&kind, order, at_leaves);
        let p2p_blocking = P2pBlocking::of::<T>(&kind, shape.leaf_mean, batch);
        let by_angle = opening.is_some_and(|opening| opening.boxes == ActingBoxes::ByAngle);
        let p2p = p2p_program::<T>(&kind, by_angle, p2p_blocking);
        let points = points_program::<T>(&kind, order, at_leaves);
        let kernels = Kernels::<T>::load(&buffers, order, &shared, (&points, &p2p))?;
        let matrices = Matrices::of(buffers.device(), order)?;
        let source_positions = buffers.place(sources)?;
        let caller_targets = targets.map(|targets| buffers.place(targets)).transpose()?;
        let building = Timeline::start(buffers.stream())?;
        let tree = Octree::build(
            &buffers,
            &DevicePoints {
                sources: &source_positions,
                source_count,
                targets: caller_targets.as_ref().map(|targets| (targets, target_count)),
            },
            &shape,
        )?;
        let streams = batch * kind.expansions();
        let (tasks, column_tasks, m2m_tasks) = tasks_of(&tree, layout.columns() / streams);
        let expansions = tree.boxes * streams * stride(order);
        let m2l_tasks = column_tasks.iter().skip(2).map(ExactSizeIterator::len).sum();
        let multiprocessors = buffers.device().properties().multiprocessors;
        let slices = layout.m2l_slices(m2l_tasks, multiprocessors);
        let (orders, locals) = match far_field {
            FarField::Locals(choice) => (orders_by_level(choice, tree.depth), expansions),
            FarField::Multipoles(_) => (Vec::new(), 0),
        };
        let treecode = opening
            .map(|opening| Treecode::new(&buffers, &kind, opening, batch, tree.boxes))
            .transpose()?;
        let outputs = outputs
            .iter()
            .map(|output| {
                let values = buffers.uninit(vectors * target_count * output.components())?;
                Ok((*output, T::from_f64(kernel.scale(*output)), values))
            })
            .collect::<Result<_, Error>>()?;
        let mut fmm = Self {
            kind,
            batch,
            order,
            source_count: source_count as u32,
            target_count: target_count as u32,
            global_size2,
            sizes: buffers.place(sizes)?,
            strengths: buffers.uninit(batch * source_count * kind.strengths())?,
            packed: buffers.uninit(batch * source_count * kind.source_len())?,
            charges: buffers.uninit(p2p_blocking.charges(batch) * source_count)?,
            target_positions: buffers.uninit(3 * target_count)?,
            matrices,
            orders: buffers.upload(&orders)?,
            steps: Steps::of(&buffers, layout.mirrored())?,
            tasks: buffers.upload(&tasks)?,
            column_tasks,
            m2m_tasks,
            layout,
            multipoles: buffers.uninit(expansions)?,
            locals: buffers.uninit(locals)?,
            slices: MoreSlices {
                count: slices,
                sums: buffers.uninit((slices - 1) * locals)?,
            },
            far: buffers.uninit(batch * kind.sums() * target_count)?,
            outputs,
            counters: buffers.zeros(Counter::COUNT)?,
            kernels,
            shared,
            p2p_blocking,
            treecode,
            l2p_vectors: at_leaves,
            building,
            source_positions,
            caller_targets: None,
            tree,
            buffers,
        };
        fmm.gather_targets(caller_targets.as_ref())?;
        fmm.caller_targets = caller_targets.filter(|_| keeps_targets);
        fmm.building.end(Phase::Tree)?;
        Ok(fmm)
    }

    fn gather_targets(&mut self, caller_targets: Option<&CudaSlice<T>>) -> Result<(), Error> {
        let from = caller_targets.unwrap_or(&self.source_positions);
        self.kernels.points.permute_points.launch(
            self.buffers.stream(),
            Blocks::over(self.target_count, 256),
            &PermutePoints {
                positions: In::of(from),
                permutation: In::of(self.tree.target_permutation()),
                count: self.target_count,
                permuted: Out::of(&mut self.target_positions),
            },
        )
    }

    /// Ranges of the vectors among `strengths` strengths that are summed at once.
    pub(super) fn batches(&self, strengths: usize) -> Vec<Range<usize>> {
        self.batches_of(strengths / (self.source_count as usize * self.kind.strengths()))
    }

    /// Ranges of `vectors` vectors that are summed at once.
    pub(crate) fn batches_of(&self, vectors: usize) -> Vec<Range<usize>> {
        (0..vectors)
            .step_by(self.batch)
            .map(|first| first..(first + self.batch).min(vectors))
            .collect()
    }

    /// The number of interactions of the last evaluation.
    pub fn interactions(&self) -> Result<Interactions, Error> {
        let mut counts = [0; Counter::COUNT];
        self.buffers.read(&self.counters, &mut counts)?;
        let count = |counter: Counter| counts[counter as usize];
        Ok(Interactions {
            p2p: count(Counter::P2p),
            m2l: count(Counter::M2l),
            m2p: count(Counter::M2p),
            p2l: 0,
        })
    }

    /// The values of each output, on the device.
    pub fn outputs(&self) -> impl Iterator<Item = &CudaSlice<T>> {
        self.outputs.iter().map(|(_, _, values)| values)
    }

    /// Returns the outputs, and ends the FMM.
    pub fn into_outputs(self) -> Vec<CudaSlice<T>> {
        self.outputs.into_iter().map(|(_, _, values)| values).collect()
    }
}
