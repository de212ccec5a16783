//! The algorithm: upward, across, downward.

use super::Fmm;
use crate::device::{Precision, Timeline, Values};
use crate::error::Error;
use farfield_core::report::Phase;
use std::ops::Range;

impl<T: Precision> Fmm<T> {
    /// Sums for `strengths`, in the caller's order, into the outputs on the device. There may be fewer vectors than the
    /// plan has room for.
    pub fn evaluate(&mut self, strengths: Values<T>, timeline: &mut Timeline) -> Result<(), Error> {
        for vectors in self.batches(strengths.len()) {
            self.buffers.clear(&mut self.counters)?;
            if self.treecode.is_some() {
                self.evaluate_treecode(strengths, vectors, timeline)?;
            } else {
                self.evaluate_vectors(strengths, vectors, timeline)?;
            }
        }
        Ok(())
    }

    /// Sums the vectors of one batch.
    fn evaluate_vectors(
        &mut self,
        strengths: Values<T>,
        vectors: Range<usize>,
        timeline: &mut Timeline,
    ) -> Result<(), Error> {
        self.gather(strengths, &vectors)?; // sources with their strengths, in tree order
        timeline.end(Phase::Tree)?;

        self.p2m(&vectors)?; // sources into their leaf's multipole
        timeline.end(Phase::P2m)?;
        self.m2m(&vectors)?; // children into parents, from the leaves up
        timeline.end(Phase::M2m)?;

        self.m2l(&vectors)?; // multipoles into locals of the same level
        timeline.end(Phase::M2l)?;

        self.l2l(&vectors)?; // parents into children, from the root down
        timeline.end(Phase::L2l)?;
        self.l2p(&vectors)?; // locals to their leaf's targets
        timeline.end(Phase::L2p)?;
        self.p2p(&vectors)?; // pairs between neighbours, and results in the caller's order
        timeline.end(Phase::P2p)
    }
}
