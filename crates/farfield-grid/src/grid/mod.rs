//! Named channels of values on a forest of blocks.

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

/// A named field with one value (scalar) or three (vector) per point.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel<T> {
    name: String,
    components: usize,
    /// How values beyond the box are set.
    boundary: Boundary,
    /// Block by block, component by component, point by point; x runs fastest, then y, then z.
    values: Vec<T>,
}

impl<T: Real> Channel<T> {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of values per point.
    pub fn components(&self) -> usize {
        self.components
    }

    /// All values: block by block in the order of [`Forest::leaves`], component by component, point by point (x
    /// fastest, then y, then z).
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The values of one component of one block.
    pub fn block(&self, leaf: usize, component: usize) -> &[T] {
        &self.values[(leaf * self.components + component) * BLOCK_POINTS..][..BLOCK_POINTS]
    }

    /// How values beyond the box are set.
    pub fn boundary(&self) -> Boundary {
        self.boundary
    }

    /// The number of values of one block.
    pub(crate) fn block_len(&self) -> usize {
        self.components * BLOCK_POINTS
    }
}

/// A multiresolution grid: a box, the blocks in it, and channels of values on them.
#[derive(Debug, Clone)]
pub struct Grid<T> {
    domain: Domain,
    wavelet: Wavelet,
    forest: Forest,
    channels: Vec<Channel<T>>,
    /// The boundary of new channels.
    boundary: Boundary,
    memory_cap: Option<u64>,
    /// Cached regions of the present forest.
    regions: Regions,
}

impl<T: Real> Grid<T> {
    /// Starts building a grid on `domain`.
    pub fn builder(domain: Domain) -> GridBuilder<T> {
        GridBuilder::new(domain)
    }

    /// The box.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The wavelet that relates the levels.
    pub fn wavelet(&self) -> Wavelet {
        self.wavelet
    }

    /// How values beyond the box are set in channels without a boundary of their own.
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

    /// The number of points.
    pub fn points(&self) -> usize {
        self.forest.leaves().len() * BLOCK_POINTS
    }

    /// The smallest distance between points.
    pub fn finest_spacing(&self) -> f64 {
        self.domain.spacing(self.forest.finest_level())
    }

    /// The position of a point of a leaf.
    pub fn position(&self, leaf: usize, point: [usize; 3]) -> [f64; 3] {
        self.lattice(leaf).at(point.map(|c| c as isize))
    }

    /// The positions of the points of a leaf.
    pub(crate) fn lattice(&self, leaf: usize) -> Lattice {
        self.domain.lattice(self.wavelet, self.forest.leaves()[leaf])
    }

    /// The channel called `name`.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn channel(&self, name: &str) -> Result<&Channel<T>, Error> {
        Ok(&self.channels[self.channel_index(name)?])
    }

    /// The values of a channel, mutable, in the order of [`Channel::values`].
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn values_mut(&mut self, name: &str) -> Result<&mut [T], Error> {
        let at = self.channel_index(name)?;
        Ok(&mut self.channels[at].values)
    }

    /// Sets a channel to zero and releases its memory: it gets new pages from the system only when it is written. For
    /// channels whose values are not needed during a computation that needs much memory.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`].
    pub fn clear(&mut self, name: &str) -> Result<(), Error> {
        let values = self.values_vec_mut(name)?;
        let count = values.len();
        // Frees the old memory before the new is allocated.
        *values = Vec::new();
        *values = vec![T::ZERO; count];
        Ok(())
    }

    /// The vector that holds the values of a channel, so that it can be taken out temporarily.
    pub(crate) fn values_vec_mut(&mut self, name: &str) -> Result<&mut Vec<T>, Error> {
        let at = self.channel_index(name)?;
        Ok(&mut self.channels[at].values)
    }

    /// Adds a channel of zeros. A scalar has one component, a vector three; other positive numbers are allowed.
    ///
    /// # Errors
    /// [`Error::DuplicateChannel`], [`Error::Components`] for zero components, [`Error::Memory`].
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

    /// Chooses how values of one channel beyond the box are set (default: [`Grid::boundary`]).
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

    /// Values per point, over all channels.
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

    /// Bytes that this grid needs with `blocks` blocks while it is adapted, when the old and the new values of one
    /// channel are in memory.
    pub fn memory_forecast(&self, blocks: usize) -> u64 {
        forecast::<T>(blocks, self.components())
    }

    /// The cap on memory, in bytes: the one that was set, or else the available memory of the machine.
    fn memory_cap(&self) -> Option<u64> {
        self.memory_cap.or_else(farfield::machine::available_memory)
    }

    /// The memory left for other uses, in bytes: the cap that was set minus the memory of the values, or else the
    /// available memory of the machine.
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

    /// Replaces the forest, and the values of each channel by those that `moved` computes from the old ones. Channels
    /// are replaced one after the other, so that only one is in memory twice.
    pub(crate) fn replace(&mut self, forest: Forest, moved: impl Fn(&Self, &Channel<T>, &Forest) -> Vec<T>) {
        for at in 0..self.channels.len() {
            let values = moved(self, &self.channels[at], &forest);
            debug_assert_eq!(values.len(), forest.leaves().len() * self.channels[at].block_len());
            self.channels[at].values = values;
        }
        self.forest = forest;
        self.regions.clear();
    }

    /// Returns an error if a grid of this forest would exceed the memory cap.
    pub(crate) fn check_forest_fits(&self, forest: &Forest) -> Result<(), Error> {
        self.check_memory(forest.leaves().len(), self.components())
    }

    /// The leaf with index `leaf`.
    pub(crate) fn leaf(&self, leaf: usize) -> BlockId {
        self.forest.leaves()[leaf]
    }
}

/// Components of a vector, the widest channel.
const WIDEST: usize = 3;

/// The memory, in bytes, of all values, of one channel a second time (adaptation holds its old and its new values), and
/// of the ids and keys of the blocks.
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
