//! Measures the true error of a sum over ranks at some targets: every rank sums its own sources directly at these
//! targets, and the sums of all ranks are added.

use crate::communicator::Communicator;
use crate::error::{Error, agree};
use crate::local::Own;
use crate::problem::{Points, Shared};
use crate::sum::Sum;
use crate::wire::{Reader, Writer};
use farfield::check::{Check, Measured};
use farfield::kernel::Sizes;
use farfield::points::Random;
use farfield::{Method, Options, Precision};
use rayon::prelude::*;

/// The number of targets, over all ranks, at which every evaluation is checked.
pub const SAMPLES: usize = 64;

/// Targets drawn from those of all ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// The number of samples on all ranks.
    count: usize,
    /// Whether all targets are samples.
    complete: bool,
    /// The samples of this rank: the index of the sample and of its target.
    own: Vec<(usize, usize)>,
}

impl Samples {
    /// Draws at most `most` of the targets of all ranks; this rank has `targets` targets. Called by all ranks together.
    pub fn draw(ranks: &(impl Communicator + ?Sized), targets: usize, most: usize, seed: u64) -> Self {
        let counts = ranks.all_gather(&(targets as u64).to_ne_bytes());
        let counts = counts
            .as_chunks()
            .0
            .iter()
            .map(|bytes| u64::from_ne_bytes(*bytes) as usize);
        let (mut all, mut first) = (0, 0);
        for (rank, count) in counts.enumerate() {
            if rank == ranks.rank() {
                first = all;
            }
            all += count;
        }
        // One random target from each of `count` equal ranges of all targets, which are in the order of the curve.
        let count = all.min(most);
        let mut random = Random::new(seed);
        let mut own = Vec::new();
        for sample in 0..count {
            let (low, high) = (sample * all / count, (sample + 1) * all / count);
            let target = low + (random.next_u64() % (high - low) as u64) as usize;
            if (first..first + targets).contains(&target) {
                own.push((sample, target - first));
            }
        }
        Self {
            count,
            complete: count == all,
            own,
        }
    }

    /// Compares values at own targets with the true sums over all ranks. Called by all ranks together.
    ///
    /// # Errors
    /// [`Error::OnRank`] if a rank failed to sum.
    pub fn compare<P: Shared<D>, T: Precision, const D: usize>(
        &self,
        ranks: &(impl Communicator + ?Sized),
        sum: &Sum<P>,
        own: &Own<T, D>,
        (strengths, values): (&[T], &[Vec<T>]),
    ) -> Result<Check, Error> {
        let places = self.places(ranks, own);
        let sums = agree(ranks, true_sums(sum, own, strengths, &places))?;
        let truth = add_up(ranks, &sums);
        let mut measured = Vec::new();
        let mut offset = 0;
        for (k, output) in sum.request.outputs.iter().enumerate() {
            let rows = sum.request.vectors * self.count;
            let width = P::output_components(sum.request.kernel, *output);
            let truth = &truth[offset..offset + rows * width];
            offset += rows * width;
            let mut squares = vec![0.0; 2 * rows];
            let (errors, norms) = squares.split_at_mut(rows);
            for (sample, target) in &self.own {
                for vector in 0..sum.request.vectors {
                    let row = vector * self.count + sample;
                    let value = &values[k][(vector * own.targets().len() + target) * width..][..width];
                    let itself = self.at_itself(sum, own, strengths, (vector, *target), *output);
                    for c in 0..width {
                        let truth = truth[row * width + c] - itself.get(c).unwrap_or(&0.0);
                        errors[row] += (value[c].to_f64() - truth).powi(2);
                        norms[row] += truth * truth;
                    }
                }
            }
            // Each sample belongs to one rank and the others have zeros, so the maximum is its value.
            ranks.max_all(&mut squares);
            measured.push(estimate(P::output_name(*output), &squares, self.complete));
        }
        Ok(Check {
            targets: self.count,
            complete: self.complete,
            attempts: 1,
            outputs: measured,
            warnings: Vec::new(),
        })
    }

