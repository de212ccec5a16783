//! The interaction lists: the theta criterion, level by level.
//!
//! Two boxes with circles of radii $R\ge r$ and centres at distance $d$ are *weakly* coupled if $R+\theta r\le\theta
//! d$, otherwise *strongly*. Children of strongly coupled parents are tested again on their own level. Weakly coupled
//! boxes interact by M2L. Leaves that remain strongly coupled interact by P2P, unless they pass the test with the
//! radii swapped: then the expansion of the smaller box interacts with the points of the larger one (P2L and M2P).
//!
//! Lists are stored by target box, in a fixed order, so that every sum has one owner.

use super::pyramid::{Pyramid, first_of_level};
use crate::parallel::map_pieces;
use crate::simd::Real;
use crate::tree::Rows;

/// The lists of a pyramid.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    /// For every box of all levels, the boxes that act on it by M2L.
    pub weak: Rows<u32>,
    /// For every leaf, the source ranges that act by P2P and may coincide with its points.
    pub touching: Rows<(u32, u32)>,
    /// For every leaf, the source ranges that act by P2P and cannot coincide with its points.
    pub apart: Rows<(u32, u32)>,
    /// For every leaf, the later leaves of its group with which it interacts by P2P in both directions at once, and
    /// whether points may coincide.
    pub mutual: Rows<(u32, bool)>,
    /// For every leaf, the leaves whose sources act on its local expansion.
    pub p2l: Rows<u32>,
    /// For every leaf, the leaves whose multipoles act on its targets.
    pub m2p: Rows<u32>,
    /// Pairs of points in `touching` and `apart`, and in `mutual`, counted in both directions.
    pub p2p_pairs: u64,
    /// Pairs of a source and a local expansion.
    pub p2l_pairs: u64,
    /// Pairs of a multipole expansion and a target.
    pub m2p_pairs: u64,
}

/// The coupling criterion of two boxes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Criterion {
    inverse_theta: f64,
    reach: f64,
    shortcut: usize,
    group: usize,
}

impl Criterion {
    /// Boxes whose circles are closer than `reach`, the range of the cores, are strongly coupled. From `shortcut`
    /// points in the smaller box on, its expansion is cheaper than its points.
    pub fn new(theta: f64, reach: f64, shortcut: usize) -> Self {
        Self {
            inverse_theta: 1.0 / theta,
            reach,
            shortcut,
            group: 1,
        }
    }

    /// Leaves in the same group of `group` leaves interact in both directions at once.
    pub fn with_groups(self, group: usize) -> Self {
        Self { group, ..self }
    }

    /// Whether two circles pass the criterion, with the radii swapped if `swapped`.
    #[inline]
    fn passes<T: Real>(&self, (ca, ra): ([T; 2], T), (cb, rb): ([T; 2], T), swapped: bool) -> bool {
        let (dx, dy) = ((ca[0] - cb[0]).to_f64(), (ca[1] - cb[1]).to_f64());
        let (ra, rb) = (ra.to_f64(), rb.to_f64());
        let (large, small) = if (ra > rb) != swapped { (ra, rb) } else { (rb, ra) };
        // theta d >= R + theta r, and d >= R + r + reach
        let least = (large * self.inverse_theta + small).max(large + small + self.reach);
        let d2 = dx * dx + dy * dy;
        d2 >= least * least && d2 > 0.0
    }
}

/// Boxes per piece of work.
const PIECE: usize = 64;

/// The rows of a piece of boxes.
#[derive(Default)]
struct Found<E> {
    lengths: Vec<u32>,
    items: Vec<E>,
}

impl<E> Found<E> {
    fn end_row(&mut self, before: usize) {
        self.lengths.push((self.items.len() - before) as u32);
    }
}

impl Connections {
    /// Tests all pairs of boxes with strongly coupled parents.
    #[cfg(test)]
    pub fn build<T: Real>(pyramid: &Pyramid<T>, criterion: &Criterion) -> Self {
        Self::within(pyramid, criterion, u64::MAX).unwrap_or_default()
    }

