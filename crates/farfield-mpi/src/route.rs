//! The way of points, strengths and results between the ranks that the caller has them on and those that sum.

use crate::communicator::{Communicator, Message};
use crate::partition::Sorted;
use crate::traffic::Traffic;
use crate::wire::{Reader, Writer};
use farfield::simd::Real;
use rayon::prelude::*;

/// Where one kind of points (sources or targets) went, and where this rank's own come from.
#[derive(Debug, Clone, Default)]
pub struct Route {
    /// This rank's points in the order of the curve: those of each destination are together.
    permutation: Vec<u32>,
    /// Where each of them is in that order.
    places: Vec<u32>,
    /// Where the points for each rank begin in it.
    cuts: Vec<usize>,
    /// Which ranks sent how many points, in ascending order.
    origins: Vec<(usize, usize)>,
}

impl Route {
    /// Learns who sends how many. Called by all ranks together.
    pub fn new(ranks: &(impl Communicator + ?Sized), sorted: Sorted, cuts: Vec<usize>) -> Self {
        let counts: Vec<u64> = cuts.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect();
        let origins = ranks.transpose(&counts).into_iter().enumerate();
        let mut places = vec![0; sorted.permutation.len()];
        for (point, place) in sorted.permutation.iter().zip(0..) {
            places[*point as usize] = place;
        }
        Self {
            permutation: sorted.permutation,
            places,
            cuts,
            origins: origins
                .filter(|(_, count)| *count > 0)
                .map(|(rank, count)| (rank, count as usize))
                .collect(),
        }
    }

    /// The way of so many points that stay where they are: for one rank.
    pub fn stay(points: usize) -> Self {
        Self {
            cuts: vec![0, points],
            origins: vec![(0, points)],
            ..Self::default()
        }
    }

    /// Whether the points stay where they are, in their sequence.
    fn stays(&self) -> bool {
        self.cuts.len() == 2
    }

    /// How many points the caller has here.
    pub fn leaving(&self) -> usize {
        self.cuts.last().copied().unwrap_or(0)
    }

    /// How many points arrive here.
    pub fn arriving(&self) -> usize {
        self.origins.iter().map(|(_, count)| count).sum()
    }

    fn destinations(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let pieces = self.cuts.windows(2).enumerate();
        pieces
            .map(|(rank, pair)| (rank, &self.permutation[pair[0]..pair[1]]))
            .filter(|(_, points)| !points.is_empty())
    }

    /// Sends rows of `columns` numbers, one for each of this rank's points, to where the points went; returns the rows of the points
    /// that arrived here, those of each origin in the order of the curve. Row `k` of block `b` is at `(b * points + k) * columns`,
    /// here and there. Called by all ranks together.
    pub fn forward<T: Real>(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Traffic,
        values: &[T],
        (blocks, columns): (usize, usize),
    ) -> Vec<T> {
        if self.stays() {
            return values.to_vec();
        }
        let mut arrived = vec![T::ZERO; blocks * self.arriving() * columns];
        self.forward_into(ranks, traffic, values, (blocks, columns), &mut arrived);
        arrived
    }

    /// The same, into places for all that arrives.
    pub fn forward_into<T: Real>(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Traffic,
        values: &[T],
        (blocks, columns): (usize, usize),
        arrived: &mut [T],
    ) {
        if self.stays() {
            arrived.copy_from_slice(values);
            return;
        }
        let points = self.leaving();
        let pack = |(rank, picked): (usize, &[u32])| {
            let mut writer = Writer::default();
            for block in 0..blocks {
                writer.rows(&values[block * points * columns..], columns, picked);
            }
            (rank, writer.finish())
        };
        let outgoing = self.destinations().map(pack).collect();
        let incoming = deliver(
            ranks,
            traffic,
            outgoing,
            self.lengths(&self.origins, blocks * columns * size_of::<T>()),
        );
        let arriving = self.arriving();
        let mut first = 0;
        for ((_, count), (_, bytes)) in self.origins.iter().zip(incoming) {
            let mut reader = Reader::new(&bytes);
            for block in 0..blocks {
                reader.fill(&mut arrived[(block * arriving + first) * columns..][..count * columns]);
            }
            first += count;
        }
    }

