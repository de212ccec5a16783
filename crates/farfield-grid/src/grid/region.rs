//! Any box of points of any level, put together from the leaves that cover it.
//!
//! A place covered by a leaf of that level is copied, one covered by finer leaves is restricted, and one covered by a
//! coarser leaf is predicted from a box of the next coarser level, which is put together in the same way.

use crate::forest::{BLOCK_SIDE, BlockId, Cover, Forest};
use crate::wavelet::{Patch, Wavelet, coarse_extent};
use farfield::simd::Real;

/// What lies beyond the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Boundary {
    /// The polynomial through the outermost points, of the wavelet's order.
    #[default]
    Extrapolate,
    /// Nothing: zeros.
    Zero,
    /// The box again.
    Periodic,
}

/// A box of points of one level and where its numbers come from.
#[derive(Debug, Clone)]
pub(crate) struct Region {
    low: [i64; 3],
    size: [usize; 3],
    pieces: Vec<Piece>,
    /// What coarser leaves cover: boxes of points of the region, and the region of the next coarser level.
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
    /// How many levels finer the leaf is.
    finer: u32,
    /// The leaf's point that is the piece's first.
    start: [usize; 3],
}

impl Region {
    /// The points `low .. low + size` of a level. Leaves may be up to four levels finer than that.
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

    /// Whether any leaf that numbers come from is one of those.
    pub fn has_leaf(&self, among: &[bool]) -> bool {
        let coarser = || {
            self.predicted
                .as_ref()
                .is_some_and(|(_, coarse)| coarse.has_leaf(among))
        };
        self.pieces.iter().any(|piece| among[piece.leaf]) || coarser()
    }

    /// The numbers; `block` gives those of a leaf.
    pub fn assemble<'a, T: Real>(&self, wavelet: Wavelet, block: &impl Fn(usize) -> &'a [T]) -> Patch<T> {
        let mut patch = Patch::zeros(self.low, self.size);
        for piece in &self.pieces {
            self.copy_piece(wavelet, piece, block(piece.leaf), &mut patch);
        }
        if let Some((spans, coarse)) = &self.predicted {
            let coarse = coarse.assemble(wavelet, block);
            for span in spans {
                let low = std::array::from_fn(|axis| self.low[axis] + span.from[axis] as i64);
                let size = std::array::from_fn(|axis| span.to[axis] - span.from[axis]);
                let fine = wavelet.predict(&coarse.cut(low, size), low, size);
                self.for_lines(span, |from, at, count| {
                    patch.values[at..at + count].copy_from_slice(&fine.values[from..from + count]);
                });
            }
        }
        if self.boundary == Boundary::Extrapolate {
            for axis in 0..3 {
                extrapolate(&mut patch, axis, self.inside[axis], wavelet.order());
            }
        }
        patch
    }

    /// Calls `work(first point in the span, first point in the region, count)` for each line along x of a span.
    fn for_lines(&self, span: &Span, mut work: impl FnMut(usize, usize, usize)) {
        let count = span.to[0] - span.from[0];
        let mut from = 0;
        for z in span.from[2]..span.to[2] {
            for y in span.from[1]..span.to[1] {
                work(from, (z * self.size[1] + y) * self.size[0] + span.from[0], count);
                from += count;
            }
        }
    }

    fn copy_piece<T: Real>(&self, wavelet: Wavelet, piece: &Piece, block: &[T], patch: &mut Patch<T>) {
        let Piece { span, finer, start, .. } = *piece;
        let count = span.to[0] - span.from[0];
        for z in span.from[2]..span.to[2] {
            for y in span.from[1]..span.to[1] {
                let at = (z * self.size[1] + y) * self.size[0] + span.from[0];
                let target = &mut patch.values[at..at + count];
                let (y, z) = (
                    start[1] + ((y - span.from[1]) << finer),
                    start[2] + ((z - span.from[2]) << finer),
                );
                let first = (z * BLOCK_SIDE + y) * BLOCK_SIDE + start[0];
                if finer == 0 {
                    copy_line(&block[first..first + count], target);
                } else {
                    for x in 0..count {
                        target[x] = wavelet.restrict_point(block, first + (x << finer), BLOCK_SIDE, finer);
                    }
                }
            }
        }
    }
}

/// Copies a line. Nearly all are as long as a block or as a layer of ghosts is wide: too short for a call.
#[inline(always)]
fn copy_line<T: Copy>(from: &[T], to: &mut [T]) {
    match from.len() {
        BLOCK_SIDE => copy::<T, BLOCK_SIDE>(from, to),
        1 => copy::<T, 1>(from, to),
        2 => copy::<T, 2>(from, to),
        3 => copy::<T, 3>(from, to),
        4 => copy::<T, 4>(from, to),
        5 => copy::<T, 5>(from, to),
        6 => copy::<T, 6>(from, to),
        _ => to.copy_from_slice(from),
    }
}

#[inline(always)]
fn copy<T: Copy, const N: usize>(from: &[T], to: &mut [T]) {
    if let (Some(from), Some(to)) = (from.first_chunk::<N>(), to.first_chunk_mut::<N>()) {
        *to = *from;
    }
}

impl<T: Real> Patch<T> {
    /// The part that predicting the fine points `low .. low + size` looks at.
    fn cut(&self, low: [i64; 3], size: [usize; 3]) -> Self {
        let extents = [0, 1, 2].map(|axis| coarse_extent(low[axis], size[axis]));
        let (low, size) = (extents.map(|e| e.0), extents.map(|e| e.1));
        if (low, size) == (self.low, self.size) {
            return self.clone();
        }
        let mut values = Vec::with_capacity(size.iter().product());
        for z in 0..size[2] as i64 {
            for y in 0..size[1] as i64 {
                let at = self.index([low[0], low[1] + y, low[2] + z]);
                values.extend_from_slice(&self.values[at..at + size[0]]);
            }
        }
        Patch { low, size, values }
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
    // The difference of this order vanishes: the next number is a combination of the last ones with binomials.
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
