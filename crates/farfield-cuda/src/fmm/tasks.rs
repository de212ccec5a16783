//! The work of translations: vectors at once, orders by level, boxes by block.

use crate::expansion::{Layout, Task};
use crate::kernel::PairKind;
use crate::tree::Octree;
use crate::tuning::Choice;
use farfield_core::tuning::CLASSES;
use std::ops::Range;

/// The number of vectors whose expansions of one box fit into a translation's block.
pub(super) fn batch_of(kind: &PairKind, vectors: usize, layout: Layout) -> usize {
    vectors.min(layout.columns() / kind.expansions())
}

/// The order for each level (the root's first) and class of shifts. The model's levels count from the leaves of a
/// uniform cube. If a tree is much deeper, its points are nonuniform, and every level takes the highest order of any. A
/// class that the cube does not have at a level takes the order of the finer levels.
pub(super) fn orders_by_level(choice: &Choice, depth: usize) -> Vec<u8> {
    let by_level = &choice.orders.by_level;
    let up_to = |rows: usize, class: usize| by_level[..rows].iter().map(|level| level[class]).max().unwrap_or(0);
    let uneven = depth > by_level.len() + 2;
    (0..=depth)
        .flat_map(|level| {
            let rows = if uneven {
                by_level.len()
            } else {
                by_level.len().min(depth - level + 1)
            };
            (0..CLASSES).map(move |class| up_to(rows, class))
        })
        .collect()
}

pub(super) type Tasks = (Vec<Task>, Vec<Range<usize>>, Vec<Range<usize>>);

/// The tasks of all translations: by level and octant, then by level alone.
pub(super) fn tasks_of(tree: &Octree, boxes_per_task: usize) -> Tasks {
    let boxes_per_task = boxes_per_task as u32;
    let mut tasks = Vec::new();
    let mut push = |range: Range<u32>, level: usize, octant: usize| {
        for first in range.clone().step_by(boxes_per_task as usize) {
            tasks.push(Task {
                first,
                count: boxes_per_task.min(range.end - first),
                level: level as u32,
                octant: octant as u32,
            });
        }
        tasks.len()
    };
    let (mut column_tasks, mut m2m_tasks) = (Vec::new(), Vec::new());
    let mut start = 0;
    for level in 0..=tree.depth {
        let mut end = start;
        for octant in 0..8 {
            end = push(tree.column(level, octant), level, octant);
        }
        column_tasks.push(start..end);
        start = end;
    }
    for level in 0..=tree.depth {
        let end = push(tree.level(level), level, 0);
        m2m_tasks.push(start..end);
        start = end;
    }
    (tasks, column_tasks, m2m_tasks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield_core::tuning::CubeOrders;

    #[test]
    fn orders_count_from_the_leaves_and_never_fall_towards_the_root() {
        let mut coarse = [5; CLASSES];
        coarse[15] = 1;
        let choice = Choice {
            leaf_mean: 30.0,
            leaf_capacity: 60,
            orders: CubeOrders {
                by_level: vec![[3; CLASSES], coarse],
                highest: 5,
            },
            seconds: 0.0,
        };
        let even = orders_by_level(&choice, 3);
        let row = |orders: &[u8], level: usize| orders[level * CLASSES..][..CLASSES].to_vec();
        assert_eq!(
            (row(&even, 3), row(&even, 2)[0], row(&even, 2)[15]),
            (vec![3; CLASSES], 5, 3)
        );
        assert_eq!(row(&even, 0), row(&even, 2));
        // Much deeper than the tree of the cube: nonuniform.
        let uneven = orders_by_level(&choice, 9);
        assert!((0..=9).all(|level| row(&uneven, level) == row(&even, 0)));
    }
}
