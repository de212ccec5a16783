//! Bodies as a [`Model`].

use super::{Bodies, initial};
use crate::case::{Case, Gravity, Scheme, Time};
use crate::error::{CaseError, Error};
use crate::integrate::composition;
use crate::model::{Cloud, ENERGY, Limit, Model, Show, Shown, Snapshot, State, StepChoice};
use crate::summation::{SumRequest, Summation};
use crate::vec3::{Vec3, add_scaled, cross, dot, norm};
use farfield::kernel::{Kernel, Output};
use farfield::memory::{Array, ArraySizes, Memory};
use farfield::tuning::MachineProfile;
use std::borrow::Cow;

/// Bodies and the forces between them.
#[derive(Debug)]
pub struct GravityModel {
    settings: Gravity,
    scheme: Scheme,
    positions: Array<f64>,
    velocities: Array<f64>,
    masses: Array<f64>,
    /// Which cluster, disk or single body each belongs to.
    groups: Vec<u32>,
    /// The field at the bodies, if it is known.
    forces: Option<Forces>,
    /// Positions and velocities of the last state that was found sound.
    kept: Option<[Array<f64>; 2]>,
    summation: Summation,
}

/// The field at the bodies.
#[derive(Debug)]
struct Forces {
    potentials: Array<f64>,
    accelerations: Array<f64>,
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
        let bodies = initial::bodies(&settings, case.seed)?;
        let mut model = Self {
            settings,
            scheme: case.time.scheme,
            positions: Array::default(),
            velocities: Array::default(),
            masses: Array::default(),
            groups: bodies.groups,
            forces: None,
            kept: None,
            summation: Summation::new(case.sum.clone(), profile),
        };
        model
            .store(&Memory::host(), &bodies.positions, &bodies.velocities, &bodies.masses)
            .map_err(|error| CaseError {
                origin: "case".to_owned(),
                line: None,
                column: None,
                message: format!("gravity: {error}"),
            })?;
        Ok(model)
    }

    /// Puts bodies into a memory.
    fn store(
        &mut self,
        memory: &Memory<f64>,
        positions: &[Vec3],
        velocities: &[Vec3],
        masses: &[f64],
    ) -> Result<(), Error> {
        self.positions = memory.store(positions.as_flattened().to_vec())?;
        self.velocities = memory.store(velocities.as_flattened().to_vec())?;
        self.masses = memory.store(masses.to_vec())?;
        self.forces = None;
        Ok(())
    }

    /// The bodies as they are now.
    ///
    /// # Errors
    /// [`Error::Device`] if they are on a device that fails.
    pub fn bodies(&self) -> Result<Bodies, Error> {
        Ok(Bodies {
            positions: self.positions.vectors()?.to_vec(),
            velocities: self.velocities.vectors()?.to_vec(),
            masses: self.masses.values()?.to_vec(),
            groups: self.groups.clone(),
        })
    }

    fn sum_forces(&mut self) -> Result<Forces, Error> {
        let softening = self.settings.softening;
        let [potentials, accelerations] = self.summation.evaluate(&SumRequest {
            what: "bodies",
            kernel: Kernel::Gravity {
                constant: self.settings.constant,
                softening: self.settings.softening_kernel.into(),
            },
            sources: &self.positions,
            sizes: if softening > 0.0 {
                ArraySizes::Global(softening)
            } else {
                ArraySizes::None
            },
            strengths: &self.masses,
            vectors: 1,
            targets: None,
            outputs: &[Output::Potential, Output::Acceleration],
            tolerance: None,
        })?;
        Ok(Forces {
            potentials,
            accelerations,
        })
    }

    /// `velocities += h accelerations`
    fn kick(&mut self, h: f64) -> Result<(), Error> {
        match &self.forces {
            Some(forces) => Ok(self.velocities.add_scaled(h, &forces.accelerations)?),
            None => Ok(()),
        }
    }

    /// `positions += h velocities`; the forces are then unknown.
    fn drift(&mut self, h: f64) -> Result<(), Error> {
        self.forces = None;
        Ok(self.positions.add_scaled(h, &self.velocities)?)
    }

    fn potential(&self, masses: &[f64]) -> Result<f64, Error> {
        let potentials = match &self.forces {
            Some(forces) => forces.potentials.values()?,
            None => &[],
        };
        Ok(potentials.iter().zip(masses).map(|(phi, m)| 0.5 * m * phi).sum())
    }

    fn largest_acceleration(&self) -> Result<f64, Error> {
        match &self.forces {
            Some(forces) => Ok(forces.accelerations.longest(3)?.0),
            None => Ok(0.0),
        }
    }

    /// The arrays of a checkpoint.
    fn state_of(&self, [positions, velocities]: [&Array<f64>; 2]) -> Result<State, Error> {
        let mut state = State::default();
        state.push_vectors("positions", positions.vectors()?);
        state.push_vectors("velocities", velocities.vectors()?);
        state.push_numbers("masses", self.masses.values()?);
        Ok(state)
    }
}

