//! The points of a sum.

use crate::geometry::Geometry;
use crate::kernel::Sizes;
use crate::simd::Real;

/// Sources, targets, and core sizes.
#[derive(Debug, Clone, Copy)]
pub struct Points<'a, T: Real, G: Geometry> {
    /// The sources.
    pub sources: &'a [G::Point<T>],
    /// The targets; `None` if the sources are the targets.
    pub targets: Option<&'a [G::Point<T>]>,
    pub(crate) sizes: &'a Sizes<T>,
    largest_size: f64,
}

impl<'a, T: Real, G: Geometry> Points<'a, T, G> {
    /// `sources` with their core sizes or softening lengths, and `targets`, which is `None` if the sources are the
    /// targets.
    pub fn new(sources: &'a [G::Point<T>], targets: Option<&'a [G::Point<T>]>, sizes: &'a Sizes<T>) -> Self {
        Self {
            sources,
            targets,
            sizes,
            largest_size: sizes.largest(),
        }
    }

    /// The core sizes or softening lengths of the sources.
    pub fn sizes(&self) -> &'a Sizes<T> {
        self.sizes
    }

    /// The largest core size; zero if no source has one.
    pub fn largest_size(&self) -> f64 {
        self.largest_size
    }

    /// The number of sources and of targets.
    pub fn counts(&self) -> Counts {
        Counts {
            sources: self.sources.len(),
            targets: self.targets.map(<[_]>::len),
        }
    }
}

/// The number of sources, and of targets unless these are the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// The number of sources.
    pub sources: usize,
    /// The number of targets; `None` if the sources are the targets.
    pub targets: Option<usize>,
}

impl Counts {
    /// The number of targets.
    pub fn targets(self) -> usize {
        self.targets.unwrap_or(self.sources)
    }

    /// The number of sources or of targets, whichever is larger.
    pub fn larger(self) -> usize {
        self.sources.max(self.targets())
    }

    /// The number of pairs of a source and a target.
    pub fn pairs(self) -> u64 {
        self.sources as u64 * self.targets() as u64
    }

    /// The number of points; those that are both source and target count once.
    pub fn points(self) -> usize {
        self.sources + self.targets.unwrap_or(0)
    }
}
