//! The interaction of one source with a vector of targets.

use crate::simd::{Lanes, rsqrt};

/// The interaction of one source with a vector of targets in `D` dimensions: `S` strengths in, `O` sums out.
pub(crate) trait Pair<const D: usize, const S: usize, const O: usize> {
    /// Whether all coincident pairs add zero, so that loops need not compare indices.
    const SINGULAR: bool = false;
    /// Adds the contribution of a source to `sums`. `d` is target minus source, `size2` the square of the source's
    /// core size. `A` is the accuracy of the reciprocal square root or reciprocal; with `SKIP`, coincident pairs add
    /// zero.
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; D], strength: [V; S], size2: V, sums: &mut [V; O]);
}

/// `|d|^2`
#[inline(always)]
pub(crate) fn norm2<V: Lanes>(d: [V; 3]) -> V {
    d[0].mul_add(d[0], d[1].mul_add(d[1], d[2] * d[2]))
}

/// `1/sqrt(r2)`; with `SKIP`, zero where `r2` is zero.
#[inline(always)]
pub(crate) fn inverse_distance<V: Lanes, const A: u8, const SKIP: bool>(r2: V) -> V {
    let estimate = r2.rsqrt_estimate();
    rsqrt::<V, A>(
        r2,
        if SKIP {
            estimate.keep_where_positive(r2)
        } else {
            estimate
        },
    )
}
