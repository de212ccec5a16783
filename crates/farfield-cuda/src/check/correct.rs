//! The response of a plan to its measured error, in space and in the plane.

use crate::device::{Buffers, Precision, Values};
use crate::error::Error;
use farfield_core::check::{Attempt, Check, correct};
use farfield_core::report::{Phase, Seconds};
use std::time::Instant;

/// A plan that can measure its error and sum more accurately.
pub(crate) trait SelfChecked<T: Precision> {
    /// Whether the error is to be measured and the sum is not empty.
    fn checks(&self) -> bool;
    /// The buffers of the plan.
    fn buffers(&self) -> &Buffers;
    /// The tolerance; `None` if the caller fixed the order.
    fn tolerance(&self) -> Option<f64>;
    /// Measures the error of the latest sum.
    fn measure(&mut self, strengths: Values<T>, check: &mut Check) -> Result<(), Error>;
    /// Reduces the error of the next sum by `factor`; returns whether that was possible.
    fn become_more_exact(&mut self, factor: f64, check: &Check) -> Result<bool, Error>;
    /// Sums again.
    fn sum_again(&mut self, strengths: Values<T>) -> Result<(), Error>;
}

/// Measures the error of the latest sum, and sums again more accurately while it exceeds the tolerance. `None` if the
/// plan does not check its error.
pub(crate) fn check_and_correct<T: Precision>(
    plan: &mut impl SelfChecked<T>,
    strengths: Values<T>,
    seconds: &mut Seconds,
) -> Result<Option<Check>, Error> {
    if !plan.checks() {
        return Ok(None);
    }
    // The time of the sum is not part of its check.
    plan.buffers().wait()?;
    let start = Instant::now();
    let mut check = Check::default();
    plan.measure(strengths, &mut check)?;
    check.attempts = 1;
    if let Some(tolerance) = plan.tolerance() {
        correct(tolerance, &mut check, |factor, check| {
            if !plan.become_more_exact(factor, check)? {
                return Ok::<_, Error>(Attempt::NoBetterWay);
            }
            plan.sum_again(strengths)?;
            plan.measure(strengths, check)?;
            Ok(Attempt::Done)
        })?;
    }
    seconds.add(Phase::Check, start.elapsed().as_secs_f64());
    Ok(Some(check))
}
