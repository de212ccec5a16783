//! Who gets which points: pieces of the curve, of equal weight.
//!
//! Points are ordered by their key, then by the rank that has them, then by their number there. So no two are at the same
//! place of that order, and any number of points that share a key can be cut. The ranks look for the places where to cut by halving:
//! each counts the weight of its points before every place, the sums over all ranks say in which half to look on.

use crate::communicator::Communicator;
use rayon::prelude::*;

/// The points of one kind (sources or targets) that a rank has, in the order of the curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Sorted {
    /// Their keys, ascending.
    pub keys: Vec<u64>,
    /// Which points they are.
    pub permutation: Vec<u32>,
    /// What all before a point weigh; one more than there are points.
    weight_before: Vec<u64>,
}

impl Sorted {
    /// Sorts points by their keys. Points of equal keys stay in their sequence. `weight` says what a point of a key weighs.
    pub fn new(keys: Vec<u64>, weight: impl Fn(u64) -> u64 + Sync) -> Self {
        let mut entries: Vec<(u64, u32)> = keys.into_par_iter().zip(0..u32::MAX).collect();
        entries.par_sort_unstable();
        let weights: Vec<u64> = entries.par_iter().map(|(key, _)| weight(*key)).collect();
        let mut weight_before = Vec::with_capacity(entries.len() + 1);
        let mut sum = 0;
        for weight in weights {
            weight_before.push(sum);
            sum += weight;
        }
        weight_before.push(sum);
        let (keys, permutation) = entries.into_par_iter().unzip();
        Self {
            keys,
            permutation,
            weight_before,
        }
    }

    fn weight(&self) -> u64 {
        self.weight_before.last().copied().unwrap_or(0)
    }

    /// How many points, of those of rank `rank`, are before a place.
    fn before(&self, rank: usize, place: Place) -> usize {
        let (key, at) = ((place >> 64) as u64, place as u64);
        let first = self.keys.partition_point(|k| *k < key);
        let same = self.keys[first..].partition_point(|k| *k == key);
        // Points that share the key are in the sequence of their numbers, from `rank << 32` on.
        let own = (rank as u64) << 32;
        let numbers = &self.permutation[first..first + same];
        first + numbers.partition_point(|number| own + u64::from(*number) < at)
    }
}

/// What points weigh: the work that a point takes, by the piece of the curve it is on.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// The first key of each piece, and what a point of it weighs.
    pieces: Vec<(u64, u64)>,
}

/// What a point of mean work weighs.
const MEAN_WEIGHT: f64 = 1e4;

impl Weights {
    /// All points take the same work.
    pub fn equal() -> Self {
        Self { pieces: Vec::new() }
    }

    /// What a point of a key weighs.
    pub fn of(&self, key: u64) -> u64 {
        let piece = self.pieces.partition_point(|(first, _)| *first <= key);
        match piece.checked_sub(1) {
            Some(piece) => self.pieces[piece].1,
            None => self.pieces.first().map_or(MEAN_WEIGHT as u64, |(_, weight)| *weight),
        }
    }
}

/// What each rank has to do: its first key, points, and work.
#[derive(Debug, Clone, PartialEq)]
pub struct Works {
    ranks: Vec<(u64, f64, f64)>,
}

impl Works {
    /// The first key of this rank's sources and targets, how many these are, and what they take. Called by all ranks together.
    pub fn of_all(ranks: &(impl Communicator + ?Sized), (first, points): (u64, usize), work: f64) -> Self {
        let own = [first, points as u64, work.to_bits()];
        let all = ranks.all_gather(own.map(u64::to_ne_bytes).as_flattened());
        let numbers: Vec<u64> = all
            .as_chunks()
            .0
            .iter()
            .map(|bytes| u64::from_ne_bytes(*bytes))
            .collect();
        let of_rank = |[first, points, work]: &[u64; 3]| (*first, *points as f64, f64::from_bits(*work));
        Self {
            ranks: numbers.as_chunks::<3>().0.iter().map(of_rank).collect(),
        }
    }

    fn total(&self) -> f64 {
        self.ranks.iter().map(|(_, _, work)| work).sum()
    }

    fn points(&self) -> f64 {
        self.ranks.iter().map(|(_, points, _)| points).sum()
    }

