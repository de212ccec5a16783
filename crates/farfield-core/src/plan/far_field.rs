//! The far field of each method: which boxes act on which, and to which order.

use crate::error::Error;
use crate::expansion::coefficient_count;
use crate::fmm::harmonics::HarmonicOrders;
use crate::fmm::layout::SortedPoints;
use crate::geometry::Space;
use crate::machine::available_memory;
use crate::simd::Real;
use crate::sum::Sum;
use crate::tree::Octree;
use crate::tree::lists::{Lists, SHIFTS, Thresholds};
use crate::treecode;
use crate::treecode::lists::Opening;
use crate::tuning::orders::{self, Orders, PointShape, Work};
use crate::tuning::shape::Proposal;

/// Bytes of lists that fit on any machine.
const SMALL_LISTS: u64 = 1 << 24;

/// Interaction lists and orders of a tree.
pub(super) struct FarField {
    pub lists: Lists,
    /// The orders of expansions.
    pub orders: HarmonicOrders,
    /// The treecode's opening criterion.
    pub theta: Option<f64>,
}

impl FarField {
    /// The FMM: orders by level and shift that meet the tolerance at the least cost.
    pub fn of_fmm<T: Real>(sum: &Sum<T, Space>, tree: &Octree, proposal: &Proposal, pair_cost: f64) -> Self {
        let costs = sum.options().profile().of::<T>();
        let per_point = coefficient_count(proposal.order) as f64 * costs.point_coefficient;
        let lists = Lists::build(
            tree,
            &Thresholds {
                m2p_sources: (per_point / pair_cost) as usize,
                p2l_targets: (per_point / pair_cost) as usize,
                m2l_pairs: (proposal.m2l_cost / pair_cost) as usize,
            },
        );
        let orders = match sum.options().order {
            Some(order) => Orders::constant(order, tree.levels.len()),
            None => {
                let points = (sum.points.sources.len() + sum.points.counts().targets()) as f64;
                let per_coefficient = points * sum.streams() as f64 * costs.point_coefficient;
                let targets = sum.points.targets.unwrap_or(sum.points.sources);
                let shape = PointShape {
                    dimension: proposal.dimension,
                    core: sum.largest_size(),
                };
                let work = Work::of_tree(tree, &lists, sum.points.sources, targets, shape);
                // The model treats dipoles as derivatives of charges; at random targets their error reached 1.05 of the
                // tolerance.
                let margin = if sum.request.kernel.form().source_derivatives() > 0 {
                    0.5
                } else {
                    1.0
                };
                let tolerance = margin * sum.tolerance();
                orders::choose(&work, &sum.error_derivatives(), tolerance, costs, per_coefficient)
            }
        };
        Self {
            lists,
            orders: HarmonicOrders {
                highest: orders.highest,
                m2l: orders.by_shift(),
            },
            theta: None,
        }
    }

    /// The treecode by its opening angle; cores act as far as `reach`.
    ///
    /// # Errors
    /// [`Error::Memory`] if its lists do not fit.
    pub fn of_treecode<T: Real>(sum: &Sum<T, Space>, tree: &Octree, reach: f64, pair_cost: f64) -> Result<Self, Error> {
        let (theta, order) = treecode::tuning::choose(
            sum.options().order,
            sum.options().theta,
            sum.tolerance(),
            sum.highest_error(),
        );
        let sources = SortedPoints::new(sum.points.sources, &tree.source_permutation);
        let targets = sum
            .points
            .targets
            .map(|targets| SortedPoints::new(targets, &tree.target_permutation));
        let radii = treecode::lists::radii(tree, &sources);
        // For boxes of at most this many sources pairs cost less, but a fixed criterion or order is followed exactly.
        let few_sources = if sum.options().theta.is_some() || sum.options().order.is_some() {
            0
        } else {
            let per_target = coefficient_count(order) as f64 * sum.options().profile().of::<T>().point_coefficient;
            (per_target / pair_cost) as usize
        };
        let targets = targets.as_ref().unwrap_or(&sources);
        let opening = Opening {
            theta,
            reach,
            few_sources,
        };
        let bytes = treecode::lists::expected_bytes(tree, &radii, targets, &opening);
        let limit = sum.options().memory_limit.or_else(available_memory).unwrap_or(u64::MAX);
        if bytes > SMALL_LISTS && bytes > limit {
            return Err(Error::memory(bytes, limit));
        }
        Ok(Self {
            lists: treecode::lists::by_opening(tree, &radii, targets, &opening),
            orders: without_m2l(tree, order),
            theta: Some(theta),
        })
    }

    /// The treecode on the FMM's neighbour lists.
    pub fn of_treecode_on_neighbours<T: Real>(sum: &Sum<T, Space>, tree: &Octree) -> Self {
        let every_box = Thresholds {
            m2p_sources: 0,
            p2l_targets: 0,
            m2l_pairs: 0,
        };
        let order = sum.options().order.unwrap_or_else(|| {
            // For a box that does not touch, radius over distance is at most (sqrt(3)/2) / (3/2) = 0.58.
            treecode::tuning::order_for(0.58, sum.tolerance(), sum.highest_error())
        });
        Self {
            lists: treecode::lists::on_neighbour_lists(tree, &Lists::build(tree, &every_box)),
            orders: without_m2l(tree, order),
            theta: Some(2.0 / 3.0),
        }
    }

    /// The lowest order of any M2L, if there is any M2L.
    pub fn lowest_m2l_order(&self) -> Option<usize> {
        self.lists
            .m2l
            .iter()
            .flat_map(|block| {
                let orders = &self.orders.m2l[block.level as usize];
                block.by_shift().map(|(shift, _)| usize::from(orders[shift]))
            })
            .min()
    }
}

/// Expansions of one order that are not translated into locals.
fn without_m2l(tree: &Octree, highest: usize) -> HarmonicOrders {
    HarmonicOrders {
        highest,
        m2l: vec![[0; SHIFTS]; tree.levels.len()],
    }
}
