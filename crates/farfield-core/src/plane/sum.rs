//! A sum in the plane, before it is planned.

use super::connect::{Connections, Criterion};
use super::expansion::MAX_ORDER;
use super::fmm::PlaneFmm;
use super::kernel::{Core, Kernel, Output};
use super::pairs::PlanePairs;
use super::plan::{Engine, Plan};
use super::pyramid::Pyramid;
use super::tuning::{self, Choice};
use crate::direct::Direct;
use crate::error::Error;
use crate::fmm::setup::SortedSizes;
use crate::kernel::Sizes;
use crate::machine::available_memory;
use crate::plan::input::{check_points, check_size_range, check_size_values, check_tolerance, parameter};
use crate::plan::memory::Counts;
use crate::plan::merge::Merge;
use crate::plan::{Method, Parameters};
use crate::report::{Interactions, Phase, Seconds};
use crate::simd::{Real, SimdLevel};
use crate::tuning::MachineProfile;
use std::time::Instant;

/// A sum to be planned: which kernel between which points of the plane, which outputs, how exact.
#[derive(Debug, Clone)]
pub struct Sum<'a, T> {
    pub(super) kernel: Kernel,
    pub(super) core: Core,
    pub(super) sources: &'a [[T; 2]],
    pub(super) targets: Option<&'a [[T; 2]]>,
    pub(super) sizes: Sizes<T>,
    pub(super) outputs: Vec<Output>,
    pub(super) complex: bool,
    pub(super) tolerance: f64,
    pub(super) method: Method,
    pub(super) vectors: usize,
    pub(super) order: Option<usize>,
    pub(super) theta: Option<f64>,
    pub(super) leaf_capacity: Option<usize>,
    simd: Option<SimdLevel>,
    profile: MachineProfile,
    pub(super) memory_limit: Option<u64>,
    pub(super) check: bool,
}

impl<'a, T: Real> Sum<'a, T> {
    /// A sum over `sources`, at the sources themselves, of the potential of real strengths, to a tolerance of 1e-6
    /// (1e-4 in single precision).
    pub fn new(kernel: Kernel, sources: &'a [[T; 2]]) -> Self {
        Self {
            kernel,
            core: Core::Singular,
            sources,
            targets: None,
            sizes: Sizes::None,
            outputs: vec![Output::Potential],
            complex: false,
            tolerance: if T::EPSILON > 1e-10 { 1e-4 } else { 1e-6 },
            method: Method::Auto,
            vectors: 1,
            order: None,
            theta: None,
            leaf_capacity: None,
            simd: None,
            profile: MachineProfile::default(),
            memory_limit: None,
            check: true,
        }
    }

    /// Evaluate at other points than the sources. They are others even where they share places with sources: a regularised
    /// kernel then counts the source at a target's own place, which it does not where no targets are given.
    pub fn targets(mut self, targets: &'a [[T; 2]]) -> Self {
        self.targets = Some(targets);
        self
    }

    /// Count the term of each source at its own place too, where the targets are the sources: the same as
    /// `targets(sources)`. A singular kernel has none.
    pub fn count_self(mut self) -> Self {
        self.targets = Some(self.sources);
        self
    }

    /// A regularised core, one size or one per source.
    pub fn core(mut self, core: Core, sizes: Sizes<T>) -> Self {
        self.core = core;
        self.sizes = sizes;
        self
    }

    /// What to compute.
    pub fn outputs(mut self, outputs: &[Output]) -> Self {
        self.outputs = outputs.to_vec();
        self
    }

    /// Strengths are complex: two numbers for each source.
    pub fn complex(mut self) -> Self {
        self.complex = true;
        self
    }

    /// The relative error allowed in each output: the root of the summed squared errors over that of the values, over
    /// all targets. From 1e-2 to 1e-12 in double, to 1e-5 in single precision.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// The method: direct, FMM, or the faster of the two.
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// How many vectors of strengths are summed at once.
    pub fn vectors(mut self, vectors: usize) -> Self {
        self.vectors = vectors;
        self
    }

    /// For experts: the order of all expansions instead of the tolerance.
    pub fn order(mut self, order: usize) -> Self {
        self.order = Some(order);
        self
    }

