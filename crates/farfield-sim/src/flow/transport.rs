//! Transport of vorticity: stretching, diffusion and advection.

use super::model::{CARRIED, OMEGA, PREVIOUS, RATES, Solver, VELOCITY};
use crate::error::Error;
use farfield_grid::operators::LARGEST_LAPLACIAN;
use farfield_grid::poisson::Precision;

/// The length of a sub-step, as a fraction of the stability limit of diffusion.
const DIFFUSION_SAFETY: f64 = 0.8;

impl<T: Precision> Solver<T> {
    /// Extrapolates the previous velocity, which does not exist before the first step, from the velocity after a trial
    /// step. The trial step is undone.
    fn look_ahead(&mut self, step: f64) -> Result<(), Error> {
        let begin = [OMEGA, VELOCITY].map(|channel| self.grid.channel(channel).map(|c| c.values().to_vec()));
        let [omega, velocity] = begin;
        let (omega, velocity) = (omega?, velocity?);
        self.last_step = step;
        self.grid.values_mut(PREVIOUS)?.copy_from_slice(&velocity);
        self.transport(step)?;
        self.solve_velocity()?;
        self.grid.combine(PREVIOUS, [VELOCITY], |before, [ahead]| {
            for k in 0..before.len() {
                before[k] = before[k] + before[k] - ahead[k];
            }
        })?;
        self.grid.values_mut(OMEGA)?.copy_from_slice(&omega);
        self.grid.values_mut(VELOCITY)?.copy_from_slice(&velocity);
        Ok(())
    }

    /// Extrapolates the velocity to the midpoint of the next step from its change over the last step. The current
    /// velocity is saved as the previous one.
    pub(super) fn velocity_at_middle(&mut self, step: f64) -> Result<(), Error> {
        let share = if self.last_step > 0.0 {
            0.5 * step / self.last_step
        } else {
            0.0
        };
        let share = T::from_f64(share.min(1.0));
        self.grid
            .combine(RATES, [VELOCITY, PREVIOUS], |middle, [now, before]| {
                for k in 0..middle.len() {
                    middle[k] = now[k] + share * (now[k] - before[k]);
                }
            })?;
        self.grid.swap(VELOCITY, PREVIOUS)?;
        Ok(self.grid.swap(VELOCITY, RATES)?)
    }

    /// Strang splitting of second order in time: stretching and diffusion over half a step, advection over the whole
    /// step, stretching and diffusion over the other half. Returns the fractions of the vorticity lost in advection and
    /// in the rest.
    pub(super) fn transport(&mut self, step: f64) -> Result<[f64; 2], Error> {
        if self.last_step == 0.0 && self.setup.bodies.is_empty() {
            self.look_ahead(step)?;
        }
        let viscosity = self.viscosity_over(step);
        self.velocity_at_middle(step)?;
        let [before, _] = self.grid.integrals(OMEGA)?;
        self.stretch_and_diffuse(0.5 * step, viscosity)?;
        let [spread, _] = self.grid.integrals(OMEGA)?;
        self.advect(step)?;
        let [moved, _] = self.grid.integrals(OMEGA)?;
        self.stretch_and_diffuse(0.5 * step, viscosity)?;
        // Losses at level jumps are returned to where there is vorticity.
        let balance = self.grid.restore_integrals(OMEGA, &before)?;
        let moving = balance.share(&moved, &spread);
        let spreading = balance.share(&spread, &before) + balance.share(&balance.after, &moved);
        Ok([moving, spreading])
    }

    /// The mean viscosity over the next step. It is zero while the boundary layer on an impulsively started body would
    /// be thinner than the initial vortex sheet.
    fn viscosity_over(&self, step: f64) -> f64 {
        let acting = |time: f64| (time - self.setup.sheet_age).max(0.0);
        self.setup.viscosity * (acting(self.time + step) - acting(self.time)) / step
    }

    /// Stretching and diffusion over the time `step` by the midpoint rule, in as many sub-steps as diffusion on the
    /// finest level needs to be stable.
    fn stretch_and_diffuse(&mut self, step: f64, viscosity: f64) -> Result<(), Error> {
        let h = self.grid.finest_spacing();
        let fourier = viscosity * step * LARGEST_LAPLACIAN / (2.0 * h * h);
        let parts = (fourier / DIFFUSION_SAFETY).ceil().max(1.0) as u32;
        let part = step / f64::from(parts);
        for _ in 0..parts {
            self.grid
                .vorticity_after(OMEGA, VELOCITY, viscosity, 0.5 * part, CARRIED)?;
            self.grid
                .add_vorticity_rates(CARRIED, VELOCITY, viscosity, part, OMEGA)?;
        }
        Ok(())
    }

    /// Moves every point with the flow, to second order, and remeshes.
    fn advect(&mut self, step: f64) -> Result<(), Error> {
        // After half a step a point has the velocity u + dt/2 (u . grad) u.
        self.grid.convection(VELOCITY, RATES)?;
        let half = T::from_f64(0.5 * step);
        self.grid.combine(RATES, [VELOCITY], |values, [velocity]| {
            for k in 0..values.len() {
                values[k] = velocity[k] + half * values[k];
            }
        })?;
        self.grid.remesh(self.setup.kernel, OMEGA, RATES, step, CARRIED)?;
        Ok(self.grid.swap(OMEGA, CARRIED)?)
    }
}
