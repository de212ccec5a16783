//! Chooses the treecode's parameters and the method for a tolerance.
//!
//! Candidates are compared by their expected cost: interactions are counted for a sample of bricks and multiplied by a
//! time for each kind. Times are constants of the kind of machine and are not measured at run time, so that the same
//! problem always gets the same plan.

use super::kernel::{Kernel, Pair, Quantity};
use super::lists::{BRICK_POINTS, Brick, Met, walk};
use super::multipole::term_count;
use super::precision::Precision;
use super::rates::BrickRates;
use super::sources::Sources;
use super::tree::SourceTree;
use super::work::Work;
use super::{Accuracy, Poisson, PoissonDevice};
use crate::grid::Grid;
use farfield::Device;
use farfield::cost::Gpu;
use farfield::simd::RsqrtAccuracy;
use rayon::prelude::*;

/// The treecode's parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Parameters {
    pub theta: f64,
    pub order: usize,
    pub leaf_capacity: usize,
    /// The relative error allowed in reciprocal square roots.
    pub rsqrt_error: f64,
    /// The smallest distance of far-field evaluation from a source, in smoothing lengths.
    pub clearance: f64,
    /// The expected time of evaluation and expansions, in nanoseconds.
    pub cost: f64,
}

/// Opening parameters tried.
const THETAS: [f64; 6] = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7];

/// Leaf capacities tried, the smallest first.
const LEAF_CAPACITIES: [usize; 4] = [64, 256, 1024, 2048];

/// The fixed cost of the FMM, in nanoseconds.
const FMM_OVERHEAD: f64 = 5e5;

/// The number of bricks for which interactions are counted.
const SAMPLE: usize = 24;

impl Poisson {
    /// The fixed parameters, or the cheapest ones that meet the tolerance.
    pub(super) fn parameters<T: Precision>(
        &self,
        grid: &Grid<T>,
        sources: &Sources<T>,
        bricks: &[Brick],
        quantity: Quantity,
    ) -> Parameters {
        match self.accuracy {
            Accuracy::Fixed { theta, order } => Parameters {
                theta,
                order,
                leaf_capacity: self.leaf_capacity.unwrap_or(Self::PAPER_LEAF_CAPACITY),
                rsqrt_error: 1e-3 * truncation(theta, order, quantity),
                clearance: 0.0,
                cost: 0.0,
            },
            Accuracy::Tolerance(tolerance) => {
                let capacities = match &self.leaf_capacity {
                    Some(capacity) => std::slice::from_ref(capacity),
                    None => &LEAF_CAPACITIES,
                };
                let scout = self.scout(grid, sources, bricks, quantity, capacities[0]);
                let parameters = |theta: f64, order: usize, leaf_capacity: usize| Parameters {
                    theta,
                    order,
                    leaf_capacity,
                    rsqrt_error: if theta > 0.0 { 0.01 * tolerance } else { 0.0 },
                    clearance: self.clearance(tolerance, quantity),
                    cost: 0.0,
                };
                let order_for = |theta: f64| {
                    let keeps = |order: &usize| truncation(theta, *order, quantity) < tolerance;
                    Self::ORDERS.into_iter().find(keeps)
                };
                // Summing every pair (theta = 0) is the last resort, and sometimes the cheapest.
                let pairs = THETAS.into_iter().filter_map(|theta| Some((theta, order_for(theta)?)));
                let candidates = pairs.chain([(0.0, Self::ORDERS[0])]);
                candidates
                    .flat_map(|(theta, order)| capacities.iter().map(move |capacity| (theta, order, *capacity)))
                    .map(|(theta, order, capacity)| scout.with_cost(parameters(theta, order, capacity)))
                    .min_by(|a, b| a.cost.total_cmp(&b.cost))
                    .unwrap_or(parameters(0.0, Self::ORDERS[0], Self::PAPER_LEAF_CAPACITY))
            }
        }
    }

