//! Floating-point operations of each operator of the FMM and the treecode in space, counted from their loops: additions,
//! multiplications and reciprocal square roots one each, fused multiply-adds two.
//!
//! The operations that the algorithm needs are counted, without idle lanes and without rows that pad a tile.

use super::measure::{Measured, On};
use super::published::YOKOTA_P2P_FLOPS;
use farfield::expansion::coefficient_count;
use farfield::report::Phase;

/// Sums at a target: the potential and the three components of its gradient.
const SUMS: f64 = 4.0;

/// The operators in the order of Yokota's figure 7.
pub const OPERATORS: [(&str, Phase); 7] = [
    ("P2P", Phase::P2p),
    ("P2M", Phase::P2m),
    ("M2M", Phase::M2m),
    ("M2L", Phase::M2l),
    ("L2L", Phase::L2l),
    ("L2P", Phase::L2p),
    ("M2P", Phase::M2p),
];

/// The operations of a phase of a measured sum over `n` bodies, with expansions of one order.
pub fn of_phase(phase: Phase, n: usize, on: On, measured: &Measured) -> f64 {
    let parameters = &measured.parameters;
    let order = parameters.order.unwrap_or(0);
    let interactions = parameters.interactions;
    match phase {
        Phase::P2p => interactions.p2p as f64 * f64::from(YOKOTA_P2P_FLOPS),
        Phase::P2m => n as f64 * p2m(order),
        Phase::L2p => n as f64 * l2p(order),
        Phase::M2p => interactions.m2p as f64 * m2p(order),
        Phase::M2l => interactions.m2l as f64 * translation(order, on),
        Phase::M2m | Phase::L2l => shifted_boxes(parameters.boxes) * translation(order, on),
        _ => 0.0,
    }
}

/// Boxes that M2M and L2L shift: all but those of the first three levels.
fn shifted_boxes(boxes: usize) -> f64 {
    boxes.saturating_sub(1 + 8 + 64) as f64
}

/// The coordinates in a box and all basis functions up to an order.
fn basis(order: usize) -> f64 {
    let p = order as f64;
    let (shift_and_square, azimuth, degree, product) = (11.0, 8.0, 5.0, 2.0);
    shift_and_square + azimuth * p + degree * p * (p + 1.0) / 2.0 + product * (p + 1.0) * (p + 2.0) / 2.0
}

fn coefficients(order: usize) -> f64 {
    coefficient_count(order) as f64
}

/// One source into a multipole.
fn p2m(order: usize) -> f64 {
    basis(order) + 2.0 * coefficients(order)
}

/// A local expansion and its gradient at one target.
fn l2p(order: usize) -> f64 {
    basis(order) + 2.0 * SUMS * coefficients(order) + SUMS
}

/// A multipole and its gradient, which has one degree more, at one target: the basis at the inverted point.
fn m2p(order: usize) -> f64 {
    let (inversion, scaling) = (5.0, 2.0 * SUMS + 4.0);
    inversion + basis(order + 1) + 2.0 * SUMS * coefficients(order + 1) + scaling
}

/// One translation between boxes: a dense matrix on the GPU, rotations and a shift along an axis on the CPU.
fn translation(order: usize, on: On) -> f64 {
    match on {
        On::Gpu => 2.0 * coefficients(order).powi(2),
        On::Cpu => rotated_translation(order),
    }
}

fn rotated_translation(order: usize) -> f64 {
    let square = |n: usize| (n * n) as f64;
    // A rotation about z mixes the cosine and sine coefficients of each pair.
    let pairs = (order * (order + 1)) as f64 / 2.0;
    let polar: f64 = (0..=order).map(|n| square(n + 1) + square(n)).sum();
    let along: f64 = (0..=order)
        .map(|m| square(order - m + 1) * if m == 0 { 1.0 } else { 2.0 })
        .sum();
    // Rotations there and back, the shift along the axis, and the addition to the target.
    2.0 * 6.0 * pairs + 2.0 * 2.0 * polar + 2.0 * along + coefficients(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_save_a_power_of_the_order_over_a_dense_matrix() {
        // Order 0: one addition, and products with ones that are not left out.
        assert_eq!(translation(0, On::Gpu), 2.0);
        assert_eq!(translation(0, On::Cpu), 4.0 + 2.0 + 1.0);
        let ratio = |order| translation(order, On::Gpu) / translation(order, On::Cpu);
        assert!(ratio(4) > 1.0 && ratio(16) > 3.0 * ratio(4));
        // Both leading terms: 2 p^4 over (8/3 + 4/3) p^3.
        assert!((ratio(200) / (200.0 / 2.0) - 1.0).abs() < 0.05, "{}", ratio(200));
    }

    #[test]
    fn operators_on_points_grow_with_the_square_of_the_order() {
        // Order 2: 11 + 16 + 15 + 12.
        assert_eq!(basis(2), 54.0);
        assert_eq!(p2m(2), 54.0 + 18.0);
        assert_eq!(l2p(2), 54.0 + 72.0 + 4.0);
        assert!(m2p(2) > l2p(2) && m2p(20) / m2p(10) > 3.0);
    }
}
