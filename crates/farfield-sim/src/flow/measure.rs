//! Measurements of a flow: forces by three methods, invariants, sizes.

use super::control::Passing;
use super::model::{Moment, OMEGA, Solver, VELOCITY};
use super::penalise::place;
use crate::error::Error;
use crate::model::ENERGY;
use crate::vec3::{Vec3, add, add_scaled, cross, dot, norm, sub};
use farfield_grid::poisson::Precision;
use farfield_grid::{BLOCK_POINTS, Read};

/// Forces on the bodies at one time, for a fluid of density one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Forces {
    /// From penalisation: the momentum that bodies take from the flow.
    pub penalty: Vec3,
    /// From the impulse: its loss over the last step, extrapolated to the end of the step.
    pub impulse: Vec3,
    /// From the control box around the bodies; zero if there is no such box.
    pub control: Vec3,
    /// The torque from penalisation, about the centre of the first body.
    pub torque: Vec3,
}

/// Sums over all points.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    pub impulse: Vec3,
    pub total: Vec3,
    pub absolute: f64,
    pub energy: f64,
    pub enstrophy: f64,
    /// The impulse and flux of the control box.
    pub passing: Passing,
}

/// The names of the values that [`Solver::measure_all`] returns.
pub(super) const COLUMNS: [&str; 29] = [
    "T",
    "drag",
    "drag_penalty",
    "drag_impulse",
    "drag_control",
    "drag_friction",
    "lift_y",
    "lift_z",
    "torque_x",
    "torque_y",
    "torque_z",
    ENERGY,
    "enstrophy",
    "impulse_x",
    "impulse_y",
    "impulse_z",
    "total_vorticity",
    "divergence",
    "lost_moving",
    "lost_spreading",
    "faded",
    "wake_length",
    "separation",
    "max_gradient",
    "blocks",
    "points",
    "sources",
    "solve_seconds",
    "other_seconds",
];

impl<T: Precision> Solver<T> {
    /// The forces at the current time; zero before the first step.
    pub(super) fn forces(&self, sums: &Sums) -> Result<Forces, Error> {
        if self.setup.bodies.is_empty() || self.last_step == 0.0 {
            return Ok(Forces::default());
        }
        // The acceleration is known over the last step and the next one; the current time is between them.
        let (step, last, next) = (self.last_step, self.held, self.pull(self.last_step)?);
        let middle = |last: f64, next: f64| -0.5 * (last + next);
        let lost = sub(self.impulse_before, sums.impulse).map(|c| c / step);
        let change = sub(next.momentum, last.momentum);
        Ok(Forces {
            penalty: std::array::from_fn(|c| middle(last.momentum[c], next.momentum[c])),
            impulse: std::array::from_fn(|c| lost[c] - 0.5 * change[c]),
            control: match self.setup.control {
                Some(_) => {
                    let (before, now) = (self.passing_before, sums.passing);
                    let lost = sub(before.impulse, now.impulse);
                    std::array::from_fn(|c| lost[c] / step + 0.5 * (before.flux[c] + now.flux[c] - change[c]))
                }
                None => [0.0; 3],
            },
            torque: std::array::from_fn(|c| middle(last.moment[c], next.moment[c])),
        })
    }

    /// All columns of the table at one time.
    pub(super) fn measure_all(&self, moment: &Moment) -> Result<Vec<f64>, Error> {
        let sums = &moment.sums;
        let setup = &self.setup;
        let along = |force: Vec3| setup.coefficient(dot(force, setup.along));
        let across =
            |force: Vec3, axis: usize| setup.coefficient(force[axis] - dot(force, setup.along) * setup.along[axis]);
        let forces = &moment.forces;
        let torque = forces.torque.map(|c| setup.coefficient(c) / setup.length);
        let total = if sums.absolute > 0.0 {
            norm(sums.total) / sums.absolute
        } else {
            0.0
        };
        let wake = self.wake()?;
        let mut values = vec![
            2.0 * setup.speed * self.time / setup.length,
            along(forces.impulse),
            along(forces.penalty),
            along(forces.impulse),
            along(forces.control),
            setup.coefficient(wake.friction),
            across(forces.impulse, 1),
            across(forces.impulse, 2),
        ];
        values.extend(torque);
        values.extend([sums.energy, sums.enstrophy]);
        values.extend(sums.impulse);
        values.extend([
            total,
            self.divergence()?,
            self.work.lost_moving,
            self.work.lost_spreading,
            self.work.faded,
            wake.length,
            wake.separation,
            moment.extremes.gradient,
            self.grid.forest().leaves().len() as f64,
            self.grid.points() as f64,
            moment.sources as f64,
            self.work.solve_seconds,
            self.work.other_seconds,
        ]);
        debug_assert_eq!(values.len(), COLUMNS.len());
        Ok(values)
    }

    /// Impulse, totals, enstrophy, and the energy $\int u\cdot(x\times\omega)$ of the motion relative to the stream.
    pub(super) fn sums(&self) -> Result<Sums, Error> {
        let (domain, offset) = (*self.grid.domain(), self.grid.wavelet().offset());
        let stream = self.setup.flow.stream;
        let parts = self
            .grid
            .look(&[Read::new(OMEGA, 0), Read::new(VELOCITY, 0)], |inputs| {
                let mut sums = Sums::default();
                let (h, corner) = (inputs[0].spacing(), domain.corner(inputs[0].block()));
                let (w, v) = (
                    [inputs[0].values(0), inputs[0].values(1), inputs[0].values(2)],
                    [inputs[1].values(0), inputs[1].values(1), inputs[1].values(2)],
                );
                for k in 0..BLOCK_POINTS {
                    let omega = [w[0][k].to_f64(), w[1][k].to_f64(), w[2][k].to_f64()];
                    if omega == [0.0; 3] {
                        continue;
                    }
                    let x = place(corner, h, offset, k);
                    let u = [
                        v[0][k].to_f64() - stream[0],
                        v[1][k].to_f64() - stream[1],
                        v[2][k].to_f64() - stream[2],
                    ];
                    let moment = cross(x, omega);
                    sums.impulse = add(sums.impulse, moment);
                    sums.total = add(sums.total, omega);
                    sums.absolute += norm(omega);
                    sums.energy += dot(u, moment);
                    sums.enstrophy += dot(omega, omega);
                }
                (h * h * h, sums)
            })?;
        let mut all = Sums::default();
        if let Some(control) = &self.setup.control {
            all.passing = self.passing(control)?;
        }
        for (volume, part) in parts {
            all.impulse = add_scaled(all.impulse, 0.5 * volume, part.impulse);
            all.total = add_scaled(all.total, volume, part.total);
            all.absolute += volume * part.absolute;
            all.energy += volume * part.energy;
            all.enstrophy += volume * part.enstrophy;
        }
        Ok(all)
    }
}
