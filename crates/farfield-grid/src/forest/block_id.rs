//! Identifies a block by its level and position.

use std::fmt;

/// Points along each side of a block.
pub const BLOCK_SIDE: usize = 16;
/// Points in a block.
pub const BLOCK_POINTS: usize = BLOCK_SIDE * BLOCK_SIDE * BLOCK_SIDE;
/// The finest possible level; the Morton keys have no room for finer ones.
pub const MAX_LEVEL: u8 = 16;

/// A block. Level `l` has `2^l` blocks along each side of a root cube; `at` counts blocks of that level from the lower
/// corner of the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockId {
    /// The level; roots have level 0.
    pub level: u8,
    /// The index of the block along x, y and z.
    pub at: [u32; 3],
}

impl BlockId {
    /// The eight blocks this one is cut into. In the octant number, bit 0 is x, bit 1 y, bit 2 z.
    pub fn children(self) -> [BlockId; 8] {
        std::array::from_fn(|octant| BlockId {
            level: self.level + 1,
            at: std::array::from_fn(|axis| 2 * self.at[axis] + (octant >> axis & 1) as u32),
        })
    }

    /// The block that contains this one, one level coarser; `None` for a root.
    pub fn parent(self) -> Option<BlockId> {
        let level = self.level.checked_sub(1)?;
        Some(BlockId {
            level,
            at: self.at.map(|c| c / 2),
        })
    }

    /// The block of the same level shifted `by` blocks; `None` if an index would be negative.
    pub fn shifted(self, by: [i32; 3]) -> Option<BlockId> {
        let mut at = self.at;
        for axis in 0..3 {
            at[axis] = at[axis].checked_add_signed(by[axis])?;
        }
        Some(BlockId { at, ..self })
    }

    /// The blocks of the same level that touch this one and have no negative index.
    pub fn neighbours(self) -> impl Iterator<Item = BlockId> {
        directions().filter_map(move |by| self.shifted(by))
    }

    /// Whether the block lies in a box of `roots` root cubes along each axis.
    pub(crate) fn is_inside(self, roots: [u32; 3]) -> bool {
        (0..3).all(|axis| u64::from(self.at[axis]) < u64::from(roots[axis]) << self.level)
    }

    /// The Morton key of the lower corner on the finest level.
    pub(crate) fn anchor(self) -> u64 {
        let shift = MAX_LEVEL - self.level;
        let [x, y, z] = self.at.map(|c| spread(u64::from(c) << shift));
        x | y << 1 | z << 2
    }
}

/// The 26 directions to a neighbour.
pub(crate) fn directions() -> impl Iterator<Item = [i32; 3]> {
    (0..27)
        .filter(|k| *k != 13)
        .map(|k| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1])
}

/// Spreads the low 21 bits of `v` to every third bit.
fn spread(v: u64) -> u64 {
    let v = v & 0x1f_ffff;
    let v = (v | v << 32) & 0x001f_0000_0000_ffff;
    let v = (v | v << 16) & 0x001f_0000_ff00_00ff;
    let v = (v | v << 8) & 0x100f_00f0_0f00_f00f;
    let v = (v | v << 4) & 0x10c3_0c30_c30c_30c3;
    (v | v << 2) & 0x1249_2492_4924_9249
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.at;
        write!(f, "({x}, {y}, {z}) of level {}", self.level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_follow_their_parent_in_morton_order() {
        let parent = BlockId {
            level: 3,
            at: [5, 2, 7],
        };
        let anchors = parent.children().map(BlockId::anchor);
        assert_eq!(anchors[0], parent.anchor());
        assert!(anchors.windows(2).all(|pair| pair[0] < pair[1]));
        let next = BlockId {
            level: 3,
            at: [5, 2, 7].map(|c| c + 1),
        };
        assert!(anchors[7] < next.anchor());
        assert!(parent.children().iter().all(|child| child.parent() == Some(parent)));
    }

    #[test]
    fn keys_have_room_for_the_finest_level_of_many_roots() {
        let last = BlockId {
            level: MAX_LEVEL,
            at: [(32 << MAX_LEVEL) - 1; 3],
        };
        assert_eq!(last.anchor(), (1 << 63) - 1);
    }

    #[test]
    fn there_are_26_directions() {
        let all: std::collections::HashSet<_> = directions().collect();
        assert!(all.len() == 26 && !all.contains(&[0; 3]));
    }
}
