//! Memory for large arrays: in huge pages, where the system has them on request.
//!
//! Fresh memory is mapped page by page as it is first written. Pages of two megabytes instead of four kilobytes take 500 times
//! fewer of these interruptions, and fewer entries of the processor's tables afterwards.

use crate::simd::Real;

/// Arrays of so many bytes are worth it.
const LARGE: usize = 1 << 22;

/// So many copies of `zero`, in memory that is not yet touched.
pub(crate) fn zeroed<T: Copy>(zero: T, length: usize) -> Vec<T> {
    // Zeros come from the system without being written.
    let values = vec![zero; length];
    advise(&values);
    values
}

/// Lets the system have the memory of an array whose numbers are not needed any more, until it is written again. What it holds meanwhile is
/// what it held, or zeros.
pub(crate) fn give_back<T: Real>(values: &mut [T]) {
    if size_of_val(values) >= LARGE {
        system::give_back(values.as_mut_ptr().cast(), size_of_val(values));
    }
}

/// See [`crate::machine::return_freed_arrays`].
pub(crate) fn return_freed_arrays() {
    system::return_freed_arrays();
}

/// Asks for huge pages for the memory of an array that is large. Without an answer nothing is lost.
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
        // SAFETY: it changes how the allocator treats later allocations; if it does not, nothing is lost.
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
    fn memory_that_was_given_back_is_zero_or_as_it_was_and_writable() {
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
