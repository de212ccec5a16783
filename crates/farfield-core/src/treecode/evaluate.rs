//! The algorithm: upward, then straight to the targets.

use crate::fmm::Fmm;
use crate::report::{Phase, Seconds};
use crate::simd::Real;

impl<T: Real> Fmm<T> {
    /// Fills `sums` as [`Fmm::evaluate`] does, without local expansions; the lists must be those of a treecode.
    pub fn evaluate_treecode(&mut self, strengths: &[T], sums: &mut [T], seconds: &mut Seconds) {
        seconds.time(Phase::P2m, || self.p2m(strengths)); // sources into their leaf's multipole
        seconds.time(Phase::M2m, || self.m2m()); // children into parents, from the leaves up

        seconds.time(Phase::M2p, || {
            sums.fill(T::ZERO);
            self.m2p(sums); // multipoles of far boxes to targets
        });
        seconds.time(Phase::P2p, || self.p2p(strengths, sums)); // pairs with the rest
    }
}
