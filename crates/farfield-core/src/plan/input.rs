//! Checks of the caller's input.

use super::extremes::Extremes;
use super::units::{Comfort, largest_magnitude};
use crate::error::Error;
use crate::geometry::Space;
use crate::kernel::Sizes;
use crate::simd::Real;
use crate::sum::Sum;
use std::collections::{BTreeMap, BTreeSet};

impl<T: Real> Sum<'_, T, Space> {
    /// Makes all checks of [`Sum::plan`]; returns the extent of the points, or of the cores if all points coincide.
    ///
    /// # Errors
    /// Any of [`Error`], with the invalid value and its place.
    pub fn validate(&self) -> Result<f64, Error> {
        self.validate_sizes()?;
        self.request.validate::<T>()?;
        let extent = check_points(self.points.sources, self.points.targets)?;
        let extent = if extent > 0.0 { extent } else { self.largest_size() };
        if self.request.kernel.has_sizes() {
            check_size_range(self.points.sizes, extent)?;
        }
        Ok(extent)
    }

    fn validate_sizes(&self) -> Result<(), Error> {
        check_size_values(self.points.sizes, self.points.sources.len())?;
        match self.request.kernel.description().regularisation {
            Some(core) if core.needs_size && *self.points.sizes == Sizes::None => {
                Err(Error::MissingSize { core: core.name })
            }
            None if *self.points.sizes != Sizes::None => Err(Error::UselessSizes {
                kernel: self.request.kernel.name(),
            }),
            _ => Ok(()),
        }
    }

    /// The largest core size; zero if no source has one or the kernel ignores it.
    pub fn largest_size(&self) -> f64 {
        if self.request.kernel.has_sizes() {
            self.points.largest_size()
        } else {
            0.0
        }
    }
}

/// Checks the core sizes or softening lengths of `sources` sources.
pub(crate) fn check_size_values<T: Real>(sizes: &Sizes<T>, sources: usize) -> Result<(), Error> {
    let check = |index: usize, size: T| {
        if !size.is_finite() {
            return Err(Error::NotFinite {
                array: "core sizes",
                index,
                component: 0,
                value: size.to_f64(),
            });
        }
        if size < T::ZERO {
            return Err(Error::NegativeSize {
                index,
                value: size.to_f64(),
            });
        }
        Ok(())
    };
    match sizes {
        Sizes::None => {}
        Sizes::Global(size) => check(0, *size)?,
        Sizes::PerSource(sizes) => {
            if sizes.len() != sources {
                let why = "one per source".to_owned();
                let (found, expected) = (sizes.len(), sources);
                return Err(Error::Length {
                    array: "core sizes",
                    found,
                    expected,
                    why,
                });
            }
            sizes
                .iter()
                .enumerate()
                .try_for_each(|(index, size)| check(index, *size))?;
        }
    }
    Ok(())
}

/// Checks that each core size is zero, or close enough to the extent of the points that the squares of both can be
/// added.
pub(crate) fn check_size_range<T: Real>(sizes: &Sizes<T>, extent: f64) -> Result<(), Error> {
    let comfort = Comfort::of::<T>();
    let lowest = extent * 2f64.powi(comfort.least_distance);
    let highest = extent * 2f64.powi(comfort.largest_size);
    let check = |index: usize, size: T| {
        let value = size.to_f64();
        if value == 0.0 || (lowest..=highest).contains(&value) {
            return Ok(());
        }
        Err(Error::SizeRange {
            index,
            value,
            lowest,
            highest,
            extent,
            precision: T::NAME,
        })
    };
    match sizes {
        Sizes::None => Ok(()),
        Sizes::Global(size) => check(0, *size),
        Sizes::PerSource(sizes) => sizes.iter().enumerate().try_for_each(|(k, size)| check(k, *size)),
    }
}

/// Checks that points are few enough for their indices, finite, and that the squares of their distances are
/// representable; returns their extent.
pub(crate) fn check_points<T: Real, const D: usize>(
    sources: &[[T; D]],
    targets: Option<&[[T; D]]>,
) -> Result<f64, Error> {
    let sets = [("sources", sources), ("targets", targets.unwrap_or(&[]))];
    let [sources, targets] = sets.map(|(array, points)| Survey::of(array, points));
    let all = sources?.join(targets?);
    let comfort = Comfort::of::<T>();
    let extent = all.extent();
    if extent > 0.0 {
        let least = extent * 2f64.powi(comfort.least_distance);
        check_distances(&sets, &all, least, least * 2f64.powi(comfort.digits + 1))?;
    }
    Ok(extent)
}

/// The extremes of all points, found in one pass.
#[derive(Debug, Clone, Copy)]
struct Survey<const D: usize> {
    low: [f64; D],
    high: [f64; D],
    /// The smallest coordinate other than zero.
    smallest: f64,
}

