//! The algorithm: copy the plans to the device, sum the direct plans, add the indirect plans, copy the results back.

use super::{Blocking, Brick, BrickPair, Indirect, Node, Plans, Range, Sources, direct_program, indirect_program};
use crate::device::{AnyBits, Blocks, Buffers, Device, Function, In, Out, Precision, Timeline, kernels, parameters};
use crate::error::{DriverCall, Error};
use cudarc::driver::CudaSlice;
use cudarc::driver::sys::CUevent_flags;
use farfield_core::report::{Phase, Seconds as Phases};
use std::sync::Arc;
use std::time::Instant;

/// The time of an evaluation, by part.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BrickSeconds {
    /// Copying plans to the device and results back.
    pub transfer: f64,
    /// Kernels of direct plans.
    pub direct: f64,
    /// Kernels of indirect plans.
    pub indirect: f64,
}

parameters! {
    /// Parameters of `direct`.
    pub(super) struct DirectPlan<T> {
        position: In<T>,
        weights: In<T>,
        epsilon2: In<T>,
        count: u32,
        bricks: In<Brick>,
        sequence: In<u32>,
        offsets: In<u32>,
        ranges: In<Range>,
        add: u32,
        values: Out<T>,
    }

    /// Parameters of `indirect`.
    pub(super) struct IndirectPlan<T> {
        coefficients: In<T>,
        nodes: In<Node>,
        bricks: In<Brick>,
        sequence: In<u32>,
        offsets: In<u32>,
        plan: In<u32>,
        add: u32,
        values: Out<T>,
    }
}

kernels! {
    /// The kernel of direct plans.
    pub(super) struct DirectKernels<T> { direct: DirectPlan<T> }
}

kernels! {
    /// The kernel of indirect plans.
    pub(super) struct IndirectKernels<T> { indirect: IndirectPlan<T> }
}

/// Sources on the device, waiting for plans.
#[derive(Debug)]
pub struct BrickSum<T: Precision> {
    buffers: Buffers,
    components: usize,
    count: u32,
    position: CudaSlice<T>,
    weights: CudaSlice<T>,
    epsilon2: CudaSlice<T>,
    direct: Function<DirectPlan<T>>,
    indirect: Option<Function<IndirectPlan<T>>>,
    threads: u32,
    bricks_per_pass: usize,
}

/// Points per brick, and bricks per block.
const BRICK_POINTS: usize = 512;
const BRICKS_PER_BLOCK: usize = 8;

impl<T: Precision> BrickSum<T> {
    /// The default number of bricks per pass: a quarter of a GiB of results in double precision.
    pub const BRICKS_PER_PASS: usize = 1 << 16;

    /// Copies the sources to the device and loads the kernels for direct plans and, if `order` is given, for indirect
    /// plans of that order.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Driver`], and compilation errors.
    ///
    /// # Panics
    /// If the arrays differ in length or the number of components is not 1 to 3.
    pub fn new(
        device: &Arc<Device>,
        pair: BrickPair,
        order: Option<usize>,
        sources: &Sources<T>,
    ) -> Result<Self, Error> {
        let (count, components) = (sources.position[0].len(), sources.weights.len());
        assert!((1..=3).contains(&components), "{components} components");
        let arrays = sources
            .position
            .into_iter()
            .chain(sources.weights.iter().map(|w| &w[..]));
        assert!(
            arrays.into_iter().all(|array| array.len() == count),
            "the arrays of sources differ in length"
        );
        let buffers = Buffers::new(device)?;
        let joined = |arrays: &[&[T]]| -> Result<CudaSlice<T>, Error> {
            let mut all = buffers.uninit(arrays.len() * count)?;
            for (k, array) in arrays.iter().enumerate().filter(|(_, array)| !array.is_empty()) {
                buffers
                    .stream()
                    .memcpy_htod(*array, &mut all.slice_mut(k * count..(k + 1) * count))
                    .map_err(Error::driver("copy sources to the device"))?;
            }
            Ok(all)
        };
        let weights: Vec<&[T]> = sources.weights.iter().map(|w| &w[..]).collect();
        let DirectKernels { direct } = DirectKernels::load(device, &direct_program::<T>(pair, components))?;
        let indirect = match order {
            Some(order) => Some(indirect_function::<T>(device, order, components)?),
            None => None,
        };
        Ok(Self {
            components,
            count: count as u32,
            position: joined(&sources.position)?,
            weights: joined(&weights)?,
            epsilon2: buffers.upload(sources.epsilon2)?,
            direct,
            indirect,
            threads: Blocking::direct::<T>(pair, components).threads,
            buffers,
            bricks_per_pass: Self::BRICKS_PER_PASS,
        })
    }

