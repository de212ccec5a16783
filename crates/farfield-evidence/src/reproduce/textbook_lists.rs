//! The textbook way to the data structure of an FMM, in O(N log N): comparison sort of the keys, and every neighbour found by a
//! search in the sorted list of occupied boxes. One thread. Hu, table A.1, compares it with the O(N) way of the library.

use farfield::simd::Real;

/// Sorts the points into boxes down to `level` and finds every box's neighbours. Returns the number of occupied boxes of all
/// levels, of pairs of boxes whose parents touch but that do not, and of pairs of boxes of the last level that touch.
pub fn build_to_level<T: Real>(sources: &[[T; 3]], receivers: &[[T; 3]], level: u32) -> [usize; 3] {
    let (corner, side) = cube_around(&[sources, receivers]);
    let [source_boxes, receiver_boxes] = [sources, receivers].map(|points| {
        let keys = sorted_keys(points, corner, side * (1.0 + 1e-12), level);
        boxes_of_levels(&keys, level)
    });
    let levels = source_boxes.iter().zip(&receiver_boxes);
    let only_receivers = |(a, b): (&Vec<u32>, &Vec<u32>)| b.iter().filter(|key| a.binary_search(key).is_err()).count();
    let (far, near) = lists_by_search(&source_boxes, &receiver_boxes);
    let boxes = source_boxes.iter().map(Vec::len).sum::<usize>() + levels.map(only_receivers).sum::<usize>();
    [boxes, far.iter().map(Vec::len).sum(), near.len()]
}

/// The lowest corner of the box around all points, and its longest side.
pub fn cube_around<T: Real>(sets: &[&[[T; 3]]]) -> ([f64; 3], f64) {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for point in sets.iter().copied().flatten() {
        for axis in 0..3 {
            let at = point[axis].to_f64();
            (low[axis], high[axis]) = (low[axis].min(at), high[axis].max(at));
        }
    }
    (low, (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max))
}

/// The points' keys at `level` with their indices, in ascending order.
fn sorted_keys<T: Real>(points: &[[T; 3]], corner: [f64; 3], side: f64, level: u32) -> Vec<(u32, u32)> {
    let cells = f64::from(1u32 << level);
    let key = |point: &[T; 3]| {
        let cell = |axis: usize| (point[axis].to_f64() - corner[axis]) * (1.0 / side) * cells;
        key_of([0, 1, 2].map(|axis| (cell(axis).max(0.0) as u32).min((1 << level) - 1)))
    };
    let mut keys: Vec<(u32, u32)> = points.iter().enumerate().map(|(k, p)| (key(p), k as u32)).collect();
    keys.sort_unstable();
    keys
}

/// The Morton key of a cell: bit 0 of each group of three is x, bit 1 y, bit 2 z.
fn key_of(cell: [u32; 3]) -> u32 {
    let spread = |v: u32| {
        let v = (v | (v << 16)) & 0x0300_00ff;
        let v = (v | (v << 8)) & 0x0300_f00f;
        let v = (v | (v << 4)) & 0x030c_30c3;
        (v | (v << 2)) & 0x0924_9249
    };
    spread(cell[0]) | spread(cell[1]) << 1 | spread(cell[2]) << 2
}

/// The cell of a key.
fn cell_of(key: u32) -> [u32; 3] {
    std::array::from_fn(|axis| (0..10).map(|bit| (key >> (3 * bit + axis) & 1) << bit).sum())
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
type Pairs = Vec<(u32, u32)>;

/// The pairs of boxes that are far from each other, level by level, and those of the last level that touch.
fn lists_by_search(source_boxes: &[Vec<u32>], receiver_boxes: &[Vec<u32>]) -> (Vec<Pairs>, Pairs) {
    let last = source_boxes.len() - 1;
    let mut far = vec![Vec::new(); last + 1];
    let mut near = Vec::new();
    for level in 2..=last {
        let (occupied, parents) = (&source_boxes[level], &source_boxes[level - 1]);
        for key in &receiver_boxes[level] {
            let (cell, parent) = (cell_of(*key), cell_of(key >> 3));
            for_neighbours(parent, level as u32 - 1, |parent_key| {
                if parents.binary_search(&parent_key).is_err() {
                    return;
                }
                for octant in 0..8 {
                    let other = parent_key << 3 | octant;
                    let touches = cell_of(other).iter().zip(&cell).all(|(a, b)| a.abs_diff(*b) <= 1);
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
    (far, near)
}

/// Calls `visit` with the keys of the boxes that touch `cell`, itself included.
fn for_neighbours(cell: [u32; 3], level: u32, mut visit: impl FnMut(u32)) {
    let range = |c: u32| c.saturating_sub(1)..=(c + 1).min((1 << level) - 1);
    for x in range(cell[0]) {
        for y in range(cell[1]) {
            for z in range(cell[2]) {
                visit(key_of([x, y, z]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use farfield::points::PointSet;
    use farfield::structure;

    #[test]
    fn both_ways_find_the_same_boxes_and_translations() {
        // A cube that every box of the first levels has points of, and a surface that leaves most boxes empty.
        for set in [PointSet::Cube, PointSet::Sphere] {
            let (sources, receivers) = (set.generate::<f32>(3000, 1), set.generate::<f32>(2000, 2));
            for level in 2..=4 {
                let fast = structure::build_to_level(&sources, &receivers, level);
                let [boxes, far, near] = build_to_level(&sources, &receivers, level);
                assert_eq!(
                    (fast.boxes, fast.translations),
                    (boxes, far),
                    "{set:?} to level {level}"
                );
                assert!(far > 0 && near > 0);
            }
        }
    }

    #[test]
    fn cells_and_keys_are_inverse() {
        for cell in [[0, 0, 0], [1, 0, 0], [5, 1023, 77], [1023; 3]] {
            assert_eq!(cell_of(key_of(cell)), cell);
        }
    }
}