    /// Sends rows the way back: from the points that arrived here to the ranks that have them, in these ranks' own sequence. The
    /// reverse of [`forward`](Self::forward).
    pub fn back<T: Real>(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Traffic,
        values: Vec<T>,
        (blocks, columns): (usize, usize),
    ) -> Vec<T> {
        if self.stays() {
            return values;
        }
        let arriving = self.arriving();
        let mut outgoing: Vec<Message> = Vec::with_capacity(self.origins.len());
        let mut first = 0;
        for (rank, count) in &self.origins {
            let mut writer = Writer::default();
            for block in 0..blocks {
                writer.consecutive(&values[(block * arriving + first) * columns..][..count * columns]);
            }
            outgoing.push((*rank, writer.finish()));
            first += count;
        }
        drop(values);
        let destinations: Vec<(usize, usize)> =
            self.destinations().map(|(rank, points)| (rank, points.len())).collect();
        let incoming = deliver(
            ranks,
            traffic,
            outgoing,
            self.lengths(&destinations, blocks * columns * size_of::<T>()),
        );
        // What comes from each rank is a piece of the curve, block after block.
        let points = self.leaving();
        let mut by_curve = vec![T::ZERO; blocks * points * columns];
        let mut pieces: Vec<(usize, usize)> = Vec::with_capacity(destinations.len());
        let mut first = 0;
        for ((_, count), (_, bytes)) in destinations.iter().zip(incoming) {
            Reader::new(&bytes).fill(&mut by_curve[blocks * first * columns..][..blocks * count * columns]);
            pieces.push((first, *count));
            first += count;
        }
        let place_of = |row: usize| {
            if blocks == 1 {
                return self.places[row] as usize;
            }
            let (block, place) = (row / points, self.places[row % points] as usize);
            let (first, count) = pieces[pieces.partition_point(|(first, _)| *first <= place) - 1];
            blocks * first + block * count + (place - first)
        };
        let mut returned = vec![T::ZERO; blocks * points * columns];
        match columns {
            1 => pick_rows::<T, 1>(&by_curve, &mut returned, place_of),
            3 => pick_rows::<T, 3>(&by_curve, &mut returned, place_of),
            _ => returned
                .par_chunks_exact_mut(columns)
                .with_min_len(ROWS)
                .enumerate()
                .for_each(|(row, numbers)| numbers.copy_from_slice(&by_curve[place_of(row) * columns..][..columns])),
        }
        returned
    }

    fn lengths(&self, counts: &[(usize, usize)], bytes: usize) -> Vec<(usize, usize)> {
        counts.iter().map(|(rank, count)| (*rank, count * bytes)).collect()
    }
}

/// Rows that a thread takes at once.
const ROWS: usize = 1 << 12;

/// Rows of `C` numbers: row `k` of `to` is row `place_of(k)` of `from`. A loop for one `C`, so that many rows are on their way from memory
/// at once.
fn pick_rows<T: Real, const C: usize>(from: &[T], to: &mut [T], place_of: impl Fn(usize) -> usize + Sync) {
    let from = from.as_chunks::<C>().0;
    let rows = to.as_chunks_mut::<C>().0.par_iter_mut();
    rows.with_min_len(ROWS)
        .enumerate()
        .for_each(|(row, numbers)| *numbers = from[place_of(row)]);
}

