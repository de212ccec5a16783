//! Pinned memory through which large arrays travel.
//!
//! The driver copies between pinned memory and the device at the bus's full speed, and all threads fill or empty one piece
//! of it while it copies others. Copies straight from and to the caller's pages take several times as long.

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError, result};
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// Bytes of a piece, and how many pieces there are.
const PIECE: usize = 1 << 20;
const PIECES: usize = 8;

/// Bytes that one thread copies at a time.
const SHARE: usize = 1 << 17;

/// Arrays of fewer bytes are copied directly.
pub(super) const LEAST: usize = 1 << 18;

/// Pinned memory, cut into pieces that are filled and emptied in turn.
#[derive(Debug)]
pub(super) struct Staging {
    context: Arc<CudaContext>,
    memory: *mut u8,
    /// The end of the last copy from or to each piece.
    copied: Vec<Option<CudaEvent>>,
    next: usize,
}

// SAFETY: the memory belongs to this value alone and is not tied to a thread.
unsafe impl Send for Staging {}

impl Staging {
    pub fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        context.bind_to_thread()?;
        // SAFETY: freed when this value is dropped.
        let memory = unsafe { result::malloc_host(PIECE * PIECES, 0) }?;
        Ok(Self {
            context: context.clone(),
            memory: memory.cast(),
            copied: (0..PIECES).map(|_| None).collect(),
            next: 0,
        })
    }

    /// Copies `bytes` to the device address `to`; returns before the last pieces are there.
    pub fn write(&mut self, stream: &Arc<CudaStream>, bytes: &[u8], to: u64) -> Result<(), DriverError> {
        for (k, from) in bytes.chunks(PIECE).enumerate() {
            let at = self.take_piece()?;
            let piece = &mut self.piece(at)[..from.len()];
            piece
                .par_chunks_mut(SHARE)
                .zip(from.par_chunks(SHARE))
                .for_each(|(to, from)| to.copy_from_slice(from));
            // SAFETY: the caller's buffer has room for all bytes, and the piece is not touched before its event.
            unsafe { result::memcpy_htod_async(to + (k * PIECE) as u64, &*piece, stream.cu_stream()) }?;
            self.copied[at] = Some(stream.record_event(None)?);
        }
        Ok(())
    }

    /// Fills `bytes` from the device address `from`.
    pub fn read(
        &mut self,
        stream: &Arc<CudaStream>,
        from: u64,
        bytes: &mut [MaybeUninit<u8>],
    ) -> Result<(), DriverError> {
        let length = bytes.len();
        let begin = |staging: &mut Self, k: usize| -> Result<usize, DriverError> {
            let at = staging.take_piece()?;
            let piece = &mut staging.piece(at)[..PIECE.min(length - k * PIECE)];
            // SAFETY: the caller's buffer is as long as `bytes`, and the piece is not read before its event.
            unsafe { result::memcpy_dtoh_async(piece, from + (k * PIECE) as u64, stream.cu_stream()) }?;
            staging.copied[at] = Some(stream.record_event(None)?);
            Ok(at)
        };
        let pieces = length.div_ceil(PIECE);
        // The first copies are on their way while earlier pieces are emptied.
        let mut on_the_way = (0..pieces.min(PIECES))
            .map(|k| begin(self, k))
            .collect::<Result<Vec<_>, _>>()?;
        for (k, to) in bytes.chunks_mut(PIECE).enumerate() {
            let at = on_the_way[k % PIECES];
            if let Some(event) = self.copied[at].take() {
                event.synchronize()?;
            }
            let piece = &self.piece(at)[..to.len()];
            to.par_chunks_mut(SHARE)
                .zip(piece.par_chunks(SHARE))
                // SAFETY: both are as long, and they do not overlap.
                .for_each(|(to, from)| unsafe {
                    std::ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr().cast::<u8>(), from.len());
                });
            if k + PIECES < pieces {
                on_the_way[k % PIECES] = begin(self, k + PIECES)?;
            }
        }
        Ok(())
    }

    /// The next piece, once it is free.
    fn take_piece(&mut self) -> Result<usize, DriverError> {
        let at = self.next;
        self.next = (at + 1) % PIECES;
        if let Some(event) = self.copied[at].take() {
            event.synchronize()?;
        }
        Ok(at)
    }

    fn piece(&mut self, at: usize) -> &mut [u8] {
        // SAFETY: pieces do not overlap, all lie in the allocation, and any bytes are valid.
        unsafe { std::slice::from_raw_parts_mut(self.memory.add(at * PIECE), PIECE) }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        for event in self.copied.iter().flatten() {
            let _ = event.synchronize();
        }
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated in `new`, and nothing copies from or to it any more.
            let _ = unsafe { result::free_host(self.memory.cast()) };
        }
    }
}
