//! Forecasts the memory of a sum without its points.

use crate::error::Error;
use crate::expansion::coefficient_count;
use crate::fmm::mutual::COPIES;
use crate::geometry::Space;
use crate::kernel::Sizes;
use crate::machine::available_memory;
use crate::p2p::Pairs;
use crate::simd::Real;
use crate::sum::{Counts, Method, Sum};
use crate::tree::octree::Node;
use crate::treecode;
use crate::tuning::shape::{Coverage, Proposal};
use std::mem::size_of;

/// Bytes that a sum will take, estimated slightly too high.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryForecast {
    /// The caller's points and strengths.
    pub input: u64,
    /// The plan during an evaluation.
    pub plan: u64,
    /// The results.
    pub results: u64,
}

/// Bytes that fit on any machine.
const SMALL: u64 = 1 << 24;

impl MemoryForecast {
    /// The sum of all three.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.plan).saturating_add(self.results)
    }

    /// Refuses a plan that does not fit into `limit` or else into the machine's available memory, before it is
    /// allocated.
    pub(crate) fn check(&self, limit: Option<u64>) -> Result<(), Error> {
        // The points are already in memory.
        let needed = self.plan.saturating_add(self.results);
        let limit = match limit {
            // Asking the system takes longer than a small sum.
            None if needed < SMALL => return Ok(()),
            None => available_memory(),
            limit => limit,
        };
        match limit {
            Some(limit) if needed > limit => Err(Error::memory(needed, limit)),
            _ => Ok(()),
        }
    }
}

impl<T: Real> Sum<'_, T, Space> {
    /// Forecasts the memory of this sum over `sources` sources and, unless these are the targets, `targets` targets.
    /// The points it holds do not count; outputs, tolerance, method and vectors do. It allows for clustered points:
    /// uniform ones take down to six tenths of it, with the treecode half.
    ///
    /// ```
    /// use farfield_core::{Request, Space, kernel::Kernel};
    /// let forecast = Request::<Space>::new(Kernel::Coulomb).between::<f64>(&[]).memory_forecast(1_000_000, None);
    /// assert!(forecast.total() < 400_000_000);
    /// ```
    pub fn memory_forecast(&self, sources: usize, targets: Option<usize>) -> MemoryForecast {
        let counts = Counts { sources, targets };
        let pairs = self.pairs();
        let proposal = self.proposal_for(&Coverage::of_volume(), counts.larger(), &pairs);
        let method = self.resolve_method(counts, &pairs, &proposal, &mut Vec::new());
        self.memory_of(counts, method, &pairs, &proposal)
    }

    /// Refuses a sum that does not fit, before anything is allocated.
    pub(super) fn check_memory(&self, method: Method, pairs: &Pairs, proposal: &Proposal) -> Result<(), Error> {
        self.memory_of(self.points.counts(), method, pairs, proposal)
            .check(self.options().memory_limit)
    }

    fn memory_of(&self, counts: Counts, method: Method, pairs: &Pairs, proposal: &Proposal) -> MemoryForecast {
        let number = size_of::<T>() as f64;
        let (sources, targets, points) = (counts.sources as f64, counts.targets() as f64, counts.points() as f64);
        let strengths = (self.request.vectors * self.request.kernel.strength_components()) as f64;
        let components: usize = self.request.outputs.iter().map(|output| output.components()).sum();
        let sums = (self.request.vectors * pairs.sums()) as f64;
        let per_source_sizes = if matches!(self.points.sizes, Sizes::PerSource(_)) {
            number * sources
        } else {
            0.0
        };
        // Strengths and sums in the plan's order.
        let shared = number * (sources * strengths + targets * sums) + per_source_sizes;
        let plan = FIXED
            + shared
            + if method.has_tree() {
                let met_once = self.mutual_cost(pairs).is_some() && counts.targets.is_none();
                let copies = if met_once { COPIES } else { 0.0 };
                self.tree_memory(counts, method, proposal) + number * copies * targets * sums
            } else {
                number * 3.0 * points
            };
        MemoryForecast {
            input: (number * (3.0 * points + sources * strengths) + per_source_sizes) as u64,
            plan: plan as u64,
            results: (number * targets * (self.request.vectors * components) as f64) as u64,
        }
    }

    /// Sorted points, boxes, lists, expansions and tables.
    fn tree_memory(&self, counts: Counts, method: Method, proposal: &Proposal) -> f64 {
        let number = size_of::<T>() as f64;
        let (points, larger) = (counts.points() as f64, counts.larger() as f64);
        // Coordinates, and the permutations from and to the caller's order.
        let ordered = points * (3.0 * number + 4.0) + 4.0 * counts.targets() as f64;
        let leaf_mean = self
            .options()
            .leaf_capacity
            .map_or(proposal.leaf_mean, |capacity| LEAF_FILL * capacity as f64);
        let leaves = (LEAVES * larger / leaf_mean).max(1.0);
        let boxes = leaves * 8.0 / 7.0;
        let depth = leaves.log2() / 3.0 + 1.0;
        let order = self.order_of(method, proposal);
        let expansion = (self.streams() * coefficient_count(order)) as f64 * number;
        let per_box = match method {
            // Multipole and local; for each box about 130 translations, and 20 ranges of its neighbours' sources.
            Method::Fmm => 2.0 * expansion + 8.0 * (130.0 + 20.0),
            // All boxes that translate to it or above it; lists are collected in pieces before they are joined.
            Method::TreecodeOnNeighbours => expansion + 2.5 * (4.0 * 189.0 * depth + 8.0 * 20.0),
            _ => expansion + OPENED_BYTES * depth * self.opened(),
        };
        // Rotations of 34 shift lengths and angles, there and back, and coaxial shifts.
        let tables = number * (2.0 * 34.0 + 4.0) * 2.0 / 3.0 * ((order + 1) as f64).powi(3);
        ordered + boxes * (per_box + 2.0 * size_of::<Node>() as f64) + tables
    }

    /// The number of boxes that the treecode's opening angle opens relative to the default one: those in a ball of
    /// radius a/theta.
    fn opened(&self) -> f64 {
        let (theta, _) = treecode::tuning::choose(
            self.options().order,
            self.options().theta,
            self.tolerance(),
            self.most_derivatives(),
        );
        let usual = 0.5;
        (usual / theta.max(0.02)).powi(3).max(1.0)
    }

    fn order_of(&self, method: Method, proposal: &Proposal) -> usize {
        match method {
            Method::Treecode => {
                treecode::tuning::choose(
                    self.options().order,
                    self.options().theta,
                    self.tolerance(),
                    self.most_derivatives(),
                )
                .1
            }
            _ => self.options().order.unwrap_or(proposal.order),
        }
    }
}

// Fitted to the memory peaks of 1e5 and 1e6 points at tolerances of 1e-3, 1e-6 and 1e-9: cube, sphere surface, Plummer
// sphere.

/// The average number of points in a leaf relative to its capacity.
const LEAF_FILL: f64 = 0.5;
/// The number of leaves of a Plummer sphere, with its longer lists, relative to uniform points.
const LEAVES: f64 = 2.7;
/// Bytes of the treecode's lists for each box and level, on a Plummer sphere, where they are longest.
const OPENED_BYTES: f64 = 730.0;
/// Bytes of code, threads, and memory that the allocator retains.
const FIXED: f64 = 20e6;
