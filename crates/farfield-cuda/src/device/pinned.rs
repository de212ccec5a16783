//! Pinned memory of the host, to which a device copies results while all threads do something else.

use super::Device;
use crate::error::{DriverCall, Error};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, result};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

/// Blocks that plans gave back: pinning memory takes longer than most sums.
#[derive(Debug, Default)]
pub(super) struct PinnedPool(Mutex<Vec<Piece>>);

/// Blocks that are kept.
const KEPT: usize = 2;

#[derive(Debug)]
struct Piece {
    context: Arc<CudaContext>,
    memory: *mut u8,
    bytes: usize,
}

// SAFETY: the memory belongs to this value alone and is not tied to a thread.
unsafe impl Send for Piece {}
// SAFETY: as above; it is written to through a mutable reference or by the device only.
unsafe impl Sync for Piece {}

impl Piece {
    fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Self, DriverError> {
        context.bind_to_thread()?;
        // SAFETY: freed when this value is dropped.
        let memory = unsafe { result::malloc_host(bytes, 0) }?.cast::<u8>();
        // SAFETY: so many bytes were allocated. They are read as numbers, for which zeros are valid.
        unsafe { memory.write_bytes(0, bytes) };
        Ok(Self {
            context: context.clone(),
            memory,
            bytes,
        })
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated in `new`; whoever lent it waited for the device.
            let _ = unsafe { result::free_host(self.memory.cast()) };
        }
    }
}

/// Pinned memory for some numbers.
#[derive(Debug)]
pub(crate) struct Pinned<T> {
    block: Option<Piece>,
    pool: Arc<PinnedPool>,
    capacity: usize,
    length: usize,
    stream: Arc<CudaStream>,
    numbers: PhantomData<T>,
}

impl<T: DeviceRepr + Copy> Pinned<T> {
    /// Memory for up to `length` results of a stream.
    ///
    /// # Errors
    /// [`Error::Driver`] if the system has none to give.
    pub fn new(device: &Device, stream: &Arc<CudaStream>, length: usize) -> Result<Self, Error> {
        let bytes = (length * std::mem::size_of::<T>()).max(1);
        let (context, pool) = device.pinned_pool();
        let mut kept = pool.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = kept.iter().position(|block| block.bytes >= bytes);
        let block = fits.map(|at| kept.swap_remove(at));
        drop(kept);
        let block = match block {
            Some(block) => block,
            None => Piece::new(context, bytes).map_err(Error::driver(format!("pin {bytes} bytes of host memory")))?,
        };
        Ok(Self {
            block: Some(block),
            pool: pool.clone(),
            capacity: length,
            length: 0,
            stream: stream.clone(),
            numbers: PhantomData,
        })
    }

    /// Begins to copy the first `length` numbers of `buffer` here; they are there when the stream has come so far.
    pub fn begin_read(&mut self, buffer: &CudaSlice<T>, length: usize) -> Result<(), Error> {
        assert!(
            length <= self.capacity.min(buffer.len()),
            "{length} of {}",
            self.capacity
        );
        self.length = length;
        let bytes = length * std::mem::size_of::<T>();
        let Some(block) = self.block.as_mut().filter(|_| bytes > 0) else {
            return Ok(());
        };
        let action = || Error::driver("copy from the device");
        block.context.bind_to_thread().map_err(action())?;
        // SAFETY: the block holds so many bytes and lives until the stream has passed the copy (`drop` waits).
        let memory = unsafe { std::slice::from_raw_parts_mut(block.memory, bytes) };
        let from = buffer.device_ptr(&self.stream).0;
        // SAFETY: both are as long.
        unsafe { result::memcpy_dtoh_async(memory, from, self.stream.cu_stream()) }.map_err(action())
    }

    /// The numbers of the last copy, which the stream must have passed.
    pub fn values(&self) -> &[T] {
        match &self.block {
            // SAFETY: the block holds so many numbers, any bits of which are valid, and nothing writes to them now.
            Some(block) => unsafe { std::slice::from_raw_parts(block.memory.cast::<T>(), self.length) },
            None => &[],
        }
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        // A copy may still be on its way.
        let _ = self.stream.synchronize();
        let Some(block) = self.block.take() else { return };
        let mut kept = self.pool.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(block);
        if kept.len() > KEPT {
            kept.remove(0);
        }
    }
}
