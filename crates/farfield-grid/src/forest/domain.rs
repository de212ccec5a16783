//! The box and the positions of points in it.

use super::block_id::{BLOCK_SIDE, BlockId};
use crate::error::Error;
use crate::wavelet::Wavelet;

/// A box made of equal root cubes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Domain {
    origin: [f64; 3],
    roots: [u32; 3],
    root_side: f64,
}

impl Domain {
    /// The largest number of root cubes along an axis.
    pub const MAX_ROOTS: u32 = 32;

    /// A box of `roots` cubes of side `root_side` along each axis, with the lower corner `origin`.
    ///
    /// # Errors
    /// [`Error::Domain`] if the side or the origin is not finite, the side is not positive, or an axis has zero or more
    /// than [`Domain::MAX_ROOTS`] roots.
    pub fn new(origin: [f64; 3], roots: [u32; 3], root_side: f64) -> Result<Self, Error> {
        let wrong = |what, value, must| Err(Error::Domain { what, value, must });
        if !(root_side.is_finite() && root_side > 0.0) {
            return wrong("root side", root_side, "finite and positive");
        }
        if let Some(value) = origin.into_iter().find(|c| !c.is_finite()) {
            return wrong("origin", value, "finite");
        }
        if let Some(count) = roots.into_iter().find(|n| !(1..=Self::MAX_ROOTS).contains(n)) {
            return wrong("number of roots along an axis", f64::from(count), "from 1 to 32");
        }
        Ok(Self {
            origin,
            roots,
            root_side,
        })
    }

    /// One root: the cube from (0, 0, 0) to (1, 1, 1).
    pub fn unit_cube() -> Self {
        Self {
            origin: [0.0; 3],
            roots: [1; 3],
            root_side: 1.0,
        }
    }

    /// The lower corner.
    pub fn origin(&self) -> [f64; 3] {
        self.origin
    }

    /// Root cubes along each axis.
    pub fn roots(&self) -> [u32; 3] {
        self.roots
    }

    /// The side lengths of the box.
    pub fn size(&self) -> [f64; 3] {
        self.roots.map(|count| f64::from(count) * self.root_side)
    }

    /// The distance between points of a level.
    #[inline]
    pub fn spacing(&self, level: u8) -> f64 {
        self.root_side / (BLOCK_SIDE as f64 * (1u64 << level) as f64)
    }

    /// The lower corner of a block.
    #[inline]
    pub fn corner(&self, block: BlockId) -> [f64; 3] {
        let side = BLOCK_SIDE as f64 * self.spacing(block.level);
        let along = |axis: usize| self.origin[axis] + f64::from(block.at[axis]) * side;
        [along(0), along(1), along(2)]
    }

    /// The position of a point; `point` counts from the block's lower corner and may lie outside the block.
    #[inline]
    pub fn position(&self, wavelet: Wavelet, block: BlockId, point: [isize; 3]) -> [f64; 3] {
        self.lattice(wavelet, block).at(point)
    }

    /// The positions of the points of a block.
    #[inline]
    pub(crate) fn lattice(&self, wavelet: Wavelet, block: BlockId) -> Lattice {
        Lattice {
            corner: self.corner(block),
            spacing: self.spacing(block.level),
            offset: wavelet.offset(),
        }
    }
}

/// The positions of the points of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lattice {
    corner: [f64; 3],
    spacing: f64,
    /// The offset of a point from the corner of its cell, in spacings.
    offset: f64,
}

impl Lattice {
    /// The position of `point`, which counts from the block's lower corner.
    #[inline]
    pub fn at(&self, point: [isize; 3]) -> [f64; 3] {
        let along = |axis: usize| self.corner[axis] + (point[axis] as f64 + self.offset) * self.spacing;
        [along(0), along(1), along(2)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_boxes_are_rejected() {
        assert!(Domain::new([0.0; 3], [1, 2, 1], 0.5).is_ok());
        for (origin, roots, side) in [
            ([0.0; 3], [1; 3], 0.0),
            ([0.0; 3], [1; 3], f64::NAN),
            ([f64::INFINITY, 0.0, 0.0], [1; 3], 1.0),
            ([0.0; 3], [1, 0, 1], 1.0),
            ([0.0; 3], [1, 33, 1], 1.0),
        ] {
            assert!(matches!(Domain::new(origin, roots, side), Err(Error::Domain { .. })));
        }
    }

    #[test]
    fn the_wavelet_decides_where_points_are() {
        let domain = Domain::new([1.0, 0.0, 0.0], [2, 1, 1], 1.0).unwrap();
        let block = BlockId {
            level: 1,
            at: [3, 0, 1],
        };
        let at = |wavelet| domain.position(wavelet, block, [0, 15, 8]);
        assert_eq!(at(Wavelet::Interpolating4), [2.5, 15.0 / 32.0, 0.75]);
        assert_eq!(
            at(Wavelet::AverageInterpolating5),
            [2.5 + 1.0 / 64.0, 31.0 / 64.0, 0.75 + 1.0 / 64.0]
        );
    }
}
