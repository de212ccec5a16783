//! One look at the error of an evaluation: candidates, draws, true sums, comparison. Knows no engine.

use super::Check;
use super::compare::{AtDrawn, OutputArray, OutputKind, Survey, measure, relative_square};
use super::sample::{Candidate, Sample};
use crate::parallel::for_chunks;
use crate::points::Random;
use crate::simd::Real;
use std::convert::Infallible;

/// How much a look may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Targets that may be drawn.
    pub pool: usize,
    /// Targets drawn, at least, where expansions are in play.
    pub least: usize,
    /// Targets drawn, at most, at first.
    pub most: usize,
    /// Pairs worth looking at however few points there are.
    pub pairs: usize,
    /// Pairs so few that all targets are looked at, and no error hides at a few of them.
    pub all_pairs: usize,
}

impl Effort {
    /// Of a CPU, where the tree tells which targets are likely to have large errors: a few milliseconds.
    pub const CPU: Self = Self {
        pool: 1 << 12,
        least: 64,
        most: 512,
        pairs: 2_500_000,
        all_pairs: 1 << 24,
    };

    /// So many targets of so many sources, by expansions or pair by pair.
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

/// By how many times more are drawn where the first are not conclusive.
const MORE: usize = 4;
/// Targets at which absolute contributions are summed.
pub const WITH_ABSOLUTE: usize = 8;

/// Memory of a look, kept from evaluation to evaluation.
#[derive(Debug, Default)]
pub struct Look {
    /// Numbers of targets in the engine's order, in which neighbours are near.
    pool: Vec<u32>,
    draws: usize,
    /// How many of the caller's targets each target is; empty for one.
    pub(crate) times: Vec<u32>,
    candidates: Vec<Candidate>,
    sample: Sample,
    survey: Survey,
    values: AtDrawn,
}

impl Look {
    /// For a sum over so many points, by expansions or pair by pair.
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

    /// Numbers of targets in the engine's order that candidates come from, one from each of equal stretches.
    pub fn pool(&self) -> &[u32] {
        &self.pool
    }

    /// The sum of squares of each output.
    pub fn squares(&self) -> &[f64] {
        &self.survey.squares
    }

    /// Looks at all values; `size` is the number of vectors and of targets.
    pub(crate) fn survey<T: Real>(&mut self, outputs: &[OutputArray<T>], size: (usize, usize)) {
        let Self { survey, times, .. } = self;
        survey.look(outputs, size, &|target| times_of(times, target));
    }

    /// Finds targets to draw from. `target_at` is the number of a target in the engine's order, `expected` its expected
    /// squared error in any unit.
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

    /// The same from someone who has the values elsewhere: sums of squares of each output over all targets, and
    /// candidates.
    pub fn set_candidates(&mut self, squares: &[f64], candidates: impl Iterator<Item = Candidate>) {
        self.survey.squares.clear();
        self.survey.squares.extend(squares);
        self.candidates.clear();
        self.candidates.extend(candidates);
    }

    /// Draws targets, has `look` find values and truth there, and measures the error over all targets. `vectors` is the
    /// number of vectors of strengths, `epsilon` that of the precision.
    ///
    /// # Errors
    /// Those of `look`.
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
            // Is it exceeded, or did few targets say too little?
            draws *= MORE;
        }
    }

    /// [`Look::measure`] of values in arrays over all targets; `sum_truth` adds the truth.
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
