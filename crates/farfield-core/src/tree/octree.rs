//! The adaptive octree.

use super::morton::{self, KEY_LEVELS};
use super::sort::{Keyed, index_of, key_of, keyed, sort_by_key};
use crate::pages::zeroed;
use crate::simd::Real;
use rayon::prelude::*;
use std::ops::Range;
use std::time::Instant;

/// The deepest level. Coordinates of boxes are 64-bit integers.
pub const MAX_LEVEL: u32 = 60;

/// A box of the tree.
#[derive(Debug, Clone)]
pub struct Node {
    /// The number of times the root was halved.
    pub level: u32,
    /// Position among the boxes of its level.
    pub cell: [u64; 3],
    /// The level at which the current keys of its points start.
    key_base: u32,
    /// The parent box (the root is its own parent).
    pub parent: u32,
    /// The octant of the parent: bit 0 is x, 1 is y, 2 is z.
    pub octant: u8,
    /// The child boxes; empty for a leaf.
    pub children: Range<u32>,
    /// The sources in this box, in tree order.
    pub sources: Range<u32>,
    /// The targets in this box, in tree order.
    pub targets: Range<u32>,
}

impl Node {
    /// Whether the box has no children.
    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    /// The number of sources in this box.
    pub fn source_count(&self) -> usize {
        self.sources.len()
    }

    /// The number of targets in this box.
    pub fn target_count(&self) -> usize {
        self.targets.len()
    }

    /// Whether the boxes touch (or overlap).
    pub fn is_adjacent(&self, other: &Node) -> bool {
        let (fine, coarse) = if self.level >= other.level {
            (self, other)
        } else {
            (other, self)
        };
        let shift = fine.level - coarse.level;
        (0..3).all(|axis| {
            // The coarse box spans [low, high) in fine cells; cells at a distance of at most one touch it.
            let low = coarse.cell[axis] << shift;
            let high = low + (1 << shift);
            fine.cell[axis] + 1 >= low && fine.cell[axis] <= high
        })
    }
}

/// The parameters of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeShape {
    /// The largest number of sources or targets in a box; a box with more is cut.
    pub leaf_capacity: usize,
    /// The side of the root cube divided by the largest extent of the points, in [1, 2). It allows any size of leaves.
    pub root_scale: f64,
    /// The smallest side of a box.
    pub min_side: f64,
}

/// The tree: boxes level by level, in Morton order within a level.
#[derive(Debug, Clone)]
pub struct Octree {
    /// The lower corner of the root cube.
    pub corner: [f64; 3],
    /// The side of the root cube.
    pub side: f64,
    /// All boxes, the root first.
    pub nodes: Vec<Node>,
    /// The boxes of each level.
    pub levels: Vec<Range<usize>>,
    /// `source_permutation[k]` is the caller's index of the k-th source in tree order.
    pub source_permutation: Vec<u32>,
    /// The caller's index of the k-th target in tree order; empty if the sources are the targets.
    pub target_permutation: Vec<u32>,
    /// Whether some leaf exceeds its capacity because all its points are equal.
    pub has_overfull_duplicates: bool,
    /// The time for the keys and the first sort.
    pub sort_seconds: f64,
}

/// The bounding box of all points: lower corner and extent per axis.
pub fn bounds<T: Real>(sets: &[&[[T; 3]]]) -> ([f64; 3], [f64; 3]) {
    let start = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let join = |a: ([f64; 3], [f64; 3]), b: ([f64; 3], [f64; 3])| {
        let mut out = a;
        for axis in 0..3 {
            out.0[axis] = a.0[axis].min(b.0[axis]);
            out.1[axis] = a.1[axis].max(b.1[axis]);
        }
        out
    };
    let (low, high) = sets
        .iter()
        .flat_map(|set| {
            set.par_chunks(1 << 14)
                .map(|part| {
                    part.iter().fold(start, |sum, point| {
                        let p = point.map(Real::to_f64);
                        join(sum, (p, p))
                    })
                })
                .collect::<Vec<_>>()
        })
        .fold(start, join);
    if low[0] > high[0] {
        ([0.0; 3], [0.0; 3])
    } else {
        (low, std::array::from_fn(|axis| high[axis] - low[axis]))
    }
}

/// Sorts one set of points into tree order.
struct PointSorter<'a, T> {
    points: &'a [[T; 3]],
    pairs: Vec<Keyed>,
    scratch: Vec<Keyed>,
}

