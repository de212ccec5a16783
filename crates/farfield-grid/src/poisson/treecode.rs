//! The treecode on bricks: sources -> tree -> expansions -> plans -> evaluation.

use super::Method;
use super::Poisson;
use super::bricks::sum_index;
use super::kernel::Kernel;
use super::multipole::Expansions;
use super::plan::{BRICK_POINTS, BRICK_SIDE, BRICKS_PER_BLOCK, Brick, Plans, bricks};
use super::precision::Precision;
use super::report::{Interactions, Report, Seconds};
use super::sources::Sources;
use super::tree::SourceTree;
use super::tuning::Parameters;
use crate::error::Error;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::Grid;
use farfield::simd::{RsqrtAccuracy, SimdLevel};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What a treecode evaluation works on; a device evaluates the same plans.
#[derive(Debug, Clone)]
pub struct Parts<T> {
    /// The source points.
    pub sources: Sources<T>,
    /// Their octree.
    pub tree: SourceTree,
    /// The expansions of its nodes.
    pub expansions: Expansions<T>,
    /// The bricks of all blocks, eight for each.
    pub bricks: Vec<Brick>,
    /// What each brick meets.
    pub plans: Plans,
}

impl Poisson {
    /// The parts of the treecode for one grid and channel.
    ///
    /// # Errors
    /// [`Error::Parameter`], [`Error::UnknownChannel`], [`Error::NotFinite`].
    pub fn parts<T: Precision>(&self, grid: &Grid<T>, source: &str) -> Result<Parts<T>, Error> {
        self.check()?;
        grid.check_finite(source)?;
        let sources = Sources::gather(grid, grid.channel(source)?, self);
        let simd = self.simd.unwrap_or_else(SimdLevel::best);
        Ok(Parts::build(
            grid,
            sources,
            &self.parameters(),
            simd,
            &mut Seconds::default(),
        ))
    }

    /// Sources -> tree -> expansions -> plans -> evaluation.
    pub(super) fn by_treecode<T: Precision>(&self, grid: &Grid<T>, sources: Sources<T>) -> (Report, Vec<T>) {
        let simd = self.simd.unwrap_or_else(SimdLevel::best);
        let parameters = self.parameters();
        let mut seconds = Seconds::default();
        let parts = Parts::build(grid, sources, &parameters, simd, &mut seconds);
        let accuracy = T::rsqrt_accuracy(simd, parameters.rsqrt_error);
        let evaluation = Evaluation {
            kernel: self.kernel,
            simd,
            accuracy,
            parts: &parts,
        };
        let values = evaluation.run(&mut seconds);
        let Parts {
            sources, tree, plans, ..
        } = parts;
        let Parameters {
            theta,
            order,
            leaf_capacity,
            ..
        } = parameters;
        let report = Report {
            method: Method::Treecode,
            sources: sources.len(),
            targets: grid.points(),
            theta: Some(theta),
            order: Some(order),
            leaf_capacity: Some(leaf_capacity),
            boxes: tree.nodes().len(),
            depth: tree.depth(),
            simd,
            rsqrt: Some(accuracy),
            interactions: Interactions {
                direct: plans.direct_interactions(),
                indirect: plans.indirect_interactions(),
                translations: 0,
            },
            seconds,
        };
        (report, values)
    }
}

impl<T: Precision> Parts<T> {
    /// Sources -> tree -> expansions -> plans.
    fn build(
        grid: &Grid<T>,
        sources: Sources<T>,
        parameters: &Parameters,
        simd: SimdLevel,
        seconds: &mut Seconds,
    ) -> Self {
        let tree = timed(&mut seconds.tree, || {
            SourceTree::build(&sources, grid.domain(), parameters.leaf_capacity)
        });
        let expansions = timed(&mut seconds.expansions, || {
            Expansions::build(&sources, &tree, parameters.order, simd)
        });
        let (bricks, plans) = timed(&mut seconds.plan, || {
            let bricks = bricks(grid);
            let clearances = tree.clearances(&sources, parameters.clearance);
            let plans = Plans::build(&bricks, &tree, parameters.theta, &clearances);
            (bricks, plans)
        });
        Self {
            sources,
            tree,
            expansions,
            bricks,
            plans,
        }
    }
}

/// The evaluation of plans.
struct Evaluation<'a, T> {
    kernel: Kernel,
    simd: SimdLevel,
    accuracy: RsqrtAccuracy,
    parts: &'a Parts<T>,
}

impl<T: Precision> Evaluation<'_, T> {
    /// The sums at all points, ordered as a channel's numbers are; blocks in parallel.
    fn run(&self, seconds: &mut Seconds) -> Vec<T> {
        let components = self.parts.sources.components();
        let blocks = self.parts.bricks.len() / BRICKS_PER_BLOCK;
        let mut values = vec![T::ZERO; blocks * components * BLOCK_POINTS];
        let nanoseconds = [AtomicU64::new(0), AtomicU64::new(0)];
        values
            .par_chunks_exact_mut(components * BLOCK_POINTS)
            .enumerate()
            .for_each(|(leaf, values)| {
                let mut sums = vec![T::ZERO; components * BRICK_POINTS];
                for brick in 0..BRICKS_PER_BLOCK {
                    sums.fill(T::ZERO);
                    self.sum_brick(leaf * BRICKS_PER_BLOCK + brick, &mut sums, &nanoseconds);
                    write_brick(brick, &sums, values);
                }
            });
        let threads = rayon::current_num_threads() as f64;
        let [direct, indirect] = nanoseconds.map(|n| n.into_inner() as f64 * 1e-9 / threads);
        (seconds.direct, seconds.indirect) = (direct, indirect);
        values
    }

    /// One brick: its direct plan, then its indirect plan.
    fn sum_brick(&self, number: usize, sums: &mut [T], nanoseconds: &[AtomicU64; 2]) {
        let Parts {
            sources,
            tree,
            expansions,
            bricks,
            plans,
        } = self.parts;
        let (brick, how) = (&bricks[number], (self.simd, self.accuracy));
        let start = Instant::now();
        let ranges = plans.direct(number);
        T::add_direct(how, self.kernel, sources, ranges, brick, sums);
        let middle = Instant::now();
        let nodes = plans.indirect(number);
        T::add_indirect(how, expansions, tree, nodes, brick, sums);
        let end = Instant::now();
        for (total, time) in nanoseconds.iter().zip([middle - start, end - middle]) {
            total.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        }
    }
}

/// Puts a brick's sums where they belong in their block.
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

/// Runs `work` and adds its time.
fn timed<R>(seconds: &mut f64, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}
