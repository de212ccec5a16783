//! The locally essential sources: the sources of other ranks, or their equivalents, that a rank needs for its own
//! targets.
//!
//! Every rank describes the extent of its targets by a few boxes. For each other rank, the owner of sources walks its
//! own tree: a box that is far from those targets and has many sources is sent as equivalent sources, any other leaf
//! unchanged. Together with its own sources, these act at the targets of the receiver like all sources of all ranks.

use crate::communicator::{Communicator, Message};
use crate::equivalent::{SPHERE, Sources, Sphere, stands_for_many};
use crate::route::deliver;
use crate::traffic::Exchanged;
use crate::tree::{Extent, Tree};
use crate::tuning::Far;
use crate::wire::{Reader, Writer};
use farfield::simd::Real;
use std::collections::BTreeMap;

/// The most boxes that describe the extent of a rank's targets.
pub const BOXES: usize = 32;

/// The sources that this rank sends to another rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parcel {
    /// The receiver.
    pub rank: usize,
    /// Sources sent unchanged, in the order of the curve.
    pub points: Vec<u32>,
    /// Boxes of coincident sources, each sent as one source with the sum of their strengths.
    pub places: Vec<usize>,
    /// Boxes sent as equivalent sources.
    pub boxes: Vec<usize>,
}

/// Walks the tree and collects the sources for targets in the boxes `there`. `reach` gives the reach of a core by its
/// size.
pub fn walk<const D: usize>(
    tree: &Tree<D>,
    there: &[Extent<D>],
    far: &Far,
    equivalents: usize,
    reach: impl Fn(f64) -> f64,
) -> Parcel {
    let mut parcel = Parcel::default();
    if there.is_empty() || tree.nodes.is_empty() {
        return parcel;
    }
    let mut open = vec![0];
    while let Some(k) = open.pop() {
        let node = &tree.nodes[k];
        let distance = there
            .iter()
            .map(|extent| extent.distance(node.centre))
            .fold(f64::INFINITY, f64::min);
        let is_far = node.radius <= far.theta * distance && distance > node.radius + reach(node.core);
        if is_far && stands_for_many(tree, k, equivalents) {
            parcel.boxes.push(k);
        } else if is_far && node.radius == 0.0 {
            parcel.places.push(k);
        } else if node.is_leaf() {
            parcel.points.extend(tree.points_of(k));
        } else {
            // Reversed, because the last node pushed is taken first.
            open.extend((node.children.0..node.children.1).rev());
        }
    }
    parcel
}

/// The numbers of sources that arrive from another rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    rank: usize,
    /// Sources sent unchanged, and merged coincident sources.
    points: usize,
    /// Boxes of equivalent sources.
    boxes: usize,
}

/// The exchange of essential sources: the outgoing parcels and the arrivals.
#[derive(Debug, Clone, Default)]
pub struct Essential {
    parcels: Vec<Parcel>,
    arrivals: Vec<Arrival>,
}

/// The received sources.
#[derive(Debug, Clone)]
pub struct Imported<T, const D: usize> {
    /// Unchanged and equivalent sources.
    pub points: Vec<[T; D]>,
    /// The core sizes, if each source has its own; zero for equivalent sources.
    pub sizes: Option<Vec<T>>,
}

impl<T, const D: usize> Default for Imported<T, D> {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            sizes: None,
        }
    }
}

