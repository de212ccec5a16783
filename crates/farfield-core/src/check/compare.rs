//! The error over all targets, from values and true sums at a few of them.

use super::sample::{Candidate, Sample};
use super::truth::ABSOLUTE;
use super::{Check, Measured};
use crate::parallel::for_chunks;
use crate::simd::Real;

/// The properties of an output that a measurement needs.
#[derive(Debug, Clone, Copy)]
pub struct OutputKind {
    /// The name of the output.
    pub name: &'static str,
    /// Values per target.
    pub components: usize,
    /// The column of its absolute contributions, and their factor.
    pub absolute: (usize, f64),
}

/// The computed values of an output: `values[(vector * targets + target) * components + component]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputArray<'a, T> {
    pub kind: OutputKind,
    pub values: &'a [T],
}

/// The number of stretches of targets, each surveyed in sequence.
const STRETCHES: usize = 512;
/// The number of targets with the largest values of an output that become candidates.
const LARGEST: usize = 16;

/// The norm and the largest value of a stretch.
#[derive(Debug, Default, Clone, Copy)]
struct Stretch {
    square: f64,
    largest: f64,
    at: u32,
}

/// Norms and locations of the largest values, found in one pass over all targets.
#[derive(Debug, Default, Clone)]
pub(crate) struct Survey {
    stretches: Vec<Stretch>,
    /// The sum of squares of each output, over all targets and vectors.
    pub squares: Vec<f64>,
}

impl Survey {
    /// Surveys all values. `times(target)` is the number of the caller's targets that a target stands for.
    pub fn look<T: Real>(
        &mut self,
        outputs: &[OutputArray<T>],
        (vectors, targets): (usize, usize),
        times: &(impl Fn(usize) -> f64 + Sync),
    ) {
        let length = targets.div_ceil(STRETCHES).max(1);
        let stretches = targets.div_ceil(length);
        self.stretches.clear();
        self.stretches.resize(outputs.len() * stretches, Stretch::default());
        self.squares.clear();
        for (output, found) in outputs.iter().zip(self.stretches.chunks_mut(stretches.max(1))) {
            for_chunks(found, 4, &|k, found| {
                for (s, found) in found.iter_mut().enumerate() {
                    let first = (4 * k + s) * length;
                    for target in first..(first + length).min(targets) {
                        let mut square = 0.0;
                        for vector in 0..vectors {
                            square += square_of(output, vector * targets + target);
                        }
                        found.square += times(target) * square;
                        if square > found.largest {
                            (found.largest, found.at) = (square, target as u32);
                        }
                    }
                }
            });
            self.squares.push(found.iter().map(|stretch| stretch.square).sum());
        }
    }

    /// Adds the targets with the largest values of each output to the candidates.
    pub fn add_largest(&mut self, outputs: usize, candidates: &mut Vec<Candidate>, times: &impl Fn(usize) -> f64) {
        let stretches = (self.stretches.len() / outputs.max(1)).max(1);
        for found in self.stretches.chunks_mut(stretches) {
            for _ in 0..LARGEST.min(found.len()) {
                let best = (0..found.len()).max_by(|a, b| found[*a].largest.total_cmp(&found[*b].largest));
                let Some(best) = best.filter(|best| found[*best].largest > 0.0) else {
                    break;
                };
                let target = found[best].at;
                found[best].largest = 0.0;
                // It stands only for itself, even if it was already a candidate.
                let count = times(target as usize);
                match candidates.iter_mut().find(|candidate| candidate.target == target) {
                    Some(candidate) => candidate.count = count,
                    None => candidates.push(Candidate {
                        target,
                        count,
                        expected: 0.0,
                        value: 0.0,
                    }),
                }
            }
        }
    }
}

/// The square of the value at `at = vector * targets + target`.
fn square_of<T: Real>(output: &OutputArray<T>, at: usize) -> f64 {
    let components = output.kind.components;
    output.values[at * components..][..components]
        .iter()
        .map(|value| value.to_f64() * value.to_f64())
        .sum()
}

/// The squared values of a target, each output relative to its sum of squares over all targets.
pub(crate) fn relative_square<T: Real>(
    outputs: &[OutputArray<T>],
    squares: &[f64],
    (vectors, targets): (usize, usize),
    target: usize,
) -> f64 {
    let of = |(output, square): (&OutputArray<T>, &f64)| {
        let sum: f64 = (0..vectors)
            .map(|vector| square_of(output, vector * targets + target))
            .sum();
        if *square > 0.0 { sum / square } else { 0.0 }
    };
    outputs.iter().zip(squares).map(of).sum()
}

