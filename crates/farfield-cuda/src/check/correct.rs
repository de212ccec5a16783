//! What a plan does about its measured error, in space and in the plane.

use crate::device::{Buffers, Precision, Values};
use crate::error::Error;
use farfield_core::check::{Attempt, Check, correct};
use farfield_core::report::{Phase, Seconds};
use std::time::Instant;

/// A plan that can look at its own error and sum more exactly.
pub(crate) trait SelfChecked<T: Precision> {
    /// Whether anybody wants to know the error, and there is something to look at.
    fn checks(&self) -> bool;
    /// Where its work is done.
    fn buffers(&self) -> &Buffers;
    /// The tolerance; `None` where an expert fixed the order.
    fn tolerance(&self) -> Option<f64>;
    /// Measures the error of what was just summed.
    fn measure(&mut self, strengths: Values<T>, check: &mut Check) -> Result<(), Error>;
    /// Makes the next sum more exact by `factor`; says whether it did.
    fn become_more_exact(&mut self, factor: f64, check: &Check) -> Result<bool, Error>;
    /// Sums again.
    fn sum_again(&mut self, strengths: Values<T>) -> Result<(), Error>;
}

/// Looks at the error of what was just summed, and sums again more exactly while it exceeds the tolerance. `None` where
/// nobody wants to know.
pub(crate) fn check_and_correct<T: Precision>(
    plan: &mut impl SelfChecked<T>,
    strengths: Values<T>,
    seconds: &mut Seconds,
) -> Result<Option<Check>, Error> {
    if !plan.checks() {
        return Ok(None);
    }
    // The sum itself is not part of its check.
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
