//! The convective acceleration, and the largest velocities and velocity gradients.

use super::rates::{FIRST, REACH};
use crate::error::Error;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::{Ghosted, Grid, largest_of, point_coordinates};
use crate::operators::Read;
use crate::operators::line::{Sixteen, line, line_mut, number};
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
    /// The maximum of each value; `place` is that of the larger gradient.
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
    /// Sets channel `change` to the convective acceleration $(u\cdot\nabla)u$ and returns the largest velocities and
    /// gradients.
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
            let mut speeds = [T::ZERO; BLOCK_SIDE];
            let task = Convection {
                velocity: input,
                output,
                gradients: &mut gradients,
            };
            dispatch(simd, task);
            let mut largest = Extremes::default();
            let top = largest_of(&gradients);
            largest.gradient = top.to_f64();
            let at = gradients.iter().position(|gradient| *gradient == top).unwrap_or(0);
            largest.place = domain.position(wavelet, input.block(), point_coordinates(at).map(|c| c as isize));
            for component in 0..3 {
                for row in 0..BLOCK_SIDE * BLOCK_SIDE {
                    let start = input.index([0, (row % BLOCK_SIDE) as isize, (row / BLOCK_SIDE) as isize]);
                    speeds = larger(speeds, line(input.values(component), start));
                }
            }
            largest.speed = largest_of(&speeds).to_f64();
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
        let first = [number::<V>(FIRST[0] / h), number(FIRST[1] / h)];
        let u = [0, 1, 2].map(|c| self.velocity.values(c));
        for row in 0..BLOCK_SIDE * BLOCK_SIDE {
            let at = self
                .velocity
                .index([0, (row % BLOCK_SIDE) as isize, (row / BLOCK_SIDE) as isize]);
            let mut largest = Sixteen::<V>::zero();
            for component in 0..3 {
                let v = u[component];
                let (mut sum, mut sizes) = (Sixteen::<V>::zero(), Sixteen::<V>::zero());
                for axis in 0..3 {
                    let s = [1, side, side * side][axis];
                    let along = Sixteen::<V>::at(u[axis], at);
                    let (near_low, near_high) = (Sixteen::<V>::at(v, at - s), Sixteen::<V>::at(v, at + s));
                    let (far_low, far_high) = (Sixteen::<V>::at(v, at - 2 * s), Sixteen::<V>::at(v, at + 2 * s));
                    for p in 0..Sixteen::<V>::PARTS {
                        let slope = first[0] * (near_high.0[p] - near_low.0[p]);
                        let slope = first[1].mul_add(far_high.0[p] - far_low.0[p], slope);
                        sum.0[p] = along.0[p].mul_add(slope, sum.0[p]);
                        sizes.0[p] = sizes.0[p] + slope.max(V::zero() - slope);
                    }
                }
                for p in 0..Sixteen::<V>::PARTS {
                    largest.0[p] = largest.0[p].max(sizes.0[p]);
                }
                sum.write(line_mut(self.output, component * BLOCK_POINTS + row * BLOCK_SIDE));
            }
            largest.write(line_mut(self.gradients, row * BLOCK_SIDE));
        }
    }
}

/// The element-wise maximum of `one` and the absolute values of `other`.
#[inline(always)]
fn larger<T: Real>(mut one: [T; BLOCK_SIDE], other: &[T; BLOCK_SIDE]) -> [T; BLOCK_SIDE] {
    for x in 0..BLOCK_SIDE {
        let size = if other[x] < T::ZERO { -other[x] } else { other[x] };
        one[x] = if size > one[x] { size } else { one[x] };
    }
    one
}
