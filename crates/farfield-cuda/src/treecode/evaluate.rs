//! The algorithm: upward, then straight to the targets.

use super::THREADS;
use crate::device::{Precision, Timeline, Values, launch};
use crate::error::Error;
use crate::fmm::{Counter, Fmm};
use farfield_core::report::Phase;
use std::ops::Range;

impl<T: Precision> Fmm<T> {
    /// The strength vectors that are summed at once, without local expansions.
    pub(crate) fn evaluate_treecode(
        &mut self,
        strengths: Values<T>,
        vectors: Range<usize>,
        timeline: &mut Timeline,
    ) -> Result<(), Error> {
        self.gather(strengths, &vectors)?; // sources with their strengths, in tree order
        self.find_balls()?; // around the sources of each box
        timeline.end(Phase::Tree)?;

        self.p2m(&vectors)?; // sources into their leaf's multipole
        timeline.end(Phase::P2m)?;
        self.m2m(&vectors)?; // children into parents, from the leaves up
        timeline.end(Phase::M2m)?;

        self.m2p(&vectors)?; // multipoles of far boxes to targets
        timeline.end(Phase::M2p)?;
        self.p2p(&vectors)?; // pairs with the rest, and results in the caller's order
        timeline.end(Phase::P2p)
    }

    fn find_balls(&mut self) -> Result<(), Error> {
        let (arg, boxes) = (self.tree.arg(&self.buffers), self.tree.boxes as u32);
        if let Some(treecode) = &mut self.treecode {
            launch!(self.buffers.stream(), treecode.kernels.balls, (boxes.div_ceil(8), 1, 1), 256, 0;
                &self.tree.tree, &arg, &boxes, &self.packed, &mut treecode.balls);
        }
        Ok(())
    }

    fn m2p(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        let (arg, streams) = (self.tree.arg(&self.buffers), self.streams(vectors));
        let (boxes, count) = (self.tree.boxes as u32, vectors.len() as u32);
        let interactions = self.counter(Counter::M2p);
        let rounds = (self.tree.most_points as u32).div_ceil(THREADS);
        if let Some(treecode) = &mut self.treecode {
            launch!(self.buffers.stream(), treecode.kernels.derive_multipoles, (boxes, count, 1), 64, 0;
                &self.multipoles, &streams, &mut treecode.derived);
            let opening = treecode.arg(&self.buffers);
            launch!(self.buffers.stream(), treecode.kernels.m2p, (boxes, rounds, count), THREADS, 0;
                &arg, &self.target_positions, &self.target_count, &opening, &treecode.derived, &mut self.far,
                &interactions);
        }
        Ok(())
    }
}