impl<const D: usize> Survey<D> {
    fn of<T: Real>(array: &'static str, points: &[[T; D]]) -> Result<Self, Error> {
        if points.len() > MOST_POINTS {
            return Err(Error::TooMany {
                array,
                count: points.len(),
                limit: MOST_POINTS,
            });
        }
        let coordinates = points.as_flattened();
        let found = Extremes::of(coordinates);
        if found.are_finite() {
            return Ok(Self {
                low: std::array::from_fn(|axis| found.of_axis(axis, D).0),
                high: std::array::from_fn(|axis| found.of_axis(axis, D).1),
                smallest: found.smallest(),
            });
        }
        let at = coordinates.iter().position(|c| !c.is_finite()).unwrap_or(0);
        Err(Error::NotFinite {
            array,
            index: at / D,
            component: at % D,
            value: coordinates[at].to_f64(),
        })
    }

    fn join(self, other: Self) -> Self {
        Self {
            low: std::array::from_fn(|axis| self.low[axis].min(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].max(other.high[axis])),
            smallest: self.smallest.min(other.smallest),
        }
    }

    /// The largest extent along an axis, at most the largest number.
    fn extent(&self) -> f64 {
        (0..D)
            .map(|axis| self.high[axis] - self.low[axis])
            .fold(0.0, f64::max)
            .min(f64::MAX)
    }
}

/// The largest number of sources or of targets.
pub const MOST_POINTS: usize = u32::MAX as usize - 64;

/// A point with its array and its index there.
type Numbered<T, const D: usize> = (&'static str, usize, [T; D]);

/// Refuses distinct points less than `least` apart along an axis, because the square of their distance may underflow.
///
/// Near a coordinate of `limit` or more, floating-point numbers are at least `least` apart. So only points that agree
/// in their large coordinates and have small ones are compared; few sets have such points.
fn check_distances<T: Real, const D: usize>(
    sets: &[(&'static str, &[[T; D]]); 2],
    survey: &Survey<D>,
    least: f64,
    limit: f64,
) -> Result<(), Error> {
    if survey.smallest >= limit {
        return Ok(());
    }
    // Adding zero turns -0 into 0, so that equal numbers have equal bits.
    let place = |point: &[T; D]| {
        point.map(|c| {
            if c.to_f64().abs() < limit {
                0
            } else {
                (c.to_f64() + 0.0).to_bits()
            }
        })
    };
    let is_small = |c: &T| *c != T::ZERO && c.to_f64().abs() < limit;
    let all = || {
        let numbered = |(array, points): &(&'static str, &[[T; D]])| {
            let array = *array;
            points
                .iter()
                .enumerate()
                .map(move |(index, point)| (array, index, *point))
                .collect::<Vec<_>>()
        };
        sets.iter().flat_map(numbered)
    };
    let crowded: BTreeSet<[u64; D]> = all()
        .filter(|(_, _, point)| point.iter().any(is_small))
        .map(|(_, _, point)| place(&point))
        .collect();
    let mut groups: BTreeMap<[u64; D], Vec<Numbered<T, D>>> = BTreeMap::new();
    for entry in all() {
        let place = place(&entry.2);
        if crowded.contains(&place) {
            groups.entry(place).or_default().push(entry);
        }
    }
    for mut group in groups.into_values() {
        for component in 0..D {
            let coordinate = |entry: &Numbered<T, D>| entry.2[component].to_f64();
            group.sort_by(|a, b| coordinate(a).total_cmp(&coordinate(b)));
            let close = group.windows(2).find(|pair| {
                let gap = coordinate(&pair[1]) - coordinate(&pair[0]);
                gap > 0.0 && gap < least
            });
            if let Some([_, (array, index, point)]) = close {
                return Err(Error::TooClose {
                    array,
                    index: *index,
                    component,
                    value: point[component].to_f64(),
                    least,
                    precision: T::NAME,
                });
            }
        }
    }
    Ok(())
}

/// Checks the number of strengths, as [`check_strengths`] does first.
///
/// # Errors
/// [`Error::Length`].
pub fn check_strength_count(found: usize, sources: usize, components: usize, vectors: usize) -> Result<(), Error> {
    let expected = sources * components * vectors;
    if found == expected {
        return Ok(());
    }
    Err(Error::Length {
        array: "strengths",
        found,
        expected,
        why: format!("{sources} sources x {components} components x {vectors} vectors"),
    })
}

/// Checks the strengths of an evaluation, `sources * components * vectors` finite numbers; returns the largest
/// magnitude.
///
/// # Errors
/// [`Error::Length`] or [`Error::NotFinite`].
pub fn check_strengths<T: Real>(
    strengths: &[T],
    sources: usize,
    components: usize,
    vectors: usize,
) -> Result<f64, Error> {
    check_strength_count(strengths.len(), sources, components, vectors)?;
    largest_magnitude(strengths).map_err(|at| Error::NotFinite {
        array: "strengths",
        index: at / components,
        component: at % components,
        value: strengths[at].to_f64(),
    })
}
