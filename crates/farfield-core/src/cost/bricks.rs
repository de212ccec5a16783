//! Sums at the points of regular grids: what instructions cost on the cores, and interactions on a graphics processor.

use super::Gpu;

/// What the Poisson problem's sums cost, in nanoseconds with everything busy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BrickRates {
    /// One instruction on one number, on all cores.
    pub instruction: f64,
    /// A direct and, of order 6, an indirect interaction on a graphics processor.
    pub gpu: [f64; 2],
}

impl BrickRates {
    /// Of the kind of machine: cores of two 256-bit units at 3.5 GHz at 85 % of the peak, and a graphics processor (measured by
    /// `farfield reproduce vanrees-table-1` on an H200).
    pub fn of(double: bool, cores: usize, gpu: Gpu) -> Self {
        let per_core = 3.0 * if double { 8.0 } else { 16.0 };
        Self {
            instruction: 1.0 / (per_core * cores as f64),
            gpu: gpu.in_bricks(double),
        }
    }

    /// A point of the FMM on the cores, source or target: measured on two rings at 256^3 from 1e-2 to 1e-8.
    pub fn fmm_point(&self, tolerance: f64, streams: f64) -> f64 {
        let digits = -tolerance.log10();
        self.instruction * streams.powf(0.8) * (4000.0 + 600.0 * digits * digits)
    }
}
