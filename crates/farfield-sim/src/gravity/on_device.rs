//! Bodies in a device's memory: everything a step does is done there.

use super::Bodies;
use super::model::Forces;
use crate::device::{Array, Memory, Points, fetch};
use crate::error::Error;
use crate::summation::{Request, Summation};
use std::sync::Arc;

/// Bodies and the field at them.
#[derive(Debug)]
pub(super) struct BodiesOnDevice {
    memory: Arc<dyn Memory>,
    positions: Array,
    velocities: Array,
    masses: Array,
    /// Potentials and accelerations; `None` while they are not known.
    forces: Option<[Array; 2]>,
    /// Whether the host has a copy of positions and velocities.
    here: bool,
}

/// Positions and velocities of some moment.
#[derive(Debug)]
pub(super) struct MomentOnDevice {
    memory: Arc<dyn Memory>,
    positions: Array,
    velocities: Array,
}

impl BodiesOnDevice {
    /// Sends bodies.
    pub fn new(memory: Arc<dyn Memory>, bodies: &Bodies) -> Result<Self, Error> {
        Ok(Self {
            positions: memory.upload(bodies.positions.as_flattened())?,
            velocities: memory.upload(bodies.velocities.as_flattened())?,
            masses: memory.upload(&bodies.masses)?,
            memory,
            forces: None,
            here: true,
        })
    }

    /// Sums the field at the bodies, if it is not known.
    pub fn evaluate(&mut self, request: &Request<'_>, summation: &mut Summation) -> Result<(), Error> {
        if self.forces.is_none() {
            let points = Points {
                sources: &self.positions,
                targets: None,
                sizes: None,
            };
            self.forces = Some(summation.evaluate_in(&*self.memory, request, &points, &self.masses)?);
        }
        Ok(())
    }

    /// `velocities += h accelerations`
    pub fn kick(&mut self, h: f64) -> Result<(), Error> {
        if let Some([_, accelerations]) = &self.forces {
            self.memory.add_scaled(&mut self.velocities, h, accelerations)?;
            self.here = false;
        }
        Ok(())
    }

    /// `positions += h velocities`; the forces are then unknown.
    pub fn drift(&mut self, h: f64) -> Result<(), Error> {
        self.memory.add_scaled(&mut self.positions, h, &self.velocities)?;
        (self.forces, self.here) = (None, false);
        Ok(())
    }

    /// Brings positions and velocities, if the host does not have them.
    pub fn bring(&mut self, bodies: &mut Bodies) -> Result<(), Error> {
        if !self.here {
            fetch(&*self.memory, &self.positions, &mut bodies.positions)?;
            fetch(&*self.memory, &self.velocities, &mut bodies.velocities)?;
            self.here = true;
        }
        Ok(())
    }

    /// The field at the bodies, on the host; `None` while it is not known.
    pub fn fetch_forces(&self) -> Result<Option<Forces>, Error> {
        let Some([potentials, accelerations]) = &self.forces else {
            return Ok(None);
        };
        let mut forces = Forces::default();
        fetch(&*self.memory, accelerations, &mut forces.accelerations)?;
        forces.potentials.resize(potentials.len(), 0.0);
        self.memory.download(potentials, &mut forces.potentials)?;
        Ok(Some(forces))
    }

    /// The largest acceleration.
    pub fn largest_acceleration(&self) -> Result<f64, Error> {
        match &self.forces {
            Some([_, accelerations]) => Ok(self.memory.longest(accelerations, 3)?.0),
            None => Ok(0.0),
        }
    }

    /// Whether the state has finite numbers alone.
    pub fn all_finite(&self) -> Result<bool, Error> {
        Ok(self.memory.all_finite(&[&self.positions, &self.velocities])?)
    }

    /// A copy of positions and velocities, which stays on the device.
    pub fn copy(&self) -> Result<MomentOnDevice, Error> {
        Ok(MomentOnDevice {
            memory: self.memory.clone(),
            positions: self.memory.copy(&self.positions)?,
            velocities: self.memory.copy(&self.velocities)?,
        })
    }
}

impl MomentOnDevice {
    /// Puts them into bodies on the host.
    pub fn fetch(&self, bodies: &mut Bodies) -> Result<(), Error> {
        fetch(&*self.memory, &self.positions, &mut bodies.positions)?;
        fetch(&*self.memory, &self.velocities, &mut bodies.velocities)
    }
}
