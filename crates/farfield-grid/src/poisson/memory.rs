//! The memory of a solution, estimated before it starts.

use super::Poisson;
use super::lists::{BRICK_POINTS, DirectRange};
use super::multipole::term_count;
use super::precision::Precision;
use super::sources::Sources;
use super::tree::Node;
use super::{Accuracy, Method};
use crate::error::Error;
use crate::grid::Grid;

/// Entries in the lists of a brick, direct and indirect: more than in any problem tested.
const ENTRIES_PER_BRICK: usize = 1000;

impl Poisson {
    /// An upper estimate of the bytes that a solution needs in addition to the grid: sources, tree, expansions, lists
    /// and results of the treecode, or the library's estimate for the FMM.
    pub fn memory_forecast<T: Precision>(&self, sources: usize, targets: usize, components: usize) -> u64 {
        let results = targets * components * size_of::<T>();
        let points = sources * (4 + components) * size_of::<T>();
        let (order, capacity) = match self.accuracy {
            Accuracy::Fixed { order, .. } => (order, self.leaf_capacity.unwrap_or(Self::PAPER_LEAF_CAPACITY)),
            Accuracy::Tolerance(_) => (8, self.leaf_capacity.unwrap_or(64)),
        };
        // Leaves are filled to a quarter on average, and parents add a seventh of their number.
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

    /// Returns an error if the solution would not fit into memory.
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
