//! Gravity: masses softened as Plummer spheres, or as spheres of compact support.
//!
//! A softened mass is a small sphere of a given density. Plummer's has infinite support, so that its far field is
//! never exactly Newton's. The other two have compact support: beyond the distance `h` they attract exactly as a
//! point. `h` is chosen so that the potential at the centre is `-m/eps`, as for the Plummer sphere.
//!
//! The sums, in order: `sum m phi(r)`, then its gradient.

use super::Output;
use super::coulomb::add_gradient;
use super::description::{Description, Form, Regularisation};
use super::pair::{Pair, inverse_distance, norm2};
use crate::p2p::{Block, Pairs};
use crate::simd::{Lanes, Real, SimdLevel};
use std::marker::PhantomData;

/// The shape of a mass of softening length $\epsilon$.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum Softening {
    /// The Plummer sphere: $\phi = -1/\sqrt{r^2+\epsilon^2}$. It approaches $-1/r$ slowly, with relative error
    /// $\frac12\epsilon^2/r^2$, and $\frac32\epsilon^2/r^2$ in the acceleration.
    #[default]
    Plummer,
    /// The cubic spline of Monaghan and Lattanzio with support $h = 2.8\\,\epsilon$, as in Gadget: the density
    /// $\frac{8}{\pi h^3}[1-6u^2+6u^3]$ for $u=r/h\le\frac12$ and $\frac{8}{\pi h^3}\\,2(1-u)^3$ up to $u=1$. The
    /// potential is $-2.8/h$ at the centre and exactly $-1/r$ from $h$ on.
    Spline,
    /// Wendland's C2 function with support $h = 3\\,\epsilon$: the density $\frac{21}{2\pi h^3}(1-u)^4(1+4u)$ up to
    /// $u=r/h=1$. The potential is $-3/h$ at the centre and exactly $-1/r$ from $h$ on.
    WendlandC2,
}

impl Softening {
    /// All softenings.
    pub const ALL: [Softening; 3] = [Softening::Plummer, Softening::Spline, Softening::WendlandC2];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        self.regularisation().name
    }

    /// The replacement for Newton's law near a mass.
    pub fn regularisation(self) -> &'static Regularisation {
        match self {
            Softening::Plummer => &PLUMMER,
            Softening::Spline => &SPLINE,
            Softening::WendlandC2 => &WENDLAND_C2,
        }
    }
}

/// The description of the kernel.
pub(super) fn description(constant: f64, softening: Softening) -> Description {
    Description {
        name: "gravity",
        title: "gravity",
        about: "Masses: the potential -G sum of m/r and the acceleration",
        strengths: "masses",
        outputs: &[Output::Potential, Output::Acceleration],
        form: Form::Charge,
        regularisation: Some(softening.regularisation()),
        core_word: "softening_kernel",
        constant: Some(constant),
        scales: [-1.0, 1.0],
    }
}

static PLUMMER: Regularisation = Regularisation {
    name: "plummer",
    needs_size: false,
    finite_centre: true,
    unbounded_gradient: false,
    // 1/sqrt(r^2 + e^2) = 1/r (1 - e^2/2r^2 + ...); 3 e^2/2r^2 for the acceleration.
    reach: |tolerance, derivatives| (if derivatives == 0 { 0.5 } else { 1.5 } / tolerance).sqrt(),
    profile: |r2, size| {
        let s2 = r2 + size * size;
        (1.0 / s2.sqrt(), 1.0 / (s2 * s2.sqrt()))
    },
    cost: 1.0,
};

