//! The balanced pyramid: every box is cut twice near the median, so all boxes of a level hold the same number of
//! points, give or take one.
//!
//! Level `l` has `4^l` boxes, the children of box `b` are `4b .. 4b + 4`, and everything is stored in flat arrays: the
//! layout depends on the number of levels alone. A cut runs across the longer side of its box. A box's circle is drawn
//! around its points, not around the region it was cut to.

use crate::simd::Real;
use rayon::prelude::*;

/// The boxes and the points in their order.
#[derive(Debug)]
pub(crate) struct Pyramid<T> {
    /// The number of the finest level.
    pub depth: usize,
    /// All levels, the coarsest first; see [`first_of_level`].
    pub boxes: Boxes<T>,
    pub sources: Sorted<T>,
    /// `None`: the sources are the targets.
    pub targets: Option<Sorted<T>>,
}

/// The circles of the boxes.
#[derive(Debug)]
pub(crate) struct Boxes<T> {
    pub centre: Vec<[T; 2]>,
    pub radius: Vec<T>,
    /// The unit of length of a box's expansions: its radius, or a small part of its parent's where that is zero.
    pub scale: Vec<T>,
    /// The rectangle around the points, lower corner and upper corner.
    pub rectangle: Vec<[[T; 2]; 2]>,
}

/// Points, leaf by leaf.
#[derive(Debug)]
pub(crate) struct Sorted<T> {
    pub position: [Vec<T>; 2],
    /// The caller's number of each point.
    pub order: Vec<u32>,
    /// Where each leaf starts, and at last the number of points.
    pub leaf_start: Vec<u32>,
}

/// The number of boxes on all levels above `level`: where its boxes start in arrays over all boxes.
pub(crate) fn first_of_level(level: usize) -> usize {
    ((1 << (2 * level)) - 1) / 3
}

#[derive(Debug, Clone, Copy)]
struct Item<T> {
    at: [T; 2],
    /// The caller's number; targets are numbered after the sources.
    number: u32,
}

/// Below this many points a subtree is cut by one thread.
const SEQUENTIAL: usize = 1 << 12;

impl<T: Real> Pyramid<T> {
    /// Cuts the plane `depth` times four.
    pub fn build(sources: &[[T; 2]], targets: Option<&[[T; 2]]>, depth: usize) -> Self {
        let mut items: Vec<Item<T>> = sources
            .par_iter()
            .chain(targets.unwrap_or(&[]).par_iter())
            .enumerate()
            .map(|(number, at)| Item {
                at: *at,
                number: number as u32,
            })
            .collect();
        let mut starts = vec![0; (1 << (2 * depth)) + 1];
        leaf_starts(0, items.len(), &mut starts);
        let whole = rectangle_of(&items);
        cut(&mut items, whole, 2 * depth);
        let boxes = Boxes::around(&items, &starts, depth);
        let sorted_targets = targets.map(|_| Sorted::pick(&items, &starts, |n| n.checked_sub(sources.len() as u32)));
        let only_sources = |n: u32| ((n as usize) < sources.len()).then_some(n);
        Self {
            depth,
            boxes,
            sources: Sorted::pick(&items, &starts, only_sources),
            targets: sorted_targets,
        }
    }

    /// Where the targets are.
    pub fn targets(&self) -> &Sorted<T> {
        self.targets.as_ref().unwrap_or(&self.sources)
    }

    /// How many points there are, sources and targets together.
    pub fn points(&self) -> usize {
        self.sources.order.len() + self.targets.as_ref().map_or(0, |targets| targets.order.len())
    }

    /// Whether a leaf holds nothing but points at one place.
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
        (0..self.leaves()).into_par_iter().any(is_point)
    }

    /// The number of leaves.
    pub fn leaves(&self) -> usize {
        1 << (2 * self.depth)
    }
}

impl<T: Real> Sorted<T> {
    /// The points for which `number` returns the caller's number.
    fn pick(items: &[Item<T>], starts: &[u32], number: impl Fn(u32) -> Option<u32> + Sync) -> Self {
        let counts: Vec<u32> = starts
            .par_windows(2)
            .map(|w| {
                let leaf = &items[w[0] as usize..w[1] as usize];
                leaf.iter().filter(|item| number(item.number).is_some()).count() as u32
            })
            .collect();
        let mut leaf_start = vec![0; starts.len()];
        for (k, count) in counts.iter().enumerate() {
            leaf_start[k + 1] = leaf_start[k] + count;
        }
        let chosen = || {
            items
                .par_iter()
                .filter_map(|item| number(item.number).map(|n| (item.at, n)))
        };
        Self {
            position: [
                chosen().map(|(at, _)| at[0]).collect(),
                chosen().map(|(at, _)| at[1]).collect(),
            ],
            order: chosen().map(|(_, n)| n).collect(),
            leaf_start,
        }
    }

    /// The points of a box, given the leaves below it.
    pub fn range(&self, leaves: std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.leaf_start[leaves.start] as usize..self.leaf_start[leaves.end] as usize
    }
}

/// Repeated halving of `count` points from `start` on, into as many leaves as `starts` has after its first.
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

/// Cuts the items at the median `times` times, each time across the longer side of `region`.
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
        rayon::join(|| cut(left, lower, times - 1), || cut(right, upper, times - 1));
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

/// The rectangle around the items; a point at the origin if there are none.
fn rectangle_of<T: Real>(items: &[Item<T>]) -> [[T; 2]; 2] {
    let of_chunk = |chunk: &[Item<T>]| {
        chunk
            .iter()
            .fold([chunk[0].at; 2], |rectangle, item| merged(rectangle, [item.at; 2]))
    };
    items
        .par_chunks(1 << 14)
        .map(of_chunk)
        .reduce_with(merged)
        .unwrap_or([[T::ZERO; 2]; 2])
}

impl<T: Real> Boxes<T> {
    fn around(items: &[Item<T>], starts: &[u32], depth: usize) -> Self {
        let count = first_of_level(depth + 1);
        let mut rectangle = vec![[[T::ZERO; 2]; 2]; count];
        rectangle[first_of_level(depth)..]
            .par_iter_mut()
            .enumerate()
            .with_min_len(64)
            .for_each(|(leaf, out)| {
                let items = &items[starts[leaf] as usize..starts[leaf + 1] as usize];
                if let Some(first) = items.first() {
                    *out = items.iter().fold([first.at; 2], |r, item| merged(r, [item.at; 2]));
                }
            });
        for b in (0..first_of_level(depth)).rev() {
            rectangle[b] = (1..4).fold(rectangle[4 * b + 1], |r, c| merged(r, rectangle[4 * b + 1 + c]));
        }
        let half = T::from_f64(0.5);
        // Halved before they are added: the sum of two large coordinates could overflow.
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
            let mut numbers = pyramid.sources.order.clone();
            numbers.sort_unstable();
            assert!(numbers.iter().enumerate().all(|(k, n)| k == *n as usize));
        }
    }

    #[test]
    fn cuts_run_across_the_longer_side() {
        // Four times as wide as high: the first two cuts are both across x.
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
