//! True sums at a few targets: over all sources, in double precision, vectorised, with compensated summation.

use super::look::WITH_ABSOLUTE;
use super::sample::Sample;
use crate::p2p::SortedSizes;
use crate::p2p::{Block, PairSums, Size2, Skip, Sources};
use crate::parallel::for_chunks;
use crate::plan::units::times_two_to;
use crate::simd::{Real, SimdLevel};

/// Sums over pairs with the full accuracy of double precision. Not generic, so that its loops are compiled in this
/// crate.
pub(crate) trait ExactPairs<const D: usize>: PairSums<D> + Sync {
    /// Adds the sums of a block.
    fn add_exactly(&self, simd: SimdLevel, block: &Block<f64, D>, sums: &mut [f64]);
    /// Adds the sums of absolute contributions, one for each number of derivatives; `block` has one strength per
    /// source.
    fn add_absolute(&self, simd: SimdLevel, block: &Block<f64, D>, sums: &mut [f64]);
}

/// Every `stride`-th value of an array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column<'a, T> {
    pub data: &'a [T],
    pub stride: usize,
}

impl<'a, T: Real> CoreSizes<'a, T> {
    /// The core sizes of an engine.
    pub fn of(sorted: &'a SortedSizes<T>) -> Self {
        match sorted {
            SortedSizes::Global(size2) => Self::Square(size2.to_f64()),
            SortedSizes::PerSource(size2) => Self::Squares(size2),
        }
    }
}

