//! The error against the exact solution, if it is known.

use super::field_on_grid::{FieldOnGrid, VorticitySource};
use super::settings::Components;
use crate::failure::Failure;
use farfield::points::Random;
use farfield::simd::Real;
use farfield_grid::BLOCK_POINTS;

/// Points at which a slow exact solution is evaluated.
const SAMPLES: usize = 400;

/// A measured error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The relative L2 error of the stream function.
    pub relative_l2: f64,
    /// The number of points compared.
    pub samples: usize,
}

/// Compares channel `psi` with the exact stream function: at all points, weighted by volume, or at random points if the
/// exact one is slow to evaluate.
pub fn measure<T: Real>(problem: &FieldOnGrid<T>) -> Result<Option<Measured>, Failure> {
    let Some(exact) = problem.field.stream_function() else {
        return Ok(None);
    };
    let axes: Vec<usize> = match problem.components {
        Components::All => vec![0, 1, 2],
        Components::One(axis) => vec![axis],
        // For numbers from a file, no exact solution is known.
        Components::Scalar => return Ok(None),
    };
    let grid = &problem.grid;
    let (mut difference, mut size, mut samples) = (0.0, 0.0, grid.points());
    if problem.field == VorticitySource::TwoRings {
        for (component, axis) in axes.into_iter().enumerate() {
            difference += grid.integrate("psi", component, |x, psi| (psi - exact(x)[axis]).powi(2))?;
            size += grid.integrate("psi", component, |x, _| exact(x)[axis].powi(2))?;
        }
    } else {
        let psi = grid.channel("psi")?;
        let mut random = Random::new(1);
        samples = SAMPLES;
        for _ in 0..SAMPLES {
            let at = (random.uniform() * grid.points() as f64) as usize;
            let (leaf, point) = (at / BLOCK_POINTS, at % BLOCK_POINTS);
            let want = exact(grid.position(leaf, [point % 16, point / 16 % 16, point / 256]));
            for (component, axis) in axes.iter().enumerate() {
                let got = psi.block(leaf, component)[point].to_f64();
                difference += (got - want[*axis]).powi(2);
                size += want[*axis].powi(2);
            }
        }
    }
    Ok(Some(Measured {
        relative_l2: (difference / size).sqrt(),
        samples,
    }))
}
