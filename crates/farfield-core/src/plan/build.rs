//! From a [`Sum`] to a [`Plan`]: choose parameters, build the tree, refine the choice.

use super::engine::Engine;
use super::evaluate::{Parameters, Plan};
use super::far_field::FarField;
use super::merge::{Distinct, Merge, has_crowded_places};
use super::units::Units;
use crate::cost::Rates;
use crate::direct::Direct;
use crate::error::Error;
use crate::fmm::Fmm;
use crate::fmm::harmonics::Harmonics;
use crate::fmm::layout::Layout;
use crate::fmm::mutual::Mutual;
use crate::fmm::near::Near;
use crate::geometry::{Geometry, Space};
use crate::kernel::{Form, Kernel, Output, Sizes};
use crate::p2p::{Pairs, SortedSizes, accuracy_for};
use crate::report::{Phase, Seconds};
use crate::simd::{Real, RsqrtAccuracy, SimdLevel};
use crate::sum::{Counts, Method, Points, Request, Sum};
use crate::tree::octree::bounds;
use crate::tree::{Lists, Octree, TreeShape};
use crate::tuning::shape::{self, Coverage, Demand, Proposal};
use crate::tuning::tail::Tail;
use std::time::Instant;

/// A core that reaches farther than `LONG_TAIL` times its size has a tail.
const LONG_TAIL: f64 = 8.0;

impl<T: Real, G: Geometry> Sum<'_, T, G> {
    /// Checks the input, chooses method and parameters, and builds everything that is independent of the strengths.
    ///
    /// # Errors
    /// Any of [`Error`], with the invalid value and its place.
    pub fn plan(self) -> Result<Plan<T, G>, Error> {
        G::plan(self)
    }

    /// Whether planning takes longer than waking other threads.
    pub(crate) fn deserves_threads(&self) -> bool {
        self.points.counts().points() > G::SMALL
    }

    pub(crate) fn check_and_build(self) -> Result<Plan<T, G>, Error> {
        let start = Instant::now();
        let mut seconds = Seconds::default();
        let mut plan = G::build(self, &mut seconds)?;
        let known = seconds.of(Phase::Sort) + seconds.of(Phase::Connect);
        seconds.total = start.elapsed().as_secs_f64();
        seconds.add(Phase::Tree, (seconds.total - known).max(0.0));
        plan.planning = seconds;
        Ok(plan)
    }

    /// Plans the sum over distinct points by `build`.
    pub(crate) fn merged_plan(
        self,
        (merge, distinct): (Merge<T>, Distinct<G::Point<T>>),
        mut notes: Vec<String>,
        build: impl FnOnce(Sum<'_, T, G>) -> Result<Plan<T, G>, Error>,
    ) -> Result<Plan<T, G>, Error> {
        notes.push(format!(
            "{} sources coincide with another one and were merged",
            self.points.sources.len() - distinct.sources.len()
        ));
        let points = Points::new(&distinct.sources, distinct.targets.as_deref(), &merge.sizes);
        let plan = build(self.request.over(points))?;
        Ok(plan.with_merge(self.points.counts(), merge, notes))
    }
}

