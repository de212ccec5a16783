//! Several vectors of charges that meet the targets at once: the distance of a pair is found once for all of them.
//!
//! The sums, in order: those of the first vector, of the second, and so on, each as for one vector alone.

use super::pair::{Pair, inverse_distance, norm2};
use crate::p2p::{Block, Pairs};
use crate::simd::{Lanes, Real, SimdLevel};

/// How many of so many vectors the loops take at once, where a pair is singular: as many sums as registers hold.
pub(super) fn at_once(derivatives: usize, vectors: usize) -> usize {
    match (derivatives, vectors) {
        (0, 8..) => 8,
        (1, 4..) => 4,
        (0 | 1, 2..) => 2,
        _ => 1,
    }
}

/// What a pair of that many vectors costs, where one of one vector costs one: operations counted.
pub(super) fn cost(derivatives: usize, at_once: usize) -> f64 {
    let more = (at_once - 1) as f64;
    match derivatives {
        0 => 1.0 + more / 12.0,
        1 => 1.0 + 4.0 / 19.0 * more,
        _ => at_once as f64,
    }
}

/// The loops over pairs of [`at_once`] vectors.
pub(super) fn add_pairs<T: Real>(pairs: &Pairs, simd: SimdLevel, block: &Block<T, 3>, vectors: usize, sums: &mut [T]) {
    let accuracy = pairs.accuracy;
    match (pairs.derivatives, vectors) {
        (0, 2) => block.with_one_of_two::<Potentials, 2, 2>(simd, accuracy, sums),
        (0, 8) => block.with_one_of_two::<Potentials, 8, 8>(simd, accuracy, sums),
        (1, 2) => block.with_one_of_two::<Gradients, 2, 8>(simd, accuracy, sums),
        (1, 4) => block.with_one_of_two::<Gradients, 4, 16>(simd, accuracy, sums),
        _ => unreachable!("no loop takes {vectors} vectors at once"),
    }
}

/// `q/r` of every vector.
struct Potentials;
/// `q/r` of every vector and its gradient.
struct Gradients;

impl<const W: usize> Pair<3, W, W> for Potentials {
    const SINGULAR: bool = true;
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], q: [V; W], _: V, sums: &mut [V; W]) {
        let inverse = inverse_distance::<V, A, SKIP>(norm2(d));
        for w in 0..W {
            sums[w] = q[w].mul_add(inverse, sums[w]);
        }
    }
}

impl<const W: usize, const O: usize> Pair<3, W, O> for Gradients {
    const SINGULAR: bool = true;
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], q: [V; W], _: V, sums: &mut [V; O]) {
        const {
            assert!(
                O == 4 * W,
                "a potential and three components of a gradient for each vector"
            )
        };
        let inverse = inverse_distance::<V, A, SKIP>(norm2(d));
        let cube = inverse * (inverse * inverse);
        let slope = [cube * d[0], cube * d[1], cube * d[2]];
        for w in 0..W {
            sums[4 * w] = q[w].mul_add(inverse, sums[4 * w]);
            for axis in 0..3 {
                let at = 4 * w + 1 + axis;
                sums[at] = q[w].neg_mul_add(slope[axis], sums[at]);
            }
        }
    }
}
