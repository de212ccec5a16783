//! A step, on one screen.

use super::model::{Moment, OMEGA, RATES, Solver, VELOCITY};
use crate::error::Error;
use farfield_grid::poisson::{Accuracy, Poisson, Precision};
use std::time::Instant;

/// $\lambda\Delta t$ of the passes at an impulsive start.
const START_STRENGTH: f64 = 1e3;
/// Vorticity that fades at the ends of the box is worth a remark from this share on.
const FADED: f64 = 1e-4;

impl<T: Precision> Solver<T> {
    /// From the present moment, whose velocity is known, to the next.
    pub(super) fn step(&mut self, step: f64, number: u64) -> Result<Vec<String>, Error> {
        let begin = Instant::now();
        let mut remarks = Vec::new();
        self.penalise(step)?;
        self.impulse_after = self.impulse()?;
        self.velocity_at_middle(step)?;
        // In turns, so that over two steps the order of both does not matter: second order in time.
        let (moved, spread) = if number.is_multiple_of(2) {
            let (_, spread) = self.stretch_and_diffuse(step)?;
            (self.advect(step)?, spread)
        } else {
            let moved = self.advect(step)?;
            (moved, self.stretch_and_diffuse(step)?.1)
        };
        (self.work.lost_moving, self.work.lost_spreading) = (moved.lost(), spread.lost());
        self.work.faded = self.fade()?;
        if self.work.faded > FADED {
            let share = 100.0 * self.work.faded;
            remarks.push(format!(
                "step {number}: {share:.3} % of the vorticity faded at the ends of the box"
            ));
        }
        let every = self.setup.flow.clean_every;
        if every > 0 && number.is_multiple_of(every) {
            self.clean()?;
        }
        if number.is_multiple_of(self.setup.grid.adapt_every) && self.adapt()?.capped {
            let most = self.setup.grid.most_blocks;
            remarks.push(format!(
                "step {number}: not refined, as there would be more than grid.most_blocks = {most} blocks"
            ));
        }
        self.time += step;
        self.last_step = step;
        self.now = None;
        self.work.other_seconds = begin.elapsed().as_secs_f64();
        Ok(remarks)
    }

    /// The velocity of the vorticity, and what follows from it: the largest gradients and the forces.
    pub(super) fn look_at(&mut self) -> Result<Moment, Error> {
        if !self.started {
            self.start()?;
            self.started = true;
        }
        let sources = self.solve_velocity()?;
        let begin = Instant::now();
        let extremes = self.grid.convection(VELOCITY, RATES)?;
        let forces = self.forces()?;
        self.work.other_seconds += begin.elapsed().as_secs_f64();
        Ok(Moment {
            extremes,
            forces,
            sources,
        })
    }

    /// Bodies appear in the stream at once: velocity and penalisation take turns until the flow in them is at rest.
    fn start(&mut self) -> Result<(), Error> {
        if self.setup.bodies.is_empty() {
            return Ok(());
        }
        for _ in 0..self.setup.flow.start_passes {
            self.solve_velocity()?;
            self.penalise(START_STRENGTH / self.setup.lambda)?;
        }
        self.impulse_after = self.impulse()?;
        Ok(())
    }

    /// Sets the velocity to that of the vorticity and the stream; returns how many points were sources.
    fn solve_velocity(&mut self) -> Result<usize, Error> {
        let begin = Instant::now();
        let largest = self.grid.largest(OMEGA)?;
        let sources = if largest > 0.0 {
            let poisson = self.poisson().threshold(self.setup.flow.source_cutoff * largest);
            poisson.solve_velocity(&mut self.grid, OMEGA, VELOCITY)?.sources
        } else {
            self.grid.values_mut(VELOCITY)?.fill(T::ZERO);
            0
        };
        let stream = self.setup.flow.stream.map(T::from_f64);
        self.grid.update_blocks(VELOCITY, |_, values| {
            let points = values.len() / 3;
            for c in 0..3 {
                for value in &mut values[c * points..(c + 1) * points] {
                    *value += stream[c];
                }
            }
        })?;
        self.work.solve_seconds = begin.elapsed().as_secs_f64();
        Ok(sources)
    }

    /// The Poisson problem as the case wants it.
    pub(super) fn poisson(&self) -> Poisson {
        Poisson::new(Accuracy::Tolerance(self.setup.tolerance))
            .simd(self.summation.simd)
            .device(self.summation.device)
    }
}
