//! The input of a plan: a valid sum and its points, on the host or on the device.

use super::kind::PairKind;
use crate::device::{Precision, Values};
use crate::kernel::SizeKind;
use farfield_core::kernel::Sizes;
use farfield_core::sum::Counts;
use farfield_core::{Plane, Sum};

/// A valid sum with its points. The points of `asked` itself are not read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SumInput<'a, T: Precision> {
    pub asked: Sum<'a, T, Plane>,
    pub kind: PairKind,
    /// x and y of each source.
    pub sources: Values<'a, T>,
    /// `None` if the sources are the targets.
    pub targets: Option<Values<'a, T>>,
    /// Core sizes, if each source has its own.
    pub sizes: Values<'a, T>,
}

impl<'a, T: Precision> SumInput<'a, T> {
    /// The sum with its own points.
    pub fn of(asked: &Sum<'a, T, Plane>) -> Self {
        let kind = PairKind::of(asked);
        let sizes = match asked.points.sizes() {
            Sizes::PerSource(sizes) if kind.sizes == SizeKind::PerSource => &sizes[..],
            _ => &[],
        };
        Self {
            asked: *asked,
            kind,
            sources: Values::Host(asked.points.sources.as_flattened()),
            targets: asked.points.targets.map(|targets| Values::Host(targets.as_flattened())),
            sizes: Values::Host(sizes),
        }
    }

    pub fn counts(&self) -> Counts {
        Counts {
            sources: self.sources.len() / 2,
            targets: self.targets.map(|targets| targets.len() / 2),
        }
    }

    /// The squared core size of all sources; zero if there is none or each has its own.
    pub fn global_size2(&self) -> T {
        match self.asked.points.sizes() {
            Sizes::Global(size) if self.kind.sizes == SizeKind::Global => *size * *size,
            _ => T::ZERO,
        }
    }

    /// The number of strength components per source.
    pub fn parts(&self) -> usize {
        self.asked.request.kernel.strength_components()
    }

    /// The number of runs of the engine for each vector: one for each part that is summed alone.
    pub fn runs(&self) -> usize {
        if self.kind.complex { 1 } else { self.parts() }
    }
}