    /// The relative round-off error to be expected in each output at these targets: machine epsilon times the sum of
    /// the magnitudes of all contributions, divided by the values. Called by all ranks together.
    pub fn rounding<P: Shared<D>, T: Precision, const D: usize>(
        &self,
        ranks: &(impl Communicator + ?Sized),
        sum: &Sum<P>,
        own: &Own<T, D>,
        (strengths, values): (&[T], &[Vec<T>]),
    ) -> Vec<f64> {
        let places = self.places(ranks, own);
        let outputs = &sum.request.outputs;
        let numbers = P::carried(sum.request.kernel).of_source();
        let of_place = |place: &[f64; D]| {
            let mut sums = vec![0.0; outputs.len()];
            for (source, point) in own.sources.iter().enumerate() {
                let square: f64 = (0..D).map(|axis| (point[axis].to_f64() - place[axis]).powi(2)).sum();
                let distance = (square + own.size(source).powi(2)).sqrt();
                if distance == 0.0 {
                    continue;
                }
                let of_vector =
                    |vector: usize| &strengths[(vector * own.sources.len() + source) * numbers..][..numbers];
                let strength = (0..sum.request.vectors)
                    .flat_map(of_vector)
                    .map(|s| s.to_f64().powi(2))
                    .sum::<f64>()
                    .sqrt();
                for (sum_of, output) in sums.iter_mut().zip(outputs) {
                    let (power, scale) = P::magnitude(sum.request.kernel, *output);
                    let at = if power == 0 {
                        distance.ln().abs()
                    } else {
                        distance.powi(-power)
                    };
                    *sum_of += scale * strength * at;
                }
            }
            sums
        };
        let sums: Vec<f64> = places.par_iter().flat_map(of_place).collect();
        let sums = add_up(ranks, &sums);
        let epsilon = if T::DOUBLE {
            f64::EPSILON
        } else {
            f64::from(f32::EPSILON)
        };
        let of_output = |(k, output): (usize, &P::Output)| {
            let width = P::output_components(sum.request.kernel, *output);
            let mut squares = vec![0.0; self.count];
            for (sample, target) in &self.own {
                for vector in 0..sum.request.vectors {
                    let value = &values[k][(vector * own.targets().len() + target) * width..][..width];
                    squares[*sample] += value.iter().map(|v| v.to_f64().powi(2)).sum::<f64>();
                }
            }
            ranks.max_all(&mut squares);
            let contributed: f64 = sums.iter().skip(k).step_by(outputs.len()).map(|sum| sum * sum).sum();
            let whole = squares.iter().sum::<f64>().max(epsilon * epsilon * contributed);
            if contributed > 0.0 {
                epsilon * (contributed / whole).sqrt()
            } else {
                0.0
            }
        };
        outputs.iter().enumerate().map(of_output).collect()
    }

    /// The positions of all samples, on every rank.
    fn places<T: Precision, const D: usize>(
        &self,
        ranks: &(impl Communicator + ?Sized),
        own: &Own<T, D>,
    ) -> Vec<[f64; D]> {
        // Each sample belongs to one rank and the others have zeros, so the sum of the bits is the position.
        let mut bits = vec![0; D * self.count];
        for (sample, target) in &self.own {
            for axis in 0..D {
                bits[D * sample + axis] = own.targets()[*target][axis].to_f64().to_bits();
            }
        }
        ranks.sum_all(&mut bits);
        let numbers: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
        numbers.as_chunks::<D>().0.to_vec()
    }

    /// The self term of a target that is a source, which is not part of the sum.
    fn at_itself<P: Shared<D>, T: Precision, const D: usize>(
        &self,
        sum: &Sum<P>,
        own: &Own<T, D>,
        strengths: &[T],
        (vector, target): (usize, usize),
        output: P::Output,
    ) -> Vec<f64> {
        if own.targets.is_some() || sum.count_self {
            return Vec::new();
        }
        let numbers = P::carried(sum.request.kernel).of_source();
        let row = &strengths[(vector * own.sources.len() + target) * numbers..][..numbers];
        let strength: Vec<f64> = row.iter().map(|s| s.to_f64()).collect();
        let mut value = vec![0.0; P::output_components(sum.request.kernel, output)];
        P::at_itself(sum.request.kernel, output, &strength, own.size(target), &mut value);
        value
    }
}

