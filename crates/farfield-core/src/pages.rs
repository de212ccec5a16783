//! Memory for large arrays, in huge pages if the system offers them on request.
//!
//! Fresh memory is mapped page by page at the first write. Pages of two megabytes instead of four kilobytes cause 500
//! times fewer page faults and use fewer TLB entries afterwards.

use crate::simd::Real;

/// The size in bytes from which on an array gets huge pages.
const LARGE: usize = if cfg!(miri) { 1 << 12 } else { 1 << 22 };

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
        system::give_back(values);
    }
}

/// See [`crate::machine::return_freed_arrays`].
pub(crate) fn return_freed_arrays() {
    system::return_freed_arrays();
}

/// Requests huge pages for a large array. The request may fail without harm.
fn advise<T>(values: &[T]) {
    if size_of_val(values) >= LARGE {
        system::advise(values);
    }
}

/// The offset of the first whole page in `bytes` bytes at `address`, and the length of all whole pages. `page` is a
/// power of two.
#[cfg(any(test, all(target_os = "linux", not(miri))))]
fn whole_pages(address: usize, bytes: usize, page: usize) -> (usize, usize) {
    let before = (address.wrapping_neg() & (page - 1)).min(bytes);
    (before, (bytes - before) & !(page - 1))
}

#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use super::whole_pages;
    use crate::simd::Real;
    use std::ffi::{c_int, c_void};

    /// `MADV_HUGEPAGE`
    const HUGE_PAGE: c_int = 14;

    unsafe extern "C" {
        fn getpagesize() -> c_int;
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }

    /// `MADV_DONTNEED`
    const DONT_NEED: c_int = 4;

    pub fn advise<T>(values: &[T]) {
        let (start, whole) = pages_of(values);
        // SAFETY: whole pages of the slice; the advice changes how they are mapped, not their contents.
        unsafe { madvise(start, whole, HUGE_PAGE) };
    }

    pub fn give_back<T: Real>(values: &mut [T]) {
        let (start, whole) = pages_of(values);
        // SAFETY: whole pages of the slice, which the caller borrows mutably; any bits are valid numbers.
        unsafe { madvise(start, whole, DONT_NEED) };
    }

    /// The whole pages of a slice, with the system's page size (4, 16 or 64 KiB): start and length. The length is zero
    /// if the system does not report its page size.
    fn pages_of<T>(values: &[T]) -> (*mut c_void, usize) {
        let start = values.as_ptr().cast_mut().cast::<u8>();
        // SAFETY: it has no arguments and no effect.
        let page = unsafe { getpagesize() };
        let Some(page) = usize::try_from(page).ok().filter(|page| page.is_power_of_two()) else {
            return (start.cast(), 0);
        };
        let (before, whole) = whole_pages(start.addr(), size_of_val(values), page);
        (start.wrapping_add(before).cast(), whole)
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
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    pub fn advise<T>(_: &[T]) {}
    pub fn give_back<T>(_: &mut [T]) {}
    pub fn return_freed_arrays() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_every_size_are_zero_and_writable() {
        for length in [0, 1, 1000, LARGE / 8 - 1, LARGE / 8, LARGE / 8 + 345] {
            let mut values = zeroed(0.0f64, length);
            assert!(values.len() == length && values.iter().all(|value| *value == 0.0));
            values.iter_mut().for_each(|value| *value = 1.0);
            assert_eq!(values.iter().sum::<f64>(), length as f64);
        }
    }

    #[test]
    fn pages_are_rounded_inwards_whatever_their_size() {
        for page in [4 << 10, 16 << 10, 64 << 10] {
            for address in [0, 16, page - 16, page, page + 16, usize::MAX - 4 * page + 1 - 16] {
                for bytes in [0, 15, page - 1, page, page + 16, 2 * page - 1, 2 * page, 3 * page + 8] {
                    let (before, whole) = whole_pages(address, bytes, page);
                    assert!(before + whole <= bytes, "{page} {address} {bytes}");
                    assert!(whole % page == 0, "{page} {address} {bytes}");
                    if whole > 0 {
                        assert!(
                            (address + before) % page == 0 && before < page,
                            "{page} {address} {bytes}"
                        );
                        assert!(bytes - before - whole < page, "{page} {address} {bytes}");
                    } else {
                        // No whole page fits.
                        assert!(
                            address.next_multiple_of(page) - address + page > bytes,
                            "{page} {address} {bytes}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn returned_memory_is_unchanged_or_zero_and_writable() {
        for length in [0, 1000, LARGE / 8 + 345] {
            let mut values = zeroed(0.0f64, length);
            values.iter_mut().for_each(|value| *value = 1.0);
            give_back(&mut values);
            assert!(values.iter().all(|value| *value == 0.0 || *value == 1.0));
            values.iter_mut().for_each(|value| *value = 2.0);
            assert_eq!(values.iter().sum::<f64>(), 2.0 * length as f64);
        }
    }
}
