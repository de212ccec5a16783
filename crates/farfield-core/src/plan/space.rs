//! Plans in space.

use super::check::{Checker, Miss};
use super::engine::{Engine, Planned, Summation, View};
use super::units::Units;
use super::{Field, Parameters, Plan};
use crate::check::Check;
use crate::check::compare::AtDrawn;
use crate::check::sample::Sample;
use crate::check::truth::{CoreSizes, SourceArrays, TrueSums, TrueTargets};
use crate::direct::Direct;
use crate::error::Error;
use crate::fmm::Fmm;
use crate::fmm::harmonics::HarmonicOrders;
use crate::fmm::operators::Frame;
use crate::geometry::Space;
use crate::kernel::{Kernel, Output, reference};
use crate::machine::available_memory;
use crate::p2p::{PairSums, Pairs, SortedSizes, columns};
use crate::parallel::{for_chunks, for_segments};
use crate::report::Seconds;
use crate::simd::Real;
use crate::sum::{Method, Request, Sum};
use crate::tree::lists::shift_of;
use crate::tuning::orders::{LevelWork, Raised};
use crate::tuning::truncation::{CLASSES, class_of, truncation_error};
use std::ops::Range;

/// How much of a box's summed strength counts as if it were random, for the expected error.
const COHERENT: f64 = 0.02;

/// True sums at a few targets, and the errors expected at all.
#[derive(Debug, Default)]
pub(crate) struct SpaceTruth {
    /// For every box, the squared strength of its sources.
    strength2: Vec<f64>,
    /// For every box, the squared error expected of what reaches it from others of its level.
    expected2: Vec<f64>,
    targets: TrueTargets<3>,
    sums: TrueSums,
}

impl<T: Real> Plan<T> {
    /// From now on, gives memory back to the system as soon as an evaluation is done with it; the next evaluation is a
    /// little slower for it. For plans that are kept while others are evaluated, or that are evaluated once.
    pub fn spare_memory(&mut self) {
        self.is_sparing = true;
        if let Engine::Tree(fmm) = &mut self.engine {
            fmm.far.is_sparing = true;
        }
    }
}

impl Planned<Self> for Space {
    const SMALL: usize = 1 << 10;
    type Direct<T: Real> = Direct<T, Pairs, 3>;
    type Tree<T: Real> = Fmm<T>;
    type Truth = SpaceTruth;

    fn plan<T: Real>(sum: Sum<'_, T, Self>) -> Result<Plan<T>, Error> {
        T::plan(sum)
    }

    fn evaluate<T: Real>(plan: &mut Plan<T>, strengths: &[T], field: &mut Field<T>) -> Result<(), Error> {
        T::evaluate(plan, strengths, field)
    }

    fn build<T: Real>(sum: Sum<'_, T, Self>, _: &mut Seconds) -> Result<Plan<T>, Error> {
        let units = Units::new::<T>(sum.validate()?, sum.request.kernel);
        if units.are_the_callers() {
            sum.build()
        } else {
            sum.build_in(units)
        }
    }

    fn scale_strengths<T: Real>(plan: &Plan<T>, strengths: &[T], largest: f64, scaled: &mut Vec<T>) -> Option<i32> {
        let form = plan.request.kernel.form();
        if Units::of_strengths::<T>(largest) == 0 && plan.units.keep_strengths(form) {
            return None;
        }
        scaled.clear();
        scaled.extend_from_slice(strengths);
        Some(plan.units.scale_strengths(form, scaled))
    }

    fn output_unit(units: Units, output: Output, strengths: i32) -> i32 {
        units.of_output(output, strengths)
    }

    fn writer<T: Real>(kernel: Kernel, output: Output, _: usize) -> impl Fn(&[T], &mut [T]) + Sync {
        let (first, scale) = (first_sum(output), T::from_f64(kernel.scale(output)));
        move |sums, out| {
            for (value, sum) in out.iter_mut().zip(&sums[first..]) {
                *value = scale * *sum;
            }
        }
    }

