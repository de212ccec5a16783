//! Errors of a rank, known to all ranks.

use crate::communicator::Communicator;

/// The error of a sum over ranks. All ranks get the same error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A rank failed: its input is invalid, or its machine cannot do the work.
    #[error("rank {rank}: {message}")]
    OnRank {
        /// The first rank that failed.
        rank: usize,
        /// The message of its error.
        message: String,
        /// The cause of its error.
        cause: Cause,
    },
    /// This build has no MPI.
    #[error(
        "built without MPI: install MPI (libopenmpi-dev, or a module of the cluster), so that there is mpicc, and rebuild"
    )]
    NoMpi,
}

/// The cause of a rank's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The data or the machine.
    Data,
    /// An option; options are the same on all ranks.
    Options,
    /// Numbers that are not finite, or overflow.
    Numbers,
}

/// Ends a step that may have failed on some ranks: all ranks get `Ok`, or all get the error of the first rank that
/// failed. Called by all ranks together.
///
/// # Errors
/// [`Error::OnRank`] if a rank failed.
pub fn agree<C: Communicator + ?Sized, R>(ranks: &C, own: Result<R, farfield::Error>) -> Result<R, Error> {
    let words = own.as_ref().err().map(|error| (error.to_string(), cause_of(error)));
    match (agree_on(ranks, words), own) {
        (Some(error), _) => Err(error),
        (None, Ok(result)) => Ok(result),
        // Unreachable: a rank that fails reports an error above.
        (None, Err(error)) => Err(Error::OnRank {
            rank: ranks.rank(),
            message: error.to_string(),
            cause: cause_of(&error),
        }),
    }
}

/// Returns the error of the first rank that has one; `own` is this rank's message and cause. Called by all ranks
/// together.
pub fn agree_on<C: Communicator + ?Sized>(ranks: &C, own: Option<(String, Cause)>) -> Option<Error> {
    let mut failed = [own.is_some().into()];
    ranks.sum_all(&mut failed);
    if failed[0] == 0 {
        return None;
    }
    let statuses = ranks.all_gather(&[match &own {
        None => 0,
        Some((_, Cause::Data)) => 1,
        Some((_, Cause::Options)) => 2,
        Some((_, Cause::Numbers)) => 3,
    }]);
    let rank = statuses.iter().position(|status| *status > 0)?;
    let own = own.map(|(message, _)| message).filter(|_| ranks.rank() == rank);
    let outgoing = match &own {
        Some(message) => (0..ranks.size()).map(|to| (to, message.clone().into_bytes())).collect(),
        None => Vec::new(),
    };
    let received = ranks.send(outgoing);
    let message = received
        .first()
        .map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
    Some(Error::OnRank {
        rank,
        message: message.unwrap_or_default(),
        cause: match statuses[rank] {
            2 => Cause::Options,
            3 => Cause::Numbers,
            _ => Cause::Data,
        },
    })
}

fn cause_of(error: &farfield::Error) -> Cause {
    use farfield::Error as E;
    match error {
        E::NotFinite { .. } | E::Overflow { .. } => Cause::Numbers,
        E::Tolerance { .. }
        | E::Output { .. }
        | E::MissingSize { .. }
        | E::UselessSizes { .. }
        | E::UnboundedGradient
        | E::MethodInPlane { .. }
        | E::NotAnalytic { .. }
        | E::Parameter { .. }
        | E::NegativeSize { .. } => Cause::Options,
        _ => Cause::Data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::Threads;

    #[test]
    fn every_rank_gets_the_first_error() {
        let results = Threads::run(4, |ranks| {
            let own = match ranks.rank() {
                1 | 3 => Err(farfield::Error::NegativeSize {
                    index: ranks.rank(),
                    value: -1.0,
                }),
                _ => Ok(()),
            };
            agree(ranks, own)
        });
        for result in results {
            let Err(Error::OnRank { rank, message, cause }) = result else {
                panic!("no error");
            };
            assert_eq!((rank, cause), (1, Cause::Options));
            assert!(message.contains("source 1"), "{message}");
        }
        assert!(
            Threads::run(3, |ranks| agree(ranks, Ok(ranks.rank())))
                .iter()
                .all(Result::is_ok)
        );
    }
}
