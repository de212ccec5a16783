//! The true error of a result in the plane, measured at sampled targets by a direct sum in double precision.

use super::Field;
use super::kernel::{Core, Kernel, Output, pair};
use crate::kernel::Sizes;
use crate::simd::Real;
use crate::verify::{CompensatedSum, Sample, sampled};
use rayon::prelude::*;

/// What was summed: the caller's own arrays.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a, T> {
    /// The kernel.
    pub kernel: Kernel,
    /// The core.
    pub core: Core,
    /// The sources.
    pub sources: &'a [[T; 2]],
    /// The targets; `None` if they are the sources.
    pub targets: Option<&'a [[T; 2]]>,
    /// Core sizes.
    pub sizes: &'a Sizes<T>,
    /// Whether strengths are complex.
    pub complex: bool,
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
    /// The largest relative difference at a target (Goude and Engblom, eq. 5.3), true values below the root of their
    /// mean square being raised to it.
    pub maximum: f64,
}

/// Measures the error of `field` at `samples` random targets, over all strength vectors.
///
/// The denominator is floored at machine epsilon times the sum of absolute contributions, and 0/0 is 0.
pub fn verify<T: Real>(problem: &Problem<T>, field: &Field<T>, samples: usize, seed: u64) -> Vec<OutputError> {
    let targets = problem.targets.unwrap_or(problem.sources);
    let chosen = sampled(targets.len(), samples, seed);
    let error_of = |output: Output| {
        let components = field.components(output).unwrap_or(0);
        let values = field.get(output).unwrap_or(&[]);
        let samples: Vec<Sample> = chosen
            .par_iter()
            .flat_map_iter(|target| (0..field.vectors()).map(move |vector| (vector, *target)))
            .map(|(vector, target)| {
                let (truth, absolute) = truth_at(problem, output, vector, target);
                let at = (vector * field.targets() + target) * components;
                Sample::new(&values[at..at + components], 0, &truth, absolute)
            })
            .collect();
        OutputError {
            output,
            relative_l2: Sample::relative_l2(&samples),
            maximum: Sample::maximum(&samples),
        }
    };
    field.outputs().iter().map(|output| error_of(*output)).collect()
}

/// The true value at a target, and the sum of absolute contributions.
fn truth_at<T: Real>(problem: &Problem<T>, output: Output, vector: usize, target: usize) -> ([f64; 2], f64) {
    let targets = problem.targets.unwrap_or(problem.sources);
    let z = targets[target].map(Real::to_f64);
    let components = 1 + usize::from(problem.complex);
    let strengths = &problem.strengths[vector * problem.sources.len() * components..];
    let mut sum = [CompensatedSum::default(); 2];
    let mut absolute = 0.0;
    for (j, source) in problem.sources.iter().enumerate() {
        if problem.targets.is_none() && j == target {
            continue;
        }
        let d = [z[0] - source[0].to_f64(), z[1] - source[1].to_f64()];
        let imaginary = if problem.complex {
            strengths[2 * j + 1].to_f64()
        } else {
            0.0
        };
        let strength = [strengths[components * j].to_f64(), imaginary];
        let size = match problem.sizes {
            Sizes::None => 0.0,
            Sizes::Global(size) => size.to_f64(),
            Sizes::PerSource(sizes) => sizes[j].to_f64(),
        };
        let term = pair(problem.kernel, problem.core, output, d, strength, size);
        sum[0].add(term[0]);
        sum[1].add(term[1]);
        absolute += term[0].hypot(term[1]);
    }
    (sum.map(CompensatedSum::value), absolute)
}
