//! Memory for large arrays, in huge pages if the system offers them on request.
//!
//! Fresh memory is mapped page by page at the first write. Pages of two megabytes instead of four kilobytes cause 500
//! times fewer page faults and use fewer TLB entries afterwards.

use crate::simd::Real;

/// The size in bytes from which on an array gets huge pages.
const LARGE: usize = 1 << 22;

/// `length` copies of `zero`, in memory that is not yet touched.
pub(crate) fn zeroed<T: Copy>(zero: T, length: usize) -> Vec<T> {
    // The system provides zeroed memory, so zeros are not written.
    let values = vec![zero; length];
    advise(&values);
    values
}

/// Returns the memory of an array to the system until it is written again. Until then, its values are the old ones or
/// zeros.
pub(crate) fn give_back<T: Real>(values: &mut [T]) {
    if size_of_val(values) >= LARGE {
        system::give_back(values.as_mut_ptr().cast(), size_of_val(values));
    }
}

/// See [`crate::machine::return_freed_arrays`].
pub(crate) fn return_freed_arrays() {
    system::return_freed_arrays();
}

/// Requests huge pages for a large array. The request may fail without harm.
fn advise<T>(values: &[T]) {
    if size_of_val(values) >= LARGE {
        system::advise(values.as_ptr().cast(), size_of_val(values));
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use std::ffi::{c_int, c_void};

    /// `MADV_HUGEPAGE`
    const HUGE_PAGE: c_int = 14;
    const PAGE: usize = 4096;

    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }

    /// `MADV_DONTNEED`
    const DONT_NEED: c_int = 4;

    pub fn advise(start: *const u8, bytes: usize) {
        let (start, whole) = whole_pages(start, bytes);
        // SAFETY: whole pages within memory that the caller owns; the advice changes how they are mapped, not what they hold.
        unsafe { madvise(start.cast_mut().cast(), whole, HUGE_PAGE) };
    }

    pub fn give_back(start: *mut u8, bytes: usize) {
        let (start, whole) = whole_pages(start, bytes);
        // SAFETY: whole pages within memory that the caller has for itself, of numbers for which any bits, zeros too, are valid.
        unsafe { madvise(start.cast_mut().cast(), whole, DONT_NEED) };
    }

    #[cfg(target_env = "gnu")]
    pub fn return_freed_arrays() {
        /// `M_MMAP_THRESHOLD`
        const THRESHOLD: c_int = -3;
        const BYTES: c_int = 1 << 20;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        // SAFETY: it only changes how the allocator treats later allocations, and may fail without harm.
        unsafe { mallopt(THRESHOLD, BYTES) };
    }

    #[cfg(not(target_env = "gnu"))]
    pub fn return_freed_arrays() {}

    /// The first whole page, and the bytes of all of them.
    fn whole_pages(start: *const u8, bytes: usize) -> (*const u8, usize) {
        let skipped = start.align_offset(PAGE).min(bytes);
        (start.wrapping_add(skipped), (bytes - skipped) / PAGE * PAGE)
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    pub fn advise(_: *const u8, _: usize) {}
    pub fn give_back(_: *mut u8, _: usize) {}
    pub fn return_freed_arrays() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_every_size_are_zero_and_writable() {
        for length in [0, 1, 1000, LARGE / 8 - 1, LARGE / 8, LARGE / 8 + 12_345] {
            let mut values = zeroed(0.0f64, length);
            assert!(values.len() == length && values.iter().all(|value| *value == 0.0));
            values.iter_mut().for_each(|value| *value = 1.0);
            assert_eq!(values.iter().sum::<f64>(), length as f64);
        }
    }

    #[test]
    fn returned_memory_is_unchanged_or_zero_and_writable() {
        for length in [0, 1000, LARGE / 8 + 12_345] {
            let mut values = zeroed(0.0f64, length);
            values.iter_mut().for_each(|value| *value = 1.0);
            give_back(&mut values);
            assert!(values.iter().all(|value| *value == 0.0 || *value == 1.0));
            values.iter_mut().for_each(|value| *value = 2.0);
            assert_eq!(values.iter().sum::<f64>(), 2.0 * length as f64);
        }
    }
}