impl<'a, T: Real> PointSorter<'a, T> {
    fn new(points: &'a [[T; 3]], corner: [f64; 3], side: f64, levels: u32) -> Self {
        let inverse_side = 1.0 / side;
        let mut pairs = zeroed(0, points.len());
        pairs
            .par_iter_mut()
            .zip(points)
            .enumerate()
            .with_min_len(4096)
            .for_each(|(index, (pair, point))| {
                *pair = keyed(
                    morton::key(point.map(Real::to_f64), corner, inverse_side, levels),
                    index as u32,
                );
            });
        let mut scratch = zeroed(0, points.len());
        sort_by_key(&mut pairs, &mut scratch, 3 * levels);
        Self { points, pairs, scratch }
    }

    /// Sorts the range by new keys inside the given cube; returns whether all its points are equal.
    fn rekey(&mut self, range: Range<u32>, corner: [f64; 3], side: f64) -> bool {
        let range = range.start as usize..range.end as usize;
        let (pairs, inverse_side) = (&mut self.pairs[range.clone()], 1.0 / side);
        let Some(first) = pairs.first().map(|pair| self.points[index_of(*pair) as usize]) else {
            return true;
        };
        let mut all_equal = true;
        for pair in pairs.iter_mut() {
            let index = index_of(*pair);
            let point = self.points[index as usize];
            all_equal &= point == first;
            *pair = keyed(
                morton::key(point.map(Real::to_f64), corner, inverse_side, KEY_LEVELS),
                index,
            );
        }
        sort_by_key(pairs, &mut self.scratch[range], 3 * KEY_LEVELS);
        all_equal
    }

    /// The starts of the eight octants in `range`, `depth` levels into the current keys.
    fn cut(&self, range: &Range<u32>, depth: u32, levels: u32) -> [u32; 9] {
        let shift = 3 * (levels - depth);
        let slice = &self.pairs[range.start as usize..range.end as usize];
        let mut cuts = [range.end; 9];
        cuts[0] = range.start;
        let mut from = 0;
        for octant in 1..8 {
            from += slice[from..].partition_point(|pair| (key_of(*pair) >> shift & 7) < octant as u32);
            cuts[octant] = range.start + from as u32;
        }
        cuts
    }

    fn into_permutation(self) -> Vec<u32> {
        self.pairs.into_par_iter().with_min_len(8192).map(index_of).collect()
    }
}

/// Sources, and targets if they differ, that are being sorted into tree order.
struct PointSets<'a, T> {
    sources: PointSorter<'a, T>,
    targets: Option<PointSorter<'a, T>>,
    /// The number of levels in the first keys.
    key_levels: u32,
}

impl Octree {
    /// Builds the tree over `sources` and, if they differ, `targets`.
    pub fn build<T: Real>(sources: &[[T; 3]], targets: Option<&[[T; 3]]>, shape: &TreeShape) -> Self {
        let start = Instant::now();
        let (corner, extent) = bounds(&[sources, targets.unwrap_or(&[])]);
        let largest = extent.into_iter().fold(0.0, f64::max);
        // Slightly larger than the extent of the points, so that the last ones are inside, and never zero. With few
        // enough digits that the positions of boxes have no round-off.
        let side = few_digits((largest * shape.root_scale * (1.0 + 1e-12)).max(f64::MIN_POSITIVE * 1e30));
        let key_levels = first_key_levels(sources.len().max(targets.map_or(0, <[_]>::len)), shape.leaf_capacity);
        let source_set = PointSorter::new(sources, corner, side, key_levels);
        let target_set = targets.map(|targets| PointSorter::new(targets, corner, side, key_levels));
        let sort_seconds = start.elapsed().as_secs_f64();

        let (ns, nt) = (sources.len() as u32, targets.map_or(sources.len(), <[_]>::len) as u32);
        let root = Node {
            level: 0,
            cell: [0; 3],
            key_base: 0,
            parent: 0,
            octant: 0,
            children: 0..0,
            sources: 0..ns,
            targets: 0..nt,
        };
        let mut tree = Self {
            corner,
            side,
            nodes: vec![root],
            #[allow(clippy::single_range_in_vec_init, reason = "the root's level holds one box")]
            levels: vec![0..1],
            source_permutation: Vec::new(),
            target_permutation: Vec::new(),
            has_overfull_duplicates: largest == 0.0 && (ns.max(nt) as usize) > shape.leaf_capacity,
            sort_seconds,
        };
        let mut sets = PointSets {
            sources: source_set,
            targets: target_set,
            key_levels,
        };
        if largest > 0.0 {
            while tree.cut_deepest_level(&mut sets, shape) {}
        }
        tree.source_permutation = sets.sources.into_permutation();
        tree.target_permutation = sets.targets.map(PointSorter::into_permutation).unwrap_or_default();
        tree
    }

