//! Interaction lists: for every box, the boxes that act on it and the operators they act by.
//!
//! The walk goes down from the root. Each box keeps a list of the boxes that touch it: boxes of its own level, or
//! coarser leaves. Boxes that touched its parent are treated as follows:
//! - a box that touches it too stays on the list. At a leaf it becomes **P2P**, or is divided until its parts do not
//!   touch the leaf; these act by **M2P** (their multipole on the leaf's targets);
//! - a box of its own level that does not touch it acts by **M2L**;
//! - a coarser leaf that does not touch it acts by **P2L** (its sources on the box's local expansion).
//!
//! P2P replaces an expansion where the number of points is so small that pairs are cheaper ([`Thresholds`]).
//! Boxes of a level are handled in blocks of neighbours on the curve; a block is also the unit of parallel M2L work.

use super::octree::{Node, Octree};
use super::rows::Rows;
use crate::report::Interactions;
use rayon::prelude::*;
use std::ops::Range;

/// The number of target boxes in a block of M2L work: enough to fill vectors with boxes that share a shift, and few
/// enough for their expansions to fit the second-level cache.
pub const BLOCK: usize = 128;

/// Shifts run from -3 to 3 boxes along each axis.
pub const SHIFTS: usize = 343;

/// The index of a shift (target cell minus source cell).
pub fn shift_index(shift: [i32; 3]) -> usize {
    ((shift[0] + 3) * 49 + (shift[1] + 3) * 7 + shift[2] + 3) as usize
}

/// The inverse of [`shift_index`].
pub fn shift_of(index: usize) -> [i32; 3] {
    [index as i32 / 49 - 3, index as i32 / 7 % 7 - 3, index as i32 % 7 - 3]
}

/// The numbers of points up to which pairs are cheaper than expansions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// M2P from a box with at most this many sources becomes P2P.
    pub m2p_sources: usize,
    /// P2L into a box with at most this many targets becomes P2P.
    pub p2l_targets: usize,
    /// M2L into a leaf with at most this many pairs of points becomes P2P.
    pub m2l_pairs: usize,
}

/// The M2L work of a block of target boxes.
#[derive(Debug, Clone, Default)]
pub struct M2lBlock {
    pub level: u32,
    /// The target boxes.
    pub targets: Range<usize>,
    /// (target, source), sorted by shift.
    pub pairs: Vec<(u32, u32)>,
    /// (shift, end of its pairs); a segment starts at the end of the previous one.
    pub segments: Vec<(u16, u32)>,
}

/// All interactions of a tree.
#[derive(Debug, Clone, Default)]
pub struct Lists {
    pub m2l: Vec<M2lBlock>,
    /// Boxes with P2L work.
    pub p2l_boxes: Vec<u32>,
    /// For each of `p2l_boxes`, the leaves whose sources act on it.
    pub p2l: Rows<u32>,
    /// Leaves with targets.
    pub leaves: Vec<u32>,
    /// For each of `leaves`, the boxes that act by M2P.
    pub m2p: Rows<u32>,
    /// For each of `leaves`, the source ranges that act by P2P, without the leaf's own sources.
    pub p2p: Rows<(u32, u32)>,
    /// The total number of interactions of each kind.
    pub counts: Interactions,
}

/// For one leaf: the boxes that act by M2P and the source ranges that act by P2P.
pub type LeafLists = (Vec<u32>, Vec<(u32, u32)>);

/// The lists of one block.
#[derive(Default)]
struct BlockLists {
    /// For each box, the boxes that touch it.
    touching: Vec<Vec<u32>>,
    /// For each box, the source ranges that act by P2P on every target below it.
    near: Vec<Vec<(u32, u32)>>,
    m2l: M2lBlock,
    p2l_boxes: Vec<u32>,
    p2l: Rows<u32>,
    leaves: Vec<u32>,
    m2p: Rows<u32>,
    p2p: Rows<(u32, u32)>,
    counts: Interactions,
}

