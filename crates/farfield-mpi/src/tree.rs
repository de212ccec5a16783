//! A coarse tree over the sources of a rank, aligned to the root that all ranks share: boxes with centre and radius
//! only.

use crate::curve::levels;
use farfield::simd::Real;

/// The bounding box of points: lowest and highest coordinates. Without points it is empty, at an infinite distance from
/// everything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent<const D: usize> {
    /// Lowest coordinates.
    pub low: [f64; D],
    /// Highest coordinates.
    pub high: [f64; D],
}

impl<const D: usize> Extent<D> {
    /// The empty box.
    pub const EMPTY: Self = Self {
        low: [f64::INFINITY; D],
        high: [f64::NEG_INFINITY; D],
    };

    /// The bounding box of points.
    pub fn of<T: Real>(points: impl Iterator<Item = [T; D]>) -> Self {
        let mut extent = Self::EMPTY;
        for point in points {
            for axis in 0..D {
                let c = point[axis].to_f64();
                extent.low[axis] = extent.low[axis].min(c);
                extent.high[axis] = extent.high[axis].max(c);
            }
        }
        extent
    }

    /// Whether the box is empty.
    pub fn is_empty(&self) -> bool {
        (0..D).any(|axis| self.low[axis] > self.high[axis])
    }

    /// The bounding box of both.
    pub fn join(&self, other: &Self) -> Self {
        Self {
            low: std::array::from_fn(|axis| self.low[axis].min(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].max(other.high[axis])),
        }
    }

    /// Half of the diagonal; zero for an empty box.
    pub fn half_diagonal(&self) -> f64 {
        let square = |axis: usize| (0.5 * self.high[axis] - 0.5 * self.low[axis]).max(0.0).powi(2);
        (0..D).map(square).sum::<f64>().sqrt()
    }

    /// The centre.
    pub fn centre(&self) -> [f64; D] {
        std::array::from_fn(|axis| 0.5 * self.low[axis] + 0.5 * self.high[axis])
    }

    /// The distance of a point from the nearest point of the box.
    pub fn distance(&self, point: [f64; D]) -> f64 {
        let square = |axis: usize| {
            let beyond = (self.low[axis] - point[axis])
                .max(point[axis] - self.high[axis])
                .max(0.0);
            beyond * beyond
        };
        (0..D).map(square).sum::<f64>().sqrt()
    }
}

/// A box of the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<const D: usize> {
    /// The range of its points in the order of the curve.
    pub points: (usize, usize),
    /// The centre of the extent of its points.
    pub centre: [f64; D],
    /// The largest distance of its points from the centre.
    pub radius: f64,
    /// The largest core size of its sources.
    pub core: f64,
    /// The range of its children among the nodes; empty for a leaf.
    pub children: (usize, usize),
}

impl<const D: usize> Node<D> {
    /// The number of points.
    pub fn count(&self) -> usize {
        self.points.1 - self.points.0
    }

    /// Whether it has no children.
    pub fn is_leaf(&self) -> bool {
        self.children.0 == self.children.1
    }
}

/// The tree. Parents come before their children; the first node is the root.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree<const D: usize> {
    /// The boxes.
    pub nodes: Vec<Node<D>>,
    /// The range of nodes of each level.
    pub levels: Vec<(usize, usize)>,
    /// The indices of the points in the order of the curve.
    pub permutation: Vec<u32>,
}

impl<const D: usize> Tree<D> {
    /// The tree over points with their keys. Boxes with more than `capacity` points are divided. `core` gives the
    /// core size of a source.
    pub fn new<T: Real>(points: &[[T; D]], keys: &[u64], core: impl Fn(usize) -> f64, capacity: usize) -> Self {
        use rayon::slice::ParallelSliceMut;
        let mut entries: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
        entries.par_sort_unstable();
        let mut tree = Self {
            nodes: Vec::new(),
            levels: Vec::new(),
            permutation: entries.iter().map(|(_, point)| *point).collect(),
        };
        if points.is_empty() {
            return tree;
        }
        let node = |range: (usize, usize)| {
            let own = &entries[range.0..range.1];
            let at = |entry: &(u64, u32)| points[entry.1 as usize];
            let centre = Extent::of(own.iter().map(at)).centre();
            let square = |point: [T; D]| {
                (0..D)
                    .map(|axis| (point[axis].to_f64() - centre[axis]).powi(2))
                    .sum::<f64>()
            };
            Node {
                points: range,
                centre,
                radius: own.iter().map(|entry| square(at(entry))).fold(0.0, f64::max).sqrt(),
                core: own.iter().map(|entry| core(entry.1 as usize)).fold(0.0, f64::max),
                children: (0, 0),
            }
        };
        tree.nodes.push(node((0, entries.len())));
        tree.levels.push((0, 1));
        for level in 0..levels::<D>() {
            let (first, last) = (tree.levels[level as usize].0, tree.nodes.len());
            let shift = D as u32 * (levels::<D>() - 1 - level);
            for parent in first..last {
                let (begin, end) = tree.nodes[parent].points;
                if end - begin <= capacity || tree.nodes[parent].radius == 0.0 {
                    continue;
                }
                let children = tree.nodes.len();
                let mut start = begin;
                while start < end {
                    let octant = entries[start].0 >> shift;
                    let stop = start + entries[start..end].partition_point(|entry| entry.0 >> shift == octant);
                    tree.nodes.push(node((start, stop)));
                    start = stop;
                }
                tree.nodes[parent].children = (children, tree.nodes.len());
            }
            if tree.nodes.len() == last {
                break;
            }
            tree.levels.push((last, tree.nodes.len()));
        }
        tree
    }