    fn scout<'a, T: Precision>(
        &self,
        grid: &Grid<T>,
        sources: &Sources<T>,
        bricks: &'a [Brick],
        quantity: Quantity,
        capacity: usize,
    ) -> Scout<'a> {
        Scout {
            tree: SourceTree::build(sources, grid.domain(), capacity),
            sample: bricks.iter().step_by(bricks.len().div_ceil(SAMPLE).max(1)).collect(),
            bricks: bricks.len(),
            components: sources.components(),
            times: Times::of::<T>(self.device.resolved()),
            pair: Pair::of(self.kernel, quantity),
            largest_epsilon: sources.epsilon2.iter().map(|e| e.to_f64()).fold(0.0, f64::max).sqrt(),
        }
    }

    /// The expected time of the FMM in nanoseconds: a cost per point, and the correction for the regularised potential.
    pub(super) fn fmm_cost<T: Precision>(
        &self,
        grid: &Grid<T>,
        sources: &Sources<T>,
        bricks: &[Brick],
        tolerance: f64,
        quantity: Quantity,
    ) -> f64 {
        let times = Times::of::<T>(Device::Cpu.into());
        let points = (grid.points() + sources.len()) as f64;
        let streams = match quantity {
            Quantity::Potential => sources.components() as f64,
            // Four harmonic functions with their gradients cost as much as six potentials.
            Quantity::Velocity => 6.0,
        };
        let sum = points * times.rates.fmm_point(tolerance, streams) + FMM_OVERHEAD;
        let clearance = self.clearance(0.5 * tolerance, quantity);
        if clearance == 0.0 || quantity == Quantity::Velocity {
            return sum;
        }
        let scout = self.scout(grid, sources, bricks, quantity, LEAF_CAPACITIES[0]);
        let distance = clearance * scout.largest_epsilon;
        let counted = scout.count(LEAF_CAPACITIES[0], |number, r| {
            r - scout.tree.nodes()[number].radius >= distance
        });
        sum + times.evaluation(Pair::Correction, scout.components, Self::ORDERS[0], [counted[0], 0.0])
    }

    /// The distance, in smoothing lengths, beyond which the regularised kernel equals the singular one to `tolerance`.
    pub(super) fn clearance(&self, tolerance: f64, quantity: Quantity) -> f64 {
        let difference = match (self.kernel, quantity) {
            (Kernel::Singular, _) => return 0.0,
            // (r^2 + 3/2 e^2) / (r^2 + e^2)^(3/2) = 1/r (1 - 3/8 (e/r)^4 + ...)
            (Kernel::Regularised(_), Quantity::Potential) => 3.0 / 8.0,
            // (r^2 + 5/2 e^2) / (r^2 + e^2)^(5/2) = 1/r^3 (1 - 15/8 (e/r)^4 + ...)
            (Kernel::Regularised(_), Quantity::Velocity) => 15.0 / 8.0,
        };
        (difference / tolerance).powf(0.25)
    }
}

/// The expected relative error of a sum. The bound of eq. 6 adds the absolute values of all contributions, but the
/// errors of nodes have different signs, and most nodes are farther away than the criterion requires. A twentieth of
/// $\theta^{p+1}$ meets the tolerances that `tests/poisson.rs` checks on vortex rings and Gaussian blobs. Expansions of
/// the velocity begin one degree later.
fn truncation(theta: f64, order: usize, quantity: Quantity) -> f64 {
    let degrees = match quantity {
        Quantity::Potential => order + 1,
        Quantity::Velocity => order,
    };
    0.05 * theta.powi(degrees as i32)
}

/// Counts interactions on a sample of bricks.
struct Scout<'a> {
    tree: SourceTree,
    sample: Vec<&'a Brick>,
    bricks: usize,
    components: usize,
    times: Times,
    pair: Pair,
    largest_epsilon: f64,
}