    /// Cuts the boxes of the deepest level that exceed the leaf capacity; returns whether there were any.
    fn cut_deepest_level<T: Real>(&mut self, sets: &mut PointSets<T>, shape: &TreeShape) -> bool {
        let level = self.levels.len() as u32 - 1;
        let current = self.levels[level as usize].clone();
        if level >= MAX_LEVEL || self.side_of(level + 1) < shape.min_side {
            return false;
        }
        let splits = |node: &Node| node.source_count().max(node.target_count()) > shape.leaf_capacity;
        // Boxes whose keys are exhausted get new keys, unless all their points are equal.
        let keys_of = |node: &Node| {
            if node.key_base == 0 {
                sets.key_levels
            } else {
                KEY_LEVELS
            }
        };
        let mut stuck = vec![false; current.len()];
        for (at, is_stuck) in current.clone().zip(&mut stuck) {
            let node = &self.nodes[at];
            if splits(node) && level == node.key_base + keys_of(node) {
                let (corner, side) = (self.corner_of(node), self.side_of(level));
                let (source_range, target_range) = (node.sources.clone(), node.targets.clone());
                let mut equal = sets.sources.rekey(source_range.clone(), corner, side);
                if let Some(set) = &mut sets.targets {
                    equal &= set.rekey(target_range.clone(), corner, side);
                    if equal && !source_range.is_empty() && !target_range.is_empty() {
                        let source =
                            sets.sources.points[index_of(sets.sources.pairs[source_range.start as usize]) as usize];
                        equal = source == set.points[index_of(set.pairs[target_range.start as usize]) as usize];
                    }
                }
                *is_stuck = equal;
                self.has_overfull_duplicates |= equal;
                self.nodes[at].key_base = level;
            }
        }
        let children_of = |at: usize| -> Vec<Node> {
            let node = &self.nodes[at];
            if !splits(node) || stuck[at - current.start] {
                return Vec::new();
            }
            let (depth, levels) = (level + 1 - node.key_base, keys_of(node));
            let source_cuts = sets.sources.cut(&node.sources, depth, levels);
            let target_cuts = match &sets.targets {
                Some(set) => set.cut(&node.targets, depth, levels),
                None => source_cuts,
            };
            (0..8u8)
                .filter_map(|octant| {
                    let range = |cuts: &[u32; 9]| cuts[octant as usize]..cuts[octant as usize + 1];
                    let (sources, targets) = (range(&source_cuts), range(&target_cuts));
                    (!sources.is_empty() || !targets.is_empty()).then(|| Node {
                        level: level + 1,
                        cell: std::array::from_fn(|axis| 2 * node.cell[axis] + u64::from(octant >> axis & 1)),
                        key_base: node.key_base,
                        parent: at as u32,
                        octant,
                        children: 0..0,
                        sources,
                        targets,
                    })
                })
                .collect()
        };
        let families: Vec<Vec<Node>> = current
            .clone()
            .into_par_iter()
            .with_min_len(64)
            .map(children_of)
            .collect();
        let start = self.nodes.len();
        for (at, family) in current.zip(families) {
            let first = self.nodes.len() as u32;
            self.nodes[at].children = first..first + family.len() as u32;
            self.nodes.extend(family);
        }
        if self.nodes.len() == start {
            return false;
        }
        self.levels.push(start..self.nodes.len());
        true
    }

    /// The side of the boxes of a level.
    pub fn side_of(&self, level: u32) -> f64 {
        self.side * 0.5f64.powi(level as i32)
    }

    /// The lower corner of a box.
    pub fn corner_of(&self, node: &Node) -> [f64; 3] {
        let side = self.side_of(node.level);
        std::array::from_fn(|axis| self.corner[axis] + node.cell[axis] as f64 * side)
    }

    /// The centre of a box.
    pub fn centre_of(&self, node: &Node) -> [f64; 3] {
        let side = self.side_of(node.level);
        std::array::from_fn(|axis| self.corner[axis] + (node.cell[axis] as f64 + 0.5) * side)
    }

    /// The centre of a box relative to the root's lower corner; exact for boxes down to 2^-33 of the root's side.
    pub fn centre_from_corner(&self, node: &Node) -> [f64; 3] {
        let side = self.side_of(node.level);
        node.cell.map(|cell| (cell as f64 + 0.5) * side)
    }

    /// The deepest level.
    pub fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// The caller's index of each target in tree order.
    pub fn target_permutation(&self) -> &[u32] {
        if self.target_permutation.is_empty() {
            &self.source_permutation
        } else {
            &self.target_permutation
        }
    }
}

