//! `diagnostics.csv`: one row for every measured step, written while the run proceeds.

use crate::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The open table.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    /// `None` on every rank but the first: those only count rows.
    file: Option<File>,
    rows: u64,
}

impl Table {
    /// Creates a table. `first` names the columns of step, time, step length, its limit, and elapsed seconds; `columns`
    /// names the rest.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be written.
    pub fn create(path: &Path, first: [&str; 5], columns: &[String]) -> Result<Self, Error> {
        let failed = |cause| cannot_write(path, cause);
        let mut file = File::create(path).map_err(failed)?;
        file.write_all(format!("{},{}\n", first.join(","), columns.join(",")).as_bytes())
            .map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            file: Some(file),
            rows: 0,
        })
    }

    /// Opens a table and truncates it after `rows` rows. Rows written after the last checkpoint are computed again.
    ///
    /// # Errors
    /// [`Error::Folder`] if it has fewer rows or cannot be read, [`Error::File`] if it cannot be written.
    pub fn reopen(path: &Path, rows: u64) -> Result<Self, Error> {
        // Bytes, because a damaged file may not be UTF-8.
        let text = std::fs::read(path).map_err(|cause| Error::Folder {
            folder: path.to_owned(),
            why: format!("cannot read the diagnostics: {cause}"),
        })?;
        let mut kept = 0;
        let mut lines = 0;
        let most = usize::try_from(rows).unwrap_or(usize::MAX).saturating_add(1);
        for line in text.split_inclusive(|byte| *byte == b'\n').take(most) {
            kept += line.len();
            lines += u64::from(line.ends_with(b"\n"));
        }
        if lines != rows.saturating_add(1) {
            return Err(Error::Folder {
                folder: path.to_owned(),
                why: format!(
                    "it has {} rows, but the checkpoint was written after {rows}",
                    lines.saturating_sub(1)
                ),
            });
        }
        let failed = |cause| cannot_write(path, cause);
        let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
        file.set_len(kept as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            file: Some(file),
            rows,
        })
    }

    /// The table on every rank but the first, after `rows` rows.
    pub fn elsewhere(rows: u64) -> Self {
        Self {
            path: PathBuf::new(),
            file: None,
            rows,
        }
    }

    /// Appends a row.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be written.
    pub fn write(
        &mut self,
        step: u64,
        time: f64,
        dt: f64,
        limit: &str,
        wall: f64,
        values: &[f64],
    ) -> Result<(), Error> {
        let mut row = format!("{step},{time},{dt},{limit},{wall:.6}");
        for value in values {
            row.push(',');
            // An empty field is a value that was not computed.
            if !value.is_nan() {
                row.push_str(&format!("{value:?}"));
            }
        }
        row.push('\n');
        self.rows += 1;
        let written = self.file.as_mut().map_or(Ok(()), |file| file.write_all(row.as_bytes()));
        written.map_err(|cause| cannot_write(&self.path, cause))
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

fn cannot_write(path: &Path, cause: std::io::Error) -> Error {
    Error::from(farfield_io::Error::Write {
        path: path.to_owned(),
        cause,
    })
}

/// Reads all columns of a table, with their names. Empty and non-numeric fields become NaN.
///
/// # Errors
/// [`Error::Folder`] if the file cannot be read.
pub fn read_columns(path: &Path) -> Result<Vec<(String, Vec<f64>)>, Error> {
    let bytes = std::fs::read(path).map_err(|cause| Error::Folder {
        folder: path.to_owned(),
        why: format!("cannot read the diagnostics: {cause}"),
    })?;
    // Columns have equal lengths even in a damaged file: invalid numbers become NaN, and short rows are padded.
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let names = lines.next().unwrap_or("").split(',').map(str::to_owned);
    let mut columns: Vec<(String, Vec<f64>)> = names.map(|name| (name, Vec::new())).collect();
    for line in lines {
        for ((_, values), field) in columns.iter_mut().zip(line.split(',').chain(std::iter::repeat(""))) {
            values.push(field.parse().unwrap_or(f64::NAN));
        }
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reopened_table_continues_after_the_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("diagnostics.csv");
        let mut table = Table::create(
            &path,
            ["step", "time", "dt", "dt_limit", "wall_seconds"],
            &["energy".to_owned()],
        )
        .unwrap();
        for step in 0..5 {
            table
                .write(step, step as f64, 1.0, "fixed", 0.0, &[2.0 * step as f64])
                .unwrap();
        }
        let mut table = Table::reopen(&path, 3).unwrap();
        table.write(3, 3.0, 1.0, "fixed", 0.0, &[f64::NAN]).unwrap();
        assert_eq!(table.rows(), 4);
        let columns = read_columns(&path).unwrap();
        assert_eq!(columns[0].1, [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(columns[5].0, "energy");
        assert!(columns[5].1[3].is_nan() && columns[5].1[..3] == [0.0, 2.0, 4.0]);
        assert!(Table::reopen(&path, 9).unwrap_err().to_string().contains("4 rows"));
    }
}
