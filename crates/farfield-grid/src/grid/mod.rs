//! Numbers on a forest of blocks.

mod build;
mod fill;
mod ghosts;
mod moments;
mod region;
mod regions;

pub use build::GridBuilder;
pub use fill::Sampling;
pub use ghosts::{Ghosted, MAX_GHOSTS};
pub use region::Boundary;

pub(crate) use fill::{largest_of, point_coordinates};
pub(crate) use region::Region;
pub(crate) use regions::OfWidth;

use regions::Regions;

use crate::error::Error;
use crate::forest::{BLOCK_POINTS, BlockId, Domain, Forest, Lattice};
use crate::wavelet::Wavelet;
use farfield::simd::Real;

/// A named field: one number (scalar) or three (vector) per point.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel<T> {
    name: String,
    components: usize,
    /// Beyond the box.
    boundary: Boundary,
    /// Block by block, component by component, point by point; x runs fastest, then y, then z.
    values: Vec<T>,
}

impl<T: Real> Channel<T> {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Numbers per point.
    pub fn components(&self) -> usize {
        self.components
    }

    /// All numbers: block by block in the order of [`Forest::leaves`], component by component, point by point (x
    /// fastest, then y, then z).
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The numbers of one component of one block.
    pub fn block(&self, leaf: usize, component: usize) -> &[T] {
        &self.values[(leaf * self.components + component) * BLOCK_POINTS..][..BLOCK_POINTS]
    }

    /// What lies beyond the box.
    pub fn boundary(&self) -> Boundary {
        self.boundary
    }

    /// Numbers of one block.
    pub(crate) fn block_len(&self) -> usize {
        self.components * BLOCK_POINTS
    }
}

/// A multiresolution grid: a box, the blocks in it, and channels of numbers on them.
#[derive(Debug, Clone)]
pub struct Grid<T> {
    domain: Domain,
    wavelet: Wavelet,
    forest: Forest,
    channels: Vec<Channel<T>>,
    /// Beyond the box.
    boundary: Boundary,
    memory_cap: Option<u64>,
    /// Of this forest.
    regions: Regions,
}

impl<T: Real> Grid<T> {
    /// Describes a grid on `domain`.
    pub fn builder(domain: Domain) -> GridBuilder<T> {
        GridBuilder::new(domain)
    }

    /// The box.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// What relates the levels.
    pub fn wavelet(&self) -> Wavelet {
        self.wavelet
    }

    /// What lies beyond the box, unless a channel says otherwise.
    pub fn boundary(&self) -> Boundary {
        self.boundary
    }

    /// The blocks.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// All channels.
    pub fn channels(&self) -> &[Channel<T>] {
        &self.channels
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.forest.leaves().len() * BLOCK_POINTS
    }

    /// The smallest distance between points.
    pub fn finest_spacing(&self) -> f64 {
        self.domain.spacing(self.forest.finest_level())
    }

    /// Where a point of a leaf is.
    pub fn position(&self, leaf: usize, point: [usize; 3]) -> [f64; 3] {
        self.lattice(leaf).at(point.map(|c| c as isize))
    }

    /// Where the points of a leaf are.
    pub(crate) fn lattice(&self, leaf: usize) -> Lattice {
        self.domain.lattice(self.wavelet, self.forest.leaves()[leaf])
    }

