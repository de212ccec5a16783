//! The tree and its lists alone, timed: for the evidence, which compares them with Hu, Gumerov and Duraiswami (table A.1). Unstable.

use crate::simd::Real;
use crate::tree::lists::Thresholds;
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
    /// Pairs of boxes that M2L translates between.
    pub translations: usize,
    /// Pairs of boxes in the lists, ranges of adjoining neighbours counted once.
    pub neighbour_entries: usize,
}

/// Builds tree and lists in O(N), all leaves at `level`: radix sort, boxes by cutting the sorted order, lists from the parents' lists.
pub fn build_to_level<T: Real>(sources: &[[T; 3]], receivers: &[[T; 3]], level: u32) -> StructureTiming {
    let start = Instant::now();
    let (_, extent) = bounds(&[sources, receivers]);
    let side = extent.into_iter().fold(0.0, f64::max);
    let shape = TreeShape {
        leaf_capacity: 0,
        root_scale: 1.0,
        min_side: 0.75 * side * 0.5f64.powi(level as i32),
    };
    let tree = Octree::build(sources, Some(receivers), &shape);
    let tree_done = start.elapsed().as_secs_f64();
    // No expansion is replaced by pairs.
    let thresholds = Thresholds {
        m2p_sources: 0,
        p2l_targets: 0,
        m2l_pairs: 0,
    };
    let lists = Lists::build(&tree, &thresholds);
    let total_seconds = start.elapsed().as_secs_f64();
    let translations = lists.counts.m2l as usize;
    StructureTiming {
        sort_seconds: tree.sort_seconds,
        tree_seconds: tree_done - tree.sort_seconds,
        lists_seconds: total_seconds - tree_done,
        total_seconds,
        boxes: tree.nodes.len(),
        translations,
        neighbour_entries: translations + lists.p2p.len(),
    }
}