impl Lists {
    /// Builds the lists of `tree`.
    pub fn build(tree: &Octree, thresholds: &Thresholds) -> Self {
        let mut lists = Lists::default();
        let mut touching: Vec<Vec<u32>> = Vec::new();
        let mut near: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut parents = 0..0;
        for level in &tree.levels {
            let blocks: Vec<BlockLists> = level
                .clone()
                .into_par_iter()
                .step_by(BLOCK)
                .map(|first| {
                    let mut block = BlockLists::default();
                    let targets = first..(first + BLOCK).min(level.end);
                    let mut by_shift: Vec<(u16, u32, u32)> = Vec::new();
                    for at in targets.clone() {
                        let parent = tree.nodes[at].parent as usize;
                        let above: (&[u32], &[(u32, u32)]) = if at == 0 {
                            (&[0], &[])
                        } else {
                            (&touching[parent - parents.start], &near[parent - parents.start])
                        };
                        block.add_box(tree, thresholds, at as u32, above, &mut by_shift);
                    }
                    block.m2l = M2lBlock::new(tree.nodes[first].level, targets, by_shift);
                    block
                })
                .collect();
            touching.clear();
            near.clear();
            for block in blocks {
                touching.extend(block.touching);
                near.extend(block.near);
                lists.counts.m2l += block.m2l.pairs.len() as u64;
                if !block.m2l.pairs.is_empty() {
                    lists.m2l.push(block.m2l);
                }
                lists.p2l_boxes.extend(block.p2l_boxes);
                lists.p2l.append(block.p2l);
                lists.leaves.extend(block.leaves);
                lists.m2p.append(block.m2p);
                lists.p2p.append(block.p2p);
                lists.counts.p2p += block.counts.p2p;
                lists.counts.m2p += block.counts.m2p;
                lists.counts.p2l += block.counts.p2l;
            }
            parents = level.clone();
        }
        lists.sort_leaves(tree);
        lists
    }

    /// Lists that consist of M2P boxes and P2P ranges for each leaf. The leaves are in the order of their targets.
    pub fn of_leaves(tree: &Octree, leaves: Vec<u32>, rows: Vec<LeafLists>) -> Self {
        let mut lists = Lists {
            leaves,
            ..Lists::default()
        };
        for (leaf, (mut m2p, mut p2p)) in lists.leaves.iter().zip(rows) {
            let leaf = &tree.nodes[*leaf as usize];
            merge_ranges(&mut p2p);
            m2p.sort_unstable();
            let targets = leaf.target_count() as u64;
            let sources = p2p.iter().map(|(start, end)| u64::from(end - start)).sum::<u64>();
            lists.counts.p2p += targets * (sources + leaf.source_count() as u64);
            lists.counts.m2p += targets * m2p.len() as u64;
            lists.m2p.push_row(m2p);
            lists.p2p.push_row(p2p);
        }
        lists
    }

    /// Puts the leaves in Morton order, so that consecutive leaves hold consecutive targets.
    fn sort_leaves(&mut self, tree: &Octree) {
        let mut permutation: Vec<u32> = (0..self.leaves.len() as u32).collect();
        permutation.sort_unstable_by_key(|k| tree.nodes[self.leaves[*k as usize] as usize].targets.start);
        self.leaves = permutation.iter().map(|k| self.leaves[*k as usize]).collect();
        self.m2p = self.m2p.permuted(&permutation);
        self.p2p = self.p2p.permuted(&permutation);
    }
}

impl M2lBlock {
    fn new(level: u32, targets: Range<usize>, by_shift: Vec<(u16, u32, u32)>) -> Self {
        let mut ends = [0u32; SHIFTS + 1];
        for (shift, ..) in &by_shift {
            ends[*shift as usize + 1] += 1;
        }
        for k in 0..SHIFTS {
            ends[k + 1] += ends[k];
        }
        let mut pairs = vec![(0, 0); by_shift.len()];
        for (shift, target, source) in by_shift {
            let at = &mut ends[shift as usize];
            pairs[*at as usize] = (target, source);
            *at += 1;
        }
        // Each entry of `ends` is now the end of its segment.
        let segments = (0..SHIFTS)
            .filter(|k| ends[*k] > if *k == 0 { 0 } else { ends[*k - 1] })
            .map(|k| (k as u16, ends[k]))
            .collect();
        Self {
            level,
            targets,
            pairs,
            segments,
        }
    }
}

