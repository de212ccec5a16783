//! The sum of one rank at its own targets: one engine for own sources, another for received sources.
//!
//! Own sources are summed as on a single rank, with one tree if the sources are the targets, while essential sources
//! are exchanged.

use crate::beside::{Beside, beside};
use crate::communicator::Communicator;
use crate::curve::Root;
use crate::equivalent::{Moments, SPHERE, Sources, Sphere, Wanted, equivalents, stands_for_many};
use crate::error::{Error, agree};
use crate::essential::{BOXES, Essential, Imported, tell, walk};
use crate::partition::Works;
use crate::problem::{Points, Shared};
use crate::received::{self, Cutting};
use crate::segments::{Facts, Segments};
use crate::sum::Sum;
use crate::top::Top;
use crate::traffic::Exchanged;
use crate::tree::{Extent, Tree, cover};
use crate::tuning::{self, Far};
use farfield::kernel::Sizes;
use farfield::{Field, Geometry, Options, PlanOf, Precision, Request};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::time::Instant;

/// The points on this rank's piece of the curve.
#[derive(Debug, Clone)]
pub struct Own<T, const D: usize> {
    /// The sources.
    pub sources: Vec<[T; D]>,
    /// The targets; `None` if they are the sources.
    pub targets: Option<Vec<[T; D]>>,
    /// The core sizes of the sources.
    pub sizes: Sizes<T>,
    /// The root of all ranks' points.
    pub root: Root<D>,
}

impl<T: Precision, const D: usize> Own<T, D> {
    /// The targets.
    pub fn targets(&self) -> &[[T; D]] {
        self.targets.as_deref().unwrap_or(&self.sources)
    }

    /// The core size of a source.
    pub fn size(&self, source: usize) -> f64 {
        match &self.sizes {
            Sizes::None => 0.0,
            Sizes::Global(size) => size.to_f64(),
            Sizes::PerSource(sizes) => sizes.get(source).map_or(0.0, |size| size.to_f64()),
        }
    }
}

/// The plan of a rank.
#[derive(Debug)]
pub struct Local<P: Shared<D>, T: Precision, const D: usize> {
    far: Far,
    tree: Tree<D>,
    sphere: Sphere<D>,
    wanted: Wanted,
    essential: Essential,
    /// `None` if no segment of ranks is far from another.
    top: Option<Top<D>>,
    /// The engines of own and of received sources; `None` without targets or without such sources.
    engines: [Option<PlanOf<T, P>>; 2],
    /// The smallest key of own points, and their number.
    first: (u64, usize),
    /// The number of additional sources of zero strength in the engine of received sources.
    empty: usize,
    /// Seconds of planning by step.
    pub seconds: Beside,
}

impl<P: Shared<D>, T: Precision, const D: usize> Local<P, T, D> {
    /// Exchanges essential sources while it plans the sum over own sources, then plans the sum over received sources.
    /// Called by all ranks together.
    ///
    /// # Errors
    /// [`Error::OnRank`] if an engine fails to plan.
    pub fn new(
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
        (sum, far): (&Sum<P>, Far),
        own: &Own<T, D>,
    ) -> Result<Self, Error> {
        let alone = ranks.size() == 1;
        let mut local = Self {
            far,
            tree: Tree::default(),
            wanted: Wanted::default(),
            essential: Essential::default(),
            top: None,
            engines: [None, None],
            first: (u64::MAX, 0),
            empty: 0,
            seconds: Beside::default(),
            sphere: Sphere::<D>::new(if alone { 0 } else { far.order }),
        };
        let plan_own = || {
            let points = Points {
                sources: &own.sources,
                targets: own.targets.as_deref(),
                sizes: own.sizes.clone(),
            };
            planned(sum, points, &sum.request.options)
        };
        let (of_own, received, seconds) = beside(!alone, plan_own, || match alone {
            true => Imported::default(),
            false => local.exchange(ranks, traffic, &sum.request, own),
        });
        local.seconds = seconds;
        let start = Instant::now();
        let both = of_own.and_then(|of_own| Ok([of_own, local.plan_received(sum, own, received)?]));
        local.engines = agree(ranks, both)?;
        if !alone {
            // The engines run one after the other, so that neither holds memory which the other needs at its peak.
            local.engines.iter_mut().flatten().for_each(PlanOf::spare_memory);
        }
        local.seconds.after = start.elapsed().as_secs_f64();
        Ok(local)
    }

