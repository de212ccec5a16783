//! Pairs whose reciprocal square roots are no more accurate than the tolerance requires.

use super::{Block, FULL};
use crate::kernel::Pair;
use crate::simd::{Lanes, Real, RsqrtAccuracy, SimdLevel, Vectorized, dispatch};
use std::marker::PhantomData;

impl<T: Real, const D: usize> Block<'_, T, D> {
    /// Adds the sums of pair `P` with reciprocal square roots of accuracy `accuracy`. They must be roots of squared
    /// distances, or of squared distances plus the square of a core size.
    pub fn with_accuracy<P: Pair<D, S, O>, const S: usize, const O: usize>(
        &self,
        simd: SimdLevel,
        accuracy: RsqrtAccuracy,
        sums: &mut [T],
    ) {
        match accuracy {
            RsqrtAccuracy::Estimate => self.cheaper::<P, S, O, { RsqrtAccuracy::Estimate as u8 }>(simd, sums),
            RsqrtAccuracy::Newton => self.cheaper::<P, S, O, { RsqrtAccuracy::Newton as u8 }>(simd, sums),
            RsqrtAccuracy::Cubic => self.cheaper::<P, S, O, { RsqrtAccuracy::Cubic as u8 }>(simd, sums),
            RsqrtAccuracy::Full => self.narrow::<P, S, O, FULL>(simd, sums),
        }
    }

    /// [`Block::with_accuracy`] for a pair that is compiled for two accuracies only: one Newton step, and full
    /// accuracy.
    pub fn with_one_of_two<P: Pair<D, S, O>, const S: usize, const O: usize>(
        &self,
        simd: SimdLevel,
        accuracy: RsqrtAccuracy,
        sums: &mut [T],
    ) {
        match accuracy {
            RsqrtAccuracy::Estimate | RsqrtAccuracy::Newton => {
                self.cheaper::<P, S, O, { RsqrtAccuracy::Newton as u8 }>(simd, sums)
            }
            RsqrtAccuracy::Cubic | RsqrtAccuracy::Full => self.narrow::<P, S, O, FULL>(simd, sums),
        }
    }

    /// Adds the sums of pair `P` with full accuracy.
    pub fn full<P: Pair<D, S, O>, const S: usize, const O: usize>(&self, simd: SimdLevel, sums: &mut [T]) {
        self.at::<P, S, O, FULL>(simd, sums);
    }

    fn cheaper<P: Pair<D, S, O>, const S: usize, const O: usize, const A: u8>(&self, simd: SimdLevel, sums: &mut [T]) {
        let pair = PhantomData;
        let task = CheaperTask::<T, P, D, S, O, A> {
            block: self,
            simd,
            sums,
            pair,
        };
        dispatch(simd, task);
    }
}

/// A loop of reduced accuracy, compiled only for levels at which it can be chosen.
struct CheaperTask<'a, 'b, T, P, const D: usize, const S: usize, const O: usize, const A: u8> {
    block: &'a Block<'b, T, D>,
    simd: SimdLevel,
    sums: &'a mut [T],
    pair: PhantomData<P>,
}

impl<T: Real, P: Pair<D, S, O>, const D: usize, const S: usize, const O: usize, const A: u8> Vectorized<T>
    for CheaperTask<'_, '_, T, P, D, S, O, A>
{
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        if const { RsqrtAccuracy::is_never_chosen::<V, A>() } {
            // The loop with full accuracy is compiled anyway.
            self.block.narrow::<P, S, O, FULL>(self.simd, self.sums);
        } else {
            self.block.run::<V::Narrow, V, P, S, O, A>(self.sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_accuracy_is_left_out_exactly_where_no_plan_chooses_it() {
        struct Check;
        impl<T: Real> Vectorized<T> for Check {
            type Output = ();
            fn run<V: Lanes<Elem = T>>(self) {
                let mut chosen = Vec::new();
                for k in 0..200 {
                    chosen.push(RsqrtAccuracy::for_error::<V>(10f64.powf(-0.1 * f64::from(k))));
                }
                let left_out = [
                    (
                        RsqrtAccuracy::Estimate,
                        RsqrtAccuracy::is_never_chosen::<V, { RsqrtAccuracy::Estimate as u8 }>(),
                    ),
                    (
                        RsqrtAccuracy::Newton,
                        RsqrtAccuracy::is_never_chosen::<V, { RsqrtAccuracy::Newton as u8 }>(),
                    ),
                    (
                        RsqrtAccuracy::Cubic,
                        RsqrtAccuracy::is_never_chosen::<V, { RsqrtAccuracy::Cubic as u8 }>(),
                    ),
                ];
                for (accuracy, left_out) in left_out {
                    assert_eq!(chosen.contains(&accuracy), !left_out, "{accuracy:?} {}", T::NAME);
                }
            }
        }
        for level in SimdLevel::available() {
            dispatch::<f32, _>(level, Check);
            dispatch::<f64, _>(level, Check);
        }
    }
}
