//! Quadrature weights of grid points next to a change of level.
//!
//! Where a block's neighbour across a face has the same spacing, every point has the weight $h^3$ of its cell, and the
//! errors of the two sides cancel. Where the spacing changes from $h$ to $2h$ at a face, they do not:
//!
//! - Cells: the midpoint rule leaves the error $\pm\frac{h^2}{24}f'$ at the ends of an interval, in total
//!   $\frac{3h^2}{24}f'$ at the face. The three points of the finer block next to the face give $f'$; changing their
//!   weights accordingly makes the rule fourth order.
//! - Nodes: a node stands for half a cell on either side, so a node on the face has the weight $\frac32h$ instead of
//!   $h$ or $2h$. The rule is second order.
//!
//! Weights are products of one factor per axis.

use crate::forest::{BLOCK_SIDE, Cover, Forest};
use crate::wavelet::Wavelet;

/// Corrections to the weight 1 of the points of a finer block next to a coarser one, from the face inward:
/// $-\frac{3}{24}$ times the one-sided difference for $hf'$, with $f'$ taken in the outward direction.
const CELLS_BESIDE_COARSER: [f64; 3] = [-6.0 / 24.0, 9.0 / 24.0, -3.0 / 24.0];

/// The factors of the points of a leaf along each axis.
pub(super) fn factors(forest: &Forest, wavelet: Wavelet, leaf: usize) -> [[f64; BLOCK_SIDE]; 3] {
    let block = forest.leaves()[leaf];
    let mut factors = [[1.0; BLOCK_SIDE]; 3];
    for (axis, factors) in factors.iter_mut().enumerate() {
        let beside = |step: i32| {
            let mut direction = [0; 3];
            direction[axis] = step;
            block.shifted(direction).and_then(|place| forest.cover(place))
        };
        let (below, above) = (beside(-1), beside(1));
        let coarser = |cover| matches!(cover, Some(Cover::Coarser(_)));
        match wavelet {
            Wavelet::AverageInterpolating5 => {
                for (k, more) in CELLS_BESIDE_COARSER.into_iter().enumerate() {
                    factors[k] += if coarser(below) { more } else { 0.0 };
                    factors[BLOCK_SIDE - 1 - k] += if coarser(above) { more } else { 0.0 };
                }
            }
            // The node on a face belongs to the block above it.
            Wavelet::Interpolating4 if coarser(below) => factors[0] = 1.5,
            Wavelet::Interpolating4 if below == Some(Cover::Finer) => factors[0] = 0.75,
            Wavelet::Interpolating4 => {}
        }
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forest::{BlockId, Domain};

    /// The relative error of the integral of a smooth function over a box in which levels change across faces, edges
    /// and corners.
    fn error(wavelet: Wavelet, level: u8, corrected: bool) -> f64 {
        let coarse = Forest::uniform([1; 3], level);
        // All blocks of one octant of the box are cut.
        let inner = |block: &BlockId| block.at.iter().all(|c| *c < 1 << (level - 1));
        let marked = coarse
            .leaves()
            .iter()
            .enumerate()
            .filter(|(_, block)| inner(block))
            .map(|(k, _)| k);
        let forest = coarse.refined(marked);
        let domain = Domain::unit_cube();
        // Nearly zero at the faces of the box, where weights are not corrected.
        let bump = |t: f64| (std::f64::consts::PI * t).sin().powi(6) * (1.0 + t);
        let exact = 0.3125f64 * 1.5;
        let mut sum = 0.0;
        for (leaf, block) in forest.leaves().iter().enumerate() {
            let h = domain.spacing(block.level);
            let factors = factors(&forest, wavelet, leaf);
            for k in 0..BLOCK_SIDE.pow(3) {
                let point = [k % BLOCK_SIDE, k / BLOCK_SIDE % BLOCK_SIDE, k / BLOCK_SIDE / BLOCK_SIDE];
                let x = domain.position(wavelet, *block, point.map(|c| c as isize));
                let weight: f64 = (0..3)
                    .map(|axis| if corrected { factors[axis][point[axis]] } else { 1.0 })
                    .product();
                sum += h.powi(3) * weight * bump(x[0]) * bump(x[1]) * bump(x[2]);
            }
        }
        (sum / exact.powi(3) - 1.0).abs()
    }

    #[test]
    fn integrals_across_levels_have_the_order_of_their_rule() {
        for (wavelet, order) in [(Wavelet::AverageInterpolating5, 3.5), (Wavelet::Interpolating4, 1.9)] {
            let errors = [1, 2].map(|level| error(wavelet, level, true));
            let plain = error(wavelet, 2, false);
            assert!((errors[0] / errors[1]).log2() > order, "{wavelet:?}: {errors:?}");
            assert!(
                errors[1] < 0.5 * plain,
                "{wavelet:?}: {errors:?}, without correction {plain}"
            );
        }
    }
}
