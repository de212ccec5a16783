//! The true error of a result in the plane, measured at sampled targets by a direct sum in double precision.

use super::Field;
use super::kernel::{Core, Kernel, Output};
use super::truth::{PlaneTruth, absolute_column, exact_pairs};
use crate::check::truth::{CoreSizes, SourceArrays, TrueTargets};
use crate::error::Error;
use crate::kernel::Sizes;
use crate::p2p::{PairSums, Skip};
use crate::parallel::in_pool;
use crate::plan::check_strength_count;
use crate::plan::input::check_size_values;
use crate::simd::{Real, SimdLevel};
use crate::verify::{Sample, TOGETHER, check_targets, sampled};

/// The caller's arrays that were summed.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a, T> {
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
    /// The strengths given to the plan.
    pub strengths: &'a [T],
}

/// The measured error of one output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputError {
    /// The output.
    pub output: Output,
    /// The relative error in the L2 norm.
    pub relative_l2: f64,
    /// The largest relative difference at a target (Goude and Engblom, eq. 5.3). True values below their root mean
    /// square are raised to it.
    pub maximum: f64,
}

/// Measures the error of `field` at `samples` random targets, over all strength vectors.
///
/// The denominator is at least machine epsilon times the sum of absolute contributions, and 0/0 is 0.
///
/// # Errors
/// [`Error::Length`], [`Error::NotFinite`] or [`Error::NegativeSize`] if strengths, sizes or field do not fit the points.
pub fn verify<T: Real>(
    problem: &Inputs<T>,
    field: &Field<T>,
    samples: usize,
    seed: u64,
) -> Result<Vec<OutputError>, Error> {
    let targets = problem.targets.unwrap_or(problem.sources);
    let parts = 1 + usize::from(problem.complex);
    check_strength_count(problem.strengths.len(), problem.sources.len(), parts, field.vectors())?;
    check_size_values(problem.sizes, problem.sources.len())?;
    check_targets(field.targets(), targets.len())?;
    let chosen = sampled(targets.len(), samples, seed);
    let mut found = vec![Vec::with_capacity(chosen.len() * field.vectors()); field.outputs().len()];
    in_pool(true, || {
        let mut truth = PlaneTruth::default();
        for chosen in chosen.chunks(TOGETHER) {
            compare(problem, field, chosen, &mut truth, &mut found);
        }
    });
    let errors = field.outputs().iter().zip(&found);
    Ok(errors
        .map(|(output, samples)| OutputError {
            output: *output,
            relative_l2: Sample::relative_l2(samples),
            maximum: Sample::maximum(samples),
        })
        .collect())
}

/// Compares the values at the chosen targets with the truth, for every vector and output.
fn compare<T: Real>(
    problem: &Inputs<T>,
    field: &Field<T>,
    chosen: &[usize],
    truth: &mut PlaneTruth,
    found: &mut [Vec<Sample>],
) {
    let largest = match problem.sizes {
        Sizes::None => 0.0,
        Sizes::Global(size) => size.to_f64(),
        Sizes::PerSource(sizes) => sizes.iter().map(|size| size.to_f64()).fold(0.0, f64::max),
    };
    let core = if largest > 0.0 { problem.core } else { Core::Singular };
    let pairs = exact_pairs(problem.kernel, core, Output::most_derivatives(field.outputs()));
    let points = problem.targets.unwrap_or(problem.sources);
    let counts_itself = pairs.own_skip(problem.targets.is_none()) == Skip::SameIndex;
    let targets = TrueTargets {
        position: chosen.iter().map(|target| points[*target].map(Real::to_f64)).collect(),
        own: if counts_itself {
            chosen.iter().map(|target| *target as u32).collect()
        } else {
            Vec::new()
        },
        absolute: chosen.len(),
    };
    let sizes = match problem.sizes {
        _ if core == Core::Singular => CoreSizes::Square(0.0),
        Sizes::None => CoreSizes::Square(0.0),
        Sizes::Global(size) => CoreSizes::Square(size.to_f64().powi(2)),
        Sizes::PerSource(sizes) => CoreSizes::Sizes(sizes),
    };
    let parts = 1 + usize::from(problem.complex);
    let per_vector = problem.sources.len() * parts;
    for vector in 0..field.vectors() {
        let strengths = &problem.strengths[vector * per_vector..][..per_vector];
        let sources = SourceArrays::of_points(problem.sources, strengths, parts, sizes);
        truth.compute(SimdLevel::best(), &pairs, &sources.by_part()[..parts], &targets);
        for (output, found) in field.outputs().iter().zip(found.iter_mut()) {
            let components = field.components(*output).unwrap_or(0);
            let values = field.get(*output).unwrap_or(&[]);
            let (column, times) = absolute_column(problem.kernel, *output);
            for (k, target) in chosen.iter().enumerate() {
                let value = truth.value(problem.kernel, *output, k);
                let at = (vector * field.targets() + target) * components;
                let values = &values[at..at + components];
                found.push(Sample::new(
                    values,
                    0,
                    value.into_iter(),
                    times * truth.absolute(column, k),
                ));
            }
        }
    }
}
