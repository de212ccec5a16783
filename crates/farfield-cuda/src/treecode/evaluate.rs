//! The algorithm: the upward pass, then multipoles directly to the targets.

use super::THREADS;
use super::setup::{DeriveMultipoles, FindBalls, M2p};
use crate::device::{Blocks, In, Out, Precision, Timeline, Values};
use crate::error::Error;
use crate::fmm::{Counter, Fmm};
use farfield_core::report::Phase;
use std::ops::Range;

impl<T: Precision> Fmm<T> {
    /// Sums the vectors of one batch, without local expansions.
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
        let (boxes, box_count) = (self.tree.arg(), self.tree.boxes as u32);
        if let Some(treecode) = &mut self.treecode {
            treecode.kernels.balls.launch(
                self.buffers.stream(),
                Blocks::row(box_count.div_ceil(8), 256),
                &FindBalls {
                    tree: In::of(&self.tree.tree),
                    boxes,
                    box_count,
                    sources: In::of(&self.packed),
                    balls: Out::of(&mut treecode.balls),
                },
            )?;
        }
        Ok(())
    }

    fn m2p(&mut self, vectors: &Range<usize>) -> Result<(), Error> {
        let (boxes, streams) = (self.tree.arg(), self.streams(vectors));
        let (box_count, count) = (self.tree.boxes as u32, vectors.len() as u32);
        let interactions = self.counter(Counter::M2p);
        let rounds = (self.tree.most_points as u32).div_ceil(THREADS);
        if let Some(treecode) = &mut self.treecode {
            treecode.kernels.derive_multipoles.launch(
                self.buffers.stream(),
                Blocks::new((box_count, count, 1), 64),
                &DeriveMultipoles {
                    multipoles: In::of(&self.multipoles),
                    streams,
                    derived: Out::of(&mut treecode.derived),
                },
            )?;
            treecode.kernels.m2p.launch(
                self.buffers.stream(),
                Blocks::new((box_count, rounds, count), THREADS),
                &M2p {
                    boxes,
                    targets: In::of(&self.target_positions),
                    target_count: self.target_count,
                    opening: treecode.arg(),
                    derived: In::of(&treecode.derived),
                    far: Out::of(&mut self.far),
                    interactions,
                },
            )?;
        }
        Ok(())
    }
}
