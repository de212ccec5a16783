//! The balanced pyramid of boxes, built and kept on the device.
//!
//! Every box is cut twice at the median, across the longer side of the rectangle around its points; see
//! `kernels/plane_pyramid.cu`.

use super::{first_of_level, pyramid_program};
use crate::device::{
    Blocks, Buffers, Complex, In, Out, Pair, Precision, Rectangle, device_struct, kernels, parameters,
};
use crate::error::Error;
use crate::tree::{DevicePoints, SortPass};
use cudarc::driver::CudaSlice;

/// The number of keys of a tile of the sort: `SORT_TILE` of `kernels/sort.cuh`.
const SORT_TILE: usize = 8 * 32 * 12;
const RADIX: usize = 256;
/// `CUT_TILE`, `BLOCK_POINTS`, `BLOCK_THREADS` and `ORDER_THREADS` of `kernels/plane_pyramid.cu`.
const CUT_TILE: usize = 4096;
const BLOCK_POINTS: usize = 2048;
const BLOCK_THREADS: u32 = 512;
const ORDER_THREADS: usize = 1024;

device_struct! {
    /// A box's circle and the unit of its expansions.
    #[derive(PartialEq)]
    pub(crate) struct BoxOf<T> = "Box" { pub x: T, pub y: T, pub radius: T, pub scale: T }
}

/// Points sorted by leaf.
#[derive(Debug)]
pub(crate) struct Sorted<T> {
    pub count: u32,
    /// x and y of each point.
    pub positions: CudaSlice<T>,
    /// The caller's index of each point.
    pub permutation: CudaSlice<u32>,
    /// The first point of each leaf, followed by the number of points.
    pub leaf_start: CudaSlice<u32>,
}

/// The boxes and the points in their order.
#[derive(Debug)]
pub(crate) struct Pyramid<T> {
    /// The index of the finest level.
    pub depth: usize,
    /// The boxes of all levels, the coarsest first.
    pub boxes: CudaSlice<BoxOf<T>>,
    pub sources: Sorted<T>,
    /// `None` if the sources are the targets.
    pub targets: Option<Sorted<T>>,
}

kernels! {
    /// The kernels that build pyramids.
    pub(super) struct Kernels<T> {
        keys: Keys<T>,
        sort_pass: SortPass,
        rank_points: RankPoints,
        pair_ranks: PairRanks,
        count_upper: CountUpper<T>,
        partition: Partition,
        cut_in_blocks: CutInBlocks<T>,
        count_sources: CountSources,
        scan_counts: ScanCounts,
        permute_points: PermutePoints<T>,
        circles: Circles<T>,
    }
}

parameters! {
    /// Parameters of `keys`.
    pub(super) struct Keys<T> {
        points: In<T>,
        count: u32,
        first: u32,
        total: u32,
        passes: u32,
        keys: Out<u64>,
        indices: Out<u32>,
        histograms: Out<u32>,
    }

    /// Parameters of `rank_points`.
    pub(super) struct RankPoints { indices: In<u32>, count: u32, ranks: Out<u32> }

    /// Parameters of `pair_ranks`.
    pub(super) struct PairRanks { indices: In<u32>, ranks: In<u32>, count: u32, lists: Out<Pair> }

    /// Parameters of `count_upper`.
    pub(super) struct CountUpper<T> {
        keys: In<u64>,
        lists: In<Pair>,
        count: u32,
        cut: u32,
        tiles: u32,
        counts: Out<u32>,
        rectangles: Out<Rectangle<T>>,
    }

    /// Parameters of `partition`.
    pub(super) struct Partition {
        keys: In<u64>,
        lists: In<Pair>,
        count: u32,
        cut: u32,
        tiles: u32,
        counts: In<u32>,
        cut_lists: Out<Pair>,
    }

    /// Parameters of `cut_in_blocks`.
    pub(super) struct CutInBlocks<T> {
        keys: In<u64>,
        lists: Out<Pair>,
        count: u32,
        first_cut: u32,
        last_cut: u32,
        rectangles: Out<Rectangle<T>>,
    }

    /// Parameters of `count_sources`.
    pub(super) struct CountSources {
        lists: In<Pair>,
        indices: In<u32>,
        count: u32,
        source_count: u32,
        counts: Out<u32>,
    }

    /// Parameters of `scan_counts`.
    pub(super) struct ScanCounts { counts: Out<u32>, length: u32 }

    /// Parameters of `permute_points`; if the sources are the targets, it takes no counts and no targets.
    pub(super) struct PermutePoints<T> {
        keys: In<u64>,
        lists: In<Pair>,
        indices: In<u32>,
        count: u32,
        source_count: u32,
        last_cut: u32,
        counts: In<u32>,
        sources: Out<Complex<T>>,
        source_permutation: Out<u32>,
        source_start: Out<u32>,
        targets: Out<Complex<T>>,
        target_permutation: Out<u32>,
        target_start: Out<u32>,
    }

    /// Parameters of `circles`.
    pub(super) struct Circles<T> { rectangles: In<Rectangle<T>>, boxes: u32, out: Out<BoxOf<T>> }
}