impl Model for GravityModel {
    fn evaluate(&mut self) -> Result<(), Error> {
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
        let bodies = self.bodies()?;
        let parts = || bodies.positions.iter().zip(&bodies.velocities).zip(&bodies.masses);
        let kinetic: f64 = parts().map(|((_, v), m)| 0.5 * m * dot(*v, *v)).sum();
        let potential = self.potential(&bodies.masses)?;
        let (mut mass, mut momentum, mut spin, mut centre) = (0.0, [0.0; 3], [0.0; 3], [0.0; 3]);
        for ((x, v), m) in parts() {
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
        values.extend([fastest, self.largest_acceleration()?]);
        Ok(values)
    }

    fn choose_step(&self, time: &Time) -> Result<StepChoice, Error> {
        StepChoice::of(time, || {
            let acceleration = self.largest_acceleration()?;
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
        let bodies = self.bodies()?;
        Ok(Snapshot {
            clouds: vec![Cloud {
                name: "bodies",
                points: bodies.positions,
                scalars: vec![
                    ("mass", bodies.masses),
                    ("part", bodies.groups.iter().map(|g| f64::from(*g)).collect()),
                ],
                vectors: vec![("velocity", bodies.velocities)],
                groups: bodies.groups,
            }],
            ..Snapshot::default()
        })
    }

    fn is_finite(&self) -> Result<bool, Error> {
        Ok(self
            .positions
            .memory()
            .all_finite(&[&self.positions, &self.velocities])?)
    }

    fn state(&mut self) -> Result<State, Error> {
        self.state_of([&self.positions, &self.velocities])
    }

    fn keep(&mut self) -> Result<(), Error> {
        self.kept = Some([self.positions.copy()?, self.velocities.copy()?]);
        Ok(())
    }

    fn kept(&mut self) -> Result<Option<State>, Error> {
        let kept = self.kept.take();
        kept.map(|moment| self.state_of(moment.each_ref())).transpose()
    }

    fn stay_in(&mut self, memory: &Memory<f64>) -> Result<(), Error> {
        let bodies = self.bodies()?;
        self.store(memory, &bodies.positions, &bodies.velocities, &bodies.masses)
    }

    fn restore(&mut self, state: &State) -> Result<(), String> {
        let (positions, velocities) = (state.vectors("positions")?, state.vectors("velocities")?);
        let masses = state.numbers("masses")?;
        let (found, expected) = (positions.len(), self.groups.len());
        if found != expected || velocities.len() != found || masses.len() != found {
            return Err(format!("it has {found} bodies where the case has {expected}"));
        }
        let memory = self.positions.memory();
        self.store(&memory, &positions, &velocities, &masses)
            .map_err(|error| error.to_string())
    }

    fn summation(&mut self) -> &mut Summation {
        &mut self.summation
    }

    fn describe(&self) -> String {
        format!("{} bodies, softening {}", self.groups.len(), self.settings.softening)
    }

    fn shown(&self) -> Vec<Shown<'_>> {
        vec![Shown {
            name: "bodies",
            points: &self.positions,
            groups: Cow::Borrowed(&self.groups),
            vectors: vec![("velocity", &self.velocities)],
            numbers: vec![("mass", &self.masses)],
        }]
    }

    fn change(&mut self, case: &Case) -> Result<(), String> {
        self.summation.settings = case.sum.clone();
        self.forces = None;
        Ok(())
    }
}
