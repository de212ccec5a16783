//! Pinned staging memory for copies of large arrays.
//!
//! The driver copies between pinned memory and the device at the full speed of the bus. An array is divided into
//! shares, one for each carrier: a thread with two pieces of pinned memory, which fills or empties one while the other
//! is transferred. Copies directly from and to the caller's pages take several times as long.

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError, result};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::mem::MaybeUninit;
use std::sync::{Arc, OnceLock};

/// Bytes per piece.
const PIECE: usize = 1 << 19;
/// Pieces per carrier.
const PIECES: usize = 2;
/// The largest number of carriers, used if there are twice as many cores: together they saturate the bus.
const MOST_CARRIERS: usize = 8;

/// The size in bytes below which arrays are copied directly.
pub(super) const LEAST: usize = 1 << 16;

/// Pinned memory, divided into pieces that carriers fill and empty in turn.
#[derive(Debug)]
pub(super) struct Staging {
    context: Arc<CudaContext>,
    memory: *mut u8,
    carriers: Vec<Carrier>,
}

/// The pieces of one thread.
#[derive(Debug)]
struct Carrier {
    pieces: [Piece; PIECES],
}

#[derive(Debug)]
struct Piece {
    memory: *mut u8,
    /// The end of the latest copy from or to this piece.
    copied: CudaEvent,
}

// SAFETY: the memory belongs to this value alone and is not tied to a thread.
unsafe impl Send for Staging {}
// SAFETY: as above; pieces do not overlap.
unsafe impl Send for Piece {}

/// The copying threads, separate from the computing threads, which may be busy.
fn threads() -> Option<&'static ThreadPool> {
    static THREADS: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let new = || {
        ThreadPoolBuilder::new()
            .num_threads(carrier_count())
            .thread_name(|k| format!("farfield-copy-{k}"))
            .build()
            .ok()
    };
    THREADS.get_or_init(new).as_ref()
}

fn carrier_count() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores / 2).clamp(1, MOST_CARRIERS)
}

impl Staging {
    pub fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        context.bind_to_thread()?;
        let count = carrier_count();
        // SAFETY: freed when this value is dropped.
        let memory: *mut u8 = unsafe { result::malloc_host(count * PIECES * PIECE, 0) }?.cast();
        let mut staging = Self {
            context: context.clone(),
            memory,
            carriers: Vec::with_capacity(count),
        };
        for k in 0..count {
            let piece = |p: usize| -> Result<Piece, DriverError> {
                Ok(Piece {
                    // SAFETY: inside the allocation.
                    memory: unsafe { memory.add((PIECES * k + p) * PIECE) },
                    copied: context.new_event(Some(CUevent_flags::CU_EVENT_DISABLE_TIMING))?,
                })
            };
            staging.carriers.push(Carrier {
                pieces: [piece(0)?, piece(1)?],
            });
        }
        Ok(staging)
    }

    /// Copies `bytes` to the device address `to`; returns before the last pieces have arrived.
    pub fn write(&mut self, stream: &Arc<CudaStream>, bytes: &[MaybeUninit<u8>], to: u64) -> Result<(), DriverError> {
        let share = self.share(bytes.len());
        let context = self.context.clone();
        if bytes.len() <= share {
            return self.carriers[0].write(stream, bytes, to);
        }
        self.carry(bytes.par_chunks(share), |carrier, k, bytes| {
            context.bind_to_thread()?;
            carrier.write(stream, bytes, to + (k * share) as u64)
        })
    }

    /// Fills `bytes` from the device address `from`, once all work on the stream is done.
    pub fn read(
        &mut self,
        stream: &Arc<CudaStream>,
        from: u64,
        bytes: &mut [MaybeUninit<u8>],
    ) -> Result<(), DriverError> {
        let share = self.share(bytes.len());
        // Enqueue the copies of the first pieces before waiting for the stream.
        for ((k, carrier), bytes) in self.carriers.iter_mut().enumerate().zip(bytes.chunks(share)) {
            carrier.begin_read(stream, bytes.len(), from + (k * share) as u64)?;
        }
        stream.synchronize()?;
        if bytes.len() <= share {
            return self.carriers[0].end_read(stream, bytes, from);
        }
        let context = self.context.clone();
        self.carry(bytes.par_chunks_mut(share), |carrier, k, bytes| {
            context.bind_to_thread()?;
            carrier.end_read(stream, bytes, from + (k * share) as u64)
        })
    }

    /// The number of bytes per carrier: whole pages, so that no two threads write to the same page. An array that fits
    /// into a piece has one carrier, because it is copied before other threads wake.
    fn share(&self, bytes: usize) -> usize {
        bytes
            .div_ceil(self.carriers.len())
            .max(PIECE.min(bytes))
            .next_multiple_of(4096)
    }

    /// Calls `work(carrier, k, share k)` for all shares in parallel.
    fn carry<S: Send>(
        &mut self,
        shares: impl IndexedParallelIterator<Item = S>,
        work: impl Fn(&mut Carrier, usize, S) -> Result<(), DriverError> + Sync + Send,
    ) -> Result<(), DriverError> {
        let carriers = self.carriers.par_iter_mut().with_max_len(1);
        let all = || {
            carriers
                .zip(shares)
                .enumerate()
                .try_for_each(|(k, (carrier, share))| work(carrier, k, share))
        };
        match threads() {
            Some(threads) => threads.install(all),
            None => all(),
        }
    }
}

