//! The treecode on bricks: sources -> tree -> expansions -> lists -> evaluation.

use super::bricks::sum_index;
use super::device;
use super::kernel::{Pair, Quantity};
use super::lists::{BRICK_POINTS, BRICK_SIDE, BRICKS_PER_BLOCK, Brick, BrickLists, bricks};
use super::multipole::Expansions;
use super::precision::Precision;
use super::report::{Interactions, Report, SolveSeconds};
use super::sources::Sources;
use super::tree::SourceTree;
use super::tuning::Parameters;
use super::{Method, Poisson, PoissonDevice};
use crate::error::Error;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::Grid;
use farfield::Device;
use farfield::cuda::bricks::BrickSum;
use farfield::simd::{RsqrtAccuracy, SimdLevel};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The inputs of a treecode evaluation, on the CPU or a GPU.
#[derive(Debug, Clone)]
pub struct Parts<T> {
    /// The source points.
    pub sources: Arc<Sources<T>>,
    /// Their octree.
    pub tree: SourceTree,
    /// The expansions of its nodes.
    pub expansions: Expansions<T>,
    /// The bricks of all blocks, eight for each.
    pub bricks: Vec<Brick>,
    /// The sources and expansions that act on each brick.
    pub lists: BrickLists,
}

impl Poisson {
    /// The parts of the treecode for one grid and channel.
    ///
    /// # Errors
    /// [`Error::Parameter`], [`Error::UnknownChannel`], [`Error::NotFinite`].
    pub fn parts<T: Precision>(&self, grid: &Grid<T>, source: &str) -> Result<Parts<T>, Error> {
        self.check()?;
        grid.check_finite(source)?;
        let quantity = Quantity::Potential;
        let sources = Arc::new(Sources::gather(grid, grid.channel(source)?, self, quantity));
        let bricks = bricks(grid);
        let making = Making {
            grid,
            quantity,
            simd: self.simd.unwrap_or_else(SimdLevel::best),
            parameters: self.parameters(grid, &sources, &bricks, quantity),
        };
        Ok(making.parts(sources, bricks, &mut SolveSeconds::default()))
    }

    /// Sources -> tree -> expansions -> lists -> evaluation.
    pub(super) fn by_treecode<T: Precision>(
        &self,
        grid: &Grid<T>,
        sources: Sources<T>,
        parameters: Parameters,
        quantity: Quantity,
    ) -> Result<(Report, Vec<T>), Error> {
        let mut seconds = SolveSeconds::default();
        let (sources, simd) = (Arc::new(sources), self.simd.unwrap_or_else(SimdLevel::best));
        let bricks = bricks(grid);
        let accuracy = T::rsqrt_accuracy(simd, parameters.rsqrt_error);
        let pair = Pair::of(self.kernel, quantity);
        let making = Making {
            grid,
            quantity,
            simd,
            parameters,
        };
        let on_cores = OnCores { pair, simd, accuracy };
        let (parts, values) = match self.device.resolved() {
            PoissonDevice::One(Device::Cpu | Device::Auto) => {
                let parts = making.parts(sources, bricks, &mut seconds);
                let values = on_cores.evaluate(&parts, Share::All, &mut seconds);
                (parts, values)
            }
            PoissonDevice::One(Device::Cuda(number)) => {
                let gpu = farfield::open(number)?;
                let (sum, parts) = device::upload_while(&gpu, pair, Some(making.parameters.order), &sources, || {
                    making.parts(sources.clone(), bricks, &mut seconds)
                })?;
                let values = device::evaluate(self.in_passes(sum), &parts, Share::All, &mut seconds)?;
                (parts, values)
            }
            PoissonDevice::Hybrid(number) => {
                let gpu = farfield::open(number)?;
                let (sum, parts) = device::upload_while(&gpu, pair, None, &sources, || {
                    making.parts(sources.clone(), bricks, &mut seconds)
                })?;
                let values = device::evaluate_beside(self.in_passes(sum), &parts, &on_cores, &mut seconds)?;
                (parts, values)
            }
        };
        Ok((self.report_of(&parts, &making, accuracy, seconds), values))
    }

    /// Sets the number of bricks per pass if one was given.
    fn in_passes<T: Precision>(&self, sum: BrickSum<T>) -> BrickSum<T> {
        match self.bricks_per_pass {
            Some(bricks) => sum.bricks_per_pass(bricks),
            None => sum,
        }
    }

    fn report_of<T: Precision>(
        &self,
        parts: &Parts<T>,
        making: &Making<T>,
        accuracy: RsqrtAccuracy,
        seconds: SolveSeconds,
    ) -> Report {
        let Parameters {
            theta,
            order,
            leaf_capacity,
            ..
        } = making.parameters;
        Report {
            method: Method::Treecode,
            device: self.device.resolved().name(),
            sources: parts.sources.len(),
            targets: making.grid.points(),
            theta: Some(theta),
            order: Some(order),
            leaf_capacity: Some(leaf_capacity),
            boxes: parts.tree.nodes().len(),
            depth: parts.tree.depth(),
            simd: making.simd,
            rsqrt: Some(accuracy),
            interactions: Interactions {
                direct: parts.lists.direct_interactions(),
                indirect: parts.lists.indirect_interactions(),
                translations: 0,
            },
            seconds,
        }
    }
}

