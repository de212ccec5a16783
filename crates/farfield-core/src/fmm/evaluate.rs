//! The algorithm: upward, across, downward.

use super::Fmm;
use crate::report::{Phase, Seconds};
use crate::simd::Real;

impl<T: Real> Fmm<T> {
    /// Fills `sums` (leaf by leaf, see [`Fmm::sum_rows`]) from `strengths` (stream by stream, in tree order).
    pub fn evaluate(&mut self, strengths: &[T], sums: &mut [T], seconds: &mut Seconds) {
        seconds.time(Phase::P2m, || self.p2m(strengths)); // sources into their leaf's multipole
        seconds.time(Phase::M2m, || self.m2m()); // children into parents, from the leaves up

        seconds.time(Phase::M2l, || self.m2l()); // multipoles into locals of the same level
        seconds.time(Phase::P2l, || self.p2l(strengths)); // sources of larger leaves into locals

        seconds.time(Phase::L2l, || self.l2l()); // parents into children, from the root down
        seconds.time(Phase::L2p, || self.l2p(sums)); // locals to their leaf's targets
        seconds.time(Phase::M2p, || self.m2p(sums)); // multipoles of smaller boxes to targets
        self.spare_locals();
        seconds.time(Phase::P2p, || self.p2p(strengths, sums)); // pairs between neighbours
    }
}
