//! Refines and coarsens leaves so that touching blocks differ by one level at most.

use super::block_id::directions;
use super::{BlockId, Cover, Forest};
use std::collections::HashSet;

impl Forest {
    /// Whether touching leaves differ by one level at most.
    pub fn is_balanced(&self) -> bool {
        // Every pair of different levels is seen from its finer leaf.
        self.leaves.iter().all(|leaf| {
            leaf.neighbours().all(|place| match self.cover(place) {
                Some(Cover::Coarser(at)) => self.leaves[at].level + 1 == leaf.level,
                _ => true,
            })
        })
    }

    /// The forest with each leaf in `marked` (indices of leaves) cut into eight, and every other leaf that must be cut
    /// to keep the balance.
    pub fn refined(&self, marked: impl IntoIterator<Item = usize>) -> Forest {
        let mut cut: HashSet<usize> = HashSet::new();
        let mut waiting: Vec<usize> = marked.into_iter().collect();
        while let Some(leaf) = waiting.pop() {
            if !cut.insert(leaf) {
                continue;
            }
            // Children of level l + 1 may touch leaves of level l, but no coarser ones.
            for place in self.leaves[leaf].neighbours() {
                if let Some(Cover::Coarser(at)) = self.cover(place) {
                    waiting.push(at);
                }
            }
        }
        let mut leaves = Vec::with_capacity(self.leaves.len() + 7 * cut.len());
        for (number, leaf) in self.leaves.iter().enumerate() {
            if cut.contains(&number) {
                leaves.extend(leaf.children());
            } else {
                leaves.push(*leaf);
            }
        }
        Self::of_sorted(self.roots, leaves)
    }

    /// The forest in which every block of `parents` that [can be joined](Forest::can_join) replaces its children.
    ///
    /// Each parent is judged by the present forest, and that suffices for any set of parents. Touching leaves differ by
    /// one level at most, so a pair could differ by two only if the coarser leaf were joined while the finer one
    /// stayed; the test of the coarser leaf's parent rules this out.
    pub fn coarsened(&self, parents: impl IntoIterator<Item = BlockId>) -> Forest {
        let joined: HashSet<BlockId> = parents.into_iter().filter(|parent| self.can_join(*parent)).collect();
        let mut leaves = Vec::with_capacity(self.leaves.len());
        for leaf in &self.leaves {
            match leaf.parent().filter(|parent| joined.contains(parent)) {
                None => leaves.push(*leaf),
                Some(parent) if parent.children()[0] == *leaf => leaves.push(parent),
                Some(_) => {}
            }
        }
        Self::of_sorted(self.roots, leaves)
    }

    /// Whether all children of `parent` are leaves and joining them keeps the balance.
    pub fn can_join(&self, parent: BlockId) -> bool {
        parent.children().iter().all(|child| self.find(*child).is_some())
            && directions().all(|direction| {
                let Some(place) = parent.shifted(direction) else {
                    return true;
                };
                self.cover(place) != Some(Cover::Finer)
                    || touching_children(place, direction).all(|child| self.cover(child) != Some(Cover::Finer))
            })
    }
}

/// The children of `block` that touch the neighbour at `block - direction`.
fn touching_children(block: BlockId, direction: [i32; 3]) -> impl Iterator<Item = BlockId> {
    let touches = move |octant: usize| {
        (0..3).all(|axis| match direction[axis] {
            -1 => octant >> axis & 1 == 1,
            1 => octant >> axis & 1 == 0,
            _ => true,
        })
    };
    block
        .children()
        .into_iter()
        .enumerate()
        .filter(move |(octant, _)| touches(*octant))
        .map(|(_, child)| child)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use proptest::prelude::*;

    #[test]
    fn refining_a_corner_keeps_the_balance() {
        let mut forest = Forest::uniform([1; 3], 1);
        for _ in 0..3 {
            let corner = forest.cover(BlockId {
                level: forest.finest_level(),
                at: [0; 3],
            });
            let Some(Cover::Leaf(at)) = corner else {
                panic!("{corner:?}")
            };
            forest = forest.refined([at]);
            assert!(forest.is_balanced());
        }
        // At the corner of the box all touching blocks are siblings or one level coarser: no other leaf is cut.
        assert_eq!(forest.leaves_per_level(), [0, 7, 7, 7, 8]);
    }

    #[test]
    fn a_parent_next_to_much_finer_blocks_is_not_joined() {
        let forest = Forest::uniform([2, 1, 1], 1);
        // A leaf at the plane between the roots, cut once more.
        let at = forest
            .find(BlockId {
                level: 1,
                at: [1, 0, 0],
            })
            .unwrap();
        let forest = forest.refined([at]);
        let right = BlockId {
            level: 0,
            at: [1, 0, 0],
        };
        assert!(!forest.can_join(right));
        assert_eq!(forest.coarsened([right]), forest);
    }

    #[test]
    fn leaves_that_do_not_form_a_forest_are_rejected() {
        let all = Forest::uniform([1; 3], 1).leaves().to_vec();
        let reason = |leaves: Vec<BlockId>| match Forest::from_leaves([1; 3], leaves) {
            Err(Error::Leaves { reason }) => reason,
            other => panic!("{other:?}"),
        };
        assert!(Forest::from_leaves([1; 3], all.clone()).is_ok());
        assert!(reason(all[..7].to_vec()).contains("not covered"));
        assert!(reason([&all[..], &all[..1]].concat()).contains("overlap"));
        assert!(
            reason(vec![BlockId {
                level: 0,
                at: [0, 0, 1]
            }])
            .contains("outside")
        );
        let mut unbalanced = all.clone();
        let first = unbalanced.remove(0);
        for child in first.children() {
            unbalanced.extend(child.children());
        }
        assert!(reason(unbalanced).contains("more than one level"));
    }

    proptest! {
        #[test]
        fn random_refinement_and_coarsening_keep_a_valid_forest(
            roots in prop::array::uniform3(1u32..3),
            steps in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<prop::sample::Index>(), 1..6)), 1..8),
        ) {
            let mut forest = Forest::uniform(roots, 1);
            for (refine, picks) in steps {
                let leaves = forest.leaves().to_vec();
                forest = if refine {
                    let marked = picks.iter().map(|pick| pick.index(leaves.len()));
                    let marked: Vec<_> = marked.filter(|at| leaves[*at].level < 6).collect();
                    let refined = forest.refined(marked.iter().copied());
                    for at in marked {
                        prop_assert!(refined.find(leaves[at]).is_none());
                    }
                    refined
                } else {
                    // The parents of all leaves except the picked ones.
                    let spared: Vec<_> = picks.iter().map(|pick| pick.index(leaves.len())).collect();
                    let parents = leaves.iter().enumerate().filter(|(at, _)| !spared.contains(at));
                    forest.coarsened(parents.filter_map(|(_, leaf)| leaf.parent()))
                };
                // `from_leaves` checks coverage, overlap and balance from scratch.
                prop_assert!(Forest::from_leaves(roots, forest.leaves().to_vec()).is_ok());
            }
        }
    }
}
