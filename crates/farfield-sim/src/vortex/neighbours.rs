//! Search for near points, with a grid of cells as wide as the search radius.

use crate::vec3::Vec3;
use std::collections::HashMap;
use std::ops::Range;

/// Points sorted into cells.
#[derive(Debug)]
pub struct Neighbours {
    side: f64,
    /// Indices of the points, cell by cell.
    order: Vec<u32>,
    cells: HashMap<[i64; 3], Range<u32>>,
}

impl Neighbours {
    /// Sorts the points into cells of side `reach`, which must be positive.
    pub fn new(points: &[Vec3], reach: f64) -> Self {
        let cell = |k: u32| cell_of(points[k as usize], reach);
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        order.sort_by_cached_key(|&k| (cell(k), k));
        let mut cells = HashMap::new();
        let mut start = 0;
        for block in order.chunk_by(|&a, &b| cell(a) == cell(b)) {
            let end = start + block.len() as u32;
            cells.insert(cell(block[0]), start..end);
            start = end;
        }
        Self {
            side: reach,
            order,
            cells,
        }
    }

    /// Calls `visit` for every point that may be within `reach` of `x`, always in the same order.
    pub fn for_each_near(&self, x: Vec3, mut visit: impl FnMut(usize)) {
        let [i, j, k] = cell_of(x, self.side);
        for di in -1..=1 {
            for dj in -1..=1 {
                for dk in -1..=1 {
                    if let Some(range) = self.cells.get(&[i + di, j + dj, k + dk]) {
                        for &at in &self.order[range.start as usize..range.end as usize] {
                            visit(at as usize);
                        }
                    }
                }
            }
        }
    }
}

/// The cell of side `side` that contains the point `x`.
pub(super) fn cell_of(x: Vec3, side: f64) -> [i64; 3] {
    x.map(|c| (c / side).floor() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::{norm, sub};
    use farfield::points::PointSet;

    #[test]
    fn every_neighbour_is_found_once() {
        let points = PointSet::Ring.generate::<f64>(500, 3);
        let neighbours = Neighbours::new(&points, 0.1);
        for x in &points {
            let mut found = Vec::new();
            neighbours.for_each_near(*x, |k| {
                if norm(sub(points[k], *x)) <= 0.1 {
                    found.push(k);
                }
            });
            found.sort_unstable();
            let expected: Vec<usize> = (0..points.len()).filter(|&k| norm(sub(points[k], *x)) <= 0.1).collect();
            assert_eq!(found, expected);
        }
    }
}
