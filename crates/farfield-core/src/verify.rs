//! The true error of a result, measured at sampled targets by a direct sum in double precision.
//!
//! The sum uses the caller's own numbers, without merging, shifting or rounding, and compensated summation. It is
//! vectorised like the pairs of a plan, whose formulas are tested against their definitions.

use crate::check::truth::{ABSOLUTE, CoreSizes, MOST_STRENGTHS, SourceArrays, TrueSums, TrueTargets};
use crate::error::Error;
use crate::geometry::{Geometry, Space};
use crate::kernel::{Kernel, Output, Sizes};
use crate::p2p::{PairSums, Pairs, Skip};
use crate::parallel::in_pool;
use crate::plan::input::check_size_values;
use crate::plan::units::{Units, largest_magnitude, times_two_to};
use crate::plan::{Field, check_strength_count, first_sum};
use crate::points::Random;
use crate::simd::{Real, RsqrtAccuracy, SimdLevel};
use crate::sum::{Points, Sum};
use crate::tree::octree::bounds;

/// The measured error of one output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputError {
    /// The output's name.
    pub output: &'static str,
    /// The relative error in the L2 norm.
    pub relative_l2: f64,
    /// In the plane, the largest relative difference at a target (Goude and Engblom, eq. 5.3). True values below their
    /// root mean square are raised to it.
    pub maximum: Option<f64>,
}

/// Measures the error of `field`, the result of `sum` for `strengths`, at `samples` random targets, over all strength
/// vectors.
///
/// The denominator is at least machine epsilon times the sum of absolute contributions, and 0/0 is 0. The
/// contributions of vortices count as if strength and distance were at right angles.
///
/// # Errors
/// [`Error::Length`], [`Error::NotFinite`] or [`Error::NegativeSize`] if strengths, sizes or field do not fit the
/// points.
pub fn verify<T: Real, G: Geometry>(
    sum: &Sum<T, G>,
    strengths: &[T],
    field: &Field<T, G>,
    samples: usize,
    seed: u64,
) -> Result<Vec<OutputError>, Error> {
    let counts = sum.points.counts();
    let components = G::strength_components(sum.request.kernel);
    check_strength_count(strengths.len(), counts.sources, components, field.vectors())?;
    check_size_values(sum.points.sizes, counts.sources)?;
    check_targets(field.targets(), counts.targets())?;
    let chosen = sampled(counts.targets(), samples, seed);
    let mut found = vec![Vec::with_capacity(chosen.len() * field.vectors()); field.outputs().len()];
    in_pool(true, || {
        G::compare_with_truth(sum, strengths, field, &chosen, &mut found)
    });
    let errors = field.outputs().iter().zip(&found);
    Ok(errors
        .map(|(output, samples)| OutputError {
            output: G::output_name(*output),
            relative_l2: Sample::relative_l2(samples),
            maximum: (G::COORDINATES == 2).then(|| Sample::maximum(samples)),
        })
        .collect())
}

/// [`Geometry::compare_with_truth`] in space.
pub(crate) fn compare<T: Real>(
    sum: &Sum<T, Space>,
    strengths: &[T],
    field: &Field<T>,
    chosen: &[usize],
    found: &mut [Vec<Sample>],
) {
    let truth = Truth::new(sum, strengths, field.outputs());
    let mut sums = TrueSums::default();
    for chosen in chosen.chunks(TOGETHER) {
        truth.compare(field, chosen, &mut sums, found);
    }
}

/// Targets per pass.
pub(crate) const TOGETHER: usize = 512;

/// [`Error::Length`] unless a field has the targets of the sum.
fn check_targets(found: usize, expected: usize) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Length {
        array: "field",
        found,
        expected,
        why: "one value for each target".to_owned(),
    })
}

/// The indices of `samples` random targets, or of all targets if there are no more than `samples`.
fn sampled(targets: usize, samples: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::stream(seed, 7);
    if samples >= targets {
        (0..targets).collect()
    } else {
        (0..samples)
            .map(|_| (random.next_u64() % targets as u64) as usize)
            .collect()
    }
}

/// The contribution of one target to the error.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Sample {
    difference2: f64,
    truth2: f64,
    floor2: f64,
}

impl Sample {
    /// Compares the values at one target, times `2^unit`, with the truth; `absolute` is the sum of absolute
    /// contributions.
    pub(crate) fn new<T: Real>(values: &[T], unit: i32, truth: impl Iterator<Item = f64>, absolute: f64) -> Self {
        let mut sample = Self {
            floor2: (T::EPSILON * absolute).powi(2),
            ..Self::default()
        };
        for (value, truth) in values.iter().zip(truth) {
            sample.difference2 += (times_two_to(value.to_f64(), unit) - truth).powi(2);
            sample.truth2 += truth * truth;
        }
        sample
    }

