//! Building the tree: from points to boxes.

use super::parameters::{
    Bounds, ChooseMinLevel, CountBoxes, Keys, LinkBoxes, MarkMixed, Occupancy, ScanBoxes, Shape, SortPass, WriteBoxes,
};
use super::program;
use crate::device::{Blocks, Buffers, In, Out, Precision, RangeOf, device_struct, kernels};
use crate::error::Error;
use cudarc::driver::{CudaSlice, ValidAsZeroBits};
use std::ops::Range;

/// The largest number of levels in a key: `LEVELS` of `kernels/tree.cuh`.
const LEVELS: usize = 21;
const COLUMNS: usize = (LEVELS + 1) * 8;
/// Keys per tile of the sort, and points per block of the box count: `SORT_TILE` and `BLOCK` of `kernels/tree.cu`.
const SORT_TILE: usize = 8 * 32 * 12;
const BLOCK: usize = 1024;
const RADIX: usize = 256;

/// The parameters of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeShape {
    /// The largest number of points in a box; a box with more is cut.
    pub leaf_capacity: usize,
    /// The mean number of points per leaf to aim for.
    pub leaf_mean: f64,
    /// The side of the root cube divided by the extent of the points, in [1, 2); `None` to choose it for `leaf_mean`.
    pub root_scale: Option<f64>,
    /// The smallest side of a box.
    pub min_side: f64,
}

device_struct! {
    /// The root and the columns of boxes.
    #[derive(PartialEq)]
    pub struct Header = "Tree" {
        high: [u64; 3],
        low: [u64; 3],
        /// The root's lower corner.
        pub corner: [f64; 3],
        /// The root's side.
        pub side: f64,
        /// The deepest level; its boxes are not cut.
        pub max_level: u32,
        overfull: u32,
        most_points: u32,
        finished: u32,
        /// Boxes above this level are always cut.
        pub min_level: u32,
        mixed: u32,
        occupied: [u32; LEVELS + 1],
        /// The index of the first box of each level and octant.
        pub column_start: [u32; COLUMNS + 1],
    }
}

// SAFETY: zero bits are valid numbers.
unsafe impl ValidAsZeroBits for Header {}

device_struct! {
    /// The arrays of all boxes, as kernel parameters.
    pub(crate) struct BoxesArg = "Boxes" {
        key: In<u64>,
        sources: In<RangeOf>,
        targets: In<RangeOf>,
        parent: In<i32>,
        children: In<i32>,
        is_leaf: In<u8>,
        neighbours: In<i32>,
    }
}

/// Whether the sources are the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildKind {
    /// The sources are the targets.
    OneSet,
    /// Sources and targets differ.
    TwoSets,
}

/// A tree on the device.
#[derive(Debug)]
pub struct Octree {
    /// The root and the columns, copied to the host.
    pub header: Header,
    /// The number of boxes.
    pub boxes: usize,
    /// The deepest level.
    pub depth: usize,
    /// The largest number of points in a leaf.
    pub most_points: usize,
    pub(crate) tree: CudaSlice<Header>,
    pub(crate) key: CudaSlice<u64>,
    pub(crate) sources: CudaSlice<[u32; 2]>,
    pub(crate) targets: CudaSlice<[u32; 2]>,
    pub(crate) parent: CudaSlice<i32>,
    pub(crate) children: CudaSlice<i32>,
    pub(crate) is_leaf: CudaSlice<u8>,
    pub(crate) neighbours: CudaSlice<i32>,
    pub(crate) source_permutation: CudaSlice<u32>,
    /// Empty if the sources are the targets.
    pub(crate) target_permutation: CudaSlice<u32>,
    kind: BuildKind,
}

kernels! {
    /// The kernels that build trees.
    pub(super) struct Kernels<T> {
        bounds: Bounds<T>,
        shape: Shape<T>,
        keys: Keys<T>,
        sort_pass: SortPass,
        occupancy: Occupancy,
        choose_min_level: ChooseMinLevel,
        count_boxes: CountBoxes,
        scan_boxes: ScanBoxes,
        write_boxes: WriteBoxes,
        link_boxes: LinkBoxes,
        mark_mixed: MarkMixed,
    }
}

/// The points on the device: x, y, z of each point in turn.
pub(crate) struct DevicePoints<'a, T> {
    pub sources: &'a CudaSlice<T>,
    pub source_count: usize,
    /// `None` if the sources are the targets.
    pub targets: Option<(&'a CudaSlice<T>, usize)>,
}

