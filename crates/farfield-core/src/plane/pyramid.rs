//! The balanced pyramid: every box is cut twice near the median, so all boxes of a level hold the same number of
//! points, plus or minus one.
//!
//! Level `l` has `4^l` boxes, and the children of box `b` are `4b .. 4b + 4`. All arrays are flat, and their layout
//! depends only on the number of levels. A cut divides the longer side of a box. The circle of a box encloses its
//! points, not the region it was cut to.

use crate::parallel::{for_chunks, join, map, map_pieces, reduce_pieces};
use crate::simd::Real;
use std::ops::Range;

/// The boxes and the points in their order.
#[derive(Debug)]
pub(crate) struct Pyramid<T> {
    /// The finest level.
    pub depth: usize,
    /// The boxes of all levels, the coarsest first; see [`first_of_level`].
    pub boxes: Boxes<T>,
    pub sources: Sorted<T>,
    /// `None` if the sources are the targets.
    pub targets: Option<Sorted<T>>,
}

/// The circles of the boxes.
#[derive(Debug)]
pub(crate) struct Boxes<T> {
    pub centre: Vec<[T; 2]>,
    pub radius: Vec<T>,
    /// The unit of length of a box's expansions: its radius, or a small fraction of its parent's if the radius is
    /// zero.
    pub scale: Vec<T>,
    /// The bounding rectangles of the points: lower corner and upper corner.
    pub rectangle: Vec<[[T; 2]; 2]>,
}

/// Points, leaf by leaf.
#[derive(Debug)]
pub(crate) struct Sorted<T> {
    pub position: [Vec<T>; 2],
    /// The caller's index of each point.
    pub permutation: Vec<u32>,
    /// The start of each leaf, followed by the number of points.
    pub leaf_start: Vec<u32>,
}

/// The number of boxes on all levels coarser than `level`, and so the index of its first box in arrays over all boxes.
pub(crate) fn first_of_level(level: usize) -> usize {
    ((1 << (2 * level)) - 1) / 3
}

#[derive(Debug, Clone, Copy)]
struct Item<T> {
    at: [T; 2],
    /// The caller's index; targets are numbered after the sources.
    number: u32,
}

/// The number of points below which one thread cuts a subtree.
const SEQUENTIAL: usize = 1 << 12;

impl<T: Real> Pyramid<T> {
    /// Builds a pyramid with `depth` levels below the root.
    pub fn build(sources: &[[T; 2]], targets: Option<&[[T; 2]]>, depth: usize) -> Self {
        let other_points = targets.unwrap_or(&[]);
        let mut items = map(sources.len() + other_points.len(), POINTS, |k| Item {
            at: *sources.get(k).unwrap_or_else(|| &other_points[k - sources.len()]),
            number: k as u32,
        });
        let mut starts = vec![0; (1 << (2 * depth)) + 1];
        leaf_starts(0, items.len(), &mut starts);
        let whole = rectangle_of(&items);
        cut(&mut items, whole, 2 * depth);
        let boxes = Boxes::around(&items, &starts, depth);
        let (sources, targets) = match targets {
            None => (Sorted::all(&items, starts), None),
            Some(_) => {
                let of_target = |n: u32| n.checked_sub(sources.len() as u32);
                let of_source = |n: u32| ((n as usize) < sources.len()).then_some(n);
                let pick = |number: &(dyn Fn(u32) -> Option<u32> + Sync)| Sorted::pick(&items, &starts, number);
                (pick(&of_source), Some(pick(&of_target)))
            }
        };
        Self {
            depth,
            boxes,
            sources,
            targets,
        }
    }

    /// The targets, which may be the sources.
    pub fn targets(&self) -> &Sorted<T> {
        self.targets.as_ref().unwrap_or(&self.sources)
    }

    /// The number of points, sources and targets together.
    pub fn points(&self) -> usize {
        self.sources.permutation.len() + self.targets.as_ref().map_or(0, |targets| targets.permutation.len())
    }

    /// Whether some leaf holds several points, all at the same place.
    pub fn has_leaf_of_duplicates(&self) -> bool {
        let first = first_of_level(self.depth);
        let is_point = |leaf: usize| {
            let points = self.sources.range(leaf..leaf + 1).len()
                + self
                    .targets
                    .as_ref()
                    .map_or(0, |targets| targets.range(leaf..leaf + 1).len());
            points > 1 && self.boxes.radius[first + leaf] == T::ZERO
        };
        (0..self.leaves()).any(is_point)
    }

