//! How vorticity changes on the grid: stretching and diffusion, of fourth order, in one pass.
//!
//! $$\nabla\cdot(\omega u)+\nu\nabla^2\omega$$
//! The conservative form of stretching is $(\omega\cdot\nabla)u+u\nabla\cdot\omega$. Its differences telescope, so on one
//! level the total vorticity stays to rounding; and the divergence of $\omega$, zero but for errors, is not carried about.

use crate::error::Error;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::{Ghosted, Grid};
use crate::operators::Read;
use farfield::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};

/// Points to each side that the differences look at.
pub(super) const REACH: usize = 2;
/// Weights of the first derivative, one and two points away.
pub(super) const FIRST: [f64; 2] = [2.0 / 3.0, -1.0 / 12.0];
/// Weights of the second derivative, zero, one and two points away.
const SECOND: [f64; 3] = [-5.0 / 2.0, 4.0 / 3.0, -1.0 / 12.0];

/// The largest eigenvalue of minus the fourth-order Laplacian in three dimensions, times $h^2$: $3\cdot\frac{16}3$. An
/// explicit step of second order is stable for $\nu\Delta t/h^2\le2/16$.
pub const LARGEST_LAPLACIAN: f64 = 16.0;

impl<T: Real> Grid<T> {
    /// Sets channel `rates` to stretching plus diffusion of `vorticity` in the flow `velocity`.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::InPlace`], [`Error::Components`].
    pub fn vorticity_rates(
        &mut self,
        vorticity: &str,
        velocity: &str,
        viscosity: f64,
        rates: &str,
    ) -> Result<(), Error> {
        for name in [vorticity, velocity, rates] {
            self.expect_components(name, 3)?;
        }
        let simd = SimdLevel::best();
        self.sweep_linear(
            &[Read::new(vorticity, REACH), Read::new(velocity, REACH)],
            rates,
            |inputs, output| {
                let task = Rates {
                    vorticity: &inputs[0],
                    velocity: &inputs[1],
                    viscosity,
                    output,
                };
                dispatch(simd, task);
            },
        )
    }

    /// Refuses a channel with another number of components.
    pub(crate) fn expect_components(&self, name: &str, expected: usize) -> Result<(), Error> {
        let found = self.channel(name)?.components();
        if found == expected {
            Ok(())
        } else {
            Err(Error::Components {
                name: name.to_owned(),
                found,
                expected,
            })
        }
    }
}

struct Rates<'a, T> {
    vorticity: &'a Ghosted<T>,
    velocity: &'a Ghosted<T>,
    viscosity: f64,
    output: &'a mut [T],
}

impl<T: Real> Vectorized<T> for Rates<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let h = self.vorticity.spacing();
        let side = self.vorticity.side();
        let first = [0, 1].map(|k| T::from_f64(FIRST[k] / h));
        let second = [0, 1, 2].map(|k| T::from_f64(self.viscosity * SECOND[k] / (h * h)));
        let omega = [0, 1, 2].map(|c| self.vorticity.values(c));
        let u = [0, 1, 2].map(|c| self.velocity.values(c));
        for line in 0..BLOCK_SIDE * BLOCK_SIDE {
            let at = self
                .vorticity
                .index([0, (line % BLOCK_SIDE) as isize, (line / BLOCK_SIDE) as isize]);
            for component in 0..3 {
                let (w, v) = (omega[component], u[component]);
                let mut sum = [T::ZERO; BLOCK_SIDE];
                for axis in 0..3 {
                    let s = [1, side, side * side][axis];
                    let along = omega[axis];
                    for x in 0..BLOCK_SIDE {
                        let p = at + x;
                        let near = along[p + s] * v[p + s] - along[p - s] * v[p - s];
                        let far = along[p + 2 * s] * v[p + 2 * s] - along[p - 2 * s] * v[p - 2 * s];
                        let spread = second[0] * w[p]
                            + second[1] * (w[p + s] + w[p - s])
                            + second[2] * (w[p + 2 * s] + w[p - 2 * s]);
                        sum[x] += first[0] * near + first[1] * far + spread;
                    }
                }
                let start = component * BLOCK_POINTS + line * BLOCK_SIDE;
                self.output[start..start + BLOCK_SIDE].copy_from_slice(&sum);
            }
        }
    }
}
