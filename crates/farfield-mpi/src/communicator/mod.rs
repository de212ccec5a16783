//! Communication between ranks: by MPI between processes ([`Mpi`]), or by memory between threads ([`Threads`]).

#[cfg(farfield_has_mpi)]
mod mpi;
mod threads;

#[cfg(farfield_has_mpi)]
pub use mpi::Mpi;
pub use threads::Threads;

/// A message: the rank it goes to or comes from, and its bytes.
pub type Message = (usize, Vec<u8>);

/// A group of ranks that work on one sum. All methods but [`rank`](Self::rank) and [`size`](Self::size) are
/// collective: all ranks call them, in the same order.
pub trait Communicator {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Gathers the bytes of all ranks in the order of ranks. Every rank gives the same number of bytes.
    fn all_gather(&self, own: &[u8]) -> Vec<u8>;

    /// Replaces each number by its sum over all ranks. Integers, so that the result does not depend on the order of
    /// summation.
    fn sum_all(&self, values: &mut [u64]);

    /// Replaces each number by the largest over all ranks.
    fn max_all(&self, values: &mut [f64]);

    /// Sends `numbers[k]` to rank `k`; returns the numbers that the ranks sent to this one.
    fn transpose(&self, numbers: &[u64]) -> Vec<u64>;

    /// Sends messages, and receives messages of known sender and length, in the order given. Both lists are in
    /// ascending order of ranks, and this rank is in neither.
    fn exchange(&self, outgoing: &[Message], expected: &[(usize, usize)]) -> Vec<Vec<u8>>;

    /// Sends messages, and receives all messages to this rank, in ascending order of senders. Empty messages are not
    /// delivered.
    fn send(&self, mut outgoing: Vec<Message>) -> Vec<Message> {
        let mut lengths = vec![0; self.size()];
        outgoing.retain(|(rank, bytes)| {
            lengths[*rank] = bytes.len() as u64;
            !bytes.is_empty()
        });
        let lengths = self.transpose(&lengths);
        let from_others =
            |(rank, length): (usize, u64)| (length > 0 && rank != self.rank()).then_some((rank, length as usize));
        let expected: Vec<(usize, usize)> = lengths.into_iter().enumerate().filter_map(from_others).collect();
        let own = outgoing.iter().position(|(rank, _)| *rank == self.rank());
        let own = own.map(|at| outgoing.remove(at));
        let received = self.exchange(&outgoing, &expected);
        let mut incoming: Vec<Message> = expected.iter().map(|(rank, _)| *rank).zip(received).collect();
        incoming.extend(own);
        incoming.sort_by_key(|(rank, _)| *rank);
        incoming
    }
}

impl<C: Communicator + ?Sized> Communicator for &C {
    fn rank(&self) -> usize {
        (**self).rank()
    }

    fn size(&self) -> usize {
        (**self).size()
    }

    fn all_gather(&self, own: &[u8]) -> Vec<u8> {
        (**self).all_gather(own)
    }

    fn sum_all(&self, values: &mut [u64]) {
        (**self).sum_all(values);
    }

    fn max_all(&self, values: &mut [f64]) {
        (**self).max_all(values);
    }

    fn transpose(&self, numbers: &[u64]) -> Vec<u64> {
        (**self).transpose(numbers)
    }

    fn exchange(&self, outgoing: &[Message], expected: &[(usize, usize)]) -> Vec<Vec<u8>> {
        (**self).exchange(outgoing, expected)
    }
}
