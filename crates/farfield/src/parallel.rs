//! Parallel work over an array cut into segments of different lengths, and memory for each thread.

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
        Self {
            slots: (0..threads).map(|_| Mutex::new(vec![T::default(); length])).collect(),
        }
    }

    /// Lends a buffer to `work`.
    pub fn with<R>(&self, work: impl FnOnce(&mut [T]) -> R) -> R {
        let slot = rayon::current_thread_index().map_or(0, |k| 1 + k) % self.slots.len();
        // A poisoned buffer only holds numbers that are overwritten before they are read.
        let mut buffer = self.slots[slot].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        work(&mut buffer)
    }
}

/// [`for_segments`] over several arrays of equal length, cut at the same places. The leaves of the recursion take
/// several segments at a time.
pub(crate) fn for_columns<T: Send, const C: usize>(
    columns: [&mut [T]; C],
    segments: Range<usize>,
    start: &(impl Fn(usize) -> usize + Sync),
    work: &(impl Fn(usize, [&mut [T]; C]) + Sync),
) {
    const TOGETHER: usize = 64;
    if segments.len() <= TOGETHER {
        let mut rest = columns;
        for k in segments {
            let length = start(k + 1) - start(k);
            let mut parts = rest.map(|column| column.split_at_mut(length));
            work(k, parts.each_mut().map(|(part, _)| std::mem::take(part)));
            rest = parts.map(|(_, rest)| rest);
        }
        return;
    }
    let middle = segments.start + segments.len() / 2;
    let length = start(middle) - start(segments.start);
    let mut parts = columns.map(|column| column.split_at_mut(length));
    let left = parts.each_mut().map(|(left, _)| std::mem::take(left));
    let right = parts.map(|(_, right)| right);
    rayon::join(
        || for_columns(left, segments.start..middle, start, work),
        || for_columns(right, middle..segments.end, start, work),
    );
}
