//! The processes that share a simulation, and the ownership of its points.
//!
//! A run is done by one process ([`Alone`]) or by the ranks of an MPI job. All ranks run the same loop with the same
//! models:
//!
//! * **State.** Every rank owns some of the elements, tracers or bodies, with all their attributes, in its own arrays.
//!   No rank has those of another. A model treats its arrays as it would in a single process.
//! * **Sums** are over the sources of all ranks, at each rank's own targets ([`Ranks::sum`]). Models need not know.
//! * **Ownership** changes only between steps ([`Ranks::deal`]): every few steps, and when the work of the ranks has
//!   become uneven. Points near each other are then on one rank. The moment depends only on the state and the step, and
//!   ownership is part of a checkpoint: a run that is resumed on the same number of ranks ends with the same bits.
//! * **Near pairs** (viscosity, cores in the energy) need elements of other ranks: those in neighbouring cells are sent
//!   ([`cells`]).
//! * **Remeshing**: the nodes of a cell to which several ranks contribute strength belong to the lowest of these ranks.
//! * **Measurements** are sums over own points, added in the order of ranks. Every rank has the same numbers, takes the
//!   same step and ends at the same time.
//! * **Files.** The first rank owns the folder: log, table, and pictures of a sample of all points. Every rank writes
//!   its own part of fields and checkpoints. A checkpoint is complete once its list of parts exists, which is written
//!   last (`checkpoint::parts`).
//! * **Failures.** After every operation that may fail on one rank, all ranks compare results ([`agree`]) and end with
//!   the same error.

pub mod cells;
pub mod words;

use crate::error::Error;
use crate::summation::Task;
use farfield::memory::Array;
use farfield::plan::Parameters;
use std::fmt;
use std::ops::Range;

/// The processes that share a simulation. All methods but [`rank`](Self::rank) and [`size`](Self::size) are collective:
/// all ranks call them together, in the same sequence.
pub trait Ranks: fmt::Debug + Send + Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// The bytes of all ranks, in the order of ranks. Every rank gives the same number of bytes.
    fn all_gather(&self, own: &[u8]) -> Vec<u8>;

    /// Sends bytes to ranks, possibly to itself; `outgoing` is in ascending order of ranks. Returns the messages to
    /// this rank, in the order of their senders. Empty messages are not delivered.
    fn send(&self, outgoing: Vec<(usize, Vec<u8>)>) -> Vec<(usize, Vec<u8>)>;

    /// Sums over the sources of all ranks, at this rank's own targets.
    ///
    /// # Errors
    /// [`Error::Sum`] or [`Error::Device`] for one process, [`Error::OnRank`] for several.
    fn sum(&self, task: &Task<'_>) -> Result<RankSum, Error>;

    /// Moves rows of `columns` numbers, one row for each target of `task`, to the ranks that should own the targets, so
    /// that the work of the sums is balanced. Returns the rows that arrived here.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    fn deal(&self, task: &Task<'_>, rows: &[f64], columns: usize) -> Result<Vec<f64>, Error>;
}

/// The result of a sum on one rank.
#[derive(Debug)]
pub struct RankSum {
    /// The values of each output at this rank's targets.
    pub outputs: Vec<Array<f64>>,
    /// The parameters of the plan.
    pub parameters: Parameters,
    /// The time it took in seconds, planning included.
    pub seconds: f64,
    /// The largest work of a rank over the mean; 1 for one process.
    pub unevenness: f64,
}

/// A single process that owns everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn all_gather(&self, own: &[u8]) -> Vec<u8> {
        own.to_vec()
    }

    fn send(&self, mut outgoing: Vec<(usize, Vec<u8>)>) -> Vec<(usize, Vec<u8>)> {
        outgoing.retain(|(_, bytes)| !bytes.is_empty());
        outgoing
    }

    fn sum(&self, task: &Task<'_>) -> Result<RankSum, Error> {
        let summed = task.sum()?;
        Ok(RankSum {
            outputs: summed.outputs,
            parameters: summed.parameters,
            seconds: summed.seconds,
            unevenness: 1.0,
        })
    }

    fn deal(&self, _: &Task<'_>, rows: &[f64], _: usize) -> Result<Vec<f64>, Error> {
        Ok(rows.to_vec())
    }
}

/// Whether this rank writes the output of all: it owns the folder, the log and the table.
pub fn speaks(ranks: &dyn Ranks) -> bool {
    ranks.rank() == 0
}

/// This rank's part of `n` items.
pub fn part(ranks: &dyn Ranks, n: usize) -> Range<usize> {
    (ranks.rank() * n / ranks.size())..((ranks.rank() + 1) * n / ranks.size())
}

/// Selects this rank's part of items that are generated one after the other, so that it never stores the others.
#[derive(Debug, Clone)]
pub struct Kept {
    next: usize,
    part: Range<usize>,
}

impl Kept {
    /// Selects this rank's part of `all` items.
    pub fn of(ranks: &dyn Ranks, all: usize) -> Self {
        Self {
            next: 0,
            part: part(ranks, all),
        }
    }

    /// Whether this rank keeps the next item.
    pub fn takes_next(&mut self) -> bool {
        !self.take(1).is_empty()
    }

    /// The indices, among the next `count` items, of those that this rank keeps.
    pub fn take(&mut self, count: usize) -> Range<usize> {
        let first = self.next;
        self.next += count;
        let within = |at: usize| at.clamp(first, first + count) - first;
        within(self.part.start)..within(self.part.end)
    }
}

