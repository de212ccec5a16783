//! The picture of the diagnostics.

use super::folder::Folder;
use crate::case::Case;
use crate::error::Error;

/// Draws it.
pub fn draw(_case: &Case, _folder: &Folder) -> Result<(), Error> {
    Ok(())
}
