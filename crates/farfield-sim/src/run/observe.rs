//! Observers of a run.

use super::Moment;
use crate::error::Error;

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Steps done.
    pub step: u64,
    /// The time reached.
    pub time: f64,
    /// The end time.
    pub end: f64,
    /// The length of the last step.
    pub dt: f64,
    /// The limit that set it.
    pub limit: &'static str,
    /// The mean time of a step so far.
    pub seconds_per_step: f64,
    /// The estimated time to the end at this rate.
    pub seconds_left: f64,
}

/// Receives the progress and the states of a run.
pub trait Observer: Send {
    /// Called after every step.
    fn progress(&mut self, progress: &Progress);
    /// Called with remarks for the user.
    fn remark(&mut self, remark: &str);
    /// Called at every state, including the first and the last, before the next step. The run continues when this
    /// returns.
    ///
    /// # Errors
    /// Errors of reading the state or changing the run; they stop the run.
    fn moment(&mut self, _moment: &mut Moment<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// An observer that does nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: &Progress) {}
    fn remark(&mut self, _: &str) {}
}
