//! The geometry of an evaluation: points in tree order, the tree, and the interaction lists.

use super::operators::{Frame, LeafPoints, Placement};
use crate::pages::zeroed;
use crate::parallel::{for_columns, for_segments, map};
use crate::simd::Real;
use crate::tree::octree::Node;
use crate::tree::{Lists, Octree};
use std::ops::Range;

/// Points, tree and lists, independent of kernels and expansions.
#[derive(Debug)]
pub(crate) struct Layout<T: Real> {
    pub tree: Octree,
    pub lists: Lists,
    pub sources: SortedPoints<T>,
    /// `None` if the sources are the targets.
    pub targets: Option<SortedPoints<T>>,
    /// Leaves in groups: `lists.leaves[leaf_groups[g]..leaf_groups[g + 1]]`.
    leaf_groups: Vec<usize>,
    /// For each level, the translations from children into each piece of parents.
    pub m2m_moves: Vec<Vec<Moves>>,
    /// For each level, the translations from parents into each piece of children.
    pub l2l_moves: Vec<Vec<Moves>>,
}

impl<T: Real> Layout<T> {
    /// Sorts the points of a tree; `targets` is `None` if the sources are the targets.
    pub fn new(tree: Octree, lists: Lists, sources: &[[T; 3]], targets: Option<&[[T; 3]]>) -> Self {
        Self {
            sources: SortedPoints::new(sources, &tree.source_permutation),
            targets: targets.map(|targets| SortedPoints::new(targets, &tree.target_permutation)),
            leaf_groups: group_leaves(&tree, &lists),
            m2m_moves: upward_moves(&tree),
            l2l_moves: downward_moves(&tree),
            tree,
            lists,
        }
    }

    pub fn target_points(&self) -> &SortedPoints<T> {
        self.targets.as_ref().unwrap_or(&self.sources)
    }

    /// The sources of a leaf, in its frame.
    pub fn sources_of(&self, leaf: &Node) -> LeafPoints<'_, T> {
        self.sources.of_box(&leaf.sources, &self.tree, leaf)
    }

    /// The targets of a leaf, in its frame.
    pub fn targets_of(&self, leaf: &Node) -> LeafPoints<'_, T> {
        self.target_points().of_box(&leaf.targets, &self.tree, leaf)
    }

    /// The range of targets of a leaf, with indices as in [`Lists::leaves`].
    pub fn leaf_range(&self, leaf: usize) -> Range<usize> {
        let targets = &self.tree.nodes[self.lists.leaves[leaf] as usize].targets;
        targets.start as usize..targets.end as usize
    }

    /// The map from the leaf frame of `from` to the frame of `to`.
    pub fn placement(&self, from: &Node, to: &Node) -> Placement {
        let ratio = 2f64.powi(to.level as i32 - from.level as i32);
        let offset = std::array::from_fn(|axis| {
            // In units of the root's side both are exact binary fractions.
            let a = (from.cell[axis] as f64 + 0.5) * 0.5f64.powi(from.level as i32);
            let b = (to.cell[axis] as f64 + 0.5) * 0.5f64.powi(to.level as i32);
            (a - b) * 2f64.powi(to.level as i32)
        });
        Placement { ratio, offset }
    }

    /// Calls `work` with each group of leaves and the sums of their targets, `rows` for each target.
    pub fn over_leaf_groups(&self, rows: usize, sums: &mut [T], work: impl Fn(Range<usize>, &mut [T]) + Sync) {
        let start = |g: usize| rows * self.leaf_range(self.leaf_groups[g]).start;
        let groups = self.leaf_groups.len() - 1;
        for_segments(sums, 0..groups, &start, &|g, sums| {
            work(self.leaf_groups[g]..self.leaf_groups[g + 1], sums)
        });
    }
}

/// Points in tree order.
#[derive(Debug)]
pub(crate) struct SortedPoints<T> {
    /// Coordinates as given, axis by axis.
    pub position: [Vec<T>; 3],
}