    /// The mean over the ranks.
    pub fn mean(&self) -> f64 {
        self.total() / self.ranks.len() as f64
    }

    /// The largest work over the mean; 1 for a few points, which are as even as they can be.
    pub fn unevenness(&self) -> f64 {
        let largest = self.ranks.iter().map(|(_, _, work)| *work).fold(0.0, f64::max);
        if self.exceed(self.mean()) {
            largest / self.mean()
        } else {
            1.0
        }
    }

    /// Whether a rank has more to do than `most`; a few points are as even as they can be.
    pub fn exceed(&self, most: f64) -> bool {
        self.points() >= 1000.0 * self.ranks.len() as f64 && self.ranks.iter().any(|(_, _, work)| *work > most)
    }

    /// What points weigh by this work, where each rank has a piece of the curve.
    pub fn weights(&self) -> Weights {
        let (total, count) = (self.total(), self.points());
        let weight = |(first, points, work): &(u64, f64, f64)| {
            let relative = (work / points) / (total / count);
            (*first, (MEAN_WEIGHT * relative.clamp(0.01, 100.0)) as u64)
        };
        let pieces = self.ranks.iter().filter(|(_, points, _)| *points > 0.0);
        Weights {
            pieces: pieces.map(weight).collect(),
        }
    }
}

/// A place in the order of all points: the key, then the rank, then the number.
type Place = u128;

/// Where each rank's piece begins among this rank's sorted points of each kind: `size + 1` places.
pub type Cuts<const S: usize> = [Vec<usize>; S];

