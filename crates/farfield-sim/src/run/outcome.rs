//! How a run ended, and what it did on the way.

use farfield::memory::Traffic;

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether the end of the case was reached.
    pub finished: bool,
    /// Steps done in all, and in this session.
    pub steps: u64,
    /// Steps done in this session.
    pub session_steps: u64,
    /// The time reached.
    pub time: f64,
    /// Seconds this session took, files included.
    pub seconds: f64,
    /// Seconds this session spent stepping and measuring.
    pub stepping_seconds: f64,
    /// Seconds of that in the sums that move the system.
    pub sum_seconds: f64,
    /// Pictures written in this session.
    pub frames: u64,
    /// What the sums settled on.
    pub sums: String,
    /// The device sums were done on, if not the CPU.
    pub device: Option<DeviceUse>,
    /// Names and values of the first and last rows of diagnostics in this session.
    pub columns: Vec<String>,
    /// The first row.
    pub first: Vec<f64>,
    /// The last row.
    pub last: Vec<f64>,
}

/// What a session did on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceUse {
    /// The device.
    pub name: String,
    /// Whether the state stayed there between steps; else points travelled for every sum.
    pub state_stays: bool,
    /// What travelled.
    pub traffic: Traffic,
}

/// What a session has done so far.
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