/// Replaces each number by its sum over all ranks, added in their order. Called by all ranks together.
pub fn sum_all(ranks: &dyn Ranks, values: &mut [f64]) {
    fold_all(ranks, values, |a, b| a + b);
}

/// Replaces each number by its maximum over all ranks. Called by all ranks together.
pub fn max_all(ranks: &dyn Ranks, values: &mut [f64]) {
    fold_all(ranks, values, f64::max);
}

/// The maximum of all ranks' numbers. Called by all ranks together.
pub fn largest(ranks: &dyn Ranks, own: f64) -> f64 {
    let mut all = [own];
    max_all(ranks, &mut all);
    all[0]
}

/// Whether `own` is true on any rank. Called by all ranks together.
pub fn any(ranks: &dyn Ranks, own: bool) -> bool {
    largest(ranks, own.into()) > 0.0
}

fn fold_all(ranks: &dyn Ranks, values: &mut [f64], join: fn(f64, f64) -> f64) {
    if ranks.size() == 1 || values.is_empty() {
        return;
    }
    let all = of_all(ranks, values);
    let mut of_ranks = all.chunks_exact(values.len());
    values.copy_from_slice(of_ranks.next().unwrap_or(&[]));
    for theirs in of_ranks {
        let pairs = values.iter_mut().zip(theirs);
        pairs.for_each(|(value, other)| *value = join(*value, *other));
    }
}

/// The numbers of all ranks, in the order of ranks. Every rank gives the same number of them. Called by all ranks
/// together.
pub fn of_all(ranks: &dyn Ranks, own: &[f64]) -> Vec<f64> {
    words::numbers(&ranks.all_gather(&words::of_numbers(own)))
}

/// The sum of all ranks' counts. Called by all ranks together.
pub fn count_all(ranks: &dyn Ranks, own: usize) -> usize {
    let mut count = [own as f64];
    sum_all(ranks, &mut count);
    count[0] as usize
}

/// Broadcasts the bytes of the first rank. Called by all ranks together.
pub fn from_first(ranks: &dyn Ranks, own: Vec<u8>) -> Vec<u8> {
    if ranks.size() == 1 {
        return own;
    }
    from_rank(ranks, 0, own)
}

/// Broadcasts the bytes of `rank`. Called by all ranks together.
fn from_rank(ranks: &dyn Ranks, rank: usize, own: Vec<u8>) -> Vec<u8> {
    let outgoing = if ranks.rank() == rank {
        (0..ranks.size()).map(|to| (to, own.clone())).collect()
    } else {
        Vec::new()
    };
    ranks.send(outgoing).pop().map_or_else(Vec::new, |(_, bytes)| bytes)
}

/// Gathers the numbers of all ranks, in the order of ranks, on the first rank; empty on the others. Called by all ranks
/// together.
pub fn to_first(ranks: &dyn Ranks, own: &[f64]) -> Vec<f64> {
    let received = ranks.send(vec![(0, words::of_numbers(own))]);
    received.iter().flat_map(|(_, bytes)| words::numbers(bytes)).collect()
}

/// Returns `own` if no rank has failed, and otherwise on every rank the error of the first that failed. Called by all
/// ranks together.
///
/// # Errors
/// The rank's own error if it is the same on all ranks, else [`Error::OnRank`].
pub fn agree<R>(ranks: &dyn Ranks, own: Result<R, Error>) -> Result<R, Error> {
    if ranks.size() == 1 {
        return own;
    }
    let flags = ranks.all_gather(&[own.is_err().into()]);
    let Some(first) = flags.iter().position(|flag| *flag != 0) else {
        return own;
    };
    let words = own.as_ref().err().map(ToString::to_string);
    let message = from_rank(ranks, first, words.clone().unwrap_or_default().into_bytes());
    let message = String::from_utf8_lossy(&message).into_owned();
    let same = ranks.all_gather(&[(words.as_ref() == Some(&message)).into()]);
    match own {
        Err(error) if same.iter().all(|same| *same != 0) => Err(error),
        _ => Err(Error::OnRank {
            rank: first,
            message,
            blew_up: false,
        }),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One of several ranks, without communication.
    #[derive(Debug)]
    pub(crate) struct Rank {
        pub rank: usize,
        pub size: usize,
    }

    impl Ranks for Rank {
        fn rank(&self) -> usize {
            self.rank
        }

        fn size(&self) -> usize {
            self.size
        }

        fn all_gather(&self, _: &[u8]) -> Vec<u8> {
            unreachable!("this rank cannot communicate")
        }

        fn send(&self, _: Vec<(usize, Vec<u8>)>) -> Vec<(usize, Vec<u8>)> {
            unreachable!("this rank cannot communicate")
        }

        fn sum(&self, _: &Task<'_>) -> Result<RankSum, Error> {
            unreachable!("this rank cannot communicate")
        }

        fn deal(&self, _: &Task<'_>, _: &[f64], _: usize) -> Result<Vec<f64>, Error> {
            unreachable!("this rank cannot communicate")
        }
    }

    #[test]
    fn the_parts_of_all_ranks_cover_every_item_once() {
        for size in [1, 2, 5] {
            let mut found = Vec::new();
            for rank in 0..size {
                let mut kept = Kept::of(&Rank { rank, size }, 17);
                let mut first = 0;
                for count in [3, 0, 1, 9, 4] {
                    found.extend(kept.take(count).map(|k| first + k));
                    first += count;
                }
            }
            assert_eq!(found, (0..17).collect::<Vec<_>>(), "{size} ranks");
        }
    }
}
