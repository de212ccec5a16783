//! Coincident points are summed once for all of them.
//!
//! A box of equal points cannot be cut. Coincident sources (with one core size) act like a single source with the sum
//! of their strengths, and coincident targets receive the same field, so the sum is planned over distinct points. Only
//! among coincident points does it differ: singular kernels skip those pairs, others count them with the kernel's value
//! at zero, except each point with itself.

use crate::kernel::Sizes;
use crate::parallel::for_chunks;
use crate::simd::Real;
use crate::sum::Counts;
use crate::tree::Octree;
use crate::tree::octree::Node;
use crate::verify::CompensatedSum;
use rayon::prelude::*;

/// Distinct points.
pub(crate) struct Distinct<P> {
    pub sources: Vec<P>,
    pub targets: Option<Vec<P>>,
}

/// The number of distinct points, and the map from the caller's points to them.
#[derive(Debug)]
pub(crate) struct Merge<T> {
    places: Counts,
    /// The core sizes of the distinct sources.
    pub sizes: Sizes<T>,
    source_of: Vec<u32>,
    target_of: Vec<u32>,
    /// The strengths of the distinct sources.
    pub strengths: Vec<T>,
    /// Sums of strengths while they are added up.
    totals: Vec<CompensatedSum>,
}

impl<T: Real> Merge<T> {
    /// `None` if all points are distinct.
    pub fn new<const D: usize>(
        sources: &[[T; D]],
        targets: Option<&[[T; D]]>,
        sizes: &Sizes<T>,
    ) -> Option<(Self, Distinct<[T; D]>)> {
        let size = |k: usize| match sizes {
            Sizes::PerSource(sizes) => sizes[k].to_f64().to_bits(),
            _ => 0,
        };
        let (source_of, first_sources) = distinct(sources, size);
        let merged_targets = targets.map(|targets| (distinct(targets, |_| 0), targets));
        let is_distinct = first_sources.len() == sources.len()
            && merged_targets
                .as_ref()
                .is_none_or(|((_, first), targets)| first.len() == targets.len());
        if is_distinct {
            return None;
        }
        let sizes = match sizes {
            Sizes::PerSource(sizes) => Sizes::PerSource(first_sources.iter().map(|k| sizes[*k as usize]).collect()),
            other => other.clone(),
        };
        let pick =
            |points: &[[T; D]], first: &[u32]| -> Vec<[T; D]> { first.iter().map(|k| points[*k as usize]).collect() };
        let sources = pick(sources, &first_sources);
        let (target_of, targets) = match merged_targets {
            Some(((target_of, first), targets)) => (target_of, Some(pick(targets, &first))),
            None => (Vec::new(), None),
        };
        let merge = Self {
            places: Counts {
                sources: sources.len(),
                targets: targets.as_ref().map(Vec::len),
            },
            sizes,
            source_of,
            target_of,
            strengths: Vec::new(),
            totals: Vec::new(),
        };
        Some((merge, Distinct { sources, targets }))
    }

    /// The number of targets at each distinct point.
    pub fn targets_at_places(&self) -> Vec<u32> {
        let same = self.places.targets.is_none();
        let mut count = vec![0; self.places.targets()];
        for place in if same { &self.source_of } else { &self.target_of } {
            count[*place as usize] += 1;
        }
        count
    }

    /// Sums the strengths of merged sources in double precision with compensation, so that a sum of a million equal
    /// strengths in single precision does not stagnate.
    pub fn add_up(&mut self, strengths: &[T], components: usize, vectors: usize) {
        let (all, unique) = (self.source_of.len(), self.places.sources);
        let totals = &mut self.totals;
        self.strengths.clear();
        self.strengths.resize(vectors * unique * components, T::ZERO);
        for vector in 0..vectors {
            for c in 0..components {
                totals.clear();
                totals.resize(unique, CompensatedSum::default());
                for (k, to) in self.source_of.iter().enumerate() {
                    totals[*to as usize].add(strengths[(vector * all + k) * components + c].to_f64());
                }
                for (k, total) in totals.iter().enumerate() {
                    self.strengths[(vector * unique + k) * components + c] = T::from_f64(total.value());
                }
            }
        }
    }