impl Scout<'_> {
    /// The direct and indirect interactions of all bricks, extrapolated from the sample.
    fn count(&self, leaf_capacity: usize, is_far: impl Fn(usize, f64) -> bool + Sync) -> [f64; 2] {
        let of_brick = |brick: &&Brick| {
            let (mut near, mut far) = (0, 0);
            walk(brick, &self.tree, leaf_capacity, &is_far, |number, met| match met {
                Met::Far => far += 1,
                Met::Near { .. } => near += self.tree.nodes()[number].sources.len(),
            });
            (near, far)
        };
        let sampled = self.sample.par_iter().map(of_brick);
        let (near, far) = sampled.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let points = BRICK_POINTS as f64 * self.bricks as f64 / self.sample.len().max(1) as f64;
        [near as f64 * points, far as f64 * points]
    }

    fn with_cost(&self, parameters: Parameters) -> Parameters {
        let Parameters {
            theta,
            order,
            leaf_capacity,
            ..
        } = parameters;
        let clearance = parameters.clearance * self.largest_epsilon;
        let interactions = self.count(leaf_capacity, |number, r| {
            let radius = self.tree.nodes()[number].radius;
            radius < theta * r && r - radius >= clearance
        });
        let cut = self
            .tree
            .nodes()
            .iter()
            .filter(|node| node.sources.len() > leaf_capacity);
        let nodes = 1 + cut.map(|node| node.children.len()).sum::<usize>();
        let sources = self.tree.nodes()[0].sources.len();
        let evaluation = self.times.evaluation(self.pair, self.components, order, interactions);
        Parameters {
            cost: evaluation + self.times.expansions(sources, nodes, order, self.components),
            ..parameters
        }
    }
}

/// Expected times in nanoseconds, with all cores or the whole GPU busy.
struct Times {
    rates: BrickRates,
    /// The share of the GPU, if one is used.
    gpu: Option<Share>,
}

/// The lists that a GPU evaluates.
#[derive(PartialEq)]
enum Share {
    All,
    Direct,
}

impl Times {
    /// The times of this kind of machine; a GPU is assumed to be an H200.
    fn of<T: Precision>(device: PoissonDevice) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            rates: BrickRates::of(T::EPSILON < 1e-10, cores, Gpu::new(132)),
            gpu: match device {
                PoissonDevice::One(Device::Cpu | Device::Auto) => None,
                PoissonDevice::One(Device::Cuda(_)) => Some(Share::All),
                PoissonDevice::Hybrid(_) => Some(Share::Direct),
            },
        }
    }

    /// The time to evaluate the given numbers of direct and indirect interactions.
    fn evaluation(&self, pair: Pair, components: usize, order: usize, [direct, indirect]: [f64; 2]) -> f64 {
        let accuracy = RsqrtAccuracy::Newton;
        let more = (components - 1) as f64;
        let direct_work = Work::direct(pair, accuracy).instructions + more;
        // The components of an expansion share only the square root.
        let indirect_work = |order: usize| {
            let one = Work::indirect(order, accuracy).instructions;
            one + more * (one - 7.0)
        };
        let indirect_on_cores = indirect * indirect_work(order) * self.rates.instruction;
        let [pair_time, expansion] = self.rates.gpu;
        match &self.gpu {
            None => direct * direct_work * self.rates.instruction + indirect_on_cores,
            Some(Share::Direct) => (direct * pair_time).max(indirect_on_cores),
            Some(Share::All) => direct * pair_time + indirect * expansion * indirect_work(order) / indirect_work(6),
        }
    }

    /// The time of P2M, M2M and the conversion to polynomials, which all run on the CPU.
    fn expansions(&self, sources: usize, nodes: usize, order: usize, components: usize) -> f64 {
        let terms = term_count(order) as f64;
        let per_node = 3.0 * terms * terms;
        components as f64 * self.rates.instruction * (1.5 * sources as f64 * terms + 8.0 * nodes as f64 * per_node)
    }
}
