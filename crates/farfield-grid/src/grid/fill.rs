//! Fills channels from functions and uniform data, reads them on uniform points, and checks values.

use super::{Channel, Grid, Region};
use crate::error::Error;
use crate::forest::{BLOCK_POINTS, BLOCK_SIDE, BlockId};
use farfield::simd::Real;
use rayon::prelude::*;

/// How the value of a grid point is computed from a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// The value at the point. For cell averages this is second order, $\bar f=f+\frac{h^2}{24}\nabla^2f$, which does
    /// not affect operators that only shift and combine values, as long as the whole field is on one level.
    Point,
    /// The quantity the wavelet assumes: the value at a node, or the average over a cell by the Gauss rule with three
    /// points along each axis, exact up to degree five.
    Exact,
}

/// Offsets from the centre of a unit cell, and weights.
const GAUSS: [(f64, f64); 3] = [
    (-0.387_298_334_620_741_7, 5.0 / 18.0),
    (0.0, 8.0 / 18.0),
    (0.387_298_334_620_741_7, 5.0 / 18.0),
];

impl<T: Real> Grid<T> {
    /// Fills a scalar channel from a function of position, in parallel.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::Components`] for a vector channel.
    pub fn fill_scalar(
        &mut self,
        channel: &str,
        sampling: Sampling,
        function: impl Fn([f64; 3]) -> f64 + Sync,
    ) -> Result<(), Error> {
        self.fill(channel, sampling, |x| [function(x)])
    }

    /// Fills a vector channel from a function of position, in parallel.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::Components`] for a scalar channel.
    pub fn fill_vector(
        &mut self,
        channel: &str,
        sampling: Sampling,
        function: impl Fn([f64; 3]) -> [f64; 3] + Sync,
    ) -> Result<(), Error> {
        self.fill(channel, sampling, function)
    }

    fn fill<const C: usize>(
        &mut self,
        channel: &str,
        sampling: Sampling,
        function: impl Fn([f64; 3]) -> [f64; C] + Sync,
    ) -> Result<(), Error> {
        let at = self.channel_index(channel)?;
        let found = self.channels[at].components;
        if found != C {
            return Err(Error::Components {
                name: channel.to_owned(),
                found,
                expected: C,
            });
        }
        let (domain, wavelet, forest) = (self.domain, self.wavelet, &self.forest);
        let averaged = sampling == Sampling::Exact && wavelet.offset() != 0.0;
        let values = &mut self.channels[at].values;
        values
            .par_chunks_exact_mut(C * BLOCK_POINTS)
            .zip(forest.leaves())
            .for_each(|(values, block)| {
                let h = domain.spacing(block.level);
                for point in 0..BLOCK_POINTS {
                    let x = domain.position(wavelet, *block, point_coordinates(point).map(|c| c as isize));
                    let number = if averaged {
                        cell_average(x, h, &function)
                    } else {
                        function(x)
                    };
                    for c in 0..C {
                        values[c * BLOCK_POINTS + point] = T::from_f64(number[c]);
                    }
                }
            });
        Ok(())
    }

    /// Fills a channel from data on all points of one level: component by component, x fastest, then y, then z. The
    /// grid must consist of blocks of that level.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::Length`], [`Error::Leaves`] if the grid has blocks of several levels.
    pub fn set_uniform(&mut self, channel: &str, data: &[T]) -> Result<(), Error> {
        let at = self.channel_index(channel)?;
        let level = self.forest.finest_level();
        if let Some(leaf) = self.forest.leaves().iter().find(|leaf| leaf.level != level) {
            return Err(Error::Leaves {
                reason: format!("uniform data needs blocks of one level, but the grid has {leaf} and level {level}"),
            });
        }
        let size = self.points_of_level(level);
        let points: usize = size.iter().product();
        let components = self.channels[at].components;
        if data.len() != points * components {
            return Err(Error::Length {
                channel: channel.to_owned(),
                found: data.len(),
                expected: points * components,
                why: format!(
                    "{components} for each of {} x {} x {} points",
                    size[0], size[1], size[2]
                ),
            });
        }
        let forest = &self.forest;
        self.channels[at]
            .values
            .par_chunks_exact_mut(BLOCK_POINTS)
            .enumerate()
            .for_each(|(k, values)| {
                let (leaf, component) = (k / components, k % components);
                let corner = forest.leaves()[leaf].at.map(|c| c as usize * BLOCK_SIDE);
                for (line, values) in values.chunks_exact_mut(BLOCK_SIDE).enumerate() {
                    let (y, z) = (corner[1] + line % BLOCK_SIDE, corner[2] + line / BLOCK_SIDE);
                    let from = component * points + (z * size[1] + y) * size[0] + corner[0];
                    values.copy_from_slice(&data[from..from + BLOCK_SIDE]);
                }
            });
        Ok(())
    }

    /// One component of a channel at all points of `level`, x fastest, then y, then z. Values of coarser blocks are
    /// predicted, those of finer ones restricted.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`]; [`Error::Level`] for a level more than four below the finest.
    pub fn uniform(&self, channel: &str, component: usize, level: u8) -> Result<Vec<T>, Error> {
        let size = self.points_of_level(level);
        let points = size[0] * size[1] * BLOCK_SIDE;
        self.check_level(level)?;
        let channel = self.channel(channel)?;
        let mut data = vec![T::ZERO; size.iter().product()];
        // Slabs one block high, so that temporary memory stays small.
        data.par_chunks_mut(points)
            .enumerate()
            .for_each(|(slab, values)| values.copy_from_slice(&self.slab(channel, component, level, slab)));
        Ok(data)
    }

