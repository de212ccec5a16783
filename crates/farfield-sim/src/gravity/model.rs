//! Bodies as a [`Model`].

use super::{Bodies, initial};
use crate::case::{Case, Gravity, Scheme, Time};
use crate::error::{CaseError, Error};
use crate::integrate::composition;
use crate::model::{Cloud, ENERGY, Limit, Model, Show, Shown, Snapshot, State, StepChoice};
use crate::ranks::{Alone, Ranks, any, count_all, largest, part, sum_all};
use crate::summation::{Summation, Task};
use crate::vec3::{Vec3, add_scaled, cross, dot, norm};
use farfield::Request;
use farfield::kernel::{Kernel, Output};
use farfield::memory::{Array, ArrayPoints, ArraySizes, Memory};
use farfield::tuning::MachineProfile;
use std::borrow::Cow;
use std::sync::Arc;

/// Bodies and the forces between them.
#[derive(Debug)]
pub struct GravityModel {
    settings: Gravity,
    scheme: Scheme,
    positions: Array<f64>,
    velocities: Array<f64>,
    masses: Array<f64>,
    /// The cluster, disk or single body that each belongs to.
    groups: Vec<u32>,
    /// The field at the bodies, if known.
    forces: Option<Forces>,
    /// Positions and velocities of the last valid state.
    kept: Option<[Array<f64>; 2]>,
    /// The last valid state if ranks share it, because ownership may change before it is needed.
    kept_part: Option<State>,
    /// Whether bodies are distributed over ranks, so that they are not in the order of the case.
    is_dealt: bool,
    /// Whether this model was built as one rank's part.
    is_part: bool,
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
        Self::of_rank(case, profile, &Alone)
    }

    /// As [`new`](Self::new), but only this rank's part of the bodies. Does not communicate.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_rank(case: &Case, profile: MachineProfile, ranks: &dyn Ranks) -> Result<Self, CaseError> {
        let settings = case.gravity.clone().ok_or_else(|| CaseError {
            origin: "case".to_owned(),
            line: None,
            column: None,
            message: "the section [gravity] is missing".to_owned(),
        })?;
        let bodies = initial::bodies(&settings, case.seed, ranks)?;
        let mut model = Self {
            settings,
            scheme: case.time.scheme,
            positions: Array::default(),
            velocities: Array::default(),
            masses: Array::default(),
            groups: bodies.groups,
            forces: None,
            kept: None,
            kept_part: None,
            is_part: ranks.size() > 1,
            is_dealt: false,
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

    /// Stores bodies in `memory`.
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

    /// The current bodies.
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
        let task = sum_of_bodies(&self.settings, &self.positions, &self.masses);
        let [potentials, accelerations] = self.summation.evaluate(&task)?;
        Ok(Forces {
            potentials,
            accelerations,
        })
    }

    /// The bodies as rows of messages between ranks.
    fn rows(&self) -> Result<Vec<f64>, Error> {
        let Bodies {
            positions,
            velocities,
            masses,
            groups,
        } = self.bodies()?;
        let row = |k: usize| {
            let ([x, y, z], [u, v, w]) = (positions[k], velocities[k]);
            [x, y, z, u, v, w, masses[k], f64::from(groups[k])]
        };
        Ok((0..positions.len()).flat_map(row).collect())
    }

    fn take_rows(&mut self, rows: &[f64]) -> Result<(), Error> {
        let rows = rows.as_chunks::<BODY>().0;
        let vectors = |at: usize| -> Vec<Vec3> { rows.iter().map(|row| [row[at], row[at + 1], row[at + 2]]).collect() };
        let masses: Vec<f64> = rows.iter().map(|row| row[6]).collect();
        self.groups = rows.iter().map(|row| row[7] as u32).collect();
        self.store(&self.positions.memory(), &vectors(0), &vectors(3), &masses)
    }

    /// `velocities += h accelerations`
    fn kick(&mut self, h: f64) -> Result<(), Error> {
        match &self.forces {
            Some(forces) => Ok(self.velocities.add_scaled(h, &forces.accelerations)?),
            None => Ok(()),
        }
    }

    /// `positions += h velocities`. The forces become unknown.
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

    /// The largest acceleration on any rank.
    fn largest_acceleration(&self) -> Result<f64, Error> {
        let own = match &self.forces {
            Some(forces) => forces.accelerations.longest(3)?.0,
            None => 0.0,
        };
        Ok(largest(&*self.summation.ranks, own))
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

/// The numbers of a body in a message: position, velocity, mass, group.
const BODY: usize = 8;

/// The sum over the bodies, at the bodies.
fn sum_of_bodies<'a>(settings: &Gravity, positions: &'a Array<f64>, masses: &'a Array<f64>) -> Task<'a> {
    let mut request = Request::new(Kernel::Gravity {
        constant: settings.constant,
        softening: settings.softening_kernel.into(),
    });
    request.outputs = vec![Output::Potential, Output::Acceleration];
    let mut points = ArrayPoints::of(positions);
    if settings.softening > 0.0 {
        points.sizes = ArraySizes::Global(settings.softening);
    }
    Task {
        what: "bodies",
        request,
        points,
        strengths: masses,
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
        let mut sums = vec![kinetic, potential, mass];
        [momentum, spin, centre].iter().for_each(|vector| sums.extend(vector));
        let ranks = &*self.summation.ranks;
        sum_all(ranks, &mut sums);
        let fastest = largest(ranks, fastest);
        let (kinetic, potential, mass) = (sums[0], sums[1], sums[2]);
        let virial = if potential == 0.0 {
            0.0
        } else {
            -2.0 * kinetic / potential
        };
        let mut values = vec![kinetic + potential, kinetic, potential, virial];
        values.extend(&sums[3..9]);
        values.extend(sums[9..].iter().map(|c| if mass > 0.0 { c / mass } else { 0.0 }));
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
                why: format!(
                    "at the acceleration {acceleration:.4} a body falls through the softening length in {fall:.4}"
                ),
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
        let is_finite = self
            .positions
            .memory()
            .all_finite(&[&self.positions, &self.velocities])?;
        Ok(!any(&*self.summation.ranks, !is_finite))
    }

    fn state(&mut self) -> Result<State, Error> {
        let mut state = self.state_of([&self.positions, &self.velocities])?;
        if self.is_dealt {
            // Otherwise bodies are in the order of the case, which determines their groups.
            let groups: Vec<f64> = self.groups.iter().map(|g| f64::from(*g)).collect();
            state.push_numbers("groups", &groups);
        }
        Ok(state)
    }

    fn keep(&mut self) -> Result<(), Error> {
        if self.is_dealt {
            self.kept_part = Some(self.state()?);
        } else {
            self.kept = Some([self.positions.copy()?, self.velocities.copy()?]);
        }
        Ok(())
    }

    fn kept(&mut self) -> Result<Option<State>, Error> {
        if let Some(state) = self.kept_part.take() {
            return Ok(Some(state));
        }
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
        if let Ok(groups) = state.numbers("groups") {
            self.groups = groups.iter().map(|g| *g as u32).collect();
            self.is_dealt = true;
        }
        let (found, expected) = (positions.len(), self.groups.len());
        if found != expected || velocities.len() != found || masses.len() != found {
            return Err(format!("it has {found} bodies, but the case has {expected}"));
        }
        let memory = self.positions.memory();
        self.store(&memory, &positions, &velocities, &masses)
            .map_err(|error| error.to_string())
    }

    fn share(&mut self, ranks: &Arc<dyn Ranks>) -> Result<(), Error> {
        self.summation.ranks = ranks.clone();
        if ranks.size() == 1 {
            return Ok(());
        }
        self.is_dealt = true;
        if self.is_part {
            return Ok(());
        }
        let rows = self.rows()?;
        let own = part(&**ranks, rows.len() / BODY);
        self.take_rows(&rows[own.start * BODY..own.end * BODY])
    }

    fn deal(&mut self) -> Result<(), Error> {
        let rows = self.rows()?;
        let task = sum_of_bodies(&self.settings, &self.positions, &self.masses);
        let rows = self.summation.deal(&task, &rows, BODY)?;
        self.take_rows(&rows)
    }

    fn summation(&mut self) -> &mut Summation {
        &mut self.summation
    }

    fn describe(&self) -> String {
        let bodies = count_all(&*self.summation.ranks, self.groups.len());
        format!("{bodies} bodies, softening {}", self.settings.softening)
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
