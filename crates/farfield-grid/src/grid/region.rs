//! Any box of points of any level, assembled from the leaves that cover it.
//!
//! Points in a leaf of that level are copied, points in finer leaves are restricted, and points in a coarser leaf are
//! predicted from a box of the next coarser level, which is assembled in the same way.

use crate::forest::{BLOCK_SIDE, BlockId, Cover, Forest};
use crate::wavelet::{Patch, Wavelet, coarse_extent};
use farfield::simd::Real;

/// How values beyond the box are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Boundary {
    /// By the polynomial through the outermost points; their number is the wavelet's order.
    #[default]
    Extrapolate,
    /// To zero.
    Zero,
    /// By periodic continuation of the box.
    Periodic,
}

/// A box of points of one level and the leaves its values come from.
#[derive(Debug, Clone)]
pub(crate) struct Region {
    low: [i64; 3],
    size: [usize; 3],
    pieces: Vec<Piece>,
    /// The boxes of points that coarser leaves cover, and the region of the next coarser level that predicts them.
    predicted: Option<(Vec<Span>, Box<Region>)>,
    /// The part inside the domain, as a range of points along each axis.
    inside: [(usize, usize); 3],
    boundary: Boundary,
}

/// A box of points, counted from the region's corner.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: [usize; 3],
    to: [usize; 3],
}

/// A box of points that one leaf provides.
#[derive(Debug, Clone, Copy)]
struct Piece {
    span: Span,
    leaf: usize,
    /// How many levels finer the leaf is than the region.
    finer: u32,
    /// The point of the leaf at the piece's first point.
    start: [usize; 3],
}

impl Region {
    /// The region of the points `low .. low + size` of `level`. Leaves may be up to four levels finer.
    pub fn new(forest: &Forest, boundary: Boundary, level: u8, low: [i64; 3], size: [usize; 3]) -> Self {
        let side = BLOCK_SIDE as i64;
        let extent = forest.roots().map(|count| i64::from(count) << level << 4);
        let inside = [0, 1, 2].map(|axis| match boundary {
            Boundary::Periodic => (0, size[axis]),
            _ => {
                let clamp = |c: i64| (c - low[axis]).clamp(0, size[axis] as i64) as usize;
                (clamp(0), clamp(extent[axis]))
            }
        });
        let mut region = Self {
            low,
            size,
            pieces: Vec::new(),
            predicted: None,
            inside,
            boundary,
        };
        let mut coarser: Vec<Span> = Vec::new();
        let blocks = [0, 1, 2].map(|axis| {
            let (from, to) = (low[axis] + inside[axis].0 as i64, low[axis] + inside[axis].1 as i64);
            from.div_euclid(side)..(to + side - 1).div_euclid(side)
        });
        for z in blocks[2].clone() {
            for y in blocks[1].clone() {
                for x in blocks[0].clone() {
                    let place = [x, y, z];
                    let wrapped = std::array::from_fn(|axis| place[axis].rem_euclid(extent[axis] / side) as u32);
                    let block = BlockId { level, at: wrapped };
                    let corner = place.map(|c| c * side);
                    match forest.cover(block) {
                        Some(Cover::Leaf(leaf)) => region.add_piece(leaf, 0, corner),
                        Some(Cover::Coarser(_)) => coarser.extend(region.span(corner, side)),
                        Some(Cover::Finer) => region.add_finer(forest, block, 1, corner),
                        None => {}
                    }
                }
            }
        }
        if !coarser.is_empty() {
            let extents = [0, 1, 2].map(|axis| {
                let from = coarser.iter().map(|span| span.from[axis]).min().unwrap_or(0);
                let to = coarser.iter().map(|span| span.to[axis]).max().unwrap_or(0);
                coarse_extent(low[axis] + from as i64, to - from)
            });
            let coarse = Region::new(forest, boundary, level - 1, extents.map(|e| e.0), extents.map(|e| e.1));
            region.predicted = Some((coarser, Box::new(coarse)));
        }
        region
    }

    /// The points of the region within the cube of `side` points at `corner`.
    fn span(&self, corner: [i64; 3], side: i64) -> Option<Span> {
        let mut span = Span {
            from: [0; 3],
            to: [0; 3],
        };
        for axis in 0..3 {
            let clamp = |c: i64| (c - self.low[axis]).clamp(0, self.size[axis] as i64) as usize;
            span.from[axis] = clamp(corner[axis]);
            span.to[axis] = clamp(corner[axis] + side);
            if span.from[axis] == span.to[axis] {
                return None;
            }
        }
        Some(span)
    }

