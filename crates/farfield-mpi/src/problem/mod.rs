//! What is summed: in space or in the plane.

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

/// Points that one rank has.
#[derive(Debug, Clone)]
pub struct Points<'a, T, const D: usize> {
    /// The sources.
    pub sources: &'a [[T; D]],
    /// The targets; `None` if they are the sources. Either all ranks have targets (of any number, also none), or no rank has.
    pub targets: Option<&'a [[T; D]]>,
    /// Core sizes or softening lengths of the sources: of the same kind on every rank.
    pub sizes: Sizes<T>,
}

impl<'a, T, const D: usize> Points<'a, T, D> {
    /// Sources that are the targets, without cores.
    pub fn new(sources: &'a [[T; D]]) -> Self {
        Self {
            sources,
            targets: None,
            sizes: Sizes::None,
        }
    }

    /// Evaluate at other points than the sources.
    pub fn targets(mut self, targets: &'a [[T; D]]) -> Self {
        self.targets = Some(targets);
        self
    }

    /// Core sizes or softening lengths.
    pub fn sizes(mut self, sizes: Sizes<T>) -> Self {
        self.sizes = sizes;
        self
    }
}

/// A kernel with its parameters and the outputs asked for, between points of `D` coordinates: [`Space`] or [`Plane`].
pub trait Problem<const D: usize>: Clone + fmt::Debug + Send + Sync {
    /// Space or the plane.
    type Geometry: Geometry<Output = Self::Output>;
    /// What can be computed.
    type Output: Copy + PartialEq + fmt::Debug + Send + Sync + 'static;

    /// What to compute.
    fn outputs(&self) -> &[Self::Output];

    /// The name of an output.
    fn name(output: Self::Output) -> &'static str;

    /// Numbers per target of an output.
    fn components(&self, output: Self::Output) -> usize;

    /// What strengths are.
    fn carried(&self) -> Carried;

    /// How many derivatives of the potential the outputs take, at least.
    fn derivatives(&self) -> usize;

    /// How far a core of this size differs from a point by more than the relative tolerance.
    fn reach(&self, size: f64, tolerance: f64) -> f64;

    /// The sum of one rank, to be planned.
    fn sum<'a, T: Precision>(
        &self,
        points: Points<'a, T, D>,
        vectors: usize,
        options: &Options,
    ) -> SumOf<'a, T, Self::Geometry>;

    /// Whether sources that are targets act on themselves.
    fn counts_self(&self) -> bool;

    /// What a source of this strength and size adds to an output at its own place, where that counts: components into `value`.
    fn at_itself(&self, output: Self::Output, strength: &[f64], size: f64, value: &mut [f64]);

    /// What a unit of strength contributes to an output at a distance $s$, about, without its sign: `(k, c)` for $c\,s^{-k}$, and
    /// $c\,|\log s|$ for `k = 0`.
    fn magnitude(&self, output: Self::Output) -> (i32, f64);

    /// Nanoseconds of one thread that a plan of these parameters over so many sources and targets is expected to take.
    fn work<T: Precision>(&self, plan: &Parameters, points: usize, has_sizes: bool, profile: &MachineProfile) -> f64;

    /// Values as a field, output by output.
    ///
    /// # Errors
    /// Those of [`Field::from_values`].
    fn field<T: Precision>(
        &self,
        vectors: usize,
        targets: usize,
        values: Vec<Vec<T>>,
    ) -> Result<Field<T, Self::Output>, Error>;
}
