//! From a [`Sum`] to a [`Plan`]: choose, build, choose finer.

use super::evaluate::{Engine, Parameters, Plan};
use super::merge::Merge;
use super::units::Units;
use super::{Method, Sum};
use crate::direct::Direct;
use crate::error::Error;
use crate::expansion::coefficient_count;
use crate::fmm::Fmm;
use crate::fmm::setup::{FmmInput, OrderedPoints, OrderedSizes};
use crate::kernel::{Kernel, Sizes};
use crate::machine::available_memory;
use crate::p2p::{Pairs, accuracy_for};
use crate::report::{Phase, Seconds};
use crate::simd::{Real, RsqrtAccuracy, SimdLevel};
use crate::tree::lists::{Lists, Thresholds};
use crate::tree::{Octree, TreeShape};
use crate::treecode;
use crate::tuning::orders::{self, Orders, Work};
use crate::tuning::shape::{self, Proposal};
use rayon::prelude::*;
use std::time::Instant;

impl<'a, T: Real> Sum<'a, T> {
    /// Checks the input, chooses method and parameters, and builds everything that does not depend on the strengths.
    ///
    /// # Errors
    /// Any of [`Error`], naming the value that is wrong and where it is.
    pub fn plan(self) -> Result<Plan<T>, Error> {
        T::plan(self)
    }

    pub(crate) fn check_and_build(self) -> Result<Plan<T>, Error> {
        let start = Instant::now();
        let extent = self.check()?;
        let units = Units::new::<T>(extent, self.kernel);
        let mut plan = if units.are_the_callers() {
            self.build()?
        } else {
            self.build_in(units)?
        };
        plan.planning = start.elapsed().as_secs_f64();
        Ok(plan)
    }

    fn build(self) -> Result<Plan<T>, Error> {
        let simd = self.simd.unwrap_or_else(SimdLevel::best);
        let derivatives = self
            .outputs
            .iter()
            .map(|output| output.derivatives())
            .max()
            .unwrap_or(0);
        let accuracy = match self.order {
            Some(_) => RsqrtAccuracy::Full,
            None => accuracy_for::<T>(simd, self.tolerance),
        };
        let softened = self.largest_size() > 0.0;
        let pairs = Pairs {
            kernel: self.kernel,
            softened,
            derivatives,
            accuracy,
        };
        let mut notes = Vec::new();
        let proposal = self.proposal(&pairs);
        let method = self.resolve_method(&pairs, &proposal, &mut notes);
        self.check_memory(method, &pairs, &proposal)?;
        if !method.has_tree() {
            return Ok(self.direct_plan(simd, pairs, notes));
        }
        self.tree_plan(simd, pairs, method, &proposal, notes)
    }

    /// Plans the sum over the same points in other units.
    fn build_in(self, units: Units) -> Result<Plan<T>, Error> {
        let sources = units.points(self.sources);
        let targets = self.targets.map(|targets| units.points(targets));
        let inner = Sum {
            kernel: units.kernel(self.kernel),
            sources: &sources,
            targets: targets.as_deref(),
            sizes: units.sizes(&self.sizes),
            ..self.clone()
        };
        Ok(inner.build()?.in_units(units, self.kernel))
    }

    /// Distinct orders of derivatives among the outputs: each has its own error to keep.
    fn error_derivatives(&self) -> Vec<usize> {
        let mut derivatives: Vec<usize> = self.outputs.iter().map(|output| output.derivatives()).collect();
        derivatives.sort_unstable();
        derivatives.dedup();
        if derivatives.is_empty() { vec![0] } else { derivatives }
    }

    fn target_count(&self) -> usize {
        self.targets.map_or(self.sources.len(), <[_]>::len)
    }

    fn streams(&self) -> usize {
        self.vectors * self.kernel.strength_components()
    }

    /// What the model proposes, from whichever set has more points.
    fn proposal(&self, pairs: &Pairs) -> Proposal {
        let costs = self.profile.of::<T>();
        let points = match self.targets {
            Some(targets) if targets.len() > self.sources.len() => targets,
            _ => self.sources,
        };
        let pair_cost = costs.pair(self.kernel, pairs.derivatives) * self.vectors as f64;
        let tolerance = if self.order.is_some() { 1e-6 } else { self.tolerance };
        shape::propose(
            points,
            &self.error_derivatives(),
            tolerance,
            pair_cost,
            self.streams() as f64,
            costs,
        )
    }