/// The inputs from which the parts are made.
struct Making<'a, T> {
    grid: &'a Grid<T>,
    quantity: Quantity,
    simd: SimdLevel,
    parameters: Parameters,
}

impl<T: Precision> Making<'_, T> {
    /// Sources -> tree -> expansions -> lists.
    fn parts(&self, sources: Arc<Sources<T>>, bricks: Vec<Brick>, seconds: &mut SolveSeconds) -> Parts<T> {
        let Parameters {
            theta,
            order,
            leaf_capacity,
            clearance,
            ..
        } = self.parameters;
        let tree = timed(&mut seconds.tree, || {
            SourceTree::build(&sources, self.grid.domain(), leaf_capacity)
        });
        let expansions = timed(&mut seconds.expansions, || {
            Expansions::build(&sources, &tree, order, self.quantity, self.simd)
        });
        let lists = timed(&mut seconds.plan, || {
            let clearances = tree.clearances(&sources, clearance);
            BrickLists::build(&bricks, &tree, theta, &clearances)
        });
        Parts {
            sources,
            tree,
            expansions,
            bricks,
            lists,
        }
    }
}

impl<T: Precision> Parts<T> {
    /// Parts for lists without expansions.
    pub(super) fn without_expansions(
        sources: Sources<T>,
        tree: SourceTree,
        bricks: Vec<Brick>,
        lists: BrickLists,
    ) -> Self {
        Self {
            expansions: Expansions::none(sources.components()),
            sources: Arc::new(sources),
            tree,
            bricks,
            lists,
        }
    }
}

/// The lists that are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    All,
    Direct,
    Indirect,
}

/// The evaluation of lists on the CPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnCores {
    pub pair: Pair,
    pub simd: SimdLevel,
    pub accuracy: RsqrtAccuracy,
}

impl OnCores {
    /// The sums at all points, in the order of a channel's values; blocks are evaluated in parallel.
    pub fn evaluate<T: Precision>(&self, parts: &Parts<T>, share: Share, seconds: &mut SolveSeconds) -> Vec<T> {
        let start = Instant::now();
        let components = parts.sources.components();
        let blocks = parts.bricks.len() / BRICKS_PER_BLOCK;
        let mut values = vec![T::ZERO; blocks * components * BLOCK_POINTS];
        let nanoseconds = [AtomicU64::new(0), AtomicU64::new(0)];
        values
            .par_chunks_exact_mut(components * BLOCK_POINTS)
            .enumerate()
            // Blocks differ in work, so threads take them one at a time.
            .with_max_len(1)
            .for_each(|(leaf, values)| {
                let mut sums = vec![T::ZERO; components * BRICK_POINTS];
                for brick in 0..BRICKS_PER_BLOCK {
                    sums.fill(T::ZERO);
                    let number = leaf * BRICKS_PER_BLOCK + brick;
                    self.sum_brick(parts, share, number, &mut sums, &nanoseconds);
                    write_brick(brick, &sums, values);
                }
            });
        let threads = rayon::current_num_threads() as f64;
        let [direct, indirect] = nanoseconds.map(|n| n.into_inner() as f64 * 1e-9 / threads);
        seconds.direct += direct;
        seconds.indirect += indirect;
        seconds.evaluation += start.elapsed().as_secs_f64();
        values
    }

    /// Evaluates the direct list of a brick, then its indirect list.
    fn sum_brick<T: Precision>(
        &self,
        parts: &Parts<T>,
        share: Share,
        number: usize,
        sums: &mut [T],
        nanoseconds: &[AtomicU64; 2],
    ) {
        let (brick, how) = (&parts.bricks[number], (self.simd, self.accuracy));
        let start = Instant::now();
        if share != Share::Indirect {
            let ranges = parts.lists.direct(number);
            T::add_direct(how, self.pair, &parts.sources, ranges, brick, sums);
        }
        let middle = Instant::now();
        if share != Share::Direct {
            let nodes = parts.lists.indirect(number);
            T::add_indirect(how, &parts.expansions, &parts.tree, nodes, brick, sums);
        }
        let end = Instant::now();
        for (total, time) in nanoseconds.iter().zip([middle - start, end - middle]) {
            total.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        }
    }
}

/// Writes the sums of a brick to the values of its block.
fn write_brick<T: Precision>(brick: usize, sums: &[T], values: &mut [T]) {
    let corner: [usize; 3] = std::array::from_fn(|axis| (brick >> axis & 1) * BRICK_SIDE);
    for (component, values) in values.chunks_exact_mut(BLOCK_POINTS).enumerate() {
        for z in 0..BRICK_SIDE {
            for y in 0..BRICK_SIDE {
                let line = ((corner[2] + z) * BLOCK_SIDE + corner[1] + y) * BLOCK_SIDE + corner[0];
                for x in 0..BRICK_SIDE {
                    values[line + x] = sums[sum_index(component, [x, y, z])];
                }
            }
        }
    }
}

/// Runs `work` and adds its time to `seconds`.
pub(super) fn timed<R>(seconds: &mut f64, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}
