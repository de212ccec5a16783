//! Tables and memory of an FMM, made once per plan.

use super::{p2m_warps, p2p_program, points_program};
use crate::device::{Buffers, Device, Function, Precision, Timeline, launch};
use crate::error::Error;
use crate::expansion::{Matrices, Steps, Warps, stride, translate_program};
use crate::kernel::PairKind;
use crate::tree::{Octree, Points, TreeShape};
use crate::tuning::Choice;
use cudarc::driver::sys::CUfunction_attribute_enum as Attribute;
use cudarc::driver::{CudaSlice, DeviceRepr};
use farfield::expansion::coefficient_count;
use farfield::kernel::{Kernel, Output};
use farfield::report::Phase;
use farfield::tuning::CLASSES;
use std::ops::Range;
use std::sync::Arc;

/// Everything an FMM evaluation needs except the strengths.
#[derive(Debug)]
pub(crate) struct Fmm<T: Precision> {
    pub(super) buffers: Buffers,
    pub(super) kind: PairKind,
    vectors: usize,
    /// Strength vectors summed at once.
    batch: usize,
    pub(super) order: usize,
    pub tree: Octree,
    pub(super) source_count: u32,
    pub(super) target_count: u32,
    pub(super) global_size2: T,
    /// As the caller orders them.
    pub(super) source_positions: CudaSlice<T>,
    pub(super) sizes: CudaSlice<T>,
    pub(super) strengths: CudaSlice<T>,
    /// Sources with strengths, in tree order.
    pub(super) packed: CudaSlice<T>,
    /// In tree order.
    pub(super) target_positions: CudaSlice<T>,
    pub(super) matrices: Arc<Matrices<T>>,
    /// The order of M2L for each level and class of shifts.
    pub(super) orders: CudaSlice<u8>,
    pub(super) steps: Arc<Steps>,
    pub(super) tasks: CudaSlice<Task>,
    /// For each level, its tasks with boxes of one octant each.
    pub(super) column_tasks: Vec<Range<usize>>,
    /// For each level, its tasks whatever the octant.
    pub(super) m2m_tasks: Vec<Range<usize>>,
    pub(super) warps: Warps,
    pub(super) multipoles: CudaSlice<T>,
    pub(super) locals: CudaSlice<T>,
    /// What L2P leaves for P2P to add to.
    pub(super) far: CudaSlice<T>,
    pub(super) outputs: Vec<(Output, T, CudaSlice<T>)>,
    pub(super) kernels: Kernels,
    pub(super) shared: SharedBytes,
    /// The device's time to build the tree.
    pub building: Timeline,
}

/// Target boxes of one block of a translation: `Task` of `kernels/translate.cu`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    first: u32,
    count: u32,
    level: u32,
    octant: u32,
}

// SAFETY: four numbers, as in the kernel's struct.
unsafe impl DeviceRepr for Task {}

#[derive(Debug)]
pub(super) struct Kernels {
    pub gather_sources: Function,
    pub gather_targets: Function,
    pub p2m: Function,
    pub m2m: Function,
    pub m2l: Function,
    pub l2l: Function,
    pub l2p: Function,
    pub p2p: Function,
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

/// What an FMM is made from: the caller's arrays, flattened.
pub(crate) struct FmmInput<'a, T> {
    pub kernel: Kernel,
    pub kind: PairKind,
    pub vectors: usize,
    pub sources: &'a [T],
    pub targets: Option<&'a [T]>,
    /// One per source, or none.
    pub sizes: &'a [T],
    pub global_size2: T,
    pub outputs: &'a [Output],
    pub shape: TreeShape,
    pub choice: &'a Choice,
}