/// Keys in Morton order, with the indices of their points.
struct SortedKeys {
    keys: CudaSlice<u64>,
    indices: CudaSlice<u32>,
    count: u32,
    levels: u32,
}

impl Octree {
    /// The device memory needed to build a tree over `points` points, in bytes.
    pub fn forecast(points: usize, shape: &TreeShape) -> u64 {
        let boxes = 8 * points / shape.leaf_capacity.max(1) + 64;
        (points * (24 + 24 + 12) + boxes * (8 + 16 + 16 + 4 + 32 + 1 + 108)) as u64
    }

    /// Builds the tree.
    pub(crate) fn build<T: Precision>(
        buffers: &Buffers,
        points: &DevicePoints<T>,
        shape: &TreeShape,
    ) -> Result<Self, Error> {
        let kernels = Kernels::<T>::load(buffers.device(), &program::<T>())?;
        let count = points.source_count + points.targets.map_or(0, |(_, count)| count);
        let (kind, limit) = match points.targets {
            None => (BuildKind::OneSet, shape.leaf_capacity as u32),
            Some(_) => (BuildKind::TwoSets, 2 * shape.leaf_capacity as u32),
        };
        let mut levels = first_key_levels(count, shape.leaf_capacity);
        loop {
            let (mut tree, sorted) = kernels.sort(buffers, points, shape, levels)?;
            let counts = kernels.count(buffers, points.source_count, (shape, limit), &sorted, &mut tree)?;
            let mut header = [Header::ZERO];
            buffers.read(&tree, &mut header)?;
            let [header] = header;
            // Points closer than the resolution of the keys need all levels. Points that are still equal share a leaf.
            if header.overfull != 0 && (levels as usize) < LEVELS {
                levels = LEVELS as u32;
                continue;
            }
            return kernels.link(buffers, points, kind, limit, &sorted, (tree, header), &counts);
        }
    }

    /// Whether the sources are the targets.
    pub fn kind(&self) -> BuildKind {
        self.kind
    }

    /// The boxes of a level and octant.
    pub fn column(&self, level: usize, octant: usize) -> Range<u32> {
        let at = 8 * level + octant;
        self.header.column_start[at]..self.header.column_start[at + 1]
    }

    /// The boxes of a level.
    pub fn level(&self, level: usize) -> Range<u32> {
        self.header.column_start[8 * level]..self.header.column_start[8 * (level + 1)]
    }

    /// The caller's index of each target in tree order.
    pub(crate) fn target_permutation(&self) -> &CudaSlice<u32> {
        match self.kind {
            BuildKind::OneSet => &self.source_permutation,
            BuildKind::TwoSets => &self.target_permutation,
        }
    }

    /// The arrays as kernel parameters; valid as long as the tree exists.
    pub(crate) fn arg(&self) -> BoxesArg {
        BoxesArg {
            key: In::of(&self.key),
            sources: In::of(&self.sources),
            targets: In::of(&self.targets),
            parent: In::of(&self.parent),
            children: In::of(&self.children),
            is_leaf: In::of(&self.is_leaf),
            neighbours: In::of(&self.neighbours),
        }
    }
}

impl Header {
    const ZERO: Self = Self {
        high: [0; 3],
        low: [0; 3],
        corner: [0.0; 3],
        side: 0.0,
        max_level: 0,
        overfull: 0,
        most_points: 0,
        finished: 0,
        min_level: 0,
        mixed: 0,
        occupied: [0; LEVELS + 1],
        column_start: [0; COLUMNS + 1],
    };
}

/// The number of key levels that reaches three levels below the leaves of a uniformly filled cube.
fn first_key_levels(points: usize, leaf_capacity: usize) -> u32 {
    let boxes = (points as f64 / leaf_capacity.max(1) as f64).max(1.0);
    ((boxes.log2() / 3.0).ceil() as u32 + 3).min(LEVELS as u32)
}