impl Carrier {
    fn write(&mut self, stream: &Arc<CudaStream>, bytes: &[MaybeUninit<u8>], to: u64) -> Result<(), DriverError> {
        for (k, from) in bytes.chunks(PIECE).enumerate() {
            let piece = &mut self.pieces[k % PIECES];
            let memory = piece.wait(from.len())?;
            memory.copy_from_slice(from);
            // SAFETY: the caller's buffer has room for all bytes, and the piece is not touched before its event.
            unsafe { result::memcpy_htod_async(to + (k * PIECE) as u64, &*memory, stream.cu_stream()) }?;
            piece.copied.record(stream)?;
        }
        Ok(())
    }

    /// Starts the copies of the first pieces of an array of `length` bytes.
    fn begin_read(&mut self, stream: &Arc<CudaStream>, length: usize, from: u64) -> Result<(), DriverError> {
        for k in 0..length.div_ceil(PIECE).min(PIECES) {
            self.pieces[k].begin_read(stream, PIECE.min(length - k * PIECE), from + (k * PIECE) as u64)?;
        }
        Ok(())
    }

    /// Fills `bytes`; the copies of the first pieces must have been started.
    fn end_read(
        &mut self,
        stream: &Arc<CudaStream>,
        bytes: &mut [MaybeUninit<u8>],
        from: u64,
    ) -> Result<(), DriverError> {
        let length = bytes.len();
        for (k, to) in bytes.chunks_mut(PIECE).enumerate() {
            let piece = &mut self.pieces[k % PIECES];
            let memory = piece.wait(to.len())?;
            to.copy_from_slice(memory);
            let next = (k + PIECES) * PIECE;
            if next < length {
                piece.begin_read(stream, PIECE.min(length - next), from + next as u64)?;
            }
        }
        Ok(())
    }
}

impl Piece {
    fn begin_read(&mut self, stream: &Arc<CudaStream>, length: usize, from: u64) -> Result<(), DriverError> {
        let memory = self.wait(length)?;
        // SAFETY: the caller's buffer has `length` bytes there, and the piece is not read before its event.
        unsafe { result::memcpy_dtoh_async(memory, from, stream.cu_stream()) }?;
        self.copied.record(stream)
    }

    /// The first `length` bytes, after the latest copy from or to this piece is done.
    fn wait(&mut self, length: usize) -> Result<&mut [MaybeUninit<u8>], DriverError> {
        self.copied.synchronize()?;
        assert!(length <= PIECE, "{length} of {PIECE}");
        // SAFETY: a piece has at least `length` bytes, which belong to this value alone.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.memory.cast(), length) })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        for piece in self.carriers.iter().flat_map(|carrier| &carrier.pieces) {
            let _ = piece.copied.synchronize();
        }
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated in `new`, and all copies are done.
            let _ = unsafe { result::free_host(self.memory.cast()) };
        }
    }
}
