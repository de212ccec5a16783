//! The processes that share a simulation, and who owns what.
//!
//! A run is done by one process ([`Alone`]) or by the ranks of a job, all of which go through the same loop with the same models:
//!
//! * **State.** Every rank owns some of the elements, tracers or bodies, in arrays of its own, with all that belongs to them. No rank has
//!   the others'. A model does with its arrays what it would do alone.
//! * **Sums** are over the sources of all ranks, at each rank's own targets ([`Ranks::sum`]). A model does not see the difference.
//! * **Owners** change only between steps ([`Ranks::deal`]): when the work of the ranks has become uneven, and every few steps. What is
//!   near together is then on one rank. When that happens follows from the state and the step, and owners are part of a
//!   checkpoint: a run that is resumed on as many ranks ends with the same bits.
//! * **Near pairs** (viscosity, cores in the energy) need elements of other ranks: those in cells next to own ones are sent ([`cells`]).
//! * **Remeshing**: the nodes of a cell that several ranks bring strength to belong to the lowest of these ranks.
//! * **Measurements** are sums over own points, added in the order of ranks; every rank has the same numbers, takes the same step and ends
//!   at the same time.
//! * **Files.** The first rank has the folder: log, table, pictures of a part of all points. Every rank writes its own part of fields and
//!   checkpoints; a checkpoint is there when its list of parts is, which is written last (`checkpoint::parts`).
//! * **Failures.** After everything that may fail on one rank alone, all of them hear of it ([`agree`]) and end with the same error.

pub mod cells;
pub mod words;

use crate::error::Error;
use crate::summation::SumRequest;
use farfield::Options;
use farfield::memory::{Array, ArraySum};
use farfield::plan::Parameters;
use std::fmt;
use std::ops::Range;

/// The processes that share a simulation. All but [`rank`](Self::rank) and [`size`](Self::size) are called by all ranks together, in
/// the same sequence.
pub trait Ranks: fmt::Debug + Send + Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn size(&self) -> usize;

    /// The bytes of all ranks, as many from each, in the order of ranks.
    fn all_gather(&self, own: &[u8]) -> Vec<u8>;

    /// Sends bytes to ranks, itself included, in ascending order; returns what the ranks have for this one, in their order. Of nothing
    /// nobody hears.
    fn send(&self, outgoing: Vec<(usize, Vec<u8>)>) -> Vec<(usize, Vec<u8>)>;

    /// Sums over the sources of all ranks, at this rank's own targets.
    ///
    /// # Errors
    /// [`Error::Sum`] or [`Error::Device`] of one process, [`Error::OnRank`] of several.
    fn sum(&self, request: &SumRequest<'_>, options: &Options) -> Result<Summed, Error>;

    /// Moves rows of numbers, one row for each target (each source, where these are the targets), to the ranks that should own
    /// these, so that all have as much to sum; returns the rows that arrived here.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    fn deal(
        &self,
        request: &SumRequest<'_>,
        options: &Options,
        rows: &[f64],
        columns: usize,
    ) -> Result<Vec<f64>, Error>;
}

/// What a sum came to on one rank.
#[derive(Debug)]
pub struct Summed {
    /// The values of each output at this rank's targets.
    pub outputs: Vec<Array<f64>>,
    /// What the plan settled on.
    pub parameters: Parameters,
    /// Seconds it took, planning included.
    pub seconds: f64,
    /// The largest work of a rank over the mean; 1 for one process.
    pub unevenness: f64,
}

/// One process that has everything.
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

    fn sum(&self, request: &SumRequest<'_>, options: &Options) -> Result<Summed, Error> {
        let summed = request.sources.memory().sum(&ArraySum {
            kernel: request.kernel,
            outputs: request.outputs,
            vectors: request.vectors,
            sources: request.sources,
            targets: request.targets,
            sizes: request.sizes,
            strengths: request.strengths,
            options,
        });
        let summed = summed.map_err(|error| Error::during(request.what, error))?;
        Ok(Summed {
            outputs: summed.outputs,
            parameters: summed.parameters,
            seconds: summed.seconds,
            unevenness: 1.0,
        })
    }

    fn deal(&self, _: &SumRequest<'_>, _: &Options, rows: &[f64], _: usize) -> Result<Vec<f64>, Error> {
        Ok(rows.to_vec())
    }
}

/// Whether this rank speaks for all: it has the folder, the log and the table.
pub fn speaks(ranks: &dyn Ranks) -> bool {
    ranks.rank() == 0
}