    fn resolve_method(&self, pairs: &Pairs, proposal: &Proposal, notes: &mut Vec<String>) -> Method {
        let (ns, nt) = (self.sources.len() as f64, self.target_count() as f64);
        if self.method == Method::Direct || ns == 0.0 || nt == 0.0 {
            return Method::Direct;
        }
        let costs = self.profile.of::<T>();
        let direct = ns * nt * costs.pair(self.kernel, pairs.derivatives) * self.vectors as f64;
        match self.method {
            Method::Auto => {
                // Nanoseconds that even a small tree takes.
                let tree_overhead = 5e5;
                let n = ns.max(nt);
                let mean = proposal.leaf_mean;
                let near = 27.0 * mean * n * costs.pair(self.kernel, pairs.derivatives) * self.vectors as f64;
                let far = 216.0 * n / mean * proposal.m2l_cost * self.streams() as f64;
                let points = 4.0 * n * coefficient_count(proposal.order) as f64 * costs.point_coefficient;
                if direct < tree_overhead + near + far + points {
                    notes.push("direct: cheaper than the FMM for so few points".to_owned());
                    Method::Direct
                } else {
                    Method::Fmm
                }
            }
            method => method,
        }
    }

    fn check_memory(&self, method: Method, pairs: &Pairs, proposal: &Proposal) -> Result<(), Error> {
        let Some(limit) = self.memory_limit.or_else(available_memory) else {
            return Ok(());
        };
        let (ns, nt, size) = (
            self.sources.len() as f64,
            self.target_count() as f64,
            std::mem::size_of::<T>() as f64,
        );
        let rows = (self.vectors * pairs.sums()) as f64;
        let mut needed = size * (ns * (3.0 + self.streams() as f64) + nt * (3.0 + 3.0 * rows));
        if method.has_tree() {
            let order = self.order.unwrap_or(proposal.order);
            let mean = self
                .leaf_capacity
                .map_or(proposal.leaf_mean, |capacity| 0.6 * capacity as f64);
            let boxes = 1.2 * ns.max(nt) / mean;
            let expansions = 2.0 * boxes * (self.streams() * coefficient_count(order)) as f64 * size;
            needed += expansions + boxes * (200.0 * 9.0 + 200.0) + (ns + nt) * (3.0 * size + 20.0);
        }
        if needed > limit as f64 {
            let gib = 1024f64.powi(3);
            return Err(Error::Memory {
                needed_gib: needed / gib,
                available_gib: limit as f64 / gib,
            });
        }
        Ok(())
    }

    fn direct_plan(&self, simd: SimdLevel, pairs: Pairs, notes: Vec<String>) -> Plan<T> {
        let columns = |points: &[[T; 3]]| std::array::from_fn(|axis| points.iter().map(|p| p[axis]).collect());
        let engine = Engine::Direct(Box::new(Direct {
            simd,
            pairs,
            vectors: self.vectors,
            sources: columns(self.sources),
            targets: self.targets.map(columns),
            size2: self.squared_sizes(None),
        }));
        let parameters = Parameters {
            method: Method::Direct,
            ..Parameters::default()
        };
        Plan::new(self, engine, parameters, notes)
    }