    /// The channel of that name.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn channel(&self, name: &str) -> Result<&Channel<T>, Error> {
        Ok(&self.channels[self.channel_index(name)?])
    }

    /// The numbers of a channel, to be changed; ordered as [`Channel::values`] says.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn values_mut(&mut self, name: &str) -> Result<&mut [T], Error> {
        let at = self.channel_index(name)?;
        Ok(&mut self.channels[at].values)
    }

    /// Sets a channel to zero, in fresh memory: what it had goes back, and the system gives new pages when it is written. For channels whose
    /// numbers are not needed while something large is done.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn clear(&mut self, name: &str) -> Result<(), Error> {
        let values = self.values_vec_mut(name)?;
        let count = values.len();
        // First away with it: both are never there together.
        *values = Vec::new();
        *values = vec![T::ZERO; count];
        Ok(())
    }

    /// The numbers of a channel as the vector that holds them, so that it can be taken out for a while.
    pub(crate) fn values_vec_mut(&mut self, name: &str) -> Result<&mut Vec<T>, Error> {
        let at = self.channel_index(name)?;
        Ok(&mut self.channels[at].values)
    }

    /// Adds a channel of zeros: a scalar has one component, a vector three, and other numbers are fine too.
    ///
    /// # Errors
    /// [`Error::DuplicateChannel`], [`Error::Components`] for none, [`Error::Memory`].
    pub fn add_channel(&mut self, name: &str, components: usize) -> Result<(), Error> {
        if self.channels.iter().any(|channel| channel.name == name) {
            return Err(Error::DuplicateChannel { name: name.to_owned() });
        }
        if components == 0 {
            return Err(Error::Components {
                name: name.to_owned(),
                found: 0,
                expected: 1,
            });
        }
        let blocks = self.forest.leaves().len();
        self.check_memory(blocks, self.components() + components)?;
        self.channels.push(Channel {
            name: name.to_owned(),
            components,
            boundary: self.boundary,
            values: vec![T::ZERO; blocks * components * BLOCK_POINTS],
        });
        Ok(())
    }

    /// Says what lies beyond the box for one channel (from the start: what the grid was built with).
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn set_boundary(&mut self, channel: &str, boundary: Boundary) -> Result<(), Error> {
        let at = self.channel_index(channel)?;
        self.channels[at].boundary = boundary;
        Ok(())
    }

    /// Removes a channel.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn remove_channel(&mut self, name: &str) -> Result<Channel<T>, Error> {
        let at = self.channel_index(name)?;
        Ok(self.channels.remove(at))
    }

    /// Numbers per point, over all channels.
    fn components(&self) -> usize {
        self.channels.iter().map(|channel| channel.components).sum()
    }

    fn channel_index(&self, name: &str) -> Result<usize, Error> {
        let found = self.channels.iter().position(|channel| channel.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.channels.iter().map(|channel| channel.name.as_str()).collect();
            Error::UnknownChannel {
                name: name.to_owned(),
                available: names.join(", "),
            }
        })
    }

    /// Bytes that a grid of the given number of blocks takes while it is adapted, with the old and the new numbers of one channel in
    /// memory.
    pub fn memory_forecast(&self, blocks: usize) -> u64 {
        forecast::<T>(blocks, self.components())
    }

    /// The cap on memory, in bytes: what was set, or else what the machine has available.
    fn memory_cap(&self) -> Option<u64> {
        self.memory_cap.or_else(farfield::machine::available_memory)
    }

    /// What is left for other uses, in bytes: of the cap that was set after the numbers, or else what is available.
    pub(crate) fn memory_left(&self) -> Option<u64> {
        let numbers = (self.components() * self.points() * size_of::<T>()) as u64;
        match self.memory_cap {
            Some(cap) => Some(cap.saturating_sub(numbers)),
            None => farfield::machine::available_memory(),
        }
    }

    fn check_memory(&self, blocks: usize, components: usize) -> Result<(), Error> {
        check_memory::<T>(blocks, components, self.memory_cap())
    }

    /// Puts new numbers, which `moved` makes from the old ones of a channel, on a new forest. One channel after the other: only
    /// one of them is in memory twice.
    pub(crate) fn replace(&mut self, forest: Forest, moved: impl Fn(&Self, &Channel<T>, &Forest) -> Vec<T>) {
        for at in 0..self.channels.len() {
            let values = moved(self, &self.channels[at], &forest);
            debug_assert_eq!(values.len(), forest.leaves().len() * self.channels[at].block_len());
            self.channels[at].values = values;
        }
        self.forest = forest;
        self.regions.clear();
    }

    /// Refuses a forest that would not fit.
    pub(crate) fn check_forest_fits(&self, forest: &Forest) -> Result<(), Error> {
        self.check_memory(forest.leaves().len(), self.components())
    }

    /// A leaf.
    pub(crate) fn leaf(&self, leaf: usize) -> BlockId {
        self.forest.leaves()[leaf]
    }
}

/// Components of a vector, the widest channel.
const WIDEST: usize = 3;

/// The numbers, those of one channel again (adaptation holds its old and its new ones), and the names and keys of the blocks.
fn forecast<T>(blocks: usize, components: usize) -> u64 {
    let structure = 2 * (size_of::<BlockId>() + size_of::<u64>());
    let numbers = (components + components.min(WIDEST)) * BLOCK_POINTS;
    blocks as u64 * (numbers * size_of::<T>() + structure) as u64
}

fn check_memory<T>(blocks: usize, components: usize, cap: Option<u64>) -> Result<(), Error> {
    let needed = forecast::<T>(blocks, components);
    match cap {
        Some(cap) if needed > cap => Err(Error::Memory {
            blocks,
            needed_mib: needed as f64 / 1024.0 / 1024.0,
            cap_mib: cap as f64 / 1024.0 / 1024.0,
        }),
        _ => Ok(()),
    }
}