    /// For experts: the theta of the coupling criterion.
    pub fn theta(mut self, theta: f64) -> Self {
        self.theta = Some(theta);
        self
    }

    /// For experts: the desired number of points in a leaf, from which the number of levels follows (Goude and
    /// Engblom, eq. 5.2).
    pub fn leaf_capacity(mut self, capacity: usize) -> Self {
        self.leaf_capacity = Some(capacity);
        self
    }

    /// The instruction set to use; the machine's best by default.
    pub fn simd(mut self, level: SimdLevel) -> Self {
        self.simd = Some(level);
        self
    }

    /// What the cost model believes about the machine.
    pub fn profile(mut self, profile: MachineProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Refuse plans that need more than this many bytes; what the system has available by default.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Whether every evaluation computes the true sum at a few dozen targets, compares, and sums again more exactly where
    /// the tolerance is exceeded; it does by default. [`crate::Field::check`] then holds the measured errors.
    pub fn check_errors(mut self, check: bool) -> Self {
        self.check = check;
        self
    }

    /// Checks the input, chooses method and parameters, and builds everything that does not depend on the strengths.
    ///
    /// # Errors
    /// Any of [`Error`], naming the value that is wrong and where it is.
    pub fn plan(self) -> Result<Plan<T>, Error> {
        T::plan_in_plane(self)
    }

    /// Whether planning takes longer than waking other threads.
    pub(crate) fn deserves_threads(&self) -> bool {
        self.sources.len() + self.targets.map_or(0, <[_]>::len) > tuning::SMALL
    }

    pub(crate) fn check_and_build(self) -> Result<Plan<T>, Error> {
        self.check()?;
        self.build()
    }

    fn target_count(&self) -> usize {
        self.targets.map_or(self.sources.len(), <[_]>::len)
    }

    pub(super) fn largest_size(&self) -> f64 {
        match &self.sizes {
            _ if self.core == Core::Singular => 0.0,
            Sizes::None => 0.0,
            Sizes::Global(size) => size.to_f64(),
            Sizes::PerSource(sizes) => sizes.iter().map(|size| size.to_f64()).fold(0.0, f64::max),
        }
    }

    fn build(self) -> Result<Plan<T>, Error> {
        let start = Instant::now();
        let mut seconds = Seconds::default();
        let simd = self.simd.unwrap_or_else(SimdLevel::best);
        let pairs = self.pairs();
        let choice = self.choose(&pairs, self.counts());
        self.check_memory(&pairs, choice.as_ref())?;
        let mut plan = match choice {
            None => self.direct_plan(simd, pairs, Vec::new()),
            Some(choice) => self.fmm_plan(simd, pairs, choice, &mut seconds)?,
        };
        let known = seconds.of(Phase::Sort) + seconds.of(Phase::Connect);
        seconds.total = start.elapsed().as_secs_f64();
        seconds.add(Phase::Tree, (seconds.total - known).max(0.0));
        plan.planning = seconds;
        Ok(plan)
    }

    /// What is summed over pairs of points.
    pub(super) fn pairs(&self) -> PlanePairs {
        let core = if self.largest_size() > 0.0 {
            self.core
        } else {
            Core::Singular
        };
        PlanePairs {
            kernel: self.kernel,
            core,
            derivatives: Output::most_derivatives(&self.outputs),
            // The logarithm of complex strengths, or a regularised field, is summed part by part.
            complex: self.complex && self.kernel == Kernel::Harmonic && core == Core::Singular,
            full: self.order.is_some() || self.tolerance < 1e-7,
        }
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            sources: self.sources.len(),
            targets: self.targets.map(<[_]>::len),
        }
    }

    /// The parameters of the FMM over so many points, or `None` where the direct sum is asked for or cheaper.
    pub(super) fn choose(&self, pairs: &PlanePairs, counts: Counts) -> Option<Choice> {
        if self.method == Method::Direct || counts.sources == 0 || counts.targets() == 0 {
            return None;
        }
        let (choice, costs) = self.best_fmm(pairs, counts);
        let direct = costs.direct(counts.sources, counts.targets());
        let fmm = costs.fmm(counts.sources, counts.targets(), choice.depth, 1.0);
        (self.method != Method::Auto || fmm < direct).then_some(choice)
    }

