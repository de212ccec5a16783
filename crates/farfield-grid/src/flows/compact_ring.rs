//! A ring whose stream function vanishes outside a torus.

use super::{Cylindrical, RingFrame};

/// The ring of Hejlesen et al. and van Rees et al.: with $t^2=((r-R)^2+z^2)/R^2$,
/// $$ \psi_\theta=c_1e^{-c_2/(1-t^2)}\ \text{for}\ t<1,\quad\text{else}\ 0, \qquad
///    \omega=\nabla\times(\nabla\times\psi). $$
/// Circulation and impulse are zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompactRing {
    /// Its centre and axis.
    pub frame: RingFrame,
    /// $R$: the radius of the ring and of the torus around it.
    pub radius: f64,
    /// $c_1$.
    pub amplitude: f64,
    /// $c_2$.
    pub steepness: f64,
}

impl CompactRing {
    /// The two rings of van Rees et al. in the unit cube: R = 1/8, $c_1=2^{27}$, $c_2=20$; one around the z axis at
    /// (1/4, 1/4, 1/4), one around the x axis at (3/4, 3/4, 3/4).
    pub fn two_rings() -> [Self; 2] {
        [(0.25, 2), (0.75, 0)].map(|(center, axis)| Self {
            frame: RingFrame {
                center: [center; 3],
                axis,
            },
            radius: 0.125,
            amplitude: 2f64.powi(27),
            steepness: 20.0,
        })
    }

    /// $1-t^2$ inside the torus, `None` outside.
    fn inside(&self, at: &Cylindrical) -> Option<f64> {
        let s = 1.0 - ((at.r - self.radius).powi(2) + at.z.powi(2)) / self.radius.powi(2);
        (s > 0.0 && at.r > 0.0).then_some(s)
    }

    /// The stream function.
    pub fn stream_function(&self, x: [f64; 3]) -> [f64; 3] {
        let at = self.frame.cylindrical(x);
        let psi = self
            .inside(&at)
            .map_or(0.0, |s| self.amplitude * (-self.steepness / s).exp());
        at.around.map(|direction| psi * direction)
    }

    /// The vorticity.
    pub fn vorticity(&self, x: [f64; 3]) -> [f64; 3] {
        let at = self.frame.cylindrical(x);
        let omega = self.inside(&at).map_or(0.0, |s| {
            let (c2, t2, square) = (self.steepness, 1.0 - s, self.radius.powi(2));
            let factor = 4.0 * c2 / (square * s.powi(2)) + 8.0 * c2 * t2 / (square * s.powi(3))
                - 4.0 * c2 * c2 * t2 / (square * s.powi(4))
                + 2.0 * c2 * (at.r - self.radius) / (at.r * square * s.powi(2))
                + 1.0 / at.r.powi(2);
            let size = self.amplitude * (-c2 / s).exp();
            // Near the rim the factor overflows where the exponential has already underflowed.
            if size == 0.0 { 0.0 } else { size * factor }
        });
        at.around.map(|direction| omega * direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vorticity_is_minus_the_laplacian_of_the_stream_function() {
        let h = 1e-3;
        for ring in CompactRing::two_rings() {
            for shift in [[0.11, 0.03, 0.02], [-0.05, -0.1, 0.03], [0.02, 0.12, -0.04]] {
                let mut x = ring.frame.center;
                for k in 0..3 {
                    x[(ring.frame.axis + 1 + k) % 3] += shift[k];
                }
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
                    assert!((omega[c] + laplacian[c]).abs() < 0.05, "{x:?}: {omega:?} {laplacian:?}");
                }
            }
        }
    }
}