impl Essential {
    /// Sends positions, and core sizes if each source has its own, and receives those of the ranks `senders`. Every
    /// rank knows the ranks that send to it. Called by all ranks together.
    pub fn new<T: Real, const D: usize>(
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
        (parcels, senders): (Vec<Parcel>, &[usize]),
        (tree, sphere): (&Tree<D>, &Sphere<D>),
        (sources, sizes): (&[[T; D]], Option<&[T]>),
    ) -> (Self, Imported<T, D>) {
        let first_of = |node: &usize| tree.points_of(*node)[0];
        let pack = |parcel: &Parcel| {
            let mut writer = Writer::default();
            writer.count(parcel.points.len() + parcel.places.len());
            writer.count(parcel.boxes.len());
            let sent: Vec<u32> = parcel
                .points
                .iter()
                .copied()
                .chain(parcel.places.iter().map(first_of))
                .collect();
            for index in &sent {
                writer.values(sources[*index as usize].into_iter());
            }
            if let Some(sizes) = sizes {
                let of_points = sent
                    .iter()
                    .take(parcel.points.len())
                    .map(|index| sizes[*index as usize]);
                let of_places = parcel.places.iter().map(|node| T::from_f64(tree.nodes[*node].core));
                writer.values(of_points.chain(of_places).collect::<Vec<T>>().into_iter());
            }
            for node in &parcel.boxes {
                let node = &tree.nodes[*node];
                writer.values(node.centre.into_iter());
                writer.values([node.radius].into_iter());
            }
            (parcel.rank, writer.finish())
        };
        let outgoing: Vec<Message> = parcels.iter().map(pack).collect();
        let length = |(rank, bytes): &Message| (*rank, (bytes.len() as u64).to_ne_bytes().to_vec());
        let announced = senders.iter().map(|rank| (*rank, size_of::<u64>())).collect();
        let lengths = deliver(ranks, traffic, outgoing.iter().map(length).collect(), announced);
        let expected = lengths.iter().map(|(rank, bytes)| (*rank, Reader::new(bytes).count()));
        let incoming = deliver(ranks, traffic, outgoing, expected.collect());
        let arriving = |(_, bytes): &Message| {
            let mut reader = Reader::new(bytes);
            reader.count() + reader.count() * sphere.count()
        };
        // The exact capacity, because a growing vector takes up to twice its contents.
        let more: usize = incoming.iter().map(arriving).sum();
        let mut points = Vec::with_capacity(more);
        let mut sizes = sizes.map(|_| Vec::with_capacity(more));
        let mut arrivals = Vec::with_capacity(incoming.len());
        for (rank, bytes) in incoming {
            let mut reader = Reader::new(&bytes);
            let arrival = Arrival {
                rank,
                points: reader.count(),
                boxes: reader.count(),
            };
            reader.points(arrival.points, &mut points);
            if let Some(sizes) = &mut sizes {
                sizes.extend(reader.values::<T>(arrival.points));
                sizes.extend(std::iter::repeat_n(T::ZERO, arrival.boxes * sphere.count()));
            }
            for _ in 0..arrival.boxes {
                let mut numbers = reader.values::<f64>(D + 1);
                let centre = std::array::from_fn(|_| numbers.next().unwrap_or(0.0));
                let radius = SPHERE * numbers.next().unwrap_or(0.0);
                points.extend((0..sphere.count()).map(|k| sphere.place(k, centre, radius).map(T::from_f64)));
            }
            arrivals.push(arrival);
        }
        (Self { parcels, arrivals }, Imported { points, sizes })
    }

