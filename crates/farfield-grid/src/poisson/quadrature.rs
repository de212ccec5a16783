//! Weights of grid points in integrals, where levels meet.
//!
//! Where a block's neighbour across a face has the same spacing, every point counts as one cell $h^3$, and the errors of
//! both sides cancel. Where the spacing jumps from $h$ to $2h$ at a face they do not:
//!
//! - Cells: the midpoint rule leaves $\pm\frac{h^2}{24}f'$ at the ends of an interval, together $\frac{3h^2}{24}f'$ at the
//!   face. The finer block's three points next to it give $f'$, so they count more or less than one: fourth order.
//! - Nodes: a node counts half a cell to either side, so the one on the face counts $\frac32h$ and not $h$ or $2h$: second
//!   order.
//!
//! Weights are products of one factor per axis.

use crate::forest::{BLOCK_SIDE, Cover, Forest};
use crate::wavelet::Wavelet;

/// What the points of a finer block next to a coarser one count more or less than one, from the face inward:
/// $-\frac{3}{24}$ times the one-sided difference for $hf'$, whose sign is that of the outward direction.
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

    /// The integral of a smooth function over a box in which levels jump across faces, edges and corners.
    fn error(wavelet: Wavelet, level: u8, corrected: bool) -> f64 {
        let coarse = Forest::uniform([1; 3], level);
        // One octant of the box finer: all blocks of it cut.
        let inner = |block: &BlockId| block.at.iter().all(|c| *c < 1 << (level - 1));
        let marked = coarse
            .leaves()
            .iter()
            .enumerate()
            .filter(|(_, block)| inner(block))
            .map(|(k, _)| k);
        let forest = coarse.refined(marked);
        let domain = Domain::unit_cube();
        // Nearly zero at the walls, where nothing is corrected.
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
