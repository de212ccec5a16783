//! A plan and its evaluation.

use super::build::add_planning;
use super::check::Checker;
use super::field::Field;
use super::input::check_strengths;
use super::merge::{Merge, SpreadShape};
use super::permutation::{block_copy_len, by_target, for_targets, gather, ranks};
use super::units::{Units, multiply_by_two_to};
use crate::check::{Attempt, Check, correct};
use crate::direct::Direct;
use crate::error::Error;
use crate::fmm::Fmm;
use crate::geometry::Space;
use crate::kernel::{Kernel, Output, reference};
use crate::p2p::Pairs;
use crate::pages::{give_back, zeroed};
use crate::parallel::ScratchPool;
use crate::report::{Interactions, Phase, Seconds};
use crate::simd::{Real, SimdLevel};
use crate::sum::{Method, Request, Sum};
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

/// What does the summing.
#[derive(Debug)]
pub(super) enum Engine<T: Real> {
    Direct(Box<Direct<T, Pairs, 3>>),
    Tree(Box<Fmm<T>>),
}

impl<T: Real> Engine<T> {
    pub(super) fn sum_rows(&self) -> usize {
        match self {
            Engine::Direct(direct) => direct.sum_rows(),
            Engine::Tree(fmm) => fmm.near.rows(),
        }
    }

    /// The most targets whose sums lie together, sum by sum.
    fn largest_block(&self) -> usize {
        match self {
            Engine::Direct(direct) => direct.group_start(1),
            Engine::Tree(fmm) => {
                let targets = |leaf: &u32| fmm.layout.tree.nodes[*leaf as usize].target_count();
                fmm.layout.lists.leaves.iter().map(targets).max().unwrap_or(0)
            }
        }
    }
}

/// A planned sum: points, tree, lists, tables and memory. Evaluating it again costs no tree and no allocation.
#[derive(Debug)]
pub struct Plan<T: Real> {
    pub(super) request: Request<Space>,
    source_count: usize,
    target_count: usize,
    simd: SimdLevel,
    pub(super) parameters: Parameters,
    pub(super) notes: Vec<String>,
    pub(super) engine: Engine<T>,
    /// Strengths, stream by stream in the engine's order.
    strengths: Vec<T>,
    /// Sums in the engine's order: block by block as the engine leaves them, then target by target.
    sums: Vec<T>,
    /// A buffer for each thread, for a block of sums.
    copies: ScratchPool<T>,
    /// Where each of the caller's targets is in the engine's order; empty for the same order.
    pub(super) rank: Vec<u32>,
    /// The caller's numbers of the sources and targets of an engine that became a direct sum.
    pub(super) direct_permutations: Option<(Vec<u32>, Vec<u32>)>,
    /// What looks at the error of every evaluation.
    checker: Option<Box<Checker>>,
    /// By how much the last sum was to become more exact.
    pub(super) last_factor: f64,
    /// Whether memory goes back to the system after an evaluation.
    is_sparing: bool,
    pub(super) merge: Option<Box<(Merge<T, 3>, Field<T>)>>,
    /// The units of points and constant, and the kernel in the caller's units.
    pub(super) units: (Units, Kernel),
    /// Strengths in units of their own, where the caller's do not do.
    scaled_strengths: Vec<T>,
    pub(super) planning: f64,
    seconds: Seconds,
    evaluated: bool,
}

impl<T: Real> Plan<T> {
    /// The engine of a method with a tree.
    #[cfg(test)]
    pub(crate) fn tree_engine(&mut self) -> Option<&mut Fmm<T>> {
        match &mut self.engine {
            Engine::Direct(_) => None,
            Engine::Tree(fmm) => Some(fmm),
        }
    }

    pub(super) fn new(sum: &Sum<T, Space>, engine: Engine<T>, mut parameters: Parameters, notes: Vec<String>) -> Self {
        let counts = sum.points.counts();
        let (sources, targets) = (counts.sources, counts.targets());
        let (rank, simd) = match &engine {
            Engine::Direct(direct) => {
                parameters.interactions.p2p = sources as u64 * targets as u64;
                (Vec::new(), direct.simd)
            }
            Engine::Tree(fmm) => {
                let permutation = fmm.layout.tree.target_permutation();
                (ranks(permutation), fmm.near.simd)
            }
        };
        let rows = engine.sum_rows();
        let request = sum.request;
        let checks = request.options.check && sources > 0 && targets > 0 && !request.outputs.is_empty();
        Self {
            checker: checks.then(|| Box::new(Checker::new(&engine))),
            direct_permutations: None,
            last_factor: 0.0,
            is_sparing: false,
            request: request.clone(),
            source_count: sources,
            target_count: targets,
            simd,
            parameters,
            notes,
            strengths: zeroed(
                T::ZERO,
                request.vectors * request.kernel.strength_components() * sources,
            ),
            sums: zeroed(T::ZERO, rows * targets),
            copies: ScratchPool::new(block_copy_len(rows, engine.largest_block())),
            rank,
            engine,
            merge: None,
            units: (Units::default(), request.kernel),
            scaled_strengths: Vec::new(),
            planning: 0.0,
            seconds: Seconds::default(),
            evaluated: false,
        }
    }

