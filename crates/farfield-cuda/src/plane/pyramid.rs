//! From points to boxes: the balanced pyramid, built and kept on the device.
//!
//! Every box is cut twice at the median, across the longer side of the rectangle around its points.
//! `kernels/plane_pyramid.cu` says how.

use super::{first_of_level, pyramid_program};
use crate::device::{Buffers, Precision, kernels, launch};
use crate::error::Error;
use crate::tree::Points;
use cudarc::driver::{CudaSlice, DeviceRepr};

/// Keys of a tile of the sort: `SORT_TILE` of `kernels/sort.cuh`.
const SORT_TILE: usize = 8 * 32 * 12;
const RADIX: usize = 256;
/// `CUT_TILE`, `BLOCK_POINTS`, `BLOCK_THREADS` and `ORDER_THREADS` of `kernels/plane_pyramid.cu`.
const CUT_TILE: usize = 4096;
const BLOCK_POINTS: usize = 2048;
const BLOCK_THREADS: u32 = 512;
const ORDER_THREADS: usize = 1024;

/// A box's circle and the unit of its expansions: `Box` of `kernels/plane.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BoxOf<T> {
    pub centre: [T; 2],
    pub radius: T,
    pub scale: T,
}

// SAFETY: four numbers, as in the kernels' struct.
unsafe impl<T: DeviceRepr> DeviceRepr for BoxOf<T> {}

/// Points, leaf by leaf.
#[derive(Debug)]
pub(crate) struct Sorted<T> {
    pub count: u32,
    /// x and y of each.
    pub positions: CudaSlice<T>,
    /// The caller's number of each.
    pub order: CudaSlice<u32>,
    /// Where each leaf starts, and at last the number of points.
    pub leaf_start: CudaSlice<u32>,
}

/// The boxes and the points in their order.
#[derive(Debug)]
pub(crate) struct Pyramid<T> {
    /// The number of the finest level.
    pub depth: usize,
    /// All levels, the coarsest first.
    pub boxes: CudaSlice<BoxOf<T>>,
    pub sources: Sorted<T>,
    /// `None`: the sources are the targets.
    pub targets: Option<Sorted<T>>,
}

kernels! {
    /// The kernels that build pyramids.
    struct Kernels {
        keys,
        sort_pass,
        rank_points,
        pair_ranks,
        count_upper,
        partition,
        cut_in_blocks,
        count_sources,
        scan_counts,
        order_points,
        circles,
    }
}

/// Points sorted along both axes: the x axis first.
struct Orders {
    count: u32,
    keys: CudaSlice<u64>,
    indices: CudaSlice<u32>,
}

impl<T: Precision> Pyramid<T> {
    /// Bytes of device memory for a pyramid over so many points, while it is built.
    pub fn forecast(points: usize, depth: usize) -> u64 {
        let number = std::mem::size_of::<T>();
        let boxes = first_of_level(depth + 1);
        // Keys and indices twice along two axes, ranks, both lists twice; positions, order.
        (points * (48 + 4 + 32 + 2 * number + 4) + boxes * (8 * number + 8)) as u64
    }

    /// Cuts the plane `depth` times four.
    pub fn build(buffers: &Buffers, points: &Points<T>, depth: usize) -> Result<Self, Error> {
        let kernels = Kernels::load(buffers.device(), &pyramid_program::<T>())?;
        let orders = kernels.sort(buffers, points)?;
        let mut rectangles = buffers.uninit::<T>(4 * first_of_level(depth + 1))?;
        let lists = kernels.cut(buffers, &orders, 2 * depth as u32, &mut rectangles)?;
        kernels.arrange(buffers, points, &orders, &lists, &rectangles, depth)
    }

    /// Where the targets are.
    pub fn targets(&self) -> &Sorted<T> {
        self.targets.as_ref().unwrap_or(&self.sources)
    }

    /// The number of leaves.
    pub fn leaves(&self) -> usize {
        1 << (2 * self.depth)
    }

    /// The number of boxes of all levels.
    pub fn box_count(&self) -> usize {
        first_of_level(self.depth + 1)
    }
}

