//! The outcome of a run.

use farfield::memory::Traffic;

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether the end of the case was reached.
    pub finished: bool,
    /// Steps done in all sessions.
    pub steps: u64,
    /// Steps done in this session.
    pub session_steps: u64,
    /// The time reached.
    pub time: f64,
    /// Total seconds of this session, files included.
    pub seconds: f64,
    /// Seconds of this session for steps and measurements.
    pub stepping_seconds: f64,
    /// The part of these seconds in the sums that move the system.
    pub sum_seconds: f64,
    /// Pictures written in this session.
    pub frames: u64,
    /// The parameters of the sums.
    pub sums: String,
    /// The device of the sums, if not the CPU.
    pub device: Option<DeviceUse>,
    /// The names of the diagnostics.
    pub columns: Vec<String>,
    /// The first row of diagnostics in this session.
    pub first: Vec<f64>,
    /// The last row of diagnostics in this session.
    pub last: Vec<f64>,
}

/// The use of a device in a session.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceUse {
    /// The device.
    pub name: String,
    /// Whether the state stayed on the device between steps. Otherwise points were transferred for every sum.
    pub state_stays: bool,
    /// The transfers.
    pub traffic: Traffic,
}

/// The progress of a session.
#[derive(Default)]
pub(super) struct Report {
    pub session_steps: u64,
    pub stepping_seconds: f64,
    pub first: Vec<f64>,
    pub last: Vec<f64>,
}

impl Report {
    pub fn rows(&mut self, row: Option<Vec<f64>>) {
        if let Some(row) = row {
            if self.first.is_empty() {
                self.first = row.clone();
            }
            self.last = row;
        }
    }
}
