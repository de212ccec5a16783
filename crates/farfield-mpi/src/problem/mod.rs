//! The problem of a sum over ranks: in space or in the plane.

mod plane;
mod space;

pub use plane::Plane;
pub use space::Space;

use crate::equivalent::Carried;
use farfield::kernel::Sizes;
use farfield::plan::Parameters;
use farfield::tuning::MachineProfile;
use farfield::{Error, Field, Geometry, Options, Precision, SumOf};
use std::fmt;

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

/// A kernel with its parameters and outputs, between points with `D` coordinates: [`Space`] or [`Plane`].
pub trait Problem<const D: usize>: Clone + fmt::Debug + Send + Sync {
    /// Space or the plane.
    type Geometry: Geometry<Output = Self::Output>;
    /// A quantity that can be computed.
    type Output: Copy + PartialEq + fmt::Debug + Send + Sync + 'static;

    /// The quantities to compute.
    fn outputs(&self) -> &[Self::Output];

    /// The name of an output.
    fn name(output: Self::Output) -> &'static str;

    /// The number of components of an output at a target.
    fn components(&self, output: Self::Output) -> usize;

    /// The form of the strengths.
    fn carried(&self) -> Carried;

    /// The lowest order of derivative of the potential among the outputs.
    fn derivatives(&self) -> usize;

    /// The distance within which a core of this size differs from a point by more than the relative tolerance.
    fn reach(&self, size: f64, tolerance: f64) -> f64;

    /// The sum of one rank, to be planned.
    fn sum<'a, T: Precision>(
        &self,
        points: Points<'a, T, D>,
        vectors: usize,
        options: &Options,
    ) -> SumOf<'a, T, Self::Geometry>;

    /// Whether a source that is a target acts on itself.
    fn counts_self(&self) -> bool;

    /// Writes the self term to `value`: the contribution of a source of this strength and size to an output at its own
    /// position.
    fn at_itself(&self, output: Self::Output, strength: &[f64], size: f64, value: &mut [f64]);

    /// The approximate magnitude of the contribution of a unit strength to an output at a distance $s$: `(k, c)` for
    /// $c\,s^{-k}$, and for `k = 0` $c\,|\log s|$.
    fn magnitude(&self, output: Self::Output) -> (i32, f64);

    /// The forecast cost in nanoseconds of one thread of a plan with these parameters over `points` sources and
    /// targets.
    fn work<T: Precision>(&self, plan: &Parameters, points: usize, has_sizes: bool, profile: &MachineProfile) -> f64;

    /// Makes a field from the values of each output.
    ///
    /// # Errors
    /// As [`Field::from_values`].
    fn field<T: Precision>(
        &self,
        vectors: usize,
        targets: usize,
        values: Vec<Vec<T>>,
    ) -> Result<Field<T, Self::Output>, Error>;
}
