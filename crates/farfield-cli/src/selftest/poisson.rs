//! Lists of bricks on a graphics processor against the processor's cores.

use super::Error;
use super::checks::{Checks, Extent, Row};
use farfield::{Device, cuda};
use farfield_grid::flows::GaussianRing;
use farfield_grid::forest::{BLOCK_POINTS, Domain, Forest};
use farfield_grid::grid::{Grid, Sampling};
use farfield_grid::poisson::{Accuracy, Kernel, Poisson, PoissonDevice, Precision, Quantity, Smoothing};
use std::sync::Arc;

/// Compares potentials and velocities of every kernel and order, alone on the device and beside the cores, and evaluation in
/// several passes with one; hands each row to `report` as it comes.
pub fn run(gpu: &Arc<cuda::Device>, extent: Extent, report: &mut dyn FnMut(&Row)) -> Result<(), Error> {
    let mut checks = Checks::default();
    add_checks::<f32>(&mut checks);
    add_checks::<f64>(&mut checks);
    checks.run(gpu, extent, report)
}

fn add_checks<T: Precision>(checks: &mut Checks) {
    for kernel in [Kernel::Singular, Kernel::Regularised(Smoothing::OwnSpacing)] {
        for (order, components, quantity) in [
            (4, 1, Quantity::Potential),
            (6, 1, Quantity::Potential),
            (6, 3, Quantity::Potential),
            (8, 2, Quantity::Potential),
            (10, 3, Quantity::Velocity),
            (12, 3, Quantity::Potential),
        ] {
            for device in [|number| Device::Cuda(number).into(), PoissonDevice::Hybrid] {
                checks.add(move |gpu| {
                    against_cores::<T>(kernel, order, components, quantity, device(gpu.properties().ordinal))
                });
            }
        }
    }
    checks.add(passes::<T>);
}

/// A ring across a jump in level.
fn grid<T: Precision>(components: usize) -> Result<Grid<T>, Error> {
    let forest = Forest::uniform([1; 3], 1).refined([0, 3]);
    let mut grid = Grid::<T>::builder(Domain::unit_cube()).forest(forest).build()?;
    grid.add_channel("omega", 3)?;
    let ring = GaussianRing::in_unit_cube();
    grid.fill_vector("omega", Sampling::Point, |x| ring.vorticity(x))?;
    if components < 3 {
        let values = grid.channel("omega")?.values().to_vec();
        grid.remove_channel("omega")?;
        grid.add_channel("omega", components)?;
        let block = BLOCK_POINTS;
        let kept = grid.values_mut("omega")?.chunks_exact_mut(components * block);
        for (kept, all) in kept.zip(values.chunks_exact(3 * block)) {
            kept.copy_from_slice(&all[..components * block]);
        }
    }
    grid.add_channel("result", components)?;
    Ok(grid)
}

fn against_cores<T: Precision>(
    kernel: Kernel,
    order: usize,
    components: usize,
    quantity: Quantity,
    device: PoissonDevice,
) -> Result<Row, Error> {
    let mut grid = grid::<T>(components)?;
    let theta = 0.6;
    let solver = Poisson::new(Accuracy::Fixed { theta, order })
        .kernel(kernel)
        .leaf_capacity(50);
    let mut solve = |solver: Poisson| -> Result<Vec<T>, Error> {
        match quantity {
            Quantity::Potential => solver.solve(&mut grid, "omega", "result")?,
            Quantity::Velocity => solver.solve_velocity(&mut grid, "omega", "result")?,
        };
        Ok(grid.channel("result")?.values().to_vec())
    };
    let want = solve(solver.clone())?;
    let got = solve(solver.device(device))?;
    Ok(Row {
        what: format!("bricks, {kernel} {quantity:?}, {components} components, {device}").to_lowercase(),
        precision: T::NAME,
        points: format!("{} blocks", grid.forest().leaves().len()),
        parameters: format!("theta {theta}, order {order}"),
        measured: difference(&got, &want),
        // Roots of the cores are as exact as the truncation asks for.
        allowed: (1e-3 * theta.powi(order as i32)).max(if T::DOUBLE { 1e-12 } else { 2e-5 }),
    })
}

/// Evaluation in passes of a few bricks gives the same bits as in one.
fn passes<T: Precision>(gpu: &Arc<cuda::Device>) -> Result<Row, Error> {
    let mut grid = grid::<T>(1)?;
    let solver = Poisson::new(Accuracy::Fixed { theta: 0.6, order: 6 })
        .leaf_capacity(50)
        .device(Device::Cuda(gpu.properties().ordinal));
    let mut solve = |solver: Poisson| -> Result<Vec<T>, Error> {
        solver.solve(&mut grid, "omega", "result")?;
        Ok(grid.channel("result")?.values().to_vec())
    };
    let (one, several) = (solve(solver.clone())?, solve(solver.bricks_per_pass(24))?);
    let differing = one.iter().zip(&several).filter(|(a, b)| a != b).count();
    Ok(Row {
        what: "bricks in passes of 24, values that differ from one pass".to_owned(),
        precision: T::NAME,
        points: format!("{} values", one.len()),
        parameters: "theta 0.6, order 6".to_owned(),
        measured: differing as f64,
        allowed: 0.0,
    })
}

fn difference<T: Precision>(got: &[T], want: &[T]) -> f64 {
    let (mut difference, mut size) = (0.0, 0.0);
    for (got, want) in got.iter().zip(want) {
        difference += (got.to_f64() - want.to_f64()).powi(2);
        size += want.to_f64().powi(2);
    }
    (difference / size).sqrt()
}
