//! The top of the tree: equivalent sources of segments of ranks. They are merged upwards, from halves to the whole,
//! then sent from the rank that represents one segment to the rank that represents another, then passed down to every
//! rank of that segment.

use crate::communicator::{Communicator, Message};
use crate::equivalent::{Moments, SPHERE, Sphere};
use crate::route::deliver;
use crate::segments::{Lists, Segments};
use crate::traffic::Exchanged;
use crate::wire::{Reader, Writer};
use std::collections::BTreeMap;

/// The communication of one rank in the top of the tree.
#[derive(Debug, Clone, Default)]
pub struct Top<const D: usize> {
    segments: Segments<D>,
    /// The segments that contain this rank, from all ranks down to itself.
    path: Vec<usize>,
    /// The largest number of halvings on any rank.
    depth: usize,
    /// `(target segment, source segment)` for the source segments that this rank represents.
    sent: Vec<(usize, usize)>,
    /// `(target segment, source segment)` for the target segments on the path, in the order of the path.
    received: Vec<(usize, usize)>,
}

impl<const D: usize> Top<D> {
    /// The communication of rank `rank` by its lists.
    pub fn new(segments: Segments<D>, lists: &Lists, rank: usize) -> Self {
        let path = segments.path(rank);
        let speaks_for = |which: usize| segments.all[which].first == rank && path.contains(&which);
        let sent = lists
            .far
            .iter()
            .copied()
            .filter(|(_, which)| speaks_for(*which))
            .collect();
        let on_path = |at: &usize| lists.far.iter().copied().filter(|(on, _)| on == at).collect::<Vec<_>>();
        let received = path.iter().flat_map(on_path).collect();
        let depth = segments.all.len().div_ceil(2).next_power_of_two().trailing_zeros() as usize;
        Self {
            segments,
            path,
            depth,
            sent,
            received,
        }
    }

    /// The number of segments that act on this rank's targets as a whole.
    pub fn arriving(&self) -> usize {
        self.received.len()
    }

