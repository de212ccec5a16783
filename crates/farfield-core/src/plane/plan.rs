//! Plans in the plane.

use super::expansion::MAX_ORDER;
use super::fmm::PlaneFmm;
use super::kernel::{Interaction, Kernel, Output, pair};
use super::pairs::PlanePairs;
use super::pyramid::first_of_level;
use super::truth::{PlaneTruth, exact_pairs};
use super::{Field, Plan, tuning};
use crate::check::compare::AtDrawn;
use crate::check::sample::Sample;
use crate::check::truth::{ABSOLUTE, CoreSizes, SourceArrays, TrueTargets};
use crate::direct::Direct;
use crate::error::Error;
use crate::geometry::{Geometry, Plane};
use crate::p2p::{PairSums, SortedSizes, columns};
use crate::plan::Parameters;
use crate::plan::check::{Checker, Miss};
use crate::plan::engine::{Engine, Planned, Summation, View};
use crate::report::Seconds;
use crate::simd::Real;
use crate::sum::{Method, Request, Sum};
use std::ops::Range;

impl Planned<Self> for Plane {
    const SMALL: usize = tuning::SMALL;
    type Direct<T: Real> = Direct<T, PlanePairs, 2>;
    type Tree<T: Real> = PlaneFmm<T>;
    type Truth = (TrueTargets<2>, PlaneTruth);

    fn plan<T: Real>(sum: Sum<'_, T, Self>) -> Result<Plan<T>, Error> {
        T::plan_in_plane(sum)
    }

    fn evaluate<T: Real>(plan: &mut Plan<T>, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
        T::evaluate_in_plane(plan, strengths, field)
    }

    fn build<T: Real>(sum: Sum<'_, T, Self>, planning: &mut Seconds) -> Result<Plan<T>, Error> {
        sum.validate()?;
        sum.build(planning)
    }

    fn writer<T: Real>(
        Interaction { kernel, .. }: Interaction,
        output: Output,
        part: usize,
    ) -> impl Fn(&[T], &mut [T]) + Sync {
        let (first, factor) = output.of_sums(kernel);
        let factor = T::from_f64(factor);
        let one_sum = (kernel, output) == (Kernel::Log, Output::Potential);
        move |sums, out| {
            if one_sum {
                out[part] = sums[0];
                return;
            }
            let (re, im) = (factor * sums[first], factor * sums[first + 1]);
            if part == 0 {
                (out[0], out[1]) = (re, im);
            } else {
                // i times the sum over the imaginary parts.
                out[0] -= im;
                out[1] += re;
            }
        }
    }

    fn add_at_place(kernel: Interaction, output: Output, strength: &[f64], size: f64, sums: &mut [f64]) {
        let strength = [strength[0], strength.get(1).copied().unwrap_or(0.0)];
        let term = pair(kernel.kernel, kernel.core, output, [0.0; 2], strength, size);
        for (sum, term) in sums.iter_mut().zip(term) {
            *sum += term;
        }
    }

    /// Expansions are worst at the rim of their circles.
    fn expected_at<T: Real>(_: &Self::Truth, fmm: &PlaneFmm<T>, target: usize) -> f64 {
        let (points, boxes, depth) = (fmm.pyramid.targets(), &fmm.pyramid.boxes, fmm.pyramid.depth);
        let leaf = points.leaf_start.partition_point(|start| *start as usize <= target) - 1;
        let power = fmm.order as i32 + 1;
        let z = [0, 1].map(|axis| points.position[axis][target].to_f64());
        let of_level = |level: usize| {
            let at = first_of_level(level) + (leaf >> (2 * (depth - level)));
            let centre = boxes.centre[at].map(Real::to_f64);
            let radius2 = boxes.radius[at].to_f64().powi(2);
            let distance2 = (z[0] - centre[0]).powi(2) + (z[1] - centre[1]).powi(2);
            let rim = if radius2 > 0.0 {
                (distance2 / radius2).min(1.0)
            } else {
                0.0
            };
            // Over a disc filled evenly, the mean of rim^p is 1/(p + 1).
            0.3 + 0.7 * f64::from(power + 1) * rim.powi(power)
        };
        (1..=depth).map(of_level).sum()
    }

