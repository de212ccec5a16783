//! Sums of `q/r + p.d/r^3` with their derivatives: charges and dipoles at the sources, `d` from source to target.
//!
//! The sums, in order: potential, gradient x y z, Hessian xx xy xz yy yz zz. A source without charge has `q = 0`.

use super::Output;
use super::description::{Description, Form};
use super::pair::{Pair, inverse_distance, norm2};
use crate::p2p::{Block, FULL, Pairs};
use crate::simd::{Lanes, Real, SimdLevel};

/// The description of the kernel.
pub(super) const DESCRIPTION: Description = Description {
    name: "coulomb-dipoles",
    title: "Coulomb with dipoles",
    about: "Charges and dipoles: the potential sum of q/r + p.r/r^3",
    strengths: "charges",
    outputs: &[Output::Potential, Output::Gradient, Output::Hessian],
    form: Form::Dipole,
    regularisation: None,
    core_word: "core",
    constant: None,
    scales: [1.0; 2],
};

/// The loops over pairs.
pub(super) fn add_pairs<T: Real>(pairs: &Pairs, simd: SimdLevel, block: &Block<T, 3>, sums: &mut [T]) {
    match pairs.derivatives {
        0 => block.with_accuracy::<DipolePotential, 4, 1>(simd, pairs.accuracy, sums),
        1 => block.with_accuracy::<DipoleGradient, 4, 4>(simd, pairs.accuracy, sums),
        _ => block.narrow::<DipoleHessian, 4, 10, FULL>(simd, sums),
    }
}

struct DipolePotential;
struct DipoleGradient;
struct DipoleHessian;

/// `1/r`, the unit vector `u` along `d`, and `p.u`. Unit vectors avoid powers of the inverse distance that overflow
/// where the sum does not.
#[inline(always)]
fn along<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], p: [V; 3]) -> (V, [V; 3], V) {
    let inverse = inverse_distance::<V, A, SKIP>(norm2(d));
    let u = [d[0] * inverse, d[1] * inverse, d[2] * inverse];
    (inverse, u, p[0].mul_add(u[0], p[1].mul_add(u[1], p[2] * u[2])))
}

impl Pair<3, 4, 1> for DipolePotential {
    const SINGULAR: bool = true;
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], [q, x, y, z]: [V; 4], _: V, sums: &mut [V; 1]) {
        let (inverse, _, moment) = along::<V, A, SKIP>(d, [x, y, z]);
        sums[0] = moment.mul_add(inverse, q).mul_add(inverse, sums[0]);
    }
}

impl Pair<3, 4, 4> for DipoleGradient {
    const SINGULAR: bool = true;
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], [q, x, y, z]: [V; 4], _: V, sums: &mut [V; 4]) {
        let p = [x, y, z];
        let (inverse, u, moment) = along::<V, A, SKIP>(d, p);
        let inverse2 = inverse * inverse;
        let inverse3 = inverse2 * inverse;
        sums[0] = moment.mul_add(inverse, q).mul_add(inverse, sums[0]);
        // p/r^3 - u (q/r^2 + 3 p.u/r^3)
        let radial = (V::splat(V::Elem::from_f64(3.0)) * moment).mul_add(inverse3, q * inverse2);
        for i in 0..3 {
            sums[1 + i] = radial.neg_mul_add(u[i], p[i].mul_add(inverse3, sums[1 + i]));
        }
    }
}

impl Pair<3, 4, 10> for DipoleHessian {
    const SINGULAR: bool = true;
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], [q, x, y, z]: [V; 4], size2: V, sums: &mut [V; 10]) {
        let p = [x, y, z];
        let mut first = [sums[0], sums[1], sums[2], sums[3]];
        DipoleGradient::add::<V, A, SKIP>(d, [q, x, y, z], size2, &mut first);
        sums[..4].copy_from_slice(&first);
        let (inverse, u, moment) = along::<V, A, SKIP>(d, p);
        let three = V::splat(V::Elem::from_f64(3.0));
        let inverse3 = inverse * inverse * inverse;
        let inverse4 = three * inverse3 * inverse;
        let charge = q * inverse3;
        // u_i u_j (3 q/r^3 + 15 p.u/r^4) - 3 (p_i u_j + p_j u_i)/r^4 - delta_ij (q/r^3 + 3 p.u/r^4)
        let trace = moment.mul_add(inverse4, charge);
        let both = three.mul_add(charge, V::splat(V::Elem::from_f64(5.0)) * moment * inverse4);
        let mut k = 4;
        for i in 0..3 {
            for j in i..3 {
                let mixed = p[i].mul_add(u[j], p[j] * u[i]);
                let diagonal = if i == j { sums[k] - trace } else { sums[k] };
                sums[k] = (both * u[i]).mul_add(u[j], inverse4.neg_mul_add(mixed, diagonal));
                k += 1;
            }
        }
    }
}
