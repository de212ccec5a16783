//! Points and charges, made up or from files.

use super::request::{Charges, Request, Sources};
use crate::failure::Failure;
use crate::print;
use farfield::machine;
use farfield::plan::{MOST_POINTS, MemoryForecast};
use farfield::simd::Real;
use farfield_io::{Array, PointsFile, read_points, read_strengths, read_targets};
use std::path::Path;

/// What is summed over.
#[derive(Debug)]
pub struct Input<T> {
    pub sources: Vec<[T; 3]>,
    /// `None` if the targets are the sources.
    pub targets: Option<Vec<[T; 3]>>,
    /// As the library wants them: vector by vector, source by source.
    pub strengths: Vec<T>,
    pub vectors: usize,
    /// What the user may want to know about the files.
    pub notes: Vec<String>,
}

impl<T: Real> Input<T> {
    /// Makes or reads everything the request names.
    pub fn load(request: &Request) -> Result<Self, Failure> {
        let mut notes = Vec::new();
        let (sources, in_file) = match &request.sources {
            Sources::Made { set, n } => {
                check_fits::<T>(request, *n)?;
                (set.generate(*n, request.seed), None)
            }
            Sources::File(path) => {
                print::progress(&format!("reading {}", path.display()));
                let PointsFile {
                    points,
                    strengths,
                    unused,
                } = read_points(path)?;
                if !unused.is_empty() {
                    notes.push(format!("{}: not used: {}", path.display(), unused.join(", ")));
                }
                (rounded("sources", path, &points)?, strengths)
            }
        };
        let components = request.kernel.strength_components();
        let (strengths, vectors) = match &request.charges {
            Charges::Made(distribution) => {
                let vectors = request.vectors.unwrap_or(1);
                (
                    distribution.generate(sources.len() * components * vectors, request.seed),
                    vectors,
                )
            }
            Charges::File(path) => {
                print::progress(&format!("reading {}", path.display()));
                arranged(request, path, &read_strengths(path)?, sources.len())?
            }
            Charges::WithSources => match (&request.sources, in_file) {
                (Sources::File(path), Some(array)) => arranged(request, path, &array, sources.len())?,
                _ => {
                    let path = request.source_name();
                    return Err(Failure::Data(format!(
                        "{path}: no charges in this file: give --charges FILE, or --charge-distribution to make them up"
                    )));
                }
            },
        };
        let mut input = Self {
            sources,
            targets: None,
            strengths,
            vectors,
            notes,
        };
        if let Some(path) = &request.targets {
            print::progress(&format!("reading {}", path.display()));
            input.set_targets(rounded("targets", path, &read_targets(path)?)?);
        }
        Ok(input)
    }

    /// Targets that are the sources, point by point, are the case without targets: then i = j is skipped.
    fn set_targets(&mut self, targets: Vec<[T; 3]>) {
        if targets == self.sources {
            self.notes
                .push("the targets are the sources: no point acts on itself".to_owned());
        } else {
            self.targets = Some(targets);
        }
    }

    /// How many targets there are.
    pub fn target_count(&self) -> usize {
        self.targets.as_ref().map_or(self.sources.len(), Vec::len)
    }

    /// The library's error, with the file that the offending array came from.
    pub fn failure(&self, request: &Request, error: farfield::Error) -> Failure {
        let array = match &error {
            farfield::Error::NotFinite { array, .. }
            | farfield::Error::TooClose { array, .. }
            | farfield::Error::TooMany { array, .. } => *array,
            farfield::Error::Overflow { .. } => "strengths",
            _ => "",
        };
        if let (farfield::Error::Memory { .. }, Sources::Made { n, .. }) = (&error, &request.sources) {
            return Failure::Data(format!("--n {n}: {error}"));
        }
        let file = match (array, &request.charges) {
            ("strengths", Charges::File(path)) => path.display().to_string(),
            ("strengths", Charges::WithSources) | ("sources", _) => request.source_name(),
            ("targets", _) => request
                .targets
                .as_ref()
                .map(|path| path.display().to_string())
                .unwrap_or_default(),
            _ => String::new(),
        };
        match Failure::from(error) {
            Failure::Data(message) if !file.is_empty() => Failure::Data(format!("{file}: {message}")),
            failure => failure,
        }
    }
}

