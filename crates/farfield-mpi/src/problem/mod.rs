//! The problem of a sum over ranks: in space or in the plane.

mod plane;
mod space;

use crate::equivalent::Carried;
use farfield::kernel::Sizes;
use farfield::plan::Parameters;
use farfield::tuning::MachineProfile;
use farfield::{Geometry, Precision, Request, SumOf};

/// The points of one rank.
#[derive(Debug, Clone)]
pub struct Points<'a, T, const D: usize> {
    /// The sources.
    pub sources: &'a [[T; D]],
    /// The targets; `None` if they are the sources. Either all ranks give targets (any number, including zero), or
    /// none does.
    pub targets: Option<&'a [[T; D]]>,
    /// Core sizes or softening lengths of the sources; the same variant on every rank.
    pub sizes: Sizes<T>,
}

impl<'a, T, const D: usize> Points<'a, T, D> {
    /// Sources without cores that are also the targets.
    pub fn new(sources: &'a [[T; D]]) -> Self {
        Self {
            sources,
            targets: None,
            sizes: Sizes::None,
        }
    }

    /// Sets targets other than the sources.
    pub fn targets(mut self, targets: &'a [[T; D]]) -> Self {
        self.targets = Some(targets);
        self
    }

    /// Sets core sizes or softening lengths.
    pub fn sizes(mut self, sizes: Sizes<T>) -> Self {
        self.sizes = sizes;
        self
    }
}

/// A geometry whose sums can be shared by ranks: points of `D` coordinates, in [`farfield::Space`] or in
/// [`farfield::plane::Plane`].
pub trait Shared<const D: usize>: Geometry {
    /// What strengths are.
    fn carried(kernel: Self::Kernel) -> Carried;

    /// The least number of derivatives of the potential that an output takes.
    fn derivatives(request: &Request<Self>) -> usize;

    /// The distance up to which a core of this size differs from a point by more than the relative tolerance.
    fn reach(request: &Request<Self>, size: f64, tolerance: f64) -> f64;

    /// The sum of one rank, to be planned.
    fn sum<'a, T: Precision>(request: Request<Self>, points: Points<'a, T, D>) -> SumOf<'a, T, Self>;

    /// The value that a source of this strength and size adds to an output at its own place: components into `value`.
    fn at_itself(kernel: Self::Kernel, output: Self::Output, strength: &[f64], size: f64, value: &mut [f64]);

    /// About what a unit of strength contributes to an output at a distance $s$, without its sign: `(k, c)` for $c\,s^{-k}$, and
    /// $c\,|\log s|$ for `k = 0`.
    fn magnitude(kernel: Self::Kernel, output: Self::Output) -> (i32, f64);

    /// Nanoseconds of one thread that a plan of these parameters over `points` sources and targets is expected to take.
    fn work<T: Precision>(
        request: &Request<Self>,
        plan: &Parameters,
        points: usize,
        has_sizes: bool,
        profile: &MachineProfile,
    ) -> f64;
}
