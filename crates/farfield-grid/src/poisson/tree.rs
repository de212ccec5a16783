//! The octree of the sources.

use super::sources::Sources;
use crate::forest::Domain;
use farfield::simd::Real;
use rayon::prelude::*;
use std::ops::Range;

/// A box of the source tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The range of its sources.
    pub sources: Range<usize>,
    /// The centre of its sources' bounding box, which is the centre of its expansion.
    pub center: [f64; 3],
    /// The radius of the sphere around the centre that holds its sources.
    pub radius: f64,
    /// The indices of its children; empty for a leaf.
    pub children: Range<usize>,
}

impl Node {
    /// Whether the box has no children.
    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }
}

/// The octree, level by level from the root.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceTree {
    nodes: Vec<Node>,
    /// The first node of each level, and the number of all nodes.
    level_starts: Vec<usize>,
}

/// A box that may still be cut: its node, lower corner and side.
struct Box3 {
    node: usize,
    corner: [f64; 3],
    side: f64,
}

/// The largest depth: coincident points cannot be separated, and grids do not get deeper than this.
const MAX_DEPTH: usize = 32;

impl SourceTree {
    /// Cuts boxes until none holds more than `capacity` sources.
    pub fn build<T: Real>(sources: &Sources<T>, domain: &Domain, capacity: usize) -> Self {
        let capacity = capacity.max(1);
        // The cube on whose octants the Morton order is based.
        let roots = domain.roots().into_iter().max().unwrap_or(1).next_power_of_two();
        let side = f64::from(roots) * domain.size()[0] / f64::from(domain.roots()[0]);
        let mut tree = Self {
            nodes: vec![Node::of(sources, 0..sources.len())],
            level_starts: vec![0, 1],
        };
        let mut boxes = vec![Box3 {
            node: 0,
            corner: domain.origin(),
            side,
        }];
        while !boxes.is_empty() && tree.depth() < MAX_DEPTH {
            boxes.retain(|cut| tree.nodes[cut.node].sources.len() > capacity);
            let children: Vec<Vec<(Node, [f64; 3])>> = boxes
                .par_iter()
                .map(|cut| cut.children(sources, tree.nodes[cut.node].sources.clone()))
                .collect();
            let mut next = Vec::new();
            for (cut, children) in boxes.iter().zip(children) {
                let first = tree.nodes.len();
                tree.nodes[cut.node].children = first..first + children.len();
                for (node, corner) in children {
                    next.push(Box3 {
                        node: tree.nodes.len(),
                        corner,
                        side: 0.5 * cut.side,
                    });
                    tree.nodes.push(node);
                }
            }
            if !next.is_empty() {
                tree.level_starts.push(tree.nodes.len());
            }
            boxes = next;
        }
        tree
    }

    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// For each node, `factor` times the largest smoothing length of its sources.
    pub(crate) fn clearances<T: Real>(&self, sources: &Sources<T>, factor: f64) -> Vec<f64> {
        let mut clearances = vec![0.0; self.nodes.len()];
        if factor == 0.0 {
            return clearances;
        }
        // Children come after their parents.
        for (number, node) in self.nodes.iter().enumerate().rev() {
            clearances[number] = if node.is_leaf() {
                let largest = node
                    .sources
                    .clone()
                    .map(|source| sources.epsilon2(source))
                    .fold(0.0, f64::max);
                factor * largest.sqrt()
            } else {
                clearances[node.children.clone()].iter().copied().fold(0.0, f64::max)
            };
        }
        clearances
    }

    /// The depth: 0 for a tree that is only a root.
    pub fn depth(&self) -> usize {
        self.level_starts.len() - 2
    }

    /// The indices of the nodes of a level.
    pub fn level(&self, level: usize) -> Range<usize> {
        self.level_starts[level]..self.level_starts[level + 1]
    }
}

