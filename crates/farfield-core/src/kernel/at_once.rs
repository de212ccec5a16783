//! Several vectors of charges in one pass over the pairs, so that the distance of a pair is computed once.
//!
//! The sums are stored vector after vector, each as for one vector alone.

use super::pair::{Pair, inverse_distance, norm2};
use crate::p2p::{Block, Pairs};
use crate::simd::{Lanes, Real, SimdLevel};

/// The number of vectors, of `vectors` in total, that one pass of the loops takes for a singular kernel: as many as
/// have their sums in registers.
pub(super) fn at_once(derivatives: usize, vectors: usize) -> usize {
    match (derivatives, vectors) {
        (0, 8..) => 8,
        (1, 4..) => 4,
        (0 | 1, 2..) => 2,
        _ => 1,
    }
}

/// The cost of a pair for `at_once` vectors, relative to its cost for one vector, by the number of operations.
pub(super) fn cost(derivatives: usize, at_once: usize) -> f64 {
    let more = (at_once - 1) as f64;
    match derivatives {
        0 => 1.0 + more / 12.0,
        1 => 1.0 + 4.0 / 19.0 * more,
        _ => at_once as f64,
    }
}

/// The loops over pairs for `vectors` vectors, a number that [`at_once`] returns.
pub(super) fn add_pairs<T: Real>(pairs: &Pairs, simd: SimdLevel, block: &Block<T, 3>, vectors: usize, sums: &mut [T]) {
    let accuracy = pairs.accuracy;
    match (pairs.derivatives, vectors) {
        (0, 2) => block.with_one_of_two::<Potentials, 2, 2>(simd, accuracy, sums),
        (0, 8) => block.with_one_of_two::<Potentials, 8, 8>(simd, accuracy, sums),
        (1, 2) => block.with_one_of_two::<Gradients, 2, 8>(simd, accuracy, sums),
        (1, 4) => block.with_one_of_two::<Gradients, 4, 16>(simd, accuracy, sums),
        _ => unreachable!("there is no loop for {vectors} vectors at once"),
    }
}

/// `q/r` for every vector.
struct Potentials;
/// `q/r` and its gradient for every vector.
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
