//! One rank's part of a sum: own sources, what it received of the others', and the engine that sums over both at own targets.

use crate::communicator::Communicator;
use crate::curve::Root;
use crate::equivalent::{Carried, Moments, SPHERE, Sources, Sphere, Wanted, equivalents, stands_for_many};
use crate::error::{Error, agree};
use crate::essential::{BOXES, Essential, Imported, tell, walk};
use crate::partition::Works;
use crate::problem::{Points, Problem};
use crate::segments::{Facts, Segments};
use crate::sum::Sum;
use crate::top::Top;
use crate::traffic::Traffic;
use crate::tree::{Extent, Tree, cover};
use crate::tuning::Far;
use farfield::kernel::Sizes;
use farfield::{Device, Field, Method, Options, PlanOf, Precision};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Instant;

/// The points whose piece of the curve this rank has.
#[derive(Debug, Clone)]
pub struct Own<T, const D: usize> {
    /// Sources.
    pub sources: Vec<[T; D]>,
    /// Targets; `None` if they are the sources.
    pub targets: Option<Vec<[T; D]>>,
    /// Sizes of the sources' cores.
    pub sizes: Sizes<T>,
    /// The root of all ranks' points.
    pub root: Root<D>,
}

impl<T: Precision, const D: usize> Own<T, D> {
    /// The targets.
    pub fn targets(&self) -> &[[T; D]] {
        self.targets.as_deref().unwrap_or(&self.sources)
    }

    /// The size of a source's core.
    pub fn size(&self, source: usize) -> f64 {
        match &self.sizes {
            Sizes::None => 0.0,
            Sizes::Global(size) => size.to_f64(),
            Sizes::PerSource(sizes) => sizes.get(source).map_or(0.0, |size| size.to_f64()),
        }
    }
}

/// What a rank has planned.
#[derive(Debug)]
pub struct Local<P: Problem<D>, T: Precision, const D: usize> {
    far: Far,
    tree: Tree<D>,
    sphere: Sphere<D>,
    wanted: Wanted,
    essential: Essential,
    /// `None` where no segment of ranks is far enough from any other.
    top: Option<Top<D>>,
    /// `None` where there are no targets or no sources.
    engine: Option<PlanOf<T, P::Geometry>>,
    /// How many sources the engine has.
    sources: usize,
    /// The first of own points on the curve, and how many there are.
    first: (u64, usize),
    /// Seconds up to the engine's plan, and of it.
    pub seconds: (f64, f64),
}

impl<P: Problem<D>, T: Precision, const D: usize> Local<P, T, D> {
    /// Exchanges essential sources and plans. Called by all ranks together.
    ///
    /// # Errors
    /// [`Error::OnRank`] if an engine could not plan.
    pub fn new(
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Traffic,
        (sum, far): (&Sum<P>, Far),
        own: &mut Own<T, D>,
    ) -> Result<Self, Error> {
        let start = Instant::now();
        let alone = ranks.size() == 1;
        let sphere = Sphere::<D>::new(if alone { 0 } else { far.order });
        let mut local = Self {
            far,
            tree: Tree::default(),
            wanted: Wanted::default(),
            essential: Essential::default(),
            top: None,
            engine: None,
            sources: 0,
            first: (u64::MAX, 0),
            seconds: (0.0, 0.0),
            sphere,
        };
        // Own sources first, then what arrives: no second copy of them while the engine plans.
        let mut all = std::mem::take(&mut own.sources);
        let count = all.len();
        let mut sizes = own.sizes.clone();
        if !alone {
            local.exchange(ranks, traffic, &sum.problem, own, (&mut all, &mut sizes));
        }
        local.seconds.0 = start.elapsed().as_secs_f64();
        let start = Instant::now();
        local.sources = all.len();
        // A source that is a target keeps its number: own sources come first. Alone, the engine knows that they are the same.
        let targets = match &own.targets {
            Some(targets) => Some(&targets[..]),
            None if alone => None,
            None => Some(&all[..count]),
        };
        let nothing_to_do = all.is_empty() || targets.map_or(count, <[_]>::len) == 0;
        let points = Points {
            sources: &all,
            targets,
            sizes,
        };
        let plan = || {
            let options = Options {
                leaf_capacity: leaf_capacity(sum, &points),
                ..sum.options.clone()
            };
            let plan = sum.problem.sum(points, sum.vectors, &options).plan();
            plan.map(Some)
        };
        let planned = if nothing_to_do { Ok(None) } else { plan() };
        all.truncate(count);
        all.shrink_to_fit();
        own.sources = all;
        local.engine = agree(ranks, planned)?;
        local.seconds.1 = start.elapsed().as_secs_f64();
        Ok(local)
    }

