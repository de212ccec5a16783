//! Parallel work over an array cut into segments of different lengths, and memory for each thread.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// Calls `work(k, segment k)` for all `segments` in parallel. `data` begins at `start(segments.start)`; segment `k`
/// runs to `start(k + 1)`, the last one to the end of `data`.
pub(crate) fn for_segments<T: Send>(
    data: &mut [T],
    segments: Range<usize>,
    start: &(impl Fn(usize) -> usize + Sync),
    work: &(impl Fn(usize, &mut [T]) + Sync),
) {
    match segments.len() {
        0 => {}
        1 => work(segments.start, data),
        count => {
            let middle = segments.start + count / 2;
            let (left, right) = data.split_at_mut(start(middle) - start(segments.start));
            rayon::join(
                || for_segments(left, segments.start..middle, start, work),
                || for_segments(right, middle..segments.end, start, work),
            );
        }
    }
}

/// Buffers that threads borrow, so that repeated evaluations allocate nothing.
#[derive(Debug)]
pub(crate) struct ScratchPool<T> {
    slots: Vec<Mutex<Vec<T>>>,
}

impl<T: Copy + Default + Send> ScratchPool<T> {
    /// A pool for the current number of threads, each buffer with room for `length` values.
    pub fn new(length: usize) -> Self {
        let threads = rayon::current_num_threads() + 1;
        Self { slots: (0..threads).map(|_| Mutex::new(vec![T::default(); length])).collect() }
    }

    /// Lends a buffer to `work`.
    pub fn with<R>(&self, work: impl FnOnce(&mut [T]) -> R) -> R {
        let slot = rayon::current_thread_index().map_or(0, |k| 1 + k) % self.slots.len();
        // A poisoned buffer only holds numbers that are overwritten before they are read.
        let mut buffer = self.slots[slot].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        work(&mut buffer)
    }
}

/// Copies `source[order[k]]` (through `pick`) to `target[k]`.
pub(crate) fn gather_by<S: Sync, T: Send>(source: &[S], order: &[u32], target: &mut [T], pick: impl Fn(&S) -> T + Sync) {
    target.par_iter_mut().zip(order).with_min_len(8192).for_each(|(out, at)| *out = pick(&source[*at as usize]));
}