    /// Sets the number of bricks per pass.
    pub fn bricks_per_pass(mut self, bricks: usize) -> Self {
        let bricks = bricks.clamp(1, u32::MAX as usize);
        self.bricks_per_pass = bricks.next_multiple_of(BRICKS_PER_BLOCK);
        self
    }

    /// Writes the sums over the plans to `values`, block by block of $16^3$ points and component by component.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Driver`], and compilation errors.
    ///
    /// # Panics
    /// If the lengths of the plans or of `values` do not match the number of bricks.
    pub fn evaluate(&mut self, plans: &Plans<T>, values: &mut [T]) -> Result<BrickSeconds, Error> {
        let bricks = plans.bricks.len();
        assert_eq!(values.len(), bricks * BRICK_POINTS * self.components);
        assert_eq!(plans.direct_offsets.len(), bricks + 1);
        let start = Instant::now();
        let far = match &plans.indirect {
            Some(plan) => Some(Far::new(&self.buffers, plan, self.components, self.indirect.clone())?),
            None => None,
        };
        let mut phases = Phases::default();
        let passes = values.chunks_mut(self.bricks_per_pass * BRICK_POINTS * self.components);
        for (pass, values) in passes.enumerate() {
            let first = pass * self.bricks_per_pass;
            let range = first..(first + self.bricks_per_pass).min(bricks);
            self.evaluate_pass(plans, far.as_ref(), range, values, &mut phases)?;
        }
        let (direct, indirect) = (phases.of(Phase::P2p), phases.of(Phase::M2p));
        Ok(BrickSeconds {
            transfer: start.elapsed().as_secs_f64() - direct - indirect,
            direct,
            indirect,
        })
    }

    fn evaluate_pass(
        &mut self,
        plans: &Plans<T>,
        far: Option<&Far<T>>,
        range: std::ops::Range<usize>,
        values: &mut [T],
        phases: &mut Phases,
    ) -> Result<(), Error> {
        let buffers = &self.buffers;
        let bricks = buffers.upload(&plans.bricks[range.clone()])?;
        let direct = Schedule::new(buffers, plans.direct, &plans.direct_offsets[range.start..=range.end])?;
        let indirect = match (far, &plans.indirect) {
            (Some(_), Some(plan)) => Some(Schedule::new(
                buffers,
                plan.nodes,
                &plan.offsets[range.start..=range.end],
            )?),
            _ => None,
        };
        let mut sums = buffers.uninit::<T>(values.len())?;
        let (grid, stream) = ((range.len() as u32, 1, 1), buffers.stream());
        let mut timeline = Timeline::start(stream)?;
        self.direct.launch(
            stream,
            Blocks::new(grid, self.threads),
            &DirectPlan {
                position: In::of(&self.position),
                weights: In::of(&self.weights),
                epsilon2: In::of(&self.epsilon2),
                count: self.count,
                bricks: In::of(&bricks),
                sequence: In::of(&direct.sequence),
                offsets: In::of(&direct.offsets),
                ranges: In::of(&direct.entries),
                add: 0,
                values: Out::of(&mut sums),
            },
        )?;
        timeline.end(Phase::P2p)?;
        if let (Some(far), Some(indirect)) = (far, indirect) {
            far.indirect.launch(
                stream,
                Blocks::new(grid, Blocking::INDIRECT.threads),
                &IndirectPlan {
                    coefficients: In::of(&far.coefficients),
                    nodes: In::of(&far.nodes),
                    bricks: In::of(&bricks),
                    sequence: In::of(&indirect.sequence),
                    offsets: In::of(&indirect.offsets),
                    plan: In::of(&indirect.entries),
                    add: 1,
                    values: Out::of(&mut sums),
                },
            )?;
            timeline.end(Phase::M2p)?;
        }
        wait_asleep(buffers)?;
        buffers.read(&sums, values)?;
        timeline.add_to(phases)
    }
}