    fn add_at_place(kernel: Kernel, output: Output, strength: &[f64], size: f64, sums: &mut [f64]) {
        if !kernel.is_singular(size > 0.0) {
            reference::add_pair(kernel, output, [0.0; 3], strength, size, sums);
        }
    }

    fn expect<T: Real>(truth: &mut SpaceTruth, plan: &Plan<T>, squares: &[f64]) {
        if let Engine::Tree(fmm) = &plan.engine {
            truth.expect(plan, fmm, squares);
        }
    }

    fn expected_at<T: Real>(truth: &SpaceTruth, fmm: &Fmm<T>, target: usize) -> f64 {
        expected_at(fmm, &truth.expected2, target)
    }

    fn sum_truth<T: Real>(truth: &mut SpaceTruth, plan: &Plan<T>, _: &[T], sample: &Sample, values: &mut AtDrawn) {
        let SpaceTruth { targets, sums, .. } = truth;
        let view = match &plan.engine {
            Engine::Direct(direct) => direct.view(),
            Engine::Tree(fmm) => View {
                pairs: fmm.near.pairs,
                sources: columns(&fmm.layout.sources.position),
                targets: fmm.layout.targets.as_ref().map(|targets| columns(&targets.position)),
                size2: &fmm.near.size2,
            },
        };
        view.set_targets(targets, sample, |target| plan.engine_index(target));
        let (components, rows) = (view.pairs.strengths(), view.pairs.sums());
        let per_vector = components * view.sources[0].len();
        let sizes = CoreSizes::of(view.size2);
        for vector in 0..plan.request.vectors {
            let of_vector = &plan.strengths[vector * per_vector..][..per_vector];
            let sources = SourceArrays::of_columns(view.sources, of_vector, components, sizes);
            sums.compute(plan.simd(), &view.pairs, &sources, targets);
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

    fn raise_order<T: Real>(
        fmm: &mut Fmm<T>,
        parameters: &mut Parameters,
        request: &Request<Self>,
        checker: &Checker<Self>,
        miss: &Miss,
    ) -> bool {
        if miss.in_vain && miss.may_go_direct {
            return false;
        }
        let by_model = parameters.method == Method::Fmm && !miss.in_vain;
        let raised = by_model
            .then(|| raised_by_model(fmm, &request.outputs, checker, miss.factor, miss.check))
            .flatten();
        let raised = raised.or_else(|| Raised::everywhere(&fmm.far.orders.m2l, fmm.far.orders.highest, miss.factor));
        // Exact pairs cost little beside what is to be done again.
        fmm.make_exact();
        let limit = request.options.memory_limit.or_else(available_memory);
        let fits = |raised: &Raised| limit.is_none_or(|limit| fmm.far.bytes_at(&fmm.layout, raised.order) < limit);
        let Some(raised) = raised.filter(fits) else {
            return false;
        };
        let orders = HarmonicOrders {
            highest: raised.order,
            m2l: raised.m2l_orders,
        };
        fmm.far.set_orders(&fmm.layout, orders);
        parameters.order = Some(fmm.far.orders.highest);
        let of_block = |block: &crate::tree::lists::M2lBlock| {
            let orders = &fmm.far.orders.m2l[block.level as usize];
            block.by_shift().map(|(shift, _)| usize::from(orders[shift])).min()
        };
        parameters.lowest_m2l_order = fmm.layout.lists.m2l.iter().filter_map(of_block).min();
        true
    }

    fn take_direct<T: Real>(fmm: &mut Fmm<T>) -> Direct<T, Pairs, 3> {
        fmm.make_exact();
        let (layout, near) = (&mut fmm.layout, &mut fmm.near);
        let sources = std::mem::take(&mut layout.sources.position);
        let targets = layout.targets.as_mut();
        let targets = targets.map(|targets| std::mem::take(&mut targets.position));
        let of_sources = std::mem::take(&mut layout.tree.source_permutation);
        let of_targets = match &targets {
            None => of_sources.clone(),
            Some(_) => std::mem::take(&mut layout.tree.target_permutation),
        };
        Direct {
            simd: near.simd,
            pairs: near.pairs,
            vectors: near.vectors,
            sources,
            targets,
            size2: std::mem::replace(&mut near.size2, SortedSizes::Global(T::ZERO)),
            permutations: Some([of_sources, of_targets]),
        }
    }
}

impl<T: Real> Summation<T> for Fmm<T> {
    fn rows(&self) -> usize {
        self.near.rows()
    }

    fn streams(&self) -> usize {
        self.near.vectors * self.near.pairs.strengths()
    }

    fn source_permutation(&self) -> Option<&[u32]> {
        Some(&self.layout.tree.source_permutation)
    }

    fn target_permutation(&self) -> Option<&[u32]> {
        Some(self.layout.tree.target_permutation())
    }

    fn blocks(&self) -> usize {
        self.layout.lists.leaves.len()
    }

    fn block(&self, block: usize) -> Range<usize> {
        self.layout.leaf_range(block)
    }

    fn sum(&mut self, method: Method, strengths: &[T], sums: &mut [T], seconds: &mut Seconds) {
        if method == Method::Fmm {
            self.evaluate(strengths, sums, seconds);
        } else {
            self.evaluate_treecode(strengths, sums, seconds);
        }
    }

    fn make_exact(&mut self) -> bool {
        self.near.pairs.make_exact()
    }

    fn deserves_threads(&self) -> bool {
        true
    }

    fn give_back(&mut self) {
        Fmm::give_back(self);
    }
}

impl SpaceTruth {
    /// For every box, the squared error expected of what reaches it, outputs in units of their norms.
    fn expect<T: Real>(&mut self, plan: &Plan<T>, fmm: &Fmm<T>, squares: &[f64]) {
        self.weigh_sources(plan, fmm);
        self.expected2.clear();
        self.expected2.resize(fmm.layout.tree.nodes.len(), 0.0);
        let (blocks, strength2) = (&fmm.layout.lists.m2l, &self.strength2);
        let Some(first) = blocks.first().map(|block| block.targets.start) else {
            return;
        };
        let outputs = &plan.request.outputs;
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
        let strengths = &plan.strengths;
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

/// The orders with which measured errors fall by `factor`, where the model says which levels they come from.
fn raised_by_model<T: Real>(
    fmm: &Fmm<T>,
    outputs: &[Output],
    checker: &Checker<Space>,
    factor: f64,
    check: &Check,
) -> Option<Raised> {
    let measured: Vec<(usize, f64, f64)> = outputs
        .iter()
        .zip(checker.look.squares())
        .zip(&check.outputs)
        .map(|((output, square), measured)| (output.derivatives(), *square, measured.upper))
        .collect();
    Raised::new(
        &fmm.far.orders.m2l,
        &strength_work(fmm, &checker.truth.strength2),
        &measured,
        factor,
    )
}

/// The work of a tree's M2L with the strengths of the last sum: each pair of boxes counts its targets times the squared
/// strength of its sources.
fn strength_work<T: Real>(fmm: &Fmm<T>, strength2: &[f64]) -> Vec<LevelWork> {
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
                level.pairs[class] += tree.nodes[*target as usize].target_count() as f64 * strength2[*source as usize];
            }
        }
    }
    debug_assert!(levels.iter().all(|level| level.pairs.len() == CLASSES));
    levels
}

/// Where an output starts among the sums of a target.
pub fn first_sum(output: Output) -> usize {
    match output {
        Output::Potential | Output::Velocity => 0,
        Output::Gradient | Output::Acceleration => 1,
        Output::Hessian => 4,
        Output::VelocityGradient => 3,
    }
}
