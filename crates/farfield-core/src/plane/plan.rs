//! A plan in the plane and its evaluation.

use super::Field;
use super::check::Checker;
use super::fmm::PlaneFmm;
use super::kernel::{Interaction, Kernel, Output, pair};
use super::pairs::PlanePairs;
use crate::check::{Attempt, Check, correct};
use crate::direct::Direct;
use crate::error::Error;
use crate::geometry::{Geometry, Plane};
use crate::p2p::PairSums;
use crate::pages::zeroed;
use crate::parallel::ScratchPool;
use crate::plan::Parameters;
use crate::plan::input::check_strengths;
use crate::plan::merge::{Merge, SpreadShape};
use crate::plan::permutation::{block_copy_len, by_target, for_targets, gather, ranks};
use crate::report::{Phase, Seconds};
use crate::simd::{Real, SimdLevel};
use crate::sum::{Request, Sum};
use std::convert::Infallible;
use std::time::Instant;

/// What does the summing.
#[derive(Debug)]
pub(super) enum Engine<T: Real> {
    Direct(Box<Direct<T, PlanePairs, 2>>),
    Fmm(Box<PlaneFmm<T>>),
}

impl<T: Real> Engine<T> {
    /// The most targets whose sums lie together, sum by sum.
    fn largest_block(&self) -> usize {
        match self {
            Engine::Direct(direct) => direct.group_start(1),
            Engine::Fmm(fmm) => {
                let starts = fmm.pyramid.targets().leaf_start.windows(2);
                starts.map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0)
            }
        }
    }
}

/// A planned sum in the plane. Evaluating it again costs no tree and no allocation.
#[derive(Debug)]
pub struct Plan<T: Real> {
    pub(super) request: Request<Plane>,
    /// Numbers per target of each output.
    pub(super) components: Vec<usize>,
    source_count: usize,
    target_count: usize,
    simd: SimdLevel,
    pub(super) parameters: Parameters,
    pub(super) notes: Vec<String>,
    pub(super) engine: Engine<T>,
    /// Sums per target.
    rows: usize,
    /// Numbers of strength per source that one run of the engine takes.
    parts_per_run: usize,
    /// One run's strengths in the engine's order, part by part.
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
    merge: Option<Box<(Merge<T, 2>, Field<T>)>>,
    pub(super) planning: Seconds,
    seconds: Seconds,
    evaluated: bool,
}

impl<T: Real> Plan<T> {
    pub(super) fn new(sum: &Sum<T, Plane>, engine: Engine<T>, parameters: Parameters, notes: Vec<String>) -> Self {
        let counts = sum.points.counts();
        let (sources, targets) = (counts.sources, counts.targets());
        let (pairs, simd, rank) = match &engine {
            Engine::Direct(direct) => (direct.pairs, direct.simd, Vec::new()),
            Engine::Fmm(fmm) => {
                let rank = ranks(&fmm.pyramid.targets().permutation);
                (fmm.pairs, fmm.simd, rank)
            }
        };
        let rows = pairs.sums();
        let request = sum.request;
        let components = |output: &Output| Plane::output_components(request.kernel, *output);
        let checks = request.options.check && sources > 0 && targets > 0 && !request.outputs.is_empty();
        Self {
            checker: checks.then(|| Box::new(Checker::new(&engine))),
            direct_permutations: None,
            last_factor: 0.0,
            request: request.clone(),
            components: request.outputs.iter().map(components).collect(),
            source_count: sources,
            target_count: targets,
            simd,
            parameters,
            notes,
            copies: ScratchPool::new(block_copy_len(rows, engine.largest_block())),
            engine,
            rows,
            parts_per_run: pairs.strengths(),
            strengths: zeroed(T::ZERO, pairs.strengths() * sources),
            sums: zeroed(T::ZERO, rows * targets),
            rank,
            merge: None,
            planning: Seconds::default(),
            seconds: Seconds::default(),
            evaluated: false,
        }
    }

    /// The plan of distinct points becomes that of all points.
    pub(super) fn with_merge(mut self, sum: &Sum<T, Plane>, merge: Merge<T, 2>, note: String) -> Self {
        let inner = self.field();
        self.notes.push(note);
        let counts = sum.points.counts();
        (self.source_count, self.target_count) = (counts.sources, counts.targets());
        self.checker = self
            .checker
            .map(|checker| Box::new(checker.with_times(merge.targets_at_places())));
        self.merge = Some(Box::new((merge, inner)));
        self
    }

    /// Sums for the given strengths: `strengths[vector * sources + source]`, or, if they are complex,
    /// `strengths[(vector * sources + source) * 2 + part]`.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::NotFinite`] if the strengths do not fit the plan.
    pub fn evaluate(&mut self, strengths: &[T]) -> Result<Field<T>, Error> {
        let mut field = self.field();
        self.evaluate_into(strengths, &mut field)?;
        Ok(field)
    }

    /// An empty field of the right size for [`Plan::evaluate_into`].
    pub fn field(&self) -> Field<T> {
        Field::zeros(&self.request, self.target_count)
    }

    /// Numbers of strength per source.
    pub(super) fn parts(&self) -> usize {
        self.request.kernel.strength_components()
    }

    /// [`Plan::evaluate`] into memory that is already there.
    ///
    /// # Errors
    /// As [`Plan::evaluate`], and [`Error::Length`] if `field` is not of this plan's size.
    pub fn evaluate_into(&mut self, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
        T::evaluate_in_plane(self, strengths, field)
    }

