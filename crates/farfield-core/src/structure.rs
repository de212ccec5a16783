//! The data structure alone, to a fixed depth: for comparison with Hu, Gumerov and Duraiswami (table A.1).

use crate::simd::Real;
use crate::tree::lists::Thresholds;
use crate::tree::morton;
use crate::tree::octree::bounds;
use crate::tree::{Lists, Octree, TreeShape};
use std::time::Instant;

/// How long the parts of the data structure took, and how large it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StructureTiming {
    /// Keys and sorting of sources and receivers.
    pub sort_seconds: f64,
    /// Boxes of all levels.
    pub tree_seconds: f64,
    /// Neighbours and translation lists.
    pub lists_seconds: f64,
    /// All of it.
    pub total_seconds: f64,
    /// Occupied boxes of all levels.
    pub boxes: usize,
    /// Pairs of boxes in the lists.
    pub neighbour_entries: usize,
}

/// Builds tree and lists in O(N): radix sort, boxes by cutting the sorted order, lists from the parents' lists.
pub fn build_to_level<T: Real>(sources: &[[T; 3]], receivers: &[[T; 3]], level: u32) -> StructureTiming {
    let start = Instant::now();
    let tree = tree_to_level(sources, receivers, level);
    let tree_done = start.elapsed().as_secs_f64();
    let lists = all_lists(&tree);
    let total_seconds = start.elapsed().as_secs_f64();
    StructureTiming {
        sort_seconds: tree.sort_seconds,
        tree_seconds: tree_done - tree.sort_seconds,
        lists_seconds: total_seconds - tree_done,
        total_seconds,
        boxes: tree.nodes.len(),
        neighbour_entries: lists.counts.m2l as usize + lists.p2p.len(),
    }
}

/// The tree whose leaves are all at `level`.
fn tree_to_level<T: Real>(sources: &[[T; 3]], receivers: &[[T; 3]], level: u32) -> Octree {
    let (_, extent) = bounds(&[sources, receivers]);
    let side = extent.into_iter().fold(0.0, f64::max);
    let shape = TreeShape {
        leaf_capacity: 0,
        root_scale: 1.0,
        min_side: 0.75 * side * 0.5f64.powi(level as i32),
    };
    Octree::build(sources, Some(receivers), &shape)
}

/// Lists in which no expansion is replaced by pairs.
fn all_lists(tree: &Octree) -> Lists {
    let thresholds = Thresholds {
        m2p_sources: 0,
        p2l_targets: 0,
        m2l_pairs: 0,
    };
    Lists::build(tree, &thresholds)
}

/// The textbook way in O(N log N): comparison sort of the keys, and every neighbour found by a search in the sorted
/// list of occupied boxes. One thread.
pub fn build_to_level_by_sorting<T: Real>(sources: &[[T; 3]], receivers: &[[T; 3]], level: u32) -> StructureTiming {
    let start = Instant::now();
    let (corner, extent) = bounds(&[sources, receivers]);
    let side = extent.into_iter().fold(0.0, f64::max) * (1.0 + 1e-12);
    let [source_keys, receiver_keys] = [sources, receivers].map(|points| sorted_keys(points, corner, side, level));
    let sort_seconds = start.elapsed().as_secs_f64();
    let [source_boxes, receiver_boxes] = [&source_keys, &receiver_keys].map(|keys| boxes_of_levels(keys, level));
    let tree_done = start.elapsed().as_secs_f64();
    let lists = lists_by_search(&source_boxes, &receiver_boxes);
    let total_seconds = start.elapsed().as_secs_f64();
    StructureTiming {
        sort_seconds,
        tree_seconds: tree_done - sort_seconds,
        lists_seconds: total_seconds - tree_done,
        total_seconds,
        boxes: source_boxes
            .iter()
            .zip(&receiver_boxes)
            .map(|(a, b)| a.len() + b.iter().filter(|key| a.binary_search(key).is_err()).count())
            .sum(),
        neighbour_entries: lists.far.iter().map(Vec::len).sum::<usize>() + lists.near.len(),
    }
}

/// The points' keys at `level` with their indices, in ascending order.
fn sorted_keys<T: Real>(points: &[[T; 3]], corner: [f64; 3], side: f64, level: u32) -> Vec<(u32, u32)> {
    let mut keys: Vec<(u32, u32)> = points
        .iter()
        .enumerate()
        .map(|(k, p)| (morton::key(p.map(Real::to_f64), corner, 1.0 / side, level), k as u32))
        .collect();
    keys.sort_unstable();
    keys
}

/// The keys of the occupied boxes of each level, in ascending order.
fn boxes_of_levels(keys: &[(u32, u32)], level: u32) -> Vec<Vec<u32>> {
    (0..=level)
        .map(|l| {
            let mut boxes: Vec<u32> = keys.iter().map(|(key, _)| key >> (3 * (level - l))).collect();
            boxes.dedup();
            boxes
        })
        .collect()
}

/// Pairs of a receiver box's key and a source box's place among the occupied boxes of its level.
struct SearchedLists {
    /// Boxes whose parents touch but that do not, level by level.
    far: Vec<Vec<(u32, u32)>>,
    /// Boxes of the last level that touch.
    near: Vec<(u32, u32)>,
}

