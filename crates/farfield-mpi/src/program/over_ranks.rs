//! Converts the problems of the command line to problems of sums over ranks.

use farfield::kernel::Sizes;
use farfield::plane::Interaction;
use farfield::{Options, Precision, Request};
use farfield_cli::problem::{Plane, Problem, Space};
use farfield_mpi as over;

/// A problem of the command line that can be summed over ranks.
pub trait OverRanks<const D: usize>: Problem<D> {
    /// The problem of the sum over ranks.
    type Over: over::Shared<D>;

    /// Converts the problem.
    fn request(&self, vectors: usize, options: &Options) -> Request<Self::Over>;

    /// The core size or softening length.
    fn size(&self) -> Option<f64>;

    /// The core sizes for the sum.
    fn sizes<T: Precision>(&self) -> Sizes<T> {
        self.size().map_or(Sizes::None, |size| Sizes::Global(T::from_f64(size)))
    }
}

impl OverRanks<3> for Space {
    type Over = farfield::Space;

    fn request(&self, vectors: usize, options: &Options) -> Request<Self::Over> {
        Request {
            kernel: self.kernel,
            outputs: self.outputs.clone(),
            vectors,
            options: options.clone(),
        }
    }

    fn size(&self) -> Option<f64> {
        self.size
    }
}

impl OverRanks<2> for Plane {
    type Over = farfield::plane::Plane;

    fn request(&self, vectors: usize, options: &Options) -> Request<Self::Over> {
        Request {
            kernel: Interaction {
                kernel: self.kernel,
                core: self.core,
                complex: self.complex,
            },
            outputs: self.outputs.clone(),
            vectors,
            options: options.clone(),
        }
    }

    fn size(&self) -> Option<f64> {
        self.size
    }
}
