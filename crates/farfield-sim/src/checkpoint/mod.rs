//! Checkpoints: everything that is needed to go on, bit for bit.
//!
//! A checkpoint is one file: a magic word and a version, a header in TOML (case, step, time, how sums are done), the
//! arrays of the state in the precision they have, and a CRC-32 of everything before it. It is written piece by piece from where the
//! state lies. It appears under its name only when it is complete and on
//! the disk, and the one before it stays; see [`Store`]. Ranks write one file each, and a list of them (`parts`).

mod format;
mod parts;
mod store;
mod view;

pub use parts::FoundTogether;
pub use store::{Found, Store};
pub use view::{Numbers, StateView};

use crate::case::Case;
use crate::model::{Limit, State};
use farfield::simd::SimdLevel;
use farfield::tuning::MachineProfile;
use serde::{Deserialize, Serialize};

/// The state of a run and what it needs to continue.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// What is known about the run.
    pub header: Header,
    /// The state of the simulated system.
    pub state: State,
}

/// What a checkpoint knows about its run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the program that wrote it.
    pub program: String,
    /// Steps done.
    pub step: u64,
    /// The time of the state.
    pub time: f64,
    /// The length of the last step.
    pub dt: f64,
    /// What limited it.
    pub limit: Limit,
    /// Rows in `diagnostics.csv` before the one of this step.
    pub rows: u64,
    /// The last energy the alarm saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_energy: Option<f64>,
    /// The instruction set sums are done with.
    pub simd: String,
    /// The device sums were done on, if not the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// What the latest plans settled on, for the reader; the plans follow from state, case, SIMD level and profile.
    pub plans: Vec<PlanRecord>,
    /// The resolved case.
    pub case: Case,
    /// What the cost model believes about the machine.
    pub profile: MachineProfile,
}

/// What a plan settled on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// Which sum.
    pub sum: String,
    /// The method.
    pub method: String,
    /// The highest order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<usize>,
    /// The treecode's opening criterion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// How many points a box may hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaf_capacity: Option<usize>,
}

impl Header {
    /// The SIMD level to go on with, and a warning if it cannot be the one it was written with.
    pub fn simd_level(&self) -> (SimdLevel, Option<String>) {
        match SimdLevel::from_name(&self.simd) {
            Ok(level) => (level, None),
            Err(_) => {
                let best = SimdLevel::best();
                let warning = format!(
                    "the run was started with the SIMD level {}, which this machine does not have; it goes on with {} \
                     and will differ in the last bits",
                    self.simd,
                    best.name()
                );
                (best, Some(warning))
            }
        }
    }
}
