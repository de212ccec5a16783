//! Routes of points, strengths and results between the caller's ranks and the ranks that sum.

use crate::communicator::{Communicator, Message};
use crate::partition::Sorted;
use crate::traffic::Exchanged;
use crate::wire::{Reader, Writer};
use farfield::simd::Real;
use rayon::prelude::*;

/// The destinations of this rank's points (sources or targets), and the origins of the points that arrive here.
#[derive(Debug, Clone, Default)]
pub struct Route {
    /// The indices of this rank's points in the order of the curve, grouped by destination.
    permutation: Vec<u32>,
    /// The position of each point in that order.
    places: Vec<u32>,
    /// The beginning of the points for each rank in that order.
    cuts: Vec<usize>,
    /// The ranks that send points to this one and the number of points, in ascending order of ranks.
    origins: Vec<(usize, usize)>,
}

impl Route {
    /// Makes the route; exchanges the numbers of points. Called by all ranks together.
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

    /// The route of `points` points that stay on their rank, in their order.
    pub fn stay(points: usize) -> Self {
        Self {
            cuts: vec![0, points],
            origins: vec![(0, points)],
            ..Self::default()
        }
    }

    /// Whether the points stay on their rank, in their order.
    fn stays(&self) -> bool {
        self.cuts.len() == 2
    }

    /// The number of points that the caller has on this rank.
    pub fn leaving(&self) -> usize {
        self.cuts.last().copied().unwrap_or(0)
    }

    /// The number of points that arrive on this rank.
    pub fn arriving(&self) -> usize {
        self.origins.iter().map(|(_, count)| count).sum()
    }

    fn destinations(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let pieces = self.cuts.windows(2).enumerate();
        pieces
            .map(|(rank, pair)| (rank, &self.permutation[pair[0]..pair[1]]))
            .filter(|(_, points)| !points.is_empty())
    }

    /// Sends rows of `columns` numbers, one row for each of this rank's points, to the destinations of the points.
    /// Returns the rows of the points that arrived here, grouped by origin and within it in the order of the curve.
    /// Row `k` of block `b` is at `(b * points + k) * columns` in both arrays. Called by all ranks together.
    pub fn forward<T: Real>(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
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

    /// As [`forward`](Self::forward), into an existing array.
    pub fn forward_into<T: Real>(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
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

    /// The reverse of [`forward`](Self::forward): sends the rows of the points that arrived here back to the ranks
    /// they came from. Returns the rows of this rank's points in their original order. Called by all ranks together.
    pub fn back<T: Real>(
        &self,
        ranks: &(impl Communicator + ?Sized),
        traffic: &mut Exchanged,
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
        // Each rank returns a piece of the curve, block after block.
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

/// The number of rows that a thread takes at a time.
const ROWS: usize = 1 << 12;

/// Copies row `place_of(k)` of `from` to row `k` of `to`, with `C` numbers per row. The constant width lets the
/// processor load many rows at once.
fn pick_rows<T: Real, const C: usize>(from: &[T], to: &mut [T], place_of: impl Fn(usize) -> usize + Sync) {
    let from = from.as_chunks::<C>().0;
    let rows = to.as_chunks_mut::<C>().0.par_iter_mut();
    rows.with_min_len(ROWS)
        .enumerate()
        .for_each(|(row, numbers)| *numbers = from[place_of(row)]);
}

/// Sends messages to ranks that expect them. Both lists are in ascending order of ranks. Messages of a rank to itself
/// are not sent but returned with the others.
pub fn deliver(
    ranks: &(impl Communicator + ?Sized),
    traffic: &mut Exchanged,
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
    fn rows_of_every_width_return_in_their_original_order() {
        for (blocks, columns) in [(1, 1), (1, 3), (1, 4), (1, 5), (2, 1), (3, 3), (2, 4)] {
            Threads::run(3, |ranks| {
                let own = 40 + 9 * ranks.rank();
                let keys: Vec<u64> = (0..own).map(|k| (k * 2654435761 % 1000) as u64).collect();
                let sorted = Sorted::new(keys, |_| 1);
                let [cuts] = cut(ranks, [&sorted], 0.0);
                let route = Route::new(ranks, sorted, cuts);
                let mut traffic = Exchanged::default();
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
    fn pieces_follow_the_curve_and_rows_return_in_their_original_order() {
        for size in [1, 2, 3, 6] {
            Threads::run(size, |ranks| {
                let own = if ranks.rank() == 1 { 0 } else { 50 + 7 * ranks.rank() };
                let keys: Vec<u64> = (0..own).map(|k| (k * 2654435761 % 1000) as u64).collect();
                let sorted = Sorted::new(keys.clone(), |_| 1);
                let [cuts] = cut(ranks, [&sorted], 0.0);
                let route = Route::new(ranks, sorted, cuts);
                let mut traffic = Exchanged::default();
                // Two blocks of two columns: the key and the number of the block.
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
            .for_each(|pair| assert!(pair[0][1] <= -pair[1][0], "pieces must be in the order of ranks"));
        }
    }
}
