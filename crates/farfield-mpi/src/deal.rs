//! Distributes points over the ranks that sum at them, so that all ranks have equal work.

use crate::communicator::Communicator;
use crate::curve::Root;
use crate::error::Error;
use crate::local::{Local, Own};
use crate::partition::{Sorted, Weights, cut};
use crate::problem::{Points, Shared};
use crate::route::Route;
use crate::sum::Sum;
use crate::traffic::Exchanged;
use crate::tuning::Far;
use farfield::Precision;
use farfield::kernel::Sizes;
use std::sync::Arc;
use std::time::Instant;

/// The part of a rank after the points have been distributed.
#[derive(Debug)]
pub struct Dealt<P: Shared<D>, T: Precision, const D: usize> {
    /// The routes of sources and targets; both are the same if the targets are the sources.
    pub routes: [Arc<Route>; 2],
    /// The points that arrived here.
    pub own: Own<T, D>,
    /// The planned sum of this rank.
    pub local: Local<P, T, D>,
    /// The mean work of a rank in nanoseconds.
    pub mean_work: f64,
    /// The largest work of a rank divided by the mean.
    pub unevenness: f64,
    /// Seconds for cutting the curve and moving points.
    pub seconds: f64,
}

/// How often the curve is cut again if the work is uneven.
const REPARTITIONS: usize = 2;
/// The excess of a rank's work over the mean, as a fraction of the mean, above which the curve is cut again.
const UNEVEN: f64 = 0.05;

impl<P: Shared<D>, T: Precision, const D: usize> Dealt<P, T, D> {
    /// Cuts the curve, plans each rank's sum, and cuts again by the resulting work while it is uneven. Called by all
    /// ranks together.
    ///
    /// # Errors
    /// [`Error::OnRank`] if an engine fails to plan.
    pub fn evenly(
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
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
        traffic: &mut Exchanged,
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

/// The routes of sources and targets to the ranks that own their pieces of the curve. Called by all ranks together.
fn routes<T: Precision, const D: usize>(
    ranks: &(impl Communicator + ?Sized),
    points: &Points<'_, T, D>,
    root: &Root<D>,
    weights: &Weights,
) -> [Arc<Route>; 2] {
    /// Pieces differ by less than this fraction of their weight.
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

/// The routes of points that stay on their rank.
fn stay<T, const D: usize>(points: &Points<'_, T, D>) -> [Arc<Route>; 2] {
    let targets = points.targets.unwrap_or(points.sources);
    [points.sources.len(), targets.len()].map(|count| Arc::new(Route::stay(count)))
}

/// Moves points along their routes. Called by all ranks together.
pub fn arrive<T: Precision, const D: usize>(
    ranks: &(impl Communicator + ?Sized),
    traffic: &mut Exchanged,
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
