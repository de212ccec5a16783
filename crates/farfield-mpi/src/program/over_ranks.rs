//! Converts the problems of the command line to problems of sums over ranks.

use farfield::Precision;
use farfield::kernel::Sizes;
use farfield_cli::problem::{Plane, Problem, Space};
use farfield_mpi as over;

/// A problem of the command line that can be summed over ranks.
pub trait OverRanks<const D: usize>: Problem<D> {
    /// The problem of the sum over ranks.
    type Over: over::Problem<D, Output = Self::Output, Geometry = Self::Geometry>;

    /// Converts the problem.
    fn over_ranks(&self) -> Self::Over;

    /// The core size or softening length.
    fn size(&self) -> Option<f64>;

    /// The core sizes for the sum.
    fn sizes<T: Precision>(&self) -> Sizes<T> {
        self.size().map_or(Sizes::None, |size| Sizes::Global(T::from_f64(size)))
    }
}

impl OverRanks<3> for Space {
    type Over = over::Space;

    fn over_ranks(&self) -> over::Space {
        over::Space {
            allow_unbounded_gradient: self.allow_unbounded_gradient,
            ..over::Space::new(self.kernel, &self.outputs)
        }
    }

    fn size(&self) -> Option<f64> {
        self.size
    }
}

impl OverRanks<2> for Plane {
    type Over = over::Plane;

    fn over_ranks(&self) -> over::Plane {
        over::Plane {
            core: self.core,
            complex: self.complex,
            ..over::Plane::new(self.kernel, &self.outputs)
        }
    }

    fn size(&self) -> Option<f64> {
        self.size
    }
}
