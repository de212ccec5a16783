//! Points and charges, generated or read from files.

use super::settings::{Charges, EvaluateSettings, Sources};
use crate::device;
use crate::failure::Failure;
use crate::print;
use crate::problem::{Problem, check_precision};
use farfield::plan::MOST_POINTS;
use farfield::simd::Real;
use farfield::{Device, Error, Precision, SumOf, machine};
use farfield_io::{Array, Part, read_points_part, read_strengths_part, read_targets_part};
use std::path::Path;

/// The points and strengths of a sum, or a part of them.
#[derive(Debug)]
pub struct Input<T, const D: usize> {
    pub sources: Vec<[T; D]>,
    /// The number of sources and of targets in all parts together.
    pub all: (usize, usize),
    /// `None` if the targets are the sources.
    pub targets: Option<Vec<[T; D]>>,
    /// In the library's order: vector by vector, source by source.
    pub strengths: Vec<T>,
    pub vectors: usize,
    /// Remarks on the files for the user.
    pub notes: Vec<String>,
}

impl<T: Precision, const D: usize> Input<T, D> {
    /// Generates or reads everything the settings name.
    pub fn load<P: Problem<D>>(settings: &EvaluateSettings<P, D>) -> Result<Self, Failure> {
        if let Sources::Made { n, .. } = &settings.sources {
            check_fits::<P, T, D>(settings, *n)?;
        }
        let mut input = Self::load_part(settings, Part::ALL)?;
        if input.are_targets_the_sources() {
            input.merge_targets();
        }
        Ok(input)
    }

    /// Generates or reads one part of everything the settings name. The other parts take no memory.
    pub fn load_part<P: Problem<D>>(settings: &EvaluateSettings<P, D>, part: Part) -> Result<Self, Failure> {
        let mut notes = Vec::new();
        // Only the first of several parts reports progress.
        let reading = |path: &Path| {
            if part.index == 0 {
                print::progress(&format!("reading {}", path.display()));
            }
        };
        let (sources, n, in_file) = match &settings.sources {
            Sources::Made { set, n } => (P::generate(*set, part.rows(*n), settings.seed), *n, None),
            Sources::File(path) => {
                reading(path);
                let (file, n) = read_points_part::<D>(path, part)?;
                if !file.unused.is_empty() {
                    notes.push(format!("{}: not used: {}", path.display(), file.unused.join(", ")));
                }
                let own = part.rows(n);
                (rounded("sources", path, &file.points, own.start)?, n, file.strengths)
            }
        };
        let own = part.rows(n);
        // Dipole moments come in a file of their own, beside one charge for each source.
        let components = match settings.dipoles {
            Some(_) => 1,
            None => P::strength_components(settings.request.kernel),
        };
        let moments = match &settings.dipoles {
            Some(path) => {
                reading(path);
                let (array, rows) = read_strengths_part(path, part)?;
                check_rows(settings, "dipole moments", path, rows, n)?;
                Some(array)
            }
            None => None,
        };
        let in_moments = moments.as_ref().map(|array| (array.columns / 3).max(1));
        let asked = settings.vectors.or(in_moments);
        let (strengths, vectors) = match &settings.charges {
            Charges::None => (vec![T::ZERO; sources.len() * asked.unwrap_or(1)], asked.unwrap_or(1)),
            Charges::Made(distribution) => {
                let vectors = asked.unwrap_or(1);
                // One charge vector after another, each for all sources.
                let of_vector = |vector: usize| {
                    let rows = vector * n + own.start..vector * n + own.end;
                    distribution.generate_part::<T>(rows.start * components..rows.end * components, settings.seed)
                };
                ((0..vectors).flat_map(of_vector).collect(), vectors)
            }
            Charges::File(path) => {
                reading(path);
                let (array, rows) = read_strengths_part(path, part)?;
                check_rows(settings, "charges", path, rows, n)?;
                arranged(
                    P::kernel_name(settings.request.kernel),
                    components,
                    asked,
                    path,
                    (&array, own.start),
                )?
            }
            Charges::WithSources => match (&settings.sources, in_file) {
                (Sources::File(path), Some(array)) => arranged(
                    P::kernel_name(settings.request.kernel),
                    components,
                    asked,
                    path,
                    (&array, own.start),
                )?,
                _ if moments.is_some() => {
                    let vectors = asked.unwrap_or(1);
                    (vec![T::ZERO; sources.len() * vectors], vectors)
                }
                _ => {
                    let path = settings.source_name();
                    return Err(Failure::Data(format!(
                        "{path}: no charges in this file: give --charges FILE, or --charge-distribution NAME"
                    )));
                }
            },
        };
        let strengths = match (&settings.dipoles, moments) {
            (Some(path), Some(array)) => {
                let (moments, _) = arranged::<T>(
                    P::kernel_name(settings.request.kernel),
                    3,
                    Some(vectors),
                    path,
                    (&array, own.start),
                )?;
                let moments = moments.as_chunks::<3>().0.iter();
                strengths
                    .iter()
                    .zip(moments)
                    .flat_map(|(q, [x, y, z])| [*q, *x, *y, *z])
                    .collect()
            }
            _ => strengths,
        };
        let mut input = Self {
            sources,
            all: (n, n),
            targets: None,
            strengths,
            vectors,
            notes,
        };
        if let Some(path) = &settings.targets {
            reading(path);
            let (targets, m) = read_targets_part(path, part)?;
            input.targets = Some(rounded("targets", path, &targets, part.rows(m).start)?);
            input.all.1 = m;
        }
        Ok(input)
    }