/// Sends messages to ranks that expect them. Both lists are in ascending order of ranks; what a rank has for itself stays here.
pub fn deliver(
    ranks: &(impl Communicator + ?Sized),
    traffic: &mut Traffic,
    mut outgoing: Vec<Message>,
    mut expected: Vec<(usize, usize)>,
) -> Vec<Message> {
    let own = outgoing.iter().position(|(rank, _)| *rank == ranks.rank());
    let own = own.map(|at| outgoing.remove(at));
    outgoing.retain(|(_, bytes)| !bytes.is_empty());
    expected.retain(|(rank, bytes)| *rank != ranks.rank() && *bytes > 0);
    traffic.count(&outgoing, &expected);
    let received = ranks.exchange(&outgoing, &expected);
    let mut incoming: Vec<Message> = expected.iter().map(|(rank, _)| *rank).zip(received).collect();
    incoming.extend(own);
    incoming.sort_by_key(|(rank, _)| *rank);
    incoming
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::Threads;
    use crate::partition::cut;

    #[test]
    fn rows_of_every_width_come_back_to_their_place() {
        for (blocks, columns) in [(1, 1), (1, 3), (1, 4), (1, 5), (2, 1), (3, 3), (2, 4)] {
            Threads::run(3, |ranks| {
                let own = 40 + 9 * ranks.rank();
                let keys: Vec<u64> = (0..own).map(|k| (k * 2654435761 % 1000) as u64).collect();
                let sorted = Sorted::new(keys, |_| 1);
                let [cuts] = cut(ranks, [&sorted], 0.0);
                let route = Route::new(ranks, sorted, cuts);
                let mut traffic = Traffic::default();
                let number = |k: usize| (1000 * ranks.rank() + k) as f64;
                let values: Vec<f64> = (0..blocks * own * columns).map(number).collect();
                let there = route.forward(ranks, &mut traffic, &values, (blocks, columns));
                assert_eq!(there.len(), blocks * route.arriving() * columns);
                let back = route.back(ranks, &mut traffic, there, (blocks, columns));
                assert_eq!(back, values, "{blocks} blocks of {columns} columns");
                let singles: Vec<f32> = values.iter().map(|value| *value as f32).collect();
                let there = route.forward(ranks, &mut traffic, &singles, (blocks, columns));
                assert_eq!(route.back(ranks, &mut traffic, there, (blocks, columns)), singles);
            });
        }
    }

    #[test]
    fn what_goes_forward_comes_back_to_its_place() {
        for size in [1, 2, 3, 6] {
            Threads::run(size, |ranks| {
                let own = if ranks.rank() == 1 { 0 } else { 50 + 7 * ranks.rank() };
                let keys: Vec<u64> = (0..own).map(|k| (k * 2654435761 % 1000) as u64).collect();
                let sorted = Sorted::new(keys.clone(), |_| 1);
                let [cuts] = cut(ranks, [&sorted], 0.0);
                let route = Route::new(ranks, sorted, cuts);
                let mut traffic = Traffic::default();
                // Two blocks of two columns: the key, and which block it is.
                let values: Vec<f64> = (0..2)
                    .flat_map(|block| keys.iter().flat_map(move |key| [*key as f64, block as f64]))
                    .collect();
                let there = route.forward(ranks, &mut traffic, &values, (2, 2));
                assert_eq!(there.len(), 4 * route.arriving());
                let (first, second) = there.as_chunks::<2>().0.split_at(route.arriving());
                assert!(
                    first
                        .iter()
                        .zip(second)
                        .all(|(a, b)| a[0] == b[0] && a[1] == 0.0 && b[1] == 1.0)
                );
                let keys_there = first.iter().map(|row| row[0]);
                let extremes = [
                    -keys_there.clone().fold(f64::MAX, f64::min),
                    keys_there.fold(f64::MIN, f64::max),
                ];
                assert_eq!(route.back(ranks, &mut traffic, there, (2, 2)), values);
                extremes
            })
            .windows(2)
            .for_each(|pair| assert!(pair[0][1] <= -pair[1][0], "pieces of the curve in the order of ranks"));
        }
    }
}