    pub(crate) fn check_and_sum(&mut self, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
        let start = Instant::now();
        let largest = check_strengths(strengths, self.source_count, self.parts(), self.request.vectors)?;
        field.check_shape(&self.request, self.target_count)?;
        let mut seconds = Seconds::default();
        match self.merge.take() {
            None => self.sum_and_check(strengths, field, &mut seconds),
            Some(mut merge) => {
                self.sum_merged(strengths, field, &mut merge, &mut seconds);
                self.merge = Some(merge);
            }
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
        field.check_finite(largest)
    }

    fn sum_merged(
        &mut self,
        strengths: &[T],
        field: &mut Field<T>,
        merge: &mut (Merge<T, 2>, Field<T>),
        seconds: &mut Seconds,
    ) {
        let (merge, inner) = merge;
        merge.add_up(strengths, self.parts(), self.request.vectors);
        self.sum_and_check(&merge.strengths, inner, seconds);
        field.copy_check(inner);
        let shape = SpreadShape {
            vectors: self.request.vectors,
            strengths: self.parts(),
        };
        let (Interaction { kernel, core, .. }, outputs) = (self.request.kernel, &self.request.outputs);
        let at_place = |k: usize, strength: &[f64], size: f64, sums: &mut [f64]| {
            let strength = [strength[0], strength.get(1).copied().unwrap_or(0.0)];
            let term = pair(kernel, core, outputs[k], [0.0; 2], strength, size);
            for (sum, term) in sums.iter_mut().zip(term) {
                *sum += term;
            }
        };
        merge.spread(&shape, strengths, &inner.values, &mut field.values, &at_place);
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
        seconds.time(Phase::Check, || checker.measure(self, strengths, field, &mut check));
        if let Some(tolerance) = self.tolerance() {
            let again = |factor: f64, check: &mut Check| {
                if !self.become_more_exact(factor, check) {
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

    /// One run of the engine for each vector, or for each part of its strengths where parts are summed one by one.
    fn sum(&mut self, strengths: &[T], field: &mut Field<T>, seconds: &mut Seconds) {
        let parts = self.parts();
        let sources = strengths.len() / (self.request.vectors * parts);
        let runs = parts / self.parts_per_run;
        for vector in 0..self.request.vectors {
            let of_vector = &strengths[vector * sources * parts..][..sources * parts];
            for run in 0..runs {
                self.order_strengths(of_vector, run);
                match &mut self.engine {
                    Engine::Direct(direct) => direct.evaluate(&self.strengths, &mut self.sums, seconds),
                    Engine::Fmm(fmm) => fmm.evaluate(&self.strengths, &mut self.sums, seconds),
                }
                self.order_sums();
                self.write_outputs(field, vector, run);
            }
        }
    }

    /// The strengths of one run into the engine's order; `run` is the part they are taken from, where parts are summed
    /// one by one.
    fn order_strengths(&mut self, strengths: &[T], run: usize) {
        let parts = self.parts();
        let sources = strengths.len() / parts;
        let mut ordered = std::mem::take(&mut self.strengths);
        for (part, out) in ordered.chunks_mut(sources.max(1)).enumerate() {
            gather(out, self.source_permutation(), &strengths[part + run..], parts);
        }
        self.strengths = ordered;
    }

    /// From the engine's blocks (sum by sum) to target by target.
    fn order_sums(&mut self) {
        let (sums, rows, copies) = (&mut self.sums, self.rows, &self.copies);
        match &self.engine {
            Engine::Direct(direct) => by_target(sums, rows, direct.groups(), |k| direct.group_start(k), copies),
            Engine::Fmm(fmm) => {
                let leaf_start = &fmm.pyramid.targets().leaf_start;
                by_target(
                    sums,
                    rows,
                    fmm.pyramid.leaves(),
                    |leaf| leaf_start[leaf] as usize,
                    copies,
                );
            }
        }
    }

    fn write_outputs(&self, field: &mut Field<T>, vector: usize, run: usize) {
        let (rows, targets, kernel) = (self.rows, field.targets(), self.request.kernel.kernel);
        for ((output, values), components) in self.request.outputs.iter().zip(&mut field.values).zip(&self.components) {
            let components = *components;
            let values = &mut values[vector * targets * components..][..targets * components];
            let (first, factor) = output.of_sums(kernel);
            let factor = T::from_f64(factor);
            let one_sum = (kernel, *output) == (Kernel::Log, Output::Potential);
            for_targets(values, components, (&self.sums, rows), &self.rank, |sums, out| {
                if one_sum {
                    out[run] = sums[0];
                    return;
                }
                let (re, im) = (factor * sums[first], factor * sums[first + 1]);
                if run == 0 {
                    (out[0], out[1]) = (re, im);
                } else {
                    // i times the sum over the imaginary parts.
                    out[0] -= im;
                    out[1] += re;
                }
            });
        }
    }

    /// Whether evaluating takes longer than waking other threads.
    pub(crate) fn deserves_threads(&self) -> bool {
        match &self.engine {
            Engine::Direct(direct) => direct.deserves_threads(),
            Engine::Fmm(fmm) => fmm.pyramid.points() > super::tuning::SMALL,
        }
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.request.kernel.kernel
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