    /// Seconds that the sum is expected to take on so many threads, by the costs of the profile; nothing is timed.
    pub fn expected_seconds(&self, threads: usize) -> f64 {
        let (pairs, counts) = (self.pairs(), self.counts());
        let (sources, targets) = (counts.sources, counts.targets());
        if sources == 0 || targets == 0 {
            return 0.0;
        }
        let (choice, costs) = self.best_fmm(&pairs, counts);
        let parts = if self.complex && !pairs.complex { 2 } else { 1 };
        let runs = (parts * self.vectors) as f64;
        let direct = runs * costs.direct(sources, targets);
        let fmm = costs.fmm(sources, targets, choice.depth, runs);
        let nanoseconds = match self.method {
            Method::Direct => direct,
            Method::Auto => direct.min(fmm),
            _ => fmm,
        };
        1e-9 * nanoseconds / threads.max(1) as f64
    }

    /// The FMM over so many points, and what it costs.
    fn best_fmm(&self, pairs: &PlanePairs, counts: Counts) -> (Choice, tuning::Costs) {
        let (sources, targets) = (counts.sources, counts.targets());
        let points = sources + counts.targets.unwrap_or(0);
        let theta = self.theta.unwrap_or(tuning::THETA);
        let order = self.order.unwrap_or_else(|| {
            tuning::order_for(
                self.kernel,
                &self.outputs,
                theta,
                self.tolerance,
                counts.targets.is_some(),
            )
        });
        let costs = tuning::Costs::new::<T>(pairs, &self.profile, order);
        let depth = match self.leaf_capacity {
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
        let columns = |points: &[[T; 2]]| std::array::from_fn(|axis| points.iter().map(|p| p[axis]).collect());
        let engine = Engine::Direct(Box::new(Direct {
            simd,
            pairs,
            vectors: 1,
            sources: columns(self.sources),
            targets: self.targets.map(columns),
            size2: self.squared_sizes(None),
        }));
        let parameters = Parameters {
            method: Method::Direct,
            interactions: Interactions {
                p2p: self.sources.len() as u64 * self.target_count() as u64,
                ..Interactions::default()
            },
            ..Parameters::default()
        };
        Plan::new(self, engine, parameters, notes)
    }

    fn fmm_plan(
        self,
        simd: SimdLevel,
        pairs: PlanePairs,
        choice: Choice,
        seconds: &mut Seconds,
    ) -> Result<Plan<T>, Error> {
        let depth = self.depth_with_cores(choice.depth);
        let pyramid = seconds.time(Phase::Sort, || Pyramid::build(self.sources, self.targets, depth));
        if pyramid.has_leaf_of_duplicates()
            && let Some(merge) = Merge::new(self.sources, self.targets, &self.sizes)
        {
            return self.merged_plan(merge);
        }
        let group = self.group_of_leaves(&pairs, &pyramid);
        let reach = self.checked().core_reach();
        let criterion = Criterion::new(choice.theta, reach, choice.shortcut).with_groups(group);
        let limit = self.memory_limit.or_else(available_memory).unwrap_or(u64::MAX);
        let connections = seconds.time(Phase::Connect, || Connections::within(&pyramid, &criterion, limit));
        let connections = match connections {
            Ok(connections) => connections,
            Err(_) if self.method == Method::Auto => {
                let note = "direct: the lists of the FMM would not fit into memory".to_owned();
                return Ok(self.direct_plan(simd, pairs, vec![note]));
            }
            Err(bytes) => return Err(Error::memory(bytes, limit)),
        };
        let pairs_of_all = self.sources.len() as u64 * self.target_count() as u64;
        if self.method == Method::Auto && 10 * connections.p2p_pairs > 9 * pairs_of_all {
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
        Ok(Plan::new(&self, Engine::Fmm(Box::new(fmm)), parameters, Vec::new()))
    }

    /// The depth down to which boxes are larger than the cores reach: below, each is coupled to all around it.
    pub(super) fn depth_with_cores(&self, depth: usize) -> usize {
        let reach = self.checked().core_reach();
        if reach == 0.0 {
            return depth;
        }
        // Without points, as for a forecast, those of a unit square.
        let extent = match check_points(self.sources, self.targets) {
            Ok(extent) if extent > 0.0 => extent,
            _ => 1.0,
        };
        depth.min((extent / reach).max(1.0).log2().ceil() as usize + 1)
    }

    /// How many leaves meet each other both ways at once: one leaf, so no others, where that is impossible or does not pay.
    fn group_of_leaves(&self, pairs: &PlanePairs, pyramid: &Pyramid<T>) -> usize {
        let one_size = pairs.core == Core::Singular || !matches!(self.sizes, Sizes::PerSource(_));
        let possible = self.targets.is_none() && !pairs.complex && one_size;
        let (points, leaves) = (pyramid.points(), pyramid.leaves());
        match possible && points >= tuning::mutual_from(pairs) * leaves {
            // Larger groups have fewer pairs across their edges; smaller ones more tasks.
            true if leaves >= 4096 => 64,
            true if leaves >= 256 => 16,
            true if points <= tuning::SMALL => leaves,
            _ => 1,
        }
    }

    /// Plans the sum over distinct points.
    fn merged_plan(self, merge: Merge<T, 2>) -> Result<Plan<T>, Error> {
        let note = format!(
            "{} sources share a place with another one and were merged",
            self.sources.len() - merge.sources.len()
        );
        let inner = Sum {
            sources: &merge.sources,
            targets: merge.targets.as_deref(),
            sizes: merge.sizes.clone(),
            ..self.clone()
        };
        Ok(inner.build()?.with_merge(&self, merge, note))
    }

    fn squared_sizes(&self, permutation: Option<&[u32]>) -> SortedSizes<T> {
        if self.core == Core::Singular {
            return SortedSizes::Global(T::ZERO);
        }
        SortedSizes::new(&self.sizes, permutation)
    }

    /// The largest extent of points, and one over the smallest: squares of distances, and the highest power of their inverse, must
    /// neither overflow nor vanish.
    fn largest_extent(&self) -> f64 {
        let single = T::EPSILON > 1e-10;
        let (of_squares, of_powers) = if single { (50, 120) } else { (400, 1000) };
        let inverses = Output::most_derivatives(&self.outputs) + usize::from(self.kernel == Kernel::Harmonic);
        2f64.powi((of_powers / inverses.max(1) as i32).min(of_squares))
    }

    /// Checks every number of the sum; the result is the extent of the points.
    ///
    /// # Errors
    /// Any of [`Error`], naming the value that is wrong and where it is.
    pub fn check(&self) -> Result<f64, Error> {
        let extent = check_points(self.sources, self.targets)?;
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
        check_size_values(&self.sizes, self.sources.len())?;
        if self.core != Core::Singular {
            check_size_range(&self.sizes, if extent > 0.0 { extent } else { self.largest_size() })?;
        }
        if self.core != Core::Singular && self.sizes == Sizes::None {
            return Err(Error::MissingSize { core: self.core.name() });
        }
        let known = self.kernel.outputs(self.core);
        if let Some(output) = self.outputs.iter().find(|output| !known.contains(output)) {
            let names: Vec<&str> = known.iter().map(|known| known.name()).collect();
            return Err(Error::NotAnalytic {
                kernel: self.kernel.name(),
                core: self.core.name(),
                output: output.name(),
                known: names.join(", "),
            });
        }
        check_tolerance::<T>(self.tolerance, self.order.is_some())?;
        if let Some(order) = self.order {
            parameter("order", order as f64, "1 to 60", (1..=MAX_ORDER).contains(&order))?;
        }
        if let Some(theta) = self.theta {
            parameter("theta", theta, "0.1 to 0.8", (0.1..=0.8).contains(&theta))?;
        }
        if let Some(capacity) = self.leaf_capacity {
            parameter("leaf_capacity", capacity as f64, "at least 1", capacity >= 1)?;
        }
        parameter(
            "vectors",
            self.vectors as f64,
            "1 to 1024",
            (1..=1024).contains(&self.vectors),
        )?;
        if matches!(self.method, Method::Treecode | Method::TreecodeOnNeighbours) {
            return Err(Error::MethodInPlane {
                method: self.method.name(),
            });
        }
        Ok(extent)
    }
}
