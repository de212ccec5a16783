//! What theory says about vortex rings: speeds of thin rings, and the motion of several on one axis.

use crate::case::{CoreName, Diffusion, Vortex};
use crate::vec3::{add_scaled, dot, norm, sub, unit};
use std::f64::consts::PI;

/// The speed of a thin ring of circulation `gamma`, radius `r` and core radius `a`:
/// $U = \frac{\Gamma}{4\pi R}\left(\ln\frac{8R}{a} - C\right)$.
pub fn ring_speed(gamma: f64, r: f64, a: f64, constant: f64) -> f64 {
    gamma / (4.0 * PI * r) * ((8.0 * r / a).ln() - constant)
}

/// $C$ of a core with the vorticity $e^{-r^2/a^2}$ (Saffman).
pub const GAUSSIAN_CORE: f64 = 0.558;

/// $C$ at a single filament of elements whose size is the $a$ of the formula.
pub fn filament_constant(core: CoreName) -> f64 {
    match core {
        CoreName::WinckelmansLeonard => 0.5,
        CoreName::Gaussian => 1.058,
        CoreName::HuPolynomial => 0.193,
    }
}

/// Complete elliptic integrals K and E of parameter m < 1, by the arithmetic-geometric mean.
pub fn elliptic(m: f64) -> (f64, f64) {
    let (mut a, mut b, mut c2, mut power, mut sum) = (1.0, (1.0 - m).sqrt(), m, 0.5, 0.5 * m);
    while c2 > 1e-32 {
        let next = 0.5 * (a + b);
        c2 = (0.5 * (a - b)).powi(2);
        b = (a * b).sqrt();
        a = next;
        power *= 2.0;
        sum += power * c2;
    }
    let k = PI / (2.0 * a);
    (k, k * (1.0 - sum))
}

/// A thin ring on the common axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThinRing {
    /// Its radius.
    pub radius: f64,
    /// Its place on the axis.
    pub place: f64,
    /// Its circulation; the sign gives the direction it moves in.
    pub circulation: f64,
    /// Its core radius.
    pub core: f64,
    /// The constant of its speed.
    pub constant: f64,
    /// Whether the core thins as the ring grows (its volume stays), as real cores do; a filament's does not.
    pub keeps_volume: bool,
}

/// Velocities (outward, along the axis) that a thin circular line induces at distance `r` from the axis and `z` ahead.
fn induced(ring: &ThinRing, r: f64, z: f64) -> (f64, f64) {
    let big = ring.radius;
    let far = (r + big).powi(2) + z * z;
    let near = (big - r).powi(2) + z * z;
    let (k, e) = elliptic(4.0 * r * big / far);
    let factor = ring.circulation / (2.0 * PI * far.sqrt());
    let along = factor * (k + (big * big - r * r - z * z) / near * e);
    let outward = factor * z / r * (-k + (big * big + r * r + z * z) / near * e);
    (outward, along)
}

/// Rates of change of radius and place of every ring.
fn rates(rings: &[ThinRing], initial: &[ThinRing]) -> Vec<(f64, f64)> {
    rings
        .iter()
        .enumerate()
        .map(|(i, ring)| {
            let core = if ring.keeps_volume {
                ring.core * (initial[i].radius / ring.radius).sqrt()
            } else {
                ring.core
            };
            let own = ring_speed(ring.circulation, ring.radius, core, ring.constant);
            let others = rings.iter().enumerate().filter(|(j, _)| *j != i);
            others.fold((0.0, own), |(outward, along), (_, other)| {
                let (u, w) = induced(other, ring.radius, ring.place - other.place);
                (outward + u, along + w)
            })
        })
        .collect()
}