    /// Whether targets are given and equal the sources, point by point. For a part, only its own points are compared.
    pub fn are_targets_the_sources(&self) -> bool {
        self.all.0 == self.all.1 && self.targets.as_ref().is_some_and(|targets| *targets == self.sources)
    }

    /// Drops targets that equal the sources, so that the pair i = j is skipped.
    pub fn merge_targets(&mut self) {
        self.targets = None;
        self.notes
            .push("the targets are the sources: no point acts on itself".to_owned());
    }

    /// The sum over these points.
    pub fn sum<P: Problem<D>>(&self, settings: &EvaluateSettings<P, D>) -> SumOf<'_, T, P> {
        settings.sum(&self.sources, self.targets.as_deref(), self.vectors)
    }

    /// The number of targets.
    pub fn target_count(&self) -> usize {
        self.targets.as_ref().map_or(self.sources.len(), Vec::len)
    }

    /// The failure for an error of the sum; its message names the file of the offending array.
    pub fn failure<P: Problem<D>>(&self, settings: &EvaluateSettings<P, D>, error: Error) -> Failure {
        if error.is_of_the_device() {
            return device::failure(settings.request.options.device, &error);
        }
        let array = match &error {
            Error::NotFinite { array, .. } | Error::TooClose { array, .. } | Error::TooMany { array, .. } => *array,
            Error::Overflow { .. } => "strengths",
            _ => "",
        };
        if let (Error::Memory { .. }, Sources::Made { n, .. }) = (&error, &settings.sources) {
            return Failure::Data(format!("--n {n}: {error}"));
        }
        let file = match (array, &settings.charges) {
            ("strengths", Charges::File(path)) => path.display().to_string(),
            ("strengths", Charges::WithSources) | ("sources", _) => settings.source_name(),
            ("targets", _) => settings
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

/// Points in the precision of the sum. `first` is the index of the first of them in the file.
fn rounded<T: Real, const D: usize>(
    array: &str,
    path: &Path,
    points: &[[f64; D]],
    first: usize,
) -> Result<Vec<[T; D]>, Failure> {
    let place = |at: usize| format!("{}: {array}[{}] component {}", path.display(), first + at / D, at % D);
    check_precision::<T>(points.as_flattened(), place)?;
    Ok(points.iter().map(|point| point.map(T::from_f64)).collect())
}

/// Refuses strengths whose rows are not one for each source.
fn check_rows<P: Problem<D>, const D: usize>(
    settings: &EvaluateSettings<P, D>,
    what: &str,
    path: &Path,
    rows: usize,
    sources: usize,
) -> Result<(), Failure> {
    if rows == sources {
        return Ok(());
    }
    let (name, from) = (path.display(), settings.source_name());
    Err(Failure::Data(format!(
        "{name}: {what} for {rows} points, but {from} has {sources} sources"
    )))
}

/// Rearranges `array`, with one row for each source and the components of each vector in turn, into the library's
/// order. `first` is the index of the first row in the file.
fn arranged<T: Real>(
    kernel: &str,
    components: usize,
    vectors: Option<usize>,
    path: &Path,
    (array, first): (&Array, usize),
) -> Result<(Vec<T>, usize), Failure> {
    let name = path.display();
    let vectors = vectors.unwrap_or((array.columns / components).max(1));
    if array.columns != vectors * components {
        let what = if components == 1 {
            "a number".to_owned()
        } else {
            format!("{components} numbers")
        };
        return Err(Failure::Data(format!(
            "{name}: {} columns of charges, but {} takes {what} for each source{}",
            array.columns,
            kernel,
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
            first + at / array.columns,
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

/// Refuses a number of points that cannot fit into memory, before the first point is generated.
fn check_fits<P: Problem<D>, T: Precision, const D: usize>(
    settings: &EvaluateSettings<P, D>,
    n: usize,
) -> Result<(), Failure> {
    let gib = |bytes: u64| bytes as f64 / 1024f64.powi(3);
    let sum = settings.sum::<T>(&[], None, settings.vectors.unwrap_or(1));
    let needed = sum.memory_forecast(n, None);
    if let Device::Cuda(number) = settings.request.options.device {
        let device = farfield::open(number)?;
        // The plan would refuse it too, but only after all points are generated.
        let free = device.free_memory()?;
        if needed > free {
            let error = Error::DeviceMemory {
                needed_gib: gib(needed),
                available_gib: gib(free),
                device: device.properties().name.clone(),
            };
            return Err(Failure::Data(format!("--n {n}: {error}")));
        }
    } else if let Some(available) = machine::available_memory()
        && needed > available
    {
        let error = Error::Memory {
            needed_gib: gib(needed),
            available_gib: gib(available),
        };
        return Err(Failure::Data(format!("--n {n}: {error}")));
    }
    if n > MOST_POINTS {
        let error = Error::TooMany {
            array: "sources",
            count: n,
            limit: MOST_POINTS,
        };
        return Err(Failure::Data(format!("--n {n}: {error}")));
    }
    Ok(())
}
