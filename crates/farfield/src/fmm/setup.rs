//! Tables and memory of an FMM evaluation, made once per plan.

use super::operators::{LeafPoints, Placement, workspace_len};
use crate::expansion::harmonics::Recurrence;
use crate::expansion::translation::{self, Translations};
use crate::expansion::coefficient_count;
use crate::kernel::{FarOutputs, Side};
use crate::p2p::Pairs;
use crate::parallel::{ScratchPool, gather_by};
use crate::simd::{Real, SimdLevel, lanes_len};
use crate::tree::lists::{SHIFTS, shift_of};
use crate::tree::octree::Node;
use crate::tree::{Lists, Octree};
use crate::tuning::truncation::class_of;
use rayon::prelude::*;
use std::ops::Range;

/// Points in tree order.
#[derive(Debug)]
pub(crate) struct OrderedPoints<T> {
    /// Coordinates as given.
    pub position: [Vec<T>; 3],
    /// Coordinates relative to the leaf's centre, in units of its side.
    pub local: [Vec<T>; 3],
}

impl<T: Real> OrderedPoints<T> {
    /// Orders `points`; `range` picks a leaf's sources or targets.
    pub fn new(points: &[[T; 3]], order: &[u32], tree: &Octree, range: impl Fn(&Node) -> Range<u32> + Sync) -> Self {
        let mut position: [Vec<T>; 3] = std::array::from_fn(|_| vec![T::ZERO; points.len()]);
        let mut local: [Vec<T>; 3] = std::array::from_fn(|_| vec![T::ZERO; points.len()]);
        for axis in 0..3 {
            gather_by(points, order, &mut position[axis], |point| point[axis]);
        }
        let mut leaves: Vec<&Node> = tree.nodes.iter().filter(|node| node.is_leaf() && !range(node).is_empty()).collect();
        leaves.sort_unstable_by_key(|node| range(node).start);
        for axis in 0..3 {
            let positions = &position[axis];
            let start = |k: usize| range(leaves[k]).start as usize;
            crate::parallel::for_segments(&mut local[axis], 0..leaves.len(), &start, &|k, out| {
                let node = leaves[k];
                let (centre, inverse) = (tree.centre_of(node)[axis], 1.0 / tree.side_of(node.level));
                for (u, x) in out.iter_mut().zip(&positions[range(node).start as usize..]) {
                    *u = T::from_f64((x.to_f64() - centre) * inverse);
                }
            });
        }
        Self { position, local }
    }

    pub fn leaf(&self, range: &Range<u32>) -> LeafPoints<'_, T> {
        let range = range.start as usize..range.end as usize;
        LeafPoints { local: [&self.local[0][range.clone()], &self.local[1][range.clone()], &self.local[2][range]] }
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
    pub sources: OrderedPoints<T>,
    /// `None`: the sources are the targets.
    pub targets: Option<OrderedPoints<T>>,
    /// Squared core size: one for all, or per source in tree order.
    pub size2: OrderedSizes<T>,
    pub recurrence: Recurrence<T>,
    pub m2m: Translations<T>,
    pub m2l: Translations<T>,
    pub l2l: Translations<T>,
    pub m2l_direction: Vec<u16>,
    pub local_outputs: FarOutputs<T>,
    pub multipole_outputs: FarOutputs<T>,
    pub multipoles: Vec<T>,
    pub locals: Vec<T>,
    /// Leaves in groups: `lists.leaves[leaf_groups[g]..leaf_groups[g + 1]]`.
    pub leaf_groups: Vec<usize>,
    pub scratch: ScratchPool<T>,
}

/// Squared core sizes in tree order.
#[derive(Debug)]
pub(crate) enum OrderedSizes<T> {
    Global(T),
    PerSource(Vec<T>),
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
    pub sources: &'a [[T; 3]],
    pub targets: Option<&'a [[T; 3]]>,
    pub size2: OrderedSizes<T>,
}

impl<T: Real> Fmm<T> {
    pub fn new(input: FmmInput<T>) -> Self {
        let FmmInput { simd, pairs, vectors, tree, lists, order, m2l_orders, sources, targets, size2 } = input;
        let streams = vectors * pairs.kernel.strength_components();
        let shifts: Vec<usize> = (0..SHIFTS).filter(|k| class_of(shift_of(*k)).is_some()).collect();
        let mut m2l_direction = vec![u16::MAX; SHIFTS];
        for (direction, shift) in shifts.iter().enumerate() {
            m2l_direction[*shift] = direction as u16;
        }
        let shift_vectors: Vec<[i32; 3]> = shifts.iter().map(|k| shift_of(*k)).collect();
        let source_points = OrderedPoints::new(sources, &tree.source_order, &tree, |node| node.sources.clone());
        let target_points =
            targets.map(|targets| OrderedPoints::new(targets, &tree.target_order, &tree, |node| node.targets.clone()));
        let local_outputs = FarOutputs::new(pairs.kernel, pairs.derivatives, order, Side::Local);
        let multipole_outputs = FarOutputs::new(pairs.kernel, pairs.derivatives, order, Side::Multipole);
        let expansions = tree.nodes.len() * streams * coefficient_count(order);
        let scratch = lanes_len(translation::workspace_len(order).max(workspace_len(order + 2, streams)))
            + local_outputs.derived_len().max(multipole_outputs.derived_len());
        let leaf_groups = group_leaves(&tree, &lists);
        // Zeroed in parallel, so that each page belongs to the thread that first works on it.
        let mut multipoles = Vec::new();
        let mut locals = Vec::new();
        (0..expansions).into_par_iter().with_min_len(1 << 16).map(|_| T::ZERO).collect_into_vec(&mut multipoles);
        (0..expansions).into_par_iter().with_min_len(1 << 16).map(|_| T::ZERO).collect_into_vec(&mut locals);
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
            m2l: Translations::m2l(order, &shift_vectors),
            l2l: Translations::l2l(order),
            m2l_direction,
            local_outputs,
            multipole_outputs,
            multipoles,
            locals,
            leaf_groups,
            scratch: ScratchPool::new(scratch),
            tree,
            lists,
        }
    }

    /// Expansions per box.
    pub fn streams(&self) -> usize {
        self.vectors * self.pairs.kernel.strength_components()
    }

    /// Numbers per box in `multipoles` and `locals`.
    pub fn box_stride(&self) -> usize {
        self.streams() * coefficient_count(self.order)
    }

    /// The length of the `sums` of an evaluation. A leaf with `n` targets from `a` on has the block
    /// `sums[rows * a..rows * (a + n)]`, sum `k` of its target `i` at `k * n + i`; `rows` counts the sums of all
    /// strength vectors.
    pub fn sums_len(&self) -> usize {
        self.sum_rows() * self.tree.target_order().len()
    }

    /// Sums per target over all strength vectors.
    pub fn sum_rows(&self) -> usize {
        self.vectors * self.pairs.sums()
    }

    pub fn target_points(&self) -> &OrderedPoints<T> {
        self.targets.as_ref().unwrap_or(&self.sources)
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