    fn sum_truth<T: Real>(
        (targets, truth): &mut Self::Truth,
        plan: &Plan<T>,
        strengths: &[T],
        sample: &Sample,
        values: &mut AtDrawn,
    ) {
        let view = match &plan.engine {
            Engine::Direct(direct) => direct.view(),
            Engine::Tree(fmm) => View {
                pairs: fmm.pairs,
                sources: columns(&fmm.pyramid.sources.position),
                targets: fmm.pyramid.targets.as_ref().map(|targets| columns(&targets.position)),
                size2: &fmm.size2,
            },
        };
        view.set_targets(targets, sample, |target| plan.engine_index(target));
        let (sizes, interaction) = (CoreSizes::of(view.size2), plan.request.kernel);
        let kernel = interaction.kernel;
        let pairs = exact_pairs(kernel, view.pairs.core, view.pairs.derivatives);
        let (parts, permutation) = (plan.components(), plan.engine.summation().source_permutation());
        let per_vector = view.sources[0].len() * parts;
        for vector in 0..plan.request.vectors {
            let of_vector = &strengths[vector * per_vector..][..per_vector];
            let sources = SourceArrays::of_ordered(view.sources, of_vector, parts, permutation, sizes);
            truth.compute(plan.simd(), &pairs, &sources.by_part()[..parts], targets);
            for (output, values) in plan.request.outputs.iter().zip(&mut values.truth) {
                let components = Plane::output_components(interaction, *output);
                for k in 0..sample.drawn.len() {
                    values.extend(&truth.value(kernel, *output, k)[..components]);
                }
            }
            for (k, absolute) in values.absolute.iter_mut().enumerate() {
                *absolute = absolute.hypot(truth.absolute(k % ABSOLUTE, k / ABSOLUTE));
            }
        }
    }

    fn raise_order<T: Real>(
        fmm: &mut PlaneFmm<T>,
        parameters: &mut Parameters,
        _: &Request<Self>,
        _: &Checker<Self>,
        miss: &Miss,
    ) -> bool {
        if miss.in_vain || fmm.order >= MAX_ORDER {
            return false;
        }
        let theta = parameters.theta.unwrap_or(tuning::THETA);
        let more = (miss.factor.ln() / -theta.ln()).ceil().max(1.0) as usize;
        fmm.make_exact();
        fmm.set_order((fmm.order + more).min(MAX_ORDER));
        parameters.order = Some(fmm.order);
        true
    }

    fn take_direct<T: Real>(fmm: &mut PlaneFmm<T>) -> Direct<T, PlanePairs, 2> {
        fmm.make_exact();
        let sources = std::mem::take(&mut fmm.pyramid.sources.position);
        let of_sources = std::mem::take(&mut fmm.pyramid.sources.permutation);
        let (targets, of_targets) = match &mut fmm.pyramid.targets {
            None => (None, of_sources.clone()),
            Some(targets) => (
                Some(std::mem::take(&mut targets.position)),
                std::mem::take(&mut targets.permutation),
            ),
        };
        Direct {
            simd: fmm.simd,
            pairs: fmm.pairs,
            vectors: 1,
            sources,
            targets,
            size2: std::mem::replace(&mut fmm.size2, SortedSizes::Global(T::ZERO)),
            permutations: Some([of_sources, of_targets]),
        }
    }
}

impl<T: Real> Summation<T> for PlaneFmm<T> {
    fn rows(&self) -> usize {
        self.pairs.sums()
    }

    fn streams(&self) -> usize {
        self.pairs.strengths()
    }

    fn source_permutation(&self) -> Option<&[u32]> {
        Some(&self.pyramid.sources.permutation)
    }

    fn target_permutation(&self) -> Option<&[u32]> {
        Some(&self.pyramid.targets().permutation)
    }

    fn blocks(&self) -> usize {
        self.pyramid.leaves()
    }

    fn block(&self, block: usize) -> Range<usize> {
        let start = &self.pyramid.targets().leaf_start;
        start[block] as usize..start[block + 1] as usize
    }

    fn sum(&mut self, _: Method, strengths: &[T], sums: &mut [T], seconds: &mut Seconds) {
        self.evaluate(strengths, sums, seconds);
    }

    fn make_exact(&mut self) -> bool {
        self.pairs.make_exact()
    }

    fn deserves_threads(&self) -> bool {
        self.pyramid.points() > tuning::SMALL
    }
}
