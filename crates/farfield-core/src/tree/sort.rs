//! A parallel, stable radix sort of (key, index) pairs: O(N) for keys of a fixed number of bits.

use crate::parallel::{for_chunks, is_in_pool, map_pieces};

/// A key in the upper 32 bits and its index in the lower 32 bits.
pub type Keyed = u64;

/// Joins a key and an index.
#[inline(always)]
pub fn keyed(key: u32, index: u32) -> Keyed {
    u64::from(key) << 32 | u64::from(index)
}

/// The key of a pair.
#[inline(always)]
pub fn key_of(pair: Keyed) -> u32 {
    (pair >> 32) as u32
}

/// The index of a pair.
#[inline(always)]
pub fn index_of(pair: Keyed) -> u32 {
    pair as u32
}

/// The number of pairs from which on several threads sort.
const PARALLEL_FROM: usize = if cfg!(miri) { 1 << 9 } else { 1 << 15 };

/// Sorts by the low `bits` bits of the key; pairs with equal keys keep their order.
///
/// # Panics
/// If `scratch` is not as long as `pairs`.
pub fn sort_by_key(pairs: &mut [Keyed], scratch: &mut [Keyed], bits: u32) {
    assert_eq!(pairs.len(), scratch.len());
    if pairs.len() <= 64 {
        pairs.sort_by_key(|pair| key_of(*pair));
        return;
    }
    let passes = bits.div_ceil(11).max(1);
    let width = bits.div_ceil(passes).max(1);
    let (mut from, mut to) = (&mut *pairs, &mut *scratch);
    for pass in 0..passes {
        one_pass(from, to, 32 + pass * width, width);
        (from, to) = (to, from);
    }
    if passes % 2 == 1 {
        for_chunks(to, PARALLEL_FROM, &|k, out| {
            out.copy_from_slice(&from[k * PARALLEL_FROM..][..out.len()]);
        });
    }
}

/// One counting pass over the digit of `width` bits at `shift`.
fn one_pass(from: &[Keyed], to: &mut [Keyed], shift: u32, width: u32) {
    let buckets = 1usize << width;
    let mask = buckets as u64 - 1;
    let digit = |pair: Keyed| (pair >> shift & mask) as usize;
    let chunk = if from.len() < PARALLEL_FROM || !is_in_pool() {
        from.len()
    } else {
        from.len()
            .div_ceil(4 * rayon::current_num_threads())
            .max(PARALLEL_FROM / 8)
    };
    let mut counts: Vec<Vec<u32>> = map_pieces(from.len(), chunk, |piece| {
        let mut count = vec![0u32; buckets];
        for pair in &from[piece] {
            count[digit(*pair)] += 1;
        }
        count
    });
    // The start of each chunk's part of each bucket.
    let mut start = 0;
    for bucket in 0..buckets {
        for count in &mut counts {
            start += std::mem::replace(&mut count[bucket], start);
        }
    }
    let target = SharedSlice {
        pointer: to.as_mut_ptr(),
        length: to.len(),
    };
    for_chunks(&mut counts, 1, &|k, next| {
        for pair in &from[k * chunk..((k + 1) * chunk).min(from.len())] {
            let at = &mut next[0][digit(*pair)];
            // SAFETY: the counts give every pair of every chunk its own index.
            unsafe { target.write(*at as usize, *pair) };
            *at += 1;
        }
    });
}

/// A slice that several threads write at disjoint indices.
struct SharedSlice<T> {
    pointer: *mut T,
    length: usize,
}

// SAFETY: only `write` accesses the memory, and its callers promise disjoint indices.
unsafe impl<T: Send> Sync for SharedSlice<T> {}

impl<T> SharedSlice<T> {
    /// # Safety
    /// No other thread may write to the same index.
    #[inline(always)]
    unsafe fn write(&self, at: usize, value: T) {
        assert!(at < self.length);
        // SAFETY: in bounds, and no other thread writes to this index.
        unsafe { self.pointer.add(at).write(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_stable_sort() {
        sorts_like_the_standard_library();
    }

    #[test]
    fn a_thread_pool_gives_the_same_sequence() {
        crate::parallel::in_pool(true, sorts_like_the_standard_library);
    }

    fn sorts_like_the_standard_library() {
        let mut state = 12345u64;
        let mut next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as u32
        };
        for (count, bits) in [
            (0, 30),
            (1, 30),
            (65, 3),
            (1000, 1),
            (5000, 30),
            (70_000, 21),
            (200_000, 12),
        ] {
            if cfg!(miri) && count > 1000 {
                continue;
            }
            let mut pairs: Vec<Keyed> = (0..count).map(|i| keyed(next() & ((1 << bits) - 1), i)).collect();
            let mut want = pairs.clone();
            want.sort_by_key(|pair| key_of(*pair));
            let mut scratch = vec![0; pairs.len()];
            sort_by_key(&mut pairs, &mut scratch, bits);
            assert!(pairs == want, "{count} pairs of {bits} bits");
        }
    }
}
