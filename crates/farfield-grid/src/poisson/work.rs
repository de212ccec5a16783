//! The work of an interaction, counted in the loops of `bricks/`.
//!
//! Counts are floating-point vector instructions per lane, for one source (or expansion), one point and one component.
//! A fused multiply-add is one instruction and two operations. Loads, stores, broadcasts and loop control are not
//! counted, so a loop cannot fully reach the bound that follows from the counts.

use super::kernel::Pair;
use super::lists::BRICK_SIDE;
use super::multipole::term_count;
use farfield::simd::RsqrtAccuracy;

/// The work of one interaction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Floating-point operations.
    pub operations: f64,
    /// Instructions.
    pub instructions: f64,
}

impl Work {
    /// The work of `fused` fused multiply-adds and `others` other instructions.
    fn of(fused: f64, others: f64) -> Self {
        Self {
            operations: 2.0 * fused + others,
            instructions: fused + others,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            operations: self.operations + other.operations,
            instructions: self.instructions + other.instructions,
        }
    }

    /// The work per point if it is done once for all points along a line.
    fn shared(self) -> Self {
        let share = 1.0 / BRICK_SIDE as f64;
        Self {
            operations: share * self.operations,
            instructions: share * self.instructions,
        }
    }

    /// The upper bound of the rate, in operations per second, on a machine that executes `instructions_per_second`: its
    /// peak, adjusted for the share of fused multiply-adds.
    pub fn bound(&self, instructions_per_second: f64) -> f64 {
        instructions_per_second * self.operations / self.instructions
    }

    /// The work of a reciprocal square root: the estimate and its refinement.
    fn rsqrt(accuracy: RsqrtAccuracy) -> Self {
        match accuracy {
            RsqrtAccuracy::Estimate => Self::of(0.0, 1.0),
            RsqrtAccuracy::Newton => Self::of(2.0, 3.0),
            RsqrtAccuracy::Cubic => Self::of(3.0, 3.0),
            RsqrtAccuracy::Full => Self::of(6.0, 5.0),
        }
    }

    /// The work of a pair of a source and a point.
    pub fn direct(pair: Pair, accuracy: RsqrtAccuracy) -> Self {
        // Per line: dy, dz and their squares; per point: the sum with dx^2, the root, the weight.
        let line = Self::of(1.0, 3.0);
        let (root, weight) = (Self::rsqrt(accuracy), Self::of(1.0, 0.0));
        let smoothing = Self::of(1.0, 2.0);
        let potential = Self::of(0.0, 1.0).and(root).and(weight);
        match pair {
            Pair::Singular => line.shared().and(potential),
            Pair::Regularised => line.and(Self::of(0.0, 2.0)).shared().and(potential).and(smoothing),
            // Another root and the difference.
            Pair::Correction => Self::direct(Pair::Regularised, accuracy)
                .and(Self::of(0.0, 2.0))
                .and(root),
            // Per line: also two cross products and a sign; per point: the cube and three components.
            Pair::Velocity => {
                let cross = line.and(Self::of(0.0, 6.0)).shared();
                cross.and(Self::of(1.0, 2.0)).and(root).and(Self::of(5.0, 0.0))
            }
            Pair::RegularisedVelocity => Self::direct(Pair::Velocity, accuracy)
                .and(Self::of(0.0, 2.0).shared())
                .and(Self::of(1.0, 1.0)),
        }
    }

    /// The work of an expansion of `order` and a point.
    pub fn indirect(order: usize, accuracy: RsqrtAccuracy) -> Self {
        let (p, terms) = (order as f64, term_count(order) as f64);
        // Per line: y, z, y^2 + z^2, the powers y^l z^m, and the coefficients of the series in 1/r^2.
        let line = Self::of(3.0, 1.0)
            .and(Self::of(0.0, 0.5 * p * (p + 3.0)))
            .and(Self::of(terms, 0.0));
        // Per point: r^2, the root, its square, Horner's rule for both series, their sum, 1/r, and the next x.
        let point = Self::of(1.0, 0.0)
            .and(Self::rsqrt(accuracy))
            .and(Self::of(p + (p - 1.0) + 2.0, 3.0));
        line.shared().and(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_match_the_loops() {
        let pair = Work::direct(Pair::Singular, RsqrtAccuracy::Newton);
        assert_eq!((pair.instructions, pair.operations), (7.5, 10.625));
        let expansion = Work::indirect(6, RsqrtAccuracy::Newton);
        assert_eq!(expansion.instructions, 1.0 + 5.0 + 16.0 + (4.0 + 27.0 + 84.0) / 8.0);
        // Fused multiply-adds alone would give two operations per instruction.
        assert!(expansion.bound(1.0) > 1.5 && expansion.bound(1.0) < 2.0);
    }
}