impl<T: Real> Sum<'_, T, Space> {
    pub(super) fn build(self) -> Result<Plan<T>, Error> {
        let simd = self.options().simd();
        let pairs = self.pairs();
        let mut notes = Vec::new();
        if !self.request.kernel.has_sizes() && *self.points.sizes != Sizes::None {
            notes.push(format!(
                "core sizes have no effect on this {} kernel",
                self.request.kernel
            ));
        }
        let proposal = self.proposal(&pairs);
        let method = self.resolve_method(self.points.counts(), &pairs, &proposal, &mut notes);
        self.check_memory(method, &pairs, &proposal)?;
        if !method.has_tree() {
            return Ok(self.direct_plan(simd, pairs, notes));
        }
        self.tree_plan(simd, pairs, method, &proposal, notes)
    }

    /// The pair interactions of the sum.
    pub(super) fn pairs(&self) -> Pairs {
        let simd = self.options().simd();
        Pairs {
            kernel: self.request.kernel,
            softened: self.largest_size() > 0.0,
            derivatives: self.most_derivatives(),
            accuracy: match self.options().order {
                Some(_) => RsqrtAccuracy::Full,
                None => accuracy_for::<T>(simd, self.tolerance(), self.highest_error()),
            },
        }
    }

    /// Plans the sum over the same points in other units.
    pub(super) fn build_in(self, units: Units) -> Result<Plan<T>, Error> {
        let sources = units.points(self.points.sources);
        let targets = self.points.targets.map(|targets| units.points(targets));
        let sizes = units.sizes(self.points.sizes);
        let request = Request {
            kernel: units.kernel(self.request.kernel),
            ..self.request.clone()
        };
        let inner = Sum {
            request: &request,
            points: Points::new(&sources, targets.as_deref(), &sizes),
        };
        let mut plan = inner.build()?;
        plan.units = units;
        Ok(plan)
    }

    /// The distinct orders of derivatives among the outputs; each has its own error limit.
    pub fn error_derivatives(&self) -> Vec<usize> {
        let form = self.request.kernel.form();
        form.error_derivatives(self.request.outputs.iter().map(|output| output.derivatives()))
    }

    /// The highest order of derivatives of 1/r whose error is limited.
    pub(super) fn highest_error(&self) -> usize {
        self.most_derivatives() + self.request.kernel.form().source_derivatives()
    }

    /// The highest derivative of an output.
    pub fn most_derivatives(&self) -> usize {
        self.request
            .outputs
            .iter()
            .map(|output| output.derivatives())
            .max()
            .unwrap_or(0)
    }

    pub(super) fn streams(&self) -> usize {
        self.request.vectors * self.request.kernel.form().expansions()
    }

    /// The parameters that the model proposes, for the larger of the two sets of points.
    fn proposal(&self, pairs: &Pairs) -> Proposal {
        if self.options().method == Method::Direct {
            return Proposal::NO_BOXES;
        }
        let points = match self.points.targets {
            Some(targets) if targets.len() > self.points.sources.len() => targets,
            _ => self.points.sources,
        };
        self.proposal_for(&Coverage::of(points), points.len(), pairs)
    }

    /// The parameters that the model proposes for `points` points.
    pub(super) fn proposal_for(&self, coverage: &Coverage, points: usize, pairs: &Pairs) -> Proposal {
        let rates = self.rates(pairs);
        let demand = Demand {
            points,
            derivatives: &self.error_derivatives(),
            tolerance: if self.options().order.is_some() {
                1e-6
            } else {
                self.tolerance()
            },
            pair_runs: Kernel::cost_of_vectors(pairs, self.request.vectors),
            streams: self.streams() as f64,
            rates: Rates {
                leaf_pair: rates.pair * self.mutual_cost(pairs).unwrap_or(1.0),
                ..rates
            },
        };
        shape::propose(coverage, &demand, self.options().profile().of::<T>())
    }

    /// Whether leaves act on each other with the same points as sources and targets, so that pairs may be computed once
    /// for both.
    fn meets_once(&self) -> bool {
        self.points.targets.is_none() && self.request.vectors == 1
    }

    /// The cost of a pair between leaves that is computed once for both points, relative to one computed from each
    /// side; `None` if all pairs are computed from each side.
    pub(super) fn mutual_cost(&self, pairs: &Pairs) -> Option<f64> {
        let simd = self.options().simd();
        self.meets_once()
            .then(|| Kernel::mutual_cost::<T>(pairs, simd))
            .flatten()
    }

    /// The costs of operations on a thread.
    fn rates(&self, pairs: &Pairs) -> Rates {
        let kernel = self.request.kernel.description();
        let core = kernel.pair_cost(pairs.softened);
        self.options()
            .profile()
            .of::<T>()
            .in_space(kernel.form, pairs.derivatives, core)
    }

    pub(super) fn resolve_method(
        &self,
        counts: Counts,
        pairs: &Pairs,
        proposal: &Proposal,
        notes: &mut Vec<String>,
    ) -> Method {
        let (ns, nt) = (counts.sources as f64, counts.targets() as f64);
        if self.options().method == Method::Direct || ns == 0.0 || nt == 0.0 {
            return Method::Direct;
        }
        let direct = ns * nt * self.rates(pairs).pair * Kernel::cost_of_vectors(pairs, self.request.vectors);
        match self.options().method {
            Method::Auto => {
                if direct < proposal.cost {
                    notes.push("direct: cheaper than the FMM for few points".to_owned());
                    Method::Direct
                } else {
                    Method::Fmm
                }
            }
            method => method,
        }
    }

    fn direct_plan(&self, simd: SimdLevel, pairs: Pairs, notes: Vec<String>) -> Plan<T> {
        let (sources, targets, size2) = (self.points.sources, self.points.targets, self.squared_sizes(None));
        let direct = Direct::new(simd, pairs, self.request.vectors, sources, targets, size2);
        let parameters = Parameters::of_direct(self.points.counts().pairs());
        Plan::new(self, Engine::Direct(Box::new(direct)), parameters, notes)
    }

    /// Builds the tree, the far field and the tables, each from the one before.
    fn tree_plan(
        self,
        simd: SimdLevel,
        pairs: Pairs,
        method: Method,
        proposal: &Proposal,
        mut notes: Vec<String>,
    ) -> Result<Plan<T>, Error> {
        let shape = self.tree_shape(proposal);
        let tree = Octree::build(self.points.sources, self.points.targets, &shape);
        if (tree.has_overfull_duplicates || has_crowded_places(&tree, self.points.sources, shape.leaf_capacity))
            && let Some(merge) = Merge::new(self.points.sources, self.points.targets, self.points.sizes)
        {
            return self.merged_plan(merge, notes, |distinct| distinct.build());
        }
        let pair_cost = self.rates(&pairs).pair;
        let far = match method {
            Method::Treecode => FarField::of_treecode(&self, &tree, shape.min_side, pair_cost)?,
            Method::TreecodeOnNeighbours => FarField::of_treecode_on_neighbours(&self, &tree),
            _ => FarField::of_fmm(&self, &tree, proposal, pair_cost),
        };
        if self.options().method == Method::Auto && self.is_direct_cheaper(&far.lists, proposal, pair_cost) {
            notes.push(why_direct(pairs.softened).to_owned());
            return Ok(self.direct_plan(simd, pairs, notes));
        }
        let parameters = Parameters {
            method,
            order: Some(far.orders.highest),
            lowest_m2l_order: far.lowest_m2l_order(),
            theta: far.theta,
            leaf_capacity: Some(shape.leaf_capacity),
            depth: Some(tree.depth()),
            boxes: tree.nodes.len(),
            interactions: far.lists.counts,
        };
        let size2 = self.squared_sizes(Some(&tree.source_permutation));
        let layout = Layout::new(tree, far.lists, self.points.sources, self.points.targets);
        let (vectors, m2l_cost) = (self.request.vectors, self.options().profile().of::<T>().m2l);
        let mutual = self.mutual_cost(&pairs).and_then(|_| Mutual::new(&layout, &pairs));
        let engine = Fmm {
            far: Harmonics::new(simd, pairs, vectors, &layout, far.orders, m2l_cost),
            near: Near {
                simd,
                pairs,
                vectors,
                size2,
                mutual,
            },
            layout,
        };
        Ok(Plan::new(&self, Engine::Tree(Box::new(engine)), parameters, notes))
    }

    /// The shape of the tree: boxes as large as the model proposes, and at least as large as the reach of the cores.
    fn tree_shape(&self, proposal: &Proposal) -> TreeShape {
        let min_side = self.least_side(self.options().core_tolerance::<T>());
        let root_scale = if min_side > 0.0 {
            let (_, extent) = bounds(&[self.points.sources, self.points.targets.unwrap_or(&[])]);
            proposal.root_scale_for(min_side / extent.into_iter().fold(0.0, f64::max))
        } else {
            proposal.root_scale
        };
        TreeShape {
            leaf_capacity: self.options().leaf_capacity.unwrap_or(proposal.leaf_capacity),
            root_scale,
            min_side,
        }
    }

    /// The smallest side of boxes beyond which cores may be treated as points.
    fn least_side(&self, tolerance: f64) -> f64 {
        let (kernel, size, derivatives) = (
            self.request.kernel.description(),
            self.largest_size(),
            self.most_derivatives(),
        );
        let worst = kernel.core_reach(size, tolerance, derivatives);
        match kernel.regularisation {
            Some(core) if worst > LONG_TAIL * size && kernel.form == Form::Charge && derivatives < 2 => {
                let targets = self.points.targets.unwrap_or(self.points.sources);
                let of_output = |output: &Output| {
                    let tail = Tail {
                        core,
                        size,
                        gradient: output.derivatives() > 0,
                        tolerance: 2.0 * tolerance,
                        worst,
                    };
                    tail.least_side(self.points.sources, targets)
                };
                self.request.outputs.iter().map(of_output).fold(0.0, f64::max)
            }
            _ => worst,
        }
    }

    /// Whether all pairs cost less than the interactions in the FMM's lists.
    fn is_direct_cheaper(&self, lists: &Lists, proposal: &Proposal, pair_cost: f64) -> bool {
        let all_pairs = self.points.sources.len() as f64 * self.points.counts().targets() as f64;
        let far = lists.counts.m2l as f64 * proposal.m2l_cost * self.streams() as f64;
        lists.counts.p2p as f64 * pair_cost + far > all_pairs * pair_cost
    }

    fn squared_sizes(&self, permutation: Option<&[u32]>) -> SortedSizes<T> {
        if !self.request.kernel.has_sizes() {
            return SortedSizes::Global(T::ZERO);
        }
        SortedSizes::new(self.points.sizes, permutation)
    }
}

fn why_direct(softened: bool) -> &'static str {
    if softened {
        "direct: the cores reach too far for a far field at this tolerance"
    } else {
        "direct: cheaper than the FMM for these points"
    }
}
