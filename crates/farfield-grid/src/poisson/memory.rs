//! How much memory a solution takes, known before it is begun.

use super::Poisson;
use super::lists::{BRICK_POINTS, DirectRange};
use super::multipole::term_count;
use super::precision::Precision;
use super::sources::Sources;
use super::tree::Node;
use super::{Accuracy, Method};
use crate::error::Error;
use crate::grid::Grid;

/// Entries of a brick's plan, direct and indirect: more than any problem here has had.
const ENTRIES_PER_BRICK: usize = 1000;

impl Poisson {
    /// Bytes that a solution takes besides the grid, estimated high rather than low:
    /// sources, tree, expansions, lists and results of the treecode, or with the FMM what the library forecasts.
    pub fn memory_forecast<T: Precision>(&self, sources: usize, targets: usize, components: usize) -> u64 {
        let results = targets * components * size_of::<T>();
        let points = sources * (4 + components) * size_of::<T>();
        let (order, capacity) = match self.accuracy {
            Accuracy::Fixed { order, .. } => (order, self.leaf_capacity.unwrap_or(Self::PAPER_LEAF_CAPACITY)),
            Accuracy::Tolerance(_) => (8, self.leaf_capacity.unwrap_or(64)),
        };
        // Octants hold a quarter of what they may on average, and parents make a seventh more.
        let nodes = (sources * 5).div_ceil(capacity) + 1;
        let moments = components * term_count(order) * (size_of::<f64>() + size_of::<T>());
        let entries = targets / BRICK_POINTS * ENTRIES_PER_BRICK * (size_of::<DirectRange>() + size_of::<u32>());
        let treecode = (points + results + nodes * (moments + size_of::<Node>()) + entries) as u64;
        match (self.method, self.accuracy) {
            (Some(Method::Treecode), _) | (None, Accuracy::Fixed { .. }) => treecode,
            (_, accuracy) => {
                let sum = farfield::Sum::<T>::new(farfield::kernel::Kernel::Coulomb, &[]).vectors(components);
                let sum = match accuracy {
                    Accuracy::Tolerance(tolerance) => sum.tolerance(tolerance),
                    Accuracy::Fixed { .. } => sum,
                };
                treecode.max(points as u64 + sum.memory_forecast(sources, Some(targets)))
            }
        }
    }

    /// Refuses what does not fit, before anything is begun.
    pub(super) fn check_memory<T: Precision>(&self, grid: &Grid<T>, sources: &Sources<T>) -> Result<(), Error> {
        let needed = self.memory_forecast::<T>(sources.len(), grid.points(), sources.components());
        let mebibytes = |bytes: u64| bytes as f64 / 1024.0 / 1024.0;
        match grid.memory_left() {
            Some(left) if needed > left => Err(Error::SolutionMemory {
                sources: sources.len(),
                targets: grid.points(),
                needed_mib: mebibytes(needed),
                left_mib: mebibytes(left),
            }),
            _ => Ok(()),
        }
    }
}
