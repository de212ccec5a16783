//! A block with its ghosts: the points around it.

use super::regions::OfWidth;
use super::{Channel, Grid, Region};
use crate::error::Error;
use crate::forest::{BLOCK_SIDE, BlockId};
use crate::wavelet::Patch;
use farfield::simd::Real;
use rayon::prelude::*;
use std::sync::Arc;

/// The width of the widest ghost layer: half a block. All leaves it reaches touch the block, so they differ from it by
/// one level at most.
pub const MAX_GHOSTS: usize = BLOCK_SIDE / 2;

/// The values of one block and of a layer of points around it, all at the block's spacing.
#[derive(Debug, Clone)]
pub struct Ghosted<T> {
    block: BlockId,
    spacing: f64,
    width: usize,
    components: Vec<Patch<T>>,
    /// Scratch memory for prediction.
    between: Vec<T>,
}

impl<T: Real> Ghosted<T> {
    /// A block without values.
    pub(crate) fn empty(block: BlockId) -> Self {
        Self {
            block,
            spacing: 0.0,
            width: 0,
            components: Vec::new(),
            between: Vec::new(),
        }
    }

    /// The block.
    pub fn block(&self) -> BlockId {
        self.block
    }

    /// The distance between its points.
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// The width of the layer around it.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Points along a side, including the layer at both ends.
    pub fn side(&self) -> usize {
        BLOCK_SIDE + 2 * self.width
    }

    /// All values of one component, x fastest, then y, then z, with [`Ghosted::side`] points along each axis.
    pub fn values(&self, component: usize) -> &[T] {
        &self.components[component].values
    }

    /// The index of point (x, y, z) of the block in [`Ghosted::values`]; points with a coordinate that is negative or
    /// at least 16 are ghosts.
    #[inline(always)]
    pub fn index(&self, point: [isize; 3]) -> usize {
        let (side, width) = (self.side() as isize, self.width as isize);
        (((point[2] + width) * side + point[1] + width) * side + point[0] + width) as usize
    }

    pub(crate) fn patch(&self, component: usize) -> &Patch<T> {
        &self.components[component]
    }
}

impl<T: Real> Grid<T> {
    /// A block of a channel with a layer of ghosts around it.
    ///
    /// # Errors
    /// [`Error::UnknownChannel`], [`Error::GhostWidth`].
    ///
    /// # Panics
    /// If `leaf` is not the index of a leaf.
    pub fn ghosted(&self, channel: &str, leaf: usize, width: usize) -> Result<Ghosted<T>, Error> {
        if width > MAX_GHOSTS {
            return Err(Error::GhostWidth {
                width,
                limit: MAX_GHOSTS,
            });
        }
        Ok(self.with_ghosts(self.channel(channel)?, leaf, width))
    }

    /// [`Grid::ghosted`] for a valid channel and width.
    pub(crate) fn with_ghosts(&self, channel: &Channel<T>, leaf: usize, width: usize) -> Ghosted<T> {
        let regions = self.regions.of_width(&self.forest, channel.boundary, width);
        let mut ghosted = Ghosted::empty(self.leaf(leaf));
        self.fill_ghosted(channel, &regions, leaf, &mut ghosted);
        ghosted
    }

    /// [`Grid::with_ghosts`] that reuses the memory of `ghosted`.
    pub(crate) fn fill_ghosted(&self, channel: &Channel<T>, regions: &OfWidth, leaf: usize, ghosted: &mut Ghosted<T>) {
        let region = regions.region(&self.forest, leaf);
        ghosted.block = self.leaf(leaf);
        ghosted.spacing = self.domain.spacing(ghosted.block.level);
        ghosted.width = regions.width();
        ghosted
            .components
            .resize_with(channel.components, || Patch::zeros([0; 3], [0; 3]));
        for (component, patch) in ghosted.components.iter_mut().enumerate() {
            let block = |leaf| channel.block(leaf, component);
            region.assemble_into(self.wavelet, &block, patch, &mut ghosted.between);
        }
    }

    /// The regions from which the blocks of a channel and their ghosts of the given `width` are filled.
    pub(crate) fn regions_of(&self, channel: &Channel<T>, width: usize) -> Arc<OfWidth> {
        self.regions.of_width(&self.forest, channel.boundary, width)
    }

    /// For each block, whether the channel has a nonzero value in the block or in the leaves its ghosts are filled
    /// from.
    pub(crate) fn nonzero_leaves(&self, channel: &Channel<T>, width: usize) -> Vec<bool> {
        let regions = self.regions_of(channel, width);
        let values = channel.values.par_chunks_exact(channel.block_len());
        let own: Vec<bool> = values
            .map(|values| values.iter().any(|value| *value != T::ZERO))
            .collect();
        (0..own.len())
            .into_par_iter()
            .map(|leaf| own[leaf] || regions.region(&self.forest, leaf).has_leaf(&own))
            .collect()
    }

    /// The values of a region, component by component.
    pub(crate) fn assemble(&self, region: &Region, channel: &Channel<T>) -> Vec<Patch<T>> {
        (0..channel.components)
            .map(|component| region.assemble(self.wavelet, &|leaf| channel.block(leaf, component)))
            .collect()
    }
}