impl<T: Real> SortedPoints<T> {
    /// Sorts `points` by `permutation`.
    pub fn new(points: &[[T; 3]], permutation: &[u32]) -> Self {
        const PIECE: usize = 64;
        let mut position: [Vec<T>; 3] = std::array::from_fn(|_| zeroed(T::ZERO, points.len()));
        let pieces = 0..points.len().div_ceil(PIECE);
        let start = |piece: usize| (piece * PIECE).min(points.len());
        let columns = position.each_mut().map(|column| &mut column[..]);
        for_columns(columns, pieces, &start, &|k, columns: [&mut [T]; 3]| {
            for (i, at) in permutation[start(k)..start(k + 1)].iter().enumerate() {
                for axis in 0..3 {
                    columns[axis][i] = points[*at as usize][axis];
                }
            }
        });
        Self { position }
    }

    /// The points of a box: its sources or its targets.
    pub fn of_box(&self, range: &Range<u32>, tree: &Octree, node: &Node) -> LeafPoints<'_, T> {
        let range = range.start as usize..range.end as usize;
        LeafPoints {
            position: self.position.each_ref().map(|column| &column[range.clone()]),
            frame: Frame::of(tree, node),
        }
    }
}

/// Boxes per piece of P2M work; few, because leaves may hold many points.
pub(crate) const P2M_BOXES: usize = 8;
/// Parents per piece of M2M work, and children per piece of L2L work: both fill vectors with boxes of one octant.
pub(crate) const M2M_PARENTS: usize = 16;
pub(crate) const L2L_CHILDREN: usize = 64;

/// The M2M or L2L translations of a piece: for each octant, (source, target), so that vectors can be filled with boxes
/// that share a shift. Indices count from the start of the source level and of the piece.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    pub by_octant: [Vec<(u32, u32)>; 8],
}

/// For each level, the moves from its boxes into pieces of their parents.
fn upward_moves(tree: &Octree) -> Vec<Vec<Moves>> {
    by_level(tree, |parents, children| {
        in_pieces(parents, M2M_PARENTS, |k, parent, moves| {
            for child in tree.nodes[parent].children.clone() {
                let node = &tree.nodes[child as usize];
                if !node.sources.is_empty() {
                    let from = child - children.start as u32;
                    moves.by_octant[node.octant as usize].push((from, k));
                }
            }
        })
    })
}

/// For each level, the moves from the parents into pieces of its boxes.
fn downward_moves(tree: &Octree) -> Vec<Vec<Moves>> {
    by_level(tree, |parents, children| {
        in_pieces(children, L2L_CHILDREN, |k, child, moves| {
            let node = &tree.nodes[child];
            if !node.targets.is_empty() {
                let from = node.parent - parents.start as u32;
                moves.by_octant[node.octant as usize].push((from, k));
            }
        })
    })
}

/// `moves(parents, children)` for each level but the root's.
fn by_level(tree: &Octree, moves: impl Fn(&Range<usize>, &Range<usize>) -> Vec<Moves>) -> Vec<Vec<Moves>> {
    let mut levels = vec![Vec::new()];
    levels.extend(tree.levels.windows(2).map(|pair| moves(&pair[0], &pair[1])));
    levels
}

/// The translations of boxes, in pieces: calls `add(index in its piece, box, moves of the piece)` for each box. The
/// pieces of a level are shared among threads, because the deepest level has nearly all boxes.
fn in_pieces(boxes: &Range<usize>, piece: usize, add: impl Fn(u32, usize, &mut Moves) + Sync + Send) -> Vec<Moves> {
    const PIECES_OF_TASK: usize = 8;
    map(boxes.len().div_ceil(piece), PIECES_OF_TASK, |k| {
        let mut moves = Moves::default();
        let first = boxes.start + k * piece;
        for at in first..(first + piece).min(boxes.end) {
            add((at - first) as u32, at, &mut moves);
        }
        moves
    })
}

/// The approximate number of targets in a group of leaves.
const GROUP_TARGETS: usize = 512;

fn group_leaves(tree: &Octree, lists: &Lists) -> Vec<usize> {
    let mut groups = vec![0];
    let mut targets = 0;
    for (k, leaf) in lists.leaves.iter().enumerate() {
        targets += tree.nodes[*leaf as usize].target_count();
        if targets >= GROUP_TARGETS {
            groups.push(k + 1);
            targets = 0;
        }
    }
    if *groups.last().unwrap_or(&0) != lists.leaves.len() {
        groups.push(lists.leaves.len());
    }
    groups
}