impl Request {
    /// The file of the sources, or the kind of point set.
    pub fn source_name(&self) -> String {
        match &self.sources {
            Sources::Made { set, .. } => set.name().to_owned(),
            Sources::File(path) => path.display().to_string(),
        }
    }
}

fn rounded<T: Real>(array: &str, path: &Path, points: &[[f64; 3]]) -> Result<Vec<[T; 3]>, Failure> {
    let place = |at: usize| format!("{}: {array}[{}] component {}", path.display(), at / 3, at % 3);
    check_precision::<T>(points.as_flattened(), place)?;
    Ok(points.iter().map(|point| point.map(T::from_f64)).collect())
}

/// Finite numbers must stay finite in the precision asked for; `place` says where a number comes from.
pub fn check_precision<T: Real>(values: &[f64], place: impl Fn(usize) -> String) -> Result<(), Failure> {
    match values
        .iter()
        .position(|value| value.is_finite() && value.abs() > T::LARGEST)
    {
        None => Ok(()),
        Some(at) => Err(Failure::Data(format!(
            "{} is {:e}, beyond {:e}, the largest number in {}: use --precision f64",
            place(at),
            values[at],
            T::LARGEST,
            T::NAME
        ))),
    }
}

/// From a row for each source, with the components of vector after vector, to the library's order.
fn arranged<T: Real>(
    request: &Request,
    path: &Path,
    array: &Array,
    sources: usize,
) -> Result<(Vec<T>, usize), Failure> {
    let name = path.display();
    let components = request.kernel.strength_components();
    if array.rows != sources {
        let (rows, from) = (array.rows, request.source_name());
        return Err(Failure::Data(format!(
            "{name}: charges for {rows} points, but {from} has {sources} sources"
        )));
    }
    let vectors = request.vectors.unwrap_or((array.columns / components).max(1));
    if array.columns != vectors * components {
        let what = if components == 1 {
            "a number".to_owned()
        } else {
            format!("{components} numbers")
        };
        return Err(Failure::Data(format!(
            "{name}: {} columns of charges, but {} takes {what} for each source{}",
            array.columns,
            request.kernel,
            if vectors == 1 {
                String::new()
            } else {
                format!(" and each of the {vectors} charge vectors")
            },
        )));
    }
    let place = |at: usize| {
        format!(
            "{name}: strengths[{}] column {}",
            at / array.columns,
            at % array.columns
        )
    };
    check_precision::<T>(&array.values, place)?;
    let mut strengths = Vec::with_capacity(array.values.len());
    for vector in 0..vectors {
        for row in array.values.chunks_exact(array.columns) {
            strengths.extend(
                row[vector * components..][..components]
                    .iter()
                    .map(|value| T::from_f64(*value)),
            );
        }
    }
    Ok((strengths, vectors))
}

/// Refuses numbers of points that cannot fit, before the first one is made.
fn check_fits<T: Real>(request: &Request, n: usize) -> Result<(), Failure> {
    let gib = |bytes: u64| bytes as f64 / 1024f64.powi(3);
    let needed = forecast::<T>(request, n, None, request.vectors.unwrap_or(1)).total();
    if let Some(available) = machine::available_memory()
        && needed > available
    {
        let error = farfield::Error::Memory {
            needed_gib: gib(needed),
            available_gib: gib(available),
        };
        return Err(Failure::Data(format!("--n {n}: {error}")));
    }
    if n > MOST_POINTS {
        let error = farfield::Error::TooMany {
            array: "sources",
            count: n,
            limit: MOST_POINTS,
        };
        return Err(Failure::Data(format!("--n {n}: {error}")));
    }
    Ok(())
}

/// The memory that a sum over so many points takes.
pub fn forecast<T: Real>(request: &Request, sources: usize, targets: Option<usize>, vectors: usize) -> MemoryForecast {
    request.sum::<T>(&[], None, vectors).memory_forecast(sources, targets)
}
