//! What is measured of vortices in the plane.

use super::PlaneModel;
use crate::case::PlaneCoreName;
use crate::error::Error;
use crate::model::{HAMILTONIAN, Model};
use farfield::plane::Output;
use std::f64::consts::PI;

impl PlaneModel {
    /// The names of the columns.
    pub(super) fn column_names(&self) -> Vec<String> {
        let mut names: Vec<String> = [
            "vortices",
            "circulation",
            "impulse_x",
            "impulse_y",
            "angular_impulse",
            HAMILTONIAN,
            "max_velocity",
        ]
        .map(str::to_owned)
        .to_vec();
        for part in &self.parts {
            names.extend(["x", "y", "radius", "angle"].map(|what| format!("{part}_{what}")));
        }
        names
    }

    /// The values of the columns: sums over vortices in their order.
    pub(super) fn measured(&mut self, with_energy: bool) -> Result<Vec<f64>, Error> {
        self.evaluate()?;
        let hamiltonian = if with_energy { self.hamiltonian()? } else { f64::NAN };
        let (mut circulation, mut impulse, mut angular) = (0.0, [0.0; 2], 0.0);
        for ((z, gamma), size) in self.flow.positions.iter().zip(&self.circulations).zip(&self.sizes) {
            circulation += gamma;
            impulse[0] += gamma * z[1];
            impulse[1] -= gamma * z[0];
            angular -= 0.5 * gamma * (z[0] * z[0] + z[1] * z[1] + self.own_moment(*size));
        }
        let velocities = self.evaluated.as_ref().map_or(&[][..], |rates| &rates.positions);
        let fastest = velocities.iter().map(|u| u[0].hypot(u[1])).fold(0.0, f64::max);
        let mut values = vec![
            self.circulations.len() as f64,
            circulation,
            impulse[0],
            impulse[1],
            angular,
            hamiltonian,
            fastest,
        ];
        for group in 0..self.parts.len() as u32 {
            values.extend(self.part(group));
        }
        Ok(values)
    }

    /// Twice the second moment of a blob about its middle, over its circulation: that of a Gaussian one is its size
    /// squared; an algebraic one has none that is finite.
    fn own_moment(&self, size: f64) -> f64 {
        match self.settings.core {
            PlaneCoreName::Gaussian => size * size,
            _ => 0.0,
        }
    }

    /// Centre, root mean square radius and direction of the longer axis of a part, weighted with the size of circulations.
    fn part(&self, group: u32) -> [f64; 4] {
        let members = || (0..self.groups.len()).filter(|k| self.groups[*k] == group);
        let total: f64 = members().map(|k| self.circulations[k].abs()).sum();
        if total == 0.0 {
            return [0.0; 4];
        }
        let mut centre = [0.0; 2];
        for k in members() {
            let share = self.circulations[k].abs() / total;
            centre[0] += share * self.flow.positions[k][0];
            centre[1] += share * self.flow.positions[k][1];
        }
        let (mut xx, mut xy, mut yy, mut own) = (0.0, 0.0, 0.0, 0.0);
        for k in members() {
            let share = self.circulations[k].abs() / total;
            let d = [
                self.flow.positions[k][0] - centre[0],
                self.flow.positions[k][1] - centre[1],
            ];
            xx += share * d[0] * d[0];
            xy += share * d[0] * d[1];
            yy += share * d[1] * d[1];
            own += share * self.own_moment(self.sizes[k]);
        }
        let angle = 0.5 * (2.0 * xy).atan2(xx - yy);
        [centre[0], centre[1], (xx + yy + own).sqrt(), angle]
    }

    /// $-\frac1{4\pi}\sum_{i\ne j}\Gamma_i\Gamma_jg_{\sigma_j}(r_{ij})$, by a sum of its own.
    fn hamiltonian(&mut self) -> Result<f64, Error> {
        let potentials = self.sum(crate::summation::ENERGY_SUM, None, Output::Potential)?;
        let pairs = potentials.iter().zip(&self.circulations);
        Ok(-pairs.map(|(phi, gamma)| phi * gamma).sum::<f64>() / (4.0 * PI))
    }
}
