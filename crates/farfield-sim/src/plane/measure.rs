//! Measurements of vortices in the plane.

use super::PlaneModel;
use crate::case::PlaneCoreName;
use crate::error::Error;
use crate::model::{HAMILTONIAN, Model};
use crate::summation::ENERGY_SUM;
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
        let (positions, circulations, sizes) = self.vortices()?;
        for ((z, gamma), size) in positions.iter().zip(circulations).zip(sizes) {
            circulation += gamma;
            impulse[0] += gamma * z[1];
            impulse[1] -= gamma * z[0];
            angular -= 0.5 * gamma * (z[0] * z[0] + z[1] * z[1] + self.own_moment(*size));
        }
        let fastest = match &self.evaluated {
            Some(rates) => rates.positions.longest(2)?.0,
            None => 0.0,
        };
        let mut values = vec![
            circulations.len() as f64,
            circulation,
            impulse[0],
            impulse[1],
            angular,
            hamiltonian,
            fastest,
        ];
        values.extend(self.parts_measured()?);
        Ok(values)
    }

    /// The second moment $\int r^2\omega$ of a blob about its centre, over its circulation. For a Gaussian blob it is
    /// the core size squared. For an algebraic blob it is infinite, and 0 is returned.
    fn own_moment(&self, size: f64) -> f64 {
        match self.settings.core {
            PlaneCoreName::Gaussian => size * size,
            _ => 0.0,
        }
    }

    /// Centre, root mean square radius and direction of the longer axis of each part, weighted by absolute circulation.
    fn parts_measured(&self) -> Result<Vec<f64>, Error> {
        let (positions, circulations, sizes) = self.vortices()?;
        let mut parts = vec![Moments::default(); self.parts.len()];
        let members = || self.groups.iter().zip(positions).zip(circulations);
        for ((group, z), gamma) in members() {
            let part = &mut parts[*group as usize];
            part.total += gamma.abs();
            part.centre[0] += gamma.abs() * z[0];
            part.centre[1] += gamma.abs() * z[1];
        }
        for part in parts.iter_mut().filter(|part| part.total > 0.0) {
            part.centre = part.centre.map(|sum| sum / part.total);
        }
        for (((group, z), gamma), size) in members().zip(sizes) {
            let part = &mut parts[*group as usize];
            let d = [z[0] - part.centre[0], z[1] - part.centre[1]];
            part.xx += gamma.abs() * d[0] * d[0];
            part.xy += gamma.abs() * d[0] * d[1];
            part.yy += gamma.abs() * d[1] * d[1];
            part.own += gamma.abs() * self.own_moment(*size);
        }
        Ok(parts.iter().flat_map(Moments::values).collect())
    }

    /// The Hamiltonian $-\frac1{4\pi}\sum_{i\ne j}\Gamma_i\Gamma_jg_{\sigma_j}(r_{ij})$, by a separate sum.
    fn hamiltonian(&mut self) -> Result<f64, Error> {
        let motion = self.motion();
        let potentials = motion.potentials(ENERGY_SUM, &self.flow, &self.blobs, &mut self.summation)?;
        let pairs = potentials.values()?.iter().zip(&self.blobs.circulations);
        Ok(-pairs.map(|(phi, gamma)| phi * gamma).sum::<f64>() / (4.0 * PI))
    }
}

/// Sums over the vortices of a part.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    total: f64,
    /// First the weighted sum of positions, then the centre.
    centre: [f64; 2],
    xx: f64,
    xy: f64,
    yy: f64,
    /// The moments of the blobs about their own centres.
    own: f64,
}

impl Moments {
    /// Centre, root mean square radius, direction of the longer axis; zeros for a part without circulation.
    fn values(&self) -> [f64; 4] {
        if self.total == 0.0 {
            return [0.0; 4];
        }
        let angle = 0.5 * (2.0 * self.xy).atan2(self.xx - self.yy);
        let square = (self.xx + self.yy + self.own) / self.total;
        [self.centre[0], self.centre[1], square.sqrt(), angle]
    }
}
