//! The true error of a result, measured at sampled targets by a direct sum in double precision.

use crate::kernel::{Kernel, Output, Sizes, reference};
use crate::plan::Field;
use crate::plan::units::{Units, largest_magnitude, times_two_to};
use crate::points::Random;
use crate::simd::Real;
use crate::tree::octree::bounds;
use rayon::prelude::*;

/// What was summed: the caller's own arrays.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a, T> {
    /// The kernel.
    pub kernel: Kernel,
    /// The sources.
    pub sources: &'a [[T; 3]],
    /// The targets; `None` if they are the sources.
    pub targets: Option<&'a [[T; 3]]>,
    /// Core sizes or softening lengths.
    pub sizes: &'a Sizes<T>,
    /// Strengths as given to the plan.
    pub strengths: &'a [T],
}

/// The measured error of one output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputError {
    /// Which output.
    pub output: Output,
    /// The root of the summed squared differences over that of the true values.
    pub relative_l2: f64,
}

/// Measures the error of `field` at `samples` random targets, over all strength vectors.
///
/// The denominator is floored at machine epsilon times the sum of absolute contributions, and 0/0 is 0.
pub fn verify<T: Real>(problem: &Problem<T>, field: &Field<T>, samples: usize, seed: u64) -> Vec<OutputError> {
    let targets = problem.targets.unwrap_or(problem.sources);
    let chosen = sampled(targets.len(), samples, seed);
    let truth = Truth::new(problem);
    field
        .outputs()
        .iter()
        .map(|output| error_of(&truth, field, *output, &chosen))
        .collect()
}

/// The numbers of `samples` random targets, or of all if there are no more.
pub(crate) fn sampled(targets: usize, samples: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::stream(seed, 7);
    if samples >= targets {
        (0..targets).collect()
    } else {
        (0..samples)
            .map(|_| (random.next_u64() % targets as u64) as usize)
            .collect()
    }
}

/// One target's share in the error.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sample {
    difference2: f64,
    truth2: f64,
    floor2: f64,
}

impl Sample {
    /// Compares the values at one target, times `2^unit`, with the truth; `absolute` is the sum of absolute
    /// contributions.
    pub fn new<T: Real>(values: &[T], unit: i32, truth: &[f64], absolute: f64) -> Self {
        let mut sample = Self {
            floor2: (T::EPSILON * absolute).powi(2),
            ..Self::default()
        };
        for (value, truth) in values.iter().zip(truth) {
            sample.difference2 += (times_two_to(value.to_f64(), unit) - truth).powi(2);
            sample.truth2 += truth * truth;
        }
        sample
    }

    fn total(samples: &[Self]) -> Self {
        samples.iter().fold(Self::default(), |a, b| Self {
            difference2: a.difference2 + b.difference2,
            truth2: a.truth2 + b.truth2,
            floor2: a.floor2 + b.floor2,
        })
    }

    /// The root of the summed squared differences over that of the true values.
    pub fn relative_l2(samples: &[Self]) -> f64 {
        let total = Self::total(samples);
        if total.difference2 == 0.0 {
            return 0.0;
        }
        (total.difference2 / f64::max(total.truth2, total.floor2)).sqrt()
    }

    /// The largest relative difference at one target, true values below the root of their mean square being raised to
    /// it.
    pub fn maximum(samples: &[Self]) -> f64 {
        let total = Self::total(samples);
        let mean = f64::max(total.truth2, total.floor2) / samples.len().max(1) as f64;
        samples
            .iter()
            .filter(|sample| sample.difference2 > 0.0)
            .map(|sample| (sample.difference2 / sample.truth2.max(mean)).sqrt())
            .fold(0.0, f64::max)
    }
}

/// A sum that keeps what rounding loses: the truth must be better than what is measured.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    pub fn add(&mut self, term: f64) {
        let corrected = term - self.lost;
        let next = self.sum + corrected;
        self.lost = (next - self.sum) - corrected;
        self.sum = next;
    }

    pub fn value(self) -> f64 {
        self.sum
    }
}

fn error_of<T: Real>(truth: &Truth<T>, field: &Field<T>, output: Output, chosen: &[usize]) -> OutputError {
    let unit = truth.units.of_output(output, truth.strengths);
    let components = output.components();
    let values = field.get(output).unwrap_or(&[]);
    let samples: Vec<Sample> = chosen
        .par_iter()
        .flat_map_iter(|target| (0..field.vectors()).map(move |vector| (vector, *target)))
        .map(|(vector, target)| {
            let (truth, absolute) = truth.at(output, vector, target);
            let at = (vector * field.targets() + target) * components;
            Sample::new(&values[at..at + components], -unit, &truth, absolute)
        })
        .collect();
    OutputError {
        output,
        relative_l2: Sample::relative_l2(&samples),
    }
}

/// The true sums, in units whose squares are ordinary numbers.
struct Truth<'a, T> {
    problem: &'a Problem<'a, T>,
    kernel: Kernel,
    units: Units,
    /// The unit of strengths, as an exponent of two.
    strengths: i32,
}

impl<'a, T: Real> Truth<'a, T> {
    fn new(problem: &'a Problem<'a, T>) -> Self {
        let (_, extent) = bounds(&[problem.sources, problem.targets.unwrap_or(&[])]);
        let extent = extent.into_iter().fold(0.0, f64::max).min(f64::MAX);
        let extent = match problem.sizes {
            Sizes::Global(size) if extent == 0.0 => size.to_f64(),
            _ => extent,
        };
        // In double precision, whatever the precision of the points.
        let units = Units::new::<f64>(extent, problem.kernel);
        let largest = largest_magnitude(problem.strengths).unwrap_or(0.0);
        Self {
            problem,
            kernel: units.kernel(problem.kernel),
            units,
            strengths: Units::of_strengths::<f64>(largest),
        }
    }

    /// The true value at a target, and the sum of absolute contributions.
    fn at(&self, output: Output, vector: usize, target: usize) -> (Vec<f64>, f64) {
        let (problem, units) = (self.problem, self.units);
        let targets = problem.targets.unwrap_or(problem.sources);
        let place = |point: [T; 3]| point.map(|c| units.length(c.to_f64()));
        let x = place(targets[target]);
        let components = problem.kernel.strength_components();
        let strengths = &problem.strengths[vector * problem.sources.len() * components..];
        let same = problem.targets.is_none();
        let mut sum = vec![CompensatedSum::default(); output.components()];
        let mut absolute = 0.0;
        let mut term = vec![0.0; output.components()];
        for (j, source) in problem.sources.iter().enumerate() {
            if same && j == target {
                continue;
            }
            let source = place(*source);
            let d = std::array::from_fn(|axis| x[axis] - source[axis]);
            let strength: [f64; 4] = std::array::from_fn(|c| {
                if c < components {
                    let unit = units.of_component(problem.kernel.form(), c, self.strengths);
                    times_two_to(strengths[j * components + c].to_f64(), -unit)
                } else {
                    0.0
                }
            });
            let size = match problem.sizes {
                Sizes::None => 0.0,
                Sizes::Global(size) => units.length(size.to_f64()),
                Sizes::PerSource(sizes) => units.length(sizes[j].to_f64()),
            };
            let size = if problem.kernel.has_sizes() { size } else { 0.0 };
            term.fill(0.0);
            reference::add_pair(self.kernel, output, d, &strength, size, &mut term);
            let mut norm = 0.0;
            for (sum, term) in sum.iter_mut().zip(&term) {
                norm += term * term;
                sum.add(*term);
            }
            absolute += norm.sqrt();
        }
        (sum.into_iter().map(CompensatedSum::value).collect(), absolute)
    }
}
