//! Points that share a place: summed once, for all of them.
//!
//! A box of equal points cannot be cut. Sources at one place (with one core size) act like a single source with the
//! sum of their strengths, and targets at one place receive the same field, so the sum is planned over distinct
//! points. Only among the points of one place does it differ: singular kernels skip those pairs, others count them
//! with the kernel's value at zero, except each with itself.

use crate::kernel::Sizes;
use crate::simd::Real;
use rayon::prelude::*;

/// Distinct points, and where the caller's points went.
#[derive(Debug, Default)]
pub(crate) struct Merge<T, const D: usize> {
    pub sources: Vec<[T; D]>,
    pub targets: Option<Vec<[T; D]>>,
    pub sizes: Sizes<T>,
    source_of: Vec<u32>,
    target_of: Vec<u32>,
    pub strengths: Vec<T>,
}

impl<T: Real, const D: usize> Merge<T, D> {
    /// `None` if all points are distinct.
    pub fn new(sources: &[[T; D]], targets: Option<&[[T; D]]>, sizes: &Sizes<T>) -> Option<Self> {
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
        let pick = |points: &[[T; D]], first: &[u32]| first.iter().map(|k| points[*k as usize]).collect();
        let unique_sources = pick(sources, &first_sources);
        let (target_of, targets) = match merged_targets {
            Some(((target_of, first), targets)) => (target_of, Some(pick(targets, &first))),
            None => (Vec::new(), None),
        };
        Some(Self {
            sources: unique_sources,
            targets,
            sizes,
            source_of,
            target_of,
            strengths: Vec::new(),
        })
    }

    /// Sums the strengths of merged sources.
    pub fn add_up(&mut self, strengths: &[T], components: usize, vectors: usize) {
        let (all, unique) = (self.source_of.len(), self.sources.len());
        self.strengths.clear();
        self.strengths.resize(vectors * unique * components, T::ZERO);
        for vector in 0..vectors {
            for (k, to) in self.source_of.iter().enumerate() {
                for c in 0..components {
                    self.strengths[(vector * unique + *to as usize) * components + c] +=
                        strengths[(vector * all + k) * components + c];
                }
            }
        }
    }

    /// Hands every target the values of its place, and adds what the points of its place do to each other.
    ///
    /// `inner` and `values` hold one array per output. Where the sources are the targets, `at_place(k, strength,
    /// size, sums)` adds to output `k` what a coincident source of that strength and core size contributes.
    pub fn spread(
        &self,
        shape: &SpreadShape,
        strengths: &[T],
        inner: &[Vec<T>],
        values: &mut [Vec<T>],
        at_place: &(impl Fn(usize, &[f64], f64, &mut [f64]) + Sync),
    ) {
        let same = self.targets.is_none();
        let place_of = if same { &self.source_of } else { &self.target_of };
        let places = self.targets.as_ref().unwrap_or(&self.sources).len();
        let (all, unique) = (place_of.len(), self.sources.len());
        for (output, (inner, values)) in inner.iter().zip(values).enumerate() {
            let components = shape.components[output];
            for vector in 0..shape.vectors {
                let out = &mut values[vector * all * components..(vector + 1) * all * components];
                out.par_chunks_mut(components)
                    .zip(place_of)
                    .enumerate()
                    .for_each(|(i, (out, place))| {
                        let place = *place as usize;
                        out.copy_from_slice(&inner[(vector * places + place) * components..][..components]);
                        if !same {
                            return;
                        }
                        let size = match &self.sizes {
                            Sizes::None => T::ZERO,
                            Sizes::Global(size) => *size,
                            Sizes::PerSource(sizes) => sizes[place],
                        };
                        let others: Vec<f64> = (0..shape.strengths)
                            .map(|c| {
                                let whole = self.strengths[(vector * unique + place) * shape.strengths + c];
                                (whole - strengths[(vector * all + i) * shape.strengths + c]).to_f64()
                            })
                            .collect();
                        let mut extra = vec![0.0; components];
                        at_place(output, &others, size.to_f64(), &mut extra);
                        for (value, extra) in out.iter_mut().zip(extra) {
                            *value += T::from_f64(extra);
                        }
                    });
            }
        }
    }
}

/// How the arrays of [`Merge::spread`] are laid out.
pub(crate) struct SpreadShape {
    pub vectors: usize,
    /// Numbers of strength per source.
    pub strengths: usize,
    /// Numbers per target of each output.
    pub components: Vec<usize>,
}

/// For each point the number of its place, and for each place its first point, in order of first appearance.
fn distinct<T: Real, const D: usize>(points: &[[T; D]], extra: impl Fn(usize) -> u64 + Sync) -> (Vec<u32>, Vec<u32>) {
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    // Adding zero turns -0 into 0, so that equal numbers have equal bits.
    let key = |k: &u32| {
        (
            points[*k as usize].map(|c| (c.to_f64() + 0.0).to_bits()),
            extra(*k as usize),
            *k,
        )
    };
    order.par_sort_unstable_by_key(key);
    let mut leader = vec![0u32; points.len()];
    let mut current = 0;
    for (at, k) in order.iter().enumerate() {
        if at == 0 || (key(k).0, key(k).1) != (key(&order[at - 1]).0, key(&order[at - 1]).1) {
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
