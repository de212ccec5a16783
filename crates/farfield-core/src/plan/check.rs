//! A plan looks at its own error: where targets are looked at, and how the next sum becomes more exact.

use super::Field;
use super::evaluate::{Engine, Plan, first_sum};
use crate::check::Check;
use crate::check::compare::{AtDrawn, OutputArray, OutputKind};
use crate::check::look::{Effort, Look};
use crate::check::sample::Sample;
use crate::check::truth::{CoreSizes, SourceArrays, TrueSums, TrueTargets};
use crate::direct::Direct;
use crate::fmm::Fmm;
use crate::fmm::harmonics::HarmonicOrders;
use crate::fmm::operators::Frame;
use crate::kernel::{Kernel, Output};
use crate::machine::available_memory;
use crate::p2p::SortedSizes;
use crate::p2p::{PairSums, Pairs, Skip, columns};
use crate::parallel::{for_chunks, for_segments};
use crate::simd::{Real, RsqrtAccuracy, SimdLevel};
use crate::sum::Method;
use crate::tree::lists::shift_of;
use crate::tuning::orders::{LevelWork, Raised};
use crate::tuning::truncation::{CLASSES, class_of, truncation_error};

/// How much of a box's summed strength counts as if it were random, for the expected error.
const COHERENT: f64 = 0.02;

/// What a plan needs to look at its error, kept from evaluation to evaluation.
#[derive(Debug)]
pub(super) struct Checker {
    look: Look,
    /// For every box, the squared strength of its sources.
    strength2: Vec<f64>,
    /// For every box, the squared error expected of what reaches it from others of its level.
    expected2: Vec<f64>,
    targets: TrueTargets<3>,
    sums: TrueSums,
}

/// Points and strengths of an engine.
struct EngineView<'a, T: Real> {
    simd: SimdLevel,
    pairs: Pairs,
    sources: [&'a [T]; 3],
    targets: Option<[&'a [T]; 3]>,
    size2: &'a SortedSizes<T>,
    tree: Option<&'a Fmm<T>>,
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
                tree: None,
            },
            Engine::Tree(fmm) => EngineView {
                simd: fmm.near.simd,
                pairs: fmm.near.pairs,
                sources: columns(&fmm.layout.sources.position),
                targets: fmm.layout.targets.as_ref().map(|targets| columns(&targets.position)),
                size2: &fmm.near.size2,
                tree: Some(fmm),
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
            look: Look::new((sources, targets), view.tree.is_some(), Effort::CPU),
            strength2: Vec::new(),
            expected2: Vec::new(),
            targets: TrueTargets::default(),
            sums: TrueSums::default(),
        }
    }

    /// So many of the caller's targets are each of the plan's, in the plan's order.
    pub fn with_times(mut self, times: Vec<u32>) -> Self {
        self.look.times = times;
        self
    }

    /// Draws targets, sums the truth at them and measures the error of `field`.
    pub fn measure<T: Real>(&mut self, plan: &Plan<T>, field: &Field<T>, tolerance: Option<f64>, check: &mut Check) {
        let size = (field.vectors(), field.targets());
        with_arrays(plan.request.kernel, field, |arrays| {
            self.look.survey(arrays, size);
            let tree = plan.engine.view().tree;
            if let Some(fmm) = tree {
                self.expect(plan, fmm, field);
            }
            let Self {
                look,
                expected2,
                targets,
                sums,
                ..
            } = self;
            let permutation = plan.target_permutation();
            let target_at = |at: u32| permutation.map_or(at, |permutation| permutation[at as usize]);
            let expected =
                |target: usize| tree.map_or(0.0, |fmm| expected_at(fmm, expected2, plan.engine_index(target)));
            look.find_candidates(arrays, size, &target_at, &expected);
            look.measure_arrays(arrays, size, tolerance, check, |sample, values| {
                sum_truth(plan, sample, targets, sums, values);
            });
        });
    }

    /// For every box, the squared error expected of what reaches it, outputs in units of their norms.
    fn expect<T: Real>(&mut self, plan: &Plan<T>, fmm: &Fmm<T>, field: &Field<T>) {
        self.weigh_sources(plan, fmm);
        self.expected2.clear();
        self.expected2.resize(fmm.layout.tree.nodes.len(), 0.0);
        let (blocks, strength2) = (&fmm.layout.lists.m2l, &self.strength2);
        let Some(first) = blocks.first().map(|block| block.targets.start) else {
            return;
        };
        let (outputs, squares) = (field.outputs(), self.look.squares());
        let start = |k: usize| blocks[k].targets.start;
        for_segments(&mut self.expected2[first..], 0..blocks.len(), &start, &|k, expected| {
            let block = &blocks[k];
            let side = fmm.layout.tree.side_of(block.level);
            for (shift, pairs) in block.by_shift() {
                let Some(class) = class_of(shift_of(shift)) else {
                    continue;
                };
                let order = usize::from(fmm.far.orders.m2l[block.level as usize][shift]);
                let mut error2 = 0.0;
                for (output, square) in outputs.iter().zip(squares) {
                    let d = output.derivatives();
                    let error = truncation_error(class, order, d) * side.powi(-1 - d as i32);
                    error2 += error * error / square.max(f64::MIN_POSITIVE);
                }
                for (target, source) in pairs {
                    expected[*target as usize - block.targets.start] += error2 * strength2[*source as usize];
                }
            }
        });
    }

    /// The squared strength of every box's sources.
    fn weigh_sources<T: Real>(&mut self, plan: &Plan<T>, fmm: &Fmm<T>) {
        let (nodes, streams) = (&fmm.layout.tree.nodes, fmm.far.streams());
        let count = fmm.layout.sources.position[0].len();
        self.strength2.clear();
        self.strength2.resize(nodes.len(), 0.0);
        let strengths = plan.sorted_strengths();
        for_chunks(&mut self.strength2, 64, &|k, out| {
            for (i, out) in out.iter_mut().enumerate() {
                let node = &nodes[64 * k + i];
                if !node.is_leaf() {
                    continue;
                }
                for stream in 0..streams {
                    let range =
                        stream * count + node.sources.start as usize..stream * count + node.sources.end as usize;
                    *out += strengths[range].iter().map(|q| q.to_f64() * q.to_f64()).sum::<f64>();
                }
            }
        });
        for at in (1..nodes.len()).rev() {
            self.strength2[nodes[at].parent as usize] += self.strength2[at];
        }
        // Sources of one sign act together: the first coefficient of a multipole is their sum.
        let (stride, coefficients) = (fmm.far.box_stride(), fmm.far.box_stride() / streams);
        for (at, strength2) in self.strength2.iter_mut().enumerate() {
            for stream in 0..streams {
                let sum = fmm.far.multipoles[at * stride + stream * coefficients].to_f64();
                *strength2 += COHERENT * sum * sum;
            }
        }
    }
}

