//! Finds the format of a file from its extension.

use std::path::Path;

use crate::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFormat {
    Npy,
    Npz,
    Csv,
}

impl FileFormat {
    pub(crate) fn of(path: &Path) -> Result<Self, Error> {
        let extension = path
            .extension()
            .map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("npy") => Ok(Self::Npy),
            Some("npz") => Ok(Self::Npz),
            Some("csv") => Ok(Self::Csv),
            _ => Err(Error::UnknownExtension { path: path.to_owned() }),
        }
    }
}
