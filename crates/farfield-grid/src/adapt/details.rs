//! The largest wavelet details of each block.

use crate::error::Error;
use crate::forest::BLOCK_SIDE;
use crate::grid::Grid;
use crate::wavelet::ZONES;
use farfield::simd::Real;
use rayon::prelude::*;

/// The width of the ghost layer needed to compute the details of a block.
const REACH: usize = 4;
/// The width of the rim: a large detail within this many points of a face requires the block beyond it to be as fine.
pub(super) const RIM: usize = 4;

/// The largest absolute details of a block, zone by zone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Zones([f64; ZONES]);

impl Zones {
    /// The largest detail of all zones; NaN if any is NaN.
    pub fn largest(&self) -> f64 {
        larger(self.0.iter().copied())
    }

    /// The largest detail within [`RIM`] points of the face, edge or corner in `direction`.
    pub fn beside(&self, direction: [i32; 3]) -> f64 {
        let touches = |zone: usize| {
            (0..3).all(|axis| {
                let part = zone / [1, 3, 9][axis] % 3;
                direction[axis] == 0 || part == if direction[axis] < 0 { 0 } else { 2 }
            })
        };
        larger((0..ZONES).filter(|zone| touches(*zone)).map(|zone| self.0[zone]))
    }
}

/// The maximum of non-negative values; unlike `f64::max`, it does not drop a NaN.
fn larger(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |a: f64, b| if b > a || b.is_nan() { b } else { a })
}

impl<T: Real> Grid<T> {
    /// The largest absolute detail of each block, over all components of `channels`, in parallel.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn details(&self, channels: &[&str]) -> Result<Vec<f64>, Error> {
        Ok(self.details_by_zone(channels)?.iter().map(Zones::largest).collect())
    }

    /// [`Grid::details`], zone by zone.
    pub(super) fn details_by_zone(&self, channels: &[&str]) -> Result<Vec<Zones>, Error> {
        let channels: Vec<_> = channels
            .iter()
            .map(|name| self.channel(name))
            .collect::<Result<_, _>>()?;
        Ok((0..self.forest().leaves().len())
            .into_par_iter()
            .map(|leaf| {
                let low = self.leaf(leaf).at.map(|c| i64::from(c) * BLOCK_SIDE as i64);
                let mut all = [0.0f64; ZONES];
                for channel in &channels {
                    let ghosted = self.with_ghosts(channel, leaf, REACH);
                    for component in 0..channel.components() {
                        let patch = ghosted.patch(component);
                        let found = self.wavelet().largest_details(patch, low, [BLOCK_SIDE; 3], RIM);
                        for (all, found) in all.iter_mut().zip(found) {
                            *all = larger([*all, found].into_iter());
                        }
                    }
                }
                Zones(all)
            })
            .collect())
    }
}
