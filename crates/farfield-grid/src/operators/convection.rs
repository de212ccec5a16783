//! The change of velocity along the flow, and how large velocities and their gradients are.

use super::rates::{FIRST, REACH};
use crate::error::Error;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::{Ghosted, Grid};
use crate::operators::Read;
use farfield::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};

/// The largest values of a flow, which limit the time step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Extremes {
    /// The largest $\sum_j|\partial_ju_i|$.
    pub gradient: f64,
    /// The largest component of the velocity over the spacing of its block.
    pub crossing: f64,
    /// The largest component of the velocity.
    pub speed: f64,
    /// Where the gradient is largest.
    pub place: [f64; 3],
}

impl Extremes {
    /// The larger of both.
    pub fn with(self, other: Self) -> Self {
        let place = if other.gradient > self.gradient {
            other.place
        } else {
            self.place
        };
        Self {
            gradient: self.gradient.max(other.gradient),
            crossing: self.crossing.max(other.crossing),
            speed: self.speed.max(other.speed),
            place,
        }
    }
}

impl<T: Real> Grid<T> {
    /// Sets channel `change` to $(u\cdot\nabla)u$, by which a point that moves with the flow changes its velocity, and
    /// returns the largest velocities and gradients.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::InPlace`], [`Error::Components`].
    pub fn convection(&mut self, velocity: &str, change: &str) -> Result<Extremes, Error> {
        self.expect_components(velocity, 3)?;
        self.expect_components(change, 3)?;
        let simd = SimdLevel::best();
        let (domain, wavelet) = (*self.domain(), self.wavelet());
        let found = self.sweep(&[Read::new(velocity, REACH)], change, |inputs, output| {
            let input = &inputs[0];
            let mut gradients = [T::ZERO; BLOCK_POINTS];
            let task = Convection {
                velocity: input,
                output,
                gradients: &mut gradients,
            };
            dispatch(simd, task);
            let mut largest = Extremes::default();
            let mut at = 0;
            for (point, gradient) in gradients.iter().enumerate() {
                if gradient.to_f64() > largest.gradient {
                    (largest.gradient, at) = (gradient.to_f64(), point);
                }
            }
            let point = [
                at % BLOCK_SIDE,
                at / BLOCK_SIDE % BLOCK_SIDE,
                at / BLOCK_SIDE / BLOCK_SIDE,
            ];
            largest.place = domain.position(wavelet, input.block(), point.map(|c| c as isize));
            for component in 0..3 {
                for line in 0..BLOCK_SIDE * BLOCK_SIDE {
                    let start = input.index([0, (line % BLOCK_SIDE) as isize, (line / BLOCK_SIDE) as isize]);
                    for value in &input.values(component)[start..start + BLOCK_SIDE] {
                        largest.speed = largest.speed.max(value.to_f64().abs());
                    }
                }
            }
            largest.crossing = largest.speed / input.spacing();
            largest
        })?;
        Ok(found.into_iter().fold(Extremes::default(), Extremes::with))
    }
}

struct Convection<'a, T> {
    velocity: &'a Ghosted<T>,
    output: &'a mut [T],
    gradients: &'a mut [T; BLOCK_POINTS],
}

impl<T: Real> Vectorized<T> for Convection<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let (h, side) = (self.velocity.spacing(), self.velocity.side());
        let first = [0, 1].map(|k| T::from_f64(FIRST[k] / h));
        let u = [0, 1, 2].map(|c| self.velocity.values(c));
        for line in 0..BLOCK_SIDE * BLOCK_SIDE {
            let at = self
                .velocity
                .index([0, (line % BLOCK_SIDE) as isize, (line / BLOCK_SIDE) as isize]);
            let mut largest = [T::ZERO; BLOCK_SIDE];
            for component in 0..3 {
                let v = u[component];
                let (mut sum, mut row) = ([T::ZERO; BLOCK_SIDE], [T::ZERO; BLOCK_SIDE]);
                for axis in 0..3 {
                    let s = [1, side, side * side][axis];
                    let along = u[axis];
                    for x in 0..BLOCK_SIDE {
                        let p = at + x;
                        let slope = first[0] * (v[p + s] - v[p - s]) + first[1] * (v[p + 2 * s] - v[p - 2 * s]);
                        sum[x] += along[p] * slope;
                        row[x] += if slope < T::ZERO { -slope } else { slope };
                    }
                }
                for x in 0..BLOCK_SIDE {
                    largest[x] = if row[x] > largest[x] { row[x] } else { largest[x] };
                }
                let start = component * BLOCK_POINTS + line * BLOCK_SIDE;
                self.output[start..start + BLOCK_SIDE].copy_from_slice(&sum);
            }
            self.gradients[line * BLOCK_SIDE..(line + 1) * BLOCK_SIDE].copy_from_slice(&largest);
        }
    }
}
