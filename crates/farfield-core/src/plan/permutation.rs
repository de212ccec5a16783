//! From the caller's order to the engine's and back.

use crate::pages::zeroed;
use crate::parallel::{ScratchPool, for_chunks, for_segments, map_pieces};
use crate::simd::Real;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The number of points of one task.
const POINTS: usize = 1 << 12;

/// Copies one number of every source, `from[stride * source]`, into the engine's order; `None` keeps the caller's
/// order.
pub(crate) fn gather<T: Real>(out: &mut [T], permutation: Option<&[u32]>, from: &[T], stride: usize) {
    for_chunks(out, POINTS, &|piece, out| {
        let first = piece * POINTS;
        match permutation {
            None => {
                for (k, out) in out.iter_mut().enumerate() {
                    *out = from[(first + k) * stride];
                }
            }
            Some(permutation) => {
                for (out, at) in out.iter_mut().zip(&permutation[first..]) {
                    *out = from[*at as usize * stride];
                }
            }
        }
    });
}

/// The position of each of the caller's points in the engine's order.
pub(crate) fn ranks(permutation: &[u32]) -> Vec<u32> {
    // New memory is first touched by the threads that fill it.
    let mut rank = zeroed(0u32, permutation.len());
    // SAFETY: an `AtomicU32` has the size, alignment and valid values of a `u32`, and the slice is borrowed
    // exclusively.
    let places = unsafe { std::slice::from_raw_parts(rank.as_mut_ptr().cast::<AtomicU32>(), rank.len()) };
    map_pieces(permutation.len(), POINTS, |piece| {
        for k in piece {
            places[permutation[k] as usize].store(k as u32, Relaxed);
        }
    });
    rank
}

/// Transposes blocks from sum by sum to target by target with `rows` sums each, in place. Block `k` of `count` begins
/// with the target `start(k)`; `copies` has a buffer for each thread.
pub(crate) fn by_target<T: Real>(
    sums: &mut [T],
    rows: usize,
    count: usize,
    start: impl Fn(usize) -> usize + Sync,
    copies: &ScratchPool<T>,
) {
    if rows == 1 {
        return;
    }
    for_segments(sums, 0..count, &|k| rows * start(k), &|_, sums| {
        copies.with(|copy| {
            let more: Vec<T>;
            let block = if sums.len() <= copy.len() {
                let copy = &mut copy[..sums.len()];
                copy.copy_from_slice(sums);
                &*copy
            } else {
                more = sums.to_vec();
                &more
            };
            let n = block.len() / rows;
            for (i, out) in sums.chunks_mut(rows).enumerate() {
                for (k, value) in out.iter_mut().enumerate() {
                    *value = block[k * n + i];
                }
            }
        });
    });
}

/// The length of a buffer for [`by_target`] if blocks have at most `targets` targets. Larger blocks, which are rare,
/// are copied to new memory.
pub(crate) fn block_copy_len(rows: usize, targets: usize) -> usize {
    const MOST: usize = 1 << 14;
    if rows == 1 { 0 } else { (rows * targets).min(MOST) }
}

/// Calls `write(sums, values)` for each of the caller's targets. `rank` is its position among the sums; an empty `rank`
/// keeps the order.
pub(crate) fn for_targets<T: Real>(
    values: &mut [T],
    components: usize,
    (sums, rows): (&[T], usize),
    rank: &[u32],
    write: impl Fn(&[T], &mut [T]) + Sync,
) {
    for_chunks(values, POINTS * components, &|piece, values| {
        for (i, out) in values.chunks_mut(components).enumerate() {
            let i = piece * POINTS + i;
            let k = if rank.is_empty() { i } else { rank[i] as usize };
            write(&sums[k * rows..(k + 1) * rows], out);
        }
    });
}