    fn total(samples: &[Self]) -> Self {
        samples.iter().fold(Self::default(), |a, b| Self {
            difference2: a.difference2 + b.difference2,
            truth2: a.truth2 + b.truth2,
            floor2: a.floor2 + b.floor2,
        })
    }

    /// The relative error in the L2 norm.
    pub(crate) fn relative_l2(samples: &[Self]) -> f64 {
        let total = Self::total(samples);
        if total.difference2 == 0.0 {
            return 0.0;
        }
        (total.difference2 / f64::max(total.truth2, total.floor2)).sqrt()
    }

    /// The largest relative difference at one target. True values below their root mean square are raised to it.
    pub(crate) fn maximum(samples: &[Self]) -> f64 {
        let total = Self::total(samples);
        let mean = f64::max(total.truth2, total.floor2) / samples.len().max(1) as f64;
        samples
            .iter()
            .filter(|sample| sample.difference2 > 0.0)
            .map(|sample| (sample.difference2 / sample.truth2.max(mean)).sqrt())
            .fold(0.0, f64::max)
    }
}

/// A compensated sum: the truth must be more accurate than the result it is compared with.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    pub fn add(&mut self, term: f64) {
        let next = self.sum + term;
        self.lost += if self.sum.abs() >= term.abs() {
            (self.sum - next) + term
        } else {
            (term - next) + self.sum
        };
        self.sum = next;
    }

    pub fn value(self) -> f64 {
        self.sum + self.lost
    }
}

/// The true sums, in units whose squares neither overflow nor underflow.
struct Truth<'a, T: Real> {
    points: Points<'a, T, Space>,
    strengths: &'a [T],
    kernel: Kernel,
    pairs: Pairs,
    units: Units,
    /// The unit of strengths, as an exponent of two.
    strength_unit: i32,
}

impl<'a, T: Real> Truth<'a, T> {
    fn new(sum: &Sum<'a, T, Space>, strengths: &'a [T], outputs: &[Output]) -> Self {
        let points = sum.points;
        let (_, extent) = bounds(&[points.sources, points.targets.unwrap_or(&[])]);
        let extent = extent.into_iter().fold(0.0, f64::max).min(f64::MAX);
        let largest_size = sum.largest_size();
        // In double precision, for points of any precision.
        let units = Units::new::<f64>(if extent > 0.0 { extent } else { largest_size }, sum.request.kernel);
        let largest = largest_magnitude(strengths).unwrap_or(0.0);
        let kernel = units.kernel(sum.request.kernel);
        Self {
            points,
            strengths,
            kernel,
            pairs: Pairs {
                kernel,
                softened: largest_size > 0.0,
                derivatives: outputs.iter().map(|output| output.derivatives()).max().unwrap_or(0),
                accuracy: RsqrtAccuracy::Full,
            },
            units,
            strength_unit: Units::of_strengths::<f64>(largest),
        }
    }

    /// The unit of each component of a strength.
    fn strength_units(&self) -> [i32; MOST_STRENGTHS] {
        let form = self.kernel.form();
        std::array::from_fn(|c| self.units.of_component(form, c, self.strength_unit))
    }