    /// The number of leaves.
    pub fn leaves(&self) -> usize {
        1 << (2 * self.depth)
    }
}

/// Points per task.
const POINTS: usize = 1 << 13;

impl<T: Real> Sorted<T> {
    /// All points, whose leaves start at `starts`.
    fn all(items: &[Item<T>], starts: Vec<u32>) -> Self {
        Self {
            position: std::array::from_fn(|axis| map(items.len(), POINTS, |k| items[k].at[axis])),
            permutation: map(items.len(), POINTS, |k| items[k].number),
            leaf_start: starts,
        }
    }

    /// The points for which `number` returns the caller's index.
    fn pick(items: &[Item<T>], starts: &[u32], number: &(dyn Fn(u32) -> Option<u32> + Sync)) -> Self {
        let pieces = map_pieces(starts.len() - 1, 1024, |leaves| {
            let (mut chosen, mut ends) = (Vec::new(), Vec::with_capacity(leaves.len()));
            for leaf in leaves {
                let leaf = &items[starts[leaf] as usize..starts[leaf + 1] as usize];
                chosen.extend(leaf.iter().filter_map(|item| {
                    let number = number(item.number)?;
                    Some(Item { number, ..*item })
                }));
                ends.push(chosen.len() as u32);
            }
            (chosen, ends)
        });
        let mut chosen = Vec::with_capacity(items.len());
        let mut leaf_start = Vec::with_capacity(starts.len());
        leaf_start.push(0);
        for (of_piece, ends) in pieces {
            leaf_start.extend(ends.iter().map(|end| chosen.len() as u32 + end));
            chosen.extend(of_piece);
        }
        Self::all(&chosen, leaf_start)
    }

    /// The points of a box, given the leaves below it.
    pub fn range(&self, leaves: std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.leaf_start[leaves.start] as usize..self.leaf_start[leaves.end] as usize
    }
}

/// Divides `count` points from `start` on by repeated halving into `starts.len() - 1` leaves.
fn leaf_starts(start: usize, count: usize, starts: &mut [u32]) {
    let leaves = starts.len() - 1;
    if leaves == 1 {
        (starts[0], starts[1]) = (start as u32, (start + count) as u32);
        return;
    }
    let half = count / 2;
    leaf_starts(start, half, &mut starts[..=leaves / 2]);
    leaf_starts(start + half, count - half, &mut starts[leaves / 2..]);
}

/// Cuts the items at the median `times` times, each time dividing the longer side of `region`.
fn cut<T: Real>(items: &mut [Item<T>], region: [[T; 2]; 2], times: usize) {
    if times == 0 || items.len() < 2 {
        return;
    }
    let [low, high] = region;
    let axis = usize::from(high[1] - low[1] > high[0] - low[0]);
    let half = items.len() / 2;
    let (_, median, _) = items.select_nth_unstable_by(half, |a, b| {
        // All coordinates are finite: the order is total.
        a.at[axis].partial_cmp(&b.at[axis]).unwrap_or(std::cmp::Ordering::Equal)
    });
    let at = median.at[axis];
    let (mut lower, mut upper) = (region, region);
    lower[1][axis] = at;
    upper[0][axis] = at;
    let (left, right) = items.split_at_mut(half);
    if left.len() > SEQUENTIAL {
        join(|| cut(left, lower, times - 1), || cut(right, upper, times - 1));
    } else {
        cut(left, lower, times - 1);
        cut(right, upper, times - 1);
    }
}

fn merged<T: Real>(a: [[T; 2]; 2], b: [[T; 2]; 2]) -> [[T; 2]; 2] {
    let pick = |take_b: bool, a: T, b: T| if take_b { b } else { a };
    let mut out = a;
    for axis in 0..2 {
        out[0][axis] = pick(b[0][axis] < a[0][axis], a[0][axis], b[0][axis]);
        out[1][axis] = pick(b[1][axis] > a[1][axis], a[1][axis], b[1][axis]);
    }
    out
}

