//! A binary tree over the ranks: segments of consecutive ranks on the curve. Far segments act on each other as a
//! whole, so that a rank receives the sources of hundreds of others in a few messages.

use crate::communicator::Communicator;
use crate::tree::Extent;
use crate::tuning::Far;
use crate::wire::{Reader, Writer};

/// A summary of the points of a rank, or of a segment of ranks, that all ranks know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts<const D: usize> {
    /// The extent of the sources.
    pub sources: Extent<D>,
    /// The extent of the targets.
    pub targets: Extent<D>,
    /// The largest core size.
    pub core: f64,
    /// The number of sources.
    pub count: usize,
}

impl<const D: usize> Facts<D> {
    fn join(&self, other: &Self) -> Self {
        Self {
            sources: self.sources.join(&other.sources),
            targets: self.targets.join(&other.targets),
            core: self.core.max(other.core),
            count: self.count + other.count,
        }
    }

    /// Exchanges the summaries of all ranks. Called by all ranks together.
    pub fn of_all(self, ranks: &(impl Communicator + ?Sized)) -> Vec<Self> {
        let mut writer = Writer::default();
        for extent in [&self.sources, &self.targets] {
            writer.values(
                extent
                    .low
                    .into_iter()
                    .chain(extent.high)
                    .collect::<Vec<f64>>()
                    .into_iter(),
            );
        }
        writer.values([self.core].into_iter());
        writer.count(self.count);
        let all = ranks.all_gather(&writer.finish());
        let mut reader = Reader::new(&all);
        let extent = |reader: &mut Reader<'_>| {
            let numbers: Vec<f64> = reader.values(2 * D).collect();
            Extent {
                low: std::array::from_fn(|axis| numbers[axis]),
                high: std::array::from_fn(|axis| numbers[D + axis]),
            }
        };
        let mut one = || Self {
            sources: extent(&mut reader),
            targets: extent(&mut reader),
            core: reader.values(1).next().unwrap_or(0.0),
            count: reader.count(),
        };
        (0..ranks.size()).map(|_| one()).collect()
    }
}

/// A segment: the ranks from `first` to before `end`.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment<const D: usize> {
    /// The first rank, which represents the segment.
    pub first: usize,
    /// The rank after the last.
    pub end: usize,
    /// The summary of its points.
    pub facts: Facts<D>,
    /// The centre of the extent of its sources.
    pub centre: [f64; D],
    /// A bound of the distance of sources from the centre.
    pub radius: f64,
    /// The indices of both halves; `None` for a single rank.
    pub halves: Option<[usize; 2]>,
}

impl<const D: usize> Segment<D> {
    fn has(&self, rank: usize) -> bool {
        (self.first..self.end).contains(&rank)
    }
}

/// All segments. The first contains all ranks; halves come after the whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Segments<const D: usize> {
    /// The segments.
    pub all: Vec<Segment<D>>,
}

/// The interaction lists of one rank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lists {
    /// Pairs `(target segment, source segment)` that interact as a whole, if this rank represents the source segment
    /// or is in the target segment.
    pub far: Vec<(usize, usize)>,
    /// Ranks to which this rank sends its sources box by box.
    pub near_to: Vec<usize>,
    /// Ranks from which this rank receives sources box by box.
    pub near_from: Vec<usize>,
}

impl<const D: usize> Segments<D> {
    /// The tree over all ranks.
    pub fn new(facts: &[Facts<D>]) -> Self {
        /// The smallest radius of a sphere relative to the extent of all points: the charges that stand for a dipole
        /// grow with the inverse of the radius.
        const LEAST: f64 = 1e-3;
        let extents = facts.iter().flat_map(|facts| [facts.sources, facts.targets]);
        let everything = extents.fold(Extent::EMPTY, |all, extent| all.join(&extent));
        let least = (LEAST * everything.half_diagonal()).max(f64::MIN_POSITIVE);
        let mut segments = Self { all: Vec::new() };
        if !facts.is_empty() {
            segments.add(facts, 0, facts.len(), least);
        }
        segments
    }

    fn add(&mut self, facts: &[Facts<D>], first: usize, end: usize, least: f64) -> usize {
        let at = self.all.len();
        let joined = facts[first..end]
            .iter()
            .skip(1)
            .fold(facts[first], |sum, facts| sum.join(facts));
        self.all.push(Segment {
            first,
            end,
            centre: joined.sources.centre(),
            radius: joined.sources.half_diagonal().max(least),
            facts: joined,
            halves: None,
        });
        if end - first > 1 {
            let middle = first + (end - first).div_ceil(2);
            let halves = [(first, middle), (middle, end)].map(|(first, end)| self.add(facts, first, end, least));
            self.all[at].halves = Some(halves);
        }
        at
    }

