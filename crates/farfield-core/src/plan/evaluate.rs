//! A plan and its evaluation.

use super::check::Checker;
use super::engine::Engine;
use super::field::Field;
use super::input::check_strengths;
use super::merge::{Merge, SpreadShape};
use super::permutation::{block_copy_len, by_target, for_targets, gather, ranks};
use super::units::{Units, multiply_by_two_to};
use crate::check::{Attempt, Check, correct};
use crate::error::Error;
use crate::geometry::{Geometry, Space};
use crate::pages::{give_back, zeroed};
use crate::parallel::ScratchPool;
use crate::report::{Interactions, Phase, Seconds};
use crate::simd::{Real, SimdLevel};
use crate::sum::{Counts, Method, Request, Sum};
use std::convert::Infallible;
use std::time::Instant;

/// The parameters a plan settled on.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parameters {
    /// The method; never [`Method::Auto`].
    pub method: Method,
    /// The highest degree kept in expansions.
    pub order: Option<usize>,
    /// The lowest order any M2L translation uses.
    pub lowest_m2l_order: Option<usize>,
    /// The treecode's opening criterion.
    pub theta: Option<f64>,
    /// How many points a box may hold.
    pub leaf_capacity: Option<usize>,
    /// The number of the deepest level.
    pub depth: Option<usize>,
    /// Boxes in the tree.
    pub boxes: usize,
    /// Interactions of one evaluation.
    pub interactions: Interactions,
}

impl Parameters {
    /// Those of a direct sum over `pairs` pairs.
    pub(crate) fn of_direct(pairs: u64) -> Self {
        let mut parameters = Self {
            method: Method::Direct,
            ..Self::default()
        };
        parameters.interactions.p2p = pairs;
        parameters
    }
}

/// Merged points, and the field at the distinct ones.
type Merged<T, G> = (Merge<T>, Field<T, G>);

/// A planned sum: points, tree, lists, tables and memory. Evaluating it again costs no tree and no allocation.
#[derive(Debug)]
pub struct Plan<T: Real, G: Geometry = Space> {
    pub(crate) request: Request<G>,
    /// The caller's points.
    counts: Counts,
    /// The points that the engine sums over: distinct ones where points are merged.
    pub(super) summed: Counts,
    pub(super) parameters: Parameters,
    pub(super) notes: Vec<String>,
    pub(crate) engine: Engine<T, G>,
    /// The strengths of one pass, stream by stream in the engine's order.
    pub(super) strengths: Vec<T>,
    /// Sums in the engine's order: block by block as the engine leaves them, then target by target.
    sums: Vec<T>,
    /// A buffer for each thread, for a block of sums.
    copies: ScratchPool<T>,
    /// The place of each of the caller's targets in the engine's order; empty for the same order.
    rank: Vec<u32>,
    /// Measures the error of every evaluation.
    checker: Option<Box<Checker<G>>>,
    /// The factor by which the last sum was to become more exact.
    pub(super) last_factor: f64,
    /// Whether memory goes back to the system after an evaluation.
    pub(super) is_sparing: bool,
    merge: Option<Box<Merged<T, G>>>,
    /// The units of points and constant.
    pub(super) units: Units,
    /// Strengths in other units, where the caller's do not do.
    scaled_strengths: Vec<T>,
    pub(super) planning: Seconds,
    seconds: Seconds,
    evaluated: bool,
}

impl<T: Real, G: Geometry> Plan<T, G> {
    pub(crate) fn new(sum: &Sum<T, G>, engine: Engine<T, G>, parameters: Parameters, notes: Vec<String>) -> Self {
        let (request, counts) = (sum.request, sum.points.counts());
        let checks = request.options.check && counts.sources > 0 && counts.targets() > 0 && !request.outputs.is_empty();
        let summation = engine.summation();
        let rows = summation.rows();
        let largest_block = (0..summation.blocks()).map(|k| summation.block(k).len()).max();
        Self {
            checker: checks.then(|| Box::new(Checker::new(counts, matches!(engine, Engine::Tree(_))))),
            last_factor: 0.0,
            is_sparing: false,
            request: request.clone(),
            counts,
            summed: counts,
            parameters,
            notes,
            strengths: zeroed(T::ZERO, summation.streams() * counts.sources),
            sums: zeroed(T::ZERO, rows * counts.targets()),
            copies: ScratchPool::new(block_copy_len(rows, largest_block.unwrap_or(0))),
            rank: summation.target_permutation().map(ranks).unwrap_or_default(),
            engine,
            merge: None,
            units: Units::default(),
            scaled_strengths: Vec::new(),
            planning: Seconds::default(),
            seconds: Seconds::default(),
            evaluated: false,
        }
    }

