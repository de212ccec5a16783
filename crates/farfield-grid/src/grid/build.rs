//! A grid, described step by step.

use super::{Boundary, Grid, check_memory};
use crate::error::Error;
use crate::forest::{Domain, Forest, MAX_LEVEL};
use crate::wavelet::Wavelet;
use farfield::simd::Real;
use std::marker::PhantomData;

/// A grid to be made; see [`Grid::builder`].
#[derive(Debug, Clone)]
#[must_use = "nothing is made before `build`"]
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

    /// What relates the levels (default: average-interpolating).
    pub fn wavelet(mut self, wavelet: Wavelet) -> Self {
        self.wavelet = wavelet;
        self
    }

    /// What lies beyond the box (default: extrapolation).
    pub fn boundary(mut self, boundary: Boundary) -> Self {
        self.boundary = boundary;
        self
    }

    /// Start with all blocks of this level (default: the roots).
    pub fn start_level(mut self, level: u8) -> Self {
        self.start_level = level;
        self
    }

    /// Start with these blocks.
    pub fn forest(mut self, forest: Forest) -> Self {
        self.forest = Some(forest);
        self
    }

    /// Refuse to grow beyond this many bytes (default: what the machine has available).
    pub fn memory_cap(mut self, bytes: u64) -> Self {
        self.memory_cap = Some(bytes);
        self
    }

    /// Adds a channel of one number per point.
    pub fn scalar(mut self, name: &str) -> Self {
        self.channels.push((name.to_owned(), 1));
        self
    }

    /// Adds a channel of three numbers per point.
    pub fn vector(mut self, name: &str) -> Self {
        self.channels.push((name.to_owned(), 3));
        self
    }

    /// Makes the grid; all numbers are zero.
    ///
    /// # Errors
    /// [`Error::Level`], [`Error::Leaves`] for a forest of another box, [`Error::DuplicateChannel`],
    /// [`Error::Memory`].
    pub fn build(self) -> Result<Grid<T>, Error> {
        if self.start_level > MAX_LEVEL {
            return Err(Error::Level {
                level: self.start_level,
                limit: MAX_LEVEL,
                why: "can be numbered",
            });
        }
        let roots = self.domain.roots();
        let forest = match self.forest {
            Some(forest) if forest.roots() != roots => {
                return Err(Error::Leaves {
                    reason: format!("they belong to {:?} roots, the box has {roots:?}", forest.roots()),
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