    /// The boxes whose equivalent sources are sent to other ranks.
    pub fn boxes(&self) -> impl Iterator<Item = usize> + '_ {
        self.parcels.iter().flat_map(|parcel| parcel.boxes.iter().copied())
    }

    /// The numbers of unchanged and of equivalent sources that arrive.
    pub fn arriving(&self, sphere: usize) -> (usize, usize) {
        let points = self.arrivals.iter().map(|arrival| arrival.points).sum();
        let boxes: usize = self.arrivals.iter().map(|arrival| arrival.boxes).sum();
        (points, boxes * sphere)
    }

    /// Sends strengths, those of boxes from `equivalents`, and receives those of other ranks. In each vector, the
    /// received strengths are followed by `of_segments`, the strengths of segments of ranks, and by `empty` zeros.
    /// Called by all ranks together.
    pub fn strengths<T: Real, const D: usize>(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
        (tree, sphere): (&Tree<D>, usize),
        own: Sources<'_, T, D>,
        equivalents: &BTreeMap<usize, Vec<f64>>,
        (of_segments, empty): (&[f64], usize),
    ) -> Vec<T> {
        let (vectors, carried) = (own.vectors, own.carried);
        let (components, of_equivalent) = (carried.of_source(), carried.of_equivalent());
        let count = own.points.len();
        let row = |index: usize| {
            (0..vectors).flat_map(move |vector| (0..components).map(move |c| (vector * count + index) * components + c))
        };
        let pack = |parcel: &Parcel| {
            let mut writer = Writer::default();
            let numbers = parcel.points.iter().flat_map(|index| row(*index as usize));
            // On this thread only: other threads would first finish their tasks of the engine.
            let numbers: Vec<T> = numbers.map(|at| own.strengths[at]).collect();
            writer.values(numbers.into_iter());
            for node in &parcel.places {
                let mut sums = vec![0.0; vectors * components];
                for index in tree.points_of(*node) {
                    row(*index as usize)
                        .zip(&mut sums)
                        .for_each(|(at, sum)| *sum += own.strengths[at].to_f64());
                }
                writer.values(sums.into_iter().map(T::from_f64).collect::<Vec<T>>().into_iter());
            }
            for node in &parcel.boxes {
                let strengths = equivalents.get(node).map_or(&[][..], |strengths| strengths);
                writer.values(strengths.iter().map(|value| T::from_f64(*value)));
            }
            (parcel.rank, writer.finish())
        };
        let outgoing: Vec<Message> = self.parcels.iter().map(pack).collect();
        let numbers =
            |arrival: &Arrival| vectors * (arrival.points * components + arrival.boxes * sphere * of_equivalent);
        let expected = self
            .arrivals
            .iter()
            .map(|arrival| (arrival.rank, numbers(arrival) * size_of::<T>()));
        let incoming = deliver(ranks, traffic, outgoing, expected.collect());
        let (points, equivalent) = self.arriving(sphere);
        let in_segments = of_segments.len() / (vectors * of_equivalent);
        let total = points + equivalent + in_segments + empty;
        let mut all = vec![T::ZERO; vectors * total * components];
        let mut first = 0;
        for (arrival, (_, bytes)) in self.arrivals.iter().zip(&incoming) {
            let mut reader = Reader::new(bytes);
            for (rows, width) in [(arrival.points, components), (arrival.boxes * sphere, of_equivalent)] {
                let mut values = reader.values::<T>(rows * vectors * width);
                for source in first..first + rows {
                    for vector in 0..vectors {
                        let place = &mut all[(vector * total + source) * components..][..width];
                        place
                            .iter_mut()
                            .for_each(|place| *place = values.next().unwrap_or(T::ZERO));
                    }
                }
                first += rows;
            }
        }
        for (row, values) in of_segments.chunks_exact(vectors * of_equivalent).enumerate() {
            for (vector, values) in values.chunks_exact(of_equivalent).enumerate() {
                let place = &mut all[(vector * total + first + row) * components..][..of_equivalent];
                place
                    .iter_mut()
                    .zip(values)
                    .for_each(|(place, value)| *place = T::from_f64(*value));
            }
        }
        all
    }
}

/// Sends the boxes of this rank's targets to the ranks `to`, and receives those of the ranks `from`. Called by all
/// ranks together.
pub fn tell<const D: usize>(
    ranks: &(impl Communicator + ?Sized),
    traffic: &mut Exchanged,
    boxes: &[Extent<D>],
    (to, from): (&[usize], &[usize]),
) -> Vec<(usize, Vec<Extent<D>>)> {
    let mut writer = Writer::default();
    for k in 0..BOXES {
        let extent = boxes.get(k).unwrap_or(&Extent::EMPTY);
        writer.values(extent.low.into_iter());
        writer.values(extent.high.into_iter());
    }
    let bytes = writer.finish();
    let outgoing = to.iter().map(|rank| (*rank, bytes.clone())).collect();
    let expected = from.iter().map(|rank| (*rank, bytes.len())).collect();
    let understand = |(rank, bytes): &Message| {
        let mut numbers = Reader::new(bytes).values::<f64>(2 * D * BOXES);
        let mut corner = || std::array::from_fn(|_| numbers.next().unwrap_or(0.0));
        let extents = (0..BOXES).map(|_| Extent {
            low: corner(),
            high: corner(),
        });
        (*rank, extents.filter(|extent| !extent.is_empty()).collect())
    };
    deliver(ranks, traffic, outgoing, expected)
        .iter()
        .map(understand)
        .collect()
}
