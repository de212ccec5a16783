//! From a [`Sum`] in the plane to a [`Plan`].

use super::Plan;
use super::connect::{Connections, Criterion};
use super::fmm::PlaneFmm;
use super::kernel::{Core, Interaction, Kernel, Output};
use super::pairs::PlanePairs;
use super::pyramid::Pyramid;
use super::tuning::{self, Choice};
use crate::direct::Direct;
use crate::error::Error;
use crate::geometry::Plane;
use crate::kernel::Sizes;
use crate::machine::available_memory;
use crate::p2p::SortedSizes;
use crate::plan::Parameters;
use crate::plan::engine::Engine;
use crate::plan::input::{check_points, check_size_range, check_size_values};
use crate::plan::merge::Merge;
use crate::report::{Interactions, Phase, Seconds};
use crate::simd::{Real, SimdLevel};
use crate::sum::{Counts, Method, Sum};

impl<T: Real> Sum<'_, T, Plane> {
    /// The largest core size; zero if no source has one.
    pub fn largest_size(&self) -> f64 {
        match self.request.kernel.core {
            Core::Singular => 0.0,
            _ => self.points.largest_size(),
        }
    }

    /// The core; singular if no source has a size.
    pub fn core(&self) -> Core {
        if self.largest_size() > 0.0 {
            self.request.kernel.core
        } else {
            Core::Singular
        }
    }

    /// The given theta, or the default one.
    pub fn theta(&self) -> f64 {
        self.options().theta.unwrap_or(tuning::THETA)
    }

    /// The given order, or the one that meets the tolerance; `others` if the targets are not the sources.
    pub fn order(&self, others: bool) -> usize {
        let (kernel, outputs) = (self.request.kernel.kernel, &self.request.outputs);
        let chosen = || tuning::order_for(kernel, outputs, self.theta(), self.tolerance(), others);
        self.options().order.unwrap_or_else(chosen)
    }

    /// The number of levels for a leaf capacity (Goude and Engblom, eq. 5.2).
    pub fn depth_of_capacity(&self, capacity: usize) -> usize {
        tuning::depth_for(self.points.counts().points(), capacity)
    }

    /// Boxes closer than this, edge to edge, are within reach of each other's cores.
    pub fn core_reach(&self) -> f64 {
        self.core()
            .reach(self.largest_size(), self.options().core_tolerance::<T>())
    }

    /// Builds the plan; adds the seconds of sorting and connecting to `seconds`.
    pub(super) fn build(self, seconds: &mut Seconds) -> Result<Plan<T>, Error> {
        let simd = self.options().simd();
        let pairs = self.pairs();
        let choice = self.choose(&pairs, self.points.counts());
        self.check_memory(&pairs, choice.as_ref())?;
        match choice {
            None => Ok(self.direct_plan(simd, pairs, Vec::new())),
            Some(choice) => self.fmm_plan(simd, pairs, choice, seconds),
        }
    }

    /// The pair interactions of the sum.
    pub(super) fn pairs(&self) -> PlanePairs {
        let (core, Interaction { kernel, complex, .. }) = (self.core(), self.request.kernel);
        PlanePairs {
            kernel,
            core,
            derivatives: Output::most_derivatives(&self.request.outputs),
            // The logarithm of complex strengths, or a regularised field, is summed part by part.
            complex: complex && kernel == Kernel::Harmonic && core == Core::Singular,
            full: self.options().order.is_some() || self.tolerance() < 1e-7,
        }
    }

    /// The parameters of the FMM over `counts` points, or `None` if the direct sum is requested or cheaper.
    pub(super) fn choose(&self, pairs: &PlanePairs, counts: Counts) -> Option<Choice> {
        if self.options().method == Method::Direct || counts.sources == 0 || counts.targets() == 0 {
            return None;
        }
        let (choice, costs) = self.best_fmm(pairs, counts);
        let direct = costs.direct(counts.sources, counts.targets());
        let fmm = costs.fmm(counts.sources, counts.targets(), choice.depth, 1.0);
        (self.options().method != Method::Auto || fmm < direct).then_some(choice)
    }

    /// The expected seconds of the sum on `threads` threads, by the costs of the profile. Nothing is timed.
    pub fn expected_seconds(&self, threads: usize) -> f64 {
        let (pairs, counts) = (self.pairs(), self.points.counts());
        let (sources, targets) = (counts.sources, counts.targets());
        if sources == 0 || targets == 0 {
            return 0.0;
        }
        let (choice, costs) = self.best_fmm(&pairs, counts);
        let parts = if self.request.kernel.complex && !pairs.complex {
            2
        } else {
            1
        };
        let runs = (parts * self.request.vectors) as f64;
        let direct = runs * costs.direct(sources, targets);
        let fmm = costs.fmm(sources, targets, choice.depth, runs);
        let nanoseconds = match self.options().method {
            Method::Direct => direct,
            Method::Auto => direct.min(fmm),
            _ => fmm,
        };
        1e-9 * nanoseconds / threads.max(1) as f64
    }

    /// The FMM over `counts` points, and its costs.
    fn best_fmm(&self, pairs: &PlanePairs, counts: Counts) -> (Choice, tuning::Costs) {
        let (sources, targets) = (counts.sources, counts.targets());
        let points = counts.points();
        let (theta, order) = (self.theta(), self.order(counts.targets.is_some()));
        let costs = tuning::Costs::new::<T>(pairs, self.options().profile(), order);
        let depth = match self.options().leaf_capacity {
            Some(capacity) => tuning::depth_for(points, capacity),
            None => tuning::depth_at_least_cost(sources, targets, counts.targets.is_none(), &costs),
        };
        // A leaf is never empty.
        let depth = depth.min(points.ilog2() as usize / 2);
        let choice = Choice {
            theta,
            order,
            depth,
            shortcut: costs.shortcut(),
        };
        (choice, costs)
    }

    fn direct_plan(&self, simd: SimdLevel, pairs: PlanePairs, notes: Vec<String>) -> Plan<T> {
        let (sources, targets, size2) = (self.points.sources, self.points.targets, self.squared_sizes(None));
        let direct = Direct::new(simd, pairs, 1, sources, targets, size2);
        let parameters = Parameters::of_direct(self.points.counts().pairs());
        Plan::new(self, Engine::Direct(Box::new(direct)), parameters, notes)
    }

    fn fmm_plan(
        self,
        simd: SimdLevel,
        pairs: PlanePairs,
        choice: Choice,
        seconds: &mut Seconds,
    ) -> Result<Plan<T>, Error> {
        let depth = self.depth_with_cores(choice.depth);
        let pyramid = seconds.time(Phase::Sort, || {
            Pyramid::build(self.points.sources, self.points.targets, depth)
        });
        if pyramid.has_leaf_of_duplicates()
            && let Some(merge) = Merge::new(self.points.sources, self.points.targets, self.points.sizes)
        {
            return self.merged_plan(merge, Vec::new(), |distinct| distinct.build(seconds));
        }
        let group = self.group_of_leaves(&pairs, &pyramid);
        let reach = self.core_reach();
        let criterion = Criterion::new(choice.theta, reach, choice.shortcut).with_groups(group);
        let limit = self
            .options()
            .memory_limit
            .or_else(available_memory)
            .unwrap_or(u64::MAX);
        let connections = seconds.time(Phase::Connect, || Connections::within(&pyramid, &criterion, limit));
        let connections = match connections {
            Ok(connections) => connections,
            Err(_) if self.options().method == Method::Auto => {
                let note = "direct: the lists of the FMM would not fit into memory".to_owned();
                return Ok(self.direct_plan(simd, pairs, vec![note]));
            }
            Err(bytes) => return Err(Error::memory(bytes, limit)),
        };
        let pairs_of_all = self.points.sources.len() as u64 * self.points.counts().targets() as u64;
        if self.options().method == Method::Auto && 10 * connections.p2p_pairs > 9 * pairs_of_all {
            let note = match pairs.core {
                Core::Singular => "direct: cheaper than the FMM for these points".to_owned(),
                _ => format!(
                    "direct: cores of size {:e} reach too far for a far field at this tolerance",
                    self.largest_size()
                ),
            };
            return Ok(self.direct_plan(simd, pairs, vec![note]));
        }
        let parameters = Parameters {
            method: Method::Fmm,
            order: Some(choice.order),
            lowest_m2l_order: None,
            theta: Some(choice.theta),
            leaf_capacity: Some(pyramid.points().div_ceil(pyramid.leaves())),
            depth: Some(depth),
            boxes: pyramid.boxes.centre.len(),
            interactions: Interactions {
                p2p: connections.p2p_pairs,
                m2l: connections.weak.len() as u64,
                m2p: connections.m2p_pairs,
                p2l: connections.p2l_pairs,
            },
        };
        let size2 = self.squared_sizes(Some(&pyramid.sources.permutation));
        let fmm = PlaneFmm::new(simd, pairs, choice.order, pyramid, connections, group, size2);
        Ok(Plan::new(&self, Engine::Tree(Box::new(fmm)), parameters, Vec::new()))
    }

    /// The depth down to which boxes are larger than the reach of the cores. Below it, each box is coupled to all boxes
    /// around it.
    pub(super) fn depth_with_cores(&self, depth: usize) -> usize {
        let reach = self.core_reach();
        if reach == 0.0 {
            return depth;
        }
        // Without points, as in a forecast, the points of a unit square are assumed.
        let extent = match check_points(self.points.sources, self.points.targets) {
            Ok(extent) if extent > 0.0 => extent,
            _ => 1.0,
        };
        depth.min((extent / reach).max(1.0).log2().ceil() as usize + 1)
    }

    /// The number of leaves in a group, within which each pair of leaves is computed once for both; 1 if that is
    /// impossible or not faster.
    fn group_of_leaves(&self, pairs: &PlanePairs, pyramid: &Pyramid<T>) -> usize {
        let one_size = pairs.core == Core::Singular || !matches!(self.points.sizes, Sizes::PerSource(_));
        let possible = self.points.targets.is_none() && !pairs.complex && one_size;
        let (points, leaves) = (pyramid.points(), pyramid.leaves());
        match possible && points >= tuning::mutual_from(pairs) * leaves {
            // Larger groups have fewer pairs across their edges; smaller groups give more tasks.
            true if leaves >= 4096 => 64,
            true if leaves >= 256 => 16,
            true if points <= tuning::SMALL => leaves,
            _ => 1,
        }
    }

    fn squared_sizes(&self, permutation: Option<&[u32]>) -> SortedSizes<T> {
        if self.request.kernel.core == Core::Singular {
            return SortedSizes::Global(T::ZERO);
        }
        SortedSizes::new(self.points.sizes, permutation)
    }

    /// The largest extent of points, and one over the smallest, for which squares of distances and the highest power of
    /// their inverse neither overflow nor underflow.
    fn largest_extent(&self) -> f64 {
        let single = T::EPSILON > 1e-10;
        let (of_squares, of_powers) = if single { (50, 120) } else { (400, 1000) };
        let inverses = Output::most_derivatives(&self.request.outputs)
            + usize::from(self.request.kernel.kernel == Kernel::Harmonic);
        2f64.powi((of_powers / inverses.max(1) as i32).min(of_squares))
    }

    /// Checks all input; returns the extent of the points.
    ///
    /// # Errors
    /// Any of [`Error`], with the invalid value and its place.
    pub fn validate(&self) -> Result<f64, Error> {
        let (points, core) = (&self.points, self.request.kernel.core);
        let extent = check_points(points.sources, points.targets)?;
        let most = self.largest_extent();
        if extent != 0.0 && !(1.0 / most..=most).contains(&extent) {
            let (precision, lowest, highest) = (T::NAME, 1.0 / most, most);
            return Err(Error::Extent {
                extent,
                lowest,
                highest,
                precision,
            });
        }
        check_size_values(points.sizes, points.sources.len())?;
        if core != Core::Singular {
            check_size_range(points.sizes, if extent > 0.0 { extent } else { self.largest_size() })?;
        }
        if core != Core::Singular && *points.sizes == Sizes::None {
            return Err(Error::MissingSize { core: core.name() });
        }
        self.request.validate::<T>()?;
        Ok(extent)
    }
}