impl Kernels {
    /// Sorts the points along x and along y, both at once.
    fn sort<T: Precision>(&self, buffers: &Buffers, points: &Points<T>) -> Result<Orders, Error> {
        let stream = buffers.stream();
        let source_count = points.source_count as u32;
        let target_count = points.targets.map_or(0, |(_, count)| count as u32);
        let count = source_count + target_count;
        let passes = std::mem::size_of::<T>() as u32;
        let both = 2 * count as usize;
        let mut histograms = buffers.zeros::<u32>(16 * RADIX)?;
        let mut keys = [buffers.uninit::<u64>(both)?, buffers.uninit::<u64>(both)?];
        let mut indices = [buffers.uninit::<u32>(both)?, buffers.uninit::<u32>(both)?];
        let blocks = 8 * buffers.device().properties().multiprocessors as u32;
        let targets = points.targets.map_or(points.sources, |(targets, _)| targets);
        for (set, set_count, first) in [(points.sources, source_count, 0), (targets, target_count, source_count)] {
            if set_count > 0 {
                launch!(stream, self.keys, (set_count.div_ceil(512).min(blocks), 1, 1), 256, 0;
                    set, &set_count, &first, &count, &passes, &mut keys[0], &mut indices[0], &mut histograms);
            }
        }
        let tiles = (count as usize).div_ceil(SORT_TILE);
        let words = 2 * tiles * RADIX;
        let mut status = buffers.zeros::<u32>(passes as usize * (words + 2))?;
        let (mut status, mut tickets) = status.split_at_mut(passes as usize * words);
        for pass in 0..passes as usize {
            let histogram = histograms.slice(pass * RADIX..);
            let mut status = status.slice_mut(pass * words..);
            let mut ticket = tickets.slice_mut(2 * pass..);
            let [keys_in, keys_out] = &mut keys;
            let [indices_in, indices_out] = &mut indices;
            let shift = 8 * pass as u32;
            launch!(stream, self.sort_pass, (tiles as u32, 2, 1), 256, 0;
                &*keys_in, &*indices_in, &count, &shift, &histogram, &mut status, &mut ticket, keys_out, indices_out);
            keys.swap(0, 1);
            indices.swap(0, 1);
        }
        let ([keys, _], [indices, _]) = (keys, indices);
        Ok(Orders { count, keys, indices })
    }

    /// Cuts all boxes `cuts` times in two and returns their points' ranks.
    fn cut<T: Precision>(
        &self,
        buffers: &Buffers,
        orders: &Orders,
        cuts: u32,
        rectangles: &mut CudaSlice<T>,
    ) -> Result<CudaSlice<[u32; 2]>, Error> {
        let stream = buffers.stream();
        let (count, n) = (orders.count, orders.count as usize);
        let grid = (count.div_ceil(256), 1, 1);
        let mut ranks = buffers.uninit::<u32>(n)?;
        launch!(stream, self.rank_points, grid, 256, 0; &orders.indices, &count, &mut ranks);
        let mut lists = [buffers.uninit::<[u32; 2]>(2 * n)?, buffers.uninit::<[u32; 2]>(2 * n)?];
        launch!(stream, self.pair_ranks, grid, 256, 0; &orders.indices, &ranks, &count, &mut lists[0]);
        let in_blocks = first_cut_in_blocks(n).min(cuts);
        let tiles_of = |cut: u32| largest_box(n, cut).div_ceil(CUT_TILE);
        let most_tiles = (0..=in_blocks).map(|cut| tiles_of(cut) << cut).max().unwrap_or(1);
        let mut counts = buffers.uninit::<u32>(most_tiles)?;
        for cut in 0..in_blocks {
            let tiles = tiles_of(cut) as u32;
            let grid = (tiles << cut, 1, 1);
            let [before, after] = &mut lists;
            launch!(stream, self.count_upper, grid, 256, 0;
                &orders.keys, &*before, &count, &cut, &tiles, &mut counts, &mut *rectangles);
            launch!(stream, self.partition, grid, 256, 0;
                &orders.keys, &*before, &count, &cut, &tiles, &counts, after);
            lists.swap(0, 1);
        }
        let [mut lists, _] = lists;
        if largest_box(n, in_blocks) <= BLOCK_POINTS {
            launch!(stream, self.cut_in_blocks, (1 << in_blocks, 1, 1), BLOCK_THREADS, 0;
                &orders.keys, &mut lists, &count, &in_blocks, &cuts, rectangles);
        } else {
            // Leaves too large for a block: nothing is left to cut, but their rectangles are still to be written.
            let tiles = tiles_of(cuts) as u32;
            launch!(stream, self.count_upper, (tiles << cuts, 1, 1), 256, 0;
                &orders.keys, &lists, &count, &cuts, &tiles, &mut counts, rectangles);
        }
        Ok(lists)
    }

