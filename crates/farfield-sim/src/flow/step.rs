//! A time step of a flow, on one screen.

use super::model::{CARRIED, Moment, OMEGA, RATES, Solver, VELOCITY};
use crate::error::Error;
use farfield::plan::Parameters;
use farfield::report::Interactions;
use farfield_grid::poisson::{Accuracy, Method, Poisson, Precision, Report};
use std::time::Instant;

/// The fraction of the vorticity above which fading at the boundary of the box is reported.
const FADED: f64 = 1e-4;

impl<T: Precision> Solver<T> {
    /// Advances from the current time, at which the velocity is known, by `step`.
    pub(super) fn step(&mut self, step: f64, number: u64) -> Result<Vec<String>, Error> {
        let begin = Instant::now();
        let mut remarks = Vec::new();
        let before = self.now.map(|moment| moment.sums).unwrap_or_default();
        (self.impulse_before, self.passing_before) = (before.impulse, before.passing);
        self.penalise(step)?;
        [self.work.lost_moving, self.work.lost_spreading] = self.transport(step)?;
        self.work.faded = self.fade()?;
        if self.work.faded > FADED {
            let share = 100.0 * self.work.faded;
            remarks.push(format!(
                "step {number}: {share:.3} % of the vorticity faded at the boundary of the box"
            ));
        }
        let every = self.setup.flow.clean_every;
        if every > 0 && number.is_multiple_of(every) {
            self.clean()?;
        }
        self.push(0.5 * step)?;
        if number.is_multiple_of(self.setup.grid.adapt_every) && self.adapt()?.capped {
            let (most, wanted) = (self.most_blocks(), self.setup.grid.most_blocks);
            let why = if most < wanted {
                "fit into memory"
            } else {
                "grid.most_blocks allows"
            };
            remarks.push(format!(
                "step {number}: not refined, because that needs more than the {most} blocks that {why}"
            ));
        }
        self.time += step;
        self.last_step = step;
        self.now = None;
        self.work.other_seconds = begin.elapsed().as_secs_f64();
        Ok(remarks)
    }

    /// Computes the velocity from the vorticity, and from it the extremes, sums and forces.
    pub(super) fn look_at(&mut self) -> Result<Moment, Error> {
        if !self.started {
            self.start()?;
            self.started = true;
        }
        let sources = self.solve_velocity()?;
        let begin = Instant::now();
        let extremes = self.grid.convection(VELOCITY, RATES)?;
        let sums = self.sums()?;
        let forces = self.forces(&sums)?;
        self.work.other_seconds += begin.elapsed().as_secs_f64();
        Ok(Moment {
            extremes,
            sums,
            forces,
            sources,
        })
    }

    /// The impulsive start: alternates velocity and penalisation until the flow inside the bodies is stopped.
    fn start(&mut self) -> Result<(), Error> {
        if self.setup.bodies.is_empty() {
            return Ok(());
        }
        for _ in 0..self.setup.flow.start_passes {
            self.solve_velocity()?;
            self.stop_at_once()?;
        }
        Ok(())
    }

    /// Sets the velocity to that of the vorticity plus the stream. Returns the number of source points.
    pub(super) fn solve_velocity(&mut self) -> Result<usize, Error> {
        let begin = Instant::now();
        // The Poisson solution needs the most memory; these channels are only used between two solutions.
        for channel in [RATES, CARRIED] {
            self.grid.clear(channel)?;
        }
        let largest = self.grid.largest(OMEGA)?;
        let sources = if largest > 0.0 {
            let poisson = self.poisson().threshold(self.setup.flow.source_cutoff * largest);
            let report = poisson.solve_velocity(&mut self.grid, OMEGA, VELOCITY)?;
            let parameters = parameters_of(&report);
            self.summation.remember("velocity", parameters, report.seconds.total);
            report.sources
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

    /// The Poisson problem with the settings of the case.
    pub(super) fn poisson(&self) -> Poisson {
        let poisson = Poisson::new(Accuracy::Tolerance(self.setup.tolerance))
            .simd(self.summation.simd)
            .device(self.summation.device);
        match farfield::Method::from(self.summation.settings.method) {
            farfield::Method::Treecode => poisson.method(Method::Treecode),
            farfield::Method::Fmm => poisson.method(Method::Fmm),
            _ => poisson,
        }
    }
}

/// The report of a Poisson solution as the parameters of a sum.
fn parameters_of(report: &Report) -> Parameters {
    Parameters {
        method: match report.method {
            Method::Treecode => farfield::Method::Treecode,
            Method::Fmm => farfield::Method::Fmm,
        },
        order: report.order,
        lowest_m2l_order: None,
        theta: report.theta,
        leaf_capacity: report.leaf_capacity,
        depth: Some(report.depth),
        boxes: report.boxes,
        interactions: Interactions::default(),
    }
}
