//! The description of a sum over ranks: problem and options.

use crate::communicator::Communicator;
use crate::error::Error;
use crate::plan::Plan;
use crate::problem::{Plane, Points, Problem, Space};
use farfield::kernel::{self, Kernel};
use farfield::{Device, Options, Precision, plane};

/// A sum over points that are distributed over ranks: kernel, outputs and options, the same on every rank.
#[derive(Debug, Clone)]
#[must_use = "nothing is summed before `plan`"]
pub struct Sum<P> {
    pub(crate) problem: P,
    pub(crate) vectors: usize,
    pub(crate) options: Options,
    pub(crate) in_place: bool,
}

impl Sum<Space> {
    /// A sum in space with the kernel's first output, to a tolerance of 1e-6 (1e-4 in single precision), on the CPU.
    pub fn space(kernel: Kernel) -> Self {
        Self::of(Space::new(kernel, &kernel.outputs()[..1]))
    }

    /// Sets the quantities to compute.
    pub fn outputs(mut self, outputs: &[kernel::Output]) -> Self {
        self.problem.outputs = outputs.to_vec();
        self
    }

    /// Includes the action of each source on itself where it is finite.
    pub fn count_self(mut self) -> Self {
        self.problem.count_self = true;
        self
    }
}

impl Sum<Plane> {
    /// The potential of real strengths in the plane, to a tolerance of 1e-6 (1e-4 in single precision), on the CPU.
    pub fn plane(kernel: plane::Kernel) -> Self {
        Self::of(Plane::new(kernel, &[plane::Output::Potential]))
    }

    /// Sets the quantities to compute.
    pub fn outputs(mut self, outputs: &[plane::Output]) -> Self {
        self.problem.outputs = outputs.to_vec();
        self
    }

    /// Sets a regularised core; its sizes come with the points.
    pub fn core(mut self, core: plane::Core) -> Self {
        self.problem.core = core;
        self
    }

    /// Takes complex strengths: two numbers for each source.
    pub fn complex(mut self) -> Self {
        self.problem.complex = true;
        self
    }
}

impl<P> Sum<P> {
    /// A sum for a problem, with default options.
    pub fn of(problem: P) -> Self {
        Self {
            problem,
            vectors: 1,
            options: Options::default(),
            in_place: false,
        }
    }

    /// Sets the relative error allowed in each output, over all targets of all ranks.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.options.tolerance = Some(tolerance);
        self
    }

    /// Sets the device on which this rank sums: the same on every rank, or the rank's own GPU.
    pub fn device(mut self, device: Device) -> Self {
        self.options.device = device;
        self
    }

    /// Sets the number of strength vectors that one evaluation sums.
    pub fn vectors(mut self, vectors: usize) -> Self {
        self.vectors = vectors;
        self
    }

    /// Lets every rank sum at its own targets, without moving points, strengths and results. For points that are
    /// close together on each rank already, as after [`Plan::follow`].
    pub fn in_place(mut self) -> Self {
        self.in_place = true;
        self
    }

    /// Sets all options.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
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
    ) -> Result<Plan<'c, C, P, T, D>, Error>
    where
        P: Problem<D>,
    {
        Plan::new(ranks, self.clone(), points)
    }
}
