//! What ranks say to each other, whoever carries it: MPI between processes ([`Mpi`]), or memory between threads ([`Threads`]).

#[cfg(farfield_has_mpi)]
mod mpi;
mod threads;

#[cfg(farfield_has_mpi)]
pub use mpi::Mpi;
pub use threads::Threads;

/// A message: the other rank and its bytes.
pub type Message = (usize, Vec<u8>);

/// A group of ranks that work on one sum. All but [`rank`](Self::rank) and [`size`](Self::size) are called by all ranks together, in
/// the same sequence.
pub trait Communicator {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn size(&self) -> usize;

    /// The bytes of all ranks, as many from each, in the order of ranks.
    fn all_gather(&self, own: &[u8]) -> Vec<u8>;

    /// Each number becomes its sum over all ranks. Whole numbers, so that no order of summing shows.
    fn sum_all(&self, values: &mut [u64]);

    /// Each number becomes the largest of all ranks.
    fn max_all(&self, values: &mut [f64]);

    /// One number for each rank; returns those that the ranks have for this one.
    fn transpose(&self, numbers: &[u64]) -> Vec<u64>;

    /// Sends messages and receives those of which sender and length are known, in the order given. Both lists are in ascending order
    /// of ranks, and this rank is in neither.
    fn exchange(&self, outgoing: &[Message], expected: &[(usize, usize)]) -> Vec<Vec<u8>>;

    /// Sends messages and receives those that the others have for this rank, in ascending order of ranks. Of empty messages nobody
    /// hears.
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