/// The bounding rectangle of the items; the origin if there are no items.
fn rectangle_of<T: Real>(items: &[Item<T>]) -> [[T; 2]; 2] {
    let of_piece = |piece: Range<usize>| {
        let first = items[piece.start].at;
        items[piece]
            .iter()
            .fold([first; 2], |rectangle, item| merged(rectangle, [item.at; 2]))
    };
    reduce_pieces(items.len(), POINTS, of_piece, merged).unwrap_or_default()
}

impl<T: Real> Boxes<T> {
    fn around(items: &[Item<T>], starts: &[u32], depth: usize) -> Self {
        let count = first_of_level(depth + 1);
        let mut rectangle = vec![[[T::ZERO; 2]; 2]; count];
        for_chunks(&mut rectangle[first_of_level(depth)..], 64, &|piece, rectangles| {
            for (k, out) in rectangles.iter_mut().enumerate() {
                let leaf = 64 * piece + k;
                let items = &items[starts[leaf] as usize..starts[leaf + 1] as usize];
                if let Some(first) = items.first() {
                    *out = items.iter().fold([first.at; 2], |r, item| merged(r, [item.at; 2]));
                }
            }
        });
        for b in (0..first_of_level(depth)).rev() {
            rectangle[b] = (1..4).fold(rectangle[4 * b + 1], |r, c| merged(r, rectangle[4 * b + 1 + c]));
        }
        let half = T::from_f64(0.5);
        // Coordinates are halved before they are added, because their sum could overflow.
        let centre: Vec<[T; 2]> = rectangle
            .iter()
            .map(|[low, high]| [half * low[0] + half * high[0], half * low[1] + half * high[1]])
            .collect();
        let radius: Vec<T> = rectangle
            .iter()
            .zip(&centre)
            .map(|(corners, centre)| {
                let side = |axis: usize| {
                    let (a, b) = (centre[axis] - corners[0][axis], corners[1][axis] - centre[axis]);
                    if a > b { a } else { b }
                };
                (side(0) * side(0) + side(1) * side(1)).sqrt()
            })
            .collect();
        let mut scale = radius.clone();
        let floor = T::from_f64(2f64.powi(-20));
        for b in 0..count {
            let least = if b == 0 { T::ONE } else { floor * scale[(b - 1) / 4] };
            if b == 0 && scale[0] == T::ZERO || scale[b] < least && b > 0 {
                scale[b] = least;
            }
        }
        Self {
            centre,
            radius,
            scale,
            rectangle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::points::PlaneSet;

    #[test]
    fn leaves_hold_equal_numbers_and_boxes_hold_their_points() {
        for set in PlaneSet::ALL {
            let points = set.generate::<f64>(3_001, 1);
            let pyramid = Pyramid::build(&points, None, 4);
            for leaf in 0..pyramid.leaves() {
                let range = pyramid.sources.range(leaf..leaf + 1);
                assert!((11..=12).contains(&range.len()), "{set}: {} points", range.len());
                for level in 0..=4 {
                    let b = first_of_level(level) + (leaf >> (2 * (4 - level)));
                    let ([x, y], r) = (pyramid.boxes.centre[b], pyramid.boxes.radius[b]);
                    for k in range.clone() {
                        let (px, py) = (pyramid.sources.position[0][k], pyramid.sources.position[1][k]);
                        assert!((px - x).hypot(py - y) <= r * (1.0 + 1e-12) + 1e-300);
                    }
                }
            }
            let mut numbers = pyramid.sources.permutation.clone();
            numbers.sort_unstable();
            assert!(numbers.iter().enumerate().all(|(k, n)| k == *n as usize));
        }
    }

    #[test]
    fn cuts_divide_the_longer_side() {
        // Four times as wide as high: the first two cuts both divide x.
        let points: Vec<[f64; 2]> = PlaneSet::Square
            .generate::<f64>(4096, 3)
            .iter()
            .map(|p| [4.0 * p[0], p[1]])
            .collect();
        let pyramid = Pyramid::build(&points, None, 1);
        for child in 1..=4 {
            let [low, high] = pyramid.boxes.rectangle[child];
            assert!(high[0] - low[0] < 1.2 && high[1] - low[1] > 0.9);
        }
    }
}