    fn add_piece(&mut self, leaf: usize, finer: u32, corner: [i64; 3]) {
        if let Some(span) = self.span(corner, BLOCK_SIDE as i64 >> finer) {
            let start = std::array::from_fn(|axis| {
                ((self.low[axis] + span.from[axis] as i64 - corner[axis]) << finer) as usize
            });
            self.pieces.push(Piece {
                span,
                leaf,
                finer,
                start,
            });
        }
    }

    /// Adds the leaves below `block`, whose children are `finer` levels finer than the region.
    fn add_finer(&mut self, forest: &Forest, block: BlockId, finer: u32, corner: [i64; 3]) {
        let side = BLOCK_SIDE as i64 >> finer;
        assert!(side > 0, "leaves are more than four levels finer than the region");
        for (octant, child) in block.children().into_iter().enumerate() {
            let corner = std::array::from_fn(|axis| corner[axis] + side * (octant >> axis & 1) as i64);
            if self.span(corner, side).is_none() {
                continue;
            }
            match forest.cover(child) {
                Some(Cover::Leaf(leaf)) => self.add_piece(leaf, finer, corner),
                _ => self.add_finer(forest, child, finer + 1, corner),
            }
        }
    }

    /// Whether the values of the region come from any leaf that is marked in `among`.
    pub fn has_leaf(&self, among: &[bool]) -> bool {
        let coarser = || {
            self.predicted
                .as_ref()
                .is_some_and(|(_, coarse)| coarse.has_leaf(among))
        };
        self.pieces.iter().any(|piece| among[piece.leaf]) || coarser()
    }

    /// The values of the region; `block` returns those of a leaf.
    pub fn assemble<'a, T: Real>(&self, wavelet: Wavelet, block: &impl Fn(usize) -> &'a [T]) -> Patch<T> {
        let mut patch = Patch::zeros(self.low, [0; 3]);
        self.assemble_into(wavelet, block, &mut patch, &mut Vec::new());
        patch
    }

    /// Sets `patch`, whose memory is reused, to the values of the region; `between` is scratch memory.
    pub fn assemble_into<'a, T: Real>(
        &self,
        wavelet: Wavelet,
        block: &impl Fn(usize) -> &'a [T],
        patch: &mut Patch<T>,
        between: &mut Vec<T>,
    ) {
        (patch.low, patch.size) = (self.low, self.size);
        // Every point inside the box is set below; points beyond it are set only by extrapolation, so others are zeroed
        // here.
        let has_none = self.inside.iter().any(|(from, to)| from == to);
        if has_none || self.boundary == Boundary::Zero && !self.is_inside() {
            patch.values.clear();
        }
        patch.values.resize(self.size.iter().product(), T::ZERO);
        for piece in &self.pieces {
            self.copy_piece(wavelet, piece, block(piece.leaf), patch);
        }
        if let Some((spans, coarse)) = &self.predicted {
            let coarse = coarse.assemble(wavelet, block);
            for span in spans {
                let low = std::array::from_fn(|axis| self.low[axis] + span.from[axis] as i64);
                let size = std::array::from_fn(|axis| span.to[axis] - span.from[axis]);
                wavelet.predict_into(&coarse, low, size, patch, between);
            }
        }
        if self.boundary == Boundary::Extrapolate {
            for axis in 0..3 {
                extrapolate(patch, axis, self.inside[axis], wavelet.order());
            }
        }
    }

    /// Whether all of it is inside the domain.
    fn is_inside(&self) -> bool {
        (0..3).all(|axis| self.inside[axis] == (0, self.size[axis]))
    }

    fn copy_piece<T: Real>(&self, wavelet: Wavelet, piece: &Piece, block: &[T], patch: &mut Patch<T>) {
        let count = piece.span.to[0] - piece.span.from[0];
        let averages = wavelet == Wavelet::AverageInterpolating5;
        match (piece.finer, count) {
            // Nearly all lines are as long as a block or as wide as a ghost layer: too short for a call to memcpy.
            (0, BLOCK_SIDE) => self.copy_lines::<T, BLOCK_SIDE>(piece, block, patch),
            (0, 1) => self.copy_lines::<T, 1>(piece, block, patch),
            (0, 2) => self.copy_lines::<T, 2>(piece, block, patch),
            (0, 3) => self.copy_lines::<T, 3>(piece, block, patch),
            (0, 4) => self.copy_lines::<T, 4>(piece, block, patch),
            (0, 5) => self.copy_lines::<T, 5>(piece, block, patch),
            (0, 6) => self.copy_lines::<T, 6>(piece, block, patch),
            (0, 7) => self.copy_lines::<T, 7>(piece, block, patch),
            (0, 8) => self.copy_lines::<T, 8>(piece, block, patch),
            (0, 10) => self.copy_lines::<T, 10>(piece, block, patch),
            (0, 12) => self.copy_lines::<T, 12>(piece, block, patch),
            (0, _) => self.for_lines(piece, |first, at| {
                patch.values[at..at + count].copy_from_slice(&block[first..first + count]);
            }),
            (1, 1) if averages => self.average_lines::<T, 1, 2>(piece, block, patch),
            (1, 2) if averages => self.average_lines::<T, 2, 4>(piece, block, patch),
            (1, 3) if averages => self.average_lines::<T, 3, 6>(piece, block, patch),
            (1, 4) if averages => self.average_lines::<T, 4, 8>(piece, block, patch),
            (1, 5) if averages => self.average_lines::<T, 5, 10>(piece, block, patch),
            (1, 6) if averages => self.average_lines::<T, 6, 12>(piece, block, patch),
            (1, 7) if averages => self.average_lines::<T, 7, 14>(piece, block, patch),
            (1, 8) if averages => self.average_lines::<T, 8, 16>(piece, block, patch),
            (finer, _) => self.for_lines(piece, |first, at| {
                for (x, value) in patch.values[at..at + count].iter_mut().enumerate() {
                    *value = wavelet.restrict_point(block, first + (x << finer), BLOCK_SIDE, finer);
                }
            }),
        }
    }

    /// Copies lines of `N` values.
    #[inline(always)]
    fn copy_lines<T: Real, const N: usize>(&self, piece: &Piece, block: &[T], patch: &mut Patch<T>) {
        self.for_lines(piece, |first, at| {
            let (from, to) = (
                block[first..].first_chunk::<N>(),
                patch.values[at..].first_chunk_mut::<N>(),
            );
            if let (Some(from), Some(to)) = (from, to) {
                *to = *from;
            }
        });
    }

    /// Sets lines of `N` averages over cubes of two points per side; `TWICE` is `2 * N`.
    #[inline(always)]
    fn average_lines<T: Real, const N: usize, const TWICE: usize>(
        &self,
        piece: &Piece,
        block: &[T],
        patch: &mut Patch<T>,
    ) {
        let eighth = T::from_f64(0.125);
        self.for_lines(piece, |first, at| {
            // Adds the four adjacent fine lines.
            let mut sums = [T::ZERO; TWICE];
            for line in [0, BLOCK_SIDE, BLOCK_SIDE * BLOCK_SIDE, BLOCK_SIDE * (BLOCK_SIDE + 1)] {
                if let Some(values) = block[first + line..].first_chunk::<TWICE>() {
                    for x in 0..TWICE {
                        sums[x] += values[x];
                    }
                }
            }
            if let Some(target) = patch.values[at..].first_chunk_mut::<N>() {
                for x in 0..N {
                    target[x] = eighth * (sums[2 * x] + sums[2 * x + 1]);
                }
            }
        });
    }

    /// Calls `work(index of the first value in the leaf, the same in the region)` for each line along x of a piece.
    #[inline(always)]
    fn for_lines(&self, piece: &Piece, mut work: impl FnMut(usize, usize)) {
        let Piece { span, finer, start, .. } = *piece;
        for z in span.from[2]..span.to[2] {
            let from = ((start[2] + ((z - span.from[2]) << finer)) * BLOCK_SIDE + start[1]) * BLOCK_SIDE + start[0];
            let to = (z * self.size[1] + span.from[1]) * self.size[0] + span.from[0];
            for y in 0..span.to[1] - span.from[1] {
                work(from + (y << finer) * BLOCK_SIDE, to + y * self.size[0]);
            }
        }
    }
}

