//! A vortex ring with a Gaussian core, whose far field does not vanish.

use super::RingFrame;
use std::f64::consts::PI;

/// A ring of vorticity $\omega_\theta=\frac\Gamma{\pi\sigma^2}e^{-((r-R)^2+z^2)/\sigma^2}$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianRing {
    /// Its centre and axis.
    pub frame: RingFrame,
    /// $R$.
    pub radius: f64,
    /// $\sigma$, small against $R$.
    pub core: f64,
    /// $\Gamma$.
    pub circulation: f64,
}

/// The distance from the core, in core sizes, beyond which the vorticity is below round-off.
const REACH: f64 = 6.5;

impl GaussianRing {
    /// A ring around the z axis at the centre of the unit cube: R = 1/4, $\sigma=1/24$, $\Gamma=1$.
    pub fn in_unit_cube() -> Self {
        Self {
            frame: RingFrame {
                center: [0.5; 3],
                axis: 2,
            },
            radius: 0.25,
            core: 1.0 / 24.0,
            circulation: 1.0,
        }
    }

    fn core_vorticity(&self, r: f64, z: f64) -> f64 {
        let t2 = ((r - self.radius).powi(2) + z.powi(2)) / self.core.powi(2);
        self.circulation / (PI * self.core.powi(2)) * (-t2).exp()
    }

    /// The vorticity; zero beyond 6.5 core sizes, where it is below 1e-18 of its maximum.
    pub fn vorticity(&self, x: [f64; 3]) -> [f64; 3] {
        let at = self.frame.cylindrical(x);
        let far = (at.r - self.radius).hypot(at.z) > REACH * self.core;
        let omega = if far { 0.0 } else { self.core_vorticity(at.r, at.z) };
        at.around.map(|direction| omega * direction)
    }

    /// The stream function: the integral over the core of the stream functions of circular filaments, by quadrature. It
    /// is exact to about ten digits, and slow.
    pub fn stream_function(&self, x: [f64; 3]) -> [f64; 3] {
        let at = self.frame.cylindrical(x);
        // Polar coordinates around the point if it is near the core, where the integrand has a logarithmic singularity;
        // otherwise around the centre of the core.
        let distance = (at.r - self.radius).hypot(at.z);
        let near = distance < (REACH + 1.0) * self.core;
        let (origin, reach) = if near {
            ((at.r, at.z), distance + REACH * self.core)
        } else {
            ((self.radius, 0.0), REACH * self.core)
        };
        const ANGLES: usize = 96;
        const PANELS: usize = 24;
        let mut psi = 0.0;
        for panel in 0..PANELS {
            let (low, high) = [panel, panel + 1]
                .map(|k| reach * (k as f64 / PANELS as f64).powi(2))
                .into();
            for (node, weight) in GAUSS {
                let rho = 0.5 * (low + high) + 0.5 * (high - low) * node;
                for k in 0..ANGLES {
                    let (sine, cosine) = (2.0 * PI * (k as f64 + 0.5) / ANGLES as f64).sin_cos();
                    let (r, z) = (origin.0 + rho * cosine, origin.1 + rho * sine);
                    if r > 0.0 {
                        let area = 0.5 * (high - low) * weight * rho * 2.0 * PI / ANGLES as f64;
                        psi += area * self.core_vorticity(r, z) * filament(at.r, at.z - z, r);
                    }
                }
            }
        }
        at.around.map(|direction| psi * direction)
    }
}

/// The four-point Gauss rule on (-1, 1): nodes and weights.
const GAUSS: [(f64, f64); 4] = [
    (-0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
    (-0.339_981_043_584_856_26, 0.652_145_154_862_546_1),
    (0.339_981_043_584_856_26, 0.652_145_154_862_546_1),
    (0.861_136_311_594_052_6, 0.347_854_845_137_453_85),
];

/// $\psi_\theta$ of a circular filament of unit circulation and the given radius, at (r, z):
/// $\frac1{2\pi}\sqrt{R/r}\left((2/k-k)K(k)-(2/k)E(k)\right)$ with $k^2=4rR/((r+R)^2+z^2)$.
fn filament(r: f64, z: f64, radius: f64) -> f64 {
    let k2 = 4.0 * r * radius / ((r + radius).powi(2) + z * z);
    if k2 < 1e-3 {
        // The first terms of the series: the formula itself suffers from cancellation.
        let series = 1.0 + 0.75 * k2 + 75.0 / 128.0 * k2 * k2;
        return (radius / r.max(f64::MIN_POSITIVE)).sqrt() * k2.powf(1.5) / 32.0 * series;
    }
    let (first, second) = elliptic(k2.min(1.0 - 1e-15));
    let k = k2.sqrt();
    (radius / r).sqrt() / (2.0 * PI) * ((2.0 / k - k) * first - 2.0 / k * second)
}

/// The complete elliptic integrals K and E of modulus k, given k², by the arithmetic-geometric mean.
fn elliptic(k2: f64) -> (f64, f64) {
    let (mut a, mut b, mut c2) = (1.0f64, (1.0 - k2).sqrt(), k2);
    let (mut sum, mut power) = (0.5 * c2, 0.5);
    // Convergence is quadratic: twelve steps are more than enough for any k.
    for _ in 0..12 {
        if c2 < 1e-30 * a * a {
            break;
        }
        let c = 0.5 * (a - b);
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
        c2 = c * c;
        power *= 2.0;
        sum += power * c2;
    }
    let first = PI / (2.0 * a);
    (first, first * (1.0 - sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elliptic_integrals_match_known_values() {
        let (first, second) = elliptic(0.5);
        assert!((first - 1.854_074_677_301_372).abs() < 1e-14);
        assert!((second - 1.350_643_881_047_675_6).abs() < 1e-14);
        assert!((elliptic(1e-12).0 - PI / 2.0).abs() < 1e-11);
    }

    #[test]
    fn a_filament_is_a_dipole_far_away_and_smooth_near_the_axis() {
        // psi = m x r / (4 pi r^3) with m = pi R^2.
        let (r, z) = (30.0f64, 40.0f64);
        let want = 0.25 * r / (r * r + z * z).powf(1.5);
        assert!((filament(r, z, 1.0) / want - 1.0).abs() < 1e-3);
        // The two branches agree where they meet.
        let r = 2.5e-7 * 2.0 * 2.0;
        let (low, high) = (
            filament(0.999 * r, 1.0, 1.0) / 0.999,
            filament(1.001 * r, 1.0, 1.0) / 1.001,
        );
        assert!((low / high - 1.0).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn the_laplacian_of_the_stream_function_is_minus_the_vorticity() {
        let ring = GaussianRing::in_unit_cube();
        let h = 4e-3;
        for x in [[0.74, 0.52, 0.51], [0.5, 0.27, 0.48], [0.65, 0.65, 0.55]] {
            let mut laplacian = [0.0; 3];
            for axis in 0..3 {
                for (step, weight) in [(-2.0, -1.0), (-1.0, 16.0), (0.0, -30.0), (1.0, 16.0), (2.0, -1.0)] {
                    let mut y = x;
                    y[axis] += step * h;
                    let psi = ring.stream_function(y);
                    for c in 0..3 {
                        laplacian[c] += weight / (12.0 * h * h) * psi[c];
                    }
                }
            }
            let omega = ring.vorticity(x);
            for c in 0..3 {
                assert!((omega[c] + laplacian[c]).abs() < 0.5, "{x:?}: {omega:?} {laplacian:?}");
            }
        }
    }
}