    /// Compares the values at the chosen targets with the truth, for every vector and output.
    fn compare(&self, field: &Field<T>, chosen: &[usize], sums: &mut TrueSums, found: &mut [Vec<Sample>]) {
        let points = self.points;
        let components = self.kernel.strength_components();
        let counts_itself = self.pairs.own_skip(points.targets.is_none()) == Skip::SameIndex;
        let targets = points.targets.unwrap_or(points.sources);
        let place = |target: &usize| targets[*target].map(|c| self.units.length(c.to_f64()));
        let targets = TrueTargets {
            position: chosen.iter().map(place).collect(),
            own: if counts_itself {
                chosen.iter().map(|target| *target as u32).collect()
            } else {
                Vec::new()
            },
            absolute: chosen.len(),
        };
        let sizes = match points.sizes {
            _ if !self.pairs.softened => CoreSizes::Square(0.0),
            Sizes::None => CoreSizes::Square(0.0),
            Sizes::Global(size) => CoreSizes::Square(self.units.length(size.to_f64()).powi(2)),
            Sizes::PerSource(sizes) => CoreSizes::Sizes(sizes),
        };
        let rows = PairSums::sums(&self.pairs);
        for vector in 0..field.vectors() {
            let per_vector = points.sources.len() * components;
            let strengths = &self.strengths[vector * per_vector..][..per_vector];
            let sources = SourceArrays {
                units: (self.units.length_exponent(), self.strength_units()),
                ..SourceArrays::of_points(points.sources, strengths, components, sizes)
            };
            sums.compute(SimdLevel::best(), &self.pairs, &sources, &targets);
            for (output, found) in field.outputs().iter().zip(found.iter_mut()) {
                let unit = self.units.of_output(*output, self.strength_unit);
                let (components, scale, first) = (output.components(), self.kernel.scale(*output), first_sum(*output));
                let values = field.get(*output).unwrap_or(&[]);
                for (k, target) in chosen.iter().enumerate() {
                    let truth = sums.sums[k * rows + first..][..components]
                        .iter()
                        .map(|sum| scale * sum);
                    let absolute = scale.abs() * sums.absolute[k * ABSOLUTE + output.derivatives()];
                    let at = (vector * field.targets() + target) * components;
                    found.push(Sample::new(&values[at..at + components], -unit, truth, absolute));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Core, reference};
    use crate::points::{ChargeDistribution, PointSet};
    use crate::sum::Request;

    /// The vectorised sums equal the definition, pair by pair, for every kernel, core and output.
    #[test]
    fn true_sums_match_the_definition() {
        let sources = PointSet::Cube.generate::<f64>(1300, 1);
        let gravity = Kernel::gravity(2.0);
        let kernels = [Kernel::Coulomb, gravity].into_iter();
        for kernel in kernels.chain(Core::ALL.map(|core| Kernel::BiotSavart { core })) {
            let components = kernel.strength_components();
            let strengths = ChargeDistribution::Signed.generate::<f64>(1300 * components, 2);
            let each: Vec<f64> = (0..1300).map(|k| 0.02 * (1 + k % 5) as f64).collect();
            for sizes in [Sizes::None, Sizes::Global(0.05), Sizes::PerSource(each)] {
                let mut request = Request::<Space>::new(kernel);
                request.outputs = kernel.outputs().to_vec();
                let sum = request.over(Points::new(&sources, None, &sizes));
                let truth = Truth::new(&sum, &strengths, kernel.outputs());
                let values: Vec<Vec<f64>> = kernel
                    .outputs()
                    .iter()
                    .map(|output| {
                        let at = |i: usize| {
                            let mut sums = vec![0.0; output.components()];
                            for j in (0..1300).filter(|j| *j != i) {
                                let d = std::array::from_fn(|a| sources[i][a] - sources[j][a]);
                                let size = match &sizes {
                                    _ if !kernel.has_sizes() => 0.0,
                                    Sizes::None => 0.0,
                                    Sizes::Global(size) => *size,
                                    Sizes::PerSource(sizes) => sizes[j],
                                };
                                let strength = &strengths[j * components..];
                                reference::add_pair(kernel, *output, d, strength, size, &mut sums);
                            }
                            sums
                        };
                        (0..1300)
                            .flat_map(|i| if i < 70 { at(i) } else { vec![0.0; output.components()] })
                            .collect()
                    })
                    .collect();
                let field = Field::from_values(&request, 1300, values, 1.0).unwrap();
                let chosen: Vec<usize> = (0..70).collect();
                let mut found = vec![Vec::new(); kernel.outputs().len()];
                truth.compare(&field, &chosen, &mut TrueSums::default(), &mut found);
                for (output, samples) in kernel.outputs().iter().zip(&found) {
                    let error = Sample::relative_l2(samples);
                    assert!(error < 3e-14, "{kernel:?} {sizes:?} {output}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn arrays_of_the_wrong_length_are_errors() {
        let sources = PointSet::Cube.generate::<f64>(10, 1);
        let field = Field::from_values(&Request::new(Kernel::Coulomb), 10, vec![vec![0.0; 10]], 1.0).unwrap();
        let (request, strengths) = (Request::<Space>::new(Kernel::gravity(1.0)), [1.0; 10]);
        let sum = request.between(&sources);
        assert!(verify(&sum, &strengths, &field, 5, 1).is_ok());
        let few_sizes = Sizes::PerSource(vec![0.1; 3]);
        let with_sizes = request.over(Points::new(&sources, None, &few_sizes));
        let few_targets = request.over(Points::new(&sources, Some(&sources[..4]), &Sizes::None));
        for (sum, strengths) in [
            (sum, &strengths[..9]),
            (with_sizes, &strengths),
            (few_targets, &strengths),
        ] {
            let error = verify(&sum, strengths, &field, 5, 1);
            assert!(matches!(error, Err(Error::Length { .. })));
        }
    }

    #[test]
    fn compensated_sums_keep_all_digits_when_terms_cancel() {
        let mut sum = CompensatedSum::default();
        for term in [1e16, 1.0, -1e16, 1.0] {
            sum.add(term);
        }
        assert_eq!(sum.value(), 2.0);
    }
}