    /// The segments that contain a rank, from all ranks down to itself.
    pub fn path(&self, rank: usize) -> Vec<usize> {
        let mut path = vec![0];
        while let Some(halves) = path.last().and_then(|at| self.all[*at].halves) {
            path.extend(halves.into_iter().find(|half| self.all[*half].has(rank)));
        }
        path
    }

    /// The interaction lists of a rank; all ranks decide each pair the same way. `reach` gives the reach of a core by
    /// its size, `count` is the number of equivalent sources of a segment.
    pub fn lists(&self, rank: usize, far: &Far, count: usize, reach: impl Fn(f64) -> f64) -> Lists {
        let mut lists = Lists::default();
        let mut open = vec![(0, 0)];
        while let Some((a, b)) = open.pop() {
            let (from, to) = (&self.all[a], &self.all[b]);
            let concerned = from.has(rank) || to.has(rank);
            if !concerned || from.facts.count == 0 || to.facts.targets.is_empty() {
                continue;
            }
            let distance = to.facts.targets.distance(from.centre);
            let is_far = from.radius <= far.theta * distance && distance > from.radius + reach(from.facts.core);
            if a != b && is_far && from.facts.count > count {
                if from.first == rank || to.has(rank) {
                    lists.far.push((b, a));
                }
                continue;
            }
            // The larger segment is halved; a segment with itself in both roles.
            match (from.halves, to.halves) {
                (None, None) if a == b => {}
                (None, None) if from.first == rank => lists.near_to.push(to.first),
                (None, None) => lists.near_from.push(from.first),
                (Some(halves), Some(others)) if a == b => {
                    open.extend(halves.into_iter().flat_map(|half| others.map(|other| (half, other))));
                }
                (Some(halves), None) => open.extend(halves.map(|half| (half, b))),
                (None, Some(halves)) => open.extend(halves.map(|half| (a, half))),
                (Some(halves), Some(others)) => {
                    if from.radius >= to.facts.targets.half_diagonal() {
                        open.extend(halves.map(|half| (half, b)));
                    } else {
                        open.extend(others.map(|other| (a, other)));
                    }
                }
            }
        }
        lists.near_to.sort_unstable();
        lists.near_from.sort_unstable();
        lists.far.sort_unstable();
        lists
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks with a unit cube each, in a row.
    fn on_a_line(count: usize) -> Segments<3> {
        let facts = |rank: usize| {
            let extent = Extent {
                low: [rank as f64, 0.0, 0.0],
                high: [rank as f64 + 1.0, 1.0, 1.0],
            };
            Facts {
                sources: extent,
                targets: extent,
                core: 0.0,
                count: 1000,
            }
        };
        Segments::new(&(0..count).map(facts).collect::<Vec<_>>())
    }

    #[test]
    fn every_rank_acts_on_every_other_exactly_once() {
        let far = Far::new::<3>(1e-6, 0, false);
        for count in [1, 2, 3, 7, 16, 37] {
            let segments = on_a_line(count);
            let all: Vec<Lists> = (0..count)
                .map(|rank| segments.lists(rank, &far, 200, |_| 0.0))
                .collect();
            let mut acts = vec![vec![0; count]; count];
            for (rank, lists) in all.iter().enumerate() {
                for (b, a) in lists.far.iter().filter(|(b, _)| segments.all[*b].has(rank)) {
                    let (from, to) = (&segments.all[*a], &segments.all[*b]);
                    (from.first..from.end).for_each(|other| acts[other][rank] += 1);
                    // The representative of the source segment has the pair too.
                    assert!(all[from.first].far.contains(&(*b, *a)), "{count} ranks");
                    assert!(to.facts.targets.distance(from.centre) >= 2.0 * from.radius);
                }
                for other in &lists.near_from {
                    acts[*other][rank] += 1;
                    assert!(all[*other].near_to.contains(&rank));
                }
            }
            for from in 0..count {
                for to in 0..count {
                    assert_eq!(acts[from][to], usize::from(from != to), "{from} on {to} of {count}");
                }
            }
        }
    }

    #[test]
    fn lists_grow_logarithmically_with_the_number_of_ranks() {
        let far = Far::new::<3>(1e-6, 0, false);
        let longest = |count: usize| {
            let segments = on_a_line(count);
            let length = |rank: usize| {
                let lists = segments.lists(rank, &far, 200, |_| 0.0);
                lists.far.len() + lists.near_to.len() + lists.near_from.len()
            };
            (0..count).map(length).max().unwrap_or(0)
        };
        // Eight times the ranks are three doublings; each adds a few entries.
        assert!(
            longest(512) <= longest(64) + 3 * 12,
            "{} and {}",
            longest(64),
            longest(512)
        );
    }
}
