//! Tables and memory of an FMM evaluation, made once per plan.

use super::m2l::Ways;
use super::mutual::Mutual;
use super::operators::{Frame, LeafPoints, Placement, strengths_scratch};
use crate::expansion::coefficient_count;
use crate::expansion::harmonics::Recurrence;
use crate::expansion::translation::{self, Translations};
use crate::kernel::{FarOutputs, FarSources, Side, Sizes};
use crate::p2p::Pairs;
use crate::pages::{give_back, zeroed};
use crate::parallel::{ScratchPool, for_columns, map};
use crate::simd::{Real, SimdLevel, lanes_len};
use crate::tree::lists::{SHIFTS, shift_of};
use crate::tree::octree::Node;
use crate::tree::{Lists, Octree};
use crate::tuning::truncation::class_of;
use std::ops::Range;

/// Points in tree order.
#[derive(Debug)]
pub(crate) struct SortedPoints<T> {
    /// Coordinates as given, axis by axis.
    pub position: [Vec<T>; 3],
}

impl<T: Real> SortedPoints<T> {
    /// Orders `points`.
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

/// Everything an FMM evaluation needs except the strengths.
#[derive(Debug)]
pub(crate) struct Fmm<T: Real> {
    pub simd: SimdLevel,
    pub pairs: Pairs,
    /// Strength vectors evaluated at once.
    pub vectors: usize,
    pub tree: Octree,
    pub lists: Lists,
    /// Highest degree kept in expansions.
    pub order: usize,
    /// For each level and shift, the degree up to which M2L works.
    pub m2l_orders: Vec<[u8; SHIFTS]>,
    pub sources: SortedPoints<T>,
    /// `None`: the sources are the targets.
    pub targets: Option<SortedPoints<T>>,
    /// Squared core size: one for all, or per source in tree order.
    pub size2: SortedSizes<T>,
    pub recurrence: Recurrence<T>,
    pub m2m: Translations<T>,
    pub m2l: Translations<T>,
    pub l2l: Translations<T>,
    pub m2l_direction: Vec<u16>,
    /// Nanoseconds of a translation by rotations, see [`crate::cost::OperatorCosts::m2l`].
    pub m2l_cost: [f64; 3],
    /// How each block of M2L work is translated.
    pub m2l_ways: Ways<T>,
    pub m2m_moves: Vec<Vec<Moves>>,
    pub l2l_moves: Vec<Vec<Moves>>,
    pub multipole_sources: FarSources<T>,
    pub local_sources: FarSources<T>,
    pub local_outputs: FarOutputs<T>,
    pub multipole_outputs: FarOutputs<T>,
    pub multipoles: Vec<T>,
    pub locals: Vec<T>,
    /// Leaves in groups: `lists.leaves[leaf_groups[g]..leaf_groups[g + 1]]`.
    pub leaf_groups: Vec<usize>,
    pub scratch: ScratchPool<T>,
    /// Pairs of leaves that are met once; `None` where all are met from each side.
    pub mutual: Option<Mutual<T>>,
    /// Whether memory goes back to the system as soon as it is done with.
    pub is_sparing: bool,
}

/// Boxes per piece of P2M work; fewer make more work for the threads, as leaves may hold many points.
pub(crate) const P2M_BOXES: usize = 8;
/// Parents per piece of M2M work, and children per piece of L2L work: both fill vectors with boxes of one octant.
pub(crate) const M2M_PARENTS: usize = 16;
pub(crate) const L2L_CHILDREN: usize = 64;

/// The M2M or L2L translations of a piece: for each octant, (source, target), so that vectors can be filled with boxes
/// that share a shift. Boxes count from the start of the source level and of the piece.
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

/// The moves of boxes in pieces: `add(number in its piece, box, moves of the piece)` for each box. The pieces of a level are
/// shared among threads: the deepest level has nearly all boxes.
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

/// Squared core sizes in tree order.
#[derive(Debug)]
pub(crate) enum SortedSizes<T> {
    Global(T),
    PerSource(Vec<T>),
}

impl<T: Real> SortedSizes<T> {
    /// Of sources in the given order, or in the caller's.
    pub fn new(sizes: &Sizes<T>, permutation: Option<&[u32]>) -> Self {
        const TOGETHER: usize = 1 << 13;
        match (sizes, permutation) {
            (Sizes::None, _) => Self::Global(T::ZERO),
            (Sizes::Global(size), _) => Self::Global(*size * *size),
            (Sizes::PerSource(sizes), None) => Self::PerSource(map(sizes.len(), TOGETHER, |k| sizes[k] * sizes[k])),
            (Sizes::PerSource(sizes), Some(permutation)) => {
                let square = |k: usize| sizes[permutation[k] as usize] * sizes[permutation[k] as usize];
                Self::PerSource(map(permutation.len(), TOGETHER, square))
            }
        }
    }
}

/// What [`Fmm::new`] is made from.
pub(crate) struct FmmInput<'a, T> {
    pub simd: SimdLevel,
    pub pairs: Pairs,
    pub vectors: usize,
    pub tree: Octree,
    pub lists: Lists,
    pub order: usize,
    pub m2l_orders: Vec<[u8; SHIFTS]>,
    pub m2l_cost: [f64; 3],
    pub sources: &'a [[T; 3]],
    pub targets: Option<&'a [[T; 3]]>,
    pub size2: SortedSizes<T>,
    /// Whether pairs of leaves may be met once for both: there is a loop for them, and sources are the targets.
    pub meets_once: bool,
}

