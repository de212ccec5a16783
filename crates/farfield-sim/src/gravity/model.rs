//! Bodies as a [`Model`].

use super::on_device::{BodiesOnDevice, MomentOnDevice};
use super::{Bodies, initial};
use crate::case::{Case, Gravity, Scheme, Time};
use crate::device::Memory;
use crate::error::{CaseError, Error};
use crate::integrate::composition;
use crate::model::{Cloud, ENERGY, Kept, Limit, Model, Show, Snapshot, State, StepChoice};
use crate::summation::{Request, Summation};
use crate::vec3::{Vec3, add_scaled, all_finite, cross, dot, norm};
use farfield::kernel::{Kernel, Output, Sizes};
use farfield::tuning::MachineProfile;
use rayon::prelude::*;
use std::sync::Arc;

/// Bodies and the forces between them.
#[derive(Debug)]
pub struct GravityModel {
    settings: Gravity,
    scheme: Scheme,
    /// The bodies; where they are in a device's memory, what was last brought from there.
    bodies: Bodies,
    forces: Option<Forces>,
    /// The bodies in a device's memory, if they stay there.
    there: Option<BodiesOnDevice>,
    kept: Kept<MomentOnDevice>,
    summation: Summation,
}

/// The field at the bodies.
#[derive(Debug, Default)]
pub(super) struct Forces {
    pub accelerations: Vec<Vec3>,
    pub potentials: Vec<f64>,
}

impl GravityModel {
    /// Builds the initial state of a case with a `[gravity]` section.
    ///
    /// # Errors
    /// [`CaseError`] if the section is missing.
    pub fn new(case: &Case, profile: MachineProfile) -> Result<Self, CaseError> {
        let settings = case.gravity.clone().ok_or_else(|| CaseError {
            origin: "case".to_owned(),
            line: None,
            column: None,
            message: "the section [gravity] is missing".to_owned(),
        })?;
        Ok(Self {
            bodies: initial::bodies(&settings, case.seed),
            settings,
            scheme: case.time.scheme,
            forces: None,
            there: None,
            kept: Kept::Nothing,
            summation: Summation::new(case.sum.clone(), profile),
        })
    }

    /// The bodies as they are now.
    pub fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// The sum for the field at the bodies, as yet without them.
    fn forces_sum(&self) -> Request<'static> {
        let sizes = if self.settings.softening > 0.0 {
            Sizes::Global(self.settings.softening)
        } else {
            Sizes::None
        };
        Request {
            what: "bodies",
            kernel: Kernel::Gravity {
                constant: self.settings.constant,
            },
            sources: &[],
            sizes,
            strengths: &[],
            vectors: 1,
            targets: None,
            outputs: &[Output::Potential, Output::Acceleration],
            tolerance: None,
        }
    }

    fn sum_forces(&mut self) -> Result<Forces, Error> {
        let field = self.summation.evaluate(Request {
            sources: &self.bodies.positions,
            strengths: &self.bodies.masses,
            ..self.forces_sum()
        })?;
        Ok(Forces {
            accelerations: field.acceleration().to_vec(),
            potentials: field.potential().to_vec(),
        })
    }

    /// `velocities += h accelerations`
    fn kick(&mut self, h: f64) -> Result<(), Error> {
        if let Some(there) = &mut self.there {
            return there.kick(h);
        }
        if let Some(forces) = &self.forces {
            move_along(&mut self.bodies.velocities, h, &forces.accelerations);
        }
        Ok(())
    }

    /// `positions += h velocities`; the forces are then unknown.
    fn drift(&mut self, h: f64) -> Result<(), Error> {
        self.forces = None;
        if let Some(there) = &mut self.there {
            return there.drift(h);
        }
        move_along(&mut self.bodies.positions, h, &self.bodies.velocities);
        Ok(())
    }

    /// Brings the bodies, where they are in a device's memory.
    fn bring(&mut self) -> Result<(), Error> {
        match &mut self.there {
            Some(there) => there.bring(&mut self.bodies),
            None => Ok(()),
        }
    }

    fn kinetic(&self) -> f64 {
        let parts = self.bodies.velocities.iter().zip(&self.bodies.masses);
        parts.map(|(v, m)| 0.5 * m * dot(*v, *v)).sum()
    }

    fn potential(&self) -> f64 {
        let potentials = self.forces.as_ref().map_or(&[][..], |forces| &forces.potentials);
        potentials
            .iter()
            .zip(&self.bodies.masses)
            .map(|(phi, m)| 0.5 * m * phi)
            .sum()
    }

    fn largest_acceleration(&self) -> f64 {
        let accelerations = self.forces.as_ref().map_or(&[][..], |forces| &forces.accelerations);
        accelerations.iter().map(|a| norm(*a)).fold(0.0, f64::max)
    }
}

fn move_along(values: &mut [Vec3], h: f64, rates: &[Vec3]) {
    values
        .par_iter_mut()
        .zip(rates)
        .with_min_len(1 << 14)
        .for_each(|(value, rate)| *value = add_scaled(*value, h, *rate));
}

/// The arrays of a checkpoint.
fn state_of(bodies: &Bodies) -> State {
    let mut state = State::default();
    state.push_vectors("positions", &bodies.positions);
    state.push_vectors("velocities", &bodies.velocities);
    state.push_numbers("masses", &bodies.masses);
    state
}