fn lists_by_search(source_boxes: &[Vec<u32>], receiver_boxes: &[Vec<u32>]) -> SearchedLists {
    let last = source_boxes.len() - 1;
    let mut far = vec![Vec::new(); last + 1];
    let mut near = Vec::new();
    for level in 2..=last {
        let (occupied, parents) = (&source_boxes[level], &source_boxes[level - 1]);
        for key in &receiver_boxes[level] {
            let (cell, parent) = (morton::cell(*key), morton::cell(key >> 3));
            for_neighbours(parent, level as u32 - 1, |parent_key| {
                if parents.binary_search(&parent_key).is_err() {
                    return;
                }
                for octant in 0..8 {
                    let other = parent_key << 3 | octant;
                    let touches = morton::cell(other).iter().zip(&cell).all(|(a, b)| a.abs_diff(*b) <= 1);
                    if touches && level < last {
                        continue;
                    }
                    if let Ok(at) = occupied.binary_search(&other) {
                        let list = if touches { &mut near } else { &mut far[level] };
                        list.push((*key, at as u32));
                    }
                }
            });
        }
    }
    SearchedLists { far, near }
}

/// Calls `visit` with the keys of the boxes that touch `cell`, itself included.
fn for_neighbours(cell: [u32; 3], level: u32, mut visit: impl FnMut(u32)) {
    let range = |c: u32| c.saturating_sub(1)..=(c + 1).min((1 << level) - 1);
    for x in range(cell[0]) {
        for y in range(cell[1]) {
            for z in range(cell[2]) {
                visit(morton::key_of_cell([x, y, z]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::PointSet;
    use std::collections::BTreeSet;

    /// (level, receiver box, source box).
    type Pair = (u32, u32, u32);

    /// The pairs of boxes in the tree's lists: those of M2L, and the leaves that meet by P2P.
    fn pairs_of_lists(tree: &Octree, lists: &Lists) -> [Vec<Pair>; 2] {
        let key = |node: usize| morton::key_of_cell(tree.nodes[node].cell.map(|c| c as u32));
        let blocks = lists.m2l.iter();
        let far = blocks.flat_map(|block| {
            let pairs = block.pairs.iter();
            pairs.map(|(target, source)| (block.level, key(*target as usize), key(*source as usize)))
        });
        let level = tree.levels.len() as u32 - 1;
        // The leaf of each source, in tree order.
        let leaves = tree.levels[level as usize].clone();
        let leaf_of: Vec<u32> = leaves
            .flat_map(|leaf| tree.nodes[leaf].sources.clone().map(move |_| key(leaf)))
            .collect();
        let mut near = Vec::new();
        for (k, leaf) in lists.leaves.iter().enumerate() {
            let own = tree.nodes[*leaf as usize].sources.clone();
            let ranges = lists.p2p.row(k).iter().map(|(start, end)| *start..*end);
            for range in ranges.chain([own]) {
                let mut boxes = leaf_of[range.start as usize..range.end as usize].to_vec();
                boxes.dedup();
                near.extend(boxes.into_iter().map(|source| (level, key(*leaf as usize), source)));
            }
        }
        [far.collect(), near]
    }

    fn pairs_by_search(sources: &[[f32; 3]], receivers: &[[f32; 3]], tree: &Octree, level: u32) -> [Vec<Pair>; 2] {
        let boxes = |points| boxes_of_levels(&sorted_keys(points, tree.corner, tree.side, level), level);
        let source_boxes = boxes(sources);
        let lists = lists_by_search(&source_boxes, &boxes(receivers));
        let named = |l: usize, list: &[(u32, u32)]| -> Vec<Pair> {
            let pairs = list.iter();
            pairs
                .map(|(key, at)| (l as u32, *key, source_boxes[l][*at as usize]))
                .collect()
        };
        let far = lists.far.iter().enumerate().flat_map(|(l, list)| named(l, list));
        [far.collect(), named(level as usize, &lists.near)]
    }

    #[test]
    fn both_ways_find_the_same_pairs_of_boxes() {
        // A cube that every box of the first levels has points of, and a surface that leaves most boxes empty.
        for set in [PointSet::Cube, PointSet::Sphere] {
            let (sources, receivers) = (set.generate::<f32>(3000, 1), set.generate::<f32>(2000, 2));
            for level in 2..=4 {
                let tree = tree_to_level(&sources, &receivers, level);
                let fast = pairs_of_lists(&tree, &all_lists(&tree));
                let slow = pairs_by_search(&sources, &receivers, &tree, level);
                for (fast, slow) in fast.into_iter().zip(slow) {
                    let (entries, found) = (fast.len(), fast.into_iter().collect::<BTreeSet<_>>());
                    assert_eq!(entries, found.len(), "a pair is in the lists twice");
                    assert_eq!(found, slow.into_iter().collect(), "{set:?} to level {level}");
                    assert!(!found.is_empty());
                }
                assert_eq!(
                    build_to_level(&sources, &receivers, level).boxes,
                    build_to_level_by_sorting(&sources, &receivers, level).boxes
                );
            }
        }
    }
}