    /// The indices of the points of a node.
    pub fn points_of(&self, node: usize) -> &[u32] {
        let (begin, end) = self.nodes[node].points;
        &self.permutation[begin..end]
    }
}

/// Boxes that together contain all points: the finest level with at most `most` non-empty boxes.
pub fn cover<T: Real, const D: usize>(points: &[[T; D]], keys: &[u64], most: usize) -> Vec<Extent<D>> {
    if points.is_empty() {
        return Vec::new();
    }
    let mut entries: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
    {
        use rayon::slice::ParallelSliceMut;
        entries.par_sort_unstable();
    }
    // Ranges of points and the level of their box.
    let mut boxes = vec![(0, entries.len(), 0)];
    let mut level = 0;
    while level < levels::<D>() {
        let shift = D as u32 * (levels::<D>() - 1 - level);
        let mut cut = Vec::new();
        for (begin, end, _) in &boxes {
            let mut start = *begin;
            while start < *end {
                let octant = entries[start].0 >> shift;
                let stop = start + entries[start..*end].partition_point(|entry| entry.0 >> shift == octant);
                cut.push((start, stop, level + 1));
                start = stop;
            }
        }
        if cut.len() > most {
            break;
        }
        boxes = cut;
        level += 1;
    }
    boxes
        .into_iter()
        .map(|(begin, end, _)| Extent::of(entries[begin..end].iter().map(|entry| points[entry.1 as usize])))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::Threads;
    use crate::curve::Root;
    use farfield::points::PointSet;

    fn keys<const D: usize>(points: &[[f64; D]]) -> Vec<u64> {
        let root = Threads::run(1, |ranks| Root::of_all(ranks, [points, &[]]))[0];
        points.iter().map(|point| root.key(*point)).collect()
    }

    #[test]
    fn every_point_is_in_one_leaf_and_within_its_radius() {
        for set in PointSet::ALL {
            let points = set.generate::<f64>(5000, 3);
            let tree = Tree::new(&points, &keys(&points), |k| k as f64, 60);
            let mut seen = vec![0; points.len()];
            for (k, node) in tree.nodes.iter().enumerate() {
                assert!(node.is_leaf() || node.count() > 60);
                assert!(!node.is_leaf() || node.count() <= 60, "{set}");
                for point in tree.points_of(k) {
                    let distance = (0..3)
                        .map(|axis| (points[*point as usize][axis] - node.centre[axis]).powi(2))
                        .sum::<f64>();
                    assert!(distance.sqrt() <= node.radius * (1.0 + 1e-12));
                    seen[*point as usize] += usize::from(node.is_leaf());
                }
                let children = (node.children.0..node.children.1)
                    .map(|child| tree.nodes[child].count())
                    .sum::<usize>();
                assert!(node.is_leaf() || children == node.count());
                assert_eq!(
                    node.core,
                    tree.points_of(k).iter().copied().max().map_or(0.0, f64::from)
                );
            }
            assert!(seen.iter().all(|count| *count == 1), "{set}");
        }
    }

    #[test]
    fn coincident_points_are_one_leaf() {
        let points = vec![[0.25, 0.5]; 1000];
        let tree = Tree::new(&points, &keys(&points), |_| 0.0, 10);
        assert_eq!((tree.nodes.len(), tree.nodes[0].radius), (1, 0.0));
        assert!(Tree::<2>::new::<f64>(&[], &[], |_| 0.0, 10).nodes.is_empty());
    }

    #[test]
    fn covers_contain_all_points_in_few_boxes() {
        for set in PointSet::ALL {
            let points = set.generate::<f64>(2000, 3);
            let boxes = cover(&points, &keys(&points), 32);
            assert!((1..=32).contains(&boxes.len()));
            for point in points {
                assert!(boxes.iter().any(|extent| extent.distance(point) == 0.0), "{set}");
            }
        }
        assert!(cover::<f64, 3>(&[], &[], 32).is_empty());
    }
}