/// Points sorted along both axes, x first.
struct Orders {
    count: u32,
    keys: CudaSlice<u64>,
    indices: CudaSlice<u32>,
}

impl<T: Precision> Pyramid<T> {
    /// Bytes of device memory for a pyramid over `points` points while it is built.
    pub fn forecast(points: usize, depth: usize) -> u64 {
        let number = std::mem::size_of::<T>();
        let boxes = first_of_level(depth + 1);
        // Keys and indices twice along two axes, ranks, both lists twice; positions and permutation.
        (points * (48 + 4 + 32 + 2 * number + 4) + boxes * (8 * number + 8)) as u64
    }

    /// Builds a pyramid in which the plane is cut into four `depth` times.
    pub fn build(buffers: &Buffers, points: &DevicePoints<T>, depth: usize) -> Result<Self, Error> {
        let kernels = Kernels::<T>::load(buffers.device(), &pyramid_program::<T>())?;
        let orders = kernels.sort(buffers, points)?;
        let mut rectangles = buffers.uninit::<T>(4 * first_of_level(depth + 1))?;
        let lists = kernels.cut(buffers, &orders, 2 * depth as u32, &mut rectangles)?;
        kernels.arrange(buffers, points, &orders, &lists, &rectangles, depth)
    }

    /// The sorted targets, which may be the sources.
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

impl<T: Precision> Kernels<T> {
    /// Sorts the points along x and along y, both at once.
    fn sort(&self, buffers: &Buffers, points: &DevicePoints<T>) -> Result<Orders, Error> {
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
                self.keys.launch(
                    stream,
                    Blocks::row(set_count.div_ceil(512).min(blocks), 256),
                    &Keys {
                        points: In::of(set),
                        count: set_count,
                        first,
                        total: count,
                        passes,
                        keys: Out::of(&mut keys[0]),
                        indices: Out::of(&mut indices[0]),
                        histograms: Out::of(&mut histograms),
                    },
                )?;
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
            self.sort_pass.launch(
                stream,
                Blocks::new((tiles as u32, 2, 1), 256),
                &SortPass {
                    keys: In::of(keys_in),
                    indices: In::of(indices_in),
                    count,
                    shift: 8 * pass as u32,
                    histogram: In::of(&histogram),
                    status: Out::of(&mut status),
                    ticket: Out::of(&mut ticket),
                    sorted_keys: Out::of(keys_out),
                    sorted_indices: Out::of(indices_out),
                },
            )?;
            keys.swap(0, 1);
            indices.swap(0, 1);
        }
        let ([keys, _], [indices, _]) = (keys, indices);
        Ok(Orders { count, keys, indices })
    }

