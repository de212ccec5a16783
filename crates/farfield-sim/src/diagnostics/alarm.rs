//! The watch over a run: does the solution still make sense?

/// Remembers the last energy and compares.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    /// The largest relative change that is believed; 0 for any.
    pub energy_jump: f64,
    /// The last energy seen.
    pub last_energy: Option<f64>,
}

impl Watch {
    /// Looks at a new state, whose numbers are all finite or not, and its measurements: names and values.
    ///
    /// # Errors
    /// A sentence on what is wrong and what may help.
    pub fn check(
        &mut self,
        is_finite: bool,
        columns: &[String],
        values: &[f64],
        energy: Option<f64>,
    ) -> Result<(), String> {
        if !is_finite {
            return Err(
                "positions or strengths are no longer finite numbers: the step is too long for this flow".to_owned(),
            );
        }
        for (name, value) in columns.iter().zip(values) {
            let costs_a_sum = [crate::model::ENERGY, crate::model::HAMILTONIAN].contains(&name.as_str());
            if value.is_infinite() || (value.is_nan() && (!costs_a_sum || energy.is_some())) {
                return Err(format!("{name} is {value}: the step is too long for this flow"));
            }
        }
        let Some(energy) = energy else { return Ok(()) };
        if let Some(last) = self.last_energy
            && self.energy_jump > 0.0
            && (energy - last).abs() > self.energy_jump * last.abs().max(f64::MIN_POSITIVE)
        {
            return Err(format!(
                "the energy jumped from {last:.6} to {energy:.6}, by more than {} of it: the step is too long or the \
                 elements no longer overlap",
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
    fn jumps_and_numbers_that_are_none_are_seen() {
        let mut watch = Watch {
            energy_jump: 0.1,
            last_energy: None,
        };
        let columns = ["energy".to_owned(), "speed".to_owned()];
        assert!(watch.check(true, &columns, &[1.0, 2.0], Some(1.0)).is_ok());
        assert!(
            watch.check(true, &columns, &[f64::NAN, 2.0], None).is_ok(),
            "the energy was not asked for"
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