impl<T: Real> Fmm<T> {
    pub fn new(input: FmmInput<T>) -> Self {
        let FmmInput {
            simd,
            pairs,
            vectors,
            tree,
            lists,
            order,
            m2l_orders,
            m2l_cost,
            sources,
            targets,
            size2,
            meets_once,
        } = input;
        let streams = vectors * pairs.kernel.form().expansions();
        let mut m2l_direction = vec![u16::MAX; SHIFTS];
        for (direction, shift) in m2l_shifts().iter().enumerate() {
            m2l_direction[*shift] = direction as u16;
        }
        let shift_vectors = m2l_shifts().iter().map(|k| shift_of(*k)).collect::<Vec<_>>();
        let source_points = SortedPoints::new(sources, &tree.source_permutation);
        let target_points = targets.map(|targets| SortedPoints::new(targets, &tree.target_permutation));
        let m2l = Translations::m2l(order, &shift_vectors);
        let m2l_ways = Ways::new(simd, &lists.m2l, &m2l_orders, m2l_cost, streams, &m2l, &m2l_direction);
        let ends = Ends::new(&pairs, order, streams);
        let expansions = tree.nodes.len() * streams * coefficient_count(order);
        let leaf_groups = group_leaves(&tree, &lists);
        let mutual = meets_once.then(|| Mutual::new(&tree, &lists, &pairs)).flatten();
        Self {
            simd,
            pairs,
            vectors,
            order,
            m2l_orders,
            sources: source_points,
            targets: target_points,
            size2,
            recurrence: Recurrence::new(order + 2),
            m2m: Translations::m2m(order),
            m2l,
            l2l: Translations::l2l(order),
            m2l_direction,
            m2l_cost,
            m2m_moves: upward_moves(&tree),
            l2l_moves: downward_moves(&tree),
            multipole_sources: ends.multipole_sources,
            local_sources: ends.local_sources,
            local_outputs: ends.local_outputs,
            multipole_outputs: ends.multipole_outputs,
            multipoles: zeroed(T::ZERO, expansions),
            locals: zeroed(T::ZERO, expansions),
            leaf_groups,
            scratch: ScratchPool::new(ends.scratch.max(m2l_ways.scratch())),
            m2l_ways,
            mutual,
            is_sparing: false,
            tree,
            lists,
        }
    }

    /// Where memory is spared, lets go of what the sums over pairs do not need.
    pub fn spare_locals(&mut self) {
        if self.is_sparing {
            give_back(&mut self.locals);
        }
    }

    /// Lets the system have the memory that an evaluation fills, until the next one.
    pub fn rest(&mut self) {
        let of_pairs = self.mutual.as_mut().map(|mutual| &mut mutual.sums);
        for values in [&mut self.multipoles, &mut self.locals].into_iter().chain(of_pairs) {
            give_back(values);
        }
    }