/// Sums over all sources at the drawn targets.
fn sum_truth<T: Real>(
    plan: &Plan<T>,
    sample: &Sample,
    targets: &mut TrueTargets<3>,
    sums: &mut TrueSums,
    values: &mut AtDrawn,
) {
    let view = plan.engine.view();
    let positions = view.targets.unwrap_or(view.sources);
    let counts_itself = view.pairs.own_skip(view.targets.is_none()) == Skip::SameIndex;
    targets.set(sample, positions, counts_itself, |target| plan.engine_index(target));
    let (components, rows) = (view.pairs.strengths(), view.pairs.sums());
    let strengths = plan.sorted_strengths();
    let per_vector = components * view.sources[0].len();
    let sizes = CoreSizes::of(view.size2);
    for vector in 0..plan.request.vectors {
        let of_vector = &strengths[vector * per_vector..][..per_vector];
        let sources = SourceArrays::of_columns(view.sources, of_vector, components, sizes);
        sums.compute(view.simd, &view.pairs, &sources, targets);
        for (output, truth) in plan.request.outputs.iter().zip(&mut values.truth) {
            let (scale, from) = (plan.request.kernel.scale(*output), first_sum(*output));
            for sums in sums.sums.chunks(rows) {
                truth.extend(sums[from..from + output.components()].iter().map(|sum| scale * sum));
            }
        }
        for (all, of_vector) in values.absolute.iter_mut().zip(&sums.absolute) {
            *all = all.hypot(*of_vector);
        }
    }
}

/// What a measurement knows of an output.
pub fn output_kind(kernel: Kernel, output: Output) -> OutputKind {
    OutputKind {
        name: output.name(),
        components: output.components(),
        absolute: (output.derivatives(), kernel.scale(output).abs()),
    }
}

