//! Interaction lists: for each brick of target points, the sources that act on it directly and those that act through
//! expansions.

use super::tree::SourceTree;
use crate::forest::{BLOCK_SIDE, Domain, Forest};
use crate::wavelet::Wavelet;
use farfield::simd::Real;
use rayon::prelude::*;

/// Points along a side of a brick.
pub const BRICK_SIDE: usize = 8;
/// Points in a brick.
pub const BRICK_POINTS: usize = BRICK_SIDE * BRICK_SIDE * BRICK_SIDE;
/// Bricks in a block. In the number of a brick, bit 0 is x, bit 1 y, bit 2 z.
pub const BRICKS_PER_BLOCK: usize = (BLOCK_SIDE / BRICK_SIDE).pow(3);

/// A cube of target points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Brick {
    /// The point with the lowest coordinates.
    pub first: [f64; 3],
    /// The distance between points.
    pub spacing: f64,
}

impl Brick {
    /// Brick number `brick` of a leaf.
    pub fn of(domain: &Domain, wavelet: Wavelet, forest: &Forest, leaf: usize, brick: usize) -> Self {
        let block = forest.leaves()[leaf];
        let corner = std::array::from_fn(|axis| ((brick >> axis & 1) * BRICK_SIDE) as isize);
        Self {
            first: domain.position(wavelet, block, corner),
            spacing: domain.spacing(block.level),
        }
    }

    /// The position of a point of the brick.
    #[inline]
    pub fn point(&self, at: [usize; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| self.first[axis] + self.spacing * at[axis] as f64)
    }

    /// The distance of `x` from the nearest point of the brick. A distance within round-off is zero: sources lie on
    /// points, and a source that is alone in its leaf must not count as far from itself.
    #[inline]
    pub fn distance(&self, x: [f64; 3]) -> f64 {
        let inverse = 1.0 / self.spacing;
        let along = |axis: usize| {
            let steps = (x[axis] - self.first[axis]) * inverse;
            // The nearest integer; `round` would be a function call.
            let steps = f64::from((steps.clamp(0.0, (BRICK_SIDE - 1) as f64) + 0.5) as i32);
            self.first[axis] + self.spacing * steps - x[axis]
        };
        let [x, y, z] = [along(0), along(1), along(2)];
        let distance = (x * x + y * y + z * z).sqrt();
        if distance > ROUNDING * self.spacing {
            distance
        } else {
            0.0
        }
    }
}

/// An upper bound of the round-off in a distance, in spacings, also in single precision.
const ROUNDING: f64 = 1e-2;

/// A range of sources that act on a brick directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectRange {
    /// The first source.
    pub start: u32,
    /// The end of the range, exclusive.
    pub end: u32,
    /// Whether some of the sources may coincide with points of the brick.
    pub touching: bool,
}

/// The lists of all bricks, in flat arrays: brick `b` has the entries `offsets[b]..offsets[b + 1]`. An expansion is
/// identified by its node.
#[derive(Debug, Clone, Default)]
pub struct BrickLists {
    direct: Vec<DirectRange>,
    direct_offsets: Vec<usize>,
    indirect: Vec<u32>,
    indirect_offsets: Vec<usize>,
    direct_sources: u64,
}

impl BrickLists {
    /// Walks the tree for every brick. A node with $a/r<\theta$ acts through its expansion, a leaf that fails this
    /// criterion acts directly, and any other node is opened. In addition, the sources of a node must be at least
    /// `clearances[node]` away from the brick to act through the expansion, which is that of the singular kernel.
    pub fn build(bricks: &[Brick], tree: &SourceTree, theta: f64, clearances: &[f64]) -> Self {
        Self::from_criterion(bricks, tree, true, |number, r| {
            let node = &tree.nodes()[number];
            node.radius < theta * r && r - node.radius >= clearances[number]
        })
    }

    /// Direct lists only: the sources of nodes nearer than their clearance.
    pub(crate) fn near(bricks: &[Brick], tree: &SourceTree, clearances: &[f64]) -> Self {
        Self::from_criterion(bricks, tree, false, |number, r| {
            r - tree.nodes()[number].radius >= clearances[number]
        })
    }

