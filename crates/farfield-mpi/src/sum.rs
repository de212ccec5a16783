//! A sum over ranks before it is planned: what to sum, and how well.

use crate::communicator::Communicator;
use crate::error::Error;
use crate::plan::Plan;
use crate::problem::{Plane, Points, Problem, Space};
use farfield::kernel::{self, Kernel};
use farfield::{Device, Options, Precision, plane};

/// A sum over points that are spread over ranks: kernel, outputs and options, the same on every rank.
#[derive(Debug, Clone)]
#[must_use = "nothing is summed before `plan`"]
pub struct Sum<P> {
    pub(crate) problem: P,
    pub(crate) vectors: usize,
    pub(crate) options: Options,
    pub(crate) in_place: bool,
}

impl Sum<Space> {
    /// A sum in space of the kernel's first output, to a tolerance of 1e-6 (1e-4 in single precision), on the CPU.
    pub fn space(kernel: Kernel) -> Self {
        Self::of(Space::new(kernel, &kernel.outputs()[..1]))
    }

    /// What to compute.
    pub fn outputs(mut self, outputs: &[kernel::Output]) -> Self {
        self.problem.outputs = outputs.to_vec();
        self
    }

    /// Count each source's action on itself, where it is finite.
    pub fn count_self(mut self) -> Self {
        self.problem.count_self = true;
        self
    }
}

impl Sum<Plane> {
    /// A sum in the plane of the potential of real strengths, to a tolerance of 1e-6 (1e-4 in single precision), on the CPU.
    pub fn plane(kernel: plane::Kernel) -> Self {
        Self::of(Plane::new(kernel, &[plane::Output::Potential]))
    }

    /// What to compute.
    pub fn outputs(mut self, outputs: &[plane::Output]) -> Self {
        self.problem.outputs = outputs.to_vec();
        self
    }

    /// A regularised core; its sizes come with the points.
    pub fn core(mut self, core: plane::Core) -> Self {
        self.problem.core = core;
        self
    }

    /// Strengths are complex: two numbers for each source.
    pub fn complex(mut self) -> Self {
        self.problem.complex = true;
        self
    }
}

impl<P> Sum<P> {
    /// A sum of what a problem describes.
    pub fn of(problem: P) -> Self {
        Self {
            problem,
            vectors: 1,
            options: Options::default(),
            in_place: false,
        }
    }

    /// The relative error allowed in each output, over all targets of all ranks.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.options.tolerance = Some(tolerance);
        self
    }

    /// Where each rank sums: the same on every rank, or each rank's own graphics processor.
    pub fn device(mut self, device: Device) -> Self {
        self.options.device = device;
        self
    }

    /// How many vectors of strengths are summed at once.
    pub fn vectors(mut self, vectors: usize) -> Self {
        self.vectors = vectors;
        self
    }

    /// Every rank sums at the targets it has: for points that lie together on each rank already, as after [`Plan::follow`]. Points,
    /// strengths and results then go nowhere.
    pub fn in_place(mut self) -> Self {
        self.in_place = true;
        self
    }

    /// All options at once.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Checks the input, cuts the curve through all points into pieces of equal work, moves points, exchanges what ranks must know of
    /// each other's sources, and has each rank plan its own sum. Called by all ranks together.
    ///
    /// # Errors
    /// [`Error::OnRank`], the same on all ranks, if one of them could not.
    pub fn plan<'c, C: Communicator + ?Sized, T: Precision, const D: usize>(
        &self,
        ranks: &'c C,
        points: Points<'_, T, D>,
    ) -> Result<Plan<'c, C, P, T, D>, Error>
    where
        P: Problem<D>,
    {
        Plan::new(ranks, self.clone(), points)
    }
}
