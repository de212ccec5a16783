//! Initial points from files: vortex elements, tracers, vortices of the plane and bodies.
//!
//! Files are `.npz`, `.csv`, `.vtp`, or `.npy` with points alone. Files that a run wrote to `fields/` have the right
//! array names.

use crate::error::CaseError;
use crate::vec3::Vec3;
use farfield_io::{Array, Table, read_particles};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Points from a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParticleFile {
    /// The file. A relative path starts at the folder of the case file.
    pub file: PathBuf,
    /// The core size or softening of the points, if the file has no sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<f64>,
}

/// The arrays of a file.
#[derive(Debug)]
pub(crate) struct Particles {
    path: PathBuf,
    table: Table,
    count: usize,
}

/// Accepted names of arrays, in order of preference.
const POINTS: [&str; 4] = ["points", "positions", "sources", "values"];
pub(crate) const STRENGTHS: [&str; 5] = ["strength", "strengths", "gamma", "circulation", "charges"];
pub(crate) const SIZES: [&str; 3] = ["core_size", "sizes", "core"];
pub(crate) const VOLUMES: [&str; 2] = ["volume", "volumes"];
pub(crate) const VELOCITIES: [&str; 2] = ["velocity", "velocities"];
pub(crate) const MASSES: [&str; 4] = ["mass", "masses", "m", "charges"];
const PARTS: [&str; 2] = ["part", "group"];

impl Particles {
    /// Reads a file; `key` is its key in the case, for errors.
    pub fn read(file: &ParticleFile, key: &str) -> Result<Self, CaseError> {
        let wrong = |message: String| CaseError {
            origin: "case".to_owned(),
            line: None,
            column: None,
            message: format!("{key}.file: {message}"),
        };
        let table = read_particles(&file.file).map_err(|error| wrong(error.to_string()))?;
        let mut particles = Self {
            path: file.file.clone(),
            table,
            count: 0,
        };
        let points = particles.find(&POINTS).ok_or_else(|| {
            let names: Vec<&str> = particles.table.names().collect();
            wrong(format!(
                "{}: no array `points` or columns x, y, z; the file has: {}",
                file.file.display(),
                names.join(", ")
            ))
        })?;
        particles.count = points.rows;
        if points.rows == 0 {
            return Err(wrong(format!("{}: the file has no points", file.file.display())));
        }
        Ok(particles)
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The points in space; those of the plane lie at z = 0.
    pub fn points(&self) -> Result<Vec<Vec3>, CaseError> {
        match self.find(&POINTS) {
            Some(array) if array.columns == 2 => {
                let flat = array.values.as_chunks::<2>().0.iter();
                self.finite("points", &array)?;
                Ok(flat.map(|p| [p[0], p[1], 0.0]).collect())
            }
            _ => self.vectors(&POINTS),
        }
    }

    /// The array of vectors under the first of `names` that the file has.
    pub fn vectors(&self, names: &[&str]) -> Result<Vec<Vec3>, CaseError> {
        let array = self.find(names).ok_or_else(|| self.missing(names))?;
        self.finite(names[0], &array)?;
        let rows = array.to_rows::<3>().filter(|rows| rows.len() == self.count);
        rows.ok_or_else(|| self.shaped(names[0], &array, 3))
    }

    /// The array of numbers under the first of `names` that the file has.
    pub fn numbers(&self, names: &[&str]) -> Result<Vec<f64>, CaseError> {
        self.optional_numbers(names)?.ok_or_else(|| self.missing(names))
    }

    /// As [`numbers`](Self::numbers), but `None` if the file has none of `names`.
    pub fn optional_numbers(&self, names: &[&str]) -> Result<Option<Vec<f64>>, CaseError> {
        let Some(array) = self.find(names) else {
            return Ok(None);
        };
        self.finite(names[0], &array)?;
        if array.columns != 1 || array.rows != self.count {
            return Err(self.shaped(names[0], &array, 1));
        }
        Ok(Some(array.values))
    }

    /// The part of each point, from 0, and the number of parts.
    pub fn parts(&self) -> Result<(Vec<u32>, u32), CaseError> {
        /// The largest number of parts, because each has columns in the table.
        const MOST: f64 = 1000.0;
        let Some(numbers) = self.optional_numbers(&PARTS)? else {
            return Ok((vec![0; self.count], 1));
        };
        if let Some((at, part)) = numbers
            .iter()
            .enumerate()
            .find(|(_, part)| !((0.0..MOST).contains(*part) && part.fract() == 0.0))
        {
            return Err(self.wrong(format!("part[{at}] = {part} is not a whole number from 0 to {MOST}")));
        }
        let parts: Vec<u32> = numbers.iter().map(|part| *part as u32).collect();
        let count = parts.iter().max().map_or(1, |most| most + 1);
        Ok((parts, count))
    }

    fn find(&self, names: &[&str]) -> Option<Array> {
        let found = names.iter().find_map(|name| self.table.get(name));
        // Tables for `farfield evaluate` name the columns of strengths gx, gy, gz.
        found.or_else(|| {
            let columns = ["gx", "gy", "gz"].map(|name| self.table.get(name));
            match (names == STRENGTHS, columns) {
                (true, [Some(x), Some(y), Some(z)]) => {
                    let rows = x.values.iter().zip(&y.values).zip(&z.values);
                    Some(Array::from_rows(
                        &rows.map(|((x, y), z)| [*x, *y, *z]).collect::<Vec<_>>(),
                    ))
                }
                _ => None,
            }
        })
    }

    fn finite(&self, name: &str, array: &Array) -> Result<(), CaseError> {
        match array.values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(at) => Err(self.wrong(format!(
                "{name}[{}] has {}, which is not a finite number",
                at / array.columns.max(1),
                array.values[at]
            ))),
        }
    }

