//! A plan's pairs as tasks of thread blocks.

use crate::device::device_struct;
use farfield_core::plan::NearLists;
use farfield_core::plane;
use farfield_core::simd::Real;
use std::cmp::Reverse;
use std::ops;

device_struct! {
    /// Targets and the ranges of sources they meet.
    #[derive(PartialEq, Eq)]
    pub(super) struct Task = "Task" { pub first: u32, pub count: u32, pub from: u32, pub to: u32 }
}

device_struct! {
    /// Sources that follow one another.
    #[derive(PartialEq, Eq)]
    pub(super) struct Range = "Range" { pub start: u32, pub end: u32 }
}

/// The work of a device.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// Those with most work first.
    pub tasks: Vec<Task>,
    /// Of each block of the plan, the sources that may be its targets, then the others.
    pub ranges: Vec<Range>,
    /// Targets of all tasks; they are the plan's first.
    pub targets: usize,
    /// Pairs of points of all tasks.
    pub pairs: u64,
}

impl Tasks {
    /// The first `blocks` blocks of a plan.
    pub fn new<T: Real>(lists: &NearLists<T>, blocks: usize, cuts: &Cuts) -> Self {
        let blocks = (0..blocks).map(|k| {
            let block = lists.block(k);
            let sources = std::iter::once(block.own).chain(block.others.iter().copied());
            (block.targets, sources.collect())
        });
        Self::of_blocks(blocks, cuts)
    }

    /// All blocks of a plan of the plane.
    pub fn in_plane<T: Real>(lists: &plane::NearLists<T>, cuts: &Cuts) -> Self {
        let blocks = (0..lists.block_count()).map(|k| lists.block(k));
        Self::of_blocks(blocks.map(|block| (block.targets, block.sources)), cuts)
    }

    /// Targets that follow one another and the sources they meet, block by block.
    fn of_blocks(blocks: impl Iterator<Item = (ops::Range<u32>, Vec<(u32, u32)>)>, cuts: &Cuts) -> Self {
        let mut all = Self::default();
        let mut work = Vec::new();
        for (targets, ranges) in blocks {
            let from = all.ranges.len() as u32;
            let sources: u64 = ranges.iter().map(|(start, end)| u64::from(end - start)).sum();
            all.ranges
                .extend(ranges.into_iter().map(|(start, end)| Range { start, end }));
            let (mut first, to) = (targets.start, all.ranges.len() as u32);
            while first < targets.end {
                let count = cuts.first_part(targets.end - first);
                work.push((sources / u64::from(cuts.slices(count)), all.tasks.len()));
                all.tasks.push(Task { first, count, from, to });
                first += count;
            }
            all.targets = targets.end as usize;
            all.pairs += u64::from(targets.end - targets.start) * sources;
        }
        work.sort_unstable_by_key(|(work, at)| (Reverse(*work), *at));
        all.tasks = work.into_iter().map(|(_, at)| all.tasks[at]).collect();
        all
    }
}

/// How targets are dealt to blocks of threads so that few threads idle: `kernels/meet.cuh` gives each column of a
/// block that many targets, and deals the sources to the slices of threads in turn.
#[derive(Debug, Clone)]
pub(super) struct Cuts {
    threads: u32,
    targets: u32,
    /// For each number of targets up to those of a block, how many the first block takes.
    first: Vec<u32>,
}

/// What a block costs besides its pairs, in units of a block whose threads each meet all sources.
const BLOCK: f64 = 0.02;

impl Cuts {
    /// For blocks of so many threads with so many targets each.
    pub fn new(threads: u32, targets: u32) -> Self {
        let mut cuts = Self {
            threads,
            targets,
            first: vec![0],
        };
        let mut cost = vec![0.0];
        for count in 1..=threads * targets {
            let best = (1..=count)
                .map(|part| (cuts.cost(part) + cost[(count - part) as usize], part))
                .min_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let (least, part) = best.unwrap_or((f64::INFINITY, 1));
            cost.push(least);
            cuts.first.push(part);
        }
        cuts
    }

    /// Targets of the first block that serves so many.
    fn first_part(&self, targets: u32) -> u32 {
        self.first[targets.min(self.threads * self.targets) as usize]
    }

    /// Into how many slices a block cuts the sources.
    fn slices(&self, targets: u32) -> u32 {
        self.threads / targets.div_ceil(self.targets)
    }

    fn cost(&self, targets: u32) -> f64 {
        1.0 / f64::from(self.slices(targets)) + BLOCK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield_core::kernel::Kernel;
    use farfield_core::points::PointSet;
    use farfield_core::{Method, Sum};

    #[test]
    fn threads_are_used_well_at_every_number_of_targets() {
        let cuts = Cuts::new(128, 2);
        for targets in 1..1000u32 {
            let (mut left, mut time) = (targets, 0.0);
            while left > 0 {
                let part = cuts.first_part(left);
                assert!((1..=left.min(256)).contains(&part), "{part} of {left}");
                time += 1.0 / f64::from(cuts.slices(part));
                left -= part;
            }
            let used = f64::from(targets) / (256.0 * time);
            assert!(used <= 1.0 && (targets < 24 || used > 0.85), "{targets}: {used}");
        }
    }

    #[test]
    fn tasks_hold_every_pair_of_their_blocks_once_and_the_largest_first() {
        let points = PointSet::Plummer.generate::<f64>(5000, 1);
        for method in [Method::Fmm, Method::Direct] {
            let plan = Sum::new(Kernel::Coulomb, &points).method(method).plan().unwrap();
            let (lists, cuts) = (plan.near_lists(), Cuts::new(128, 2));
            for blocks in [0, lists.block_count() / 2, lists.block_count()] {
                let all = Tasks::new(&lists, blocks, &cuts);
                let sources = |task: &Task| -> u64 {
                    let ranges = &all.ranges[task.from as usize..task.to as usize];
                    ranges.iter().map(|range| u64::from(range.end - range.start)).sum()
                };
                let work = |task: &Task| sources(task) / u64::from(cuts.slices(task.count));
                assert!(all.tasks.windows(2).all(|pair| work(&pair[0]) >= work(&pair[1])));
                let pairs: u64 = all.tasks.iter().map(|task| u64::from(task.count) * sources(task)).sum();
                let expected: u64 = (0..blocks).map(|k| lists.block(k).pairs()).sum();
                assert_eq!((pairs, all.pairs), (expected, expected));
                let mut targets: Vec<u32> = all
                    .tasks
                    .iter()
                    .flat_map(|task| task.first..task.first + task.count)
                    .collect();
                targets.sort_unstable();
                assert!(targets.iter().copied().eq(0..all.targets as u32));
            }
        }
    }
}