    /// Points in the pyramid's order, and the circles around its boxes.
    fn arrange<T: Precision>(
        &self,
        buffers: &Buffers,
        points: &Points<T>,
        orders: &Orders,
        lists: &CudaSlice<[u32; 2]>,
        rectangles: &CudaSlice<T>,
        depth: usize,
    ) -> Result<Pyramid<T>, Error> {
        let stream = buffers.stream();
        let sorted = |count: usize| -> Result<Sorted<T>, Error> {
            Ok(Sorted {
                count: count as u32,
                positions: buffers.uninit(2 * count)?,
                order: buffers.uninit(count)?,
                leaf_start: buffers.uninit((1 << (2 * depth)) + 1)?,
            })
        };
        let mut sources = sorted(points.source_count)?;
        let (count, cuts) = (orders.count, 2 * depth as u32);
        let blocks = count.div_ceil(ORDER_THREADS as u32);
        let targets = match points.targets {
            None => {
                let none = 0u64;
                launch!(stream, self.order_points, (blocks, 1, 1), ORDER_THREADS as u32, 0;
                    &orders.keys, lists, &orders.indices, &count, &sources.count, &cuts, &none, &mut sources.positions,
                    &mut sources.order, &mut sources.leaf_start, &none, &none, &none);
                None
            }
            Some((_, target_count)) => {
                let mut targets = sorted(target_count)?;
                let mut counts = buffers.uninit::<u32>(blocks as usize)?;
                launch!(stream, self.count_sources, (blocks, 1, 1), ORDER_THREADS as u32, 0;
                    lists, &orders.indices, &count, &sources.count, &mut counts);
                launch!(stream, self.scan_counts, (1, 1, 1), RADIX as u32, 0; &mut counts, &blocks);
                launch!(stream, self.order_points, (blocks, 1, 1), ORDER_THREADS as u32, 0;
                    &orders.keys, lists, &orders.indices, &count, &sources.count, &cuts, &counts, &mut sources.positions,
                    &mut sources.order, &mut sources.leaf_start, &mut targets.positions, &mut targets.order,
                    &mut targets.leaf_start);
                Some(targets)
            }
        };
        let boxes = first_of_level(depth + 1);
        let mut circles = buffers.uninit::<BoxOf<T>>(boxes)?;
        let box_count = boxes as u32;
        launch!(stream, self.circles, (box_count.div_ceil(128), 1, 1), 128, 0; rectangles, &box_count, &mut circles);
        Ok(Pyramid {
            depth,
            boxes: circles,
            sources,
            targets,
        })
    }
}

/// The most points of a box after so many cuts.
fn largest_box(points: usize, cuts: u32) -> usize {
    points.div_ceil(1 << cuts)
}

/// The first cut whose boxes fit into a block.
fn first_cut_in_blocks(points: usize) -> u32 {
    (0..).find(|cut| largest_box(points, *cut) <= BLOCK_POINTS).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_take_over_as_soon_as_boxes_fit() {
        assert_eq!(first_cut_in_blocks(1), 0);
        assert_eq!(first_cut_in_blocks(2048), 0);
        assert_eq!(first_cut_in_blocks(2049), 1);
        assert_eq!(first_cut_in_blocks(1_000_000), 9);
        assert_eq!(largest_box(1_000_000, 9), 1954);
    }
}