static SPLINE: Regularisation = Regularisation {
    name: "spline",
    needs_size: false,
    finite_centre: true,
    unbounded_gradient: false,
    reach: |_, _| CubicSpline::SUPPORT,
    profile: |r2, size| {
        ended_profile(r2, CubicSpline::SUPPORT * size, |u| {
            if u < 0.5 {
                (
                    14.0 / 5.0 - 16.0 / 3.0 * u.powi(2) + 48.0 / 5.0 * u.powi(4) - 32.0 / 5.0 * u.powi(5),
                    32.0 / 3.0 - 192.0 / 5.0 * u.powi(2) + 32.0 * u.powi(3),
                )
            } else {
                (
                    16.0 / 5.0 - 1.0 / (15.0 * u) - 32.0 / 3.0 * u.powi(2) + 16.0 * u.powi(3) - 48.0 / 5.0 * u.powi(4)
                        + 32.0 / 15.0 * u.powi(5),
                    64.0 / 3.0 - 48.0 * u + 192.0 / 5.0 * u.powi(2) - 32.0 / 3.0 * u.powi(3) - 1.0 / (15.0 * u.powi(3)),
                )
            }
        })
    },
    cost: 1.3,
};

static WENDLAND_C2: Regularisation = Regularisation {
    name: "wendland-c2",
    needs_size: false,
    finite_centre: true,
    unbounded_gradient: false,
    reach: |_, _| WendlandC2::SUPPORT,
    profile: |r2, size| {
        ended_profile(r2, WendlandC2::SUPPORT * size, |u| {
            (
                3.0 - 7.0 * u.powi(2) + 21.0 * u.powi(4) - 28.0 * u.powi(5) + 15.0 * u.powi(6) - 3.0 * u.powi(7),
                14.0 - 84.0 * u.powi(2) + 140.0 * u.powi(3) - 90.0 * u.powi(4) + 21.0 * u.powi(5),
            )
        })
    },
    cost: 1.3,
};

/// The profile with support `h` from that with support one, `of_unit`; beyond `h` it is Newton's.
fn ended_profile(r2: f64, h: f64, of_unit: impl Fn(f64) -> (f64, f64)) -> (f64, f64) {
    let r = r2.sqrt();
    if r >= h {
        return (1.0 / r, 1.0 / (r2 * r));
    }
    let (potential, slope) = of_unit(r / h);
    (potential / h, slope / (h * h * h))
}

/// The loops over pairs of softened masses.
pub(super) fn add_pairs<T: Real>(
    softening: Softening,
    pairs: &Pairs,
    simd: SimdLevel,
    block: &Block<T, 3>,
    sums: &mut [T],
) {
    let accuracy = pairs.accuracy;
    match (softening, pairs.derivatives) {
        (Softening::Plummer, 0) => block.with_accuracy::<PlummerPotential, 1, 1>(simd, accuracy, sums),
        (Softening::Plummer, _) => block.with_accuracy::<PlummerGradient, 1, 4>(simd, accuracy, sums),
        (Softening::Spline, 0) => block.with_one_of_two::<EndedPotential<CubicSpline>, 1, 1>(simd, accuracy, sums),
        (Softening::Spline, _) => block.with_one_of_two::<EndedGradient<CubicSpline>, 1, 4>(simd, accuracy, sums),
        (Softening::WendlandC2, 0) => block.with_one_of_two::<EndedPotential<WendlandC2>, 1, 1>(simd, accuracy, sums),
        (Softening::WendlandC2, _) => block.with_one_of_two::<EndedGradient<WendlandC2>, 1, 4>(simd, accuracy, sums),
    }
}

/// `m/sqrt(r^2 + size^2)`.
struct PlummerPotential;
/// `m/sqrt(r^2 + size^2)` and its gradient.
struct PlummerGradient;

impl Pair<3, 1, 1> for PlummerPotential {
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], [m]: [V; 1], size2: V, sums: &mut [V; 1]) {
        sums[0] = m.mul_add(inverse_distance::<V, A, SKIP>(norm2(d) + size2), sums[0]);
    }
}

impl Pair<3, 1, 4> for PlummerGradient {
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], [m]: [V; 1], size2: V, sums: &mut [V; 4]) {
        add_gradient(d, m, inverse_distance::<V, A, SKIP>(norm2(d) + size2), sums);
    }
}

/// A sphere of compact support. Its profile is a polynomial in `w = 1 - r/h`, which avoids cancellation near the edge.
trait EndedSphere {
    /// The radius `h` for a softening length of one.
    const SUPPORT: f64;
    /// The potential (positive) and its slope divided by the distance at `u = r/h`, given those of a point.
    fn profile<V: Lanes>(u: V, inverse_h: V, point: (V, V)) -> (V, V);
}

