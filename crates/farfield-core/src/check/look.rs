//! One measurement of the error of an evaluation, on any engine: candidates, draws, true sums, comparison.

use super::Check;
use super::compare::{AtDrawn, OutputArray, OutputKind, Survey, measure, relative_square};
use super::sample::{Candidate, Sample};
use crate::parallel::for_chunks;
use crate::points::Random;
use crate::simd::Real;
use std::convert::Infallible;

/// Limits on the cost of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// The number of targets to draw from.
    pub pool: usize,
    /// The smallest number of targets drawn if the sum uses expansions.
    pub least: usize,
    /// The largest number of targets in the first draw.
    pub most: usize,
    /// The number of pairs that a measurement may always take.
    pub pairs: usize,
    /// The number of pairs up to which all targets are measured, so that an error at a few targets is not missed.
    pub all_pairs: usize,
}

impl Effort {
    /// The limits on a CPU, where the tree tells which targets are likely to have large errors: a few milliseconds.
    pub const CPU: Self = Self {
        pool: 1 << 12,
        least: 64,
        most: 512,
        pairs: 2_500_000,
        all_pairs: 1 << 24,
    };

    /// The number of targets to draw for a sum over `sources` sources at `targets` targets, by expansions or pair by
    /// pair.
    fn draws(&self, sources: usize, targets: usize, by_expansions: bool) -> usize {
        if by_expansions && sources.saturating_mul(targets) <= self.all_pairs {
            targets
        } else if by_expansions {
            (self.pairs / sources.max(1)).clamp(self.least, self.most).min(targets)
        } else if targets <= 32 {
            targets
        } else {
            (targets / 16).clamp(32, 64)
        }
    }
}

/// The factor by which the number of draws grows if the first draw is not conclusive.
const MORE: usize = 4;
/// The number of targets at which absolute contributions are summed.
pub const WITH_ABSOLUTE: usize = 8;

/// The memory of a measurement, reused from evaluation to evaluation.
#[derive(Debug, Default)]
pub struct Look {
    /// Indices of targets in the engine's order, in which neighbours are close in space.
    pool: Vec<u32>,
    draws: usize,
    /// The number of the caller's targets that each target stands for; empty if it is always one.
    pub(crate) times: Vec<u32>,
    candidates: Vec<Candidate>,
    sample: Sample,
    survey: Survey,
    values: AtDrawn,
}

impl Look {
    /// A measurement of a sum over `sources` sources at `targets` targets, by expansions or pair by pair.
    pub fn new((sources, targets): (usize, usize), by_expansions: bool, effort: Effort) -> Self {
        let draws = effort.draws(sources, targets, by_expansions);
        Self {
            pool: Random::new(1)
                .one_of_each_stretch(targets, effort.pool.max(draws))
                .map(|target| target as u32)
                .collect(),
            draws,
            ..Self::default()
        }
    }

    /// The targets to draw from, as indices in the engine's order: one from each of equal stretches.
    pub fn pool(&self) -> &[u32] {
        &self.pool
    }

    /// The sum of squares of each output.
    pub fn squares(&self) -> &[f64] {
        &self.survey.squares
    }

    /// Surveys all values; `size` is the number of vectors and of targets.
    pub(crate) fn survey<T: Real>(&mut self, outputs: &[OutputArray<T>], size: (usize, usize)) {
        let Self { survey, times, .. } = self;
        survey.look(outputs, size, &|target| times_of(times, target));
    }

    /// Finds the candidates. `target_at` returns the caller's index of a target in the engine's order, `expected` the
    /// expected squared error of a target in any unit.
    pub(crate) fn find_candidates<T: Real>(
        &mut self,
        outputs: &[OutputArray<T>],
        (vectors, targets): (usize, usize),
        target_at: &impl Fn(u32) -> u32,
        expected: &(impl Fn(usize) -> f64 + Sync),
    ) {
        let Self {
            pool,
            times,
            candidates,
            survey,
            ..
        } = self;
        let each = targets as f64 / pool.len().max(1) as f64;
        let times = |target: usize| times_of(times, target);
        candidates.clear();
        candidates.extend(pool.iter().map(|at| {
            let target = target_at(*at);
            Candidate {
                target,
                count: each * times(target as usize),
                expected: 0.0,
                value: 0.0,
            }
        }));
        if targets > pool.len() {
            survey.add_largest(outputs.len(), candidates, &times);
        }
        let squares = &survey.squares;
        for_chunks(candidates, 128, &|_, candidates| {
            for candidate in candidates {
                let target = candidate.target as usize;
                candidate.value = relative_square(outputs, squares, (vectors, targets), target);
                candidate.expected = expected(target);
            }
        });
    }

    /// Sets the candidates, for engines whose values are not in host memory. `squares` are the sums of squares of each
    /// output over all targets.
    pub fn set_candidates(&mut self, squares: &[f64], candidates: impl Iterator<Item = Candidate>) {
        self.survey.squares.clear();
        self.survey.squares.extend(squares);
        self.candidates.clear();
        self.candidates.extend(candidates);
    }

    /// Draws targets, calls `look` for the computed and true values there, and estimates the error over all targets.
    /// `vectors` is the number of strength vectors, `epsilon` the machine epsilon of the precision.
    ///
    /// # Errors
    /// Errors of `look`.
    pub fn measure<E>(
        &mut self,
        outputs: impl Iterator<Item = OutputKind> + Clone,
        (vectors, epsilon): (usize, f64),
        tolerance: Option<f64>,
        check: &mut Check,
        mut look: impl FnMut(&Sample, &mut AtDrawn) -> Result<(), E>,
    ) -> Result<(), E> {
        let all = self.candidates.len() <= self.draws;
        let mut draws = self.draws;
        loop {
            if all {
                self.sample.take_all(&self.candidates);
            } else {
                self.sample.draw(&self.candidates, draws, draws as u64);
            }
            self.sample.spread_first(WITH_ABSOLUTE);
            self.values
                .clear(outputs.clone().count(), WITH_ABSOLUTE.min(self.sample.drawn.len()));
            look(&self.sample, &mut self.values)?;
            let squares = &self.survey.squares;
            let size = (vectors, epsilon);
            measure(outputs.clone(), squares, size, &self.sample, &self.values, check);
            let within = |tolerance: f64| check.outputs.iter().all(|measured| measured.upper <= tolerance);
            if all || draws > self.draws || tolerance.is_none_or(within) {
                return Ok(());
            }
            // More targets decide whether the tolerance is exceeded or the estimate was too uncertain.
            draws *= MORE;
        }
    }

    /// [`Look::measure`] for values in arrays over all targets; `sum_truth` adds the true values.
    pub(crate) fn measure_arrays<T: Real>(
        &mut self,
        outputs: &[OutputArray<T>],
        size: (usize, usize),
        tolerance: Option<f64>,
        check: &mut Check,
        mut sum_truth: impl FnMut(&Sample, &mut AtDrawn),
    ) {
        let kinds = outputs.iter().map(|output| output.kind);
        let Ok(()) = self.measure::<Infallible>(kinds, (size.0, T::EPSILON), tolerance, check, |sample, values| {
            values.find(outputs, size, sample);
            sum_truth(sample, values);
            Ok(())
        });
    }
}

fn times_of(times: &[u32], target: usize) -> f64 {
    times.get(target).map_or(1.0, |times| f64::from(*times))
}
