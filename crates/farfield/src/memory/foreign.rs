//! Exchange with the arrays of other libraries in a GPU's memory. It is not possible in the host's memory.

use super::array::{Array, Place};
use super::{GpuMemory, Memory};
use crate::{Error, Precision};
use std::sync::Arc;

impl<T: Precision> Memory<T> {
    pub(super) fn gpu(&self) -> Result<&Arc<GpuMemory<T>>, Error> {
        self.gpu.as_ref().ok_or_else(|| Error::Unsupported {
            what: "streams and addresses of a GPU in the host's memory".to_owned(),
            remedy: "use the memory of a GPU, `Memory::of(Device::Cuda(0))`",
        })
    }

    /// The handle, a `CUstream` as a number, of the stream of all work in this memory.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on the host.
    pub fn stream_handle(&self) -> Result<u64, Error> {
        Ok(self.gpu()?.resident.stream_handle())
    }

    /// An array with a copy of values that another library has in the memory of the same GPU.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on the host, [`Error::TooMany`], [`Error::DeviceMemory`] or [`Error::Driver`].
    ///
    /// # Safety
    /// As [`farfield_cuda::resident::Resident::copy_of_foreign`].
    pub unsafe fn copy_of_foreign(&self, address: u64, length: usize) -> Result<Array<T>, Error> {
        let gpu = self.gpu()?;
        // SAFETY: this function has the same contract.
        let array = unsafe { gpu.resident.copy_of_foreign(address, length) }?;
        Ok(Array {
            place: Place::gpu(gpu, array),
        })
    }

    /// Makes work that is queued in this memory from now on wait for the work already queued on `stream`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on the host, [`Error::Driver`].
    ///
    /// # Safety
    /// `stream` is the handle of a stream of the same device.
    pub unsafe fn wait_for(&self, stream: u64) -> Result<(), Error> {
        // SAFETY: this function has the same contract.
        unsafe { self.gpu()?.resident.wait_for(stream) }
    }

    /// Makes work that is queued on `stream` from now on wait for the work already queued in this memory.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on the host, [`Error::Driver`].
    ///
    /// # Safety
    /// `stream` is the handle of a stream of the same device.
    pub unsafe fn waited_for_by(&self, stream: u64) -> Result<(), Error> {
        // SAFETY: this function has the same contract.
        unsafe { self.gpu()?.resident.waited_for_by(stream) }
    }
}

impl<T: Precision> Array<T> {
    /// The address of its values in a GPU's memory, for other libraries to read.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an array on the host.
    pub fn device_address(&self) -> Result<u64, Error> {
        match &self.place {
            Place::Gpu { memory, array, .. } => memory.resident.address(array),
            Place::Host(_) => Err(self.memory().gpu().err().unwrap_or(Error::NoDriver)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_has_no_streams_and_addresses() {
        let host = Memory::<f64>::host();
        let array = host.store(vec![1.0]).unwrap();
        // SAFETY: the call is refused before anything is read.
        let copied = unsafe { host.copy_of_foreign(8, 1) };
        assert!(matches!(copied, Err(Error::Unsupported { .. })));
        assert!(matches!(host.stream_handle(), Err(Error::Unsupported { .. })));
        assert!(matches!(array.device_address(), Err(Error::Unsupported { .. })));
    }
}