    /// The plan of distinct points becomes that of all points.
    pub(super) fn with_merge(mut self, sum: &Sum<T, Space>, merge: Merge<T, 3>, notes: Vec<String>) -> Self {
        let inner = Field::zeros(&self.request, self.target_count);
        self.notes.extend(notes);
        let counts = sum.points.counts();
        (self.source_count, self.target_count) = (counts.sources, counts.targets());
        self.checker = self
            .checker
            .map(|checker| Box::new(checker.with_times(merge.targets_at_places())));
        self.merge = Some(Box::new((merge, inner)));
        self
    }

    /// The plan of points in other units becomes that of the caller's.
    pub(super) fn in_units(mut self, units: Units, kernel: Kernel) -> Self {
        self.units = (units, kernel);
        self
    }

    /// Sums for the given strengths: `strengths[(vector * sources + source) * components + component]`.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::NotFinite`] if the strengths do not fit the plan, [`Error::Overflow`] if a result
    /// does not fit the precision.
    pub fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T>, Error> {
        let mut field = self.field();
        self.evaluate_into(strengths, &mut field)?;
        Ok(field)
    }

    /// An empty field of the right size for [`Plan::evaluate_into`].
    pub fn field(&self) -> Field<T> {
        Field::zeros(&self.request, self.target_count)
    }

