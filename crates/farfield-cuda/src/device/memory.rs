//! Device memory: forecasts, allocations and copies, with errors that name the remedy.

use super::AnyBits;
use super::Device;
use super::staging;
use crate::error::{DriverCall, Error};
use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DriverError, ValidAsZeroBits};
use std::mem::MaybeUninit;
use std::sync::Arc;

const GIB: f64 = (1u64 << 30) as f64;

/// The number of strength vectors per pass: all `vectors`, or as many as fit into `most` bytes or the free memory.
pub(crate) fn vectors_at_once(
    device: &Device,
    vectors: usize,
    most: Option<u64>,
    forecast: impl Fn(usize) -> u64,
) -> Result<usize, Error> {
    // The pooled memory is queried first, because the query for free memory is slow.
    if most.is_none() && forecast(vectors) <= device.pooled_memory()? {
        return Ok(vectors);
    }
    let free = match most {
        Some(most) => most,
        None => device.free_memory()?,
    };
    vectors_in(free, vectors, &forecast).ok_or_else(|| too_large(device.properties().name.clone(), forecast(1), free))
}

/// The number of vectors that fit into `free` bytes, found by halving `vectors`; `None` if not even one fits.
fn vectors_in(free: u64, vectors: usize, forecast: &impl Fn(usize) -> u64) -> Option<usize> {
    let halved = |vectors: &usize| (*vectors > 1).then(|| vectors.div_ceil(2));
    std::iter::successors(Some(vectors), halved).find(|vectors| forecast(*vectors) <= free)
}

fn too_large(device: String, needed: u64, free: u64) -> Error {
    Error::DeviceMemory {
        needed_gib: needed as f64 / GIB,
        available_gib: free as f64 / GIB,
        device,
    }
}

/// Allocations and copies on a plan's stream.
#[derive(Debug, Clone)]
pub(crate) struct Buffers {
    device: Arc<Device>,
    stream: Arc<CudaStream>,
}

impl Buffers {
    pub fn new(device: &Arc<Device>) -> Result<Self, Error> {
        Ok(Self {
            device: device.clone(),
            stream: device.stream()?,
        })
    }

    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Uninitialised memory for `length` values. At least one value is allocated, so that it has an address.
    pub fn uninit<T: AnyBits>(&self, length: usize) -> Result<CudaSlice<T>, Error> {
        // SAFETY: any bits are valid values.
        unsafe { self.stream.alloc(length.max(1)) }.map_err(|error| self.failure::<T>(&error, length))
    }

    /// Memory for `length` zeros.
    pub fn zeros<T: AnyBits + ValidAsZeroBits>(&self, length: usize) -> Result<CudaSlice<T>, Error> {
        self.stream
            .alloc_zeros(length.max(1))
            .map_err(|error| self.failure::<T>(&error, length))
    }

    /// A copy of `values` on the device.
    pub fn upload<T: AnyBits>(&self, values: &[T]) -> Result<CudaSlice<T>, Error> {
        let mut buffer = self.uninit(values.len())?;
        self.write(values, &mut buffer)?;
        Ok(buffer)
    }

