//! Adaptation by several channels, each with its own thresholds, and by a minimum level that depends on the position.

use super::AdaptReport;
use crate::error::Error;
use crate::forest::{BlockId, Cover, MAX_LEVEL};
use crate::grid::Grid;
use farfield::simd::Real;
use std::collections::HashSet;

/// The thresholds of one channel, in its own units.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The channel.
    pub channel: String,
    /// A block with a larger detail is cut into eight; so is a coarser neighbour if such a detail lies near its face.
    pub refine: f64,
    /// Eight blocks whose details are all smaller may be joined.
    pub compress: f64,
}

/// The rules by which blocks are cut and joined.
pub struct Rules<'a> {
    /// The thresholds of all channels that are considered.
    pub thresholds: &'a [Threshold],
    /// No block gets finer than this level.
    pub max_level: u8,
    /// The minimum level of a block, for instance at the surface of a body.
    pub at_least: &'a (dyn Fn(BlockId) -> u8 + Sync),
    /// The largest number of blocks: a round of cuts that would exceed it is not made.
    pub most_blocks: usize,
}

/// The decision about a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Cut,
    Stay,
    Join,
}

/// The neighbours of a block on its own level, with their directions.
fn neighbours(block: BlockId) -> impl Iterator<Item = ([i32; 3], BlockId)> {
    (0..27)
        .map(|k| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1])
        .filter(|direction| *direction != [0; 3])
        .filter_map(move |direction| Some((direction, block.shifted(direction)?)))
}

impl<T: Real> Grid<T> {
    /// Cuts and joins blocks by `rules`, by several levels where `at_least` requires it, and transfers all channels to
    /// the new blocks.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::Thresholds`], [`Error::Memory`].
    pub fn adapt_by(&mut self, rules: &Rules<'_>) -> Result<AdaptReport, Error> {
        for Threshold { refine, compress, .. } in rules.thresholds {
            if !(refine.is_finite() && *compress > 0.0 && compress < refine) {
                return Err(Error::Thresholds {
                    refine: *refine,
                    compress: *compress,
                });
            }
        }
        let mut report = AdaptReport::default();
        let mut marks = self.marks(rules)?;
        // Blocks that were just cut hold interpolated values without details of their own: they are not joined again.
        let mut fresh: HashSet<BlockId> = HashSet::new();
        // Each round cuts by one level; `at_least` may require several.
        for _ in 0..MAX_LEVEL {
            let cut: Vec<usize> = (0..marks.len()).filter(|leaf| marks[*leaf] == Mark::Cut).collect();
            if cut.is_empty() {
                break;
            }
            let parents: Vec<BlockId> = cut.iter().map(|leaf| self.forest().leaves()[*leaf]).collect();
            let forest = self.forest().refined(cut);
            if forest.leaves().len() > rules.most_blocks {
                report.capped = true;
                break;
            }
            self.move_to(forest)?;
            fresh.extend(parents);
            report.rounds += 1;
            marks = self.marks(rules)?;
        }
        let forest = self.forest();
        let joins = |block: &BlockId| forest.find(*block).is_some_and(|leaf| marks[leaf] == Mark::Join);
        let parents: HashSet<BlockId> = forest
            .leaves()
            .iter()
            .filter_map(|leaf| leaf.parent().filter(|parent| parent.children()[0] == *leaf))
            .filter(|parent| !fresh.contains(parent) && parent.level >= (rules.at_least)(*parent))
            .filter(|parent| parent.children().iter().all(joins))
            .collect();
        let coarsened = forest.coarsened(parents);
        if coarsened != *forest {
            self.move_to(coarsened)?;
            report.rounds += 1;
        }
        Ok(report)
    }

    fn marks(&self, rules: &Rules<'_>) -> Result<Vec<Mark>, Error> {
        let leaves = self.forest().leaves();
        let (mut too_coarse, mut needed) = (vec![false; leaves.len()], vec![false; leaves.len()]);
        for threshold in rules.thresholds {
            let details = self.details_by_zone(&[&threshold.channel])?;
            for (leaf, zones) in details.iter().enumerate() {
                let detail = zones.largest();
                // A block with a NaN counts as needed, so that it is not joined.
                too_coarse[leaf] |= detail > threshold.refine;
                needed[leaf] |= detail.is_nan() || detail >= threshold.compress;
                if detail <= threshold.refine {
                    continue;
                }
                // Safety margin: a feature about to leave the block finds an equally fine block beyond the face.
                for (direction, place) in neighbours(leaves[leaf]) {
                    if zones.beside(direction) <= threshold.refine {
                        continue;
                    }
                    match self.forest().cover(place) {
                        Some(Cover::Leaf(beyond)) => needed[beyond] = true,
                        Some(Cover::Coarser(beyond)) => too_coarse[beyond] = true,
                        _ => {}
                    }
                }
            }
        }
        Ok(leaves
            .iter()
            .enumerate()
            .map(|(leaf, block)| {
                let least = (rules.at_least)(*block).min(rules.max_level);
                if block.level < least || too_coarse[leaf] && block.level < rules.max_level {
                    Mark::Cut
                } else if needed[leaf] && block.level <= rules.max_level || block.level <= least {
                    Mark::Stay
                } else {
                    Mark::Join
                }
            })
            .collect())
    }
}