/// Calls `work` with the outputs of a field as plain arrays; there are at most as many as kernels have.
fn with_arrays<T: Real, R>(kernel: Kernel, field: &Field<T>, work: impl FnOnce(&[OutputArray<T>]) -> R) -> R {
    let of = |output: Output| OutputArray {
        kind: output_kind(kernel, output),
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

/// The squared error expected at a target, from the boxes it lies in: those expansions are worst in the corners.
fn expected_at<T: Real>(fmm: &Fmm<T>, expected2: &[f64], target: usize) -> f64 {
    let leaves = &fmm.layout.lists.leaves;
    let nodes = &fmm.layout.tree.nodes;
    let row = leaves.partition_point(|leaf| nodes[*leaf as usize].targets.end as usize <= target);
    let Some(leaf) = leaves.get(row) else { return 0.0 };
    let position = &fmm.layout.target_points().position;
    let (mut at, mut sum) = (*leaf as usize, 0.0);
    // Relative to the box's centre, in units of its side: at first to the leaf's.
    let mut u = Frame::of(&fmm.layout.tree, &nodes[at]).local(position.each_ref().map(|column| column[target]));
    loop {
        let node = &nodes[at];
        if expected2[at] > 0.0 {
            let highest = fmm.far.orders.m2l[node.level as usize]
                .iter()
                .filter(|order| **order > 0)
                .max();
            let power = f64::from(highest.map_or(1, |order| order + 1));
            let corner = u.iter().map(|c| c * c).sum::<f64>() / 0.75;
            // Over a box filled evenly, the mean of corner^p is 3.4/p^3.
            sum += expected2[at] * (0.3 + 0.7 * power.powi(3) / 3.4 * corner.min(1.0).powi(power as i32));
        }
        if at == 0 {
            return sum;
        }
        let octant = node.octant;
        for (axis, u) in u.iter_mut().enumerate() {
            *u = 0.5 * *u + if octant >> axis & 1 == 1 { 0.25 } else { -0.25 };
        }
        at = node.parent as usize;
    }
}

impl<T: Real> Plan<T> {
    /// The caller's number of each of the engine's targets; `None` for the same order.
    fn target_permutation(&self) -> Option<&[u32]> {
        match &self.engine {
            Engine::Direct(_) => self.direct_permutations.as_ref().map(|(_, targets)| &targets[..]),
            Engine::Tree(fmm) => Some(fmm.layout.tree.target_permutation()),
        }
    }

    /// Where one of the plan's targets is in the engine's order.
    fn engine_index(&self, target: usize) -> usize {
        self.rank.get(target).map_or(target, |rank| *rank as usize)
    }

    /// Makes the next sum more exact by `factor`, as far as the measured errors tell how; says whether it did.
    pub(super) fn become_more_exact(&mut self, checker: &Checker, factor: f64, check: &Check) -> bool {
        // Higher orders did not help: the error is not that of truncation, or not where the model has it.
        let in_vain = check.attempts > 1 && factor > 0.3 * self.last_factor;
        self.last_factor = factor;
        let may_go_direct = self.is_direct_affordable();
        let limit = self.request.options.memory_limit.or_else(available_memory);
        let raised = match &mut self.engine {
            Engine::Direct(direct) => {
                let better = direct.pairs.accuracy != RsqrtAccuracy::Full;
                direct.pairs.accuracy = RsqrtAccuracy::Full;
                return better;
            }
            Engine::Tree(_) if in_vain && may_go_direct => false,
            Engine::Tree(fmm) => {
                let by_model = self.parameters.method == Method::Fmm && !in_vain;
                let raised = by_model
                    .then(|| raised_by_model(fmm, &self.request.outputs, checker, factor, check))
                    .flatten();
                let raised = raised.or_else(|| Raised::everywhere(&fmm.far.orders.m2l, fmm.far.orders.highest, factor));
                // Exact pairs cost little beside what is to be done again.
                fmm.near.pairs.accuracy = RsqrtAccuracy::Full;
                let raised = raised
                    .filter(|raised| limit.is_none_or(|limit| fmm.far.bytes_at(&fmm.layout, raised.order) < limit));
                raised
                    .map(|raised| {
                        let orders = HarmonicOrders {
                            highest: raised.order,
                            m2l: raised.m2l_orders,
                        };
                        fmm.far.set_orders(&fmm.layout, orders);
                    })
                    .is_some()
            }
        };
        if raised {
            self.describe_orders();
        }
        raised || (may_go_direct && self.go_direct())
    }

    fn describe_orders(&mut self) {
        if let Engine::Tree(fmm) = &self.engine {
            self.parameters.order = Some(fmm.far.orders.highest);
            let of_block = |block: &crate::tree::lists::M2lBlock| {
                let orders = &fmm.far.orders.m2l[block.level as usize];
                block.by_shift().map(|(shift, _)| usize::from(orders[shift])).min()
            };
            self.parameters.lowest_m2l_order = fmm.layout.lists.m2l.iter().filter_map(of_block).min();
        }
    }

    /// Whether all pairs do not take so much longer than expected that nobody would want them.
    fn is_direct_affordable(&self) -> bool {
        let view = self.engine.view();
        let targets = view.targets.unwrap_or(view.sources)[0].len();
        let pairs = view.sources[0].len() as f64 * targets as f64;
        pairs < 4e9 || pairs < 20.0 * self.parameters.interactions.p2p as f64
    }

    /// Sums every pair from now on, over the points in the tree's order.
    fn go_direct(&mut self) -> bool {
        let Engine::Tree(fmm) = &mut self.engine else {
            return false;
        };
        let sources = std::mem::take(&mut fmm.layout.sources.position);
        let targets = fmm
            .layout
            .targets
            .as_mut()
            .map(|targets| std::mem::take(&mut targets.position));
        let pairs = sources[0].len() as u64 * targets.as_ref().unwrap_or(&sources)[0].len() as u64;
        let direct = Direct {
            simd: fmm.near.simd,
            pairs: Pairs {
                accuracy: RsqrtAccuracy::Full,
                ..fmm.near.pairs
            },
            vectors: fmm.near.vectors,
            sources,
            targets,
            size2: std::mem::replace(&mut fmm.near.size2, SortedSizes::Global(T::ZERO)),
        };
        let orders = (
            std::mem::take(&mut fmm.layout.tree.source_permutation),
            std::mem::take(&mut fmm.layout.tree.target_permutation),
        );
        let targets_of = if orders.1.is_empty() {
            orders.0.clone()
        } else {
            orders.1
        };
        self.direct_permutations = Some((orders.0, targets_of));
        self.notes.push(format!(
            "direct: the {} does not keep the tolerance for these strengths",
            self.parameters.method
        ));
        self.parameters = super::Parameters {
            method: Method::Direct,
            ..super::Parameters::default()
        };
        self.parameters.interactions.p2p = pairs;
        self.engine = Engine::Direct(Box::new(direct));
        true
    }
}

/// The orders with which measured errors fall by `factor`, where the model says which levels they come from.
fn raised_by_model<T: Real>(
    fmm: &Fmm<T>,
    outputs: &[Output],
    checker: &Checker,
    factor: f64,
    check: &Check,
) -> Option<Raised> {
    let measured: Vec<(usize, f64, f64)> = outputs
        .iter()
        .zip(checker.look.squares())
        .zip(&check.outputs)
        .map(|((output, square), measured)| (output.derivatives(), *square, measured.upper))
        .collect();
    Raised::new(&fmm.far.orders.m2l, &strength_work(fmm, checker), &measured, factor)
}

/// The work of a tree's M2L with the strengths of the last sum: each pair of boxes counts its targets times the squared
/// strength of its sources.
fn strength_work<T: Real>(fmm: &Fmm<T>, checker: &Checker) -> Vec<LevelWork> {
    let tree = &fmm.layout.tree;
    let mut levels: Vec<LevelWork> = (0..tree.levels.len())
        .map(|level| LevelWork::new(tree.side_of(level as u32)))
        .collect();
    for block in &fmm.layout.lists.m2l {
        let level = &mut levels[block.level as usize];
        for (shift, pairs) in block.by_shift() {
            let Some(class) = class_of(shift_of(shift)) else {
                continue;
            };
            level.translations[class] += pairs.len() as f64;
            for (target, source) in pairs {
                level.pairs[class] +=
                    tree.nodes[*target as usize].target_count() as f64 * checker.strength2[*source as usize];
            }
        }
    }
    debug_assert!(levels.iter().all(|level| level.pairs.len() == CLASSES));
    levels
}
