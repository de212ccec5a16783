//! The builder of a grid.

use super::{Boundary, Grid, check_memory};
use crate::error::Error;
use crate::forest::{Domain, Forest, MAX_LEVEL};
use crate::wavelet::Wavelet;
use farfield::simd::Real;
use std::marker::PhantomData;

/// Builds a [`Grid`]; see [`Grid::builder`].
#[derive(Debug, Clone)]
#[must_use = "call `build` to make the grid"]
pub struct GridBuilder<T> {
    domain: Domain,
    wavelet: Wavelet,
    boundary: Boundary,
    start_level: u8,
    forest: Option<Forest>,
    memory_cap: Option<u64>,
    channels: Vec<(String, usize)>,
    precision: PhantomData<T>,
}

impl<T: Real> GridBuilder<T> {
    pub(super) fn new(domain: Domain) -> Self {
        Self {
            domain,
            wavelet: Wavelet::AverageInterpolating5,
            boundary: Boundary::Extrapolate,
            start_level: 0,
            forest: None,
            memory_cap: None,
            channels: Vec::new(),
            precision: PhantomData,
        }
    }

    /// The wavelet (default: average-interpolating).
    pub fn wavelet(mut self, wavelet: Wavelet) -> Self {
        self.wavelet = wavelet;
        self
    }

    /// How values beyond the box are set (default: extrapolation).
    pub fn boundary(mut self, boundary: Boundary) -> Self {
        self.boundary = boundary;
        self
    }

    /// Starts with all blocks of `level` (default: the roots).
    pub fn start_level(mut self, level: u8) -> Self {
        self.start_level = level;
        self
    }

    /// Starts with the blocks of `forest`.
    pub fn forest(mut self, forest: Forest) -> Self {
        self.forest = Some(forest);
        self
    }

    /// The memory that the grid may use, in bytes (default: the available memory of the machine).
    pub fn memory_cap(mut self, bytes: u64) -> Self {
        self.memory_cap = Some(bytes);
        self
    }

    /// Adds a channel with one value per point.
    pub fn scalar(mut self, name: &str) -> Self {
        self.channels.push((name.to_owned(), 1));
        self
    }

    /// Adds a channel with three values per point.
    pub fn vector(mut self, name: &str) -> Self {
        self.channels.push((name.to_owned(), 3));
        self
    }

    /// Makes the grid; all values are zero.
    ///
    /// # Errors
    /// [`Error::Level`], [`Error::Leaves`] for a forest of another box, [`Error::DuplicateChannel`],
    /// [`Error::Memory`].
    pub fn build(self) -> Result<Grid<T>, Error> {
        if self.start_level > MAX_LEVEL {
            return Err(Error::Level {
                level: self.start_level,
                limit: MAX_LEVEL,
                why: "the finest possible level is",
            });
        }
        let roots = self.domain.roots();
        let forest = match self.forest {
            Some(forest) if forest.roots() != roots => {
                return Err(Error::Leaves {
                    reason: format!("they have {:?} roots, the box has {roots:?}", forest.roots()),
                });
            }
            Some(forest) => forest,
            None => {
                let blocks = roots
                    .iter()
                    .map(|count| (*count as usize) << self.start_level)
                    .product();
                let components = self.channels.iter().map(|(_, count)| count).sum();
                let cap = self.memory_cap.or_else(farfield::machine::available_memory);
                check_memory::<T>(blocks, components, cap)?;
                Forest::uniform(roots, self.start_level)
            }
        };
        let mut grid = Grid {
            domain: self.domain,
            wavelet: self.wavelet,
            forest,
            channels: Vec::new(),
            boundary: self.boundary,
            memory_cap: self.memory_cap,
            regions: Default::default(),
        };
        for (name, components) in self.channels {
            grid.add_channel(&name, components)?;
        }
        Ok(grid)
    }
}
