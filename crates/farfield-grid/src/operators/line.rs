//! A line of a block: sixteen values along x, held in SIMD vectors.

use crate::forest::BLOCK_SIDE;
use farfield::simd::{Lanes, Real};

/// The line along x of a block that begins at `values[at]`.
#[inline(always)]
pub(crate) fn line<T>(values: &[T], at: usize) -> &[T; BLOCK_SIDE] {
    &values[at..at + BLOCK_SIDE].as_chunks::<BLOCK_SIDE>().0[0]
}

/// [`line`], mutable.
#[inline(always)]
pub(crate) fn line_mut<T>(values: &mut [T], at: usize) -> &mut [T; BLOCK_SIDE] {
    &mut values[at..at + BLOCK_SIDE].as_chunks_mut::<BLOCK_SIDE>().0[0]
}

/// `value` in all lanes.
#[inline(always)]
pub(crate) fn number<V: Lanes>(value: f64) -> V {
    V::splat(V::Elem::from_f64(value))
}

/// A line held in SIMD vectors; only the first [`Sixteen::PARTS`] are used.
#[derive(Clone, Copy)]
pub(crate) struct Sixteen<V>(pub [V; BLOCK_SIDE]);

impl<V: Lanes> Sixteen<V> {
    /// The number of SIMD vectors that hold a line.
    pub const PARTS: usize = BLOCK_SIDE / V::LANES;

    #[inline(always)]
    pub fn zero() -> Self {
        Self([V::zero(); BLOCK_SIDE])
    }

    #[inline(always)]
    pub fn of(line: &[V::Elem; BLOCK_SIDE]) -> Self {
        let mut all = Self::zero();
        for part in 0..Self::PARTS {
            all.0[part] = V::from_slice(&line[part * V::LANES..]);
        }
        all
    }

    /// The line at `values[at]`.
    #[inline(always)]
    pub fn at(values: &[V::Elem], at: usize) -> Self {
        Self::of(line(values, at))
    }

    #[inline(always)]
    pub fn write(&self, line: &mut [V::Elem; BLOCK_SIDE]) {
        for part in 0..Self::PARTS {
            self.0[part].write_partial(&mut line[part * V::LANES..], V::LANES);
        }
    }
}