/// The motion of thin rings on one axis up to `end`, in `steps` steps of the classical Runge-Kutta scheme: times and
/// the rings at each.
pub fn thin_rings(initial: &[ThinRing], end: f64, steps: usize) -> Vec<(f64, Vec<ThinRing>)> {
    let dt = end / steps as f64;
    let moved = |rings: &[ThinRing], rates: &[(f64, f64)], h: f64| -> Vec<ThinRing> {
        let go = |(ring, (outward, along)): (&ThinRing, &(f64, f64))| ThinRing {
            radius: ring.radius + h * outward,
            place: ring.place + h * along,
            ..*ring
        };
        rings.iter().zip(rates).map(go).collect()
    };
    let mut path = vec![(0.0, initial.to_vec())];
    let mut rings = initial.to_vec();
    for step in 1..=steps {
        let k1 = rates(&rings, initial);
        let k2 = rates(&moved(&rings, &k1, 0.5 * dt), initial);
        let k3 = rates(&moved(&rings, &k2, 0.5 * dt), initial);
        let k4 = rates(&moved(&rings, &k3, dt), initial);
        for (k, ring) in rings.iter_mut().enumerate() {
            ring.radius += dt / 6.0 * (k1[k].0 + 2.0 * (k2[k].0 + k3[k].0) + k4[k].0);
            ring.place += dt / 6.0 * (k1[k].1 + 2.0 * (k2[k].1 + k3[k].1) + k4[k].1);
        }
        path.push((step as f64 * dt, rings.clone()));
    }
    path
}

/// The rings of a case as thin rings, if they are on one axis and nothing else is there: inviscid, smooth, no knots.
/// Places are along the first ring's axis, from the origin.
pub fn thin_rings_of(vortex: &Vortex) -> Option<Vec<ThinRing>> {
    let first = vortex.rings.first()?;
    if !vortex.knots.is_empty() || vortex.diffusion != Diffusion::None {
        return None;
    }
    let axis = unit(first.axis);
    vortex
        .rings
        .iter()
        .map(|ring| {
            let along = dot(unit(ring.axis), axis);
            let offset = sub(ring.centre, first.centre);
            let aside = norm(add_scaled(offset, -dot(offset, axis), axis));
            let coaxial = along.abs() > 1.0 - 1e-9 && aside < 1e-9 * ring.radius && ring.ripple < 0.05;
            let layered = vortex.layers > 0;
            coaxial.then(|| ThinRing {
                radius: ring.radius,
                place: dot(ring.centre, axis),
                circulation: along.signum() * ring.circulation,
                core: ring.core,
                constant: if layered {
                    GAUSSIAN_CORE
                } else {
                    filament_constant(vortex.core)
                },
                keeps_volume: layered,
            })
        })
        .collect()
}

/// Times at which the second ring changes from ahead of the first to behind it or back, by linear interpolation of
/// their places.
pub fn passes(times: &[f64], first: &[f64], second: &[f64]) -> Vec<f64> {
    let ahead: Vec<f64> = first.iter().zip(second).map(|(a, b)| b - a).collect();
    (1..ahead.len())
        .filter(|&k| ahead[k] * ahead[k - 1] < 0.0)
        .map(|k| times[k - 1] + (times[k] - times[k - 1]) * ahead[k - 1] / (ahead[k - 1] - ahead[k]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elliptic_integrals_have_their_known_values() {
        let (k, e) = elliptic(0.5);
        assert!((k - 1.854_074_677_301_372).abs() < 1e-14);
        assert!((e - 1.350_643_881_047_675_5).abs() < 1e-14);
        let (k, e) = elliptic(0.0);
        assert!((k - PI / 2.0).abs() < 1e-15 && (e - PI / 2.0).abs() < 1e-15);
    }

    fn two(radius: f64, distance: f64, core: f64, keeps_volume: bool) -> [ThinRing; 2] {
        let ring = ThinRing {
            radius,
            place: 0.0,
            circulation: 1.0,
            core,
            constant: 0.5,
            keeps_volume,
        };
        [
            ring,
            ThinRing {
                place: distance,
                ..ring
            },
        ]
    }

    /// Numbers computed for this project with another implementation.
    #[test]
    fn leapfrogging_thin_rings_pass_when_they_should() {
        let path = thin_rings(&two(0.7906, 0.7906, 0.079_06, false), 9.0, 9000);
        let times: Vec<f64> = path.iter().map(|p| p.0).collect();
        let place = |k: usize| path.iter().map(|p| p.1[k].place).collect::<Vec<_>>();
        let found = passes(&times, &place(0), &place(1));
        assert!((found[0] - 2.1876).abs() < 1e-3, "{found:?}");
        assert!((found[1] - 6.5627).abs() < 1e-3, "{found:?}");
        let at = path.iter().find(|p| p.0 >= found[0]).map(|p| &p.1).unwrap();
        assert!((at[0].radius - 0.4959).abs() < 1e-3 && (at[1].radius - 1.0021).abs() < 1e-3);
        assert!((at[0].place - 1.6105).abs() < 2e-3);
    }
}
