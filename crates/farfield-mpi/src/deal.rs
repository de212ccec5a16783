//! Points dealt to the ranks that sum at them, so that all have as much to do.

use crate::communicator::Communicator;
use crate::curve::Root;
use crate::error::Error;
use crate::local::{Local, Own};
use crate::partition::{Sorted, Weights, cut};
use crate::problem::{Points, Problem};
use crate::route::Route;
use crate::sum::Sum;
use crate::traffic::Traffic;
use crate::tuning::Far;
use farfield::Precision;
use farfield::kernel::Sizes;
use std::sync::Arc;
use std::time::Instant;

/// What dealing leaves on a rank.
#[derive(Debug)]
pub struct Dealt<P: Problem<D>, T: Precision, const D: usize> {
    /// The ways of sources and targets; those of targets that are the sources are the same.
    pub routes: [Arc<Route>; 2],
    /// The points that arrived here.
    pub own: Own<T, D>,
    /// What this rank sums.
    pub local: Local<P, T, D>,
    /// Nanoseconds of work that a rank has in the mean.
    pub mean_work: f64,
    /// The largest work over the mean.
    pub unevenness: f64,
    /// Seconds of cutting and moving.
    pub seconds: f64,
}

/// How often the curve is cut again where the work of ranks differs.
const REPARTITIONS: usize = 2;
/// Work above the mean that is worth another cut.
const UNEVEN: f64 = 0.05;

impl<P: Problem<D>, T: Precision, const D: usize> Dealt<P, T, D> {
    /// Cuts the curve, plans each rank's sum, and cuts again by the work that was found while it differs. Called by all ranks
    /// together.
    ///
    /// # Errors
    /// [`Error::OnRank`] if an engine could not plan.
    pub fn evenly(
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Traffic,
        (sum, far): (&Sum<P>, Far),
        points: &Points<'_, T, D>,
    ) -> Result<Self, Error> {
        let mut dealt = Self::by_weights(ranks, traffic, (sum, far), points, &Weights::equal())?;
        for cuts in 0.. {
            let works = dealt.local.works(ranks, sum, &dealt.own);
            (dealt.mean_work, dealt.unevenness) = (works.mean(), works.unevenness());
            if sum.in_place || cuts == REPARTITIONS || !works.exceed((1.0 + UNEVEN) * works.mean()) {
                break;
            }
            let seconds = dealt.seconds;
            drop(dealt);
            dealt = Self::by_weights(ranks, traffic, (sum, far), points, &works.weights())?;
            dealt.seconds += seconds;
        }
        Ok(dealt)
    }

    fn by_weights(
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Traffic,
        (sum, far): (&Sum<P>, Far),
        points: &Points<'_, T, D>,
        weights: &Weights,
    ) -> Result<Self, Error> {
        let start = Instant::now();
        let root = Root::of_all(ranks, [points.sources, points.targets.unwrap_or(&[])]);
        let routes = if sum.in_place || ranks.size() == 1 {
            stay(points)
        } else {
            routes(ranks, points, &root, weights)
        };
        let own = arrive(ranks, traffic, &routes, points, root);
        let seconds = start.elapsed().as_secs_f64();
        let local = Local::new(ranks, traffic, (sum, far), &own)?;
        Ok(Self {
            routes,
            own,
            local,
            mean_work: 0.0,
            unevenness: 1.0,
            seconds,
        })
    }
}

/// The ways of sources and targets to the ranks that have their pieces of the curve. Called by all ranks together.
fn routes<T: Precision, const D: usize>(
    ranks: &(impl Communicator + ?Sized),
    points: &Points<'_, T, D>,
    root: &Root<D>,
    weights: &Weights,
) -> [Arc<Route>; 2] {
    /// Pieces differ by less than this part of their weight.
    const SLACK: f64 = 0.01;
    let targets = points.targets.unwrap_or(&[]);
    let sorted = |set: &[[T; D]]| Sorted::new(root.keys(set), |key| weights.of(key));
    let (sources, targets) = (sorted(points.sources), sorted(targets));
    let [of_sources, of_targets] = cut(ranks, [&sources, &targets], SLACK);
    let of_sources = Arc::new(Route::new(ranks, sources, of_sources));
    // Called by all ranks, with or without targets.
    let of_targets = Route::new(ranks, targets, of_targets);
    match points.targets {
        Some(_) => [of_sources, Arc::new(of_targets)],
        None => [of_sources.clone(), of_sources],
    }
}

/// The ways of points that every rank keeps.
fn stay<T, const D: usize>(points: &Points<'_, T, D>) -> [Arc<Route>; 2] {
    let targets = points.targets.unwrap_or(points.sources);
    [points.sources.len(), targets.len()].map(|count| Arc::new(Route::stay(count)))
}

/// Moves points along their routes. Called by all ranks together.
pub fn arrive<T: Precision, const D: usize>(
    ranks: &(impl Communicator + ?Sized),
    traffic: &mut Traffic,
    routes: &[Arc<Route>; 2],
    points: &Points<'_, T, D>,
    root: Root<D>,
) -> Own<T, D> {
    let mut moved = |route: &Route, set: &[[T; D]]| -> Vec<[T; D]> {
        let mut arrived = vec![[T::ZERO; D]; route.arriving()];
        route.forward_into(ranks, traffic, set.as_flattened(), (1, D), arrived.as_flattened_mut());
        arrived
    };
    let sources = moved(&routes[0], points.sources);
    let targets = points.targets.map(|targets| moved(&routes[1], targets));
    let sizes = match &points.sizes {
        Sizes::PerSource(sizes) => Sizes::PerSource(routes[0].forward(ranks, traffic, sizes, (1, 1))),
        other => other.clone(),
    };
    Own {
        sources,
        targets,
        sizes,
        root,
    }
}