/// See [`Softening::Spline`].
struct CubicSpline;
/// See [`Softening::WendlandC2`].
struct WendlandC2;

#[inline(always)]
fn real<V: Lanes>(value: f64) -> V {
    V::splat(V::Elem::from_f64(value))
}

/// A polynomial, with its coefficients in ascending order.
#[inline(always)]
fn polynomial<V: Lanes, const N: usize>(x: V, coefficients: [f64; N]) -> V {
    let mut value = real::<V>(coefficients[N - 1]);
    for c in coefficients[..N - 1].iter().rev() {
        value = value.mul_add(x, real(*c));
    }
    value
}

impl EndedSphere for CubicSpline {
    const SUPPORT: f64 = 2.8;

    #[inline(always)]
    fn profile<V: Lanes>(u: V, inverse_h: V, (potential, slope): (V, V)) -> (V, V) {
        let u2 = u * u;
        // From u = 1/2 on: the field of a point, less the contribution of the mass outside r.
        let w = (real::<V>(1.0) - u).max(V::zero());
        let (w2, one) = (w * w, real::<V>(1.0));
        let w4 = w2 * w2;
        let outer = (w4 * w).neg_mul_add(polynomial(w, [16.0 / 5.0, -32.0 / 15.0]), one) * potential;
        let outer_slope = w4.neg_mul_add(polynomial(w, [16.0, -128.0 / 5.0, 32.0 / 3.0]), one) * slope;
        let inner = u2.mul_add(
            polynomial(u, [-16.0 / 3.0, 0.0, 48.0 / 5.0, -32.0 / 5.0]),
            real(14.0 / 5.0),
        );
        let inner_slope = u2.mul_add(polynomial(u, [-192.0 / 5.0, 32.0]), real(32.0 / 3.0));
        let half = real(0.5);
        (
            u.select_less(half, inner * inverse_h, outer),
            u.select_less(half, inner_slope * (inverse_h * (inverse_h * inverse_h)), outer_slope),
        )
    }
}

impl EndedSphere for WendlandC2 {
    const SUPPORT: f64 = 3.0;

    #[inline(always)]
    fn profile<V: Lanes>(u: V, inverse_h: V, (potential, slope): (V, V)) -> (V, V) {
        let one = real(1.0);
        let w = one - u;
        let inner = polynomial(w, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -6.0, 3.0]);
        let inner_slope = polynomial(w, [1.0, 3.0, 6.0, 10.0, 15.0, -21.0]);
        (
            u.select_less(one, inner * inverse_h, potential),
            u.select_less(one, inner_slope * (inverse_h * (inverse_h * inverse_h)), slope),
        )
    }
}

/// The potential of spheres of compact support.
struct EndedPotential<S>(PhantomData<S>);
/// The potential of spheres of compact support, and its gradient.
struct EndedGradient<S>(PhantomData<S>);

/// The potential of a unit mass and its slope divided by the distance: of `S` in lanes inside the sphere, of a point in
/// the others.
#[inline(always)]
fn ended<S: EndedSphere, V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], size2: V) -> (V, V) {
    let r2 = norm2(d);
    let inverse = inverse_distance::<V, A, SKIP>(r2);
    let newton = (inverse, inverse * (inverse * inverse));
    let h2 = size2 * V::splat(V::Elem::from_f64(S::SUPPORT * S::SUPPORT));
    // Most registers of targets lie outside the sphere and return here.
    if !r2.any_less(h2) {
        return newton;
    }
    let inverse_h = inverse_distance::<V, A, false>(h2);
    S::profile(r2 * (inverse * inverse_h), inverse_h, newton)
}

impl<S: EndedSphere> Pair<3, 1, 1> for EndedPotential<S> {
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], [m]: [V; 1], size2: V, sums: &mut [V; 1]) {
        let (potential, _) = ended::<S, V, A, SKIP>(d, size2);
        sums[0] = m.mul_add(potential, sums[0]);
    }
}

