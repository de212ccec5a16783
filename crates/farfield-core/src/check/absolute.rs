//! Sums of absolute contributions, which bound the round-off of sums that cancel.

use super::truth::{ABSOLUTE, ExactPairs};
use crate::kernel::Pair;
use crate::p2p::{Block, PairSums, Pairs};
use crate::plane::{self, PlanePairs};
use crate::simd::{Lanes, Real, RsqrtAccuracy, SimdLevel, ln, rsqrt};

/// `w/s`, `w/s^2` and `w/s^3` with `s^2 = r^2 + size^2`: the magnitudes of the terms of the Coulomb potential,
/// gradient and Hessian, and approximately of every other kernel.
struct InSpace;

impl Pair<3, 1, ABSOLUTE> for InSpace {
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], [w]: [V; 1], size2: V, sums: &mut [V; ABSOLUTE]) {
        let s2 = d[0].mul_add(d[0], d[1].mul_add(d[1], d[2].mul_add(d[2], size2)));
        let inverse = rsqrt::<V, A>(s2, s2.rsqrt_estimate().keep_where_positive(s2));
        let [potential, gradient, hessian] = sums;
        let term = w * inverse;
        *potential = *potential + term;
        *gradient = term.mul_add(inverse, *gradient);
        *hessian = (term * inverse).mul_add(inverse, *hessian);
    }
}

/// In the plane `w/s`, `w/s^2` and `w/s^3`, or `w |log s|`, `w/s` and `w/s^2` for the logarithm.
struct InPlane<const LOG: bool>;

impl<const LOG: bool> Pair<2, 1, ABSOLUTE> for InPlane<LOG> {
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 2], [w]: [V; 1], size2: V, sums: &mut [V; ABSOLUTE]) {
        let s2 = d[0].mul_add(d[0], d[1].mul_add(d[1], size2));
        let inverse = rsqrt::<V, A>(s2, s2.rsqrt_estimate().keep_where_positive(s2));
        let mut term = w * inverse;
        let powers = if LOG {
            let log = V::splat(V::Elem::from_f64(0.5)) * ln(s2).keep_where_positive(s2);
            sums[0] = w.mul_add(log.max(V::zero() - log), sums[0]);
            1..ABSOLUTE
        } else {
            0..ABSOLUTE
        };
        for k in powers {
            sums[k] = sums[k] + term;
            term = term * inverse;
        }
    }
}

const NEWTON: u8 = RsqrtAccuracy::Newton as u8;

impl ExactPairs<3> for Pairs {
    fn add_exactly(&self, simd: SimdLevel, block: &Block<f64, 3>, sums: &mut [f64]) {
        let exact = Pairs {
            accuracy: RsqrtAccuracy::Full,
            ..*self
        };
        exact.add(simd, block, sums);
    }

    fn add_absolute(&self, simd: SimdLevel, block: &Block<f64, 3>, sums: &mut [f64]) {
        block.at::<InSpace, 1, ABSOLUTE, NEWTON>(simd, sums);
    }
}

impl ExactPairs<2> for PlanePairs {
    fn add_exactly(&self, simd: SimdLevel, block: &Block<f64, 2>, sums: &mut [f64]) {
        let exact = PlanePairs { full: true, ..*self };
        exact.add(simd, block, sums);
    }

    fn add_absolute(&self, simd: SimdLevel, block: &Block<f64, 2>, sums: &mut [f64]) {
        match self.kernel {
            plane::Kernel::Harmonic => block.at::<InPlane<false>, 1, ABSOLUTE, NEWTON>(simd, sums),
            plane::Kernel::Log => block.at::<InPlane<true>, 1, ABSOLUTE, NEWTON>(simd, sums),
        }
    }
}
