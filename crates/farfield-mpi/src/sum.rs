//! The description of a sum over ranks: problem and options.

use crate::communicator::Communicator;
use crate::error::Error;
use crate::plan::Plan;
use crate::problem::{Points, Shared};
use farfield::{Geometry, Options, Precision, Request, SumOf};

/// A sum over points that are distributed over ranks: kernel, outputs and options, the same on every rank.
#[derive(Debug, Clone)]
#[must_use = "nothing is summed before `plan`"]
pub struct Sum<G: Geometry> {
    pub(crate) request: Request<G>,
    pub(crate) count_self: bool,
    pub(crate) in_place: bool,
}

impl<G: Geometry> Sum<G> {
    /// The sum that a request describes. Each rank sums on the device of the request: the same on every rank, or each rank's own
    /// GPU.
    pub fn of(request: Request<G>) -> Self {
        Self {
            request,
            count_self: false,
            in_place: false,
        }
    }

    /// Count each source's action on itself, where it is finite.
    pub fn count_self(mut self) -> Self {
        self.count_self = true;
        self
    }

    /// Lets every rank sum at its own targets, without moving points, strengths and results. For points that are
    /// close together on each rank already, as after [`Plan::follow`].
    pub fn in_place(mut self) -> Self {
        self.in_place = true;
        self
    }

    /// Sets all options.
    pub(crate) fn of_rank<'a, T: Precision, const D: usize>(
        &self,
        points: Points<'a, T, D>,
        options: Options,
    ) -> SumOf<'a, T, G>
    where
        G: Shared<D>,
    {
        let request = Request {
            options,
            ..self.request.clone()
        };
        let at_sources = points.targets.is_none();
        let sum = G::sum(request, points);
        if self.count_self && at_sources {
            sum.count_self()
        } else {
            sum
        }
    }

    /// Validates the input, distributes the points over the ranks by equal work, exchanges the locally essential
    /// sources, and plans the sum of each rank. Called by all ranks together.
    ///
    /// # Errors
    /// [`Error::OnRank`], the same on all ranks, if one of them failed.
    pub fn plan<'c, C: Communicator + ?Sized, T: Precision, const D: usize>(
        &self,
        ranks: &'c C,
        points: Points<'_, T, D>,
    ) -> Result<Plan<'c, C, G, T, D>, Error>
    where
        G: Shared<D>,
    {
        Plan::new(ranks, self.clone(), points)
    }
}
