//! The costs of the operators at each SIMD level on one thread of a Zen 4, in nanoseconds, in single and double
//! precision.
//!
//! Pairs are at tolerances 1e-4 (single) and 1e-6 (double). In space, the potential and its gradient, M2L and the
//! point operators were measured at each level; the other pairs of AVX2 and of the scalar level follow from these by
//! their operation counts. In the plane, AVX-512 was measured and the others are multiples of it. NEON is a multiple
//! of AVX2, for half as many lanes.

use super::profile::{OperatorCosts, PlaneCosts};
use crate::simd::SimdLevel;

/// The costs in single and in double precision.
pub(super) fn of(level: SimdLevel) -> (OperatorCosts, OperatorCosts) {
    match level.name() {
        "avx512" => avx512(),
        "avx2" => avx2(),
        "neon" => {
            let (single, double) = avx2();
            (single.times(2.0), double.times(2.0))
        }
        _ => scalar(),
    }
}

fn plane_in_singles() -> PlaneCosts {
    PlaneCosts {
        pair_harmonic: [0.18, 0.28],
        pair_log: [0.4, 0.6],
        m2l: [15.0, 0.8, 0.05],
        point_coefficient: 0.1,
    }
}

fn avx512() -> (OperatorCosts, OperatorCosts) {
    let single = OperatorCosts {
        pair_scalar: [0.162, 0.265, 0.541],
        pair_vector: [0.34, 0.763],
        m2l: [6.43, 0.464, 0.0294],
        point_coefficient: 0.1,
        plane: plane_in_singles(),
    };
    let double = OperatorCosts {
        pair_scalar: [0.322, 0.534, 1.37],
        pair_vector: [0.674, 1.82],
        m2l: [12.6, 0.768, 0.0651],
        point_coefficient: 0.185,
        plane: PlaneCosts::default(),
    };
    (single, double)
}

fn avx2() -> (OperatorCosts, OperatorCosts) {
    let single = OperatorCosts {
        pair_scalar: [0.197, 0.38, 0.80],
        pair_vector: [0.46, 1.0],
        m2l: [6.0, 0.53, 0.0402],
        point_coefficient: 0.095,
        plane: plane_in_singles().times(1.5),
    };
    let double = OperatorCosts {
        pair_scalar: [0.545, 0.934, 2.4],
        pair_vector: [1.14, 3.0],
        m2l: [15.4, 0.676, 0.102],
        point_coefficient: 0.17,
        plane: PlaneCosts::default().times(1.5),
    };
    (single, double)
}

fn scalar() -> (OperatorCosts, OperatorCosts) {
    let single = OperatorCosts {
        pair_scalar: [1.24, 3.67, 6.0],
        pair_vector: [4.0, 8.0],
        m2l: [68.5, 6.94, 0.224],
        point_coefficient: 0.48,
        plane: plane_in_singles().times(8.0),
    };
    let double = OperatorCosts {
        pair_scalar: [1.89, 2.84, 5.5],
        pair_vector: [3.5, 7.0],
        m2l: [39.0, 6.95, 0.359],
        point_coefficient: 0.51,
        plane: PlaneCosts::default().times(5.0),
    };
    (single, double)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_levels_cost_less() {
        let levels = SimdLevel::available();
        for pair in levels.windows(2) {
            let (narrow, wide) = (of(pair[0]), of(pair[1]));
            for (narrow, wide) in [(narrow.0, wide.0), (narrow.1, wide.1)] {
                assert!(wide.pair_scalar[0] < narrow.pair_scalar[0] && wide.m2l(8) < narrow.m2l(8));
            }
        }
    }
}
