//! The parts of a plan that depend on the geometry.

use super::check::{Checker, Miss};
use super::units::Units;
use super::{Field, Parameters, Plan};
use crate::check::compare::AtDrawn;
use crate::check::sample::Sample;
use crate::check::truth::TrueTargets;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::p2p::{PairSums, Skip, SortedSizes};
use crate::report::Seconds;
use crate::simd::Real;
use crate::sum::{Method, Request, Sum};
use std::fmt::Debug;
use std::ops::Range;

/// A geometry whose sums can be planned; `G` is the geometry itself. A plan sums in passes: in space one for all strength
/// vectors, in the plane one for each vector, or for each part of it where parts are summed one by one.
pub(crate) trait Planned<G: Geometry>: Sized {
    /// The number of points for which one thread plans in the time to wake another.
    const SMALL: usize;
    /// The direct sum.
    type Direct<T: Real>: Summation<T>;
    /// The methods with a tree.
    type Tree<T: Real>: Summation<T>;
    /// The memory for true sums at a few targets, reused from evaluation to evaluation.
    type Truth: Debug + Default + Send + Sync;

    /// Plans through the door of the precision.
    fn plan<T: Real>(sum: Sum<'_, T, G>) -> Result<Plan<T, G>, Error>;
    /// Evaluates through the door of the precision.
    fn evaluate<T: Real>(plan: &mut Plan<T, G>, strengths: &[T], field: &mut Field<T, G>) -> Result<(), Error>;
    /// Checks the input and builds the plan; adds the seconds of phases other than the tree to `planning`.
    fn build<T: Real>(sum: Sum<'_, T, G>, planning: &mut Seconds) -> Result<Plan<T, G>, Error>;

    /// Puts the strengths into `scaled` in other units, if these are needed, and returns the exponent of two of the unit.
    /// `largest` is the largest magnitude of the strengths.
    fn scale_strengths<T: Real>(_: &Plan<T, G>, _strengths: &[T], _largest: f64, _scaled: &mut Vec<T>) -> Option<i32> {
        None
    }
    /// The exponent of two of an output's unit, where strengths have the unit `strengths`.
    fn output_unit(_: Units, _: G::Output, _strengths: i32) -> i32 {
        0
    }
    /// A function that writes an output of one target from its sums of one strength vector. `part` is the first part of the
    /// strengths in the pass.
    fn writer<T: Real>(kernel: G::Kernel, output: G::Output, part: usize) -> impl Fn(&[T], &mut [T]) + Sync;
    /// Adds what a source at the target's own place contributes to an output.
    fn add_at_place(kernel: G::Kernel, output: G::Output, strength: &[f64], size: f64, sums: &mut [f64]);

    /// Prepares [`Planned::expected_at`]; `squares` are the squared norms of the outputs.
    fn expect<T: Real>(_: &mut Self::Truth, _: &Plan<T, G>, _squares: &[f64]) {}
    /// The squared error that the tree is expected to make at a target of its own order, in any unit.
    fn expected_at<T: Real>(truth: &Self::Truth, tree: &Self::Tree<T>, target: usize) -> f64;
    /// Sums over all sources at the drawn targets.
    fn sum_truth<T: Real>(
        truth: &mut Self::Truth,
        plan: &Plan<T, G>,
        strengths: &[T],
        sample: &Sample,
        values: &mut AtDrawn,
    );
    /// Raises the order of the expansions; returns false where that is impossible or in vain.
    fn raise_order<T: Real>(
        tree: &mut Self::Tree<T>,
        parameters: &mut Parameters,
        request: &Request<G>,
        checker: &Checker<G>,
        miss: &Miss,
    ) -> bool;
    /// Moves the points of a tree, in its order, into a direct sum of full accuracy.
    fn take_direct<T: Real>(tree: &mut Self::Tree<T>) -> Self::Direct<T>;
}

/// A way to sum over points in an order of its own.
pub(crate) trait Summation<T: Real>: Debug + Send + Sync {
    /// Sums per target in one pass.
    fn rows(&self) -> usize;
    /// Numbers of strength per source in one pass.
    fn streams(&self) -> usize;
    /// The caller's number of each source; `None` for the same order.
    fn source_permutation(&self) -> Option<&[u32]>;
    /// The caller's number of each target; `None` for the same order.
    fn target_permutation(&self) -> Option<&[u32]>;
    /// The number of blocks of targets whose sums lie together, sum by sum.
    fn blocks(&self) -> usize;
    /// The targets of a block.
    fn block(&self, block: usize) -> Range<usize>;
    /// Fills `sums`, block by block, from strengths, stream by stream; `method` is the plan's.
    fn sum(&mut self, method: Method, strengths: &[T], sums: &mut [T], seconds: &mut Seconds);
    /// Sums pairs with the full accuracy of the precision from now on; returns false if it did already.
    fn make_exact(&mut self) -> bool;
    /// Whether evaluating takes longer than waking other threads.
    fn deserves_threads(&self) -> bool;
    /// Returns the memory that an evaluation fills to the system, until the next evaluation.
    fn give_back(&mut self) {}
}

/// The summation of a plan.
#[derive(Debug)]
pub(crate) enum Engine<T: Real, G: Geometry> {
    Direct(Box<G::Direct<T>>),
    Tree(Box<G::Tree<T>>),
}

// Only for code behind the doors of a precision: elsewhere, `dyn` would have another crate compile all of a summation.
impl<T: Real, G: Geometry> Engine<T, G> {
    pub fn summation(&self) -> &dyn Summation<T> {
        match self {
            Engine::Direct(direct) => &**direct,
            Engine::Tree(tree) => &**tree,
        }
    }

    pub fn summation_mut(&mut self) -> &mut dyn Summation<T> {
        match self {
            Engine::Direct(direct) => &mut **direct,
            Engine::Tree(tree) => &mut **tree,
        }
    }
}

/// The points of an engine in `D` dimensions, in its order.
pub(crate) struct View<'a, T, P, const D: usize> {
    pub pairs: P,
    pub sources: [&'a [T]; D],
    /// `None` if the sources are the targets.
    pub targets: Option<[&'a [T]; D]>,
    pub size2: &'a SortedSizes<T>,
}

impl<T: Real, P: PairSums<D>, const D: usize> View<'_, T, P, D> {
    /// Sets `targets` to the drawn targets of a sample; `index` returns the index of a target in the engine's order.
    pub fn set_targets(&self, targets: &mut TrueTargets<D>, sample: &Sample, index: impl Fn(usize) -> usize) {
        let counts_itself = self.pairs.own_skip(self.targets.is_none()) == Skip::SameIndex;
        targets.set(sample, self.targets.unwrap_or(self.sources), counts_itself, index);
    }
}
