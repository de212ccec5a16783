//! The near field of an evaluation: pairs of points.

use super::layout::Layout;
use super::mutual::Mutual;
use crate::p2p::{Block, PairSums, Pairs, SortedSizes, Sources, columns};
use crate::simd::{Real, SimdLevel};

/// The kernel and sizes of the pairs of a [`Layout`].
#[derive(Debug)]
pub(crate) struct Near<T: Real> {
    pub simd: SimdLevel,
    pub pairs: Pairs,
    /// Strength vectors evaluated at once.
    pub vectors: usize,
    /// Squared core size: one for all, or per source in tree order.
    pub size2: SortedSizes<T>,
    /// Pairs of leaves that are computed once for both; `None` if all are computed from each side.
    pub mutual: Option<Mutual<T>>,
}

impl<T: Real> Near<T> {
    /// Sums per target over all strength vectors.
    pub fn rows(&self) -> usize {
        self.vectors * self.pairs.sums()
    }

    /// P2P: adds the pairs of each leaf with the sources of its neighbours.
    pub fn p2p(&mut self, layout: &Layout<T>, strengths: &[T], sums: &mut [T]) {
        if let Some(mut mutual) = self.mutual.take() {
            self.p2p_mutual(layout, &mut mutual, strengths, sums);
            self.mutual = Some(mutual);
            return;
        }
        let rows = self.rows();
        layout.over_leaf_groups(rows, sums, |leaves, mut sums| {
            for row in leaves {
                let (of_leaf, rest) = sums.split_at_mut(rows * layout.leaf_range(row).len());
                sums = rest;
                self.p2p_leaf(layout, row, strengths, of_leaf);
            }
        });
    }

    fn p2p_leaf(&self, layout: &Layout<T>, row: usize, strengths: &[T], sums: &mut [T]) {
        let leaf = &layout.tree.nodes[layout.lists.leaves[row] as usize];
        let own = [(leaf.sources.start, leaf.sources.end)];
        let block = Block {
            positions: columns(&layout.target_points().position),
            targets: layout.leaf_range(row),
            sources: Sources::new(&layout.sources.position, strengths, &self.size2),
            own: (&own, self.pairs.own_skip(layout.targets.is_none())),
            others: layout.lists.p2p.row(row),
        };
        block.add_vectors(&self.pairs, self.simd, self.vectors, sums);
    }
}
