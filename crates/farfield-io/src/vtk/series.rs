//! Time series in `.pvd` files.

use std::fs;
use std::path::{Path, PathBuf};

use super::xml::{escaped, is_allowed, unescaped};
use crate::{Error, write_text_atomically};

/// Writes the list of a time series: the time of each file and its name relative to the list's folder. Consecutive
/// files with the same time are parts of one step.
///
/// # Errors
///
/// [`Error::BadName`] for an empty file name or one that XML cannot hold, [`Error::BadSeries`]
/// for a time that is not finite, [`Error::NoFolder`] and [`Error::Write`].
pub fn write_pvd<Name: AsRef<str>>(path: impl AsRef<Path>, files: &[(f64, Name)]) -> Result<(), Error> {
    let path = path.as_ref();
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n  <Collection>\n",
    );
    let mut part = 0;
    for (k, (time, name)) in files.iter().enumerate() {
        let name = name.as_ref();
        part = if k > 0 && files[k - 1].0 == *time { part + 1 } else { 0 };
        if name.is_empty() || !name.chars().all(is_allowed) {
            return Err(Error::BadName {
                path: path.to_owned(),
                name: name.to_owned(),
                reason: "a file name must not be empty or have control characters",
            });
        }
        if !time.is_finite() {
            return Err(Error::BadSeries {
                path: path.to_owned(),
                problem: format!("{name} has the time {time}, which is not finite"),
            });
        }
        let name = escaped(name);
        text.push_str(&format!(
            "    <DataSet timestep=\"{time}\" group=\"\" part=\"{part}\" file=\"{name}\"/>\n"
        ));
    }
    text.push_str("  </Collection>\n</VTKFile>\n");
    write_text_atomically(path, &text)
}

/// Reads the list of a time series: the time and name of each file, in the order of the list.
///
/// # Errors
///
/// [`Error::Read`] if the file cannot be read, [`Error::BadSeries`] if it is not a list of a time series.
pub fn read_pvd(path: impl AsRef<Path>) -> Result<Vec<(f64, String)>, Error> {
    let path = path.as_ref();
    let text = fs::read_to_string(path).map_err(|cause| Error::Read {
        path: path.to_owned(),
        cause,
    })?;
    let bad = |problem: &str| Error::BadSeries {
        path: path.to_owned(),
        problem: problem.to_owned(),
    };
    let body = text
        .split_once("<Collection>")
        .and_then(|(_, rest)| rest.split_once("</Collection>"));
    let (body, _) = body.ok_or_else(|| bad("the file has no complete <Collection> element"))?;
    let entries = body.split("<DataSet ").skip(1);
    entries
        .enumerate()
        .map(|(index, element)| {
            let time = attribute(element, "timestep").and_then(|time| time.parse().ok());
            time.zip(attribute(element, "file"))
                .ok_or_else(|| bad(&format!("entry {} lacks a timestep or a file", index + 1)))
        })
        .collect()
}

/// The value of an attribute of the element at the start of the text.
fn attribute(element: &str, name: &str) -> Option<String> {
    let inside = element.split('>').next()?;
    let (_, value) = inside.split_once(&format!("{name}=\""))?;
    unescaped(value.split_once('"')?.0)
}

/// A growing time series; the list on the disk is complete after every step.
#[derive(Clone, Debug)]
pub struct PvdSeries {
    path: PathBuf,
    files: Vec<(f64, String)>,
}

impl PvdSeries {
    /// Starts an empty series; a list already at `path` is replaced.
    ///
    /// # Errors
    ///
    /// As [`write_pvd`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let series = Self {
            path: path.as_ref().to_owned(),
            files: Vec::new(),
        };
        series.write()?;
        Ok(series)
    }

    /// Continues the series at `path` after `time`: later entries are dropped, because a run that
    /// resumes there writes them again. If the list does not exist, it is created.
    ///
    /// # Errors
    ///
    /// As [`read_pvd`] and [`write_pvd`].
    pub fn resume(path: impl AsRef<Path>, time: f64) -> Result<Self, Error> {
        let path = path.as_ref();
        if !path.exists() {
            return Self::create(path);
        }
        let mut files = read_pvd(path)?;
        files.retain(|(at, _)| *at <= time);
        let path = path.to_owned();
        let series = Self { path, files };
        series.write()?;
        Ok(series)
    }

    /// Adds a file, named relative to the list's folder, and rewrites the list.
    ///
    /// # Errors
    ///
    /// As [`write_pvd`]; the series is then unchanged.
    pub fn push(&mut self, time: f64, file_name: impl Into<String>) -> Result<(), Error> {
        self.files.push((time, file_name.into()));
        let written = self.write();
        if written.is_err() {
            self.files.pop();
        }
        written
    }

    /// The times and file names so far.
    #[must_use]
    pub fn files(&self) -> &[(f64, String)] {
        &self.files
    }

    fn write(&self) -> Result<(), Error> {
        write_pvd(&self.path, &self.files)
    }
}