    /// Cuts all boxes in two `cuts` times and returns the ranks of their points.
    fn cut(
        &self,
        buffers: &Buffers,
        orders: &Orders,
        cuts: u32,
        rectangles: &mut CudaSlice<T>,
    ) -> Result<CudaSlice<[u32; 2]>, Error> {
        let stream = buffers.stream();
        let (count, n) = (orders.count, orders.count as usize);
        let mut ranks = buffers.uninit::<u32>(n)?;
        self.rank_points.launch(
            stream,
            Blocks::over(count, 256),
            &RankPoints {
                indices: In::of(&orders.indices),
                count,
                ranks: Out::of(&mut ranks),
            },
        )?;
        let mut lists = [buffers.uninit::<[u32; 2]>(2 * n)?, buffers.uninit::<[u32; 2]>(2 * n)?];
        self.pair_ranks.launch(
            stream,
            Blocks::over(count, 256),
            &PairRanks {
                indices: In::of(&orders.indices),
                ranks: In::of(&ranks),
                count,
                lists: Out::of(&mut lists[0]),
            },
        )?;
        let in_blocks = first_cut_in_blocks(n).min(cuts);
        let tiles_of = |cut: u32| largest_box(n, cut).div_ceil(CUT_TILE);
        let most_tiles = (0..=in_blocks).map(|cut| tiles_of(cut) << cut).max().unwrap_or(1);
        let mut counts = buffers.uninit::<u32>(most_tiles)?;
        for cut in 0..in_blocks {
            let tiles = tiles_of(cut) as u32;
            let blocks = Blocks::row(tiles << cut, 256);
            let [before, after] = &mut lists;
            self.count_upper.launch(
                stream,
                blocks,
                &CountUpper {
                    keys: In::of(&orders.keys),
                    lists: In::of(before),
                    count,
                    cut,
                    tiles,
                    counts: Out::of(&mut counts),
                    rectangles: Out::of(rectangles),
                },
            )?;
            self.partition.launch(
                stream,
                blocks,
                &Partition {
                    keys: In::of(&orders.keys),
                    lists: In::of(before),
                    count,
                    cut,
                    tiles,
                    counts: In::of(&counts),
                    cut_lists: Out::of(after),
                },
            )?;
            lists.swap(0, 1);
        }
        let [mut lists, _] = lists;
        if largest_box(n, in_blocks) <= BLOCK_POINTS {
            self.cut_in_blocks.launch(
                stream,
                Blocks::row(1 << in_blocks, BLOCK_THREADS),
                &CutInBlocks {
                    keys: In::of(&orders.keys),
                    lists: Out::of(&mut lists),
                    count,
                    first_cut: in_blocks,
                    last_cut: cuts,
                    rectangles: Out::of(rectangles),
                },
            )?;
        } else {
            // Leaves too large for a block: all cuts are done, but their rectangles must still be written.
            let tiles = tiles_of(cuts) as u32;
            self.count_upper.launch(
                stream,
                Blocks::row(tiles << cuts, 256),
                &CountUpper {
                    keys: In::of(&orders.keys),
                    lists: In::of(&lists),
                    count,
                    cut: cuts,
                    tiles,
                    counts: Out::of(&mut counts),
                    rectangles: Out::of(rectangles),
                },
            )?;
        }
        Ok(lists)
    }

    /// Arranges points in the pyramid's order, and finds the circles around its boxes.
    fn arrange(
        &self,
        buffers: &Buffers,
        points: &DevicePoints<T>,
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
                permutation: buffers.uninit(count)?,
                leaf_start: buffers.uninit((1 << (2 * depth)) + 1)?,
            })
        };
        let mut sources = sorted(points.source_count)?;
        let (count, cuts) = (orders.count, 2 * depth as u32);
        let blocks = count.div_ceil(ORDER_THREADS as u32);
        let mut targets = points.targets.map(|(_, count)| sorted(count)).transpose()?;
        let mut counts = buffers.uninit::<u32>(blocks as usize)?;
        let points_in_blocks = Blocks::row(blocks, ORDER_THREADS as u32);
        if targets.is_some() {
            self.count_sources.launch(
                stream,
                points_in_blocks,
                &CountSources {
                    lists: In::of(lists),
                    indices: In::of(&orders.indices),
                    count,
                    source_count: sources.count,
                    counts: Out::of(&mut counts),
                },
            )?;
            self.scan_counts.launch(
                stream,
                Blocks::row(1, RADIX as u32),
                &ScanCounts {
                    counts: Out::of(&mut counts),
                    length: blocks,
                },
            )?;
        }
        let others = targets.as_mut();
        let (target_positions, target_permutation, target_start) =
            others.map_or((Out::NONE, Out::NONE, Out::NONE), |others| {
                (
                    Out::of(&mut others.positions),
                    Out::of(&mut others.permutation),
                    Out::of(&mut others.leaf_start),
                )
            });
        self.permute_points.launch(
            stream,
            points_in_blocks,
            &PermutePoints {
                keys: In::of(&orders.keys),
                lists: In::of(lists),
                indices: In::of(&orders.indices),
                count,
                source_count: sources.count,
                last_cut: cuts,
                counts: In::of_any(points.targets.map(|_| &counts)),
                sources: Out::of(&mut sources.positions),
                source_permutation: Out::of(&mut sources.permutation),
                source_start: Out::of(&mut sources.leaf_start),
                targets: target_positions,
                target_permutation,
                target_start,
            },
        )?;
        let boxes = first_of_level(depth + 1);
        let mut circles = buffers.uninit::<BoxOf<T>>(boxes)?;
        self.circles.launch(
            stream,
            Blocks::over(boxes as u32, 128),
            &Circles {
                rectangles: In::of(rectangles),
                boxes: boxes as u32,
                out: Out::of(&mut circles),
            },
        )?;
        Ok(Pyramid {
            depth,
            boxes: circles,
            sources,
            targets,
        })
    }
}

/// The largest number of points in a box after `cuts` cuts.
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