/// Waits for the kernels with a blocking event, which leaves the CPU core free for other work.
fn wait_asleep(buffers: &Buffers) -> Result<(), Error> {
    let ended = buffers
        .stream()
        .record_event(Some(CUevent_flags::CU_EVENT_BLOCKING_SYNC))
        .map_err(Error::driver("record an event"))?;
    ended.synchronize().map_err(Error::driver("finish its kernels"))
}

/// Expansions on the device.
struct Far<T: Precision> {
    coefficients: CudaSlice<T>,
    nodes: CudaSlice<Node>,
    indirect: Function<IndirectPlan<T>>,
}

impl<T: Precision> Far<T> {
    fn new(
        buffers: &Buffers,
        plan: &Indirect<T>,
        components: usize,
        loaded: Option<Function<IndirectPlan<T>>>,
    ) -> Result<Self, Error> {
        let expansions = plan.expansions;
        Ok(Self {
            coefficients: buffers.upload(expansions.coefficients)?,
            nodes: buffers.upload(expansions.nodes)?,
            indirect: match loaded {
                Some(indirect) => indirect,
                None => indirect_function::<T>(buffers.device(), expansions.order, components)?,
            },
        })
    }
}

fn indirect_function<T: Precision>(
    device: &Device,
    order: usize,
    components: usize,
) -> Result<Function<IndirectPlan<T>>, Error> {
    let IndirectKernels { indirect } = IndirectKernels::load(device, &indirect_program::<T>(order, components))?;
    Ok(indirect)
}

/// The plans of a pass: the entries of each brick, and the order in which bricks are started.
struct Schedule<E> {
    entries: CudaSlice<E>,
    offsets: CudaSlice<u32>,
    sequence: CudaSlice<u32>,
}

/// The cost of an entry, for sorting.
trait Entry: AnyBits {
    fn cost(&self) -> u64;
}

impl Entry for Range {
    fn cost(&self) -> u64 {
        u64::from(self.end - self.start)
    }
}

impl Entry for u32 {
    fn cost(&self) -> u64 {
        1
    }
}

impl<E: Entry> Schedule<E> {
    fn new(buffers: &Buffers, entries: &[E], offsets: &[u32]) -> Result<Self, Error> {
        let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
        let entries = &entries[first as usize..last as usize];
        let offsets: Vec<u32> = offsets.iter().map(|offset| offset - first).collect();
        Ok(Self {
            sequence: buffers.upload(&most_work_first(entries, &offsets))?,
            entries: buffers.upload(entries)?,
            offsets: buffers.upload(&offsets)?,
        })
    }
}

/// The bricks in order of decreasing work; ties keep their order.
fn most_work_first<E: Entry>(entries: &[E], offsets: &[u32]) -> Vec<u32> {
    let cost = |pair: &[u32]| {
        entries[pair[0] as usize..pair[1] as usize]
            .iter()
            .map(E::cost)
            .sum::<u64>()
    };
    let costs: Vec<u64> = offsets.windows(2).map(cost).collect();
    let mut sequence: Vec<u32> = (0..costs.len() as u32).collect();
    sequence.sort_by_key(|brick| std::cmp::Reverse(costs[*brick as usize]));
    sequence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bricks_with_most_sources_start_first() {
        let range = |start, end| Range {
            start,
            end,
            touching: 0,
        };
        let entries = [range(0, 10), range(20, 25), range(0, 15), range(7, 8)];
        assert_eq!(most_work_first(&entries, &[0, 2, 2, 3, 4]), [0, 2, 3, 1]);
        assert_eq!(most_work_first(&[4u32, 5, 6], &[0, 1, 3]), [1, 0]);
    }
}
