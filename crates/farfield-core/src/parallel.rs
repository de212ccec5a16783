//! Parallel work over segments of arrays, and scratch memory for each thread.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// Runs `work` on a thread of the pool if that is `worthwhile`, otherwise on the caller's thread.
///
/// The functions of this module run in parallel when called from a thread of the pool, and sequentially otherwise. So
/// a caller outside the pool switches threads once for a large sum, instead of at every step, and never for a small
/// one, which ends before another thread wakes.
pub(crate) fn in_pool<R: Send>(worthwhile: bool, work: impl FnOnce() -> R + Send) -> R {
    if worthwhile { rayon::scope(|_| work()) } else { work() }
}

/// The number of items from which on waking other threads is worthwhile.
const MANY: usize = 1 << 18;

pub(crate) fn is_in_pool() -> bool {
    rayon::current_thread_index().is_some()
}

/// Runs `a` and `b`, in parallel if possible.
pub(crate) fn join(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    if is_in_pool() {
        rayon::join(a, b);
    } else {
        a();
        b();
    }
}

/// The results of `work` for each of `0..count`, in order. A task takes at least `together` items.
pub(crate) fn map<R: Send>(count: usize, together: usize, work: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    if is_in_pool() {
        (0..count).into_par_iter().with_min_len(together).map(work).collect()
    } else {
        (0..count).map(work).collect()
    }
}

/// The results of `work` for `0..count` in pieces of `length`, in order.
pub(crate) fn map_pieces<R: Send>(
    count: usize,
    length: usize,
    work: impl Fn(Range<usize>) -> R + Sync + Send,
) -> Vec<R> {
    let piece = |k: usize| work(k * length..((k + 1) * length).min(count));
    let pieces = 0..count.div_ceil(length);
    if is_in_pool() {
        pieces.into_par_iter().map(piece).collect()
    } else {
        pieces.map(piece).collect()
    }
}

/// The results of `work` for `0..count` in pieces of `length`, merged pairwise; `None` if `count` is zero. The
/// grouping depends on the number of threads, so the result of merging must not depend on it. Large counts run in
/// parallel even outside the pool, where the input of sums on other devices is checked.
pub(crate) fn reduce_pieces<R: Send>(
    count: usize,
    length: usize,
    work: impl Fn(Range<usize>) -> R + Sync + Send,
    merge: impl Fn(R, R) -> R + Sync + Send,
) -> Option<R> {
    let piece = |k: usize| work(k * length..((k + 1) * length).min(count));
    let pieces = 0..count.div_ceil(length);
    if is_in_pool() || count > MANY {
        pieces.into_par_iter().map(piece).reduce_with(merge)
    } else {
        pieces.map(piece).reduce(merge)
    }
}

/// Calls `work(k, piece k)` for the pieces of `length` values of `data`.
pub(crate) fn for_chunks<T: Send>(data: &mut [T], length: usize, work: &(impl Fn(usize, &mut [T]) + Sync)) {
    let count = data.len().div_ceil(length);
    for_segments(data, 0..count, &|k| k * length, work);
}

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
            join(
                || for_segments(left, segments.start..middle, start, work),
                || for_segments(right, middle..segments.end, start, work),
            );
        }
    }
}

/// Buffers that threads borrow, so that repeated evaluations do not allocate.
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

    /// Makes room for `length` values in each buffer.
    pub fn enlarge(&mut self, length: usize) {
        for slot in &mut self.slots {
            let buffer = slot.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            let length = length.max(buffer.len());
            buffer.resize(length, T::default());
        }
    }

    /// Lends a buffer to `work`.
    pub fn with<R>(&self, work: impl FnOnce(&mut [T]) -> R) -> R {
        let slot = rayon::current_thread_index().map_or(0, |k| 1 + k) % self.slots.len();
        // The values of a poisoned buffer are overwritten before they are read.
        let mut buffer = self.slots[slot].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        work(&mut buffer)
    }
}

/// [`for_segments`] over several arrays of equal length with the same segments. The leaves of the recursion take
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
    join(
        || for_columns(left, segments.start..middle, start, work),
        || for_columns(right, middle..segments.end, start, work),
    );
}