/// The part of `n` things that all ranks have which this one keeps.
pub fn part(ranks: &dyn Ranks, n: usize) -> Range<usize> {
    (ranks.rank() * n / ranks.size())..((ranks.rank() + 1) * n / ranks.size())
}

/// Which of things that are made one after the other this rank keeps: its part of them, so that it never has the others'.
#[derive(Debug, Clone)]
pub struct Kept {
    next: usize,
    part: Range<usize>,
}

impl Kept {
    /// This rank's part of so many.
    pub fn of(ranks: &dyn Ranks, all: usize) -> Self {
        Self {
            next: 0,
            part: part(ranks, all),
        }
    }

    /// Whether the next one is kept.
    pub fn takes_next(&mut self) -> bool {
        !self.take(1).is_empty()
    }

    /// Of the next `count`, those that are kept, counted from the first of these.
    pub fn take(&mut self, count: usize) -> Range<usize> {
        let first = self.next;
        self.next += count;
        let within = |at: usize| at.clamp(first, first + count) - first;
        within(self.part.start)..within(self.part.end)
    }
}

/// Each number becomes its sum over all ranks, added in their order. Called by all ranks together.
pub fn sum_all(ranks: &dyn Ranks, values: &mut [f64]) {
    fold_all(ranks, values, |a, b| a + b);
}

/// Each number becomes the largest of all ranks. Called by all ranks together.
pub fn max_all(ranks: &dyn Ranks, values: &mut [f64]) {
    fold_all(ranks, values, f64::max);
}

/// The largest of all ranks' numbers. Called by all ranks together.
pub fn largest(ranks: &dyn Ranks, own: f64) -> f64 {
    let mut all = [own];
    max_all(ranks, &mut all);
    all[0]
}

/// Whether it is so on any rank. Called by all ranks together.
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

/// The numbers of all ranks, as many from each, in their order. Called by all ranks together.
pub fn of_all(ranks: &dyn Ranks, own: &[f64]) -> Vec<f64> {
    words::numbers(&ranks.all_gather(&words::of_numbers(own)))
}

/// How many things all ranks have together. Called by all ranks together.
pub fn count_all(ranks: &dyn Ranks, own: usize) -> usize {
    let mut count = [own as f64];
    sum_all(ranks, &mut count);
    count[0] as usize
}

/// The bytes that the first rank has, on every rank. Called by all ranks together.
pub fn from_first(ranks: &dyn Ranks, own: Vec<u8>) -> Vec<u8> {
    if ranks.size() == 1 {
        return own;
    }
    from_rank(ranks, 0, own)
}

/// The bytes that one of several ranks has, on every rank. Called by all ranks together.
fn from_rank(ranks: &dyn Ranks, rank: usize, own: Vec<u8>) -> Vec<u8> {
    let outgoing = if ranks.rank() == rank {
        (0..ranks.size()).map(|to| (to, own.clone())).collect()
    } else {
        Vec::new()
    };
    ranks.send(outgoing).pop().map_or_else(Vec::new, |(_, bytes)| bytes)
}

/// The numbers of all ranks, one rank's after the other's, on the first rank; none on the others. Called by all ranks together.
pub fn to_first(ranks: &dyn Ranks, own: &[f64]) -> Vec<f64> {
    let received = ranks.send(vec![(0, words::of_numbers(own))]);
    received.iter().flat_map(|(_, bytes)| words::numbers(bytes)).collect()
}

/// Either all ranks go on, or all end with the error of the first that failed. Called by all ranks together.
///
/// # Errors
/// The ranks' own error where it is the same on all of them, else [`Error::OnRank`].
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

    /// One of several ranks that never speaks with the others: for what each does alone.
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
            unreachable!("this rank is by itself")
        }

        fn send(&self, _: Vec<(usize, Vec<u8>)>) -> Vec<(usize, Vec<u8>)> {
            unreachable!("this rank is by itself")
        }

        fn sum(&self, _: &SumRequest<'_>, _: &Options) -> Result<Summed, Error> {
            unreachable!("this rank is by itself")
        }

        fn deal(&self, _: &SumRequest<'_>, _: &Options, _: &[f64], _: usize) -> Result<Vec<f64>, Error> {
            unreachable!("this rank is by itself")
        }
    }

    #[test]
    fn parts_of_what_is_made_piece_by_piece_are_everything_once() {
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