/// The next number above `x` whose last 33 binary digits are zero.
fn few_digits(x: f64) -> f64 {
    const ZEROS: u64 = (1 << 33) - 1;
    f64::from_bits((x.to_bits() + ZEROS) & !ZEROS)
}

/// The number of key levels that reaches two levels below the leaves of a uniformly filled cube.
fn first_key_levels(points: usize, leaf_capacity: usize) -> u32 {
    let boxes = points as f64 / leaf_capacity.max(1) as f64;
    ((boxes.max(1.0).log2() / 3.0).ceil() as u32 + 2).min(KEY_LEVELS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::PointSet;

    const SHAPE: TreeShape = TreeShape {
        leaf_capacity: 20,
        root_scale: 1.0,
        min_side: 0.0,
    };

    fn check(tree: &Octree, sources: &[[f64; 3]], targets: Option<&[[f64; 3]]>, shape: &TreeShape) {
        let all_targets = targets.unwrap_or(sources);
        let mut seen = vec![false; sources.len()];
        for index in &tree.source_permutation {
            assert!(!std::mem::replace(&mut seen[*index as usize], true));
        }
        assert!(seen.iter().all(|s| *s));
        for (at, node) in tree.nodes.iter().enumerate() {
            let side = tree.side_of(node.level);
            let centre = tree.centre_of(node);
            let inside = |p: [f64; 3]| (0..3).all(|a| (p[a] - centre[a]).abs() <= 0.5 * side * (1.0 + 1e-9) + 1e-14);
            assert!(
                node.sources
                    .clone()
                    .all(|k| inside(sources[tree.source_permutation[k as usize] as usize]))
            );
            assert!(
                node.targets
                    .clone()
                    .all(|k| inside(all_targets[tree.target_permutation()[k as usize] as usize]))
            );
            if !node.is_leaf() {
                let children = &tree.nodes[node.children.start as usize..node.children.end as usize];
                assert_eq!(
                    children.iter().map(Node::source_count).sum::<usize>(),
                    node.source_count()
                );
                assert_eq!(
                    children.iter().map(Node::target_count).sum::<usize>(),
                    node.target_count()
                );
                assert!(
                    children
                        .iter()
                        .all(|child| child.parent as usize == at && child.level == node.level + 1)
                );
            } else if !tree.has_overfull_duplicates {
                assert!(node.source_count().max(node.target_count()) <= shape.leaf_capacity);
            }
        }
    }

    #[test]
    fn every_point_is_in_its_box_for_every_point_set() {
        for set in PointSet::ALL {
            for n in [1, 2, 21, 3000] {
                let points = set.generate::<f64>(n, 1);
                let tree = Octree::build(&points, None, &SHAPE);
                check(&tree, &points, None, &SHAPE);
                let targets = PointSet::Cube.generate::<f64>(777, 2);
                check(
                    &Octree::build(&points, Some(&targets), &SHAPE),
                    &points,
                    Some(&targets),
                    &SHAPE,
                );
            }
        }
    }

    #[test]
    fn a_cluster_far_below_the_resolution_of_one_key_is_resolved() {
        let mut points = PointSet::Cube.generate::<f64>(2000, 3);
        for point in &mut points[1..] {
            for c in point.iter_mut() {
                *c *= 1e-11;
            }
        }
        let tree = Octree::build(&points, None, &SHAPE);
        assert!(!tree.has_overfull_duplicates && tree.depth() > 35);
        check(&tree, &points, None, &SHAPE);
    }

    #[test]
    fn duplicates_end_in_one_overfull_leaf() {
        let mut points = vec![[0.25, 0.5, 0.75]; 1000];
        assert!(Octree::build(&points, None, &SHAPE).has_overfull_duplicates);
        points.extend(PointSet::Cube.generate::<f64>(1000, 3));
        let tree = Octree::build(&points, None, &SHAPE);
        assert!(tree.has_overfull_duplicates && tree.depth() <= 2 * KEY_LEVELS as usize);
        check(&tree, &points, None, &SHAPE);
    }

    #[test]
    fn adjacency_is_symmetric_and_exact_across_levels() {
        let points = PointSet::Plummer.generate::<f64>(600, 5);
        let tree = Octree::build(&points, None, &SHAPE);
        for a in &tree.nodes {
            for b in &tree.nodes {
                let (ca, cb) = (tree.centre_of(a), tree.centre_of(b));
                let reach = 0.5 * (tree.side_of(a.level) + tree.side_of(b.level));
                let touching = (0..3).all(|axis| (ca[axis] - cb[axis]).abs() <= reach * (1.0 + 1e-9));
                assert_eq!(a.is_adjacent(b), touching);
                assert_eq!(a.is_adjacent(b), b.is_adjacent(a));
            }
        }
    }
}
