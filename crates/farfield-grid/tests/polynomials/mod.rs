//! Polynomials for both wavelets, and a forest for them.

#![allow(dead_code, reason = "each test file uses its part")]

use farfield_grid::{BLOCK_SIDE, BlockId, Domain, Forest, Grid, Wavelet};

/// A product of three polynomials of the same degree, one per axis, with coefficients that all differ.
#[derive(Clone, Copy)]
pub struct Polynomial {
    pub degree: i32,
}

impl Polynomial {
    fn coefficient(axis: usize, power: i32) -> f64 {
        [0.9, -1.7, 1.3, 0.7, -1.1][power as usize] + 0.3 * axis as f64
    }

    /// The grid value at a point: the value of the polynomial, or its average over a cell of side `h`.
    pub fn number(&self, wavelet: Wavelet, x: [f64; 3], h: f64) -> f64 {
        let power = |x: f64, n: i32| match wavelet {
            Wavelet::Interpolating4 => x.powi(n),
            Wavelet::AverageInterpolating5 => {
                ((x + 0.5 * h).powi(n + 1) - (x - 0.5 * h).powi(n + 1)) / (f64::from(n + 1) * h)
            }
        };
        (0..3)
            .map(|axis| {
                (0..=self.degree)
                    .map(|n| Self::coefficient(axis, n) * power(x[axis] - 0.4, n))
                    .sum::<f64>()
            })
            .product()
    }

    /// Fills a channel with exact grid values.
    pub fn fill(&self, grid: &mut Grid<f64>, channel: &str) {
        let (domain, wavelet) = (*grid.domain(), grid.wavelet());
        grid.update_blocks(channel, |block, values| {
            let h = domain.spacing(block.level);
            for (k, value) in values.iter_mut().enumerate() {
                let point = [k % BLOCK_SIDE, k / BLOCK_SIDE % BLOCK_SIDE, k / BLOCK_SIDE / BLOCK_SIDE];
                *value = self.number(wavelet, domain.position(wavelet, block, point.map(|c| c as isize)), h);
            }
        })
        .unwrap();
    }
}

/// Two roots. One inner block of level 2 is cut, so that levels change across faces, edges and corners; a corner of the
/// box is cut twice.
pub fn mixed_forest() -> Forest {
    let forest = Forest::uniform([2, 1, 1], 2);
    let cut = |forest: &Forest, block: BlockId| forest.refined([forest.find(block).unwrap()]);
    let forest = cut(
        &forest,
        BlockId {
            level: 2,
            at: [2, 1, 1],
        },
    );
    let forest = cut(
        &forest,
        BlockId {
            level: 2,
            at: [7, 3, 3],
        },
    );
    cut(
        &forest,
        BlockId {
            level: 3,
            at: [15, 7, 7],
        },
    )
}

/// The box of [`mixed_forest`].
pub fn domain() -> Domain {
    Domain::new([-0.5, 0.0, 0.25], [2, 1, 1], 1.0).unwrap()
}
