//! Chooses the opening criterion and the order of equivalent sources for a tolerance.

use farfield::Precision;

/// The share of the tolerance for the engine of own sources. An engine's error is relative to the sum over its own
/// sources, which is a part of the whole. If own sources are the whole, the squares of this share and of
/// [`FAR_SHARE`] add up to less than one.
const OWN_SHARE: f64 = 0.96;
/// The share of the tolerance for the engine of received sources. If both engines contribute equally with random
/// signs, the squares of their errors and of [`FAR_SHARE`] add up to less than one.
const RECEIVED_SHARE: f64 = 0.85;
/// The share of the tolerance for equivalent sources.
const FAR_SHARE: f64 = 0.25;
/// The additional orders for targets that are not the sources: near sources, which dominate the norm of the result,
/// may be missing.
const APART: usize = 2;
/// The highest order of equivalent sources.
pub const MAX_ORDER: usize = 40;
/// The largest ratio of the radius of a far box to its distance from targets. The sources that must be sent unchanged
/// lie in a layer whose thickness is proportional to $\theta^{-1}(\log 1/\theta)^{-2/3}$ if the order is adapted to
/// $\theta$ for the same error: it is thinnest near 1/2.
const THETA: f64 = 0.5;

/// Errors of a sum on eight ranks that equivalent sources alone cause, by order: the worst of several point sets and
/// strengths, measured by the example `calibrate`.
struct Errors(&'static [(usize, f64)]);

/// Errors in space, of the potential and of its gradient.
const IN_SPACE: [Errors; 2] = [
    Errors(&[
        (2, 4e-3),
        (4, 2.3e-4),
        (6, 1.8e-5),
        (8, 2e-6),
        (10, 2.8e-7),
        (12, 4e-8),
        (16, 1e-9),
        (20, 4e-11),
        (24, 1.6e-12),
        (28, 6e-14),
    ]),
    Errors(&[
        (2, 9.5e-4),
        (4, 6.7e-5),
        (6, 6.3e-6),
        (8, 6.7e-7),
        (10, 1.2e-7),
        (12, 1.3e-8),
        (16, 2e-10),
        (20, 6e-12),
        (24, 2e-13),
    ]),
];

/// Errors in the plane, of the potential of the logarithm, of its derivative and of the harmonic kernel.
const IN_PLANE: Errors = Errors(&[
    (4, 4e-4),
    (8, 6e-6),
    (12, 1.7e-7),
    (16, 5e-9),
    (20, 1.9e-10),
    (24, 7e-12),
    (28, 2.6e-13),
]);

impl Errors {
    /// The lowest order whose error is at most `error`, interpolated between the measured orders.
    fn order(&self, error: f64) -> usize {
        let above = self.0.partition_point(|(_, of_order)| *of_order > error);
        match (above.checked_sub(1).and_then(|k| self.0.get(k)), self.0.get(above)) {
            (None, Some((order, _))) => *order,
            (Some((low, worse)), Some((high, better))) => {
                let part = (worse / error).ln() / (worse / better).ln();
                low + (part * (high - low) as f64).ceil() as usize
            }
            // Beyond the measured orders, an order is assumed to gain a factor of two.
            (Some((last, of_last)), None) => (last + (of_last / error).log2().ceil() as usize).min(MAX_ORDER),
            (None, None) => MAX_ORDER,
        }
    }
}

/// The opening criterion for far boxes, and the accuracy of their equivalent sources.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Far {
    /// The largest ratio of the radius of a far box to its distance from targets.
    pub theta: f64,
    /// The degree up to which equivalent sources have the moments of a box.
    pub order: usize,
    /// The relative difference below which a core counts as a point.
    pub core_tolerance: f64,
}

impl Far {
    /// The choice for a tolerance. `derivatives` is the lowest order of derivative among the outputs; `apart` tells
    /// whether the targets differ from the sources.
    pub fn new<const D: usize>(tolerance: f64, derivatives: usize, apart: bool) -> Self {
        let error = FAR_SHARE * tolerance;
        let errors = match D {
            3 => &IN_SPACE[derivatives.min(1)],
            _ => &IN_PLANE,
        };
        Self {
            theta: THETA,
            order: (errors.order(error) + if apart { APART } else { 0 }).min(MAX_ORDER),
            core_tolerance: error,
        }
    }

    /// The choice for an order fixed by the user: equivalent sources have the order of the engine's expansions.
    pub fn of_order(order: usize) -> Self {
        Self {
            theta: THETA,
            order: order.min(MAX_ORDER),
            core_tolerance: 1e-12,
        }
    }
}

/// The tolerance of the engine of own sources for a sum over ranks with this tolerance.
pub fn of_own<T: Precision>(tolerance: f64) -> f64 {
    (OWN_SHARE * tolerance).max(lowest::<T>())
}

/// The tolerance of the engine of received sources if the engine of own sources has the tolerance `of_own`.
pub fn of_received<T: Precision>(of_own: f64) -> f64 {
    (RECEIVED_SHARE / OWN_SHARE * of_own).max(lowest::<T>())
}

/// The lowest tolerance that an engine accepts.
fn lowest<T: Precision>() -> f64 {
    if T::DOUBLE { 1e-12 } else { 1e-5 }
}

/// The default tolerance.
pub fn usual_tolerance<T: Precision>() -> f64 {
    if T::DOUBLE { 1e-6 } else { 1e-4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_grow_with_the_digits() {
        for errors in [&IN_SPACE[0], &IN_SPACE[1], &IN_PLANE] {
            let orders: Vec<usize> = (1..15).map(|digits| errors.order(10f64.powi(-digits))).collect();
            assert!(
                orders.windows(2).all(|pair| pair[0] <= pair[1] && pair[1] <= MAX_ORDER),
                "{orders:?}"
            );
            // A measured error gives its own order.
            assert!(errors.0.iter().all(|(order, error)| errors.order(*error) == *order));
        }
    }
}
