//! The cost of operations on a GPU, by its number of multiprocessors.

use super::{Rates, Translation};

/// The model of a GPU: a number of multiprocessors like those of an H200, on which all rates were measured
/// (docs/notes/gpu.md).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gpu {
    share: f64,
}

/// Multiprocessors of the H200.
const MEASURED_ON: f64 = 132.0;

/// The number of warps that sum pairs as fast as a full multiprocessor.
const WARPS_AT_WORK: f64 = 10.0;

/// The cost of a byte between host and device in either direction, in nanoseconds.
const BYTE: f64 = 0.05;

impl Gpu {
    /// A GPU with `multiprocessors` multiprocessors.
    pub fn new(multiprocessors: usize) -> Self {
        Self {
            share: multiprocessors as f64 / MEASURED_ON,
        }
    }

    /// Rates in space, for a kernel with `sums` sums per target. Orders up to `low_order` have a separate program.
    pub fn in_space(self, double: bool, sums: usize, low_order: usize) -> Rates {
        let pairs = match (double, sums) {
            (false, 1) => 2.0e12,
            (false, 3) => 1.0e12,
            (false, 4) => 1.25e12,
            (false, _) => 4.0e11,
            (true, 1) => 1.0e12,
            (true, 3 | 4) => 7.0e11,
            (true, _) => 2.0e11,
        };
        let [low, high] = if double { [2.6e13; 2] } else { [3.6e13, 1.8e13] };
        let pair = self.nanoseconds(pairs);
        Rates {
            pair,
            leaf_pair: pair,
            translation: Translation::InTiles {
                low: self.nanoseconds(low),
                low_order,
                high: self.nanoseconds(high),
            },
            direct_start: 2e4,
            fmm_start: 2.5e5,
            byte: BYTE,
            ..Rates::NONE
        }
    }

    /// Rates in the plane, for the logarithm or the harmonic kernel, outputs with `derivatives` derivatives, and a
    /// Gaussian core or none. The rates of second derivatives follow from the others by operation counts.
    pub fn in_plane(self, double: bool, logarithm: bool, derivatives: usize, gaussian: bool) -> Rates {
        let pairs = match (double, logarithm, derivatives) {
            (true, false, 0) => 1.3e12,
            (true, false, 1) => 9e11,
            (true, false, _) => 6.5e11,
            (true, true, 0 | 1) => 3e11,
            (true, true, _) => 2.7e11,
            (false, false, 0) => 2.6e12,
            (false, false, 1) => 1.8e12,
            (false, false, _) => 1.3e12,
            (false, true, 0 | 1) => 8e11,
            (false, true, _) => 6.5e11,
        };
        let core = match (gaussian, double) {
            (true, true) => 0.2,
            (true, false) => 0.4,
            _ => 1.0,
        };
        let (multiplications, point, leaf) = if double {
            (5.8e12, 0.5, 6.0)
        } else {
            (1.33e13, 0.3, 3.5)
        };
        let m2l = self.nanoseconds(multiplications);
        let pair = self.nanoseconds(pairs * core);
        Rates {
            pair,
            // Short rows of sources leave lanes idle.
            leaf_pair: 1.28 * pair,
            leaf_pair_alone: 1.28e9 * MEASURED_ON * WARPS_AT_WORK / (pairs * core),
            translation: Translation::InPlane([60.0 * m2l, 16.0 * m2l, 2.0 * m2l]),
            point: point / self.share,
            leaf: leaf / self.share,
            level: 2.5e4,
            direct_start: 2e4,
            fmm_start: 2.2e5,
            byte: BYTE,
            ..Rates::NONE
        }
    }

    /// The share of an H200 that this GPU has.
    pub fn share(self) -> f64 {
        self.share
    }

    /// The nanoseconds of an operation that an H200 does `rate` times per second.
    fn nanoseconds(self, rate: f64) -> f64 {
        1e9 / (rate * self.share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_multiprocessors_halve_the_time_but_not_the_start() {
        let (one, two) = (Gpu::new(66), Gpu::new(132));
        let (slow, fast) = (one.in_space(true, 1, 7), two.in_space(true, 1, 7));
        assert_eq!(slow.pair, 2.0 * fast.pair);
        assert_eq!(slow.translation.of(8, 8), 2.0 * fast.translation.of(8, 8));
        assert_eq!(slow.fmm_start, fast.fmm_start);
        let (slow, fast) = (one.in_plane(false, true, 1, false), two.in_plane(false, true, 1, false));
        assert_eq!((slow.pair, slow.leaf), (2.0 * fast.pair, 2.0 * fast.leaf));
        assert_eq!((slow.leaf_pair_alone, slow.level), (fast.leaf_pair_alone, fast.level));
        assert_eq!(2.0 * one.share(), two.share());
    }
}
