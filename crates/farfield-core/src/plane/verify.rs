//! The true error of a result in the plane, measured at sampled targets by a direct sum in double precision.

use super::Field;
use super::kernel::{Core, Output};
use super::truth::{PlaneTruth, exact_pairs};
use crate::check::truth::{CoreSizes, SourceArrays, TrueTargets};
use crate::geometry::{Geometry, Plane};
use crate::kernel::Sizes;
use crate::p2p::{PairSums, Skip};
use crate::simd::{Real, SimdLevel};
use crate::sum::Sum;
use crate::verify::{Sample, TOGETHER};

/// Compares the values at the chosen targets with the truth, for every vector and output.
pub(crate) fn compare<T: Real>(
    sum: &Sum<T, Plane>,
    strengths: &[T],
    field: &Field<T>,
    chosen: &[usize],
    found: &mut [Vec<Sample>],
) {
    let mut truth = PlaneTruth::default();
    for chosen in chosen.chunks(TOGETHER) {
        compare_some(sum, strengths, field, chosen, &mut truth, found);
    }
}

fn compare_some<T: Real>(
    sum: &Sum<T, Plane>,
    strengths: &[T],
    field: &Field<T>,
    chosen: &[usize],
    truth: &mut PlaneTruth,
    found: &mut [Vec<Sample>],
) {
    let (problem, kernel, core) = (&sum.points, sum.request.kernel.kernel, sum.core());
    let pairs = exact_pairs(kernel, core, Output::most_derivatives(field.outputs()));
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
    let parts = sum.request.kernel.strength_components();
    let per_vector = problem.sources.len() * parts;
    for vector in 0..field.vectors() {
        let strengths = &strengths[vector * per_vector..][..per_vector];
        let sources = SourceArrays::of_points(problem.sources, strengths, parts, sizes);
        truth.compute(SimdLevel::best(), &pairs, &sources.by_part()[..parts], &targets);
        for (output, found) in field.outputs().iter().zip(found.iter_mut()) {
            let components = field.components(*output).unwrap_or(0);
            let values = field.get(*output).unwrap_or(&[]);
            let (column, times) = Plane::absolute_column(sum.request.kernel, *output);
            for (k, target) in chosen.iter().enumerate() {
                let value = truth.value(kernel, *output, k);
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