    /// [`Plan::evaluate`] into memory that is already there.
    ///
    /// # Errors
    /// As [`Plan::evaluate`], and [`Error::Length`] if `field` is not of this plan's size.
    pub fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
        T::evaluate(self, strengths, field)
    }

    /// From now on, gives memory back to the system as soon as an evaluation is done with it; the next evaluation is a little slower for
    /// it. For plans that are kept while others are evaluated, or that are evaluated once.
    pub fn spare_memory(&mut self) {
        self.is_sparing = true;
        if let Engine::Tree(fmm) = &mut self.engine {
            fmm.far.is_sparing = true;
        }
    }

    fn give_back(&mut self) {
        if let Engine::Tree(fmm) = &mut self.engine {
            fmm.give_back();
        }
        for values in [&mut self.strengths, &mut self.sums] {
            give_back(values);
        }
    }

    pub(crate) fn check_and_sum(&mut self, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
        let start = Instant::now();
        let components = self.request.kernel.strength_components();
        let largest = check_strengths(strengths, self.source_count, components, self.request.vectors)?;
        field.check_shape(&self.request, self.target_count)?;
        let mut seconds = Seconds::default();
        let (form, units) = (self.request.kernel.form(), self.units.0);
        let mut unit = Units::of_strengths::<T>(largest);
        if unit == 0 && units.keep_strengths(form) {
            self.sum_all(strengths, field, &mut seconds);
        } else {
            let mut scaled = std::mem::take(&mut self.scaled_strengths);
            scaled.clear();
            scaled.extend_from_slice(strengths);
            unit = units.scale_strengths(form, &mut scaled);
            self.sum_all(&scaled, field, &mut seconds);
            self.scaled_strengths = scaled;
        }
        for (output, values) in self.request.outputs.iter().zip(&mut field.values) {
            multiply_by_two_to(values, self.units.0.of_output(*output, unit));
        }
        seconds.total = start.elapsed().as_secs_f64();
        if !self.evaluated {
            add_planning(&mut seconds, self.planning);
        }
        self.evaluated = true;
        self.seconds = seconds;
        if self.is_sparing {
            self.give_back();
        }
        field.check_finite(largest)
    }

    /// Sums over the plan's points, or over distinct ones on behalf of all.
    fn sum_all(&mut self, strengths: &[T], field: &mut Field<T>, seconds: &mut Seconds) {
        let Some(mut merge) = self.merge.take() else {
            return self.sum_and_check(strengths, field, seconds);
        };
        let (points, inner) = &mut *merge;
        points.add_up(
            strengths,
            self.request.kernel.strength_components(),
            self.request.vectors,
        );
        self.sum_and_check(&points.strengths, inner, seconds);
        field.copy_check(inner);
        let shape = SpreadShape {
            vectors: self.request.vectors,
            strengths: self.request.kernel.strength_components(),
        };
        let (kernel, outputs) = (self.request.kernel, &self.request.outputs);
        let at_place = |k: usize, strength: &[f64], size: f64, sums: &mut [f64]| {
            if !kernel.is_singular(size > 0.0) {
                reference::add_pair(kernel, outputs[k], [0.0; 3], strength, size, sums);
            }
        };
        points.spread(&shape, strengths, &inner.values, &mut field.values, &at_place);
        self.merge = Some(merge);
    }

    /// Sums, looks at the error, and sums again more exactly where it exceeds the tolerance.
    fn sum_and_check(&mut self, strengths: &[T], field: &mut Field<T>, seconds: &mut Seconds) {
        self.sum(strengths, field, seconds);
        let Some(mut checker) = self.checker.take() else {
            field.check = None;
            return;
        };
        // Its memory is used again.
        let mut check = field.check.take().unwrap_or_default();
        check.warnings.clear();
        check.attempts = 1;
        seconds.time(Phase::Check, || {
            checker.measure(self, field, self.tolerance(), &mut check)
        });
        if let Some(tolerance) = self.tolerance() {
            let again = |factor: f64, check: &mut Check| {
                if !self.become_more_exact(&checker, factor, check) {
                    return Ok::<_, Infallible>(Attempt::NoBetterWay);
                }
                self.sum(strengths, field, seconds);
                seconds.time(Phase::Check, || checker.measure(self, field, Some(tolerance), check));
                Ok(Attempt::Done)
            };
            let Ok(()) = correct(tolerance, &mut check, again);
        }
        field.check = Some(check);
        self.checker = Some(checker);
    }

    /// Strengths, stream by stream in the engine's order.
    pub(super) fn sorted_strengths(&self) -> &[T] {
        &self.strengths
    }

    /// The steps every method shares: strengths into the engine's order, the engine, results into the caller's order.
    fn sum(&mut self, strengths: &[T], field: &mut Field<T>, seconds: &mut Seconds) {
        self.order_strengths(strengths);
        match &mut self.engine {
            Engine::Direct(direct) => direct.evaluate(&self.strengths, &mut self.sums, seconds),
            Engine::Tree(fmm) if self.parameters.method == Method::Fmm => {
                fmm.evaluate(&self.strengths, &mut self.sums, seconds);
            }
            Engine::Tree(fmm) => fmm.evaluate_treecode(&self.strengths, &mut self.sums, seconds),
        }
        self.order_sums();
        self.write_outputs(field);
    }

    fn order_strengths(&mut self, strengths: &[T]) {
        let components = self.request.kernel.strength_components();
        let sources = self.strengths.len() / (self.request.vectors * components);
        if sources == 0 {
            return;
        }
        let permutation: Option<&[u32]> = match &self.engine {
            Engine::Direct(_) => self.direct_permutations.as_ref().map(|(sources, _)| &sources[..]),
            Engine::Tree(fmm) => Some(&fmm.layout.tree.source_permutation),
        };
        for (stream, out) in self.strengths.chunks_mut(sources).enumerate() {
            let (vector, component) = (stream / components, stream % components);
            gather(
                out,
                permutation,
                &strengths[vector * sources * components + component..],
                components,
            );
        }
    }

    /// From the engine's blocks (sum by sum) to target by target.
    fn order_sums(&mut self) {
        let (rows, copies) = (self.engine.sum_rows(), &self.copies);
        match &self.engine {
            Engine::Direct(direct) => {
                by_target(&mut self.sums, rows, direct.groups(), |k| direct.group_start(k), copies);
            }
            Engine::Tree(fmm) => {
                let leaves = &fmm.layout.lists.leaves;
                let start = |k: usize| fmm.layout.tree.nodes[leaves[k] as usize].targets.start as usize;
                by_target(&mut self.sums, rows, leaves.len(), start, copies);
            }
        }
    }

    fn write_outputs(&self, field: &mut Field<T>) {
        let rows = self.engine.sum_rows();
        let per_vector = rows / self.request.vectors;
        let targets = field.targets();
        for (output, values) in self.request.outputs.iter().zip(&mut field.values) {
            let components = output.components();
            let first = first_sum(*output);
            let scale = T::from_f64(self.request.kernel.scale(*output));
            for (vector, values) in values.chunks_mut((targets * components).max(1)).enumerate() {
                let at = vector * per_vector + first;
                for_targets(values, components, (&self.sums, rows), &self.rank, |sums, out| {
                    for (value, sum) in out.iter_mut().zip(&sums[at..]) {
                        *value = scale * *sum;
                    }
                });
            }
        }
    }

    /// Whether evaluating takes longer than waking other threads.
    pub(crate) fn deserves_threads(&self) -> bool {
        match &self.engine {
            Engine::Direct(direct) => direct.deserves_threads(),
            Engine::Tree(_) => true,
        }
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.units.1
    }

    /// The outputs.
    pub fn outputs(&self) -> &[Output] {
        &self.request.outputs
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
        self.simd
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
        self.source_count
    }

    /// How many targets there are.
    pub fn target_count(&self) -> usize {
        self.target_count
    }
}

/// Where an output starts among the sums of a target.
pub fn first_sum(output: Output) -> usize {
    match output {
        Output::Potential | Output::Velocity => 0,
        Output::Gradient | Output::Acceleration => 1,
        Output::Hessian => 4,
        Output::VelocityGradient => 3,
    }
}
