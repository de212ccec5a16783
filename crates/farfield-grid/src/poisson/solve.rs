//! The solution: its steps in order.

use super::kernel::{Kernel, Quantity};
use super::lists::bricks;
use super::precision::Precision;
use super::report::Report;
use super::sources::Sources;
use super::treecode::timed;
use super::tuning::Parameters;
use super::{Accuracy, Method, Poisson, PoissonDevice, self_term};
use crate::error::Error;
use crate::grid::Grid;
use farfield::Device;
use std::time::Instant;

/// A method with its parameters.
pub(super) enum Way {
    Fmm { tolerance: f64 },
    Treecode(Parameters),
}

impl Poisson {
    /// Sets channel `potential` to the solution of $\nabla^2\psi=-\omega$ in free space, where channel `source` holds
    /// $\omega$. Both channels have one, two or three components.
    ///
    /// # Errors
    /// [`Error::Parameter`], [`Error::UnknownChannel`], [`Error::InPlace`], [`Error::Components`],
    /// [`Error::NotFinite`], [`Error::Unsupported`], [`Error::SolutionMemory`], [`Error::Sum`]. On an error channel
    /// `potential` is unchanged.
    pub fn solve<T: Precision>(&self, grid: &mut Grid<T>, source: &str, potential: &str) -> Result<Report, Error> {
        self.sum(grid, source, potential, Quantity::Potential)
    }

    /// Sets channel `velocity` to $u=\nabla\times\psi$, computed directly from the gradients of kernel and expansions.
    /// The alternative is to solve for $\psi$ and apply [`crate::operators::Curl`] to it. Both channels have three
    /// components.
    ///
    /// # Errors
    /// As [`Poisson::solve`].
    pub fn solve_velocity<T: Precision>(
        &self,
        grid: &mut Grid<T>,
        vorticity: &str,
        velocity: &str,
    ) -> Result<Report, Error> {
        let found = grid.channel(vorticity)?.components();
        if found != 3 {
            return Err(Error::Components {
                name: vorticity.to_owned(),
                found,
                expected: 3,
            });
        }
        self.sum(grid, vorticity, velocity, Quantity::Velocity)
    }

    /// Sources -> choice of method -> sum -> self term.
    fn sum<T: Precision>(&self, grid: &mut Grid<T>, from: &str, to: &str, quantity: Quantity) -> Result<Report, Error> {
        self.check()?;
        check_channels(grid, from, to)?;
        let (start, mut gathering, mut choosing) = (Instant::now(), 0.0, 0.0);
        let sources = timed(&mut gathering, || {
            Ok::<_, Error>(Sources::gather(grid, grid.channel(from)?, self, quantity))
        })?;
        self.check_memory(grid, &sources)?;
        let way = timed(&mut choosing, || self.way(grid, &sources, quantity))?;
        let (mut report, mut values) = match way {
            Way::Fmm { tolerance } => self.by_fmm(grid, sources, tolerance, quantity)?,
            Way::Treecode(parameters) => self.by_treecode(grid, sources, parameters, quantity)?,
        };
        match (self.kernel, quantity) {
            (Kernel::Singular, Quantity::Potential) => {
                self_term::add_to_potential(grid, grid.channel(from)?, self.threshold, &mut values);
            }
            (Kernel::Singular, Quantity::Velocity) => {
                self_term::add_to_velocity(grid, grid.channel(from)?, &mut values);
            }
            (Kernel::Regularised(_), _) => {}
        }
        *grid.values_vec_mut(to)? = values;
        report.seconds.sources = gathering;
        report.seconds.plan += choosing;
        report.seconds.total = start.elapsed().as_secs_f64();
        Ok(report)
    }

    /// The method asked for, or the one expected to be faster.
    fn way<T: Precision>(&self, grid: &Grid<T>, sources: &Sources<T>, quantity: Quantity) -> Result<Way, Error> {
        let no = |what, instead| Err(Error::Unsupported { what, instead });
        let on_cores = self.device.resolved() == Device::Cpu.into();
        match (self.method, self.accuracy) {
            (Some(Method::Fmm), Accuracy::Fixed { .. }) => {
                no("FMM with a fixed theta and order", "a tolerance, or the treecode")
            }
            (Some(Method::Fmm), _) if matches!(self.device, PoissonDevice::Hybrid(_)) => {
                no("FMM on a GPU together with the CPU", "one device, or the treecode")
            }
            (Some(Method::Fmm), Accuracy::Tolerance(tolerance)) => Ok(Way::Fmm { tolerance }),
            (None, Accuracy::Tolerance(tolerance)) if on_cores => {
                let bricks = bricks(grid);
                let parameters = self.parameters(grid, sources, &bricks, quantity);
                let fmm = self.fmm_cost(grid, sources, &bricks, tolerance, quantity);
                Ok(if fmm < parameters.cost {
                    Way::Fmm { tolerance }
                } else {
                    Way::Treecode(parameters)
                })
            }
            _ => Ok(Way::Treecode(self.parameters(grid, sources, &bricks(grid), quantity))),
        }
    }
}

/// Checks that `source` can be the right-hand side for `potential`.
fn check_channels<T: Precision>(grid: &Grid<T>, source: &str, potential: &str) -> Result<(), Error> {
    if source == potential {
        return Err(Error::InPlace {
            name: source.to_owned(),
        });
    }
    let components = grid.channel(source)?.components();
    let wrong = |name: &str, found, expected| {
        Err(Error::Components {
            name: name.to_owned(),
            found,
            expected,
        })
    };
    if components > 3 {
        return wrong(source, components, 3);
    }
    let found = grid.channel(potential)?.components();
    if found != components {
        return wrong(potential, found, components);
    }
    grid.check_finite(source)
}
