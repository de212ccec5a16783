//! Checkpoints: everything needed to continue a run with the same bits.
//!
//! A checkpoint is one file: a magic word and a version, a header in TOML (case, step, time, settings of the sums), the
//! arrays of the state in their own precision, and a CRC-32 of everything before it. It is written piece by piece,
//! without a copy of the state. It appears under its name only when it is complete and on the disk, and the previous
//! checkpoint is kept; see [`Store`]. Ranks write one file each, and a list of them (`parts`).

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

/// The state of a run and everything else needed to continue it.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The run.
    pub header: Header,
    /// The state of the simulated system.
    pub state: State,
}

/// The run of a checkpoint: its progress, its settings and its case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the program that wrote it.
    pub program: String,
    /// The number of steps done.
    pub step: u64,
    /// The time of the state.
    pub time: f64,
    /// The length of the last step.
    pub dt: f64,
    /// The limit that set it.
    pub limit: Limit,
    /// Rows in `diagnostics.csv` before the one of this step.
    pub rows: u64,
    /// The last energy that the alarm checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_energy: Option<f64>,
    /// The instruction set of the sums.
    pub simd: String,
    /// The device of the sums, if not the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The parameters of the latest plans, for information only: plans follow from state, case, SIMD level and profile.
    pub plans: Vec<PlanRecord>,
    /// The resolved case.
    pub case: Case,
    /// The machine profile of the cost model.
    pub profile: MachineProfile,
}

/// The parameters of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// The name of the sum.
    pub sum: String,
    /// The method.
    pub method: String,
    /// The highest order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<usize>,
    /// The treecode's opening criterion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// The largest number of points in a leaf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaf_capacity: Option<usize>,
}

impl Header {
    /// The SIMD level to continue with, and a warning if this machine does not have the one of the checkpoint.
    pub fn simd_level(&self) -> (SimdLevel, Option<String>) {
        match SimdLevel::from_name(&self.simd) {
            Ok(level) => (level, None),
            Err(_) => {
                let best = SimdLevel::best();
                let warning = format!(
                    "the run was started with the SIMD level {}, which this machine does not have; it continues with \
                     {} and will differ in the last bits",
                    self.simd,
                    best.name()
                );
                (best, Some(warning))
            }
        }
    }
}
