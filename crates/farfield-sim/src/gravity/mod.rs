//! Gravitating bodies: $\ddot x_i = -G\sum_{j\ne i} m_j (x_i-x_j)/(r^2+\epsilon^2)^{3/2}$.
//!
//! [`initial`] generates the bodies, [`GravityModel`] moves them by kick-drift-kick steps.

pub mod initial;
mod model;

pub use model::GravityModel;

use crate::vec3::Vec3;

/// Bodies.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bodies {
    /// Their positions.
    pub positions: Vec<Vec3>,
    /// Their velocities.
    pub velocities: Vec<Vec3>,
    /// Their masses.
    pub masses: Vec<f64>,
    /// The cluster, disk or single body that each belongs to, in the order of the case.
    pub groups: Vec<u32>,
}

impl Bodies {
    /// Adds a body.
    pub fn push(&mut self, position: Vec3, velocity: Vec3, mass: f64, group: u32) {
        self.positions.push(position);
        self.velocities.push(velocity);
        self.masses.push(mass);
        self.groups.push(group);
    }

    /// The number of bodies.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }
}