    /// Nodes for which `is_far(node, distance)` is true act through their expansions, or not at all without
    /// `expansions`.
    fn from_criterion(
        bricks: &[Brick],
        tree: &SourceTree,
        expansions: bool,
        is_far: impl Fn(usize, f64) -> bool + Sync,
    ) -> Self {
        let lists: Vec<(Vec<DirectRange>, Vec<u32>)> = bricks
            .par_iter()
            .map(|brick| {
                let (direct, indirect) = lists_of(brick, tree, &is_far);
                (direct, if expansions { indirect } else { Vec::new() })
            })
            .collect();
        let mut all = Self {
            direct_offsets: vec![0],
            indirect_offsets: vec![0],
            ..Self::default()
        };
        for (direct, indirect) in lists {
            all.direct_sources += direct
                .iter()
                .map(|range| u64::from(range.end - range.start))
                .sum::<u64>();
            all.direct.extend(direct);
            all.indirect.extend(indirect);
            all.direct_offsets.push(all.direct.len());
            all.indirect_offsets.push(all.indirect.len());
        }
        all
    }

    /// The sources that act on a brick directly.
    pub fn direct(&self, brick: usize) -> &[DirectRange] {
        &self.direct[self.direct_offsets[brick]..self.direct_offsets[brick + 1]]
    }

    /// The nodes that act on a brick through their expansions.
    pub fn indirect(&self, brick: usize) -> &[u32] {
        &self.indirect[self.indirect_offsets[brick]..self.indirect_offsets[brick + 1]]
    }

    /// The entries of all bricks with their offsets: direct, then indirect.
    pub(crate) fn flat(&self) -> (&[DirectRange], &[usize], &[u32], &[usize]) {
        (
            &self.direct,
            &self.direct_offsets,
            &self.indirect,
            &self.indirect_offsets,
        )
    }

    /// The number of pairs of a source and a target point.
    pub fn direct_interactions(&self) -> u64 {
        self.direct_sources * BRICK_POINTS as u64
    }

    /// The number of pairs of an expansion and a target point.
    pub fn indirect_interactions(&self) -> u64 {
        (self.indirect.len() * BRICK_POINTS) as u64
    }
}

fn lists_of(brick: &Brick, tree: &SourceTree, is_far: impl Fn(usize, f64) -> bool) -> (Vec<DirectRange>, Vec<u32>) {
    let (mut direct, mut indirect): (Vec<DirectRange>, Vec<u32>) = (Vec::new(), Vec::new());
    walk(brick, tree, 0, is_far, |number, met| match met {
        Met::Far => indirect.push(number as u32),
        Met::Near { touching } => {
            let node = &tree.nodes()[number];
            let (start, end) = (node.sources.start as u32, node.sources.end as u32);
            match direct.last_mut() {
                Some(last) if last.end == start && last.touching == touching => last.end = end,
                _ if start < end => direct.push(DirectRange { start, end, touching }),
                _ => {}
            }
        }
    });
    (direct, indirect)
}

/// How a node acts on a brick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Met {
    /// Through its expansion.
    Far,
    /// Source by source; if `touching`, some sources may coincide with points of the brick.
    Near { touching: bool },
}

/// Walks the tree for a brick and calls `meet` for the nodes that act on it. A node is far if `is_far(node, distance)`
/// is true. Any other leaf, and any other node with at most `capacity` sources, is near. Remaining nodes are opened.
pub(crate) fn walk(
    brick: &Brick,
    tree: &SourceTree,
    capacity: usize,
    is_far: impl Fn(usize, f64) -> bool,
    mut meet: impl FnMut(usize, Met),
) {
    let mut waiting = vec![0usize];
    while let Some(number) = waiting.pop() {
        let node = &tree.nodes()[number];
        let r = brick.distance(node.center);
        if is_far(number, r) {
            meet(number, Met::Far);
        } else if node.is_leaf() || node.sources.len() <= capacity {
            // Slightly more than the sphere, so that round-off cannot hide a point that coincides with a source.
            let touching = r <= 1.001 * node.radius + 0.5 * brick.spacing;
            meet(number, Met::Near { touching });
        } else {
            // The last child is pushed first, so that ranges come in ascending order and can be merged.
            waiting.extend(node.children.clone().rev());
        }
    }
}

/// The bricks of all leaves, block by block.
pub(crate) fn bricks<T: Real>(grid: &crate::grid::Grid<T>) -> Vec<Brick> {
    (0..grid.forest().leaves().len() * BRICKS_PER_BLOCK)
        .map(|k| {
            let (leaf, brick) = (k / BRICKS_PER_BLOCK, k % BRICKS_PER_BLOCK);
            Brick::of(grid.domain(), grid.wavelet(), grid.forest(), leaf, brick)
        })
        .collect()
}