/// Cuts the curve into one piece for each rank, of weights that differ by less than `slack` of a piece from each other, or by one
/// point. Called by all ranks together.
pub fn cut<const S: usize>(ranks: &(impl Communicator + ?Sized), sets: [&Sorted; S], slack: f64) -> Cuts<S> {
    let (size, rank) = (ranks.size(), ranks.rank());
    let mut total = [sets.iter().map(|set| set.weight()).sum()];
    ranks.sum_all(&mut total);
    let total = total[0];
    let share = |piece: usize| (u128::from(total) * piece as u128 / size as u128) as u64;
    let close = (0.25 * slack * total as f64 / size as f64) as u64;
    // Between which places each cut is; the second may be it.
    let mut brackets: Vec<(Place, Place)> = vec![(0, Place::MAX >> 1); size - 1];
    let mut open: Vec<usize> = (0..size - 1).collect();
    while !open.is_empty() {
        let middle = |(low, high): (Place, Place)| low + (high - low) / 2;
        let weight_before =
            |place: Place| -> u64 { sets.iter().map(|set| set.weight_before[set.before(rank, place)]).sum() };
        let mut weights: Vec<u64> = open.iter().map(|cut| weight_before(middle(brackets[*cut]))).collect();
        ranks.sum_all(&mut weights);
        let mut still_open = Vec::new();
        for (cut, weight) in open.into_iter().zip(weights) {
            let (middle, wanted) = (middle(brackets[cut]), share(cut + 1));
            if weight.abs_diff(wanted) <= close {
                brackets[cut] = (middle, middle);
                continue;
            }
            let bracket = &mut brackets[cut];
            if weight < wanted {
                bracket.0 = middle + 1;
            } else {
                bracket.1 = middle;
            }
            if bracket.0 < bracket.1 {
                still_open.push(cut);
            }
        }
        open = still_open;
    }
    sets.map(|set| {
        let inner = brackets.iter().map(|(_, place)| set.before(rank, *place));
        let mut cuts: Vec<usize> = std::iter::once(0).chain(inner).collect();
        cuts.push(set.keys.len());
        // Two cuts may be found on either side of the same point.
        for k in 1..cuts.len() {
            cuts[k] = cuts[k].max(cuts[k - 1]);
        }
        cuts
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::Threads;

    /// What the ranks have after the cut: counts of each rank's pieces, and keys of each piece in order.
    fn pieces(size: usize, keys: impl Fn(usize) -> Vec<u64> + Sync, weight: u64) -> Vec<Vec<u64>> {
        let cuts = Threads::run(size, |ranks| {
            let sorted = Sorted::new(keys(ranks.rank()), |_| weight);
            let [cuts] = cut(ranks, [&sorted], 0.01);
            (sorted, cuts)
        });
        let of_piece = |piece: usize| {
            let parts = cuts
                .iter()
                .flat_map(|(sorted, cuts)| sorted.keys[cuts[piece]..cuts[piece + 1]].to_vec());
            parts.collect()
        };
        (0..size).map(of_piece).collect()
    }

    #[test]
    fn pieces_are_ordered_and_of_equal_weight() {
        // Each rank has others, and one has none; keys crowd near zero.
        let keys = |rank: usize| -> Vec<u64> {
            let count = [1000, 0, 3000, 10, 500, 2, 700][rank] as u64;
            (0..count)
                .map(|k| (k * k * 7919 + rank as u64 * 31) % (1 << 40))
                .collect()
        };
        let pieces = pieces(7, keys, 3);
        assert_eq!(pieces.iter().map(Vec::len).sum::<usize>(), 5212);
        for pair in pieces.windows(2) {
            assert!(pair[0].iter().max() <= pair[1].iter().min());
        }
        for piece in &pieces {
            assert!(piece.len().abs_diff(5212 / 7) <= 8, "{}", piece.len());
        }
    }

    #[test]
    fn points_that_share_a_key_are_shared_too() {
        let pieces = pieces(4, |rank| vec![42; 100 * rank], 1);
        assert!(pieces.iter().all(|piece| piece.len().abs_diff(150) <= 1));
    }

    #[test]
    fn fewer_points_than_ranks_are_still_dealt_out() {
        let pieces = pieces(5, |rank| if rank == 3 { vec![5, 9] } else { vec![] }, 1);
        assert_eq!(pieces.iter().map(Vec::len).sum::<usize>(), 2);
        assert!(self::pieces(3, |_| vec![], 1).iter().all(Vec::is_empty));
    }

    #[test]
    fn weights_even_out_the_work() {
        // Points of the upper half of the curve take five times the work.
        let shares = Threads::run(4, |ranks| {
            let keys: Vec<u64> = (0..4000).map(|k| k * 1000 + ranks.rank() as u64).collect();
            let take = |key: &u64| if *key < 2_000_000 { 1.0 } else { 5.0 };
            let mut weights = Weights::equal();
            let mut works = Vec::new();
            for _ in 0..3 {
                let sorted = Sorted::new(keys.clone(), |key| weights.of(key));
                let [cuts] = cut(ranks, [&sorted], 0.01);
                let route = crate::route::Route::new(ranks, sorted, cuts);
                let numbers: Vec<f64> = keys.iter().map(|key| *key as f64).collect();
                let own = route.forward(ranks, &mut crate::traffic::Traffic::default(), &numbers, (1, 1));
                let own: Vec<u64> = own.into_iter().map(|key| key as u64).collect();
                let work: f64 = own.iter().map(take).sum();
                works.push(work);
                let found = Works::of_all(ranks, (own.iter().copied().min().unwrap_or(u64::MAX), own.len()), work);
                if !found.exceed(1.05 * found.mean()) {
                    break;
                }
                weights = found.weights();
            }
            works
        });
        let mean = 4.0 * (2000.0 + 5.0 * 2000.0) / 4.0;
        let worst = |round: usize| {
            shares
                .iter()
                .map(|works| works[round.min(works.len() - 1)] / mean)
                .fold(0.0, f64::max)
        };
        assert!(worst(0) > 1.5 && worst(9) < 1.06, "{} then {}", worst(0), worst(9));
    }

    #[test]
    fn two_kinds_are_cut_at_the_same_places() {
        let cuts = Threads::run(3, |ranks| {
            let sources = Sorted::new((0..300).map(|k| 3 * k).collect(), |_| 1);
            let targets = Sorted::new((0..100).map(|k| 9 * k).collect(), |_| 6);
            let [s, t] = cut(ranks, [&sources, &targets], 0.01);
            (s, t)
        });
        for (sources, targets) in cuts {
            for piece in 1..3 {
                // A key before the cut is below all keys behind it, up to those that are equal.
                assert!(3 * sources[piece] <= 9 * targets[piece] + 9 && 9 * targets[piece] <= 3 * sources[piece] + 9);
            }
        }
    }
}