    /// Tests all pairs of boxes with strongly coupled parents. If the lists would exceed `limit` bytes, returns a
    /// lower bound of the bytes they need as an error.
    pub fn within<T: Real>(pyramid: &Pyramid<T>, criterion: &Criterion, limit: u64) -> Result<Self, u64> {
        let mut out = Connections::default();
        let mut strong = Rows::<u32>::default();
        out.weak.extend([(&[0u32][..], &[][..])].into_iter());
        strong.extend([(&[1u32][..], &[0u32][..])].into_iter());
        for level in 1..=pyramid.depth {
            // Each strongly coupled pair of the level above gives 16 pairs of children, each in one of the two lists.
            // The factor 2 is for joining the pieces.
            let entries = 16 * strong.len() as u64 + out.weak.len() as u64;
            let bytes = 2 * size_of::<u32>() as u64 * entries;
            if bytes > limit {
                return Err(bytes);
            }
            let pieces = split_level(pyramid, criterion, level, &strong);
            out.weak
                .extend(pieces.iter().map(|(weak, _)| (&weak.lengths[..], &weak.items[..])));
            strong = Rows::default();
            strong.extend(
                pieces
                    .iter()
                    .map(|(_, strong)| (&strong.lengths[..], &strong.items[..])),
            );
        }
        out.meet_leaves(pyramid, criterion, &strong);
        Ok(out)
    }

    /// Assigns the strongly coupled pairs of leaves to P2P, P2L and M2P.
    fn meet_leaves<T: Real>(&mut self, pyramid: &Pyramid<T>, criterion: &Criterion, strong: &Rows<u32>) {
        #[derive(Default)]
        struct Leaves {
            touching: Found<(u32, u32)>,
            apart: Found<(u32, u32)>,
            mutual: Found<(u32, bool)>,
            p2l: Found<u32>,
            m2p: Found<u32>,
            pairs: [u64; 3],
        }
        let first = first_of_level(pyramid.depth);
        let boxes = &pyramid.boxes;
        let (sources, targets) = (&pyramid.sources, pyramid.targets());
        let circle = |leaf: usize| (boxes.centre[first + leaf], boxes.radius[first + leaf]);
        let pieces = map_pieces(pyramid.leaves(), PIECE, |leaves| {
            let mut found = Leaves::default();
            for leaf in leaves {
                let before = (
                    found.touching.items.len(),
                    found.apart.items.len(),
                    found.mutual.items.len(),
                    found.p2l.items.len(),
                    found.m2p.items.len(),
                );
                let here = targets.range(leaf..leaf + 1).len();
                for &other in strong.row(leaf) {
                    let range = sources.range(other as usize..other as usize + 1);
                    let (a, b) = (circle(leaf), circle(other as usize));
                    let larger = a.1 > b.1;
                    let enough = if larger { range.len() } else { here } > criterion.shortcut;
                    if enough && criterion.passes(a, b, true) {
                        if larger {
                            found.m2p.items.push(other);
                            found.pairs[2] += here as u64;
                        } else {
                            found.p2l.items.push(other);
                            found.pairs[1] += range.len() as u64;
                        }
                        continue;
                    }
                    found.pairs[0] += (here * range.len()) as u64;
                    let range = (range.start as u32, range.end as u32);
                    let touches = meet(boxes.rectangle[first + leaf], boxes.rectangle[first + other as usize]);
                    if other as usize != leaf && other as usize / criterion.group == leaf / criterion.group {
                        // Couplings are mutual: the leaf with the lower index owns the pair.
                        if other as usize > leaf {
                            found.mutual.items.push((other, touches));
                        }
                        continue;
                    }
                    let (list, from) = if touches {
                        (&mut found.touching.items, before.0)
                    } else {
                        (&mut found.apart.items, before.1)
                    };
                    // Adjacent ranges are joined.
                    match list[from..].last_mut() {
                        Some(last) if last.1 == range.0 => last.1 = range.1,
                        _ => list.push(range),
                    }
                }
                found.touching.end_row(before.0);
                found.apart.end_row(before.1);
                found.mutual.end_row(before.2);
                found.p2l.end_row(before.3);
                found.m2p.end_row(before.4);
            }
            found
        });
        self.touching
            .extend(pieces.iter().map(|p| (&p.touching.lengths[..], &p.touching.items[..])));
        self.apart
            .extend(pieces.iter().map(|p| (&p.apart.lengths[..], &p.apart.items[..])));
        self.mutual
            .extend(pieces.iter().map(|p| (&p.mutual.lengths[..], &p.mutual.items[..])));
        self.p2l
            .extend(pieces.iter().map(|p| (&p.p2l.lengths[..], &p.p2l.items[..])));
        self.m2p
            .extend(pieces.iter().map(|p| (&p.m2p.lengths[..], &p.m2p.items[..])));
        for piece in &pieces {
            self.p2p_pairs += piece.pairs[0];
            self.p2l_pairs += piece.pairs[1];
            self.m2p_pairs += piece.pairs[2];
        }
    }
}