impl Box3 {
    /// The octants that hold sources, with their corners. In Morton order the sources of an octant are contiguous.
    fn children<T: Real>(&self, sources: &Sources<T>, range: Range<usize>) -> Vec<(Node, [f64; 3])> {
        let half = 0.5 * self.side;
        let octant = |source: usize| {
            let x = sources.position(source);
            let upper = |axis: usize| usize::from(x[axis] >= self.corner[axis] + half) << axis;
            upper(0) | upper(1) | upper(2)
        };
        let mut children = Vec::with_capacity(8);
        let mut start = range.start;
        for k in 0..8 {
            let end = partition_point(start..range.end, |source| octant(source) <= k);
            if end > start {
                let corner = std::array::from_fn(|axis| self.corner[axis] + half * (k >> axis & 1) as f64);
                children.push((Node::of(sources, start..end), corner));
            }
            start = end;
        }
        children
    }
}

/// The first element of the range for which `before` is false; elements for which it is true come first.
fn partition_point(range: Range<usize>, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Sources in a chunk of parallel work.
const IN_A_ROW: usize = 4096;
/// Values compared at a time, for vectorisation.
const ABREAST: usize = 8;

impl Node {
    fn of<T: Real>(sources: &Sources<T>, range: Range<usize>) -> Self {
        let [x, y, z] = [0, 1, 2].map(|axis| &sources.position[axis][range.clone()]);
        let center = [middle(x), middle(y), middle(z)];
        let parts = x
            .par_chunks(IN_A_ROW)
            .zip(y.par_chunks(IN_A_ROW))
            .zip(z.par_chunks(IN_A_ROW));
        let radius2 = parts
            .map(|((x, y), z)| largest_distance2([x, y, z], center))
            .reduce(|| 0.0, f64::max);
        Self {
            sources: range,
            center,
            radius: radius2.sqrt(),
            children: 0..0,
        }
    }
}

/// The mean of the smallest and the largest coordinate; zero if there are no coordinates.
fn middle<T: Real>(coordinates: &[T]) -> f64 {
    let Some(first) = coordinates.first() else {
        return 0.0;
    };
    let wider = |a: (T, T), b: (T, T)| (if b.0 < a.0 { b.0 } else { a.0 }, if b.1 > a.1 { b.1 } else { a.1 });
    let (low, high) = coordinates
        .par_chunks(IN_A_ROW)
        .map(|coordinates| {
            let (mut low, mut high) = ([*first; ABREAST], [*first; ABREAST]);
            let (chunks, rest) = coordinates.as_chunks::<ABREAST>();
            for chunk in chunks {
                for k in 0..ABREAST {
                    low[k] = if chunk[k] < low[k] { chunk[k] } else { low[k] };
                    high[k] = if chunk[k] > high[k] { chunk[k] } else { high[k] };
                }
            }
            let rest = rest.iter().map(|c| (*c, *c));
            low.into_iter().zip(high).chain(rest).fold((*first, *first), wider)
        })
        .reduce(|| (*first, *first), wider);
    0.5 * (low.to_f64() + high.to_f64())
}

/// The largest squared distance of the points from `center`.
fn largest_distance2<T: Real>([x, y, z]: [&[T]; 3], center: [f64; 3]) -> f64 {
    let mut largest = [0.0f64; ABREAST];
    for first in (0..x.len()).step_by(ABREAST) {
        let count = ABREAST.min(x.len() - first);
        let (x, y, z) = (&x[first..][..count], &y[first..][..count], &z[first..][..count]);
        for k in 0..count {
            let (dx, dy, dz) = (
                x[k].to_f64() - center[0],
                y[k].to_f64() - center[1],
                z[k].to_f64() - center[2],
            );
            let distance2 = dx * dx + dy * dy + dz * dz;
            largest[k] = if distance2 > largest[k] { distance2 } else { largest[k] };
        }
    }
    largest.into_iter().fold(0.0, f64::max)
}
