//! The sum by the library's fast multipole method, grid points being its targets.

use super::report::{Interactions, Report, Seconds};
use super::sources::Sources;
use super::{Method, Poisson};
use crate::error::Error;
use crate::forest::BLOCK_POINTS;
use crate::grid::{Grid, point_coordinates};
use farfield::kernel::{Core, Kernel, Output};
use farfield::report::Phase;
use farfield::simd::{Real, SimdLevel};
use farfield::{Field, Plan, Sum};
use rayon::prelude::*;
use std::f64::consts::PI;

/// What is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// $\sum w_j/r$, for each component of the weights.
    Potential,
    /// $\sum w_j\times(x-x_j)/r^3$.
    Velocity,
}

/// The sums at all points of the grid, ordered as a channel's numbers are.
pub(super) fn sum<T: Real>(
    solver: &Poisson,
    grid: &Grid<T>,
    sources: &Sources<T>,
    tolerance: f64,
    quantity: Quantity,
) -> Result<(Report, Vec<T>), Error> {
    let simd = solver.simd.unwrap_or_else(SimdLevel::best);
    let components = sources.components();
    if sources.is_empty() {
        let values = vec![T::ZERO; grid.points() * components];
        return Ok((report(grid, sources, simd), values));
    }
    let points: Vec<[T; 3]> = (0..sources.len())
        .into_par_iter()
        .map(|j| [0, 1, 2].map(|axis| sources.position[axis][j]))
        .collect();
    let targets: Vec<[T; 3]> = (0..grid.points())
        .into_par_iter()
        .map(|k| {
            let x = grid.position(k / BLOCK_POINTS, point_coordinates(k % BLOCK_POINTS));
            x.map(T::from_f64)
        })
        .collect();
    let mut sum = match quantity {
        Quantity::Potential => Sum::new(Kernel::Coulomb, &points).vectors(components),
        Quantity::Velocity => Sum::new(Kernel::BiotSavart { core: Core::Singular }, &points),
    };
    sum = sum
        .targets(&targets)
        .tolerance(tolerance)
        .method(farfield::Method::Fmm)
        .simd(simd);
    if let Some(capacity) = solver.leaf_capacity {
        sum = sum.leaf_capacity(capacity);
    }
    let mut plan = sum.plan()?;
    let field = plan.evaluate(&strengths(sources, quantity))?;
    let mut report = report(grid, sources, simd);
    add_plan(&mut report, &plan);
    Ok((report, in_blocks(&field, components, quantity)))
}

/// The weights as the library wants them: vector by vector, or three for each source.
fn strengths<T: Real>(sources: &Sources<T>, quantity: Quantity) -> Vec<T> {
    match quantity {
        Quantity::Potential => sources.weights.concat(),
        Quantity::Velocity => {
            // The library's kernel has the factor 1/(4 pi) that the weights contain.
            let factor = T::from_f64(4.0 * PI);
            let of = |j: usize| [0, 1, 2].map(|c| factor * sources.weights[c][j]);
            (0..sources.len()).flat_map(of).collect()
        }
    }
}

/// From point by point to block by block and component by component.
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
        seconds: Seconds::default(),
    }
}

fn add_plan<T: Real>(report: &mut Report, plan: &Plan<T>) {
    let (parameters, phases) = (plan.parameters(), plan.seconds());
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
