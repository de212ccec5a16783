//! True sums in the plane, as outputs.

use super::kernel::{Core, Kernel, Output};
use super::pairs::PlanePairs;
use crate::check::truth::{ABSOLUTE, SourceArrays, TrueSums, TrueTargets};
use crate::p2p::PairSums;
use crate::simd::{Real, SimdLevel};

/// Sums of one vector of strengths, part by part where strengths are complex.
#[derive(Debug, Default)]
pub(super) struct PlaneTruth {
    parts: [TrueSums; 2],
    complex: bool,
    rows: usize,
}

/// Pairs that give all outputs asked for, from real strengths.
pub(super) fn exact_pairs(kernel: Kernel, core: Core, derivatives: usize) -> PlanePairs {
    PlanePairs {
        kernel,
        core,
        derivatives,
        complex: false,
        full: true,
    }
}

/// Which column of absolute contributions belongs to an output, and how many times.
pub(super) fn absolute_column(kernel: Kernel, output: Output) -> (usize, f64) {
    let (_, factor) = output.of_sums(kernel);
    (output.derivatives(), factor.abs())
}

impl PlaneTruth {
    /// Sums at the targets; one set of sources for each part of the strengths.
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

    /// The value of an output at a target; the second number is that of complex values.
    pub fn value(&self, kernel: Kernel, output: Output, target: usize) -> [f64; 2] {
        let of = |part: usize, k: usize| {
            if part == 1 && !self.complex {
                0.0
            } else {
                self.parts[part].sums[target * self.rows + k]
            }
        };
        // The real part's sum, and i times that of the imaginary part.
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
