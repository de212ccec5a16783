//! The rate of change of vorticity on the grid: fourth-order stretching and diffusion in one pass.
//!
//! $$\nabla\cdot(\omega u)+\nu\nabla^2\omega$$
//! The conservative form of stretching equals $(\omega\cdot\nabla)u+u\nabla\cdot\omega$. Its differences telescope, so
//! on one level the total vorticity is conserved to round-off; and the divergence of $\omega$, which is zero except for
//! errors, is not convected.

use crate::error::Error;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::{Ghosted, Grid};
use crate::operators::Read;
use crate::operators::line::{Sixteen, line_mut, number};
use farfield::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};

/// Points to each side that the differences read.
pub(super) const REACH: usize = 2;
/// Weights of the first derivative, one and two points away.
pub(super) const FIRST: [f64; 2] = [2.0 / 3.0, -1.0 / 12.0];
/// Weights of the second derivative, zero, one and two points away.
const SECOND: [f64; 3] = [-5.0 / 2.0, 4.0 / 3.0, -1.0 / 12.0];

/// The largest eigenvalue of minus the fourth-order Laplacian in three dimensions, times $h^2$: $3\cdot\frac{16}3$. A
/// second-order explicit step is stable for $\nu\Delta t/h^2\le2/16$.
pub const LARGEST_LAPLACIAN: f64 = 16.0;

impl<T: Real> Grid<T> {
    /// Sets channel `rates` to the stretching plus the diffusion of `vorticity` in the flow `velocity`.
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
        self.sweep_rates([vorticity, velocity], rates, Onto::Nothing, viscosity, 1.0)
    }

    /// Sets channel `output` to `vorticity` plus `time` times its rates of change in the flow `velocity`.
    ///
    /// # Errors
    /// As [`Grid::vorticity_rates`].
    pub fn vorticity_after(
        &mut self,
        vorticity: &str,
        velocity: &str,
        viscosity: f64,
        time: f64,
        output: &str,
    ) -> Result<(), Error> {
        self.sweep_rates([vorticity, velocity], output, Onto::Itself, viscosity, time)
    }

    /// Adds `time` times the rates of change of `vorticity` in the flow `velocity` to channel `output`.
    ///
    /// # Errors
    /// As [`Grid::vorticity_rates`].
    pub fn add_vorticity_rates(
        &mut self,
        vorticity: &str,
        velocity: &str,
        viscosity: f64,
        time: f64,
        output: &str,
    ) -> Result<(), Error> {
        self.sweep_rates([vorticity, velocity], output, Onto::Output, viscosity, time)
    }

    fn sweep_rates(
        &mut self,
        [vorticity, velocity]: [&str; 2],
        output: &str,
        onto: Onto,
        viscosity: f64,
        time: f64,
    ) -> Result<(), Error> {
        for name in [vorticity, velocity, output] {
            self.expect_components(name, 3)?;
        }
        let simd = SimdLevel::best();
        let inputs = [Read::new(vorticity, REACH), Read::new(velocity, REACH)];
        let work = |inputs: &[Ghosted<T>], output: &mut [T]| {
            let task = Rates {
                vorticity: &inputs[0],
                velocity: &inputs[1],
                viscosity,
                time,
                onto,
                output,
            };
            dispatch(simd, task);
        };
        match onto {
            Onto::Output => self.sweep_nonzero(&inputs, output, work),
            _ => self.sweep_linear(&inputs, output, work),
        }
    }

    /// Returns an error unless channel `name` has `expected` components.
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

/// The values that rates are added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Onto {
    Nothing,
    /// The vorticity itself.
    Itself,
    /// The old values of the output.
    Output,
}

struct Rates<'a, T> {
    vorticity: &'a Ghosted<T>,
    velocity: &'a Ghosted<T>,
    viscosity: f64,
    time: f64,
    onto: Onto,
    output: &'a mut [T],
}

impl<T: Real> Vectorized<T> for Rates<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let h = self.vorticity.spacing();
        let side = self.vorticity.side();
        let (stretch, spread) = (self.time / h, self.time * self.viscosity / (h * h));
        let first = [number::<V>(stretch * FIRST[0]), number(stretch * FIRST[1])];
        let middle = number::<V>(3.0 * spread * SECOND[0]);
        let second = [number::<V>(spread * SECOND[1]), number(spread * SECOND[2])];
        let omega = [0, 1, 2].map(|c| self.vorticity.values(c));
        let u = [0, 1, 2].map(|c| self.velocity.values(c));
        for row in 0..BLOCK_SIDE * BLOCK_SIDE {
            let at = self
                .vorticity
                .index([0, (row % BLOCK_SIDE) as isize, (row / BLOCK_SIDE) as isize]);
            for component in 0..3 {
                let (w, v) = (omega[component], u[component]);
                let start = component * BLOCK_POINTS + row * BLOCK_SIDE;
                let target = line_mut(self.output, start);
                let own = Sixteen::<V>::at(w, at);
                let mut sum = match self.onto {
                    Onto::Nothing => Sixteen::zero(),
                    Onto::Itself => own,
                    Onto::Output => Sixteen::of(target),
                };
                for p in 0..Sixteen::<V>::PARTS {
                    sum.0[p] = middle.mul_add(own.0[p], sum.0[p]);
                }
                for axis in 0..3 {
                    let s = [1, side, side * side][axis];
                    for k in 0..REACH {
                        let (low, high) = (at - (k + 1) * s, at + (k + 1) * s);
                        let along = omega[axis];
                        let (along_low, along_high) = (Sixteen::<V>::at(along, low), Sixteen::<V>::at(along, high));
                        let (v_low, v_high) = (Sixteen::<V>::at(v, low), Sixteen::<V>::at(v, high));
                        let (w_low, w_high) = (Sixteen::<V>::at(w, low), Sixteen::<V>::at(w, high));
                        for p in 0..Sixteen::<V>::PARTS {
                            let flux = along_low.0[p].neg_mul_add(v_low.0[p], along_high.0[p] * v_high.0[p]);
                            let stretched = first[k].mul_add(flux, sum.0[p]);
                            sum.0[p] = second[k].mul_add(w_low.0[p] + w_high.0[p], stretched);
                        }
                    }
                }
                sum.write(target);
            }
        }
    }
}
