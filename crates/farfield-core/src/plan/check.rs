//! A plan measures its own error and makes the next sum more exact.

use super::engine::{Engine, Summation};
use super::{Field, Parameters, Plan};
use crate::check::Check;
use crate::check::compare::OutputArray;
use crate::check::look::{Effort, Look};
use crate::geometry::Geometry;
use crate::simd::Real;
use crate::sum::Counts;

/// The memory of a measurement, kept from evaluation to evaluation.
#[derive(Debug)]
pub(crate) struct Checker<G: Geometry> {
    pub look: Look,
    pub truth: G::Truth,
}

/// An error that exceeds the tolerance.
pub(crate) struct Miss<'a> {
    pub check: &'a Check,
    /// The factor by which it is to fall.
    pub factor: f64,
    /// Whether higher orders did not help: the error is not that of truncation, or not where the model has it.
    pub in_vain: bool,
    /// Whether the direct sum takes an acceptable time.
    pub may_go_direct: bool,
}

impl<G: Geometry> Checker<G> {
    /// For a plan over the given points; `by_expansions` unless every pair is summed.
    pub fn new(counts: Counts, by_expansions: bool) -> Self {
        Self {
            look: Look::new((counts.sources, counts.targets()), by_expansions, Effort::CPU),
            truth: G::Truth::default(),
        }
    }

    /// Draws targets, sums the truth at them and measures the error of `field`, which is in the plan's order.
    pub fn measure<T: Real>(&mut self, plan: &Plan<T, G>, strengths: &[T], field: &Field<T, G>, check: &mut Check) {
        let size = (field.vectors(), field.targets());
        let Self { look, truth } = self;
        with_arrays(plan.request.kernel, field, |arrays| {
            look.survey(arrays, size);
            G::expect(truth, plan, look.squares());
            let permutation = plan.engine.summation().target_permutation();
            let target_at = |at: u32| permutation.map_or(at, |permutation| permutation[at as usize]);
            let expected = |target: usize| match &plan.engine {
                Engine::Direct(_) => 0.0,
                Engine::Tree(tree) => G::expected_at(truth, tree, plan.engine_index(target)),
            };
            look.find_candidates(arrays, size, &target_at, &expected);
            look.measure_arrays(arrays, size, plan.tolerance(), check, |sample, values| {
                G::sum_truth(truth, plan, strengths, sample, values);
            });
        });
    }
}

/// Calls `work` with the outputs of a field as plain arrays; up to three, as most kernels have, cost no allocation.
fn with_arrays<T: Real, G: Geometry, R>(
    kernel: G::Kernel,
    field: &Field<T, G>,
    work: impl FnOnce(&[OutputArray<T>]) -> R,
) -> R {
    let of = |output: G::Output| OutputArray {
        kind: G::output_kind(kernel, output),
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

impl<T: Real, G: Geometry> Plan<T, G> {
    /// Makes the next sum more exact by `factor`, as far as the measured errors tell how; returns false if it cannot.
    pub(super) fn become_more_exact(&mut self, checker: &Checker<G>, factor: f64, check: &Check) -> bool {
        let in_vain = check.attempts > 1 && factor > 0.3 * self.last_factor;
        self.last_factor = factor;
        let pairs = self.summed.pairs() as f64;
        let may_go_direct = pairs < 4e9 || pairs < 20.0 * self.parameters.interactions.p2p as f64;
        let miss = Miss {
            check,
            factor,
            in_vain,
            may_go_direct,
        };
        match &mut self.engine {
            Engine::Direct(direct) => direct.make_exact(),
            Engine::Tree(tree) => {
                G::raise_order(tree, &mut self.parameters, &self.request, checker, &miss)
                    || (may_go_direct && self.go_direct())
            }
        }
    }

    /// Sums every pair from now on, over the points in the tree's order.
    fn go_direct(&mut self) -> bool {
        let Engine::Tree(tree) = &mut self.engine else {
            return false;
        };
        self.engine = Engine::Direct(Box::new(G::take_direct(tree)));
        self.notes.push(format!(
            "direct: the {} does not keep the tolerance for these strengths",
            self.parameters.method
        ));
        self.parameters = Parameters::of_direct(self.summed.pairs());
        true
    }
}
