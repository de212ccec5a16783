//! The alarm that stops a run whose solution has blown up.

/// Checks every measured state and compares its energy with the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    /// The largest accepted relative change of the energy; 0 accepts any.
    pub energy_jump: f64,
    /// The last energy seen.
    pub last_energy: Option<f64>,
}

impl Watch {
    /// Checks a new state: whether all its numbers are finite, its measurements (`values` named by `columns`), and its
    /// energy if it was computed.
    ///
    /// # Errors
    /// A sentence with the problem and a possible cause.
    pub fn check(
        &mut self,
        is_finite: bool,
        columns: &[String],
        values: &[f64],
        energy: Option<f64>,
    ) -> Result<(), String> {
        if !is_finite {
            return Err(
                "positions or strengths are not finite numbers: the time step is too long for this flow".to_owned(),
            );
        }
        for (name, value) in columns.iter().zip(values) {
            let costs_a_sum = [crate::model::ENERGY, crate::model::HAMILTONIAN].contains(&name.as_str());
            if value.is_infinite() || (value.is_nan() && (!costs_a_sum || energy.is_some())) {
                return Err(format!("{name} is {value}: the time step is too long for this flow"));
            }
        }
        let Some(energy) = energy else { return Ok(()) };
        if let Some(last) = self.last_energy
            && self.energy_jump > 0.0
            && (energy - last).abs() > self.energy_jump * last.abs().max(f64::MIN_POSITIVE)
        {
            return Err(format!(
                "the energy jumped from {last:.6} to {energy:.6}, a relative change of more than {}: the time step is \
                 too long or the elements no longer overlap",
                self.energy_jump
            ));
        }
        self.last_energy = Some(energy);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_jumps_and_nan_are_detected() {
        let mut watch = Watch {
            energy_jump: 0.1,
            last_energy: None,
        };
        let columns = ["energy".to_owned(), "speed".to_owned()];
        assert!(watch.check(true, &columns, &[1.0, 2.0], Some(1.0)).is_ok());
        assert!(
            watch.check(true, &columns, &[f64::NAN, 2.0], None).is_ok(),
            "the energy was not computed"
        );
        assert!(watch.check(true, &columns, &[1.05, 2.0], Some(1.05)).is_ok());
        assert!(
            watch
                .check(true, &columns, &[1.3, 2.0], Some(1.3))
                .unwrap_err()
                .contains("jumped")
        );
        assert!(
            watch
                .check(true, &columns, &[1.0, f64::NAN], Some(1.0))
                .unwrap_err()
                .contains("speed")
        );
        assert!(
            watch
                .check(false, &columns, &[1.0, 2.0], Some(1.0))
                .unwrap_err()
                .contains("finite")
        );
    }
}