    /// Gives every target the values of its distinct point, and adds the contributions of coincident points to each
    /// other.
    ///
    /// `inner` and `values` hold one array per output. If the sources are the targets, `at_place(k, strength, size,
    /// sums)` adds to output `k` the contribution of a coincident source of that strength and core size.
    pub fn spread(
        &self,
        shape: &SpreadShape,
        strengths: &[T],
        inner: &[Vec<T>],
        values: &mut [Vec<T>],
        at_place: &(impl Fn(usize, &[f64], f64, &mut [f64]) + Sync),
    ) {
        let same = self.places.targets.is_none();
        let place_of = if same { &self.source_of } else { &self.target_of };
        let places = self.places.targets();
        let (all, unique) = (place_of.len(), self.places.sources);
        for (output, (inner, values)) in inner.iter().zip(values).enumerate() {
            let components = values.len() / (shape.vectors * all).max(1);
            for vector in 0..shape.vectors {
                let out = &mut values[vector * all * components..(vector + 1) * all * components];
                for_chunks(out, TARGETS * components, &|piece, out| {
                    let targets = place_of.iter().enumerate().skip(piece * TARGETS);
                    for (out, (i, place)) in out.chunks_mut(components).zip(targets) {
                        let place = *place as usize;
                        out.copy_from_slice(&inner[(vector * places + place) * components..][..components]);
                        if !same {
                            continue;
                        }
                        let size = match &self.sizes {
                            Sizes::None => T::ZERO,
                            Sizes::Global(size) => *size,
                            Sizes::PerSource(sizes) => sizes[place],
                        };
                        let mut others = [0.0; MOST_STRENGTHS];
                        for (c, other) in others.iter_mut().enumerate().take(shape.strengths) {
                            let whole = self.strengths[(vector * unique + place) * shape.strengths + c].to_f64();
                            *other = whole - strengths[(vector * all + i) * shape.strengths + c].to_f64();
                        }
                        let mut extra = [0.0; MOST_COMPONENTS];
                        at_place(
                            output,
                            &others[..shape.strengths],
                            size.to_f64(),
                            &mut extra[..components],
                        );
                        for (value, extra) in out.iter_mut().zip(extra) {
                            *value = T::from_f64(value.to_f64() + extra);
                        }
                    }
                });
            }
        }
    }
}

/// The number of targets of one task.
const TARGETS: usize = 1 << 10;
/// The largest number of strength components of a source, and of components of an output.
const MOST_STRENGTHS: usize = 8;
const MOST_COMPONENTS: usize = 16;

/// Whether many sources of an overfull leaf coincide. A tree with cores stops cutting before it would notice.
pub(crate) fn has_crowded_places<T: Real>(tree: &Octree, sources: &[[T; 3]], capacity: usize) -> bool {
    const LOOK_AT: usize = 64;
    let overfull = |node: &&Node| node.is_leaf() && node.source_count() > capacity.max(LOOK_AT);
    tree.nodes.iter().filter(overfull).any(|leaf| {
        let step = leaf.source_count() / LOOK_AT;
        let at = |k: usize| sources[tree.source_permutation[leaf.sources.start as usize + k * step] as usize];
        (1..LOOK_AT).any(|k| (0..k).any(|j| at(j) == at(k)))
    })
}

/// The layout of the arrays of [`Merge::spread`].
pub(crate) struct SpreadShape {
    pub vectors: usize,
    /// The number of strength components per source.
    pub strengths: usize,
}

/// For each point the index of its distinct point, and for each distinct point its first point, in order of first
/// appearance.
fn distinct<T: Real, const D: usize>(points: &[[T; D]], extra: impl Fn(usize) -> u64 + Sync) -> (Vec<u32>, Vec<u32>) {
    let mut permutation: Vec<u32> = (0..points.len() as u32).collect();
    // Adding zero turns -0 into 0, so that equal numbers have equal bits.
    let key = |k: &u32| {
        (
            points[*k as usize].map(|c| (c.to_f64() + 0.0).to_bits()),
            extra(*k as usize),
            *k,
        )
    };
    permutation.par_sort_unstable_by_key(key);
    let mut leader = vec![0u32; points.len()];
    let mut current = 0;
    for (at, k) in permutation.iter().enumerate() {
        if at == 0 || (key(k).0, key(k).1) != (key(&permutation[at - 1]).0, key(&permutation[at - 1]).1) {
            current = *k;
        }
        leader[*k as usize] = current;
    }
    let mut first = Vec::new();
    let mut place = vec![0u32; points.len()];
    for k in 0..points.len() {
        if leader[k] == k as u32 {
            place[k] = first.len() as u32;
            first.push(k as u32);
        }
    }
    let place_of = leader.iter().map(|leader| place[*leader as usize]).collect();
    (place_of, first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_points_share_a_place_in_order_of_appearance() {
        let points = [
            [1.0, 0.0, 2.0],
            [0.0, 0.0, 0.0],
            [1.0, -0.0, 2.0],
            [3.0, 1.0, 1.0],
            [0.0, 0.0, 0.0],
        ];
        let (place, first) = distinct(&points, |_| 0);
        assert_eq!(place, [0, 1, 0, 2, 1]);
        assert_eq!(first, [0, 1, 3]);
        assert!(Merge::new(&points[..2], None, &Sizes::None).is_none());
    }
}
