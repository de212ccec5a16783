//! The sum by the library's fast multipole method, with the grid points as targets.

use super::kernel::{Kernel, Pair, Quantity};
use super::lists::{BrickLists, bricks};
use super::precision::Precision;
use super::report::{Interactions, Report, SolveSeconds};
use super::sources::Sources;
use super::tree::SourceTree;
use super::treecode::{OnCores, Parts, Share, timed};
use super::{Method, Poisson};
use crate::error::Error;
use crate::forest::BLOCK_POINTS;
use crate::grid::{Grid, point_coordinates};
use farfield::kernel::{Core, Kernel as PointKernel, Output, Sizes};
use farfield::report::Phase;
use farfield::simd::{Real, SimdLevel};
use farfield::{Field, Plan, Sum};
use rayon::prelude::*;
use std::f64::consts::PI;

/// The leaf capacity of the tree for corrections: small, because everything within the clearance is summed pair by
/// pair.
const CORRECTION_LEAF: usize = 64;

impl Poisson {
    /// The sums at all points of the grid, in the order of a channel's values. The library's potential has the singular
    /// kernel, so the difference to the regularised kernel is added over near pairs. The library's velocity has a core
    /// of the regularised shape.
    pub(super) fn by_fmm<T: Precision>(
        &self,
        grid: &Grid<T>,
        sources: Sources<T>,
        tolerance: f64,
        quantity: Quantity,
    ) -> Result<(Report, Vec<T>), Error> {
        let simd = self.simd.unwrap_or_else(SimdLevel::best);
        let mut report = report(grid, &sources, simd);
        let components = sources.components();
        if sources.is_empty() {
            return Ok((report, vec![T::ZERO; grid.points() * components]));
        }
        let corrected = self.kernel != Kernel::Singular && quantity == Quantity::Potential;
        // Half of the tolerance is for the sum, half for the pairs beyond the clearance, which are not corrected.
        let share = if corrected { 0.5 * tolerance } else { tolerance };
        // The memory of a flow peaks here, with all fields of the grid and this sum: each array is dropped after its
        // last use.
        let (points, strengths) = (points(&sources), strengths(&sources, quantity));
        let sizes = match quantity {
            Quantity::Velocity => sizes(&sources),
            Quantity::Potential => Sizes::None,
        };
        let sources = corrected.then_some(sources);
        let mut plan = self.plan_sum(grid, (points, sizes, components), share, quantity)?;
        plan.spare_memory();
        let field = timed(&mut report.seconds.evaluation, || plan.evaluate(&strengths))?;
        add_plan(&mut report, &plan);
        drop((plan, strengths));
        let mut values = in_blocks(&field, components, quantity);
        drop(field);
        if let Some(sources) = sources {
            let correction = self.correction(grid, sources, share, &mut report);
            for (value, correction) in values.iter_mut().zip(correction) {
                *value += correction;
            }
        }
        Ok((report, values))
    }

    /// The library's plan for a sum of `components` components at all points of the grid.
    fn plan_sum<T: Precision>(
        &self,
        grid: &Grid<T>,
        (points, sizes, components): (Vec<[T; 3]>, Sizes<T>, usize),
        tolerance: f64,
        quantity: Quantity,
    ) -> Result<Plan<T>, Error> {
        let mut targets = vec![[T::ZERO; 3]; grid.points()];
        let blocks = targets.par_chunks_exact_mut(BLOCK_POINTS).enumerate();
        blocks.for_each(|(leaf, targets)| {
            let lattice = grid.lattice(leaf);
            for (point, target) in targets.iter_mut().enumerate() {
                let [x, y, z] = lattice.at(point_coordinates(point).map(|c| c as isize));
                *target = [T::from_f64(x), T::from_f64(y), T::from_f64(z)];
            }
        });
        let biot_savart = |core| Sum::new(PointKernel::BiotSavart { core }, &points);
        let mut sum = match (quantity, self.kernel) {
            (Quantity::Potential, _) => Sum::new(PointKernel::Coulomb, &points).vectors(components),
            (Quantity::Velocity, Kernel::Singular) => biot_savart(Core::Singular),
            (Quantity::Velocity, Kernel::Regularised(_)) => biot_savart(Core::WinckelmansLeonard).sizes(sizes),
        };
        sum = sum
            .targets(&targets)
            .tolerance(tolerance)
            .method(farfield::Method::Fmm)
            .device(self.device.of_sums())
            .simd(self.simd.unwrap_or_else(SimdLevel::best));
        if let Some(capacity) = self.leaf_capacity {
            sum = sum.leaf_capacity(capacity);
        }
        if let Some(bytes) = grid.memory_left() {
            sum = sum.memory_limit(bytes);
        }
        Ok(sum.plan()?)
    }

