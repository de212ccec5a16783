//! The response to a measured error.

use super::{Check, Measured, Warning};

/// The judgement of the measured errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// Every output is within its tolerance.
    Kept,
    /// The worst output exceeds its limit by this factor: sum again with higher accuracy.
    Exceeded(f64),
    /// The error that exceeds the tolerance is round-off: no method does better in this precision.
    Rounding,
}

/// Errors up to this many times [`Measured::rounding`] count as round-off.
const ROUNDING: f64 = 4.0;
/// The largest number of times a sum is computed.
const MOST_ATTEMPTS: usize = 6;
/// The fraction of the tolerance that repeated sums aim for.
const AIM: f64 = 0.5;

impl Measured {
    /// The error to judge by: the estimate plus its uncertainty.
    fn likely(&self) -> f64 {
        0.5 * (self.relative_l2 + self.upper)
    }
}

impl Check {
    /// Judges the measured errors by a tolerance.
    pub fn verdict(&self, tolerance: f64) -> Verdict {
        let worst = |limit: &dyn Fn(&Measured) -> f64| {
            let excess = |measured: &Measured| measured.likely() / limit(measured);
            self.outputs.iter().map(excess).fold(0.0, f64::max)
        };
        if worst(&|_| tolerance) <= 1.0 {
            return Verdict::Kept;
        }
        let excess = worst(&|measured| tolerance.max(ROUNDING * measured.rounding));
        if excess <= 1.0 {
            Verdict::Rounding
        } else {
            Verdict::Exceeded(excess)
        }
    }

    /// Fills the warnings: the outputs that exceed the tolerance, and why.
    fn warn(&mut self, tolerance: f64) {
        self.warnings.clear();
        for measured in &self.outputs {
            let (output, error) = (measured.output, measured.likely());
            if error <= tolerance || error.is_nan() {
                continue;
            }
            let by_rounding = error <= 16.0 * ROUNDING * measured.rounding;
            self.warnings.push(if by_rounding {
                Warning::Cancellation {
                    output,
                    error,
                    digits: (-error.log10()).max(0.0),
                }
            } else {
                Warning::Exceeded {
                    output,
                    error,
                    tolerance,
                }
            });
        }
    }
}

/// The result of an attempt to sum again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// The sum was repeated and measured.
    Done,
    /// There is no more accurate way, or it is not allowed.
    NoBetterWay,
}

/// Repeats a sum until its measured errors, `check`, keep the tolerance. `again(factor, check)` sums with errors
/// smaller by `factor` and writes the new measurement to `check`. Outputs that still exceed the tolerance are listed
/// in the warnings.
///
/// # Errors
/// Errors of `again`.
pub fn correct<E>(
    tolerance: f64,
    check: &mut Check,
    mut again: impl FnMut(f64, &mut Check) -> Result<Attempt, E>,
) -> Result<(), E> {
    check.attempts = 1;
    while check.attempts < MOST_ATTEMPTS {
        let Verdict::Exceeded(excess) = check.verdict(tolerance) else {
            break;
        };
        if !excess.is_finite() || again(excess / AIM, check)? == Attempt::NoBetterWay {
            break;
        }
        check.attempts += 1;
    }
    check.warn(tolerance);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_of(error: f64, rounding: f64) -> Check {
        Check {
            targets: 64,
            outputs: vec![Measured {
                output: "potential",
                relative_l2: error,
                upper: error,
                rounding,
            }],
            ..Check::default()
        }
    }

    #[test]
    fn a_sum_is_repeated_until_it_keeps_its_tolerance() {
        let mut check = check_of(1e-3, 1e-15);
        let again = |factor: f64, check: &mut Check| {
            // Half the requested reduction.
            check.outputs[0].relative_l2 *= 2.0 / factor;
            check.outputs[0].upper = check.outputs[0].relative_l2;
            Ok::<_, ()>(Attempt::Done)
        };
        correct(1e-6, &mut check, again).unwrap();
        assert!(check.attempts == 2 && check.warnings.is_empty());
        assert_eq!(check.verdict(1e-6), Verdict::Kept);
    }

    #[test]
    fn outputs_that_exceed_the_tolerance_are_in_the_warnings() {
        let mut check = check_of(1e-3, 1e-15);
        correct(1e-6, &mut check, |_, _| Ok::<_, ()>(Attempt::NoBetterWay)).unwrap();
        assert!(matches!(check.warnings[..], [Warning::Exceeded { .. }]));
        let mut check = check_of(1e-3, 1e-3);
        let never = |_, _: &mut Check| -> Result<Attempt, ()> { unreachable!("round-off does not repeat a sum") };
        correct(1e-6, &mut check, never).unwrap();
        assert!(matches!(check.warnings[..], [Warning::Cancellation { digits, .. }] if (digits - 3.0).abs() < 0.01));
    }
}
