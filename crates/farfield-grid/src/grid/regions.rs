//! The regions from which blocks and their ghosts are filled, found once for each forest.

use super::{Boundary, Region};
use crate::forest::{BLOCK_SIDE, Forest};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// The regions of all leaves, for each ghost width and boundary asked for so far.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    kept: RwLock<Vec<Arc<OfWidth>>>,
}

/// The regions of all leaves for one ghost width and one boundary.
#[derive(Debug)]
pub(crate) struct OfWidth {
    width: usize,
    boundary: Boundary,
    leaves: Vec<OnceLock<Region>>,
}

impl OfWidth {
    /// The ghost width.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The region of a leaf, found on the first call.
    pub fn region(&self, forest: &Forest, leaf: usize) -> &Region {
        self.leaves[leaf].get_or_init(|| {
            let block = forest.leaves()[leaf];
            let width = self.width;
            let low = block.at.map(|c| i64::from(c) * BLOCK_SIDE as i64 - width as i64);
            Region::new(forest, self.boundary, block.level, low, [BLOCK_SIDE + 2 * width; 3])
        })
    }
}

/// A clone starts empty: the cloned grid may get another forest.
impl Clone for Regions {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Regions {
    /// Removes all regions, for use when the forest changes.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The regions for one ghost width and one boundary.
    pub fn of_width(&self, forest: &Forest, boundary: Boundary, width: usize) -> Arc<OfWidth> {
        let find = |kept: &[Arc<OfWidth>]| {
            let found = kept.iter().find(|of| (of.width, of.boundary) == (width, boundary));
            found.cloned()
        };
        if let Some(found) = find(&self.kept.read().unwrap_or_else(PoisonError::into_inner)) {
            return found;
        }
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        find(&kept).unwrap_or_else(|| {
            let leaves = forest.leaves().iter().map(|_| OnceLock::new()).collect();
            let of = Arc::new(OfWidth {
                width,
                boundary,
                leaves,
            });
            kept.push(of.clone());
            of
        })
    }
}