    /// Copies `values` to the start of `buffer`.
    pub fn write<T: AnyBits>(&self, values: &[T], buffer: &mut CudaSlice<T>) -> Result<(), Error> {
        let bytes = std::mem::size_of_val(values);
        let failure = || Error::driver("copy to the device");
        self.device.traffic().add_sent(bytes);
        assert!(values.len() <= buffer.len(), "{} into {}", values.len(), buffer.len());
        if bytes >= staging::LEAST {
            let to = buffer.device_ptr(&self.stream).0;
            // SAFETY: the bytes of the values; padding between members may be uninitialised.
            let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<MaybeUninit<u8>>(), bytes) };
            if let Some(copied) = self.device.stage(|staging| staging.write(&self.stream, bytes, to)) {
                return copied.map_err(failure());
            }
        }
        if values.is_empty() {
            return Ok(());
        }
        self.stream
            .memcpy_htod(values, &mut buffer.slice_mut(..values.len()))
            .map_err(failure())
    }

    /// Sets all of `buffer` to zero.
    pub fn clear<T: AnyBits + ValidAsZeroBits>(&self, buffer: &mut CudaSlice<T>) -> Result<(), Error> {
        self.stream.memset_zeros(buffer).map_err(Error::driver("clear memory"))
    }

    /// Copies the start of `buffer` to `values` and waits for it.
    pub fn read<T: AnyBits>(&self, buffer: &CudaSlice<T>, values: &mut [T]) -> Result<(), Error> {
        self.read_at(buffer, 0, values)
    }

    /// Copies part of `buffer` to `values` and waits for it.
    pub fn read_at<T: AnyBits>(&self, buffer: &CudaSlice<T>, start: usize, values: &mut [T]) -> Result<(), Error> {
        let length = values.len();
        assert!(start + length <= buffer.len(), "{start} + {length} of {}", buffer.len());
        let bytes = std::mem::size_of_val(values);
        let failure = || Error::driver("copy from the device");
        self.device.traffic().add_fetched(bytes);
        if bytes >= staging::LEAST {
            let from = buffer.device_ptr(&self.stream).0 + (start * std::mem::size_of::<T>()) as u64;
            // SAFETY: the bytes of the values, which may be any bits.
            let room = unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<MaybeUninit<u8>>(), bytes) };
            if let Some(copied) = self.device.stage(|staging| staging.read(&self.stream, from, room)) {
                return copied.map_err(failure());
            }
        }
        if length > 0 {
            self.stream
                .memcpy_dtoh(&buffer.slice(start..start + length), values)
                .map_err(failure())?;
        }
        self.wait()
    }

    /// Appends the first `length` values of `buffer` to `values`, once all work on the stream is done. Memory that
    /// `values` has is used.
    pub fn append_to<T: AnyBits>(
        &self,
        buffer: &CudaSlice<T>,
        length: usize,
        values: &mut Vec<T>,
    ) -> Result<(), Error> {
        assert!(length <= buffer.len(), "{length} of {}", buffer.len());
        values.reserve_exact(length);
        let bytes = length * std::mem::size_of::<T>();
        if bytes >= staging::LEAST {
            let from = buffer.device_ptr(&self.stream).0;
            let room = values.spare_capacity_mut().as_mut_ptr().cast::<MaybeUninit<u8>>();
            // SAFETY: the vector has room for `bytes` bytes, and nothing else uses it.
            let room = unsafe { std::slice::from_raw_parts_mut(room, bytes) };
            if let Some(copied) = self.device.stage(|staging| staging.read(&self.stream, from, room)) {
                copied.map_err(Error::driver("copy from the device"))?;
                self.device.traffic().add_fetched(bytes);
                // SAFETY: all values were written.
                unsafe { values.set_len(values.len() + length) };
                return Ok(());
            }
        }
        let start = values.len();
        // SAFETY: any bits are valid values.
        values.resize_with(start + length, || unsafe { std::mem::zeroed() });
        self.read(buffer, &mut values[start..])
    }

    /// Waits for all work on the stream; a kernel that failed shows up here.
    pub fn wait(&self) -> Result<(), Error> {
        self.stream.synchronize().map_err(Error::driver("finish its kernels"))
    }

    fn failure<T>(&self, error: &DriverError, length: usize) -> Error {
        let needed = (length * std::mem::size_of::<T>()) as u64;
        match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                let free = self.device.free_memory().unwrap_or(0);
                too_large(self.device.properties().name.clone(), needed, free)
            }
            _ => Error::driver(format!("allocate {needed} bytes"))(*error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_summed_in_passes_where_memory_is_short() {
        let forecast = |vectors: usize| 100 + 10 * vectors as u64;
        let fit = |free: u64| vectors_in(free, 70, &forecast);
        assert_eq!(
            [800, 799, 450, 120, 110, 109].map(fit),
            [Some(70), Some(35), Some(35), Some(2), Some(1), None]
        );
        assert_eq!(vectors_in(1000, 0, &forecast), Some(0));
    }
}
