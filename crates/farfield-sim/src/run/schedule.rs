//! Schedules of output.

/// Every n-th step, starting with step 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    every: u64,
}

impl Schedule {
    /// Every `steps` steps; 0 for never.
    pub fn every(steps: u64) -> Self {
        Self { every: steps }
    }

    /// Whether it is due at this step.
    pub fn is_due(self, step: u64) -> bool {
        self.every > 0 && step.is_multiple_of(self.every)
    }
}