    /// The positions of the equivalent sources of those segments.
    pub fn places(&self, sphere: &Sphere<D>) -> impl Iterator<Item = [f64; D]> + '_ {
        let points = sphere.points.clone();
        self.received.iter().flat_map(move |(_, which)| {
            let segment = &self.segments.all[*which];
            let place = |point: &[f64; D]| {
                std::array::from_fn(|axis| segment.centre[axis] + SPHERE * segment.radius * point[axis])
            };
            points.iter().map(place).collect::<Vec<_>>()
        })
    }

    /// Centre and radius of the segment that is this rank alone.
    pub fn own(&self) -> ([f64; D], f64) {
        let own = self.path.last().map(|at| &self.segments.all[*at]);
        own.map_or(([0.0; D], 1.0), |own| (own.centre, own.radius))
    }

    /// The strengths of the segments that act on this rank's targets, one segment after the other. `own` are the
    /// strengths of this rank's own segment, `columns` numbers for each point. Called by all ranks together.
    pub fn strengths(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
        sphere: &Sphere<D>,
        own: Vec<f64>,
        columns: usize,
    ) -> Vec<f64> {
        let spoken = self.upward(ranks, traffic, sphere, own, columns);
        let across = self.across(ranks, traffic, &spoken, sphere.count() * columns);
        self.downward(ranks, traffic, across, sphere.count() * columns)
    }

    /// The strengths of all segments that this rank represents.
    fn upward(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
        sphere: &Sphere<D>,
        own: Vec<f64>,
        columns: usize,
    ) -> BTreeMap<usize, Vec<f64>> {
        let (rank, length) = (ranks.rank(), sphere.count() * columns);
        let mut spoken = BTreeMap::new();
        spoken.extend(self.path.last().map(|at| (*at, own)));
        // The segment of all ranks (depth 0) acts on no other.
        for depth in (1..self.depth).rev() {
            let (mut outgoing, mut expected) = (Vec::new(), Vec::new());
            let whole = self.path.get(depth).copied();
            let halves = whole.and_then(|whole| self.segments.all[whole].halves);
            if let Some([first, second]) = halves {
                let [to, from] = [first, second].map(|half| self.segments.all[half].first);
                if from == rank {
                    outgoing.push((to, packed(spoken.get(&second).into_iter().flatten())));
                } else if to == rank {
                    expected.push((from, length * size_of::<f64>()));
                }
            }
            let incoming = deliver(ranks, traffic, outgoing, expected);
            if let (Some(whole), Some(halves), Some((_, bytes))) = (whole, halves, incoming.first()) {
                let other: Vec<f64> = Reader::new(bytes).values(length).collect();
                let segment = &self.segments.all[whole];
                let mut moments = Moments::new(sphere, segment.centre, SPHERE * segment.radius, columns);
                for (half, strengths) in halves.into_iter().zip([spoken.get(&halves[0]), Some(&other)]) {
                    let half = &self.segments.all[half];
                    moments.add_equivalents(half.centre, half.radius, strengths.map_or(&[], |s| s));
                }
                spoken.insert(whole, moments.strengths());
            }
        }
        spoken
    }

    /// The strengths that act on the segments represented by this rank, received from other segments.
    fn across(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
        spoken: &BTreeMap<usize, Vec<f64>>,
        length: usize,
    ) -> BTreeMap<usize, Vec<f64>> {
        let first = |segment: usize| self.segments.all[segment].first;
        let mut outgoing: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (on, which) in &self.sent {
            outgoing.entry(first(*on)).or_default().push(*which);
        }
        let pack = |(rank, segments): (usize, Vec<usize>)| {
            (
                rank,
                packed(segments.iter().filter_map(|which| spoken.get(which)).flatten()),
            )
        };
        // In the order of the sender: by target segment, then by source segment.
        let mut mine = self.received.clone();
        mine.retain(|(on, _)| first(*on) == ranks.rank());
        mine.sort_unstable();
        let mut expected: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (on, which) in mine {
            expected.entry(first(which)).or_default().push((on, which));
        }
        let bytes = |pairs: &Vec<_>| pairs.len() * length * size_of::<f64>();
        let lengths = expected.iter().map(|(rank, pairs)| (*rank, bytes(pairs))).collect();
        let outgoing: Vec<Message> = outgoing.into_iter().map(pack).collect();
        let incoming = deliver(ranks, traffic, outgoing, lengths);
        let mut found: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
        for ((_, bytes), pairs) in incoming.iter().zip(expected.into_values()) {
            let mut reader = Reader::new(bytes);
            found.extend(pairs.into_iter().map(|pair| (pair, reader.values(length).collect())));
        }
        let mut across: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for ((on, _), strengths) in found {
            across.entry(on).or_default().extend(strengths);
        }
        across
    }

    /// Passes the strengths that act on segments down to their halves. Returns all that act on this rank, in the
    /// order of the path.
    fn downward(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
        across: BTreeMap<usize, Vec<f64>>,
        length: usize,
    ) -> Vec<f64> {
        let rank = ranks.rank();
        let acting = |depth: usize| {
            let on_path = &self.path[..=depth.min(self.path.len() - 1)];
            self.received.iter().filter(|(on, _)| on_path.contains(on)).count()
        };
        let mut all: Vec<f64> = Vec::new();
        for depth in 0..self.depth.max(1) {
            let (mut outgoing, mut expected) = (Vec::new(), Vec::new());
            let whole = self.path.get(depth).copied();
            // The representative of the whole segment has received the strengths that act on it.
            if let Some(whole) = whole
                && self.segments.all[whole].first == rank
            {
                all.extend(across.get(&whole).into_iter().flatten());
            }
            if let Some([first, second]) = whole.and_then(|whole| self.segments.all[whole].halves) {
                let [from, to] = [first, second].map(|half| self.segments.all[half].first);
                if from == rank {
                    outgoing.push((to, packed(all.iter())));
                } else if to == rank {
                    expected.push((from, acting(depth) * length * size_of::<f64>()));
                }
            }
            let received = deliver(ranks, traffic, outgoing, expected);
            if let Some((_, bytes)) = received.first() {
                all = Reader::new(bytes).values(acting(depth) * length).collect();
            }
        }
        // The last segment on the path is this rank alone. If its path is shorter than the depth, the loop has
        // handled it.
        if self.path.len() > self.depth.max(1)
            && let Some(last) = self.path.last()
        {
            all.extend(across.get(last).into_iter().flatten());
        }
        all
    }
}

fn packed<'a>(values: impl Iterator<Item = &'a f64>) -> Vec<u8> {
    let values: Vec<f64> = values.copied().collect();
    let mut writer = Writer::default();
    writer.values(values.into_iter());
    writer.finish()
}
