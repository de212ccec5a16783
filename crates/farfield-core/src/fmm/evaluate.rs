//! The algorithm: upward, across, downward.

use super::far::Far;
use super::harmonics::Harmonics;
use super::layout::Layout;
use super::near::Near;
use crate::pages::give_back;
use crate::report::{Phase, Seconds};
use crate::simd::Real;

/// An FMM or a treecode that can be evaluated: geometry, far field and near field.
#[derive(Debug)]
pub(crate) struct Fmm<T: Real, F = Harmonics<T>> {
    pub layout: Layout<T>,
    pub far: F,
    pub near: Near<T>,
}

impl<T: Real, F: Far<T>> Fmm<T, F> {
    /// Fills `sums` from `strengths`, both in the layout of [`Far`].
    pub fn evaluate(&mut self, strengths: &[T], sums: &mut [T], seconds: &mut Seconds) {
        let Self { layout, far, near } = self;
        seconds.time(Phase::P2m, || far.p2m(layout, strengths)); // sources into their leaf's multipole
        seconds.time(Phase::M2m, || far.m2m(layout)); // children into parents, from the leaves up

        seconds.time(Phase::M2l, || far.m2l(layout)); // multipoles into locals of the same level
        seconds.time(Phase::P2l, || far.p2l(layout, strengths)); // sources of larger leaves into locals

        seconds.time(Phase::L2l, || far.l2l(layout)); // parents into children, from the root down
        seconds.time(Phase::L2p, || far.l2p(layout, sums)); // locals to their leaf's targets
        seconds.time(Phase::M2p, || far.m2p(layout, sums)); // multipoles of smaller boxes to targets
        far.spare_locals();
        seconds.time(Phase::P2p, || near.p2p(layout, strengths, sums)); // pairs between neighbours
    }
}

impl<T: Real> Fmm<T> {
    /// Returns the memory that an evaluation fills to the system, until the next evaluation.
    pub fn give_back(&mut self) {
        self.far.give_back();
        if let Some(mutual) = &mut self.near.mutual {
            give_back(&mut mutual.sums);
        }
    }
}