    /// The sum of the regularised minus the singular kernel over the pairs within the clearance.
    fn correction<T: Precision>(
        &self,
        grid: &Grid<T>,
        sources: Sources<T>,
        tolerance: f64,
        report: &mut Report,
    ) -> Vec<T> {
        let clearance = self.clearance(tolerance, Quantity::Potential);
        let parts = timed(&mut report.seconds.plan, || {
            let (bricks, tree) = (
                bricks(grid),
                SourceTree::build(&sources, grid.domain(), CORRECTION_LEAF),
            );
            let lists = BrickLists::near(&bricks, &tree, &tree.clearances(&sources, clearance));
            Parts::without_expansions(sources, tree, bricks, lists)
        });
        let on_cores = OnCores {
            pair: Pair::Correction,
            simd: report.simd,
            accuracy: T::rsqrt_accuracy(report.simd, 0.01 * tolerance),
        };
        let correction = on_cores.evaluate(&parts, Share::Direct, &mut report.seconds);
        report.interactions.direct += parts.lists.direct_interactions();
        correction
    }
}

/// The positions of the sources in the library's layout.
fn points<T: Real>(sources: &Sources<T>) -> Vec<[T; 3]> {
    (0..sources.len())
        .into_par_iter()
        .map(|j| [0, 1, 2].map(|axis| sources.position[axis][j]))
        .collect()
}

/// The smoothing lengths; empty for the singular kernel.
fn sizes<T: Real>(sources: &Sources<T>) -> Sizes<T> {
    let lengths = sources.epsilon2.iter().map(|e| T::from_f64(e.to_f64().sqrt()));
    Sizes::PerSource(lengths.collect())
}

/// The weights in the library's layout: vector by vector, or three per source.
fn strengths<T: Real>(sources: &Sources<T>, quantity: Quantity) -> Vec<T> {
    match quantity {
        Quantity::Potential => sources.weights.concat(),
        Quantity::Velocity => {
            // The weights contain the factor 1/(4 pi) that the library's kernel applies.
            let factor = T::from_f64(4.0 * PI);
            let of = |j: usize| [0, 1, 2].map(|c| factor * sources.weights[c][j]);
            (0..sources.len()).flat_map(of).collect()
        }
    }
}

/// Rearranges the results from point order to block by block and component by component.
fn in_blocks<T: Real>(field: &Field<T>, components: usize, quantity: Quantity) -> Vec<T> {
    let mut values = vec![T::ZERO; field.targets() * components];
    values
        .par_chunks_exact_mut(BLOCK_POINTS)
        .enumerate()
        .for_each(|(k, values)| {
            let (first, component) = (k / components * BLOCK_POINTS, k % components);
            match quantity {
                Quantity::Potential => {
                    let potential = field.of_vector(Output::Potential, component).unwrap_or(&[]);
                    values.copy_from_slice(&potential[first..first + BLOCK_POINTS]);
                }
                Quantity::Velocity => {
                    for (value, velocity) in values.iter_mut().zip(&field.velocity()[first..]) {
                        *value = velocity[component];
                    }
                }
            }
        });
    values
}

fn report<T: Real>(grid: &Grid<T>, sources: &Sources<T>, simd: SimdLevel) -> Report {
    Report {
        method: Method::Fmm,
        device: "cpu",
        sources: sources.len(),
        targets: grid.points(),
        theta: None,
        order: None,
        leaf_capacity: None,
        boxes: 0,
        depth: 0,
        simd,
        rsqrt: None,
        interactions: Interactions::default(),
        seconds: SolveSeconds::default(),
    }
}

fn add_plan<T: Precision>(report: &mut Report, plan: &Plan<T>) {
    let (parameters, phases) = (plan.parameters(), plan.seconds());
    report.device = plan.processor().device();
    report.order = parameters.order;
    report.leaf_capacity = parameters.leaf_capacity;
    report.boxes = parameters.boxes;
    report.depth = parameters.depth.unwrap_or(0);
    report.interactions = Interactions {
        direct: parameters.interactions.p2p,
        indirect: parameters.interactions.m2p,
        translations: parameters.interactions.m2l,
    };
    report.seconds.tree = phases.of(Phase::Tree);
    report.seconds.expansions = phases.of(Phase::P2m) + phases.of(Phase::M2m);
    report.seconds.direct = phases.of(Phase::P2p);
    report.seconds.indirect = [Phase::M2l, Phase::P2l, Phase::L2l, Phase::L2p, Phase::M2p]
        .iter()
        .map(|phase| phases.of(*phase))
        .sum();
}
