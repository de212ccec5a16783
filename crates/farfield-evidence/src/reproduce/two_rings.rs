//! The problem of van Rees et al.: one component of two compact vortex rings on a grid adapted to them.

use crate::Error;
use farfield_grid::flows::CompactRing;
use farfield_grid::poisson::{Poisson, Precision, Report};
use farfield_grid::{Adaptation, Domain, Grid, Sampling, Wavelet};

/// The component of the vorticity that the paper solves for.
const COMPONENT: usize = 1;

/// The rings on their grid: channels `omega` and `psi`.
#[derive(Debug, Clone)]
pub struct TwoRings<T> {
    pub grid: Grid<T>,
}

impl<T: Precision> TwoRings<T> {
    /// Adapts a grid to the vorticity with the paper's thresholds, up to 256^3 points (64^3 if quick).
    pub fn new(quick: bool) -> Result<Self, Error> {
        let adaptation = Adaptation::new(1e-2, 1e-4, if quick { 2 } else { 4 });
        let vorticity = |x| {
            let [a, b] = CompactRing::two_rings().map(|ring| ring.vorticity(x));
            [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
        };
        // 64 points along a side see every feature of the rings.
        let mut grid = Grid::builder(Domain::unit_cube())
            .wavelet(Wavelet::AverageInterpolating5)
            .start_level(2)
            .build()?;
        grid.add_channel("omega", 3)?;
        grid.adapt_to(&["omega"], &adaptation, |grid| {
            grid.fill_vector("omega", Sampling::Point, vorticity)
        })?;
        grid.remove_channel("omega")?;
        grid.add_channel("omega", 1)?;
        grid.fill_scalar("omega", Sampling::Point, |x| vorticity(x)[COMPONENT])?;
        grid.add_channel("psi", 1)?;
        Ok(Self { grid })
    }

    /// Solves for channel `psi`.
    pub fn solve(&mut self, solver: &Poisson) -> Result<Report, Error> {
        Ok(solver.solve(&mut self.grid, "omega", "psi")?)
    }

    /// Solves twice and returns the second report: the first pays for compiling kernels and touching memory.
    pub fn warm(&mut self, solver: &Poisson) -> Result<Report, Error> {
        self.solve(solver)?;
        self.solve(solver)
    }
}
