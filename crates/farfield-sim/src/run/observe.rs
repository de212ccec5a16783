//! Telling whoever watches how a run goes.

use super::Moment;
use crate::error::Error;

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Steps done.
    pub step: u64,
    /// The time reached.
    pub time: f64,
    /// The time to reach.
    pub end: f64,
    /// The last step's length.
    pub dt: f64,
    /// What limited it.
    pub limit: &'static str,
    /// The mean so far.
    pub seconds_per_step: f64,
    /// Estimated time to the end at the present rate.
    pub seconds_left: f64,
}

/// Someone who watches a run.
pub trait Observer: Send {
    /// After every step.
    fn progress(&mut self, progress: &Progress);
    /// Something worth knowing happened.
    fn remark(&mut self, remark: &str);
    /// At every state, the first and the last included, before the next step. The run goes on when this returns.
    ///
    /// # Errors
    /// What looking at the state or changing the run fails with; it stops the run.
    fn moment(&mut self, _moment: &mut Moment<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// Nobody.
#[derive(Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: &Progress) {}
    fn remark(&mut self, _: &str) {}
}
