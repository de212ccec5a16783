//! Input numbers of a sum, on the host or on the device.

use super::{AnyBits, Buffers};
use crate::error::{DriverCall, Error};
use cudarc::driver::CudaSlice;
use std::ops::Range;

/// Numbers in host memory or on the device.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Values<'a, T> {
    /// An array on the host.
    Host(&'a [T]),
    /// Part of an array on the device, written by work on the reader's stream.
    Device {
        array: &'a CudaSlice<T>,
        start: usize,
        length: usize,
    },
}

impl<'a, T> Values<'a, T> {
    /// The first `length` numbers of an array on the device.
    pub fn on_device(array: &'a CudaSlice<T>, length: usize) -> Self {
        assert!(length <= array.len(), "{length} of {}", array.len());
        Values::Device {
            array,
            start: 0,
            length,
        }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::Host(values) => values.len(),
            Values::Device { length, .. } => *length,
        }
    }

    /// The values in `range`.
    pub fn part(&self, range: Range<usize>) -> Self {
        match self {
            Values::Host(values) => Values::Host(&values[range]),
            Values::Device { array, start, length } => {
                assert!(
                    range.start <= range.end && range.end <= *length,
                    "{range:?} of {length}"
                );
                Values::Device {
                    array,
                    start: start + range.start,
                    length: range.len(),
                }
            }
        }
    }
}

impl Buffers {
    /// Copies these numbers to a new array on the device.
    pub fn place<T: AnyBits>(&self, values: Values<T>) -> Result<CudaSlice<T>, Error> {
        let mut buffer = self.uninit(values.len())?;
        self.put(values, &mut buffer)?;
        Ok(buffer)
    }

    /// Copies these numbers to the start of `buffer`.
    pub fn put<T: AnyBits>(&self, values: Values<T>, buffer: &mut CudaSlice<T>) -> Result<(), Error> {
        match values {
            Values::Host(values) => self.write(values, buffer),
            Values::Device { length: 0, .. } => Ok(()),
            Values::Device { array, start, length } => self
                .stream()
                .memcpy_dtod(&array.slice(start..start + length), &mut buffer.slice_mut(..length))
                .map_err(Error::driver("copy on the device")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_host_values_are_slices() {
        let values = Values::Host(&[1, 2, 3, 4]);
        let Values::Host(part) = values.part(1..3).part(1..2) else {
            panic!("{values:?}");
        };
        assert_eq!((part, values.len()), (&[3][..], 4));
    }
}
