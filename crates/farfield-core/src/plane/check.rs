//! A plan in the plane looks at its own error.

use super::Field;
use super::expansion::MAX_ORDER;
use super::fmm::PlaneFmm;
use super::kernel::{Kernel, Output};
use super::pairs::PlanePairs;
use super::plan::{Engine, Plan};
use super::pyramid::first_of_level;
use super::truth::{PlaneTruth, absolute_column, exact_pairs};
use crate::check::Check;
use crate::check::compare::{AtDrawn, OutputArray, OutputKind};
use crate::check::look::{Effort, Look};
use crate::check::sample::Sample;
use crate::check::truth::{ABSOLUTE, CoreSizes, SourceArrays, TrueTargets};
use crate::direct::Direct;
use crate::p2p::SortedSizes;
use crate::p2p::{PairSums, Skip, columns};
use crate::plan::Parameters;
use crate::simd::{Real, SimdLevel};
use crate::sum::Method;

/// What a plan needs to look at its error, kept from evaluation to evaluation.
#[derive(Debug)]
pub(super) struct Checker {
    look: Look,
    targets: TrueTargets<2>,
    truth: PlaneTruth,
}

/// Points and strengths of an engine.
struct EngineView<'a, T: Real> {
    simd: SimdLevel,
    pairs: PlanePairs,
    sources: [&'a [T]; 2],
    targets: Option<[&'a [T]; 2]>,
    size2: &'a SortedSizes<T>,
}

impl<T: Real> Engine<T> {
    fn view(&self) -> EngineView<'_, T> {
        match self {
            Engine::Direct(direct) => EngineView {
                simd: direct.simd,
                pairs: direct.pairs,
                sources: columns(&direct.sources),
                targets: direct.targets.as_ref().map(columns),
                size2: &direct.size2,
            },
            Engine::Fmm(fmm) => EngineView {
                simd: fmm.simd,
                pairs: fmm.pairs,
                sources: columns(&fmm.pyramid.sources.position),
                targets: fmm.pyramid.targets.as_ref().map(|targets| columns(&targets.position)),
                size2: &fmm.size2,
            },
        }
    }
}

impl Checker {
    /// For a plan over so many points.
    pub fn new<T: Real>(engine: &Engine<T>) -> Self {
        let view = engine.view();
        let (sources, targets) = (view.sources[0].len(), view.targets.unwrap_or(view.sources)[0].len());
        Self {
            look: Look::new((sources, targets), matches!(engine, Engine::Fmm(_)), Effort::CPU),
            targets: TrueTargets::default(),
            truth: PlaneTruth::default(),
        }
    }

    /// So many of the caller's targets are each of the plan's, in the plan's order.
    pub fn with_times(mut self, times: Vec<u32>) -> Self {
        self.look.times = times;
        self
    }

    /// Draws targets, sums the truth at them and measures the error of `field`.
    pub fn measure<T: Real>(&mut self, plan: &Plan<T>, strengths: &[T], field: &Field<T>, check: &mut Check) {
        let size = (field.vectors(), field.targets());
        with_arrays(plan.request.kernel.kernel, field, |arrays| {
            let Self { look, targets, truth } = self;
            look.survey(arrays, size);
            let permutation = plan.target_permutation();
            let target_at = |at: u32| permutation.map_or(at, |permutation| permutation[at as usize]);
            let expected = |target: usize| match &plan.engine {
                Engine::Direct(_) => 0.0,
                Engine::Fmm(fmm) => expected_at(fmm, plan.engine_index(target)),
            };
            look.find_candidates(arrays, size, &target_at, &expected);
            look.measure_arrays(arrays, size, plan.tolerance(), check, |sample, values| {
                sum_truth(plan, strengths, sample, targets, truth, values);
            });
        });
    }
}

/// What a measurement knows of an output with so many numbers a target.
pub fn output_kind(kernel: Kernel, output: Output, components: usize) -> OutputKind {
    OutputKind {
        name: output.name(),
        components,
        absolute: absolute_column(kernel, output),
    }
}

/// Calls `work` with the outputs of a field as plain arrays.
fn with_arrays<T: Real, R>(kernel: Kernel, field: &Field<T>, work: impl FnOnce(&[OutputArray<T>]) -> R) -> R {
    let of = |output: Output| OutputArray {
        kind: output_kind(kernel, output, field.components(output).unwrap_or(0)),
        values: field.get(output).unwrap_or(&[]),
    };
    match *field.outputs() {
        [] => work(&[]),
        [a] => work(&[of(a)]),
        [a, b] => work(&[of(a), of(b)]),
        [a, b, c] => work(&[of(a), of(b), of(c)]),
        ref more => work(&more.iter().map(|output| of(*output)).collect::<Vec<_>>()),
    }
}