/// The boxes weakly and strongly coupled to each box of a level, in pieces. `strong` holds the strong couplings of the
/// level above.
fn split_level<T: Real>(
    pyramid: &Pyramid<T>,
    criterion: &Criterion,
    level: usize,
    strong: &Rows<u32>,
) -> Vec<(Found<u32>, Found<u32>)> {
    let first = first_of_level(level);
    let count = 1usize << (2 * level);
    let below = pyramid.leaves() / count;
    let boxes = &pyramid.boxes;
    let circle = |b: usize| (boxes.centre[first + b], boxes.radius[first + b]);
    let leaves = |b: usize| b * below..(b + 1) * below;
    // If the sources are the targets, no box is empty.
    let all_full = pyramid.targets.is_none();
    let has_sources = |b: usize| all_full || !pyramid.sources.range(leaves(b)).is_empty();
    map_pieces(count, PIECE, |boxes_of_piece| {
        let (mut weak, mut strongly) = (Found::default(), Found::default());
        for b in boxes_of_piece {
            let before = (weak.items.len(), strongly.items.len());
            if !pyramid.targets().range(leaves(b)).is_empty() {
                let here = circle(b);
                for &parent in strong.row(b / 4) {
                    for other in 4 * parent as usize..4 * parent as usize + 4 {
                        if !has_sources(other) {
                            continue;
                        }
                        if criterion.passes(here, circle(other), false) {
                            weak.items.push((first + other) as u32);
                        } else {
                            strongly.items.push(other as u32);
                        }
                    }
                }
            }
            weak.end_row(before.0);
            strongly.end_row(before.1);
        }
        (weak, strongly)
    })
}

/// Whether two rectangles share a point.
fn meet<T: Real>(a: [[T; 2]; 2], b: [[T; 2]; 2]) -> bool {
    (0..2).all(|axis| a[0][axis] <= b[1][axis] && b[0][axis] <= a[1][axis])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::points::PlaneSet;

    /// Every pair of points must be counted exactly once: by M2L of one level, or on the finest level.
    #[test]
    fn every_pair_of_leaves_is_connected_exactly_once() {
        for (set, n, depth) in [
            (PlaneSet::Square, 700, 3),
            (PlaneSet::Layer, 900, 3),
            (PlaneSet::Normal, 260, 4),
        ] {
            let sources = set.generate::<f64>(n, 1);
            let targets = set.generate::<f64>(n / 2, 2);
            for targets in [None, Some(&targets[..])] {
                let pyramid = Pyramid::build(&sources, targets, depth);
                let group = if targets.is_none() { 16 } else { 1 };
                let criterion = Criterion::new(0.5, 0.0, 1).with_groups(group);
                let lists = Connections::build(&pyramid, &criterion);
                let leaves = pyramid.leaves();
                for target in 0..leaves {
                    if pyramid.targets().range(target..target + 1).is_empty() {
                        continue;
                    }
                    let mut met = vec![0; sources.len()];
                    let mut meet_range = |range: std::ops::Range<usize>| met[range].iter_mut().for_each(|m| *m += 1);
                    for level in 0..=depth {
                        let below = leaves >> (2 * level);
                        let first = first_of_level(level);
                        for &source in lists.weak.row(first + target / below) {
                            let b = source as usize - first;
                            meet_range(pyramid.sources.range(b * below..(b + 1) * below));
                        }
                    }
                    for (start, end) in lists.touching.row(target).iter().chain(lists.apart.row(target)) {
                        meet_range(*start as usize..*end as usize);
                    }
                    for leaf in 0..leaves {
                        for &(other, _) in lists.mutual.row(leaf) {
                            let other = other as usize;
                            if leaf == target {
                                meet_range(pyramid.sources.range(other..other + 1));
                            } else if other == target {
                                meet_range(pyramid.sources.range(leaf..leaf + 1));
                            }
                        }
                    }
                    for &other in lists.p2l.row(target).iter().chain(lists.m2p.row(target)) {
                        meet_range(pyramid.sources.range(other as usize..other as usize + 1));
                    }
                    assert!(met.iter().all(|m| *m == 1), "{set:?}, leaf {target}");
                }
            }
        }
    }
}
