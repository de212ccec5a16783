//! The cost of M2L from sources that are mirror images of one another: one product for up to eight of them.

use super::Translation;
use crate::expansion::coefficient_count;
use crate::tuning::{CLASSES, shift_of_class};

/// The cost, in nanoseconds, for a box with `sources` of the eight mirrored images, and a shift with `zeros` zero
/// components. Expressed by the costs of translations by rotation, `rotation` (per call; per coefficient; per two
/// multiplications): the ratios are similar for AVX-512, AVX2 and the scalar level and for both precisions, measured
/// at orders 3 to 16.
pub(crate) fn mirrored(rotation: [f64; 3], order: usize, zeros: usize, sources: f64) -> f64 {
    let [call, coefficient, multiplication] = rotation;
    let n = coefficient_count(order) as f64;
    let product = 0.59 * multiplication * n * n / (1 << zeros) as f64;
    4.0 * call + coefficient * n * (0.41 + 0.33 * sources) + product
}

/// The cost of one translation of a class, in nanoseconds, if boxes have the fraction `fill` of their possible
/// sources. Takes the cheaper way.
pub(crate) fn in_class(rotation: [f64; 3], class: usize, order: usize, fill: f64) -> f64 {
    let alone = Translation::InSpace(rotation).of(order, order);
    let shift = shift_of_class(class);
    let zeros = shift.iter().filter(|component| **component == 0).count();
    // The mirror image of a shift by three boxes along an axis is not on the list of the same box.
    let images = shift.iter().filter(|component| (1..3).contains(*component)).count();
    let sources = fill * (1 << images) as f64;
    alone.min(mirrored(rotation, order, zeros, sources) / sources.max(f64::MIN_POSITIVE))
}

/// The mean of [`in_class`] over the 189 translations of a box inside a volume.
pub(crate) fn in_volume(rotation: [f64; 3], order: usize, fill: f64) -> f64 {
    let all: f64 = super::space::SHIFTS.iter().sum();
    let of = |class: usize| super::space::SHIFTS[class] * in_class(rotation, class, order, fill);
    (0..CLASSES).map(of).sum::<f64>() / all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::MachineProfile;

    #[test]
    fn full_sets_of_low_order_are_cheaper_and_single_sources_never_dearer() {
        let profile = MachineProfile::default();
        for rotation in [profile.f32.m2l, profile.f64.m2l] {
            let alone = |order| Translation::InSpace(rotation).of(order, order);
            // (2, 2, 1) has eight images, (3, 3, 3) one.
            assert!(in_class(rotation, 4, 5, 1.0) < 0.6 * alone(5));
            assert_eq!(in_class(rotation, 15, 5, 1.0), alone(5));
            for fill in [0.0, 0.1, 0.5, 1.0] {
                for order in 1..30 {
                    let mean = in_volume(rotation, order, fill);
                    assert!(mean <= alone(order) * (1.0 + 1e-12), "{order} {fill}");
                }
            }
            assert!((in_volume(rotation, 5, 0.0) / alone(5) - 1.0).abs() < 1e-12);
        }
    }
}