/// Core sizes or their squares.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CoreSizes<'a, T> {
    /// One squared size for all sources.
    Square(f64),
    /// A squared size for each source.
    Squares(&'a [T]),
    /// A size for each source.
    Sizes(&'a [T]),
}

/// Sources in any layout: point by point as callers store them, or axis by axis as engines do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceArrays<'a, T, const D: usize> {
    pub count: usize,
    pub position: [Column<'a, T>; D],
    /// The strengths of one vector, a column for each component.
    pub strengths: [Column<'a, T>; MOST_STRENGTHS],
    /// The index of each source among the strengths; `None` for the identity.
    pub strength_permutation: Option<&'a [u32]>,
    pub sizes: CoreSizes<'a, T>,
    /// The units, as powers of two: of lengths, and of each component of the strengths.
    pub units: (i32, [i32; MOST_STRENGTHS]),
}

/// The largest number of strength components per source.
pub(crate) const MOST_STRENGTHS: usize = 6;
/// The largest number of sums per target.
const MOST_SUMS: usize = 16;
/// The number of absolute contributions per target, one for each number of derivatives.
pub const ABSOLUTE: usize = 3;

/// Sources per block; each block's sum is added to the compensated total.
const BLOCK: usize = 512;
/// Sources per task.
const PIECE: usize = 16 * BLOCK;
/// Targets per pass over a block.
const TOGETHER: usize = 64;

impl<'a, T: Real, const D: usize> SourceArrays<'a, T, D> {
    /// The caller's arrays: points, and the strengths of one vector with `components` values per source.
    pub fn of_points(points: &'a [[T; D]], strengths: &'a [T], components: usize, sizes: CoreSizes<'a, T>) -> Self {
        let flat = points.as_flattened();
        Self {
            count: points.len(),
            position: std::array::from_fn(|axis| Column {
                data: flat.get(axis..).unwrap_or(&[]),
                stride: D,
            }),
            strengths: std::array::from_fn(|c| Column {
                data: if c < components {
                    strengths.get(c..).unwrap_or(&[])
                } else {
                    &[]
                },
                stride: components,
            }),
            strength_permutation: None,
            sizes,
            units: (0, [0; MOST_STRENGTHS]),
        }
    }

    /// An engine's columns, and the caller's strengths of one vector; `permutation` is the caller's index of each
    /// source.
    pub fn of_ordered(
        position: [&'a [T]; D],
        strengths: &'a [T],
        components: usize,
        permutation: Option<&'a [u32]>,
        sizes: CoreSizes<'a, T>,
    ) -> Self {
        Self {
            count: position[0].len(),
            position: position.map(|data| Column { data, stride: 1 }),
            strength_permutation: permutation,
            ..Self::of_points(&[], strengths, components, sizes)
        }
    }

    /// The sources with the first component of the strengths only, and with the second only.
    pub fn by_part(&self) -> [Self; 2] {
        [0, 1].map(|part| Self {
            strengths: [self.strengths[part]; MOST_STRENGTHS],
            ..*self
        })
    }

    /// An engine's columns, and its strengths of one vector, component by component.
    pub fn of_columns(position: [&'a [T]; D], strengths: &'a [T], components: usize, sizes: CoreSizes<'a, T>) -> Self {
        let count = position[0].len();
        Self {
            count,
            position: position.map(|data| Column { data, stride: 1 }),
            strengths: std::array::from_fn(|c| Column {
                data: if c < components {
                    &strengths[c * count..(c + 1) * count]
                } else {
                    &[]
                },
                stride: 1,
            }),
            strength_permutation: None,
            sizes,
            units: (0, [0; MOST_STRENGTHS]),
        }
    }
}

/// A block of up to [`BLOCK`] sources in double precision.
struct Loaded<const D: usize> {
    position: [[f64; BLOCK]; D],
    strengths: [f64; MOST_STRENGTHS * BLOCK],
    size2: [f64; BLOCK],
    /// The squared core size if all sources share one.
    global: Option<f64>,
    count: usize,
}

impl<const D: usize> Loaded<D> {
    fn new() -> Self {
        Self {
            position: [[0.0; BLOCK]; D],
            strengths: [0.0; MOST_STRENGTHS * BLOCK],
            size2: [0.0; BLOCK],
            global: Some(0.0),
            count: 0,
        }
    }

    fn load<T: Real>(&mut self, sources: &SourceArrays<T, D>, first: usize, components: usize) {
        let (length, strength_units) = sources.units;
        self.count = (sources.count - first).min(BLOCK);
        let fill = |out: &mut [f64], column: &Column<T>, unit: i32| {
            for (k, out) in out.iter_mut().enumerate() {
                *out = times_two_to(column.data[(first + k) * column.stride].to_f64(), -unit);
            }
        };
        for (out, column) in self.position.iter_mut().zip(&sources.position) {
            fill(&mut out[..self.count], column, length);
        }
        let columns = sources.strengths.iter().zip(strength_units).take(components);
        for (out, (column, strength)) in self.strengths.chunks_mut(BLOCK).zip(columns) {
            match sources.strength_permutation {
                None => fill(&mut out[..self.count], column, strength),
                Some(permutation) => {
                    for (out, at) in out[..self.count].iter_mut().zip(&permutation[first..]) {
                        *out = times_two_to(column.data[*at as usize * column.stride].to_f64(), -strength);
                    }
                }
            }
        }
        self.global = None;
        let size2 = &mut self.size2[..self.count];
        match sources.sizes {
            CoreSizes::Square(square) => self.global = Some(square),
            CoreSizes::Squares(data) => fill(size2, &Column { data, stride: 1 }, 0),
            CoreSizes::Sizes(data) => {
                fill(size2, &Column { data, stride: 1 }, length);
                size2.iter_mut().for_each(|size| *size *= *size);
            }
        }
    }

    fn sources<'b>(&'b self, strengths: &'b [f64]) -> Sources<'b, f64, D> {
        Sources {
            position: self.position.each_ref().map(|column| &column[..self.count]),
            strengths,
            stride: BLOCK,
            size2: match self.global {
                Some(size2) => Size2::Global(size2),
                None => Size2::PerSource(&self.size2[..self.count]),
            },
        }
    }

    /// The magnitude of each source's strength.
    fn magnitudes(&self, components: usize) -> [f64; BLOCK] {
        let mut squares = [0.0; BLOCK];
        for c in 0..components {
            for (square, value) in squares.iter_mut().zip(&self.strengths[c * BLOCK..]).take(self.count) {
                *square += value * value;
            }
        }
        squares.map(f64::sqrt)
    }
}

/// Adds `term` to a total and its round-off to the compensation (Neumaier).
#[inline]
fn add_compensated(total: &mut [f64; 2], term: f64) {
    let sum = total[0] + term;
    let lost = if total[0].abs() >= term.abs() {
        (total[0] - sum) + term
    } else {
        (term - sum) + total[0]
    };
    *total = [sum, total[1] + lost];
}

/// Targets of a true sum.
#[derive(Debug, Default, Clone)]
pub(crate) struct TrueTargets<const D: usize> {
    /// The coordinates, in the units of the sources.
    pub position: Vec<[f64; D]>,
    /// The index of each target among the sources; empty if targets are not sources, or if the kernel skips coincident
    /// pairs.
    pub own: Vec<u32>,
    /// The number of targets, from the first on, at which absolute contributions are summed.
    pub absolute: usize,
}

impl<const D: usize> TrueTargets<D> {
    /// Sets the drawn targets of a sample. `index` returns the index of a target in the engine's order, `positions`
    /// are the engine's columns. With `counts_itself`, each target is recorded in `own`.
    pub fn set<T: Real>(
        &mut self,
        sample: &Sample,
        positions: [&[T]; D],
        counts_itself: bool,
        index: impl Fn(usize) -> usize,
    ) {
        self.position.clear();
        self.own.clear();
        self.absolute = WITH_ABSOLUTE.min(sample.drawn.len());
        for drawn in &sample.drawn {
            let at = index(drawn.target as usize);
            self.position.push(positions.map(|column| column[at].to_f64()));
            if counts_itself {
                self.own.push(at as u32);
            }
        }
    }
}

/// The memory for true sums, reused from evaluation to evaluation.
#[derive(Debug, Default, Clone)]
pub(crate) struct TrueSums {
    columns: Vec<f64>,
    totals: Vec<[f64; 2]>,
    /// `sums[target * rows + k]`
    pub sums: Vec<f64>,
    /// `absolute[target * ABSOLUTE + derivatives]`, for the first targets.
    pub absolute: Vec<f64>,
}

impl TrueSums {
    /// Computes the sums over all sources at the targets.
    pub fn compute<T: Real, P: ExactPairs<D>, const D: usize>(
        &mut self,
        simd: SimdLevel,
        pairs: &P,
        sources: &SourceArrays<T, D>,
        targets: &TrueTargets<D>,
    ) {
        let (count, rows) = (targets.position.len(), pairs.sums());
        assert!(rows <= MOST_SUMS && pairs.strengths() <= MOST_STRENGTHS);
        self.columns.clear();
        for axis in 0..D {
            self.columns
                .extend(targets.position.iter().map(|position| position[axis]));
        }
        let of_piece = count * rows + targets.absolute * ABSOLUTE;
        let pieces = sources.count.div_ceil(PIECE);
        self.totals.clear();
        self.totals.resize(of_piece * pieces, [0.0; 2]);
        if of_piece > 0 {
            let columns = &self.columns;
            for_chunks(&mut self.totals, of_piece, &|piece, totals| {
                let task = Task {
                    simd,
                    pairs,
                    sources,
                    targets,
                    columns: std::array::from_fn(|axis| &columns[axis * count..(axis + 1) * count]),
                };
                task.run(piece, totals);
            });
        }
        let totals = &self.totals;
        let total = |at: usize| {
            let mut sum = [0.0; 2];
            for piece in 0..pieces {
                let [value, lost] = totals[piece * of_piece + at];
                add_compensated(&mut sum, value);
                sum[1] += lost;
            }
            sum[0] + sum[1]
        };
        self.sums.clear();
        self.sums.extend((0..count * rows).map(total));
        self.absolute.clear();
        self.absolute.extend((count * rows..of_piece).map(total));
    }
}

/// Sums over one piece of sources at all targets.
struct Task<'a, 'b, T, P, const D: usize> {
    simd: SimdLevel,
    pairs: &'a P,
    sources: &'a SourceArrays<'b, T, D>,
    targets: &'a TrueTargets<D>,
    columns: [&'a [f64]; D],
}

impl<T: Real, P: ExactPairs<D>, const D: usize> Task<'_, '_, T, P, D> {
    fn run(&self, piece: usize, totals: &mut [[f64; 2]]) {
        let mut block = Loaded::<D>::new();
        let end = ((piece + 1) * PIECE).min(self.sources.count);
        for first in (piece * PIECE..end).step_by(BLOCK) {
            block.load(self.sources, first, self.pairs.strengths());
            self.add_sums(&mut block, first, totals);
            if self.targets.absolute > 0 {
                self.add_absolute(&block, totals);
            }
        }
    }

    fn block<'c>(
        &'c self,
        sources: Sources<'c, f64, D>,
        range: &'c [(u32, u32)],
        targets: std::ops::Range<usize>,
    ) -> Block<'c, f64, D> {
        Block {
            positions: self.columns,
            targets,
            sources,
            own: (range, Skip::Coincident),
            others: &[],
        }
    }

    fn add_sums(&self, block: &mut Loaded<D>, first: usize, totals: &mut [[f64; 2]]) {
        let (count, rows) = (self.targets.position.len(), self.pairs.sums());
        let range = [(0, block.count as u32)];
        for start in (0..count).step_by(TOGETHER) {
            let targets = start..(start + TOGETHER).min(count);
            let n = targets.len();
            let mut sums = [0.0; TOGETHER * MOST_SUMS];
            let sources = block.sources(&block.strengths);
            let pairs = self.block(sources, &range, targets.clone());
            self.pairs.add_exactly(self.simd, &pairs, &mut sums[..rows * n]);
            for (i, target) in targets.enumerate() {
                let own = self
                    .targets
                    .own
                    .get(target)
                    .map(|own| (*own as usize).wrapping_sub(first));
                if let Some(own) = own.filter(|own| *own < block.count) {
                    // A target among these sources does not act on itself.
                    let alone = self.without(block, own, target);
                    (0..rows).for_each(|k| sums[k * n + i] = alone[k]);
                }
                for k in 0..rows {
                    add_compensated(&mut totals[target * rows + k], sums[k * n + i]);
                }
            }
        }
    }

    /// The sums at target `target` without source `source`.
    fn without(&self, block: &mut Loaded<D>, source: usize, target: usize) -> [f64; MOST_SUMS] {
        let components = self.pairs.strengths();
        let mut strengths = [0.0; MOST_STRENGTHS];
        for (c, strength) in strengths.iter_mut().enumerate().take(components) {
            *strength = std::mem::replace(&mut block.strengths[c * BLOCK + source], 0.0);
        }
        let mut sums = [0.0; MOST_SUMS];
        let range = [(0, block.count as u32)];
        let pairs = self.block(block.sources(&block.strengths), &range, target..target + 1);
        self.pairs
            .add_exactly(self.simd, &pairs, &mut sums[..self.pairs.sums()]);
        for (c, strength) in strengths.iter().enumerate().take(components) {
            block.strengths[c * BLOCK + source] = *strength;
        }
        sums
    }

    fn add_absolute(&self, block: &Loaded<D>, totals: &mut [[f64; 2]]) {
        let from = self.targets.position.len() * self.pairs.sums();
        let magnitudes = block.magnitudes(self.pairs.strengths());
        let range = [(0, block.count as u32)];
        for start in (0..self.targets.absolute).step_by(TOGETHER) {
            let targets = start..(start + TOGETHER).min(self.targets.absolute);
            let n = targets.len();
            let mut sums = [0.0; TOGETHER * ABSOLUTE];
            let pairs = self.block(block.sources(&magnitudes), &range, targets.clone());
            self.pairs.add_absolute(self.simd, &pairs, &mut sums[..ABSOLUTE * n]);
            for (i, target) in targets.enumerate() {
                for k in 0..ABSOLUTE {
                    totals[from + target * ABSOLUTE + k][0] += sums[k * n + i];
                }
            }
        }
    }
}