    /// Works with other orders from now on.
    pub fn set_orders(&mut self, order: usize, m2l_orders: Vec<[u8; SHIFTS]>) {
        self.m2l_orders = m2l_orders;
        if order == self.order {
            self.choose_m2l_ways();
            return;
        }
        self.order = order;
        self.multipoles = Vec::new();
        self.locals = Vec::new();
        let shifts: Vec<[i32; 3]> = m2l_shifts().iter().map(|k| shift_of(*k)).collect();
        self.recurrence = Recurrence::new(order + 2);
        self.m2m = Translations::m2m(order);
        self.m2l = Translations::m2l(order, &shifts);
        self.l2l = Translations::l2l(order);
        let ends = Ends::new(&self.pairs, order, self.streams());
        self.multipole_sources = ends.multipole_sources;
        self.local_sources = ends.local_sources;
        self.local_outputs = ends.local_outputs;
        self.multipole_outputs = ends.multipole_outputs;
        self.scratch = ScratchPool::new(ends.scratch);
        self.choose_m2l_ways();
        let expansions = self.tree.nodes.len() * self.box_stride();
        self.multipoles = zeroed(T::ZERO, expansions);
        self.locals = zeroed(T::ZERO, expansions);
    }

    fn choose_m2l_ways(&mut self) {
        let streams = self.streams();
        self.m2l_ways = Ways::new(
            self.simd,
            &self.lists.m2l,
            &self.m2l_orders,
            self.m2l_cost,
            streams,
            &self.m2l,
            &self.m2l_direction,
        );
        self.scratch.enlarge(self.m2l_ways.scratch());
    }

    /// Bytes more that expansions of another order would take.
    pub fn bytes_at(&self, order: usize) -> u64 {
        let coefficients = coefficient_count(order).saturating_sub(coefficient_count(self.order));
        (2 * self.tree.nodes.len() * self.streams() * coefficients * size_of::<T>()) as u64
    }

    /// Expansions per box.
    pub fn streams(&self) -> usize {
        self.vectors * self.pairs.kernel.form().expansions()
    }

    /// Numbers per box in `multipoles` and `locals`.
    pub fn box_stride(&self) -> usize {
        self.streams() * coefficient_count(self.order)
    }

    /// Sums per target over all strength vectors.
    ///
    /// In the `sums` of an evaluation, a leaf with `n` targets from `a` on has the block
    /// `sums[rows * a..rows * (a + n)]`, sum `k` of its target `i` at `k * n + i`.
    pub fn sum_rows(&self) -> usize {
        self.vectors * self.pairs.sums()
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

    /// How the leaf frame of `from` looks in the frame of `to`.
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
}

/// How expansions of one order begin at sources and end at targets, and the memory a thread needs for it.
struct Ends<T> {
    multipole_sources: FarSources<T>,
    local_sources: FarSources<T>,
    local_outputs: FarOutputs<T>,
    multipole_outputs: FarOutputs<T>,
    scratch: usize,
}

impl<T: Real> Ends<T> {
    fn new(pairs: &Pairs, order: usize, streams: usize) -> Self {
        let form = pairs.kernel.form();
        let [multipole_sources, local_sources] =
            [Side::Multipole, Side::Local].map(|side| FarSources::new(form, order, side));
        let [local_outputs, multipole_outputs] =
            [Side::Local, Side::Multipole].map(|side| FarOutputs::new(form, pairs.derivatives, order, side));
        let scratch = lanes_len(translation::workspace_len(order))
            .max(strengths_scratch(&multipole_sources, order, streams))
            .max(strengths_scratch(&local_sources, order, streams))
            + local_outputs.derived_len().max(multipole_outputs.derived_len());
        Self {
            multipole_sources,
            local_sources,
            local_outputs,
            multipole_outputs,
            scratch,
        }
    }
}

/// The shifts between boxes that do not touch.
fn m2l_shifts() -> Vec<usize> {
    (0..SHIFTS).filter(|k| class_of(shift_of(*k)).is_some()).collect()
}

/// About this many targets make a group of leaves.
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
