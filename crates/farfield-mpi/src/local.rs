//! One rank's part of a sum: own sources, what it received of the others', and the engine that sums over both at own targets.

use crate::communicator::Communicator;
use crate::equivalent::{Carried, Sources, Sphere, Wanted, equivalents};
use crate::error::{Error, agree};
use crate::essential::{BOXES, Essential, Imported, describe, understand, walk};
use crate::problem::{Points, Problem};
use crate::sum::Sum;
use crate::traffic::Traffic;
use crate::tree::{Tree, cover};
use crate::tuning::Far;
use farfield::kernel::Sizes;
use farfield::{Field, PlanOf, Precision};
use rayon::prelude::*;
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
    /// Places on the curve, of sources and of targets.
    pub keys: [Vec<u64>; 2],
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
    /// `None` where there are no targets or no sources.
    engine: Option<PlanOf<T, P::Geometry>>,
    /// How many sources the engine has.
    sources: usize,
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
        own: &Own<T, D>,
    ) -> Result<Self, Error> {
        let start = Instant::now();
        let alone = ranks.size() == 1;
        let sphere = Sphere::<D>::new(if alone { 0 } else { far.order });
        let mut local = Self {
            far,
            tree: Tree::default(),
            wanted: Wanted::default(),
            essential: Essential::default(),
            engine: None,
            sources: 0,
            seconds: (0.0, 0.0),
            sphere,
        };
        let mut all = own.sources.clone();
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
            None => Some(&all[..own.sources.len()]),
        };
        let nothing_to_do = all.is_empty() || own.targets().is_empty();
        let points = Points {
            sources: &all,
            targets,
            sizes,
        };
        let plan = || {
            let plan = sum.problem.sum(points, sum.vectors, &sum.options).plan();
            plan.map(Some)
        };
        local.engine = agree(ranks, if nothing_to_do { Ok(None) } else { plan() })?;
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
        self.tree = Tree::new(&own.sources, &own.keys[0], |source| own.size(source), count);
        let target_keys = if own.targets.is_some() {
            &own.keys[1]
        } else {
            &own.keys[0]
        };
        let boxes = cover(own.targets(), target_keys, BOXES);
        let all_boxes = understand(&ranks.all_gather(&describe(&boxes)));
        let (far, tree) = (self.far, &self.tree);
        let reach = |size: f64| problem.reach(size, far.core_tolerance);
        let walk_for = |(rank, there): (usize, &Vec<_>)| {
            let mut parcel = walk(tree, there, &far, count, reach);
            parcel.rank = rank;
            parcel
        };
        let own_rank = ranks.rank();
        let others = all_boxes.par_iter().enumerate().filter(|(rank, _)| *rank != own_rank);
        let parcels = others.map(walk_for).collect();
        let sizes = match sizes {
            Sizes::PerSource(sizes) => Some(sizes),
            _ => None,
        };
        let imported = Imported { points, sizes };
        self.essential = Essential::new(ranks, traffic, parcels, (&self.tree, &self.sphere), imported);
        self.wanted = Wanted::new(&self.tree, self.essential.boxes(), count);
    }

    /// Own strengths and those of the other ranks' essential sources. Called by all ranks together.
    pub fn strengths(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Traffic,
        own: &Own<T, D>,
        (strengths, carried, vectors): (Vec<T>, Carried, usize),
    ) -> Vec<T> {
        if ranks.size() == 1 {
            return strengths;
        }
        let sources = Sources {
            points: &own.sources,
            strengths: &strengths,
            carried,
            vectors,
        };
        let equivalents = equivalents(&self.tree, &self.sphere, &self.wanted, sources);
        let of_tree = (&self.tree, self.sphere.count());
        self.essential.strengths(ranks, traffic, of_tree, sources, &equivalents)
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

    /// Sources received as they are, and equivalent ones.
    pub fn arriving(&self) -> (usize, usize) {
        self.essential.arriving(self.sphere.count())
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
