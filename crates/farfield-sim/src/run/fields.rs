//! Field files.

use crate::case::Case;
use crate::error::Error;
use crate::model::Snapshot;
use farfield_io::{Array, NamedArray, Precision, write_arrays};
use std::path::{Path, PathBuf};

/// Writes the field files of a run.
pub struct Fields {
    folder: PathBuf,
    npz: bool,
}

impl Fields {
    /// Into the folder of a run.
    pub fn new(case: &Case, folder: &Path) -> Self {
        Self {
            folder: folder.join("fields"),
            npz: case.output.npz,
        }
    }

    /// Writes one moment.
    pub fn write(&mut self, step: u64, _time: f64, snapshot: &Snapshot) -> Result<(), Error> {
        for cloud in &snapshot.clouds {
            let name = format!("{}-{step:06}", cloud.name);
            if self.npz {
                let mut arrays = vec![NamedArray::new("points", Array::from_rows(&cloud.points))];
                for (name, values) in &cloud.vectors {
                    arrays.push(NamedArray::new(*name, Array::from_rows(values)));
                }
                for (name, values) in &cloud.scalars {
                    arrays.push(NamedArray::new(*name, Array::column(values.clone())));
                }
                write_arrays(self.folder.join(format!("{name}.npz")), &arrays, Precision::Double)?;
            }
        }
        Ok(())
    }
}
