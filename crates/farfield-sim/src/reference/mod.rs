//! Theory of vortex rings: the speed of a ring, and the motion of several thin rings on one axis.

pub mod sphere_drag;

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

/// $C$ of a single filament of elements whose core size is the $a$ of the formula.
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

/// A thin ring on a common axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThinRing {
    /// Its radius.
    pub radius: f64,
    /// Its position on the axis.
    pub place: f64,
    /// Its circulation; the sign gives the direction of motion.
    pub circulation: f64,
    /// Its core radius.
    pub core: f64,
    /// The constant $C$ of its speed.
    pub constant: f64,
    /// Whether the core keeps its volume, so that it thins as the ring grows, as real cores do. A filament's does not.
    pub keeps_volume: bool,
}

/// The velocity (outward, along the axis) that a thin circular filament of radius `big` induces at the distances `r`
/// from the axis and `z` ahead of it.
fn induced(big: f64, circulation: f64, r: f64, z: f64) -> (f64, f64) {
    let far = (r + big).powi(2) + z * z;
    let near = (big - r).powi(2) + z * z;
    let (k, e) = elliptic(4.0 * r * big / far);
    let factor = circulation / (2.0 * PI * far.sqrt());
    let along = factor * (k + (big * big - r * r - z * z) / near * e);
    let outward = factor * z / r * (-k + (big * big + r * r + z * z) / near * e);
    (outward, along)
}

/// The speed of the centre of a ring of radius and circulation 1 with the core vorticity $e^{-\rho^2/a^2}/\pi a^2$. It
/// holds for any thickness, unlike the thin-ring formula.
///
/// Every piece of the cross section is a thin circular filament. The centre is the mean position weighted by the
/// strength $\omega r$, which grows where the flow is outward, so
/// $U=\int\omega\left(r u_z + z u_r\right)dA\,/\int\omega r\,dA$. The integral runs over two staggered grids, so that
/// no point coincides with another. Its error is of second order in the spacing and is removed by Richardson
/// extrapolation with a second pair of grids.
pub fn gaussian_ring_speed(a: f64) -> f64 {
    /// Points along each side of the coarse and the fine grid.
    const COUNTS: [usize; 2] = [16, 24];
    let [coarse, fine] = COUNTS.map(|count| gaussian_ring_speed_on(count, a));
    fine + (fine - coarse) / ((COUNTS[1] as f64 / COUNTS[0] as f64).powi(2) - 1.0)
}

fn gaussian_ring_speed_on(count: usize, a: f64) -> f64 {
    /// Half the side of the grids in core radii. There the vorticity has fallen to 1e-7.
    const REACH: f64 = 4.0;
    let spacing = 2.0 * REACH / count as f64;
    // Distance from the axis, position along it, circulation.
    let grid = |shift: f64| -> Vec<(f64, f64, f64)> {
        let at = |k: usize| (k as f64 + shift) * spacing - REACH;
        let points = (0..count).flat_map(|i| (0..count).map(move |j| (at(i), at(j))));
        let points: Vec<_> = points
            .map(|(x, z)| (1.0 + a * x, a * z, (-x * x - z * z).exp()))
            .filter(|(r, _, share)| *r > 0.0 && *share > 1e-9)
            .collect();
        let total: f64 = points.iter().map(|(_, _, share)| share).sum();
        points.into_iter().map(|(r, z, share)| (r, z, share / total)).collect()
    };
    let speed = |of: &[(f64, f64, f64)], by: &[(f64, f64, f64)]| {
        let moved = of.iter().flat_map(|&(r, z, share)| {
            by.iter().map(move |&(radius, place, circulation)| {
                let (outward, along) = induced(radius, circulation, r, z - place);
                share * (r * along + z * outward)
            })
        });
        let weight: f64 = of.iter().map(|(r, _, share)| r * share).sum();
        moved.sum::<f64>() / weight
    };
    let (first, second) = (grid(0.25), grid(0.75));
    0.5 * (speed(&first, &second) + speed(&second, &first))
}

/// Rates of change of radius and position of every ring.
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
                let ahead = ring.place - other.place;
                let (u, w) = induced(other.radius, other.circulation, ring.radius, ahead);
                (outward + u, along + w)
            })
        })
        .collect()
}

/// The motion of thin rings on one axis up to the time `end`, in `steps` steps of the classical Runge-Kutta scheme:
/// each time with the rings at that time.
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

/// The rings of a case as thin rings, if they are smooth, inviscid and on one axis, and the case has no knots or files.
/// Positions are along the axis of the first ring, from the origin.
pub fn thin_rings_of(vortex: &Vortex) -> Option<Vec<ThinRing>> {
    let first = vortex.rings.first()?;
    if !vortex.knots.is_empty() || !vortex.particles.is_empty() || vortex.diffusion != Diffusion::None {
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

/// The times at which one ring passes the other, by linear interpolation of their positions.
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
    fn elliptic_integrals_match_known_values() {
        let (k, e) = elliptic(0.5);
        assert!((k - 1.854_074_677_301_372).abs() < 1e-14);
        assert!((e - 1.350_643_881_047_675_5).abs() < 1e-14);
        let (k, e) = elliptic(0.0);
        assert!((k - PI / 2.0).abs() < 1e-15 && (e - PI / 2.0).abs() < 1e-15);
    }

    /// The expected values come from the same integral on finer grids, computed by another program.
    #[test]
    fn gaussian_ring_speeds_match_known_values_and_the_thin_ring_limit() {
        for (a, expected) in [(0.06, 0.344_32), (0.1, 0.302_78), (0.2, 0.244_37)] {
            let found = gaussian_ring_speed(a);
            assert!((found - expected).abs() < 2e-5, "{a}: {found}");
        }
        let thin = |a: f64| gaussian_ring_speed(a) / ring_speed(1.0, 1.0, a, GAUSSIAN_CORE) - 1.0;
        assert!(thin(0.02).abs() < 3e-4, "{}", thin(0.02));
        // The error of the formula grows slightly slower than the square of the thickness.
        let ratio = thin(0.1) / thin(0.05);
        assert!((3.0..4.0).contains(&ratio), "{ratio}");
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

    /// The expected values come from an independent implementation.
    #[test]
    fn leapfrogging_thin_rings_pass_at_known_times() {
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