    fn missing(&self, names: &[&str]) -> CaseError {
        let found: Vec<&str> = self.table.names().collect();
        self.wrong(format!("no array `{}`; the file has: {}", names[0], found.join(", ")))
    }

    fn shaped(&self, name: &str, array: &Array, columns: usize) -> CaseError {
        self.wrong(format!(
            "{name} has {} rows of {} numbers; {} rows of {columns} are needed",
            array.rows, array.columns, self.count
        ))
    }

    fn wrong(&self, message: String) -> CaseError {
        CaseError {
            origin: self.path.display().to_string(),
            line: None,
            column: None,
            message,
        }
    }
}

/// The core sizes of the file, or else one size for all points.
pub(crate) fn sizes_of(particles: &Particles, file: &ParticleFile, key: &str) -> Result<Vec<f64>, CaseError> {
    let found = particles.optional_numbers(&SIZES)?;
    let sizes = match (found, file.core) {
        (Some(sizes), _) => sizes,
        (None, Some(core)) => vec![core; particles.len()],
        (None, None) => {
            return Err(particles.wrong(format!("no array `core_size`: set {key}.core, one size for all points")));
        }
    };
    match sizes.iter().position(|size| *size < 0.0) {
        Some(at) => Err(particles.wrong(format!("core_size[{at}] = {} is negative", sizes[at]))),
        None => Ok(sizes),
    }
}

/// Copies files into a run's folder, so that the folder can be moved and resumed by itself. The paths in the case
/// become those of the copies, relative to the folder.
///
/// # Errors
/// If a file cannot be read or its copy cannot be written.
pub(crate) fn import(files: Vec<(&'static str, &mut PathBuf)>, folder: &Path) -> Result<(), farfield_io::Error> {
    const PLACE: &str = "input";
    for (k, (section, file)) in files.into_iter().enumerate() {
        if file.is_relative() && file.starts_with(PLACE) && folder.join(&*file).exists() {
            // Copied already by a run that was killed before its first checkpoint.
            continue;
        }
        let extension = file.extension().unwrap_or_default().to_string_lossy().into_owned();
        let name = Path::new(PLACE).join(format!("{section}-{}.{extension}", k + 1));
        let bytes = std::fs::read(&*file).map_err(|cause| farfield_io::Error::Read {
            path: file.clone(),
            cause,
        })?;
        let target = folder.join(&name);
        std::fs::create_dir_all(folder.join(PLACE)).map_err(|cause| farfield_io::Error::Write {
            path: target.clone(),
            cause,
        })?;
        farfield_io::write_bytes_atomically(&target, &bytes)?;
        *file = name;
    }
    Ok(())
}
