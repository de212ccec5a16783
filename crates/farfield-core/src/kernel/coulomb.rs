//! Sums of `q/r` with their derivatives.
//!
//! The sums, in order: potential, gradient x y z, Hessian xx xy xz yy yz zz.

use super::Output;
use super::description::{Description, Form};
use super::pair::{Pair, inverse_distance, norm2};
use crate::p2p::{Block, FULL, MutualBlock, MutualPair, Pairs};
use crate::simd::{Lanes, Real, SimdLevel};

/// The description of the kernel.
pub(super) const DESCRIPTION: Description = Description {
    name: "coulomb",
    title: "Coulomb",
    about: "Charges: the potential sum of q/r",
    strengths: "charges",
    outputs: &[Output::Potential, Output::Gradient, Output::Hessian],
    form: Form::Charge,
    regularisation: None,
    core_word: "core",
    constant: None,
    scales: [1.0; 2],
};

/// The loops over pairs; gravity without softening uses them too.
pub(super) fn add_pairs<T: Real>(pairs: &Pairs, simd: SimdLevel, block: &Block<T, 3>, sums: &mut [T]) {
    match pairs.derivatives {
        0 => block.with_accuracy::<CoulombPotential, 1, 1>(simd, pairs.accuracy, sums),
        1 => block.with_accuracy::<CoulombGradient, 1, 4>(simd, pairs.accuracy, sums),
        _ => block.narrow::<CoulombHessian, 1, 10, FULL>(simd, sums),
    }
}

/// The loops that evaluate each pair once for both of its points: for the potential, and for potential and gradient.
pub(super) fn add_mutual<T: Real>(pairs: &Pairs, simd: SimdLevel, block: &MutualBlock<T, 3>, sums: [&mut [T]; 2]) {
    match pairs.derivatives {
        0 => block.with_accuracy::<CoulombPotential, 1>(simd, pairs.accuracy, sums),
        _ => block.with_accuracy::<CoulombGradient, 4>(simd, pairs.accuracy, sums),
    }
}

/// The cost of a pair that is evaluated once for both of its points, relative to evaluating it once for each; `None`
/// if that is never faster. Measured with leaves of 57 points; NEON is assumed to be like AVX2.
pub(super) fn mutual_cost<T: Real>(simd: SimdLevel, derivatives: usize) -> Option<f64> {
    let double = T::EPSILON < 1e-10;
    match (simd.name(), derivatives) {
        ("avx512" | "avx2" | "neon", 0) if double => Some(0.68),
        // Left out for AVX-512: the sums of a gradient need more registers than it has (0.9 in double precision, 1.06
        // in single).
        ("avx2" | "neon", 1) if double => Some(0.78),
        // In single precision 1.0 with small leaves and 0.75 with large ones.
        ("avx512" | "avx2" | "neon", 0) | ("avx2" | "neon", 1) => Some(1.0),
        _ => None,
    }
}

/// `q/r`.
struct CoulombPotential;
/// `q/r` and its gradient.
struct CoulombGradient;
/// `q/r`, its gradient and its Hessian.
struct CoulombHessian;

impl Pair<3, 1, 1> for CoulombPotential {
    const SINGULAR: bool = true;
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], [q]: [V; 1], _: V, sums: &mut [V; 1]) {
        sums[0] = q.mul_add(inverse_distance::<V, A, SKIP>(norm2(d)), sums[0]);
    }
}

impl MutualPair<3, 1> for CoulombPotential {
    const ODD: [bool; 1] = [false];
    #[inline(always)]
    fn unit<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], _: V) -> [V; 1] {
        [inverse_distance::<V, A, SKIP>(norm2(d))]
    }
}

impl MutualPair<3, 4> for CoulombGradient {
    const ODD: [bool; 4] = [false, true, true, true];
    #[inline(always)]
    fn unit<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], _: V) -> [V; 4] {
        let inverse = inverse_distance::<V, A, SKIP>(norm2(d));
        let cube = inverse.neg_mul_add(inverse, V::zero()) * inverse;
        [inverse, cube * d[0], cube * d[1], cube * d[2]]
    }
}

/// Adds the potential and gradient of charge `q`, given the inverse distance.
#[inline(always)]
pub(super) fn add_gradient<V: Lanes>(d: [V; 3], q: V, inverse: V, sums: &mut [V; 4]) {
    let potential = q * inverse;
    let radial = potential * (inverse * inverse);
    sums[0] = sums[0] + potential;
    sums[1] = radial.neg_mul_add(d[0], sums[1]);
    sums[2] = radial.neg_mul_add(d[1], sums[2]);
    sums[3] = radial.neg_mul_add(d[2], sums[3]);
}

impl Pair<3, 1, 4> for CoulombGradient {
    const SINGULAR: bool = true;
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], [q]: [V; 1], _: V, sums: &mut [V; 4]) {
        add_gradient(d, q, inverse_distance::<V, A, SKIP>(norm2(d)), sums);
    }
}

impl Pair<3, 1, 10> for CoulombHessian {
    const SINGULAR: bool = true;
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], [q]: [V; 1], _: V, sums: &mut [V; 10]) {
        let inverse = inverse_distance::<V, A, SKIP>(norm2(d));
        let potential = q * inverse;
        let slope = potential * inverse;
        let radial = slope * inverse;
        let second = V::splat(V::Elem::from_f64(3.0)) * radial;
        // Unit vectors, because the fifth power of the inverse distance may overflow where the Hessian does not.
        let u = [d[0] * inverse, d[1] * inverse, d[2] * inverse];
        let along = [second * u[0], second * u[1], second * u[2]];
        sums[0] = sums[0] + potential;
        for i in 0..3 {
            sums[1 + i] = slope.neg_mul_add(u[i], sums[1 + i]);
        }
        // q (3 u_i u_j - delta_ij) / r^3
        sums[4] = along[0].mul_add(u[0], sums[4] - radial);
        sums[5] = along[0].mul_add(u[1], sums[5]);
        sums[6] = along[0].mul_add(u[2], sums[6]);
        sums[7] = along[1].mul_add(u[1], sums[7] - radial);
        sums[8] = along[1].mul_add(u[2], sums[8]);
        sums[9] = along[2].mul_add(u[2], sums[9] - radial);
    }
}
