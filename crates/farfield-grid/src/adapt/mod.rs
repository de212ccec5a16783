//! Refinement and compression by the size of wavelet details.

mod details;
mod marks;
mod transfer;

pub use marks::{Rules, Threshold};

use crate::error::Error;
use crate::forest::{BlockId, MAX_LEVEL};
use crate::grid::Grid;
use farfield::simd::Real;
use std::collections::HashSet;

/// The thresholds of refinement and compression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adaptation {
    /// A block with a larger detail is cut into eight.
    pub refine: f64,
    /// Eight blocks whose details are all smaller are joined.
    pub compress: f64,
    /// No block gets finer than this level.
    pub max_level: u8,
}

/// The result of an adaptation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AdaptReport {
    /// Rounds of refinement or compression that changed the grid.
    pub rounds: usize,
    /// Blocks at the maximum level whose details exceed the refinement threshold.
    pub unresolved: usize,
    /// Whether blocks were not cut because the grid would have had too many.
    pub capped: bool,
}

/// More rounds than any convergent adaptation needs: all levels up and down several times.
const MAX_ROUNDS: usize = 8 * MAX_LEVEL as usize;

impl Adaptation {
    /// An adaptation with absolute thresholds, in the units of the channels.
    pub fn new(refine: f64, compress: f64, max_level: u8) -> Self {
        Self {
            refine,
            compress,
            max_level,
        }
    }

    fn check(&self) -> Result<(), Error> {
        let Self { refine, compress, .. } = *self;
        if !(refine.is_finite() && compress > 0.0 && compress < refine) {
            return Err(Error::Thresholds { refine, compress });
        }
        if self.max_level > MAX_LEVEL {
            return Err(Error::Level {
                level: self.max_level,
                limit: MAX_LEVEL,
                why: "the finest possible level is",
            });
        }
        Ok(())
    }
}

impl<T: Real> Grid<T> {
    /// Performs one step of adaptation, for use every few time steps of a simulation: cuts the blocks where a detail of
    /// `channels` is too large, then joins blocks that are finer than needed. Transfers all channels to the new blocks.
    ///
    /// # Errors
    /// [`Error::Thresholds`], [`Error::ThresholdBelowRoundOff`], [`Error::UnknownChannel`], [`Error::NotFinite`],
    /// [`Error::Memory`]. If refinement fails, the grid is unchanged; if joining fails, the refinement remains.
    pub fn adapt(&mut self, channels: &[&str], adaptation: &Adaptation) -> Result<AdaptReport, Error> {
        let mut report = AdaptReport::default();
        let details = self.checked_details(channels, adaptation)?;
        report.rounds += usize::from(self.refine_by(&details, adaptation)?);
        let details = self.checked_details(channels, adaptation)?;
        report.unresolved = self.unresolved(&details, adaptation);
        report.rounds += usize::from(self.compress_by(&details, adaptation, &HashSet::new())?);
        Ok(report)
    }

    /// Adapts to a function until the grid stops changing. `fill` must set all values from the function; it is called
    /// after every change, so that the grid adapts to the function and not to interpolated values.
    ///
    /// The start level must be fine enough to see every feature: one that lies between the points is not refined.
    ///
    /// # Errors
    /// As [`Grid::adapt`], [`Error::NoFixedPoint`], and the errors of `fill`.
    pub fn adapt_to(
        &mut self,
        channels: &[&str],
        adaptation: &Adaptation,
        mut fill: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<AdaptReport, Error> {
        adaptation.check()?;
        fill(self)?;
        // Blocks that had to be cut once; joining their children again would never end.
        let mut needed: HashSet<BlockId> = HashSet::new();
        for round in 0..MAX_ROUNDS {
            let details = self.checked_details(channels, adaptation)?;
            let too_coarse = details
                .iter()
                .enumerate()
                .filter(|(_, detail)| **detail > adaptation.refine);
            needed.extend(too_coarse.map(|(leaf, _)| self.leaf(leaf)));
            if !self.refine_by(&details, adaptation)? && !self.compress_by(&details, adaptation, &needed)? {
                return Ok(AdaptReport {
                    rounds: round,
                    unresolved: self.unresolved(&details, adaptation),
                    capped: false,
                });
            }
            fill(self)?;
        }
        Err(Error::NoFixedPoint { rounds: MAX_ROUNDS })
    }

    /// The largest detail of each block over `channels`, after checking the channels and the thresholds.
    fn checked_details(&self, channels: &[&str], adaptation: &Adaptation) -> Result<Vec<f64>, Error> {
        adaptation.check()?;
        for name in channels {
            self.check_finite(name)?;
            let largest = self.largest(name)?;
            // The absolute weights of a three-dimensional prediction add up to less than four.
            let round_off = 4.0 * T::EPSILON * largest;
            if adaptation.refine < round_off {
                return Err(Error::ThresholdBelowRoundOff {
                    refine: adaptation.refine,
                    round_off,
                    channel: (*name).to_owned(),
                    largest,
                    precision: T::NAME,
                });
            }
        }
        self.details(channels)
    }

    /// Cuts blocks that are too coarse and returns whether there were any.
    fn refine_by(&mut self, details: &[f64], adaptation: &Adaptation) -> Result<bool, Error> {
        let forest = self.forest();
        let marked: Vec<usize> = (0..details.len())
            .filter(|&leaf| details[leaf] > adaptation.refine && forest.leaves()[leaf].level < adaptation.max_level)
            .collect();
        if marked.is_empty() {
            return Ok(false);
        }
        self.move_to(forest.refined(marked))?;
        Ok(true)
    }

    /// Joins blocks that are finer than needed, except the children of `kept`, and returns whether there were any.
    fn compress_by(
        &mut self,
        details: &[f64],
        adaptation: &Adaptation,
        kept: &HashSet<BlockId>,
    ) -> Result<bool, Error> {
        let forest = self.forest();
        let small = |block: &BlockId| {
            forest
                .find(*block)
                .is_some_and(|leaf| details[leaf] < adaptation.compress)
        };
        let parents: Vec<BlockId> = forest
            .leaves()
            .iter()
            .filter_map(|leaf| leaf.parent().filter(|parent| parent.children()[0] == *leaf))
            .filter(|parent| !kept.contains(parent) && parent.children().iter().all(small))
            .collect();
        let coarsened = forest.coarsened(parents);
        if coarsened == *forest {
            return Ok(false);
        }
        self.move_to(coarsened)?;
        Ok(true)
    }

    fn unresolved(&self, details: &[f64], adaptation: &Adaptation) -> usize {
        let leaves = self.forest().leaves().iter().zip(details);
        leaves
            .filter(|(leaf, detail)| **detail > adaptation.refine && leaf.level == adaptation.max_level)
            .count()
    }
}