/// Direct sums over this rank's sources at given positions, in double precision, output by output.
fn true_sums<P: Shared<D>, T: Precision, const D: usize>(
    sum: &Sum<P>,
    own: &Own<T, D>,
    strengths: &[T],
    places: &[[f64; D]],
) -> Result<Vec<f64>, farfield::Error> {
    /// The number of sources that are converted at a time: few enough to stay in the caches.
    const PIECE: usize = 1 << 13;
    let kernel = sum.request.kernel;
    let components = |output: &P::Output| P::output_components(kernel, *output);
    let lengths: usize = sum.request.outputs.iter().map(components).sum();
    let mut sums = vec![0.0; lengths * sum.request.vectors * places.len()];
    let options = Options {
        method: Method::Direct,
        check: false,
        // The tolerance determines the accuracy of square roots in direct sums.
        tolerance: Some(1e-12),
        simd: sum.request.options.simd,
        profile: sum.request.options.profile.clone(),
        allow_unbounded_gradient: sum.request.options.allow_unbounded_gradient,
        ..Options::default()
    };
    let (all, numbers) = (own.sources.len(), P::carried(kernel).of_source());
    let of_piece = |piece: usize| -> Result<Vec<f64>, farfield::Error> {
        let (first, last) = (piece * PIECE, ((piece + 1) * PIECE).min(all));
        let points: Vec<[f64; D]> = own.sources[first..last]
            .iter()
            .map(|point| point.map(T::to_f64))
            .collect();
        let sizes = match &own.sizes {
            Sizes::None => Sizes::None,
            Sizes::Global(size) => Sizes::Global(size.to_f64()),
            Sizes::PerSource(sizes) => Sizes::PerSource(sizes[first..last].iter().map(|size| size.to_f64()).collect()),
        };
        let of_vector = |vector: usize| &strengths[(vector * all + first) * numbers..(vector * all + last) * numbers];
        let strengths: Vec<f64> = (0..sum.request.vectors)
            .flat_map(of_vector)
            .map(|s| s.to_f64())
            .collect();
        let points = Points::new(&points).targets(places).sizes(sizes);
        let field = sum.of_rank(points, options.clone()).plan()?.evaluate(&strengths)?;
        Ok(field.into_values().into_iter().flatten().collect())
    };
    // Each thread sums whole pieces, because there are too few targets to distribute. The pieces are added in their
    // order.
    let pieces: Result<Vec<Vec<f64>>, farfield::Error> =
        (0..all.div_ceil(PIECE)).into_par_iter().map(of_piece).collect();
    for values in pieces? {
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    Ok(sums)
}

/// The sums of the numbers of all ranks, in the order of ranks: bitwise equal on all ranks.
fn add_up(ranks: &(impl Communicator + ?Sized), own: &[f64]) -> Vec<f64> {
    let mut writer = Writer::default();
    writer.values(own.iter().copied());
    let all = ranks.all_gather(&writer.finish());
    let mut sums = vec![0.0; own.len()];
    let mut reader = Reader::new(&all);
    for _ in 0..ranks.size() {
        sums.iter_mut()
            .zip(reader.values::<f64>(own.len()))
            .for_each(|(sum, value)| *sum += value);
    }
    sums
}

/// Estimates the relative error over all targets, and an upper bound, from squared errors and squared values at
/// samples.
fn estimate(output: &'static str, squares: &[f64], complete: bool) -> Measured {
    let (errors, norms) = squares.split_at(squares.len() / 2);
    let count = errors.len().max(1) as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (error, norm) = (mean(errors), mean(norms));
    let variance = errors.iter().map(|square| (square - error).powi(2)).sum::<f64>() / count;
    let spread = if complete { 0.0 } else { 2.0 * (variance / count).sqrt() };
    let relative = |square: f64| match (square, norm) {
        (0.0, _) => 0.0,
        (square, norm) => (square / norm.max(f64::MIN_POSITIVE)).sqrt(),
    };
    Measured {
        output,
        relative_l2: relative(error),
        upper: relative(error + spread),
        rounding: 0.0,
    }
}