    fn tree_plan(
        self,
        simd: SimdLevel,
        pairs: Pairs,
        method: Method,
        proposal: &Proposal,
        notes: Vec<String>,
    ) -> Result<Plan<T>, Error> {
        let costs = self.profile.of::<T>().clone();
        let core_tolerance = 0.5 * if self.order.is_some() { 1e-12 } else { self.tolerance };
        let shape = TreeShape {
            leaf_capacity: self.leaf_capacity.unwrap_or(proposal.leaf_capacity),
            root_scale: proposal.root_scale,
            min_side: self.kernel.core_reach(self.largest_size(), core_tolerance),
        };
        let tree = Octree::build(self.sources, self.targets, &shape);
        if tree.has_overfull_duplicates
            && let Some(merge) = Merge::new(self.sources, self.targets, &self.sizes)
        {
            return self.merged_plan(merge, notes);
        }
        let pair_cost = costs.pair(self.kernel, pairs.derivatives);
        let per_point = coefficient_count(proposal.order) as f64 * costs.point_coefficient;
        let thresholds = match method {
            Method::Fmm => Thresholds {
                m2p_sources: (per_point / pair_cost) as usize,
                p2l_targets: (per_point / pair_cost) as usize,
                m2l_pairs: (proposal.m2l_cost / pair_cost) as usize,
            },
            _ => Thresholds {
                m2p_sources: 0,
                p2l_targets: 0,
                m2l_pairs: 0,
            },
        };
        let mut lists = match method {
            Method::Treecode => Lists::default(),
            _ => Lists::build(&tree, &thresholds),
        };
        let mut theta = None;
        let orders = match (self.order, method) {
            (Some(order), _) => Orders::constant(order, tree.levels.len()),
            (None, Method::Treecode) => Orders::constant(0, tree.levels.len()),
            _ => {
                let points = (self.sources.len() + self.target_count()) as f64;
                let per_coefficient = points * self.streams() as f64 * costs.point_coefficient;
                let work = Work::of_tree(&tree, &lists, self.sources, self.targets.unwrap_or(self.sources));
                orders::choose(
                    &work,
                    &self.error_derivatives(),
                    self.tolerance,
                    &costs,
                    per_coefficient,
                )
            }
        };
        let mut order = orders.highest;
        match method {
            Method::Treecode => {
                let (chosen_theta, chosen_order) = treecode::tuning::choose(
                    self.order,
                    self.theta,
                    self.tolerance,
                    self.error_derivatives().last().copied().unwrap_or(0),
                );
                (theta, order) = (Some(chosen_theta), chosen_order);
                let sources = OrderedPoints::new(self.sources, &tree.source_order, &tree, |node| node.sources.clone());
                let radii = treecode::lists::radii(&tree, &sources);
                let targets = self
                    .targets
                    .map(|targets| OrderedPoints::new(targets, &tree.target_order, &tree, |node| node.targets.clone()));
                let small = (coefficient_count(order) as f64 * costs.point_coefficient / pair_cost) as usize;
                let small = if self.theta.is_some() || self.order.is_some() {
                    0
                } else {
                    small
                };
                lists = treecode::lists::by_opening(
                    &tree,
                    &radii,
                    targets.as_ref().unwrap_or(&sources),
                    chosen_theta,
                    small,
                );
            }
            Method::TreecodeOnNeighbours => {
                theta = Some(2.0 / 3.0);
                if self.order.is_none() {
                    // A box that does not touch is seen at a ratio of at most sqrt(3)/2 to 3/2.
                    let derivatives = self.error_derivatives().last().copied().unwrap_or(0);
                    order = treecode::tuning::order_for(0.58, self.tolerance, derivatives);
                }
                lists = treecode::lists::on_neighbour_lists(&tree, &lists);
            }
            _ => {}
        }
        if self.method == Method::Auto {
            let pair_count = self.sources.len() as f64 * self.target_count() as f64;
            let far = lists.counts.m2l as f64 * proposal.m2l_cost * self.streams() as f64;
            if lists.counts.p2p as f64 * pair_cost + far > pair_count * pair_cost {
                let mut notes = notes;
                let why = if pairs.softened {
                    "direct: the cores reach too far for a far field at this tolerance"
                } else {
                    "direct: cheaper than the FMM for these points"
                };
                notes.push(why.to_owned());
                return Ok(self.direct_plan(simd, pairs, notes));
            }
        }
        let parameters = Parameters {
            method,
            order: Some(order),
            lowest_m2l_order: (method == Method::Fmm && lists.counts.m2l > 0).then(|| lowest_order(&orders, &lists)),
            theta,
            leaf_capacity: Some(shape.leaf_capacity),
            depth: Some(tree.depth()),
            boxes: tree.nodes.len(),
            interactions: lists.counts,
        };
        let size2 = self.squared_sizes(Some(&tree.source_order));
        let engine = Fmm::new(FmmInput {
            simd,
            pairs,
            vectors: self.vectors,
            m2l_orders: orders.by_shift(),
            order,
            tree,
            lists,
            sources: self.sources,
            targets: self.targets,
            size2,
        });
        Ok(Plan::new(&self, Engine::Tree(Box::new(engine)), parameters, notes))
    }

    /// Plans the sum over distinct points.
    fn merged_plan(self, merge: Merge<T>, mut notes: Vec<String>) -> Result<Plan<T>, Error> {
        notes.push(format!(
            "{} sources share a place with another one and were merged",
            self.sources.len() - merge.sources.len()
        ));
        let inner = Sum {
            sources: &merge.sources,
            targets: merge.targets.as_deref(),
            sizes: merge.sizes.clone(),
            ..self.clone()
        };
        let plan = inner.build()?;
        Ok(plan.with_merge(&self, merge, notes))
    }

    fn squared_sizes(&self, order: Option<&[u32]>) -> OrderedSizes<T> {
        match (&self.sizes, order) {
            _ if self.kernel == Kernel::Coulomb => OrderedSizes::Global(T::ZERO),
            (Sizes::None, _) => OrderedSizes::Global(T::ZERO),
            (Sizes::Global(size), _) => OrderedSizes::Global(*size * *size),
            (Sizes::PerSource(sizes), None) => OrderedSizes::PerSource(sizes.iter().map(|s| *s * *s).collect()),
            (Sizes::PerSource(sizes), Some(order)) => OrderedSizes::PerSource(
                order
                    .par_iter()
                    .map(|k| sizes[*k as usize] * sizes[*k as usize])
                    .collect(),
            ),
        }
    }
}

fn lowest_order(orders: &Orders, lists: &Lists) -> usize {
    let by_shift = orders.by_shift();
    lists
        .m2l
        .iter()
        .flat_map(|block| block.by_shift().map(|(shift, _)| by_shift[block.level as usize][shift]))
        .min()
        .unwrap_or(0)
        .into()
}

/// For reports: the seconds of planning go to the phase `tree` of the first evaluation.
pub(super) fn add_planning(seconds: &mut Seconds, planning: f64) {
    seconds.add(Phase::Tree, planning);
    seconds.total += planning;
}