impl Model for GravityModel {
    fn evaluate(&mut self) -> Result<(), Error> {
        let request = self.forces_sum();
        if let Some(there) = &mut self.there {
            return there.evaluate(&request, &mut self.summation);
        }
        if self.forces.is_none() {
            self.forces = Some(self.sum_forces()?);
        }
        Ok(())
    }

    fn columns(&self) -> Vec<String> {
        let mut names: Vec<String> = [ENERGY, "kinetic_energy", "potential_energy", "virial_ratio"]
            .map(str::to_owned)
            .to_vec();
        for vector in ["momentum", "angular_momentum", "centre"] {
            names.extend(["x", "y", "z"].map(|axis| format!("{vector}_{axis}")));
        }
        names.extend(["max_velocity", "max_acceleration"].map(str::to_owned));
        names
    }

    fn measure(&mut self, _with_energy: bool) -> Result<Vec<f64>, Error> {
        self.evaluate()?;
        self.bring()?;
        if let (Some(there), None) = (&self.there, &self.forces) {
            self.forces = there.fetch_forces()?;
        }
        let (kinetic, potential) = (self.kinetic(), self.potential());
        let (mut mass, mut momentum, mut spin, mut centre) = (0.0, [0.0; 3], [0.0; 3], [0.0; 3]);
        let bodies = &self.bodies;
        for ((x, v), m) in bodies.positions.iter().zip(&bodies.velocities).zip(&bodies.masses) {
            mass += m;
            momentum = add_scaled(momentum, *m, *v);
            spin = add_scaled(spin, *m, cross(*x, *v));
            centre = add_scaled(centre, *m, *x);
        }
        let fastest = bodies.velocities.iter().map(|v| norm(*v)).fold(0.0, f64::max);
        let virial = if potential == 0.0 {
            0.0
        } else {
            -2.0 * kinetic / potential
        };
        let mut values = vec![kinetic + potential, kinetic, potential, virial];
        values.extend(momentum);
        values.extend(spin);
        values.extend(centre.map(|c| if mass > 0.0 { c / mass } else { 0.0 }));
        values.extend([fastest, self.largest_acceleration()]);
        Ok(values)
    }

    fn choose_step(&self, time: &Time) -> Result<StepChoice, Error> {
        StepChoice::of(time, || {
            let acceleration = match &self.there {
                Some(there) => there.largest_acceleration()?,
                None => self.largest_acceleration(),
            };
            let fall = (self.settings.softening / acceleration).sqrt();
            Ok(StepChoice {
                dt: time.limit * fall,
                limit: Limit::Fall,
                why: format!("an acceleration of {acceleration:.4} crosses the softening length in {fall:.4}"),
            })
        })
    }

    fn advance(&mut self, dt: f64, _step: u64) -> Result<Vec<String>, Error> {
        for part in composition(self.scheme) {
            let h = part * dt;
            self.evaluate()?;
            self.kick(0.5 * h)?;
            self.drift(h)?;
            self.evaluate()?;
            self.kick(0.5 * h)?;
        }
        Ok(Vec::new())
    }

    fn snapshot(&mut self, _show: Show) -> Result<Snapshot, Error> {
        self.bring()?;
        let bodies = &self.bodies;
        Ok(Snapshot {
            clouds: vec![Cloud {
                name: "bodies",
                points: bodies.positions.clone(),
                scalars: vec![
                    ("mass", bodies.masses.clone()),
                    ("part", bodies.groups.iter().map(|g| f64::from(*g)).collect()),
                ],
                vectors: vec![("velocity", bodies.velocities.clone())],
                groups: bodies.groups.clone(),
            }],
            ..Snapshot::default()
        })
    }

    fn is_finite(&self) -> Result<bool, Error> {
        match &self.there {
            Some(there) => there.all_finite(),
            None => Ok(all_finite(&self.bodies.positions) && all_finite(&self.bodies.velocities)),
        }
    }

    fn state(&mut self) -> Result<State, Error> {
        self.bring()?;
        Ok(state_of(&self.bodies))
    }

    fn keep(&mut self) -> Result<(), Error> {
        self.kept = match &self.there {
            Some(there) => Kept::There(there.copy()?),
            None => Kept::Here(self.state()?),
        };
        Ok(())
    }

    fn kept(&mut self) -> Result<Option<State>, Error> {
        self.kept.take(|moment| {
            let mut bodies = self.bodies.clone();
            moment.fetch(&mut bodies)?;
            Ok(state_of(&bodies))
        })
    }

    fn stay_in(&mut self, memory: Arc<dyn Memory>) -> Result<(), Error> {
        self.there = Some(BodiesOnDevice::new(memory, &self.bodies)?);
        Ok(())
    }

    fn stays_on_device(&self) -> bool {
        self.there.is_some()
    }

    fn restore(&mut self, state: &State) -> Result<(), String> {
        let (positions, velocities) = (state.vectors("positions")?, state.vectors("velocities")?);
        let masses = state.numbers("masses")?;
        let (found, expected) = (positions.len(), self.bodies.len());
        if found != expected || velocities.len() != found || masses.len() != found {
            return Err(format!("it has {found} bodies where the case has {expected}"));
        }
        (self.bodies.positions, self.bodies.velocities, self.bodies.masses) = (positions, velocities, masses);
        (self.forces, self.there) = (None, None);
        Ok(())
    }

    fn summation(&mut self) -> &mut Summation {
        &mut self.summation
    }

    fn describe(&self) -> String {
        format!("{} bodies, softening {}", self.bodies.len(), self.settings.softening)
    }
}
