//! The tree alone, timed and copied to the host: for the evidence, which compares it with its definition. Unstable.

use crate::device::{AnyBits, Buffers, Device, Precision, Timeline};
use crate::error::Error;
use crate::tree::{BuildKind, DevicePoints, Header, Octree, TreeShape};
use cudarc::driver::CudaSlice;
use farfield_core::report::{Phase, Seconds};
use std::ops::Range;
use std::sync::Arc;

/// A tree as a device built it, copied to the host.
#[derive(Debug, Clone)]
pub struct HostTree {
    /// Seconds of the device, from points in its memory to boxes with their points, children and neighbours.
    pub seconds: f64,
    /// Its root and limits.
    pub header: Header,
    /// How sources and targets share it.
    pub kind: BuildKind,
    /// The number of the deepest level.
    pub depth: usize,
    /// The level of each box.
    pub level: Vec<u32>,
    /// The Morton key of each box on its level.
    pub key: Vec<u64>,
    /// First and end of each box's sources among the sorted ones.
    pub sources: Vec<[u32; 2]>,
    /// First and end of each box's targets among the sorted ones.
    pub targets: Vec<[u32; 2]>,
    /// The parent of each box; -1 of the root.
    pub parent: Vec<i32>,
    /// Eight children of each box that have sources; -1 where there is none.
    pub children: Vec<i32>,
    /// One for a box that is not cut.
    pub is_leaf: Vec<u8>,
    /// The 27 boxes around each box and itself; -1 where there is none.
    pub neighbours: Vec<i32>,
    /// The caller's index of each sorted source.
    pub source_permutation: Vec<u32>,
    /// The same of targets; empty where they are the sources.
    pub target_permutation: Vec<u32>,
    /// The boxes of each level and octant lie together: where, level by level.
    columns: Vec<Range<u32>>,
}

impl HostTree {
    /// Builds a tree on a device and copies it.
    ///
    /// # Errors
    /// Those of the device.
    pub fn build<T: Precision>(
        device: &Arc<Device>,
        sources: &[[T; 3]],
        targets: Option<&[[T; 3]]>,
        shape: &TreeShape,
    ) -> Result<Self, Error> {
        let buffers = Buffers::new(device)?;
        let device_sources = buffers.upload(sources.as_flattened())?;
        let device_targets = targets
            .map(|targets| buffers.upload(targets.as_flattened()))
            .transpose()?;
        let points = DevicePoints {
            sources: &device_sources,
            source_count: sources.len(),
            targets: device_targets.as_ref().zip(targets.map(<[_]>::len)),
        };
        buffers.wait()?;
        let mut timeline = Timeline::start(buffers.stream())?;
        let tree = Octree::build(&buffers, &points, shape)?;
        timeline.end(Phase::Tree)?;
        buffers.wait()?;
        let mut seconds = Seconds::default();
        timeline.add_to(&mut seconds)?;
        let n = tree.boxes;
        let mut level = vec![0; n];
        for at in 0..=tree.depth {
            let range = tree.level(at);
            level[range.start as usize..range.end as usize].fill(at as u32);
        }
        Ok(Self {
            seconds: seconds.of(Phase::Tree),
            header: tree.header,
            kind: tree.kind(),
            depth: tree.depth,
            level,
            key: read(&buffers, &tree.key, n, 0)?,
            sources: read(&buffers, &tree.sources, n, [0; 2])?,
            targets: read(&buffers, &tree.targets, n, [0; 2])?,
            parent: read(&buffers, &tree.parent, n, 0)?,
            children: read(&buffers, &tree.children, 8 * n, 0)?,
            is_leaf: read(&buffers, &tree.is_leaf, n, 0)?,
            neighbours: read(&buffers, &tree.neighbours, 27 * n, 0)?,
            source_permutation: read(&buffers, &tree.source_permutation, sources.len(), 0)?,
            target_permutation: read(&buffers, &tree.target_permutation, targets.map_or(0, <[_]>::len), 0)?,
            columns: (0..=tree.depth)
                .flat_map(|level| (0..8).map(move |octant| (level, octant)))
                .map(|(level, octant)| tree.column(level, octant))
                .collect(),
        })
    }

    /// The boxes of a level that are the same octant of their parents.
    pub fn column(&self, level: usize, octant: usize) -> &Range<u32> {
        &self.columns[8 * level + octant]
    }
}

fn read<E: AnyBits + Clone>(buffers: &Buffers, from: &CudaSlice<E>, length: usize, blank: E) -> Result<Vec<E>, Error> {
    let mut values = vec![blank; length];
    buffers.read(from, &mut values)?;
    Ok(values)
}
