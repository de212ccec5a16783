//! Pictures.

use crate::case::Case;
use crate::error::Error;
use crate::model::Snapshot;
use std::path::Path;

/// Draws the pictures of a run.
pub struct Pictures {}

impl Pictures {
    /// Into the folder of a run.
    pub fn new(_case: &Case, _folder: &Path, _initial: &Snapshot) -> Self {
        Self {}
    }

    /// Draws one moment.
    pub fn draw(&mut self, _step: u64, _time: f64, _snapshot: &Snapshot) -> Result<(), Error> {
        Ok(())
    }

    /// The animation.
    pub fn animate(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
