//! Grid adaptation: the grid follows the vorticity and is finest at the surfaces of bodies.

use super::body::{BAND, Body};
use super::model::{OMEGA, Solver};
use crate::error::Error;
use farfield_grid::poisson::Precision;
use farfield_grid::{AdaptReport, BLOCK_POINTS, BLOCK_SIDE, BlockId, Domain, Rules, Threshold};

/// The distance from a surface within which the grid is at the finest level, in spacings.
const MARGIN: f64 = 4.0;

/// The fraction of the memory free at the start that a flow may use.
const SHARE_OF_MEMORY: f64 = 0.8;
/// Numbers and additional bytes per point in the Poisson problem: as a source, as a target, in expansions and lists.
/// The FMM needs the most. The treecode needs less, and so do checkpoints and files, which are written between two
/// solutions.
const NUMBERS_OF_SUM: u64 = 16;
const BYTES_OF_SUM: u64 = 52;

impl<T: Precision> Solver<T> {
    /// The memory for `blocks` blocks in bytes: fields, the copy during adaptation, the last valid state, and the
    /// Poisson problem.
    pub(super) fn memory_of(&self, blocks: usize) -> u64 {
        let (number, kept) = (size_of::<T>() as u64, 9);
        let of_point = BYTES_OF_SUM + (NUMBERS_OF_SUM + kept) * number;
        self.grid.memory_forecast(blocks) + blocks as u64 * BLOCK_POINTS as u64 * of_point
    }

    /// The largest number of blocks: that of the case, or fewer if memory is short.
    pub(super) fn most_blocks(&self) -> usize {
        let fit = match self.free_memory {
            Some(bytes) => (SHARE_OF_MEMORY * bytes as f64 / self.memory_of(1) as f64) as usize,
            None => usize::MAX,
        };
        fit.min(self.setup.grid.most_blocks)
    }

    /// One round of adaptation.
    pub(super) fn adapt(&mut self) -> Result<AdaptReport, Error> {
        let largest = self.grid.largest(OMEGA)?;
        let settings = &self.setup.grid;
        // Without vorticity, only bodies determine the grid.
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let thresholds = [Threshold {
            channel: OMEGA.to_owned(),
            refine: settings.refine * unit,
            compress: settings.compress * unit,
        }];
        let (domain, bodies, time) = (*self.grid.domain(), self.setup.bodies.clone(), self.time);
        let at_least = |block: BlockId| {
            if touches_surface(&domain, settings.level, &bodies, time, block) {
                settings.level
            } else {
                0
            }
        };
        let rules = Rules {
            thresholds: &thresholds,
            max_level: settings.level,
            at_least: &at_least,
            most_blocks: self.most_blocks(),
        };
        Ok(self.grid.adapt_by(&rules)?)
    }
}

/// Whether a surface passes through a block or within the margin.
fn touches_surface(domain: &Domain, finest: u8, bodies: &[Body], time: f64, block: BlockId) -> bool {
    let half = 0.5 * BLOCK_SIDE as f64 * domain.spacing(block.level);
    let middle = domain.corner(block).map(|c| c + half);
    let reach = 3f64.sqrt() * half + (MARGIN + 0.5 * BAND) * domain.spacing(finest);
    bodies.iter().any(|body| body.distance(middle, time).abs() < reach)
}