    fn exchange(
        &mut self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Traffic,
        problem: &P,
        own: &Own<T, D>,
        (points, sizes): (&mut Vec<[T; D]>, &mut Sizes<T>),
    ) {
        let count = self.sphere.count();
        let (sources, targets) = (&points[..], own.targets.as_deref());
        let keys = own.root.keys(sources);
        self.tree = Tree::new(sources, &keys, |source| own.size(source), count);
        let target_keys = targets.map(|targets| own.root.keys(targets));
        let all_targets = targets.unwrap_or(sources);
        let boxes = cover(all_targets, target_keys.as_ref().unwrap_or(&keys), BOXES);
        let first = keys.iter().chain(target_keys.iter().flatten()).min();
        let own_points = sources.len() + targets.map_or(0, <[_]>::len);
        self.first = (first.copied().unwrap_or(u64::MAX), own_points);
        drop((keys, target_keys));
        let far = self.far;
        let reach = |size: f64| problem.reach(size, far.core_tolerance);

        // Who must know whom: segments of ranks as a whole, near ranks box by box.
        let facts = Facts {
            sources: Extent::of(sources.iter().copied()),
            targets: boxes.iter().fold(Extent::EMPTY, |all, extent| all.join(extent)),
            core: self.tree.nodes.first().map_or(0.0, |root| root.core),
            count: sources.len(),
        };
        let segments = Segments::new(&facts.of_all(ranks));
        let lists = segments.lists(ranks.rank(), &far, count, reach);
        let there = tell(ranks, traffic, &boxes, (&lists.near_from, &lists.near_to));

        let tree = &self.tree;
        let parcel = |(rank, there): (usize, Vec<Extent<D>>)| {
            let mut parcel = walk(tree, &there, &far, count, reach);
            parcel.rank = rank;
            parcel
        };
        let parcels = there.into_par_iter().map(parcel).collect();
        let mut sizes = match sizes {
            Sizes::PerSource(sizes) => Some(sizes),
            _ => None,
        };
        let imported = Imported {
            points,
            sizes: sizes.as_deref_mut(),
        };
        let near = (parcels, &lists.near_from[..]);
        self.essential = Essential::new(ranks, traffic, near, (&self.tree, &self.sphere), imported);

        let mut used = [lists.far.len() as u64];
        ranks.sum_all(&mut used);
        if used[0] > 0 {
            let top = Top::new(segments, &lists, ranks.rank());
            points.reserve_exact(top.arriving() * count);
            points.extend(top.places(&self.sphere).map(|place| place.map(T::from_f64)));
            if let Some(sizes) = sizes {
                sizes.resize(points.len(), T::ZERO);
            }
            self.top = Some(top);
        }
        let many = !self.tree.nodes.is_empty() && stands_for_many(&self.tree, 0, count);
        let root = (self.top.is_some() && many).then_some(0);
        self.wanted = Wanted::new(&self.tree, self.essential.boxes().chain(root), count);
    }

