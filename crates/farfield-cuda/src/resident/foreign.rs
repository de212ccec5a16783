//! Exchange with the arrays of other libraries on the same device, and synchronisation with their streams.
//!
//! A stream of another library is given by its handle, a `CUstream` as a number; 1 is CUDA's legacy default stream, 2
//! the default stream of a thread.

use super::{Array, Resident, check_length};
use crate::device::Precision;
use crate::error::{DriverCall, Error};
use cudarc::driver::sys::{CUevent_flags, CUevent_wait_flags, CUstream};
use cudarc::driver::{DevicePtr, DevicePtrMut, DriverError, result};

impl<T: Precision> Resident<T> {
    /// The handle of the stream of all work of this state.
    pub fn stream_handle(&self) -> u64 {
        self.buffers.stream().cu_stream() as u64
    }

    /// A copy of values that another library has on this device, made after all work queued before.
    ///
    /// # Errors
    /// [`Error::TooMany`], [`Error::DeviceMemory`] or [`Error::Driver`].
    ///
    /// # Safety
    /// At `address` there are `length` values in the memory of this device. They are written before the copy
    /// ([`wait_for`](Self::wait_for)), and stay valid until this state's work is done ([`wait`](Self::wait)).
    pub unsafe fn copy_of_foreign(&self, address: u64, length: usize) -> Result<Array<T>, Error> {
        check_length(length)?;
        let mut array = self.uninit(length)?;
        if length > 0 {
            let stream = self.buffers.stream();
            let bytes = length * size_of::<T>();
            let to = array.values.device_ptr_mut(stream).0;
            // SAFETY: both have room for `bytes` bytes: the new array by its length, the other one by the contract.
            unsafe { result::memcpy_dtod_async(to, address, bytes, stream.cu_stream()) }
                .map_err(Error::driver("copy on the device"))?;
        }
        Ok(array)
    }

    /// The address of the values of an array, for other libraries to read.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an array of another state.
    pub fn address(&self, array: &Array<T>) -> Result<u64, Error> {
        Ok(self.own(array)?.device_ptr(self.buffers.stream()).0)
    }

    /// Makes work that is queued by this state from now on wait for the work already queued on `stream`.
    ///
    /// # Errors
    /// [`Error::Driver`].
    ///
    /// # Safety
    /// `stream` is the handle of a stream of this device.
    pub unsafe fn wait_for(&self, stream: u64) -> Result<(), Error> {
        // SAFETY: by the contract.
        unsafe { self.order(handle(stream), self.buffers.stream().cu_stream()) }
    }

    /// Makes work that is queued on `stream` from now on wait for the work already queued by this state.
    ///
    /// # Errors
    /// [`Error::Driver`].
    ///
    /// # Safety
    /// `stream` is the handle of a stream of this device.
    pub unsafe fn waited_for_by(&self, stream: u64) -> Result<(), Error> {
        // SAFETY: by the contract.
        unsafe { self.order(self.buffers.stream().cu_stream(), handle(stream)) }
    }

    /// # Safety
    /// Both are streams of this device.
    unsafe fn order(&self, first: CUstream, then: CUstream) -> Result<(), Error> {
        let order = || -> Result<(), DriverError> {
            self.buffers.stream().context().bind_to_thread()?;
            let event = result::event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
            // SAFETY: event and streams are valid; an event may be destroyed before the work that waits for it is done.
            unsafe {
                let ordered = result::event::record(event, first).and_then(|()| {
                    let flags = CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
                    result::stream::wait_event(then, event, flags)
                });
                result::event::destroy(event)?;
                ordered
            }
        };
        order().map_err(Error::driver("order two streams"))
    }
}

fn handle(stream: u64) -> CUstream {
    stream as usize as CUstream
}
