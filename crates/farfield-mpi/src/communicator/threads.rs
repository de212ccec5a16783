//! Ranks that are threads of one process, for tests and for systems without MPI.

use super::{Communicator, Message};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The address of a message: sender, receiver, and the number of the call it belongs to.
type Address = (usize, usize, u64);

#[derive(Debug, Default)]
struct Letters {
    waiting: HashMap<Address, Vec<u8>>,
    /// A rank panicked, so that waiting ranks must panic too.
    broken: bool,
}

#[derive(Debug, Default)]
struct Post {
    letters: Mutex<Letters>,
    arrived: Condvar,
}

/// One rank of a group of threads.
#[derive(Debug)]
pub struct Threads {
    rank: usize,
    size: usize,
    post: Arc<Post>,
    calls: Cell<u64>,
}

impl Threads {
    /// Runs `work` once for each of `size` ranks concurrently; returns the results in the order of ranks.
    ///
    /// # Panics
    /// If one of them panics.
    pub fn run<R: Send>(size: usize, work: impl Fn(&Threads) -> R + Sync) -> Vec<R> {
        let post = Arc::new(Post::default());
        let ranks = (0..size).map(|rank| Threads {
            rank,
            size,
            post: post.clone(),
            calls: Cell::new(0),
        });
        let work = &work;
        std::thread::scope(|scope| {
            let running: Vec<_> = ranks.map(|rank| scope.spawn(move || work(&rank))).collect();
            let ended = running.into_iter().map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            ended.collect()
        })
    }

    fn letters(&self) -> MutexGuard<'_, Letters> {
        self.post.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, to: usize, bytes: Vec<u8>) {
        let address = (self.rank, to, self.calls.get());
        self.letters().waiting.insert(address, bytes);
        self.post.arrived.notify_all();
    }

    fn take(&self, from: usize) -> Vec<u8> {
        let address = (from, self.rank, self.calls.get());
        let mut letters = self.letters();
        loop {
            match letters.waiting.remove(&address) {
                Some(bytes) => return bytes,
                None if letters.broken => panic!("rank {from} will not answer: a rank panicked"),
                None => letters = self.post.arrived.wait(letters).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn next_call(&self) {
        self.calls.set(self.calls.get() + 1);
    }

    /// The bytes of all ranks, which may differ in length.
    fn all(&self, own: &[u8]) -> Vec<Vec<u8>> {
        self.next_call();
        (0..self.size).for_each(|to| self.put(to, own.to_vec()));
        (0..self.size).map(|from| self.take(from)).collect()
    }

    fn fold<const B: usize, V: Copy>(
        &self,
        values: &mut [V],
        to_bytes: fn(V) -> [u8; B],
        from_bytes: fn([u8; B]) -> V,
        join: fn(V, V) -> V,
    ) {
        let own: Vec<u8> = values.iter().flat_map(|value| to_bytes(*value)).collect();
        let all = self.all(&own);
        for (k, value) in values.iter_mut().enumerate() {
            let theirs = all.iter().map(|bytes| from_bytes(bytes.as_chunks::<B>().0[k]));
            *value = theirs.reduce(join).unwrap_or(*value);
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.letters().broken = true;
            self.post.arrived.notify_all();
        }
    }
}

impl Communicator for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, own: &[u8]) -> Vec<u8> {
        self.all(own).concat()
    }

    fn sum_all(&self, values: &mut [u64]) {
        self.fold(values, u64::to_ne_bytes, u64::from_ne_bytes, |a, b| a + b);
    }

    fn max_all(&self, values: &mut [f64]) {
        self.fold(values, f64::to_ne_bytes, f64::from_ne_bytes, f64::max);
    }

    fn transpose(&self, numbers: &[u64]) -> Vec<u64> {
        self.next_call();
        for (to, number) in numbers.iter().enumerate() {
            self.put(to, number.to_ne_bytes().to_vec());
        }
        let number = |from| {
            self.take(from)
                .as_chunks()
                .0
                .first()
                .map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        (0..self.size).map(number).collect()
    }

    fn exchange(&self, outgoing: &[Message], expected: &[(usize, usize)]) -> Vec<Vec<u8>> {
        self.next_call();
        for (to, bytes) in outgoing {
            self.put(*to, bytes.clone());
        }
        expected.iter().map(|(from, _)| self.take(*from)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "a rank panicked")]
    fn a_panic_of_one_rank_ends_the_others() {
        Threads::run(3, |ranks| {
            assert!(ranks.rank() != 2, "on purpose");
            ranks.sum_all(&mut [1]);
        });
    }

    #[test]
    fn messages_arrive_in_the_order_of_ranks() {
        for size in [1, 2, 5] {
            let heard = Threads::run(size, |rank| {
                let number = rank.rank() as u64;
                let mut sums = [1, number];
                rank.sum_all(&mut sums);
                let mut largest = [-(number as f64), number as f64];
                rank.max_all(&mut largest);
                let theirs = rank.transpose(&(0..size as u64).map(|to| 10 * number + to).collect::<Vec<_>>());
                // Each rank sends to itself and to the next rank.
                let next = (rank.rank() + 1) % size;
                let mut messages = vec![(rank.rank(), vec![7; 3])];
                if next != rank.rank() {
                    messages.push((next, vec![rank.rank() as u8; 2 + rank.rank()]));
                }
                messages.sort();
                (
                    rank.all_gather(&[rank.rank() as u8]),
                    sums,
                    largest,
                    theirs,
                    rank.send(messages),
                )
            });
            for (rank, (gathered, sums, largest, theirs, received)) in heard.into_iter().enumerate() {
                assert_eq!(gathered, (0..size as u8).collect::<Vec<_>>());
                assert_eq!(sums, [size as u64, (size * (size - 1) / 2) as u64]);
                assert_eq!(largest, [0.0, (size - 1) as f64]);
                assert_eq!(
                    theirs,
                    (0..size).map(|from| (10 * from + rank) as u64).collect::<Vec<_>>()
                );
                let before = (rank + size - 1) % size;
                let mut expected = vec![(rank, vec![7; 3])];
                if size > 1 {
                    expected.push((before, vec![before as u8; 2 + before]));
                }
                expected.sort();
                assert_eq!(received, expected);
            }
        }
    }
}
