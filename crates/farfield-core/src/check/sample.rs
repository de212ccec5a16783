//! The choice of the targets that are measured, and the weight of each.
//!
//! The error is a sum over all targets. Targets are drawn with known probabilities and weighted by the inverse
//! probability, so the estimate is unbiased for any probabilities. These determine its variance: targets with large
//! errors must be likely to be drawn. Hence a mixture of three: uniform, proportional to the expected error of a
//! target (corners of boxes, strong sources two boxes away), and proportional to its value.

use crate::points::Random;

/// A target that may be drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The target.
    pub target: u32,
    /// The number of targets it stands for.
    pub count: f64,
    /// Its expected squared error, in any unit.
    pub expected: f64,
    /// Its squared value, in any unit.
    pub value: f64,
}

/// Shares of the mixture by expected error and by value; the rest is uniform.
const BY_ERROR: f64 = 0.5;
const BY_VALUE: f64 = 0.25;

/// A target that was drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn {
    /// The target.
    pub target: u32,
    /// The weight of its squared error in the sum over all targets.
    pub weight: f64,
    /// The number of times it was drawn.
    pub times: f64,
}

/// Targets that were drawn.
#[derive(Debug, Default, Clone)]
pub struct Sample {
    /// The drawn targets, each listed once.
    pub drawn: Vec<Drawn>,
    /// The number of draws.
    pub draws: usize,
    /// Whether the sample is all targets, each once.
    pub complete: bool,
}

impl Sample {
    /// Takes all candidates, which must be all targets.
    pub(crate) fn take_all(&mut self, candidates: &[Candidate]) {
        self.drawn.clear();
        self.draws = candidates.len();
        self.complete = true;
        self.drawn.extend(candidates.iter().map(|candidate| Drawn {
            target: candidate.target,
            weight: candidates.len() as f64 * candidate.count,
            times: 1.0,
        }));
    }

    /// Draws `draws` targets; each `round` gives different draws.
    pub(crate) fn draw(&mut self, candidates: &[Candidate], draws: usize, round: u64) {
        self.drawn.clear();
        self.draws = draws;
        self.complete = false;
        let total = |share: fn(&Candidate) -> f64| {
            let sum: f64 = candidates.iter().map(|c| c.count * share(c)).sum();
            if sum > 0.0 && sum.is_finite() { 1.0 / sum } else { 0.0 }
        };
        let (count, expected, value) = (total(|_| 1.0), total(|c| c.expected), total(|c| c.value));
        let even = 1.0 - if expected > 0.0 { BY_ERROR } else { 0.0 } - if value > 0.0 { BY_VALUE } else { 0.0 };
        let chance = |c: &Candidate| {
            let chance = c.count * (even * count + BY_ERROR * expected * c.expected + BY_VALUE * value * c.value);
            if chance.is_finite() { chance } else { 0.0 }
        };
        // Systematic sampling: evenly spaced marks on the cumulative probability, so that neighbours in tree order are
        // seldom both drawn.
        let step = 1.0 / draws as f64;
        let mut mark = step * Random::new(round).uniform();
        let mut sum = 0.0;
        for candidate in candidates {
            let chance = chance(candidate);
            sum += chance;
            let mut times = 0.0;
            while mark < sum {
                times += 1.0;
                mark += step;
            }
            if times > 0.0 {
                self.drawn.push(Drawn {
                    target: candidate.target,
                    weight: candidate.count / chance,
                    times,
                });
            }
        }
        // Round-off may leave the last mark beyond the sum.
        self.draws = self.drawn.iter().map(|drawn| drawn.times as usize).sum();
    }

    /// Moves `few` targets that are far apart to the front.
    pub(crate) fn spread_first(&mut self, few: usize) {
        let count = self.drawn.len();
        for k in 0..few.min(count) {
            self.drawn.swap(k, (k * count / few).max(k));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors at a few targets: the mean over many rounds is the truth, and each round is close to it if the expected
    /// errors are about right.
    #[test]
    fn the_estimate_is_unbiased_and_narrow_where_errors_are_expected() {
        let error2 = |k: usize| if k.is_multiple_of(97) { 1.0 } else { 1e-6 };
        let candidates: Vec<Candidate> = (0..3000)
            .map(|k| Candidate {
                target: k as u32,
                count: 2.0,
                expected: (1.0 + (k % 5) as f64) * error2(k),
                value: 1.0,
            })
            .collect();
        let truth: f64 = 2.0 * (0..3000).map(error2).sum::<f64>();
        let mut sample = Sample::default();
        let mut mean = 0.0;
        for round in 0..200 {
            sample.draw(&candidates, 64, round);
            let sum: f64 = sample
                .drawn
                .iter()
                .map(|d| d.times * d.weight * error2(d.target as usize))
                .sum();
            let estimate = sum / sample.draws as f64;
            assert!((0.4..2.5).contains(&(estimate / truth)), "{}", estimate / truth);
            mean += estimate / 200.0;
        }
        assert!((mean / truth - 1.0).abs() < 0.05, "{mean} {truth}");
    }

    #[test]
    fn a_sample_of_all_targets_is_exact() {
        let candidates: Vec<Candidate> = (0..10)
            .map(|k| Candidate {
                target: k,
                count: 1.0 + f64::from(k % 2),
                expected: 0.0,
                value: 0.0,
            })
            .collect();
        let mut sample = Sample::default();
        sample.take_all(&candidates);
        let sum: f64 = sample.drawn.iter().map(|d| d.weight).sum::<f64>() / sample.draws as f64;
        assert!(sample.complete && sum == 15.0);
    }
}
