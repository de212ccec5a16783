//! A device tree against its definition.

use super::Row;
use crate::device::{Buffers, Device, Precision};
use crate::error::Error;
use crate::tree::{BuildKind, Octree, Points, TreeShape};
use farfield_core::points::PointSet;
use std::collections::HashMap;
use std::sync::Arc;

/// A tree's arrays on the host.
struct HostTree {
    level: Vec<u32>,
    key: Vec<u64>,
    sources: Vec<[u32; 2]>,
    targets: Vec<[u32; 2]>,
    parent: Vec<i32>,
    children: Vec<i32>,
    is_leaf: Vec<u8>,
    neighbours: Vec<i32>,
    source_order: Vec<u32>,
    target_order: Vec<u32>,
}

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
    let buffers = Buffers::new(device)?;
    let shape = TreeShape {
        leaf_capacity: 24,
        leaf_mean: 12.0,
        root_scale: None,
        min_side: 0.0,
    };
    let device_sources = buffers.upload(sources.as_flattened())?;
    let device_targets = targets
        .map(|targets| buffers.upload(targets.as_flattened()))
        .transpose()?;
    let octree = Octree::build(
        &buffers,
        &Points {
            sources: &device_sources,
            source_count: sources.len(),
            targets: device_targets.as_ref().zip(targets.map(<[_]>::len)),
        },
        &shape,
    )?;
    let host = HostTree::read(&buffers, &octree, sources.len(), targets.map_or(0, <[_]>::len))?;
    let limit = if octree.kind() == BuildKind::OneSet { 24 } else { 48 };
    let wrong = host.count_faults(&octree, sources, targets, limit);
    Ok(Row {
        what: "tree: faults".to_owned(),
        precision: T::NAME,
        points,
        parameters: format!("{} boxes, depth {}", octree.boxes, octree.depth),
        measured: wrong as f64,
        allowed: 0.0,
    })
}

impl HostTree {
    fn read(buffers: &Buffers, tree: &Octree, sources: usize, targets: usize) -> Result<Self, Error> {
        fn read<E: cudarc::driver::DeviceRepr + Clone>(
            buffers: &Buffers,
            from: &cudarc::driver::CudaSlice<E>,
            length: usize,
            blank: E,
        ) -> Result<Vec<E>, Error> {
            let mut values = vec![blank; length];
            buffers.read(from, &mut values)?;
            Ok(values)
        }
        let n = tree.boxes;
        let mut level = vec![0; n];
        for at in 0..=tree.depth {
            let range = tree.level(at);
            level[range.start as usize..range.end as usize].fill(at as u32);
        }
        Ok(Self {
            level,
            key: read(buffers, &tree.key, n, 0)?,
            sources: read(buffers, &tree.sources, n, [0; 2])?,
            targets: read(buffers, &tree.targets, n, [0; 2])?,
            parent: read(buffers, &tree.parent, n, 0)?,
            children: read(buffers, &tree.children, 8 * n, 0)?,
            is_leaf: read(buffers, &tree.is_leaf, n, 0)?,
            neighbours: read(buffers, &tree.neighbours, 27 * n, 0)?,
            source_order: read(buffers, &tree.source_order, sources, 0)?,
            target_order: read(buffers, &tree.target_order, targets, 0)?,
        })
    }

    fn count_faults<T: Precision>(
        &self,
        tree: &Octree,
        sources: &[[T; 3]],
        targets: Option<&[[T; 3]]>,
        limit: u32,
    ) -> usize {
        let mut faults = permutation_faults(&self.source_order);
        let target_order = if targets.is_some() {
            &self.target_order
        } else {
            &self.source_order
        };
        faults += permutation_faults(target_order);
        let by_cell: HashMap<(u32, u64), i32> = (0..self.key.len())
            .map(|at| ((self.level[at], self.key[at]), at as i32))
            .collect();
        faults += self.key.len() - by_cell.len();
        let find = |level: u32, cell: [i64; 3]| -> i32 {
            if cell.iter().any(|c| *c < 0 || *c >= 1 << level) {
                return -1;
            }
            by_cell.get(&(level, interleave(cell))).copied().unwrap_or(-1)
        };
        let mut leaf_points = 0;
        for at in 0..self.key.len() {
            let (level, key) = (self.level[at], self.key[at]);
            let cell = cell_of(key);
            let points = |range: [u32; 2]| range[1] - range[0];
            let count = points(self.sources[at]) + if targets.is_some() { points(self.targets[at]) } else { 0 };
            let cut = (count > limit || level < tree.header.min_level) && level < tree.header.max_level;
            faults += usize::from(cut == (self.is_leaf[at] == 1));
            let column = tree.column(level as usize, (key & 7) as usize);
            faults += usize::from(!column.contains(&(at as u32)));
            if level == 0 {
                faults += usize::from(self.parent[at] != -1);
            } else {
                faults += usize::from(self.parent[at] != find(level - 1, cell.map(|c| c / 2)));
                let parent = self.parent[at].max(0) as usize;
                faults += usize::from(self.is_leaf[parent] == 1);
            }
            let mut below = 0;
            for octant in 0..8 {
                let child = self.children[8 * at + octant];
                let expected = if cut {
                    find(
                        level + 1,
                        std::array::from_fn(|axis| 2 * cell[axis] + (octant as i64 >> axis & 1)),
                    )
                } else {
                    -1
                };
                // Children without sources act on nothing.
                let acts = usize::try_from(expected).is_ok_and(|at| points(self.sources[at]) > 0);
                faults += usize::from(child != if acts { expected } else { -1 });
                if let Ok(child) = usize::try_from(child) {
                    below += points(self.sources[child]);
                }
            }
            faults += usize::from(cut && below != points(self.sources[at]));
            for k in 0..27 {
                let step = [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
                let expected = find(level, std::array::from_fn(|axis| cell[axis] + step[axis]));
                faults += usize::from(self.neighbours[27 * at + k as usize] != expected);
            }
            if self.is_leaf[at] == 1 {
                leaf_points += points(self.sources[at]);
            }
            faults += self.outside(tree, at, sources, self.sources[at], &self.source_order);
            faults += self.outside(tree, at, targets.unwrap_or(sources), self.targets[at], target_order);
        }
        faults + usize::from(leaf_points as usize != sources.len())
    }

    /// Points of a range that are not in the box.
    fn outside<T: Precision>(
        &self,
        tree: &Octree,
        at: usize,
        points: &[[T; 3]],
        range: [u32; 2],
        order: &[u32],
    ) -> usize {
        let side = tree.header.side * 0.5f64.powi(self.level[at] as i32);
        let cell = cell_of(self.key[at]);
        (range[0]..range[1])
            .filter(|k| {
                let point = points[order[*k as usize] as usize];
                !(0..3).all(|axis| {
                    let u = (point[axis].to_f64() - tree.header.corner[axis]) / side - cell[axis] as f64;
                    (-1e-9..=1.0 + 1e-9).contains(&u)
                })
            })
            .count()
    }
}

fn permutation_faults(order: &[u32]) -> usize {
    let mut seen = vec![false; order.len()];
    order
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
    fn an_order_that_repeats_an_index_is_no_permutation() {
        assert_eq!(permutation_faults(&[2, 0, 1]), 0);
        assert_eq!(permutation_faults(&[2, 0, 2]), 1);
        assert_eq!(permutation_faults(&[3, 0, 1]), 1);
    }
}
