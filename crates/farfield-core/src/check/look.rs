//! One look at the error of an evaluation: candidates, draws, true sums, comparison. Knows no engine.

use super::Check;
use super::compare::{OutputArray, Survey, TrueValues, measure, relative_square};
use super::sample::{Candidate, Sample, stratified};
use crate::parallel::for_chunks;
use crate::simd::Real;

/// Targets that may be drawn.
const POOL: usize = 1 << 12;
/// Targets drawn, at least, where expansions are in play; and pairs worth looking at however few points there are.
const DRAWS: usize = 64;
const PAIRS: usize = 2_500_000;
/// Pairs so few that all targets are looked at: a few milliseconds, and no error hides at a few of them.
const ALL_PAIRS: usize = 1 << 24;
/// The most that are drawn at first, and by how many times more where the first are not conclusive.
const MOST_DRAWS: usize = 512;
const MORE: usize = 4;
/// Targets at which absolute contributions are summed.
pub(crate) const WITH_ABSOLUTE: usize = 8;

/// Memory of a look, kept from evaluation to evaluation.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// Numbers of targets in the engine's order, in which neighbours are near.
    pool: Vec<u32>,
    draws: usize,
    /// How many of the caller's targets each target is; empty for one.
    pub times: Vec<u32>,
    candidates: Vec<Candidate>,
    sample: Sample,
    survey: Survey,
    truth: TrueValues,
}

impl Look {
    /// For a sum over so many points, by expansions or pair by pair.
    pub fn new(sources: usize, targets: usize, by_expansions: bool) -> Self {
        let draws = if by_expansions && targets <= POOL && sources.saturating_mul(targets) <= ALL_PAIRS {
            targets
        } else if by_expansions {
            (PAIRS / sources.max(1)).clamp(DRAWS, MOST_DRAWS).min(targets)
        } else if targets <= 32 {
            targets
        } else {
            (targets / 16).clamp(32, DRAWS)
        };
        Self {
            pool: stratified(targets, POOL, 1),
            draws,
            ..Self::default()
        }
    }

    /// The sum of squares of each output.
    pub fn squares(&self) -> &[f64] {
        &self.survey.squares
    }

    /// Looks at all values; `size` is the number of vectors and of targets.
    pub fn survey<T: Real>(&mut self, outputs: &[OutputArray<T>], size: (usize, usize)) {
        let Self { survey, times, .. } = self;
        survey.look(outputs, size, &|target| times_of(times, target));
    }

    /// Finds targets to draw from. `target_at` is the number of a target in the engine's order, `expected` its expected
    /// squared error in any unit.
    pub fn find_candidates<T: Real>(
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

    /// Draws targets, has `sum_truth` compute the true values there, and measures the error over all targets.
    pub fn measure<T: Real>(
        &mut self,
        outputs: &[OutputArray<T>],
        size: (usize, usize),
        tolerance: Option<f64>,
        check: &mut Check,
        mut sum_truth: impl FnMut(&Sample, &mut TrueValues),
    ) {
        let all = self.candidates.len() <= self.draws;
        let mut draws = self.draws;
        loop {
            if all {
                self.sample.take_all(&self.candidates);
            } else {
                self.sample.draw(&self.candidates, draws, draws as u64);
            }
            self.sample.spread_first(WITH_ABSOLUTE);
            sum_truth(&self.sample, &mut self.truth);
            self.compare(outputs, size, check);
            let within = |tolerance: f64| check.outputs.iter().all(|measured| measured.upper <= tolerance);
            if all || draws > self.draws || tolerance.is_none_or(within) {
                return;
            }
            // Is it exceeded, or did few targets say too little?
            draws *= MORE;
        }
    }

    /// Measures the error of values at the drawn targets.
    fn compare<T: Real>(&mut self, outputs: &[OutputArray<T>], size: (usize, usize), check: &mut Check) {
        measure(outputs, &self.survey.squares, size, &self.sample, &self.truth, check);
    }
}

fn times_of(times: &[u32], target: usize) -> f64 {
    times.get(target).map_or(1.0, |times| f64::from(*times))
}
