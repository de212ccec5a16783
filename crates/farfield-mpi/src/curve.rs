//! The space-filling curve that orders the points of all ranks: the Morton curve in one cube around them.

use crate::communicator::Communicator;
use farfield::simd::Real;
use rayon::prelude::*;

/// The cube (in the plane, the square) around the points of all ranks: the root of every rank's tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root<const D: usize> {
    low: [f64; D],
    /// Cells of the last level per unit of length.
    scale: f64,
}

/// The number of levels below the root: keys have 63 bits in space, 62 in the plane.
pub const fn levels<const D: usize>() -> u32 {
    match D {
        3 => 21,
        _ => 31,
    }
}

impl<const D: usize> Root<D> {
    /// The root of the points of all ranks. Called by all ranks together.
    pub fn of_all<T: Real>(ranks: &(impl Communicator + ?Sized), sets: [&[[T; D]]; 2]) -> Self {
        // For each axis the maxima of -x and of x, so that one maximum over ranks gives both ends.
        let none = || [[f64::NEG_INFINITY; D]; 2];
        let wider = |[low, high]: [[f64; D]; 2], [other_low, other_high]: [[f64; D]; 2]| {
            [(low, other_low), (high, other_high)].map(|(a, b)| std::array::from_fn(|axis| a[axis].max(b[axis])))
        };
        let of_point = |point: &[T; D]| [point.map(|c| -c.to_f64()), point.map(T::to_f64)];
        let of_set = |set: &[[T; D]]| set.par_iter().map(of_point).reduce(none, wider);
        let mut extremes = sets.map(of_set).into_iter().fold(none(), wider).as_flattened().to_vec();
        ranks.max_all(&mut extremes);
        let low = std::array::from_fn(|axis| {
            if extremes[axis].is_finite() {
                -extremes[axis]
            } else {
                0.0
            }
        });
        // Halved, because the whole extent could overflow.
        let half = (0..D)
            .map(|axis| 0.5 * extremes[D + axis] - 0.5 * low[axis])
            .fold(0.0, f64::max);
        let cells = f64::from(1u32 << (levels::<D>() - 1));
        let scale = if half > 0.0 { cells / half } else { 0.0 };
        Self { low, scale }
    }

    /// The keys of points: their positions on the curve.
    pub fn keys<T: Real>(&self, points: &[[T; D]]) -> Vec<u64> {
        points.par_iter().map(|point| self.key(*point)).collect()
    }

    /// The key of a point: its position on the curve.
    pub fn key<T: Real>(&self, point: [T; D]) -> u64 {
        let last = (1u64 << levels::<D>()) - 1;
        let mut key = 0;
        for axis in 0..D {
            let offset = 0.5 * point[axis].to_f64() - 0.5 * self.low[axis];
            // The conversion saturates for numbers that are too large.
            let cell = ((2.0 * (offset * self.scale)) as u64).min(last);
            key |= spread::<D>(cell) << axis;
        }
        key
    }
}

/// Inserts `D - 1` zeros between the bits.
fn spread<const D: usize>(cell: u64) -> u64 {
    let mut x = cell;
    let steps: &[(u32, u64)] = match D {
        3 => &[
            (32, 0x001f_0000_0000_ffff),
            (16, 0x001f_0000_ff00_00ff),
            (8, 0x100f_00f0_0f00_f00f),
            (4, 0x10c3_0c30_c30c_30c3),
            (2, 0x1249_2492_4924_9249),
        ],
        _ => &[
            (16, 0x0000_ffff_0000_ffff),
            (8, 0x00ff_00ff_00ff_00ff),
            (4, 0x0f0f_0f0f_0f0f_0f0f),
            (2, 0x3333_3333_3333_3333),
            (1, 0x5555_5555_5555_5555),
        ],
    };
    for (shift, mask) in steps {
        x = (x | (x << shift)) & mask;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::Threads;

    fn plainly_spread<const D: usize>(cell: u64) -> u64 {
        (0..levels::<D>())
            .map(|bit| (cell >> bit & 1) << (bit as usize * D))
            .sum()
    }

    #[test]
    fn bits_are_spread() {
        for cell in [0, 1, 2, 3, 0x0012_3456, (1 << 21) - 1] {
            assert_eq!(spread::<3>(cell), plainly_spread::<3>(cell), "{cell:x}");
            assert_eq!(spread::<2>(cell), plainly_spread::<2>(cell), "{cell:x}");
        }
        assert_eq!(spread::<2>((1 << 31) - 1), plainly_spread::<2>((1 << 31) - 1));
    }

    #[test]
    fn all_ranks_have_the_same_root() {
        let roots = Threads::run(3, |ranks| {
            // Rank 1 has no points.
            let own: Vec<[f64; 3]> = match ranks.rank() {
                0 => vec![[0.0, 0.0, 0.0]],
                1 => vec![],
                _ => vec![[1.0, 2.0, 4.0]],
            };
            Root::of_all(ranks, [&own, &[]])
        });
        assert!(roots.windows(2).all(|pair| pair[0] == pair[1]));
        let root = roots[0];
        assert_eq!(root.key([0.0, 0.0, 0.0]), 0);
        assert_eq!(root.key([4.0, 4.0, 4.0]), (1 << 63) - 1);
        // The first cut is at half of the longest extent: along z, then y, then x.
        assert_eq!(root.key([0.0, 0.0, 2.0]) >> 60, 0b100);
        assert_eq!(root.key([2.0, 0.0, 0.0]) >> 60, 0b001);
    }

    #[test]
    fn keys_exist_for_coincident_points_no_points_and_huge_extents() {
        let key = |points: &[[f64; 2]]| Threads::run(1, |ranks| Root::of_all(ranks, [points, &[]]).key([3.0, 3.0]))[0];
        assert_eq!(key(&[[3.0, 3.0]; 4]), 0);
        assert_eq!(key(&[]), 0);
        let huge = [[-1.7e308, 0.0], [1.7e308, 0.0]];
        let root = Threads::run(1, |ranks| Root::of_all(ranks, [&huge, &[]]))[0];
        assert!(root.key([1.7e308, 0.0]) > root.key([0.0, 0.0]) && root.key([0.0, 0.0]) > root.key([-1.7e308, 0.0]));
    }
}