    /// Plans the sum over received sources.
    fn plan_received(
        &mut self,
        sum: &Sum<P>,
        own: &Own<T, D>,
        received: Imported<T, D>,
    ) -> Result<Option<PlanOf<T, P>>, farfield::Error> {
        let Imported { mut points, sizes } = received;
        let mut sizes = sizes.map_or_else(|| own.sizes.clone(), Sizes::PerSource);
        let targets = Some(own.targets());
        let cutting = Cutting::choose(
            sum,
            &Points {
                sources: &points,
                targets,
                sizes: sizes.clone(),
            },
        );
        if let Some(place) = cutting.place {
            points.reserve_exact(1);
            points.push(place);
            if let Sizes::PerSource(sizes) = &mut sizes {
                sizes.push(T::ZERO);
            }
            self.empty = 1;
        }
        let options = Options {
            leaf_capacity: cutting.leaf_capacity,
            tolerance: sum.request.options.tolerance.map(tuning::of_received::<T>),
            // The error is measured for the whole sum, over all ranks.
            check: false,
            ..sum.request.options.clone()
        };
        let points = Points {
            sources: &points,
            targets,
            sizes,
        };
        planned(sum, points, &options)
    }

    /// Sends essential sources to other ranks, and returns those received. Called by all ranks together.
    fn exchange(
        &mut self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
        request: &Request<P>,
        own: &Own<T, D>,
    ) -> Imported<T, D> {
        let count = self.sphere.count();
        let (sources, targets) = (&own.sources[..], own.targets.as_deref());
        let keys = own.root.keys(sources);
        self.tree = Tree::new(sources, &keys, |source| own.size(source), count);
        let target_keys = targets.map(|targets| own.root.keys(targets));
        let boxes = cover(own.targets(), target_keys.as_ref().unwrap_or(&keys), BOXES);
        let first = keys.iter().chain(target_keys.iter().flatten()).min();
        let own_points = sources.len() + targets.map_or(0, <[_]>::len);
        self.first = (first.copied().unwrap_or(u64::MAX), own_points);
        drop((keys, target_keys));
        let far = self.far;
        let reach = |size: f64| P::reach(request, size, far.core_tolerance);

        // Interaction lists: far segments of ranks as a whole, near ranks box by box.
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
        let sizes = match &own.sizes {
            Sizes::PerSource(sizes) => Some(&sizes[..]),
            _ => None,
        };
        let near = (parcels, &lists.near_from[..]);
        let mut imported;
        (self.essential, imported) = Essential::new(ranks, traffic, near, (&self.tree, &self.sphere), (sources, sizes));

        let mut used = [lists.far.len() as u64];
        ranks.sum_all(&mut used);
        if used[0] > 0 {
            let top = Top::new(segments, &lists, ranks.rank());
            let points = &mut imported.points;
            points.reserve_exact(top.arriving() * count);
            points.extend(top.places(&self.sphere).map(|place| place.map(T::from_f64)));
            if let Some(sizes) = &mut imported.sizes {
                sizes.resize(points.len(), T::ZERO);
            }
            self.top = Some(top);
        }
        let many = !self.tree.nodes.is_empty() && stands_for_many(&self.tree, 0, count);
        let root = (self.top.is_some() && many).then_some(0);
        self.wanted = Wanted::new(&self.tree, self.essential.boxes().chain(root), count);
        imported
    }

    /// Sums over own sources, and over received sources when their strengths have arrived: at own targets, output by
    /// output. Called by all ranks together.
    pub fn evaluate(
        &mut self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
        (sum, own): (&Sum<P>, &Own<T, D>),
        strengths: &[T],
    ) -> BothEngines<T, P> {
        let sources = Sources {
            points: &own.sources,
            strengths,
            carried: P::carried(sum.request.kernel),
            vectors: sum.request.vectors,
        };
        let [mut of_own, mut of_received] = std::mem::take(&mut self.engines);
        // Equivalent sources and the engine would compete for the same cores. Other ranks wait for the equivalent
        // sources, so these come first.
        let on_cores = received::is_on_cores(&sum.request.options);
        let shared = ranks.size() > 1;
        let start = Instant::now();
        let made = (shared && on_cores).then(|| self.equivalents(sources));
        let before = start.elapsed().as_secs_f64();
        let sum_own = || evaluated(&mut of_own, strengths);
        let (by_own, received, mut seconds) = beside(shared, sum_own, || match shared {
            true => {
                let made = made.unwrap_or_else(|| self.equivalents(sources));
                self.strengths(ranks, traffic, sources, made)
            }
            false => Vec::new(),
        });
        seconds.exchange += before;
        let start = Instant::now();
        let by_received = by_own.and_then(|by_own| Ok([by_own, evaluated(&mut of_received, &received)?]));
        seconds.after = start.elapsed().as_secs_f64();
        self.engines = [of_own, of_received];
        (by_received, seconds)
    }