impl BlockLists {
    fn add_box(
        &mut self,
        tree: &Octree,
        thresholds: &Thresholds,
        at: u32,
        (above_touching, above_near): (&[u32], &[(u32, u32)]),
        by_shift: &mut Vec<(u16, u32, u32)>,
    ) {
        let node = &tree.nodes[at as usize];
        if node.targets.is_empty() {
            self.touching.push(Vec::new());
            self.near.push(Vec::new());
            return;
        }
        let mut touching = Vec::new();
        let mut near = above_near.to_vec();
        let mut p2l: Vec<u32> = Vec::new();
        let mut consider = |other: u32| {
            let source = &tree.nodes[other as usize];
            if source.sources.is_empty() {
                return;
            }
            if source.level == node.level {
                let shift: [i32; 3] = [0, 1, 2].map(|axis| node.cell[axis].wrapping_sub(source.cell[axis]) as i32);
                if shift.iter().all(|c| c.abs() <= 1) {
                    touching.push(other);
                } else if node.is_leaf() && source.source_count() * node.target_count() <= thresholds.m2l_pairs {
                    near.push((source.sources.start, source.sources.end));
                } else {
                    by_shift.push((shift_index(shift) as u16, at, other));
                }
            } else if node.is_adjacent(source) {
                touching.push(other);
            } else if node.target_count() <= thresholds.p2l_targets {
                near.push((source.sources.start, source.sources.end));
            } else {
                p2l.push(other);
            }
        };
        for &other in above_touching {
            let source = &tree.nodes[other as usize];
            if source.is_leaf() || at == 0 {
                consider(other);
            } else {
                source.children.clone().for_each(&mut consider);
            }
        }
        if !p2l.is_empty() {
            self.counts.p2l += p2l
                .iter()
                .map(|leaf| tree.nodes[*leaf as usize].source_count() as u64)
                .sum::<u64>();
            self.p2l_boxes.push(at);
            self.p2l.push_row(p2l);
        }
        if node.is_leaf() {
            self.add_leaf(tree, thresholds, at, &touching, std::mem::take(&mut near));
        }
        self.touching.push(touching);
        self.near.push(near);
    }

    fn add_leaf(&mut self, tree: &Octree, thresholds: &Thresholds, at: u32, touching: &[u32], near: Vec<(u32, u32)>) {
        let leaf = &tree.nodes[at as usize];
        let mut p2p = near;
        let mut m2p = Vec::new();
        let mut open: Vec<u32> = touching.to_vec();
        while let Some(other) = open.pop() {
            let source = &tree.nodes[other as usize];
            if source.sources.is_empty() {
                continue;
            }
            let touches = leaf.is_adjacent(source);
            if touches && !source.is_leaf() {
                open.extend(source.children.clone());
            } else if touches || source.source_count() <= thresholds.m2p_sources {
                if other != at {
                    p2p.push((source.sources.start, source.sources.end));
                }
            } else {
                m2p.push(other);
            }
        }
        merge_ranges(&mut p2p);
        m2p.sort_unstable();
        let targets = leaf.target_count() as u64;
        let sources = p2p.iter().map(|(start, end)| u64::from(end - start)).sum::<u64>();
        self.counts.p2p += targets * (sources + leaf.source_count() as u64);
        self.counts.m2p += targets * m2p.len() as u64;
        self.leaves.push(at);
        self.m2p.push_row(m2p);
        self.p2p.push_row(p2p);
    }
}

impl M2lBlock {
    /// (shift, pairs) for each shift that occurs.
    pub fn by_shift(&self) -> impl Iterator<Item = (usize, &[(u32, u32)])> {
        self.segments.iter().scan(0, |start, (shift, end)| {
            let pairs = &self.pairs[*start as usize..*end as usize];
            *start = *end;
            Some((*shift as usize, pairs))
        })
    }
}