impl<S: EndedSphere> Pair<3, 1, 4> for EndedGradient<S> {
    #[inline(always)]
    fn add<V: Lanes, const A: u8, const SKIP: bool>(d: [V; 3], [m]: [V; 1], size2: V, sums: &mut [V; 4]) {
        let (potential, slope) = ended::<S, V, A, SKIP>(d, size2);
        let radial = m * slope;
        sums[0] = m.mul_add(potential, sums[0]);
        for i in 0..3 {
            sums[1 + i] = radial.neg_mul_add(d[i], sums[1 + i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published densities, for unit support and mass.
    fn density(softening: Softening, u: f64) -> f64 {
        let pi = std::f64::consts::PI;
        match softening {
            Softening::Spline if u < 0.5 => 8.0 / pi * (1.0 - 6.0 * u * u + 6.0 * u * u * u),
            Softening::Spline => 8.0 / pi * 2.0 * (1.0 - u).powi(3),
            _ => 21.0 / (2.0 * pi) * (1.0 - u).powi(4) * (1.0 + 4.0 * u),
        }
    }

    /// Five-point Gauss quadrature, exact for the polynomial densities, on intervals that end where the pieces do.
    fn integral(from: f64, to: f64, of: impl Fn(f64) -> f64) -> f64 {
        let nodes = [
            (0.0, 128.0 / 225.0),
            (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
            (0.906_179_845_938_664, 0.236_926_885_056_189_08),
        ];
        let pieces = 64;
        let mut sum = 0.0;
        for k in 0..pieces {
            let half = 0.5 * (to - from) / f64::from(pieces);
            let middle = from + half * f64::from(2 * k + 1);
            for (x, weight) in nodes {
                let mirrored = if x == 0.0 { 0.0 } else { of(middle - half * x) };
                sum += half * weight * (of(middle + half * x) + mirrored);
            }
        }
        sum
    }

    #[test]
    fn spheres_of_compact_support_attract_as_the_integral_of_their_density() {
        for softening in [Softening::Spline, Softening::WendlandC2] {
            let profile = softening.regularisation().profile;
            let h = (softening.regularisation().reach)(1e-6, 1);
            let shell = |u: f64| 4.0 * std::f64::consts::PI * u * u * density(softening, u);
            let between = |a: f64, b: f64, of: &dyn Fn(f64) -> f64| {
                let cut = 0.5f64.clamp(a, b);
                integral(a, cut, of) + integral(cut, b, of)
            };
            assert!((between(0.0, 1.0, &shell) - 1.0).abs() < 1e-14, "{softening:?}: mass");
            for k in 1..200 {
                let u = f64::from(k) / 200.0;
                let mass = between(0.0, u, &shell);
                let outside = between(u, 1.0, &|v| shell(v) / v);
                let (potential, slope) = profile((u * h).powi(2), 1.0);
                assert!(
                    (potential * h - (mass / u + outside)).abs() < 4e-14,
                    "{softening:?} {u}"
                );
                assert!(
                    (slope * h.powi(3) / (mass / u.powi(3)) - 1.0).abs() < 1e-11,
                    "{softening:?} {u}"
                );
            }
        }
    }

    #[test]
    fn the_potential_at_the_centre_equals_the_plummer_spheres() {
        for softening in Softening::ALL {
            let (potential, _) = (softening.regularisation().profile)(0.0, 0.3);
            assert!((potential * 0.3 - 1.0).abs() < 1e-14, "{softening:?}");
        }
    }

    #[test]
    fn spheres_of_compact_support_attract_as_points_beyond_it() {
        for softening in [Softening::Spline, Softening::WendlandC2] {
            let core = softening.regularisation();
            let h = 0.3 * (core.reach)(1e-12, 1);
            for r in [h, 1.5 * h] {
                assert_eq!((core.profile)(r * r, 0.3).0, 1.0 / (r * r).sqrt());
            }
            let (inside, outside) = ((core.profile)((0.999_999 * h).powi(2), 0.3), (core.profile)(h * h, 0.3));
            assert!((inside.0 / outside.0 - 1.0).abs() < 1.1e-6 && (inside.1 / outside.1 - 1.0).abs() < 4e-6);
        }
    }
}
