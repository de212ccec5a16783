//! True sums in the plane, converted to outputs.

use super::kernel::{Core, Kernel, Output};
use super::pairs::PlanePairs;
use crate::check::truth::{ABSOLUTE, SourceArrays, TrueSums, TrueTargets};
use crate::p2p::PairSums;
use crate::simd::{Real, SimdLevel};

/// The true sums of one strength vector, separately for the real and imaginary parts of complex strengths.
#[derive(Debug, Default)]
pub(crate) struct PlaneTruth {
    parts: [TrueSums; 2],
    complex: bool,
    rows: usize,
}

/// Pairs in full precision for real strengths and up to `derivatives` derivatives.
pub(super) fn exact_pairs(kernel: Kernel, core: Core, derivatives: usize) -> PlanePairs {
    PlanePairs {
        kernel,
        core,
        derivatives,
        complex: false,
        full: true,
    }
}

impl PlaneTruth {
    /// Computes the sums at the targets, with one set of sources for each part of the strengths.
    pub fn compute<T: Real>(
        &mut self,
        simd: SimdLevel,
        pairs: &PlanePairs,
        parts: &[SourceArrays<T, 2>],
        targets: &TrueTargets<2>,
    ) {
        self.complex = parts.len() > 1;
        self.rows = pairs.sums();
        for (sums, sources) in self.parts.iter_mut().zip(parts) {
            sums.compute(simd, pairs, sources, targets);
        }
    }

    /// The value of an output at a target, as real and imaginary part.
    pub fn value(&self, kernel: Kernel, output: Output, target: usize) -> [f64; 2] {
        let of = |part: usize, k: usize| {
            if part == 1 && !self.complex {
                0.0
            } else {
                self.parts[part].sums[target * self.rows + k]
            }
        };
        // The sum of the real part plus i times the sum of the imaginary part.
        let both = |k: usize| [of(0, k) - of(1, k + 1), of(0, k + 1) + of(1, k)];
        match (kernel, output) {
            (Kernel::Log, Output::Potential) => [of(0, 0), of(1, 0)],
            _ => {
                let (first, factor) = output.of_sums(kernel);
                both(first).map(|x| factor * x)
            }
        }
    }

    /// The sum of absolute contributions at one of the first targets.
    pub fn absolute(&self, column: usize, target: usize) -> f64 {
        let of = |part: usize| self.parts[part].absolute[target * ABSOLUTE + column];
        if self.complex { of(0).hypot(of(1)) } else { of(0) }
    }
}