/// The computed and the true values at the drawn targets.
#[derive(Debug, Default, Clone)]
pub struct AtDrawn {
    /// The computed values of each output: `found[(vector * drawn + k) * components + component]`.
    pub found: Vec<Vec<f64>>,
    /// The true values, in the same order.
    pub truth: Vec<Vec<f64>>,
    /// `absolute[k * ABSOLUTE + column]` for the first few targets: the root of the sum of squares over all vectors.
    pub absolute: Vec<f64>,
}

impl AtDrawn {
    /// Clears the values and makes room for `outputs` outputs and `with_absolute` targets with absolute contributions.
    pub fn clear(&mut self, outputs: usize, with_absolute: usize) {
        for values in [&mut self.found, &mut self.truth] {
            values.resize_with(outputs, Vec::new);
            values.iter_mut().for_each(Vec::clear);
        }
        self.absolute.clear();
        self.absolute.resize(ABSOLUTE * with_absolute, 0.0);
    }

    /// Copies the computed values of the drawn targets from arrays over all targets.
    pub(crate) fn find<T: Real>(
        &mut self,
        outputs: &[OutputArray<T>],
        (vectors, targets): (usize, usize),
        sample: &Sample,
    ) {
        for (output, found) in outputs.iter().zip(&mut self.found) {
            let components = output.kind.components;
            for vector in 0..vectors {
                for drawn in &sample.drawn {
                    let at = (vector * targets + drawn.target as usize) * components;
                    found.extend(output.values[at..at + components].iter().map(|value| value.to_f64()));
                }
            }
        }
    }
}

/// Estimates the error over all targets from the error at the drawn ones. `squares` are the sums of squares of each
/// output over all targets; `epsilon` is the machine epsilon of the precision.
pub(crate) fn measure(
    outputs: impl Iterator<Item = OutputKind>,
    squares: &[f64],
    (vectors, epsilon): (usize, f64),
    sample: &Sample,
    values: &AtDrawn,
    check: &mut Check,
) {
    check.targets = sample.drawn.len();
    check.complete = sample.complete;
    check.outputs.clear();
    let (drawn, draws) = (&sample.drawn, sample.draws.max(1) as f64);
    let with_absolute = values.absolute.len() / ABSOLUTE;
    let at_drawn = values.found.iter().zip(&values.truth);
    for ((output, square), (found, truth)) in outputs.zip(squares).zip(at_drawn) {
        let components = output.components;
        let squared_error = |k: usize| {
            let mut sum = 0.0;
            for vector in 0..vectors {
                let range = (vector * drawn.len() + k) * components..(vector * drawn.len() + k + 1) * components;
                for (value, exact) in found[range.clone()].iter().zip(&truth[range]) {
                    sum += (value - exact) * (value - exact);
                }
            }
            drawn[k].weight * sum
        };
        let mean = (0..drawn.len()).map(|k| drawn[k].times * squared_error(k)).sum::<f64>() / draws;
        if mean > 0.0 && !(mean.is_normal() && square.is_normal()) {
            // The squares of the values overflow or underflow: the error cannot be measured.
            continue;
        }
        let spread: f64 = if sample.complete || draws < 2.0 || mean == 0.0 {
            0.0
        } else {
            // In units of the mean, because squares of squares may overflow.
            let sum: f64 = (0..drawn.len())
                .map(|k| drawn[k].times * (squared_error(k) / mean - 1.0).powi(2))
                .sum();
            mean * (sum / (draws - 1.0) / draws).sqrt()
        };
        let (column, scale) = output.absolute;
        let (mut rounding, mut seen) = (0.0, 0.0);
        for k in 0..with_absolute.min(drawn.len()) {
            let absolute = epsilon * scale * values.absolute[k * ABSOLUTE + column];
            rounding += drawn[k].times * drawn[k].weight * absolute * absolute;
            seen += drawn[k].times;
        }
        let rounding = if seen > 0.0 { rounding / seen } else { 0.0 };
        let whole = square.max(rounding);
        let relative = |error: f64| if error == 0.0 { 0.0 } else { (error / whole).sqrt() };
        check.outputs.push(Measured {
            output: output.name,
            relative_l2: relative(mean),
            upper: relative(mean + 2.0 * spread),
            rounding: relative(rounding),
        });
    }
}
