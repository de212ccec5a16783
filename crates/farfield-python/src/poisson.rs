//! The free-space Poisson problem on a uniform grid.

use crate::failure::Failure;
use crate::numbers::{AnyNumbers, Scalar, Values};
use crate::pools::{check_device, with_threads};
use crate::wait;
use farfield_grid::poisson::{Accuracy, Poisson, PoissonDevice, Precision};
use farfield_grid::{Adaptation, BLOCK_SIDE, Domain, Grid};
use pyo3::prelude::*;

/// A problem as the package describes it.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Problem {
    /// The field, component by component, each with x fastest.
    numbers: AnyNumbers,
    shape: [usize; 3],
    components: usize,
    spacing: f64,
    tolerance: f64,
    velocity: bool,
    /// Thresholds of the wavelet details above which blocks are refined and below which they are joined; `None` keeps
    /// the grid uniform.
    adapt: Option<(f64, f64)>,
    device: String,
    threads: Option<usize>,
}

impl From<farfield_grid::Error> for Failure {
    fn from(error: farfield_grid::Error) -> Self {
        Failure::Argument(format!("field: {error}"))
    }
}

impl Problem {
    /// The deepest level at which blocks fill the array exactly, and the number of root cubes in each direction.
    fn level_and_roots(&self) -> Result<(u8, [u32; 3]), Failure> {
        let blocks = self.shape.map(|side| side / BLOCK_SIDE);
        if blocks.contains(&0) || self.shape.iter().any(|side| side % BLOCK_SIDE != 0) {
            return Err(Failure::Argument(format!(
                "field: its shape is {:?}; every side must be a multiple of {BLOCK_SIDE}",
                self.shape
            )));
        }
        let level = blocks
            .iter()
            .map(|count| count.trailing_zeros())
            .min()
            .unwrap_or(0)
            .min(8);
        Ok((level as u8, blocks.map(|count| (count >> level) as u32)))
    }

    fn solve<T: Scalar + Precision>(&self) -> Result<Values, Failure> {
        let (level, roots) = self.level_and_roots()?;
        let root_side = self.spacing * (BLOCK_SIDE << level) as f64;
        let builder = Grid::<T>::builder(Domain::new([0.0; 3], roots, root_side)?);
        let mut grid = builder.start_level(level).build()?;
        grid.add_channel("omega", self.components)?;
        grid.set_uniform("omega", self.numbers.slice("field")?)?;
        if let Some((refine, join)) = self.adapt {
            let adaptation = Adaptation::new(refine, join, level);
            for _ in 0..2 * level + 2 {
                if grid.adapt(&["omega"], &adaptation)?.rounds == 0 {
                    break;
                }
            }
        }
        let components = if self.velocity { 3 } else { self.components };
        grid.add_channel("result", components)?;
        let device: PoissonDevice = self
            .device
            .parse()
            .map_err(|text| Failure::Argument(format!("device: {text}")))?;
        let solver = Poisson::new(Accuracy::Tolerance(self.tolerance)).device(check_device(device)?);
        if self.velocity {
            solver.solve_velocity(&mut grid, "omega", "result")?;
        } else {
            solver.solve(&mut grid, "omega", "result")?;
        }
        let values = (0..components).map(|component| grid.uniform("result", component, level));
        Ok(T::values(values.collect::<Result<_, _>>()?))
    }
}

/// Solves the problem. Returns one flat array per component, x fastest.
#[pyfunction]
pub fn poisson(py: Python<'_>, problem: Problem) -> PyResult<Vec<Py<PyAny>>> {
    let solved = wait::long(py, move || {
        with_threads(problem.threads, || match problem.numbers {
            AnyNumbers::Single(_) => problem.solve::<f32>(),
            AnyNumbers::Double(_) => problem.solve::<f64>(),
        })?
    })?;
    Ok(solved?.into_arrays(py))
}