    /// Own strengths and those of the other ranks' essential sources. Called by all ranks together.
    pub fn strengths<'s>(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Traffic,
        own: &Own<T, D>,
        (strengths, carried, vectors): (&'s [T], Carried, usize),
    ) -> Cow<'s, [T]> {
        if ranks.size() == 1 {
            return Cow::Borrowed(strengths);
        }
        let sources = Sources {
            points: &own.sources,
            strengths,
            carried,
            vectors,
        };
        let equivalents = equivalents(&self.tree, &self.sphere, &self.wanted, sources);
        let columns = vectors * carried.of_equivalent();
        let of_segments = match &self.top {
            Some(top) => {
                let own = self.as_a_whole(top, sources, &equivalents, columns);
                top.strengths(ranks, traffic, &self.sphere, own, columns)
            }
            None => Vec::new(),
        };
        let of_tree = (&self.tree, self.sphere.count());
        let all = self
            .essential
            .strengths(ranks, traffic, of_tree, sources, &equivalents, &of_segments);
        Cow::Owned(all)
    }

    /// The equivalent sources of all of this rank's sources together.
    fn as_a_whole(
        &self,
        top: &Top<D>,
        sources: Sources<'_, T, D>,
        equivalents: &BTreeMap<usize, Vec<f64>>,
        columns: usize,
    ) -> Vec<f64> {
        let (centre, radius) = top.own();
        let mut moments = Moments::new(&self.sphere, centre, SPHERE * radius, columns);
        match (equivalents.get(&0), self.tree.nodes.first()) {
            (Some(strengths), Some(root)) => moments.add_equivalents(root.centre, root.radius, strengths),
            (None, Some(_)) => moments.add_sources(self.tree.points_of(0), sources),
            _ => {}
        }
        moments.strengths()
    }

    /// The engine's sum over all strengths; `None` where there is nothing to sum.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn evaluate(&mut self, strengths: &[T]) -> Result<Option<Field<T, P::Output>>, farfield::Error> {
        self.engine
            .as_mut()
            .map(|engine| engine.evaluate(strengths))
            .transpose()
    }

    /// Nanoseconds of one thread that the engine's sum is expected to take.
    pub fn work(&self, sum: &Sum<P>, own: &Own<T, D>) -> f64 {
        let Some(engine) = &self.engine else {
            return 0.0;
        };
        let profile = sum.options.profile.clone().unwrap_or_default();
        let points = self.sources + own.targets().len();
        let has_sizes = own.sizes != Sizes::None;
        sum.problem.work::<T>(engine.parameters(), points, has_sizes, &profile)
    }

    /// What this rank has to do among all. Called by all ranks together.
    pub fn works(&self, ranks: &(impl Communicator + ?Sized), sum: &Sum<P>, own: &Own<T, D>) -> Works {
        Works::of_all(ranks, self.first, self.work(sum, own))
    }

    /// Sources received as they are, and equivalent ones.
    pub fn arriving(&self) -> (usize, usize) {
        let (points, equivalent) = self.essential.arriving(self.sphere.count());
        let of_segments = self.top.as_ref().map_or(0, Top::arriving) * self.sphere.count();
        (points, equivalent + of_segments)
    }

    /// What is far.
    pub fn far(&self) -> Far {
        self.far
    }

    /// The engine's plan.
    pub fn engine(&self) -> Option<&PlanOf<T, P::Geometry>> {
        self.engine.as_ref()
    }
}

/// How many points a leaf of a rank's engine may hold; `None` for what the engine thinks best.
///
/// The engine finds it for points that are as dense everywhere. A rank's are dense around its targets and sparse farther out: leaves that are to
/// hold so many on average hold more near the targets, and are cut into eight that hold too few. With room for more they are not: on eight
/// ranks of 250,000 points each the engine then has 7,000 boxes instead of 28,000. What the engine thinks is learnt from a few of the points.
fn leaf_capacity<P: Problem<D>, T: Precision, const D: usize>(
    sum: &Sum<P>,
    points: &Points<'_, T, D>,
) -> Option<usize> {
    /// Fewer targets are not worth the question.
    const LEAST: usize = 20_000;
    /// Points to ask with.
    const SAMPLE: usize = 1 << 14;
    /// On four ranks 1.5 was enough, on eight it was not; up to 3 neither memory nor time grow.
    const ROOM: f64 = 2.1;
    let options = &sum.options;
    let on_cores = match options.device {
        Device::Cpu => true,
        Device::Auto => Device::all_gpus().map_or(true, |gpus| gpus.is_empty()),
        _ => false,
    };
    let is_free = options.leaf_capacity.is_none() && matches!(options.method, Method::Auto | Method::Fmm);
    let targets = match points.targets {
        Some(targets) if D == 3 && is_free && on_cores && targets.len() >= LEAST => targets,
        _ => return options.leaf_capacity,
    };
    let some =
        |points: &[[T; D]]| -> Vec<[T; D]> { points.iter().step_by(points.len().div_ceil(SAMPLE)).copied().collect() };
    let (sources, targets) = (some(points.sources), some(targets));
    let sizes = match &points.sizes {
        Sizes::PerSource(sizes) => {
            let every = sizes.len().div_ceil(SAMPLE);
            Sizes::PerSource(sizes.iter().step_by(every).copied().collect())
        }
        other => other.clone(),
    };
    let sample = Points {
        sources: &sources,
        targets: Some(&targets),
        sizes,
    };
    let options = Options {
        method: Method::Fmm,
        device: Device::Cpu,
        ..options.clone()
    };
    let plan = sum.problem.sum(sample, sum.vectors, &options).plan().ok()?;
    let usual = plan.parameters().leaf_capacity?;
    Some((ROOM * usual as f64) as usize)
}
