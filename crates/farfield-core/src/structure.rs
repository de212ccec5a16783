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
    let (_, extent) = bounds(&[sources, receivers]);
    let side = extent.into_iter().fold(0.0, f64::max);
    let min_side = 0.75 * side * 0.5f64.powi(level as i32);
    let tree = Octree::build(
        sources,
        Some(receivers),
        &TreeShape {
            leaf_capacity: 0,
            root_scale: 1.0,
            min_side,
        },
    );
    let tree_done = start.elapsed().as_secs_f64();
    let lists = Lists::build(
        &tree,
        &Thresholds {
            m2p_sources: 0,
            p2l_targets: 0,
            m2l_pairs: 0,
            m2l_blocks: 1,
        },
    );
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

/// The textbook way in O(N log N): comparison sort of the keys, and every neighbour found by a search in the sorted
/// list of occupied boxes. One thread.
pub fn build_to_level_by_sorting<T: Real>(sources: &[[T; 3]], receivers: &[[T; 3]], level: u32) -> StructureTiming {
    let start = Instant::now();
    let (corner, extent) = bounds(&[sources, receivers]);
    let side = extent.into_iter().fold(0.0, f64::max) * (1.0 + 1e-12);
    let sorted_keys = |points: &[[T; 3]]| {
        let mut keys: Vec<(u32, u32)> = points
            .iter()
            .enumerate()
            .map(|(k, p)| (morton::key(p.map(Real::to_f64), corner, 1.0 / side, level), k as u32))
            .collect();
        keys.sort_unstable();
        keys
    };
    let (source_keys, receiver_keys) = (sorted_keys(sources), sorted_keys(receivers));
    let sort_seconds = start.elapsed().as_secs_f64();
    let boxes_of = |keys: &[(u32, u32)]| -> Vec<Vec<u32>> {
        (0..=level)
            .map(|l| {
                let mut boxes: Vec<u32> = keys.iter().map(|(key, _)| key >> (3 * (level - l))).collect();
                boxes.dedup();
                boxes
            })
            .collect()
    };
    let (source_boxes, receiver_boxes) = (boxes_of(&source_keys), boxes_of(&receiver_keys));
    let tree_done = start.elapsed().as_secs_f64();
    let mut lists: Vec<(u32, u32)> = Vec::new();
    for l in 2..=level as usize {
        let (occupied, parents) = (&source_boxes[l], &source_boxes[l - 1]);
        for key in &receiver_boxes[l] {
            let (cell, parent) = (morton::cell(*key), morton::cell(key >> 3));
            for_neighbours(parent, l as u32 - 1, |parent_key| {
                if parents.binary_search(&parent_key).is_err() {
                    return;
                }
                for octant in 0..8 {
                    let other = parent_key << 3 | octant;
                    let touches = morton::cell(other).iter().zip(&cell).all(|(a, b)| a.abs_diff(*b) <= 1);
                    if (!touches || l == level as usize)
                        && let Ok(at) = occupied.binary_search(&other)
                    {
                        lists.push((*key, at as u32));
                    }
                }
            });
        }
    }
    let total_seconds = start.elapsed().as_secs_f64();
    StructureTiming {
        sort_seconds,
        tree_seconds: tree_done - sort_seconds,
        lists_seconds: total_seconds - tree_done,
        total_seconds,
        boxes: source_boxes.iter().map(Vec::len).sum(),
        neighbour_entries: lists.len(),
    }
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

    #[test]
    fn both_ways_find_the_same_number_of_pairs() {
        let (sources, receivers) = (
            PointSet::Cube.generate::<f32>(3000, 1),
            PointSet::Cube.generate::<f32>(3000, 2),
        );
        for level in 2..=4 {
            let fast = build_to_level(&sources, &receivers, level);
            let slow = build_to_level_by_sorting(&sources, &receivers, level);
            // The fast lists join neighbouring ranges and keep a box's own sources apart, so they are shorter.
            assert!(fast.neighbour_entries <= slow.neighbour_entries);
            assert!(fast.neighbour_entries * 2 > slow.neighbour_entries);
        }
    }
}
