//! The algorithm: the upward pass, then multipoles directly to the targets.

use crate::fmm::Fmm;
use crate::fmm::far::Far;
use crate::report::{Phase, Seconds};
use crate::simd::Real;

impl<T: Real, F: Far<T>> Fmm<T, F> {
    /// Fills `sums` as [`Fmm::evaluate`] does, without local expansions; the lists must be those of a treecode.
    pub fn evaluate_treecode(&mut self, strengths: &[T], sums: &mut [T], seconds: &mut Seconds) {
        let Self { layout, far, near } = self;
        seconds.time(Phase::P2m, || far.p2m(layout, strengths)); // sources into their leaf's multipole
        seconds.time(Phase::M2m, || far.m2m(layout)); // children into parents, from the leaves up

        seconds.time(Phase::M2p, || {
            sums.fill(T::ZERO);
            far.m2p(layout, sums); // multipoles of far boxes to targets
        });
        seconds.time(Phase::P2p, || near.p2p(layout, strengths, sums)); // pairs with the rest
    }
}
