//! The response of a plan to its measured error, in space and in the plane.

use crate::device::{Precision, Values};
use crate::error::Error;
use crate::plan::{Plan, PlannedOnDevice};
use farfield_core::check::{Attempt, Check, correct};
use farfield_core::report::{Phase, Seconds};
use std::time::Instant;

/// Measures the error of the latest sum, and sums again more accurately while it exceeds the tolerance. `None` if the
/// plan does not check its error.
pub(crate) fn check_and_correct<T: Precision, G: PlannedOnDevice>(
    plan: &mut Plan<T, G>,
    strengths: Values<T>,
    seconds: &mut Seconds,
) -> Result<Option<Check>, Error> {
    if !plan.checks {
        return Ok(None);
    }
    // The time of the sum is not part of its check.
    plan.buffers.wait()?;
    let start = Instant::now();
    let mut check = Check::default();
    G::measure(plan, strengths, &mut check)?;
    check.attempts = 1;
    if let Some(tolerance) = plan.tolerance() {
        correct(tolerance, &mut check, |factor, check| {
            let in_vain = check.attempts > 1 && factor > 0.3 * plan.last_factor;
            plan.last_factor = factor;
            if !G::become_more_exact(plan, factor, in_vain)? {
                return Ok::<_, Error>(Attempt::NoBetterWay);
            }
            G::launch(plan, strengths)?;
            G::measure(plan, strengths, check)?;
            Ok(Attempt::Done)
        })?;
    }
    seconds.add(Phase::Check, start.elapsed().as_secs_f64());
    Ok(Some(check))
}