/// Sorts ranges and joins adjacent ones.
fn merge_ranges(ranges: &mut Vec<(u32, u32)>) {
    ranges.sort_unstable();
    let mut kept = 0;
    for k in 1..ranges.len() {
        if ranges[kept].1 == ranges[k].0 {
            ranges[kept].1 = ranges[k].1;
        } else {
            kept += 1;
            ranges[kept] = ranges[k];
        }
    }
    ranges.truncate(kept + 1);
}

/// The box `at` and the boxes above it, up to the root.
pub fn ancestors(tree: &Octree, at: u32) -> impl Iterator<Item = (u32, &Node)> {
    let mut next = Some(at);
    std::iter::from_fn(move || {
        let current = next?;
        let node = &tree.nodes[current as usize];
        next = (current != 0).then_some(node.parent);
        Some((current, node))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::PointSet;
    use crate::tree::octree::TreeShape;

    /// Checks that every source acts on every target exactly once, by any operator.
    fn check(sources: &[[f64; 3]], targets: Option<&[[f64; 3]]>, thresholds: &Thresholds) {
        let shape = TreeShape {
            leaf_capacity: 12,
            root_scale: 1.2,
            min_side: 0.0,
        };
        let tree = Octree::build(sources, targets, &shape);
        let lists = Lists::build(&tree, thresholds);
        let (ns, nt) = (sources.len(), targets.map_or(sources.len(), <[_]>::len));
        let mut met = vec![0u8; ns * nt];
        let mut meet = |targets: Range<u32>, sources: Range<u32>| {
            for i in targets {
                for j in sources.clone() {
                    met[i as usize * ns + j as usize] += 1;
                }
            }
        };
        for block in &lists.m2l {
            for (shift, pairs) in block.by_shift() {
                for (target, source) in pairs {
                    let (t, s) = (&tree.nodes[*target as usize], &tree.nodes[*source as usize]);
                    assert!(t.level == s.level && block.targets.contains(&(*target as usize)));
                    let cells: [i32; 3] = std::array::from_fn(|a| t.cell[a] as i32 - s.cell[a] as i32);
                    assert_eq!(shift_of(shift), cells);
                    assert!(cells.iter().any(|c| c.abs() > 1));
                    meet(t.targets.clone(), s.sources.clone());
                }
            }
        }
        for (k, at) in lists.p2l_boxes.iter().enumerate() {
            for leaf in lists.p2l.row(k) {
                meet(
                    tree.nodes[*at as usize].targets.clone(),
                    tree.nodes[*leaf as usize].sources.clone(),
                );
            }
        }
        for (k, at) in lists.leaves.iter().enumerate() {
            let leaf = &tree.nodes[*at as usize];
            meet(leaf.targets.clone(), leaf.sources.clone());
            lists
                .p2p
                .row(k)
                .iter()
                .for_each(|(start, end)| meet(leaf.targets.clone(), *start..*end));
            for source in lists.m2p.row(k) {
                assert!(!leaf.is_adjacent(&tree.nodes[*source as usize]));
                meet(leaf.targets.clone(), tree.nodes[*source as usize].sources.clone());
            }
        }
        assert!(met.iter().all(|count| *count == 1));
    }

    #[test]
    fn every_source_acts_on_every_target_exactly_once() {
        let eager = Thresholds {
            m2p_sources: 0,
            p2l_targets: 0,
            m2l_pairs: 0,
        };
        let lazy = Thresholds {
            m2p_sources: 5,
            p2l_targets: 6,
            m2l_pairs: 40,
        };
        for set in PointSet::ALL {
            for thresholds in [&eager, &lazy] {
                let points = set.generate::<f64>(700, 1);
                check(&points, None, thresholds);
                check(&points, Some(&PointSet::Cube.generate::<f64>(400, 2)), thresholds);
                check(&PointSet::Sphere.generate::<f64>(300, 2), Some(&points), thresholds);
            }
        }
    }

    #[test]
    fn adjacent_ranges_are_joined() {
        let mut ranges = vec![(5, 7), (0, 2), (2, 5), (9, 12)];
        merge_ranges(&mut ranges);
        assert_eq!(ranges, [(0, 7), (9, 12)]);
        let mut none = Vec::new();
        merge_ranges(&mut none);
        assert!(none.is_empty());
    }
}
