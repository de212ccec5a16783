//! From the tolerance to what is far, and to the order of equivalent sources.

use farfield::Precision;

/// The part of the tolerance that the engine of own sources gets. An engine's error is relative to what its sources add, which is less than
/// the whole; where own sources are the whole, the squares of this and of [`FAR_SHARE`] add up to less than one.
const OWN_SHARE: f64 = 0.96;
/// That of the engine of received sources. Where both engines add as much, signs at random, the squares of what they leave add up to less than
/// one with [`FAR_SHARE`].
const RECEIVED_SHARE: f64 = 0.85;
/// That of equivalent sources.
const FAR_SHARE: f64 = 0.25;
/// So many orders more for targets that are not the sources: near sources, which the errors are measured against, may be missing.
const APART: usize = 2;
/// The highest order of equivalent sources.
pub const MAX_ORDER: usize = 40;
/// The radius of a far box over its distance from targets, at most. The sources that must be sent as they are lie in a layer whose
/// thickness goes as $\theta^{-1}(\log 1/\theta)^{-2/3}$ if orders follow $\theta$ for the same error: it is thinnest near 1/2.
const THETA: f64 = 0.5;

/// Errors that equivalent sources alone add to a sum, by order, on eight ranks: the worst of several point sets and strengths, as the
/// example `calibrate` measures them.
struct Errors(&'static [(usize, f64)]);

/// In space, of the potential and of its gradient.
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

/// In the plane, of the logarithm's potential, its derivative and the harmonic kernel's.
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
    /// The lowest order whose error is at most `error`, between the orders measured.
    fn order(&self, error: f64) -> usize {
        let above = self.0.partition_point(|(_, of_order)| *of_order > error);
        match (above.checked_sub(1).and_then(|k| self.0.get(k)), self.0.get(above)) {
            (None, Some((order, _))) => *order,
            (Some((low, worse)), Some((high, better))) => {
                let part = (worse / error).ln() / (worse / better).ln();
                low + (part * (high - low) as f64).ceil() as usize
            }
            // Beyond what was measured, an order gains a factor of two at least.
            (Some((last, of_last)), None) => (last + (of_last / error).log2().ceil() as usize).min(MAX_ORDER),
            (None, None) => MAX_ORDER,
        }
    }
}

/// What counts as far, and how well far boxes are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Far {
    /// The radius of a box over its distance from targets is at most this.
    pub theta: f64,
    /// Equivalent sources have the moments of a box up to this degree.
    pub order: usize,
    /// Cores that differ from points by less than this count as points.
    pub core_tolerance: f64,
}

impl Far {
    /// What keeps the relative error of outputs within the tolerance; `derivatives` is how many derivatives of the potential they take,
    /// at least, `apart` whether the targets are not the sources.
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

    /// With an order fixed by an expert: that of the engine's expansions is that of equivalent sources too.
    pub fn of_order(order: usize) -> Self {
        Self {
            theta: THETA,
            order: order.min(MAX_ORDER),
            core_tolerance: 1e-12,
        }
    }
}

/// The tolerance of the engine of own sources where a sum over ranks has this one.
pub fn of_own<T: Precision>(tolerance: f64) -> f64 {
    (OWN_SHARE * tolerance).max(lowest::<T>())
}

/// The tolerance of the engine of received sources where that of own ones is this.
pub fn of_received<T: Precision>(of_own: f64) -> f64 {
    (RECEIVED_SHARE / OWN_SHARE * of_own).max(lowest::<T>())
}

/// The lowest tolerance that an engine takes.
fn lowest<T: Precision>() -> f64 {
    if T::DOUBLE { 1e-12 } else { 1e-5 }
}

/// The tolerance where none is given.
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
            // At an order that was measured, it is that order.
            assert!(errors.0.iter().all(|(order, error)| errors.order(*error) == *order));
        }
    }
}
