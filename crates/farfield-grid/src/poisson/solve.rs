//! Solving: the steps in order.

use super::kernel::Kernel;
use super::precision::Precision;
use super::report::Report;
use super::sources::Sources;
use super::{Accuracy, Method, Poisson, fmm, self_term};
use crate::error::Error;
use crate::grid::Grid;
use std::time::Instant;

impl Poisson {
    /// Sets channel `potential` to the solution of $\nabla^2\psi=-\omega$ in free space, $\omega$ being channel
    /// `source`; both have one, two or three components.
    ///
    /// # Errors
    /// [`Error::Parameter`], [`Error::UnknownChannel`], [`Error::InPlace`], [`Error::Components`],
    /// [`Error::NotFinite`], [`Error::Sum`]; channel `potential` is then unchanged.
    pub fn solve<T: Precision>(&self, grid: &mut Grid<T>, source: &str, potential: &str) -> Result<Report, Error> {
        self.check()?;
        check_channels(grid, source, potential)?;
        let start = Instant::now();
        let sources = Sources::gather(grid, grid.channel(source)?, self);
        let gathered = start.elapsed().as_secs_f64();
        let (mut report, mut values) = match (self.method, self.kernel, self.accuracy) {
            (Some(Method::Treecode), ..) | (None, Kernel::Regularised(_), _) | (None, _, Accuracy::Fixed { .. }) => {
                self.by_treecode(grid, sources)
            }
            (None | Some(Method::Fmm), Kernel::Singular, Accuracy::Tolerance(tolerance)) => {
                fmm::sum(self, grid, &sources, tolerance, fmm::Quantity::Potential)?
            }
            (Some(Method::Fmm), Kernel::Regularised(_), _) => {
                return Err(Error::Unsupported {
                    what: "the FMM with the regularised kernel",
                    instead: "the treecode, or the singular kernel",
                });
            }
            (Some(Method::Fmm), _, Accuracy::Fixed { .. }) => {
                return Err(Error::Unsupported {
                    what: "the FMM with a fixed theta and order",
                    instead: "a tolerance, or the treecode",
                });
            }
        };
        if self.kernel == Kernel::Singular {
            self_term::add_to_potential(grid, grid.channel(source)?, self.threshold, &mut values);
        }
        *grid.values_vec_mut(potential)? = values;
        report.seconds.sources = gathered;
        report.seconds.total = start.elapsed().as_secs_f64();
        Ok(report)
    }

    /// Sets channel `velocity` to $u=\nabla\times\psi=\sum_j\frac{\omega_jh_j^3\times(x-x_j)}{4\pi|x-x_j|^3}$ with the
    /// singular kernel, straight from the gradients of the expansions. The other way is to solve for $\psi$ and to apply
    /// [`crate::operators::Curl`] to it.
    ///
    /// # Errors
    /// As [`Poisson::solve`], and [`Error::Unsupported`] for the regularised kernel or fixed parameters.
    pub fn solve_velocity<T: Precision>(
        &self,
        grid: &mut Grid<T>,
        vorticity: &str,
        velocity: &str,
    ) -> Result<Report, Error> {
        self.check()?;
        check_channels(grid, vorticity, velocity)?;
        let found = grid.channel(vorticity)?.components();
        if found != 3 {
            return Err(Error::Components {
                name: vorticity.to_owned(),
                found,
                expected: 3,
            });
        }
        let (Kernel::Singular, Accuracy::Tolerance(tolerance), None | Some(Method::Fmm)) =
            (self.kernel, self.accuracy, self.method)
        else {
            return Err(Error::Unsupported {
                what: "velocity from expansions with this kernel, accuracy or method",
                instead: "the singular kernel, a tolerance and the FMM, or the curl of the stream function",
            });
        };
        let start = Instant::now();
        let sources = Sources::gather(grid, grid.channel(vorticity)?, self);
        let gathered = start.elapsed().as_secs_f64();
        let (mut report, mut values) = fmm::sum(self, grid, &sources, tolerance, fmm::Quantity::Velocity)?;
        self_term::add_to_velocity(grid, grid.channel(vorticity)?, &mut values);
        *grid.values_vec_mut(velocity)? = values;
        report.seconds.sources = gathered;
        report.seconds.total = start.elapsed().as_secs_f64();
        Ok(report)
    }
}

/// Whether `source` can be the right-hand side for `potential`.
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
