//! The layout of blocks: the box, the octrees in it, and their neighbours.

mod balance;
mod block_id;
mod domain;

pub use block_id::{BLOCK_POINTS, BLOCK_SIDE, BlockId, MAX_LEVEL};
pub use domain::Domain;
pub(crate) use domain::Lattice;

use crate::error::Error;

/// The leaves of the octrees, in Morton order.
///
/// The leaves tile the box: every point belongs to exactly one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forest {
    roots: [u32; 3],
    leaves: Vec<BlockId>,
    /// The Morton key of each leaf's lower corner on the finest level; strictly increasing.
    anchors: Vec<u64>,
}

/// The leaves that cover the region of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// The block itself, with its leaf index.
    Leaf(usize),
    /// One larger leaf, with its index.
    Coarser(usize),
    /// Smaller leaves, at least eight.
    Finer,
}

impl Forest {
    /// The forest of all blocks of `level`.
    pub fn uniform(roots: [u32; 3], level: u8) -> Self {
        let side = roots.map(|count| count << level);
        let mut leaves = Vec::with_capacity(side.iter().map(|s| *s as usize).product());
        for z in 0..side[2] {
            for y in 0..side[1] {
                for x in 0..side[0] {
                    leaves.push(BlockId { level, at: [x, y, z] });
                }
            }
        }
        Self::of_sorted(roots, leaves)
    }

    /// The forest of `leaves`, which may be in any order.
    ///
    /// # Errors
    /// [`Error::Leaves`] if leaves overlap, leave a hole, lie outside the box or are not balanced.
    pub fn from_leaves(roots: [u32; 3], leaves: Vec<BlockId>) -> Result<Self, Error> {
        let wrong = |reason: String| Err(Error::Leaves { reason });
        if let Some(leaf) = leaves
            .iter()
            .find(|leaf| leaf.level > MAX_LEVEL || !leaf.is_inside(roots))
        {
            return wrong(format!("{leaf} lies outside the box"));
        }
        let forest = Self::of_sorted(roots, leaves);
        let volume = |level: u8| 1u128 << (3 * u32::from(MAX_LEVEL - level));
        let total: u128 = forest.leaves.iter().map(|leaf| volume(leaf.level)).sum();
        if let Some(at) = (1..forest.leaves.len()).find(|&k| {
            let before = forest.leaves[k - 1];
            u128::from(forest.anchors[k] - forest.anchors[k - 1]) < volume(before.level)
        }) {
            return wrong(format!("{} and {} overlap", forest.leaves[at - 1], forest.leaves[at]));
        }
        if total != volume(0) * roots.iter().map(|r| u128::from(*r)).product::<u128>() {
            return wrong("a part of the box is not covered".to_owned());
        }
        if !forest.is_balanced() {
            return wrong("touching blocks differ by more than one level".to_owned());
        }
        Ok(forest)
    }

    fn of_sorted(roots: [u32; 3], mut leaves: Vec<BlockId>) -> Self {
        leaves.sort_unstable_by_key(|leaf| leaf.anchor());
        let anchors = leaves.iter().map(|leaf| leaf.anchor()).collect();
        Self { roots, leaves, anchors }
    }

    /// The number of root cubes along each axis.
    pub fn roots(&self) -> [u32; 3] {
        self.roots
    }

    /// The leaves, in Morton order.
    pub fn leaves(&self) -> &[BlockId] {
        &self.leaves
    }

    /// The number of leaves of each level, from level 0 to the finest.
    pub fn leaves_per_level(&self) -> Vec<usize> {
        let mut counts = vec![0; self.finest_level() as usize + 1];
        for leaf in &self.leaves {
            counts[leaf.level as usize] += 1;
        }
        counts
    }

    /// The level of the smallest leaves.
    pub fn finest_level(&self) -> u8 {
        self.leaves.iter().map(|leaf| leaf.level).max().unwrap_or(0)
    }

    /// The leaves that cover the region of `block`; `None` outside the box.
    pub fn cover(&self, block: BlockId) -> Option<Cover> {
        if !block.is_inside(self.roots) {
            return None;
        }
        let anchor = block.anchor();
        let at = self.anchors.partition_point(|key| *key <= anchor).checked_sub(1)?;
        Some(match self.leaves[at].level.cmp(&block.level) {
            std::cmp::Ordering::Equal => Cover::Leaf(at),
            std::cmp::Ordering::Less => Cover::Coarser(at),
            std::cmp::Ordering::Greater => Cover::Finer,
        })
    }

    /// The index of `block` among the leaves; `None` if it is not a leaf.
    pub fn find(&self, block: BlockId) -> Option<usize> {
        match self.cover(block) {
            Some(Cover::Leaf(at)) => Some(at),
            _ => None,
        }
    }
}