    /// The 16 layers of points of [`uniform`](Self::uniform) from layer `16 * slab` on.
    ///
    /// # Errors
    /// As [`uniform`](Self::uniform), and [`Error::Level`] for a slab beyond the box.
    pub fn uniform_slab(&self, channel: &str, component: usize, level: u8, slab: usize) -> Result<Vec<T>, Error> {
        self.check_level(level)?;
        if slab >= self.points_of_level(level)[2] / BLOCK_SIDE {
            return Err(Error::Level {
                level,
                limit: level,
                why: "the slab asked for lies beyond the box of level",
            });
        }
        Ok(self.slab(self.channel(channel)?, component, level, slab))
    }

    fn slab(&self, channel: &Channel<T>, component: usize, level: u8, slab: usize) -> Vec<T> {
        let size = self.points_of_level(level);
        let low = [0, 0, (slab * BLOCK_SIDE) as i64];
        let extent = [size[0], size[1], BLOCK_SIDE];
        let region = Region::new(&self.forest, channel.boundary, level, low, extent);
        region
            .assemble(self.wavelet, &|leaf| channel.block(leaf, component))
            .values
    }

    fn check_level(&self, level: u8) -> Result<(), Error> {
        let lowest = self.forest.finest_level().saturating_sub(4);
        if level < lowest {
            return Err(Error::Level {
                level,
                limit: lowest,
                why: "the coarsest level possible, four below the finest, is",
            });
        }
        Ok(())
    }

    /// The number of points of `level` along each axis.
    pub fn points_of_level(&self, level: u8) -> [usize; 3] {
        self.domain
            .roots()
            .map(|count| ((count as usize) << level) * BLOCK_SIDE)
    }

    /// Checks that every value of a channel is finite.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`]; [`Error::NotFinite`] with the first value that is not finite.
    pub fn check_finite(&self, channel: &str) -> Result<(), Error> {
        let channel = self.channel(channel)?;
        // Finds the block first: a sum of `0 * value` is fast, and NaN if a value is not finite.
        let chunks = channel.values.par_chunks(BLOCK_POINTS);
        let Some(chunk) = chunks.position_first(|values| !is_finite(values)) else {
            return Ok(());
        };
        let values = &channel.values[chunk * BLOCK_POINTS..];
        let Some(at) = values.iter().position(|value| !value.is_finite()) else {
            return Ok(());
        };
        let at = chunk * BLOCK_POINTS + at;
        let (leaf, component) = (at / channel.block_len(), at / BLOCK_POINTS % channel.components);
        let point = point_coordinates(at % BLOCK_POINTS);
        Err(Error::NotFinite {
            channel: channel.name.clone(),
            component,
            block: self.leaf(leaf),
            point,
            position: self.position(leaf, point),
            value: channel.values[at].to_f64(),
        })
    }

    /// The largest absolute value of a channel.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn largest(&self, channel: &str) -> Result<f64, Error> {
        let values = &self.channel(channel)?.values;
        Ok(values
            .par_chunks(BLOCK_POINTS)
            .map(|values| largest_of(values).to_f64())
            .reduce(|| 0.0, f64::max))
    }

    /// Calls `work(block, its values)` for every block of a channel, in parallel.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn update_blocks(&mut self, channel: &str, work: impl Fn(BlockId, &mut [T]) + Sync) -> Result<(), Error> {
        let at = self.channel_index(channel)?;
        let length = self.channels[at].block_len();
        let leaves = self.forest.leaves();
        self.channels[at]
            .values
            .par_chunks_exact_mut(length)
            .zip(leaves)
            .for_each(|(values, block)| work(*block, values));
        Ok(())
    }
}

/// The largest absolute value of a block.
pub(crate) fn largest_of<T: Real>(values: &[T]) -> T {
    let mut largest = [T::ZERO; 16];
    for values in values.as_chunks::<16>().0 {
        for k in 0..16 {
            let size = if values[k] < T::ZERO { -values[k] } else { values[k] };
            largest[k] = if size > largest[k] { size } else { largest[k] };
        }
    }
    largest.into_iter().fold(T::ZERO, |a, b| if b > a { b } else { a })
}

/// Whether all values of a block are finite.
fn is_finite<T: Real>(values: &[T]) -> bool {
    let mut sums = [T::ZERO; 16];
    for values in values.as_chunks::<16>().0 {
        for k in 0..16 {
            sums[k] += T::ZERO * values[k];
        }
    }
    sums.iter().all(|sum| *sum == T::ZERO)
}

/// The coordinates of a point within its block.
pub(crate) fn point_coordinates(point: usize) -> [usize; 3] {
    [
        point % BLOCK_SIDE,
        point / BLOCK_SIDE % BLOCK_SIDE,
        point / (BLOCK_SIDE * BLOCK_SIDE),
    ]
}

fn cell_average<const C: usize>(x: [f64; 3], h: f64, function: &impl Fn([f64; 3]) -> [f64; C]) -> [f64; C] {
    let mut average = [0.0; C];
    for (dz, wz) in GAUSS {
        for (dy, wy) in GAUSS {
            for (dx, wx) in GAUSS {
                let value = function([x[0] + dx * h, x[1] + dy * h, x[2] + dz * h]);
                for c in 0..C {
                    average[c] += wx * wy * wz * value[c];
                }
            }
        }
    }
    average
}
