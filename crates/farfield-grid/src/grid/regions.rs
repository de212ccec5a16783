//! Where the numbers of blocks and their ghosts come from, found once for each forest.

use super::{Boundary, Region};
use crate::forest::{BLOCK_SIDE, Forest};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// The regions of all leaves, for each width of ghosts that was asked for.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    kept: RwLock<Vec<Arc<OfWidth>>>,
}

/// The regions of all leaves with one width of ghosts and one boundary.
#[derive(Debug)]
pub(crate) struct OfWidth {
    width: usize,
    boundary: Boundary,
    leaves: Vec<OnceLock<Region>>,
}

impl OfWidth {
    /// The width of the ghosts.
    pub fn width(&self) -> usize {
        self.width
    }

    /// That of a leaf.
    pub fn region(&self, forest: &Forest, leaf: usize) -> &Region {
        self.leaves[leaf].get_or_init(|| {
            let block = forest.leaves()[leaf];
            let width = self.width;
            let low = block.at.map(|c| i64::from(c) * BLOCK_SIDE as i64 - width as i64);
            Region::new(forest, self.boundary, block.level, low, [BLOCK_SIDE + 2 * width; 3])
        })
    }
}

/// A copy of a grid may get another forest: it finds its own.
impl Clone for Regions {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Regions {
    /// Forgets everything: the forest is another one.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Those of one width of ghosts and one boundary.
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
