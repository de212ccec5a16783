//! Fields across a change of level.

use farfield::simd::Real;
use farfield_grid::{BLOCK_POINTS, BlockId, Domain, Forest, Grid, Wavelet};
use std::f64::consts::PI;

/// A box of two roots on different levels, and a field with support in both.
pub fn grid<T: Real>(wavelet: Wavelet, components: usize) -> Grid<T> {
    let domain = Domain::new([-0.3, 0.1, 0.0], [2, 1, 1], 0.7).unwrap();
    let forest = Forest::uniform([2, 1, 1], 0);
    let forest = forest.refined([forest
        .find(BlockId {
            level: 0,
            at: [1, 0, 0],
        })
        .unwrap()]);
    let mut grid = Grid::<T>::builder(domain)
        .wavelet(wavelet)
        .forest(forest)
        .build()
        .unwrap();
    grid.add_channel("omega", components).unwrap();
    grid.add_channel("psi", components).unwrap();
    let blob = |x: [f64; 3], c: usize| {
        let middle = [0.35 + 0.02 * c as f64, 0.45, 0.3];
        let r2: f64 = (0..3).map(|axis| (x[axis] - middle[axis]).powi(2)).sum();
        if r2 < 0.02 {
            (1.0 + c as f64) * (1.0 - r2 / 0.02).powi(2) * (9.0 * x[1] + c as f64).sin()
        } else {
            0.0
        }
    };
    let copy = grid.clone();
    let (domain, forest) = (*copy.domain(), copy.forest());
    grid.update_blocks("omega", |block, values| {
        assert!(forest.find(block).is_some());
        for (k, value) in values.iter_mut().enumerate() {
            let point = k % BLOCK_POINTS;
            let at = [point % 16, point / 16 % 16, point / 256].map(|c| c as isize);
            *value = T::from_f64(blob(domain.position(wavelet, block, at), k / BLOCK_POINTS));
        }
    })
    .unwrap();
    grid
}

/// The blocks of `level`, with those of the upper octant cut once more.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn one_finer_octant(level: u8) -> Forest {
    let forest = Forest::uniform([1; 3], level);
    let half = 1 << (level - 1);
    let marked = (0..forest.leaves().len()).filter(|k| forest.leaves()[*k].at.iter().all(|c| *c >= half));
    forest.refined(marked.collect::<Vec<_>>())
}

/// erf(r)/r, by its series for small r and by the continued fraction of erfc for large r.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn erf_over(r: f64) -> f64 {
    if r < 2.5 {
        let (mut term, mut sum) = (2.0 / PI.sqrt(), 0.0);
        for n in 0..60 {
            sum += term / f64::from(2 * n + 1);
            term *= -r * r / f64::from(n + 1);
        }
        return sum;
    }
    let mut fraction = 0.0;
    for k in (1..80).rev() {
        fraction = 0.5 * f64::from(k) / (r + fraction);
    }
    (1.0 - (-r * r).exp() / (PI.sqrt() * (r + fraction))) / r
}
