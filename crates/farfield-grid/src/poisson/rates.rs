//! Sums at the points of regular grids: the cost of instructions on the CPU cores and of interactions on a GPU.

use farfield::cost::Gpu;

/// The costs of the Poisson solver's sums, in nanoseconds with all cores or all of the GPU busy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BrickRates {
    /// One instruction on one number, on all cores.
    pub instruction: f64,
    /// A direct interaction and an indirect one of order 6 on a GPU.
    pub gpu: [f64; 2],
}

impl BrickRates {
    /// Rates for `cores` cores with two 256-bit units at 3.5 GHz and 85 % of the peak, and the GPU `gpu` (measured by
    /// `farfield-evidence reproduce vanrees-table-1` on an H200).
    pub fn of(double: bool, cores: usize, gpu: Gpu) -> Self {
        let per_core = 3.0 * if double { 8.0 } else { 16.0 };
        Self {
            instruction: 1.0 / (per_core * cores as f64),
            gpu: (if double { [9e-4, 3e-3] } else { [2.7e-4, 1.5e-3] }).map(|cost| cost / gpu.share()),
        }
    }

    /// The cost of a source or target in the FMM on the cores, measured on two rings at 256^3 from 1e-2 to 1e-8.
    pub fn fmm_point(&self, tolerance: f64, streams: f64) -> f64 {
        let digits = -tolerance.log10();
        self.instruction * streams.powf(0.8) * (4000.0 + 600.0 * digits * digits)
    }
}