impl<T: Precision> Kernels<T> {
    /// Computes the bounds, the root cube and the Morton keys, and sorts the keys.
    fn sort(
        &self,
        buffers: &Buffers,
        points: &DevicePoints<T>,
        shape: &TreeShape,
        levels: u32,
    ) -> Result<(CudaSlice<Header>, SortedKeys), Error> {
        let stream = buffers.stream();
        let blocks = 4 * buffers.device().properties().multiprocessors as u32;
        let (sources, source_count) = (points.sources, points.source_count as u32);
        let (targets, target_count) = points
            .targets
            .map_or((sources, 0), |(targets, count)| (targets, count as u32));
        let count = source_count as usize + target_count as usize;
        let mut tree = buffers.zeros::<Header>(1)?;
        for (set, set_count) in [(sources, source_count), (targets, target_count)] {
            if set_count > 0 {
                self.bounds.launch(
                    stream,
                    Blocks::row(set_count.div_ceil(256).min(blocks), 256),
                    &Bounds {
                        points: In::of(set),
                        count: set_count,
                        tree: Out::of(&mut tree),
                    },
                )?;
            }
        }
        self.shape.launch(
            stream,
            Blocks::row(1, 1024),
            &Shape {
                sources: In::of(sources),
                source_count,
                targets: In::of(targets),
                target_count,
                leaf_mean: shape.leaf_mean,
                root_scale: shape.root_scale.unwrap_or(0.0),
                min_side: shape.min_side,
                key_levels: levels,
                tree: Out::of(&mut tree),
            },
        )?;

        let passes = (3 * levels).div_ceil(8);
        let tiles = count.div_ceil(SORT_TILE);
        let mut histograms = buffers.zeros::<u32>(8 * RADIX)?;
        let mut keys = [buffers.uninit::<u64>(count)?, buffers.uninit::<u64>(count)?];
        let mut indices = [buffers.uninit::<u32>(count)?, buffers.uninit::<u32>(count)?];
        for (set, set_count, first) in [(sources, source_count, 0), (targets, target_count, source_count)] {
            if set_count > 0 {
                self.keys.launch(
                    stream,
                    Blocks::row(set_count.div_ceil(512).min(2 * blocks), 256),
                    &Keys {
                        points: In::of(set),
                        count: set_count,
                        first,
                        tree: In::of(&tree),
                        key_levels: levels,
                        passes,
                        keys: Out::of(&mut keys[0]),
                        indices: Out::of(&mut indices[0]),
                        histograms: Out::of(&mut histograms),
                    },
                )?;
            }
        }
        let mut status = buffers.zeros::<u32>(passes as usize * (tiles * RADIX + 1))?;
        let (mut status, mut tickets) = status.split_at_mut(passes as usize * tiles * RADIX);
        let count = count as u32;
        for pass in 0..passes {
            let histogram = histograms.slice(pass as usize * RADIX..(pass as usize + 1) * RADIX);
            let mut status = status.slice_mut(pass as usize * tiles * RADIX..);
            let mut ticket = tickets.slice_mut(pass as usize..);
            let [keys_in, keys_out] = &mut keys;
            let [indices_in, indices_out] = &mut indices;
            self.sort_pass.launch(
                stream,
                Blocks::row(tiles as u32, 256),
                &SortPass {
                    keys: In::of(keys_in),
                    indices: In::of(indices_in),
                    count,
                    shift: 8 * pass,
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
        let sorted = SortedKeys {
            keys,
            indices,
            count,
            levels,
        };
        Ok((tree, sorted))
    }

    /// Counts boxes by column, and scans the counts to the number of boxes before each block of points.
    fn count(
        &self,
        buffers: &Buffers,
        source_count: usize,
        (shape, limit): (&TreeShape, u32),
        sorted: &SortedKeys,
        tree: &mut CudaSlice<Header>,
    ) -> Result<CudaSlice<u32>, Error> {
        let (stream, blocks) = (buffers.stream(), sorted.count.div_ceil(BLOCK as u32));
        let source_count = source_count as u32;
        let most = 8 * buffers.device().properties().multiprocessors as u32;
        self.occupancy.launch(
            stream,
            Blocks::row(blocks.min(most), 256),
            &Occupancy {
                keys: In::of(&sorted.keys),
                count: sorted.count,
                key_levels: sorted.levels,
                tree: Out::of(tree),
            },
        )?;
        self.choose_min_level.launch(
            stream,
            Blocks::row(1, 1),
            &ChooseMinLevel {
                count: sorted.count,
                leaf_mean: shape.leaf_mean,
                key_levels: sorted.levels,
                tree: Out::of(tree),
            },
        )?;
        let mut counts = buffers.uninit::<u32>(blocks as usize * (COLUMNS + 1))?;
        let mut totals = buffers.uninit::<u32>(COLUMNS + 1)?;
        self.count_boxes.launch(
            stream,
            Blocks::row(blocks, BLOCK as u32),
            &CountBoxes {
                keys: In::of(&sorted.keys),
                indices: In::of(&sorted.indices),
                count: sorted.count,
                source_count,
                key_levels: sorted.levels,
                limit,
                tree: Out::of(tree),
                counts: Out::of(&mut counts),
            },
        )?;
        self.scan_boxes.launch(
            stream,
            Blocks::row(COLUMNS as u32 + 1, RADIX as u32),
            &ScanBoxes {
                counts: Out::of(&mut counts),
                blocks,
                totals: Out::of(&mut totals),
                tree: Out::of(tree),
            },
        )?;
        Ok(counts)
    }

    /// Writes the boxes and links them to each other.
    #[allow(clippy::too_many_arguments, reason = "the results of the previous steps")]
    fn link(
        &self,
        buffers: &Buffers,
        points: &DevicePoints<T>,
        kind: BuildKind,
        limit: u32,
        sorted: &SortedKeys,
        (tree, header): (CudaSlice<Header>, Header),
        counts: &CudaSlice<u32>,
    ) -> Result<Octree, Error> {
        let stream = buffers.stream();
        let boxes = header.column_start[COLUMNS] as usize;
        let depth = (0..=LEVELS)
            .rev()
            .find(|level| header.column_start[8 * level] < header.column_start[8 * (level + 1)])
            .unwrap_or(0);
        let source_count = points.source_count as u32;
        let target_count = points.targets.map_or(0, |(_, count)| count);
        let mut box_points = buffers.uninit::<[u32; 2]>(boxes)?;
        let mut before = buffers.uninit::<u32>(sorted.count as usize + 1)?;
        let mut octree = Octree {
            header,
            boxes,
            depth,
            most_points: header.most_points.max(limit) as usize,
            tree,
            key: buffers.uninit(boxes)?,
            sources: buffers.uninit(boxes)?,
            targets: buffers.uninit(boxes)?,
            parent: buffers.uninit(boxes)?,
            children: buffers.uninit(8 * boxes)?,
            is_leaf: buffers.uninit(boxes)?,
            neighbours: buffers.uninit(27 * boxes)?,
            source_permutation: buffers.uninit(points.source_count)?,
            target_permutation: buffers.uninit(target_count)?,
            kind,
        };
        self.write_boxes.launch(
            stream,
            Blocks::over(sorted.count, BLOCK as u32),
            &WriteBoxes {
                keys: In::of(&sorted.keys),
                indices: In::of(&sorted.indices),
                count: sorted.count,
                source_count,
                key_levels: sorted.levels,
                limit,
                tree: In::of(&octree.tree),
                counts: In::of(counts),
                box_key: Out::of(&mut octree.key),
                box_points: Out::of(&mut box_points),
                before: Out::of(&mut before),
                source_permutation: Out::of(&mut octree.source_permutation),
                target_permutation: Out::of(&mut octree.target_permutation),
            },
        )?;
        // One warp per box.
        let warps = Blocks::row((boxes as u32).div_ceil(8), 256);
        self.link_boxes.launch(
            stream,
            warps,
            &LinkBoxes {
                tree: In::of(&octree.tree),
                boxes: boxes as u32,
                box_key: In::of(&octree.key),
                box_points: In::of(&box_points),
                before: In::of(&before),
                one_set: u32::from(kind == BuildKind::OneSet),
                key_levels: sorted.levels,
                limit,
                sources: Out::of(&mut octree.sources),
                targets: Out::of(&mut octree.targets),
                parent: Out::of(&mut octree.parent),
                children: Out::of(&mut octree.children),
                is_leaf: Out::of(&mut octree.is_leaf),
                neighbours: Out::of(&mut octree.neighbours),
            },
        )?;
        self.mark_mixed.launch(
            stream,
            warps,
            &MarkMixed {
                boxes: boxes as u32,
                is_leaf: In::of(&octree.is_leaf),
                neighbours: In::of(&octree.neighbours),
                tree: Out::of(&mut octree.tree),
            },
        )?;
        Ok(octree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_reach_below_the_leaves() {
        assert_eq!(first_key_levels(1, 30), 3);
        assert_eq!(first_key_levels(1_000_000, 60), 8);
        assert_eq!(first_key_levels(usize::MAX, 1), 21);
    }
}
