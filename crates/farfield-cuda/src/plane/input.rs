//! What is summed: a sum that was checked and its points, wherever they are.

use super::kind::PairKind;
use crate::device::{Precision, Values};
use crate::kernel::SizeKind;
use farfield_core::kernel::Sizes;
use farfield_core::plane::CheckedSum;

/// How many points there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// The sources.
    pub sources: usize,
    /// The targets; `None` if they are the sources.
    pub targets: Option<usize>,
}

impl Counts {
    /// Those of a sum that has its points.
    pub fn of<T>(checked: &CheckedSum<T>) -> Self {
        Self {
            sources: checked.sources.len(),
            targets: checked.targets.map(<[_]>::len),
        }
    }

    /// How many targets there are.
    pub fn targets(&self) -> usize {
        self.targets.unwrap_or(self.sources)
    }

    /// Sources and targets together.
    pub fn points(&self) -> usize {
        self.sources + self.targets.unwrap_or(0)
    }

    /// How many pairs of a source and a target.
    pub fn pairs(&self) -> u64 {
        self.sources as u64 * self.targets() as u64
    }
}

/// A checked sum with its points. Those of `checked` itself are not read.
#[derive(Debug, Clone, Copy)]
pub(super) struct SumInput<'a, T> {
    pub checked: CheckedSum<'a, T>,
    pub kind: PairKind,
    /// x and y of each.
    pub sources: Values<'a, T>,
    /// `None`: the sources are the targets.
    pub targets: Option<Values<'a, T>>,
    /// Core sizes, where each source has its own.
    pub sizes: Values<'a, T>,
}

impl<'a, T: Precision> SumInput<'a, T> {
    /// With the points that the sum has itself.
    pub fn of(checked: &CheckedSum<'a, T>) -> Self {
        let kind = PairKind::of(checked);
        let sizes = match checked.sizes {
            Sizes::PerSource(sizes) if kind.sizes == SizeKind::PerSource => &sizes[..],
            _ => &[],
        };
        Self {
            checked: *checked,
            kind,
            sources: Values::Host(checked.sources.as_flattened()),
            targets: checked.targets.map(|targets| Values::Host(targets.as_flattened())),
            sizes: Values::Host(sizes),
        }
    }

    pub fn counts(&self) -> Counts {
        Counts {
            sources: self.sources.len() / 2,
            targets: self.targets.map(|targets| targets.len() / 2),
        }
    }

    /// The squared core size of all sources; zero where there is none or each has its own.
    pub fn global_size2(&self) -> T {
        match self.checked.sizes {
            Sizes::Global(size) if self.kind.sizes == SizeKind::Global => *size * *size,
            _ => T::ZERO,
        }
    }

    /// Numbers of strength per source.
    pub fn parts(&self) -> usize {
        1 + usize::from(self.checked.complex)
    }

    /// Runs of the engine for each vector: one for each part that is summed alone.
    pub fn runs(&self) -> usize {
        if self.kind.complex { 1 } else { self.parts() }
    }
}