    fn equivalents(&self, sources: Sources<'_, T, D>) -> BTreeMap<usize, Vec<f64>> {
        equivalents(&self.tree, &self.sphere, &self.wanted, sources)
    }

    /// The strengths of essential sources of other ranks; `equivalents` are the strengths of own boxes. Called by all
    /// ranks together.
    fn strengths(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
        sources: Sources<'_, T, D>,
        equivalents: BTreeMap<usize, Vec<f64>>,
    ) -> Vec<T> {
        let columns = sources.vectors * sources.carried.of_equivalent();
        let of_segments = match &self.top {
            Some(top) => {
                let own = self.as_a_whole(top, sources, &equivalents, columns);
                top.strengths(ranks, traffic, &self.sphere, own, columns)
            }
            None => Vec::new(),
        };
        let of_tree = (&self.tree, self.sphere.count());
        let besides = (&of_segments[..], self.empty);
        self.essential
            .strengths(ranks, traffic, of_tree, sources, &equivalents, besides)
    }

    /// The equivalent strengths of all sources of this rank together.
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

    /// The forecast cost of both engines' sums, in nanoseconds of one thread.
    pub fn work(&self, sum: &Sum<P>, own: &Own<T, D>) -> f64 {
        let profile = sum.request.options.profile.clone().unwrap_or_default();
        let has_sizes = own.sizes != Sizes::None;
        let (received, equivalent) = self.arriving();
        let of_engine = |(engine, sources): (&Option<PlanOf<T, P>>, usize)| match engine {
            Some(engine) => {
                let points = sources + own.targets().len();
                P::work::<T>(&sum.request, engine.parameters(), points, has_sizes, &profile)
            }
            None => 0.0,
        };
        let sources = [own.sources.len(), received + equivalent];
        self.engines.iter().zip(sources).map(of_engine).sum()
    }

    /// The work of all ranks. Called by all ranks together.
    pub fn works(&self, ranks: &(impl Communicator + ?Sized), sum: &Sum<P>, own: &Own<T, D>) -> Works {
        Works::of_all(ranks, self.first, self.work(sum, own))
    }

    /// The numbers of unchanged and of equivalent sources received.
    pub fn arriving(&self) -> (usize, usize) {
        let (points, equivalent) = self.essential.arriving(self.sphere.count());
        let of_segments = self.top.as_ref().map_or(0, Top::arriving) * self.sphere.count();
        (points, equivalent + of_segments)
    }

    /// The opening criterion and the order of equivalent sources.
    pub fn far(&self) -> Far {
        self.far
    }

    /// The plans of the engines of own and of received sources.
    pub fn engines(&self) -> &[Option<PlanOf<T, P>>; 2] {
        &self.engines
    }
}

/// The fields of both engines, and the seconds by step.
pub type BothEngines<T, G> = (Result<[Option<Field<T, G>>; 2], farfield::Error>, Beside);

/// Plans a sum; `None` if there is nothing to sum.
fn planned<P: Shared<D>, T: Precision, const D: usize>(
    sum: &Sum<P>,
    points: Points<'_, T, D>,
    options: &Options,
) -> Result<Option<PlanOf<T, P>>, farfield::Error> {
    let nothing_to_do = points.sources.is_empty() || points.targets.is_some_and(<[_]>::is_empty);
    if nothing_to_do {
        return Ok(None);
    }
    sum.of_rank(points, options.clone()).plan().map(Some)
}

/// Evaluates an engine, if there is one.
fn evaluated<T: Precision, G: Geometry>(
    engine: &mut Option<PlanOf<T, G>>,
    strengths: &[T],
) -> Result<Option<Field<T, G>>, farfield::Error> {
    engine.as_mut().map(|engine| engine.evaluate(strengths)).transpose()
}
