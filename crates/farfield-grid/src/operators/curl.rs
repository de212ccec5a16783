//! Fourth-order first derivatives, combined as they are computed: a curl added to an output, and the size of a
//! divergence.

use super::line::line;
use super::rates::{FIRST, REACH};
use crate::error::Error;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE};
use crate::grid::{Ghosted, Grid};
use crate::operators::Read;
use farfield::simd::{Lanes, Real, SimdLevel, Vectorized, dispatch};

/// The width of the ghost layer that [`add_curl`] reads.
pub const CURL_GHOSTS: usize = REACH;

/// Adds `factor` times the curl of `field` to the values of a block.
pub fn add_curl<T: Real>(factor: f64, field: &Ghosted<T>, output: &mut [T]) {
    dispatch(SimdLevel::best(), AddCurl { factor, field, output });
}

struct AddCurl<'a, T> {
    factor: f64,
    field: &'a Ghosted<T>,
    output: &'a mut [T],
}

/// Adds the fourth-order difference along `stride` to the line `sum`.
#[inline(always)]
fn add_slope<T: Real>(weights: [T; REACH], values: &[T], at: usize, stride: usize, sum: &mut [T; BLOCK_SIDE]) {
    for k in 0..REACH {
        let (low, high) = (line(values, at - (k + 1) * stride), line(values, at + (k + 1) * stride));
        for x in 0..BLOCK_SIDE {
            sum[x] += weights[k] * (high[x] - low[x]);
        }
    }
}

impl<T: Real> Vectorized<T> for AddCurl<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) {
        let (h, side) = (self.field.spacing(), self.field.side());
        let strides = [1, side, side * side];
        let plus = [
            T::from_f64(self.factor * FIRST[0] / h),
            T::from_f64(self.factor * FIRST[1] / h),
        ];
        let minus = [-plus[0], -plus[1]];
        for component in 0..3 {
            let (next, last) = ((component + 1) % 3, (component + 2) % 3);
            for row in 0..BLOCK_SIDE * BLOCK_SIDE {
                let at = self
                    .field
                    .index([0, (row % BLOCK_SIDE) as isize, (row / BLOCK_SIDE) as isize]);
                let start = component * BLOCK_POINTS + row * BLOCK_SIDE;
                let target = &mut self.output[start..start + BLOCK_SIDE];
                let mut sum = [T::ZERO; BLOCK_SIDE];
                add_slope(plus, self.field.values(last), at, strides[next], &mut sum);
                add_slope(minus, self.field.values(next), at, strides[last], &mut sum);
                for x in 0..BLOCK_SIDE {
                    target[x] += sum[x];
                }
            }
        }
    }
}

impl<T: Real> Grid<T> {
    /// The integrals of $|\nabla\cdot f|h$ and of $|f_x|+|f_y|+|f_z|$, where $h$ is the spacing of each block.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::Components`].
    pub fn divergence_and_size(&self, channel: &str) -> Result<[f64; 2], Error> {
        self.expect_components(channel, 3)?;
        let simd = SimdLevel::best();
        let parts = self.look_nonzero(&[Read::new(channel, REACH)], |inputs| {
            let volume = inputs[0].spacing().powi(3);
            dispatch(simd, Divergences { field: &inputs[0] }).map(|sum| volume * sum)
        })?;
        let add = |sum: [f64; 2], part: &[f64; 2]| [sum[0] + part[0], sum[1] + part[1]];
        Ok(parts.iter().flatten().fold([0.0; 2], add))
    }
}

/// Sums $|\nabla\cdot f|h$ and the absolute values of the components over a block.
struct Divergences<'a, T> {
    field: &'a Ghosted<T>,
}

impl<T: Real> Vectorized<T> for Divergences<'_, T> {
    type Output = [f64; 2];
    #[inline(always)]
    fn run<V: Lanes<Elem = T>>(self) -> [f64; 2] {
        let side = self.field.side();
        let weights = [T::from_f64(FIRST[0]), T::from_f64(FIRST[1])];
        let size_of = |value: T| if value < T::ZERO { -value } else { value };
        let mut sums = [[0.0; BLOCK_SIDE]; 2];
        for row in 0..BLOCK_SIDE * BLOCK_SIDE {
            let at = self
                .field
                .index([0, (row % BLOCK_SIDE) as isize, (row / BLOCK_SIDE) as isize]);
            let (mut divergence, mut sizes) = ([T::ZERO; BLOCK_SIDE], [T::ZERO; BLOCK_SIDE]);
            for axis in 0..3 {
                let values = self.field.values(axis);
                add_slope(weights, values, at, [1, side, side * side][axis], &mut divergence);
                let own = line(values, at);
                for x in 0..BLOCK_SIDE {
                    sizes[x] += size_of(own[x]);
                }
            }
            for x in 0..BLOCK_SIDE {
                sums[0][x] += size_of(divergence[x]).to_f64();
                sums[1][x] += sizes[x].to_f64();
            }
        }
        [sums[0].iter().sum(), sums[1].iter().sum()]
    }
}
