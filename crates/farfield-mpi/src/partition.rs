//! Cuts the curve into pieces of equal weight, one for each rank.
//!
//! Points are ordered by key, then by rank, then by index on the rank. So this order has no ties, and points that
//! share a key can be separated. The ranks find the cuts by bisection: each rank sums the weight of its points before
//! every trial cut, and the sum over all ranks decides in which half the cut is.

use crate::communicator::Communicator;
use rayon::prelude::*;

/// The points of a rank (sources or targets) in the order of the curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Sorted {
    /// The keys, ascending.
    pub keys: Vec<u64>,
    /// The indices of the points.
    pub permutation: Vec<u32>,
    /// The weight of all points before each point, and last the total weight.
    weight_before: Vec<u64>,
}

impl Sorted {
    /// Sorts points by their keys; points with equal keys keep their order. `weight` gives the weight of a point by
    /// its key.
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

    /// The number of points before a position; `rank` is the rank of these points.
    fn before(&self, rank: usize, place: Place) -> usize {
        let (key, at) = ((place >> 64) as u64, place as u64);
        let first = self.keys.partition_point(|k| *k < key);
        let same = self.keys[first..].partition_point(|k| *k == key);
        // Points that share the key are ordered by index, counted from `rank << 32`.
        let own = (rank as u64) << 32;
        let numbers = &self.permutation[first..first + same];
        first + numbers.partition_point(|number| own + u64::from(*number) < at)
    }
}

/// The weight of points: the work per point on each piece of the curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// The first key of each piece, and the weight of its points.
    pieces: Vec<(u64, u64)>,
}

/// The weight of a point with the mean work.
const MEAN_WEIGHT: f64 = 1e4;

impl Weights {
    /// The same weight for all points.
    pub fn equal() -> Self {
        Self { pieces: Vec::new() }
    }

    /// The weight of a point with this key.
    pub fn of(&self, key: u64) -> u64 {
        let piece = self.pieces.partition_point(|(first, _)| *first <= key);
        match piece.checked_sub(1) {
            Some(piece) => self.pieces[piece].1,
            None => self.pieces.first().map_or(MEAN_WEIGHT as u64, |(_, weight)| *weight),
        }
    }
}

/// The first key, the number of points and the work of each rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Works {
    ranks: Vec<(u64, f64, f64)>,
}

impl Works {
    /// Gathers the first key of each rank's sources and targets, their number, and their work. Called by all ranks
    /// together.
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

    /// The mean work of a rank.
    pub fn mean(&self) -> f64 {
        self.total() / self.ranks.len() as f64
    }

    /// The largest work of a rank divided by the mean; 1 if there are too few points to balance.
    pub fn unevenness(&self) -> f64 {
        let largest = self.ranks.iter().map(|(_, _, work)| *work).fold(0.0, f64::max);
        if self.exceed(self.mean()) {
            largest / self.mean()
        } else {
            1.0
        }
    }

    /// Whether the work of a rank exceeds `most`; false if there are too few points to balance.
    pub fn exceed(&self, most: f64) -> bool {
        self.points() >= 1000.0 * self.ranks.len() as f64 && self.ranks.iter().any(|(_, _, work)| *work > most)
    }

    /// The weights of points by this work, piece by piece of the curve.
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

/// A position in the order of all points: key, rank and index.
type Place = u128;

/// The beginning of each rank's piece among this rank's sorted points of each kind: `size + 1` indices.
pub type Cuts<const S: usize> = [Vec<usize>; S];

/// Cuts the curve into one piece for each rank. The weights of pieces differ by less than the fraction `slack` of a
/// piece, or by one point. Called by all ranks together.
pub fn cut<const S: usize>(ranks: &(impl Communicator + ?Sized), sets: [&Sorted; S], slack: f64) -> Cuts<S> {
    let (size, rank) = (ranks.size(), ranks.rank());
    let mut total = [sets.iter().map(|set| set.weight()).sum()];
    ranks.sum_all(&mut total);
    let total = total[0];
    let share = |piece: usize| (u128::from(total) * piece as u128 / size as u128) as u64;
    let close = (0.25 * slack * total as f64 / size as f64) as u64;
    // The interval of each cut; the upper end may be the cut.
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
        // The approximate cuts may be out of order by a point.
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

    /// The keys of each piece after the cut.
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
        // The ranks have different numbers of points, one has none; keys cluster near zero.
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
    fn points_with_equal_keys_are_distributed_too() {
        let pieces = pieces(4, |rank| vec![42; 100 * rank], 1);
        assert!(pieces.iter().all(|piece| piece.len().abs_diff(150) <= 1));
    }

    #[test]
    fn fewer_points_than_ranks_are_all_distributed() {
        let pieces = pieces(5, |rank| if rank == 3 { vec![5, 9] } else { vec![] }, 1);
        assert_eq!(pieces.iter().map(Vec::len).sum::<usize>(), 2);
        assert!(self::pieces(3, |_| vec![], 1).iter().all(Vec::is_empty));
    }

    #[test]
    fn weights_even_out_the_work() {
        // Points in the upper half of the curve need five times the work.
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
                let own = route.forward(ranks, &mut crate::traffic::Exchanged::default(), &numbers, (1, 1));
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
    fn sources_and_targets_are_cut_at_the_same_positions() {
        let cuts = Threads::run(3, |ranks| {
            let sources = Sorted::new((0..300).map(|k| 3 * k).collect(), |_| 1);
            let targets = Sorted::new((0..100).map(|k| 9 * k).collect(), |_| 6);
            let [s, t] = cut(ranks, [&sources, &targets], 0.01);
            (s, t)
        });
        for (sources, targets) in cuts {
            for piece in 1..3 {
                // Keys before the cut are at most equal to the keys after it.
                assert!(3 * sources[piece] <= 9 * targets[piece] + 9 && 9 * targets[piece] <= 3 * sources[piece] + 9);
            }
        }
    }
}
