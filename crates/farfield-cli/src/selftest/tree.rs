//! A device tree against its definition.

use super::Error;
use super::checks::Row;
use farfield::cuda::Device;
use farfield::cuda::device::Precision;
use farfield::cuda::structure::HostTree;
use farfield::cuda::tree::{BuildKind, TreeShape};
use farfield::points::PointSet;
use std::collections::HashMap;
use std::sync::Arc;

/// Builds a tree over a point set (and other targets) and counts what is wrong with it.
pub fn check<T: Precision>(
    device: &Arc<Device>,
    set: PointSet,
    n: usize,
    target_set: Option<PointSet>,
) -> Result<Row, Error> {
    let sources = set.generate::<T>(n, 1);
    let targets = target_set.map(|set| set.generate::<T>(n / 2, 2));
    let other = target_set.map_or(String::new(), |set| format!(", targets {set} {}", n / 2));
    check_points(device, &sources, targets.as_deref(), format!("{set} {n}{other}"))
}

/// Many equal points share a leaf.
pub fn check_duplicates<T: Precision>(device: &Arc<Device>) -> Result<Row, Error> {
    let mut sources = PointSet::Cube.generate::<T>(700, 1);
    sources.extend(std::iter::repeat_n(sources[3], 300));
    check_points(device, &sources, None, "cube 700, 300 of one point".to_owned())
}

fn check_points<T: Precision>(
    device: &Arc<Device>,
    sources: &[[T; 3]],
    targets: Option<&[[T; 3]]>,
    points: String,
) -> Result<Row, Error> {
    let shape = TreeShape {
        leaf_capacity: 24,
        leaf_mean: 12.0,
        root_scale: None,
        min_side: 0.0,
    };
    let tree = HostTree::build(device, sources, targets, &shape)?;
    let limit = if tree.kind == BuildKind::OneSet { 24 } else { 48 };
    let wrong = Judged { tree: &tree }.count_faults(sources, targets, limit);
    Ok(Row {
        what: "tree: faults".to_owned(),
        precision: T::NAME,
        points,
        parameters: format!("{} boxes, depth {}", tree.key.len(), tree.depth),
        measured: wrong as f64,
        allowed: 0.0,
    })
}

/// The definition of a tree, applied to one.
struct Judged<'a> {
    tree: &'a HostTree,
}

impl Judged<'_> {
    fn count_faults<T: Precision>(&self, sources: &[[T; 3]], targets: Option<&[[T; 3]]>, limit: u32) -> usize {
        let tree = self.tree;
        let mut faults = permutation_faults(&tree.source_permutation);
        let target_permutation = if targets.is_some() {
            &tree.target_permutation
        } else {
            &tree.source_permutation
        };
        faults += permutation_faults(target_permutation);
        let by_cell: HashMap<(u32, u64), i32> = (0..tree.key.len())
            .map(|at| ((tree.level[at], tree.key[at]), at as i32))
            .collect();
        faults += tree.key.len() - by_cell.len();
        let find = |level: u32, cell: [i64; 3]| -> i32 {
            if cell.iter().any(|c| *c < 0 || *c >= 1 << level) {
                return -1;
            }
            by_cell.get(&(level, interleave(cell))).copied().unwrap_or(-1)
        };
        let mut leaf_points = 0;
        for at in 0..tree.key.len() {
            let (level, key) = (tree.level[at], tree.key[at]);
            let cell = cell_of(key);
            let points = |range: [u32; 2]| range[1] - range[0];
            let count = points(tree.sources[at]) + if targets.is_some() { points(tree.targets[at]) } else { 0 };
            let cut = (count > limit || level < tree.header.min_level) && level < tree.header.max_level;
            faults += usize::from(cut == (tree.is_leaf[at] == 1));
            let column = tree.column(level as usize, (key & 7) as usize);
            faults += usize::from(!column.contains(&(at as u32)));
            if level == 0 {
                faults += usize::from(tree.parent[at] != -1);
            } else {
                faults += usize::from(tree.parent[at] != find(level - 1, cell.map(|c| c / 2)));
                let parent = tree.parent[at].max(0) as usize;
                faults += usize::from(tree.is_leaf[parent] == 1);
            }
            let mut below = 0;
            for octant in 0..8 {
                let child = tree.children[8 * at + octant];
                let expected = if cut {
                    find(
                        level + 1,
                        std::array::from_fn(|axis| 2 * cell[axis] + (octant as i64 >> axis & 1)),
                    )
                } else {
                    -1
                };
                // Children without sources act on nothing.
                let acts = usize::try_from(expected).is_ok_and(|at| points(tree.sources[at]) > 0);
                faults += usize::from(child != if acts { expected } else { -1 });
                if let Ok(child) = usize::try_from(child) {
                    below += points(tree.sources[child]);
                }
            }
            faults += usize::from(cut && below != points(tree.sources[at]));
            for k in 0..27 {
                let step = [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
                let expected = find(level, std::array::from_fn(|axis| cell[axis] + step[axis]));
                faults += usize::from(tree.neighbours[27 * at + k as usize] != expected);
            }
            if tree.is_leaf[at] == 1 {
                leaf_points += points(tree.sources[at]);
            }
            faults += self.outside(at, sources, tree.sources[at], &tree.source_permutation);
            faults += self.outside(at, targets.unwrap_or(sources), tree.targets[at], target_permutation);
        }
        faults + usize::from(leaf_points as usize != sources.len())
    }

    /// Points of a range that are not in the box.
    fn outside<T: Precision>(&self, at: usize, points: &[[T; 3]], range: [u32; 2], permutation: &[u32]) -> usize {
        let tree = self.tree;
        let side = tree.header.side * 0.5f64.powi(tree.level[at] as i32);
        let cell = cell_of(tree.key[at]);
        (range[0]..range[1])
            .filter(|k| {
                let point = points[permutation[*k as usize] as usize];
                !(0..3).all(|axis| {
                    let u = (point[axis].to_f64() - tree.header.corner[axis]) / side - cell[axis] as f64;
                    (-1e-9..=1.0 + 1e-9).contains(&u)
                })
            })
            .count()
    }
}

fn permutation_faults(permutation: &[u32]) -> usize {
    let mut seen = vec![false; permutation.len()];
    permutation
        .iter()
        .filter(|k| {
            seen.get_mut(**k as usize)
                .is_none_or(|seen| std::mem::replace(seen, true))
        })
        .count()
}

fn cell_of(key: u64) -> [i64; 3] {
    std::array::from_fn(|axis| (0..21).map(|bit| ((key >> (3 * bit + axis) & 1) as i64) << bit).sum())
}

fn interleave(cell: [i64; 3]) -> u64 {
    (0..63).map(|k| ((cell[k % 3] >> (k / 3) & 1) as u64) << k).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_keys_are_inverse() {
        for cell in [[0, 0, 0], [1, 0, 0], [5, 1023, 77], [(1 << 21) - 1; 3]] {
            assert_eq!(cell_of(interleave(cell)), cell);
        }
        assert_eq!(interleave([1, 0, 1]), 0b101);
    }

    #[test]
    fn an_index_that_repeats_makes_no_permutation() {
        assert_eq!(permutation_faults(&[2, 0, 1]), 0);
        assert_eq!(permutation_faults(&[2, 0, 2]), 1);
        assert_eq!(permutation_faults(&[3, 0, 1]), 1);
    }
}