    /// The plan of distinct points becomes that of the caller's points, `counts` of them.
    pub(super) fn with_merge(mut self, counts: Counts, merge: Merge<T>, notes: Vec<String>) -> Self {
        let inner = self.field();
        self.notes.extend(notes);
        self.counts = counts;
        if let Some(checker) = &mut self.checker {
            checker.look.times = merge.targets_at_places();
        }
        self.merge = Some(Box::new((merge, inner)));
        self
    }

    /// Sums for the given strengths: `strengths[(vector * sources + source) * components + component]`. Complex strengths
    /// have the components real and imaginary part.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::NotFinite`] if the strengths do not fit the plan, [`Error::Overflow`] if a result
    /// does not fit the precision.
    pub fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T, G>, Error> {
        let mut field = self.field();
        self.evaluate_into(strengths, &mut field)?;
        Ok(field)
    }

    /// An empty field of the right size for [`Plan::evaluate_into`].
    pub fn field(&self) -> Field<T, G> {
        Field::zeros(&self.request, self.target_count())
    }

    /// [`Plan::evaluate`] into memory that is already there.
    ///
    /// # Errors
    /// As [`Plan::evaluate`], and [`Error::Length`] if `field` is not of this plan's size.
    pub fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T, G>) -> Result<(), Error> {
        G::evaluate(self, strengths, field)
    }

    /// Numbers of strength per source.
    pub(crate) fn components(&self) -> usize {
        G::strength_components(self.request.kernel)
    }

    pub(crate) fn check_and_sum(&mut self, strengths: &[T], field: &mut Field<T, G>) -> Result<(), Error> {
        let start = Instant::now();
        let largest = check_strengths(strengths, self.counts.sources, self.components(), self.request.vectors)?;
        field.check_shape(&self.request, self.target_count())?;
        let mut seconds = Seconds::default();
        let mut scaled = std::mem::take(&mut self.scaled_strengths);
        let unit = G::scale_strengths(self, strengths, largest, &mut scaled);
        let summed = if unit.is_some() { &scaled[..] } else { strengths };
        self.sum_all(summed, field, &mut seconds);
        self.scaled_strengths = scaled;
        for (output, values) in self.request.outputs.iter().zip(&mut field.values) {
            multiply_by_two_to(values, G::output_unit(self.units, *output, unit.unwrap_or(0)));
        }
        seconds.total = start.elapsed().as_secs_f64();
        if !self.evaluated {
            for phase in [Phase::Tree, Phase::Sort, Phase::Connect] {
                seconds.add(phase, self.planning.of(phase));
            }
            seconds.total += self.planning.total;
        }
        self.evaluated = true;
        self.seconds = seconds;
        if self.is_sparing {
            self.engine.summation_mut().give_back();
            for values in [&mut self.strengths, &mut self.sums] {
                give_back(values);
            }
        }
        field.check_finite(largest)
    }

    /// Sums over the plan's points, or over distinct ones on behalf of all.
    fn sum_all(&mut self, strengths: &[T], field: &mut Field<T, G>, seconds: &mut Seconds) {
        let Some(mut merge) = self.merge.take() else {
            return self.sum_and_check(strengths, field, seconds);
        };
        let (points, inner) = &mut *merge;
        let shape = SpreadShape {
            vectors: self.request.vectors,
            strengths: self.components(),
        };
        points.add_up(strengths, shape.strengths, shape.vectors);
        self.sum_and_check(&points.strengths, inner, seconds);
        field.copy_check(inner);
        let (kernel, outputs) = (self.request.kernel, &self.request.outputs);
        let at_place = |k: usize, strength: &[f64], size: f64, sums: &mut [f64]| {
            G::add_at_place(kernel, outputs[k], strength, size, sums);
        };
        points.spread(&shape, strengths, &inner.values, &mut field.values, &at_place);
        self.merge = Some(merge);
    }

    /// Sums, measures the error, and sums again more exactly where it exceeds the tolerance.
    fn sum_and_check(&mut self, strengths: &[T], field: &mut Field<T, G>, seconds: &mut Seconds) {
        self.sum(strengths, field, seconds);
        let Some(mut checker) = self.checker.take() else {
            field.check = None;
            return;
        };
        // Its memory is used again.
        let mut check = field.check.take().unwrap_or_default();
        check.warnings.clear();
        check.attempts = 1;
        seconds.time(Phase::Check, || checker.measure(self, strengths, field, &mut check));
        if let Some(tolerance) = self.tolerance() {
            let again = |factor: f64, check: &mut Check| {
                if !self.become_more_exact(&checker, factor, check) {
                    return Ok::<_, Infallible>(Attempt::NoBetterWay);
                }
                self.sum(strengths, field, seconds);
                seconds.time(Phase::Check, || checker.measure(self, strengths, field, check));
                Ok(Attempt::Done)
            };
            let Ok(()) = correct(tolerance, &mut check, again);
        }
        field.check = Some(check);
        self.checker = Some(checker);
    }

    /// The steps every method shares: strengths into the engine's order, the engine, results into the caller's order.
    fn sum(&mut self, strengths: &[T], field: &mut Field<T, G>, seconds: &mut Seconds) {
        let streams = self.engine.summation().streams();
        for first in (0..self.request.vectors * self.components()).step_by(streams) {
            self.order_strengths(strengths, first);
            let method = self.parameters.method;
            let summation = self.engine.summation_mut();
            summation.sum(method, &self.strengths, &mut self.sums, seconds);
            self.order_sums();
            self.write_outputs(field, first, streams);
        }
    }

    /// The strengths of a pass into the engine's order; `first` is the pass's first component, counted over all vectors.
    fn order_strengths(&mut self, strengths: &[T], first: usize) {
        let components = self.components();
        let sources = self.summed.sources;
        let permutation = self.engine.summation().source_permutation();
        for (k, out) in self.strengths.chunks_mut(sources.max(1)).enumerate() {
            let (vector, component) = ((first + k) / components, (first + k) % components);
            let from = &strengths[vector * sources * components + component..];
            gather(out, permutation, from, components);
        }
    }

    /// From the engine's blocks (sum by sum) to target by target.
    fn order_sums(&mut self) {
        let summation = self.engine.summation();
        let start = |k: usize| summation.block(k).start;
        by_target(
            &mut self.sums,
            summation.rows(),
            summation.blocks(),
            start,
            &self.copies,
        );
    }

    /// The outputs of a pass over `streams` components of the strengths, counted over all vectors from `first` on.
    fn write_outputs(&self, field: &mut Field<T, G>, first: usize, streams: usize) {
        let (kernel, components) = (self.request.kernel, self.components());
        let (vector, part) = (first / components, first % components);
        let vectors = (streams / components).max(1);
        let rows = self.engine.summation().rows();
        let targets = field.targets();
        for (output, values) in self.request.outputs.iter().zip(&mut field.values) {
            let components = G::output_components(kernel, *output);
            let write = G::writer(kernel, *output, part);
            let by_vector = values.chunks_mut((targets * components).max(1));
            for (k, values) in by_vector.skip(vector).take(vectors).enumerate() {
                let at = k * (rows / vectors);
                for_targets(values, components, (&self.sums, rows), &self.rank, |sums, out| {
                    write(&sums[at..], out);
                });
            }
        }
    }

    /// The place of one of the plan's targets in the engine's order.
    pub(crate) fn engine_index(&self, target: usize) -> usize {
        self.rank.get(target).map_or(target, |rank| *rank as usize)
    }

    /// What the plan settled on.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The tolerance; `None` where an expert fixed the order.
    pub fn tolerance(&self) -> Option<f64> {
        self.request.options.kept_tolerance::<T>()
    }

    /// The instruction set.
    pub fn simd(&self) -> SimdLevel {
        self.request.options.simd()
    }

    /// Remarks on choices the caller may want to know of.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Where the time of the last evaluation went; the first includes the planning.
    pub fn seconds(&self) -> &Seconds {
        &self.seconds
    }

    /// How many sources there are.
    pub fn source_count(&self) -> usize {
        self.counts.sources
    }

    /// How many targets there are.
    pub fn target_count(&self) -> usize {
        self.counts.targets()
    }
}