/// Continues all lines along `axis` beyond `inside` by the polynomial through their outermost `order` points.
fn extrapolate<T: Real>(patch: &mut Patch<T>, axis: usize, inside: (usize, usize), order: usize) {
    let (from, to) = inside;
    let length = patch.size[axis];
    let order = order.min(to - from);
    if order == 0 || (from, to) == (0, length) {
        return;
    }
    let inner: usize = patch.size[..axis].iter().product();
    // The difference of this order vanishes: the next value is a combination of the last ones with binomial weights.
    let mut weights = vec![T::ZERO; order];
    let mut binomial = 1.0;
    for (k, weight) in weights.iter_mut().enumerate() {
        binomial *= (order - k) as f64 / (k + 1) as f64;
        *weight = T::from_f64(if k % 2 == 0 { binomial } else { -binomial });
    }
    for lines in patch.values.chunks_exact_mut(inner * length) {
        let mut step = |target: usize, towards_low: bool| {
            for n in 0..inner {
                let mut sum = T::ZERO;
                for (k, weight) in weights.iter().enumerate() {
                    let source = if towards_low { target + 1 + k } else { target - 1 - k };
                    sum += *weight * lines[source * inner + n];
                }
                lines[target * inner + n] = sum;
            }
        };
        for target in to..length {
            step(target, false);
        }
        for target in (0..from).rev() {
            step(target, true);
        }
    }
}