/// The squared error expected at a target, in any unit: expansions are worst at the rim of their circles.
fn expected_at<T: Real>(fmm: &PlaneFmm<T>, target: usize) -> f64 {
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

/// Sums over all sources at the drawn targets.
fn sum_truth<T: Real>(
    plan: &Plan<T>,
    strengths: &[T],
    sample: &Sample,
    targets: &mut TrueTargets<2>,
    truth: &mut PlaneTruth,
    values: &mut AtDrawn,
) {
    let view = plan.engine.view();
    let positions = view.targets.unwrap_or(view.sources);
    let counts_itself = view.pairs.own_skip(view.targets.is_none()) == Skip::SameIndex;
    targets.set(sample, positions, counts_itself, |target| plan.engine_index(target));
    let sizes = CoreSizes::of(view.size2);
    let pairs = exact_pairs(plan.request.kernel.kernel, view.pairs.core, view.pairs.derivatives);
    let parts = plan.parts();
    let per_vector = view.sources[0].len() * parts;
    for vector in 0..plan.request.vectors {
        let of_vector = &strengths[vector * per_vector..][..per_vector];
        let sources = SourceArrays::of_ordered(view.sources, of_vector, parts, plan.source_permutation(), sizes);
        truth.compute(view.simd, &pairs, &sources.by_part()[..parts], targets);
        for ((output, values), components) in plan.request.outputs.iter().zip(&mut values.truth).zip(&plan.components) {
            for k in 0..sample.drawn.len() {
                values.extend(&truth.value(plan.request.kernel.kernel, *output, k)[..*components]);
            }
        }
        for (k, absolute) in values.absolute.iter_mut().enumerate() {
            *absolute = absolute.hypot(truth.absolute(k % ABSOLUTE, k / ABSOLUTE));
        }
    }
}

impl<T: Real> Plan<T> {
    /// The caller's number of each of the engine's sources; `None` for the same order.
    pub(super) fn source_permutation(&self) -> Option<&[u32]> {
        match &self.engine {
            Engine::Direct(_) => self.direct_permutations.as_ref().map(|(sources, _)| &sources[..]),
            Engine::Fmm(fmm) => Some(&fmm.pyramid.sources.permutation),
        }
    }

    /// The same of its targets.
    fn target_permutation(&self) -> Option<&[u32]> {
        match &self.engine {
            Engine::Direct(_) => self.direct_permutations.as_ref().map(|(_, targets)| &targets[..]),
            Engine::Fmm(fmm) => Some(&fmm.pyramid.targets().permutation),
        }
    }

    /// Where one of the plan's targets is in the engine's order.
    fn engine_index(&self, target: usize) -> usize {
        self.rank.get(target).map_or(target, |rank| *rank as usize)
    }

    /// Makes the next sum more exact by `factor`; says whether it did.
    pub(super) fn become_more_exact(&mut self, factor: f64, check: &Check) -> bool {
        let hopeless = check.attempts > 1 && factor > 0.3 * self.last_factor;
        self.last_factor = factor;
        match &mut self.engine {
            Engine::Direct(direct) => return !std::mem::replace(&mut direct.pairs.full, true),
            Engine::Fmm(fmm) if !hopeless && fmm.order < MAX_ORDER => {
                let theta = self.parameters.theta.unwrap_or(super::tuning::THETA);
                let more = (factor.ln() / -theta.ln()).ceil().max(1.0) as usize;
                fmm.pairs.full = true;
                fmm.set_order((fmm.order + more).min(MAX_ORDER));
                self.parameters.order = Some(fmm.order);
                return true;
            }
            Engine::Fmm(_) => {}
        }
        let view = self.engine.view();
        let targets = view.targets.unwrap_or(view.sources)[0].len();
        let pairs = view.sources[0].len() as f64 * targets as f64;
        let affordable = pairs < 4e9 || pairs < 20.0 * self.parameters.interactions.p2p as f64;
        affordable && self.go_direct()
    }

    /// Sums every pair from now on, over the points in the pyramid's order.
    fn go_direct(&mut self) -> bool {
        let Engine::Fmm(fmm) = &mut self.engine else {
            return false;
        };
        let sources = std::mem::take(&mut fmm.pyramid.sources.position);
        let source_permutation = std::mem::take(&mut fmm.pyramid.sources.permutation);
        let targets = fmm.pyramid.targets.as_mut();
        let (targets, target_permutation) = match targets {
            None => (None, source_permutation.clone()),
            Some(targets) => (
                Some(std::mem::take(&mut targets.position)),
                std::mem::take(&mut targets.permutation),
            ),
        };
        let pairs = sources[0].len() as u64 * targets.as_ref().unwrap_or(&sources)[0].len() as u64;
        let direct = Direct {
            simd: fmm.simd,
            pairs: PlanePairs {
                full: true,
                ..fmm.pairs
            },
            vectors: 1,
            sources,
            targets,
            size2: std::mem::replace(&mut fmm.size2, SortedSizes::Global(T::ZERO)),
        };
        self.engine = Engine::Direct(Box::new(direct));
        self.direct_permutations = Some((source_permutation, target_permutation));
        self.notes
            .push("direct: the fmm does not keep the tolerance for these strengths".to_owned());
        self.parameters = Parameters {
            method: Method::Direct,
            ..Parameters::default()
        };
        self.parameters.interactions.p2p = pairs;
        true
    }
}