impl SharedBytes {
    fn of<T: Precision>(kind: &PairKind, order: usize) -> Self {
        let coefficients = coefficient_count(order);
        let recurrence = (2 * coefficients + order + 1).next_multiple_of(2) * std::mem::size_of::<T>();
        let expansions = p2m_warps(order) * kind.strengths() * stride(order) * std::mem::size_of::<T>();
        let derived = kind.sums() * coefficients * std::mem::size_of::<T>();
        Self {
            p2m: (recurrence + expansions) as u32,
            m2m: Warps::shared_bytes::<T>(order, 8),
            m2l: Warps::shared_bytes::<T>(order, 189),
            l2l: Warps::shared_bytes::<T>(order, 1),
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

impl Kernels {
    fn load<T: Precision>(
        buffers: &Buffers,
        kind: &PairKind,
        order: usize,
        shared: &SharedBytes,
    ) -> Result<Self, Error> {
        let device = buffers.device();
        let [gather_sources, gather_targets, p2m, l2p] = device.functions(
            &points_program::<T>(kind, order),
            ["gather_sources", "gather_targets", "p2m", "l2p"],
        )?;
        let [m2m, m2l, l2l] =
            device.functions(&translate_program::<T>(order, Warps::of(order)), ["m2m", "m2l", "l2l"])?;
        let [p2p] = device.functions(&p2p_program::<T>(kind), ["p2p"])?;
        for (function, bytes) in [
            (&p2m, shared.p2m),
            (&m2m, shared.m2m),
            (&m2l, shared.m2l),
            (&l2l, shared.l2l),
            (&l2p, shared.l2p),
        ] {
            let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            function
                .function
                .set_attribute(attribute, bytes as i32)
                .map_err(Error::driver(format!("give {} its shared memory", function.name)))?;
        }
        Ok(Self {
            gather_sources,
            gather_targets,
            p2m,
            m2m,
            m2l,
            l2l,
            l2p,
            p2p,
        })
    }
}

impl<T: Precision> Fmm<T> {
    /// Whether a block's shared memory holds what this kind of pair needs at this order.
    pub fn check_order(device: &Device, kind: &PairKind, order: usize) -> Result<(), Error> {
        if SharedBytes::of::<T>(kind, order).most() <= device.properties().shared_bytes {
            return Ok(());
        }
        Err(Error::Unsupported {
            what: format!("order {order} with {} sums a target in {}", kind.sums(), T::NAME),
            remedy: "use a lower order or a larger tolerance, --method direct, or --device cpu",
        })
    }

    /// Bytes of device memory.
    pub fn forecast(
        kind: &PairKind,
        vectors: usize,
        sources: usize,
        targets: usize,
        shape: &TreeShape,
        order: usize,
    ) -> u64 {
        let batch = batch_of(kind, vectors);
        let points = sources + targets;
        let boxes = 3 * points / shape.leaf_capacity.max(1) + 64;
        let numbers = sources * (4 + batch * (kind.strengths() + kind.source_len()))
            + targets * (6 + (batch + vectors) * kind.sums())
            + 2 * boxes * batch * kind.strengths() * stride(order);
        Octree::forecast(points, shape) + Matrices::<T>::forecast(order) + (numbers * std::mem::size_of::<T>()) as u64
    }

    pub fn new(buffers: Buffers, input: FmmInput<T>) -> Result<Self, Error> {
        let FmmInput {
            kernel,
            kind,
            vectors,
            sources,
            targets,
            sizes,
            global_size2,
            outputs,
            shape,
            choice,
        } = input;
        let order = choice.orders.highest;
        let (source_count, target_count) = (sources.len() / 3, targets.unwrap_or(sources).len() / 3);
        let shared = SharedBytes::of::<T>(&kind, order);
        let kernels = Kernels::load::<T>(&buffers, &kind, order, &shared)?;
        let matrices = Matrices::of(buffers.device(), order)?;
        let source_positions = buffers.upload(sources)?;
        let caller_targets = targets.map(|targets| buffers.upload(targets)).transpose()?;
        let building = Timeline::start(buffers.stream())?;
        let tree = Octree::build(
            &buffers,
            &Points {
                sources: &source_positions,
                source_count,
                targets: caller_targets.as_ref().map(|targets| (targets, target_count)),
            },
            &shape,
        )?;
        let batch = batch_of(&kind, vectors);
        let streams = batch * kind.strengths();
        let (tasks, column_tasks, m2m_tasks) = tasks_of(&tree, streams);
        let expansions = tree.boxes * streams * stride(order);
        let outputs = outputs
            .iter()
            .map(|output| {
                let values = buffers.uninit(vectors * target_count * output.components())?;
                Ok((*output, T::from_f64(kernel.scale(*output)), values))
            })
            .collect::<Result<_, Error>>()?;
        let mut fmm = Self {
            kind,
            vectors,
            batch,
            order,
            source_count: source_count as u32,
            target_count: target_count as u32,
            global_size2,
            sizes: buffers.upload(sizes)?,
            strengths: buffers.uninit(source_count * streams)?,
            packed: buffers.uninit(batch * source_count * kind.source_len())?,
            target_positions: buffers.uninit(3 * target_count)?,
            matrices,
            orders: buffers.upload(&orders_by_level(choice, tree.depth))?,
            steps: Steps::of(&buffers)?,
            tasks: buffers.upload(&tasks)?,
            column_tasks,
            m2m_tasks,
            warps: Warps::of(order),
            multipoles: buffers.uninit(expansions)?,
            locals: buffers.uninit(expansions)?,
            far: buffers.uninit(batch * kind.sums() * target_count)?,
            outputs,
            kernels,
            shared,
            building,
            source_positions,
            tree,
            buffers,
        };
        fmm.gather_targets(caller_targets.as_ref())?;
        fmm.building.end(Phase::Tree)?;
        Ok(fmm)
    }

    fn gather_targets(&mut self, caller_targets: Option<&CudaSlice<T>>) -> Result<(), Error> {
        let from = caller_targets.unwrap_or(&self.source_positions);
        let grid = (self.target_count.div_ceil(256), 1, 1);
        launch!(self.buffers.stream(), self.kernels.gather_targets, grid, 256, 0;
            from, self.tree.target_order(), &self.target_count, &mut self.target_positions);
        Ok(())
    }

    /// The strength vectors that are summed at once, one range after the other.
    pub(super) fn batches(&self) -> Vec<Range<usize>> {
        (0..self.vectors)
            .step_by(self.batch)
            .map(|first| first..(first + self.batch).min(self.vectors))
            .collect()
    }

    /// The values of each output, on the device.
    pub fn outputs(&self) -> impl Iterator<Item = &CudaSlice<T>> {
        self.outputs.iter().map(|(_, _, values)| values)
    }
}

/// A block of a translation has room for so many expansions of one box.
fn batch_of(kind: &PairKind, vectors: usize) -> usize {
    vectors.min(Warps::COLUMNS / kind.strengths())
}

/// The order for each level (the root's first) and class of shifts. The model's levels count from the leaves of an even
/// cube; where a tree is much deeper, its points are uneven, and every level takes the highest order of any.
fn orders_by_level(choice: &Choice, depth: usize) -> Vec<u8> {
    let by_level = &choice.orders.by_level;
    let uneven = depth > by_level.len() + 2;
    let highest: [u8; CLASSES] =
        std::array::from_fn(|class| by_level.iter().map(|level| level[class]).max().unwrap_or(0));
    (0..=depth)
        .flat_map(|level| match by_level.get(depth - level) {
            Some(orders) if !uneven => *orders,
            _ => highest,
        })
        .collect()
}

type Tasks = (Vec<Task>, Vec<Range<usize>>, Vec<Range<usize>>);

/// The tasks of all translations: by level and octant, then by level alone.
fn tasks_of(tree: &Octree, streams: usize) -> Tasks {
    let boxes_per_task = (Warps::COLUMNS / streams) as u32;
    let mut tasks = Vec::new();
    let mut push = |range: Range<u32>, level: usize, octant: usize| {
        for first in range.clone().step_by(boxes_per_task as usize) {
            tasks.push(Task {
                first,
                count: boxes_per_task.min(range.end - first),
                level: level as u32,
                octant: octant as u32,
            });
        }
        tasks.len()
    };
    let (mut column_tasks, mut m2m_tasks) = (Vec::new(), Vec::new());
    let mut start = 0;
    for level in 0..=tree.depth {
        let mut end = start;
        for octant in 0..8 {
            end = push(tree.column(level, octant), level, octant);
        }
        column_tasks.push(start..end);
        start = end;
    }
    for level in 0..=tree.depth {
        let end = push(tree.level(level), level, 0);
        m2m_tasks.push(start..end);
        start = end;
    }
    (tasks, column_tasks, m2m_tasks)
}
