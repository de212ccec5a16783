//! Ranks that are MPI processes. The calls go through a few lines of C (`shim.c`), compiled with the installed MPI:
//! types and constants differ between OpenMPI, MPICH and Cray MPI, those of the shim do not.

use super::{Communicator, Message};
use std::marker::PhantomData;

unsafe extern "C" {
    fn farfield_mpi_start() -> i32;
    fn farfield_mpi_end();
    fn farfield_mpi_abort(code: i32);
    fn farfield_mpi_world() -> i32;
    fn farfield_mpi_duplicate(of: i32) -> i32;
    fn farfield_mpi_free(number: i32);
    fn farfield_mpi_rank(number: i32) -> i32;
    fn farfield_mpi_size(number: i32) -> i32;
    fn farfield_mpi_on_machine(number: i32, rank: *mut i32, size: *mut i32);
    fn farfield_mpi_all_gather(number: i32, own: *const u8, bytes: i32, all: *mut u8);
    fn farfield_mpi_sum_all(number: i32, values: *mut u64, count: i32);
    fn farfield_mpi_max_all(number: i32, values: *mut f64, count: i32);
    fn farfield_mpi_transpose(number: i32, own: *const u64, theirs: *mut u64);
    fn farfield_mpi_exchange(
        number: i32,
        receives: usize,
        from: *const i32,
        from_lengths: *const u64,
        into: *const *mut u8,
        sends: usize,
        to: *const i32,
        to_lengths: *const u64,
        out: *const *const u8,
    ) -> i32;
}

/// An MPI communicator: a duplicate of the caller's, so that its messages do not mix with others. Made, used and
/// dropped by all its ranks together, each on one thread.
#[derive(Debug)]
pub struct Mpi {
    number: i32,
    rank: usize,
    size: usize,
    /// Whether this value initialised MPI and finalises it when dropped.
    started: bool,
    /// MPI must be used on the thread that initialised it.
    not_send: PhantomData<*const ()>,
}

impl Mpi {
    /// All ranks of the job. Initialises MPI if it is not initialised; in that case dropping this value finalises it.
    /// Called by all ranks together.
    pub fn world() -> Self {
        // SAFETY: no arguments; MPI may be initialised on any thread that uses it from then on, and `Mpi` stays on
        // this one.
        let (started, world) = unsafe {
            let before = farfield_mpi_start();
            (before == 0, farfield_mpi_world())
        };
        // SAFETY: MPI has been started, and `world` is its communicator.
        let mut ranks = unsafe { Self::copy_of(world) };
        ranks.started = started;
        ranks
    }

    /// The ranks of an existing communicator; `number` is its Fortran handle, from `MPI_Comm_c2f`. Called by all its
    /// ranks together.
    ///
    /// # Safety
    /// MPI has been initialised on this thread, and `number` is the handle of a communicator.
    pub unsafe fn of_fortran(number: i32) -> Self {
        // SAFETY: by the contract.
        unsafe { Self::copy_of(number) }
    }

    /// # Safety
    /// As [`Self::of_fortran`].
    unsafe fn copy_of(of: i32) -> Self {
        // SAFETY: by the contract.
        let (number, rank, size) = unsafe {
            let number = farfield_mpi_duplicate(of);
            (number, farfield_mpi_rank(number), farfield_mpi_size(number))
        };
        Self {
            number,
            rank: rank as usize,
            size: size as usize,
            started: false,
            not_send: PhantomData,
        }
    }

    /// The index of this rank among the ranks on the same machine, and their number. Called by all ranks together.
    pub fn on_machine(&self) -> (usize, usize) {
        let (mut rank, mut size) = (0, 1);
        // SAFETY: both pointers are valid for writing an integer.
        unsafe { farfield_mpi_on_machine(self.number, &raw mut rank, &raw mut size) };
        (rank as usize, size as usize)
    }

    /// Ends all ranks at once with this exit code, for a rank that cannot continue and cannot tell the others.
    pub fn abort(&self, code: i32) {
        // SAFETY: MPI has been initialised.
        unsafe { farfield_mpi_abort(code) };
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        // SAFETY: the handle is that of the duplicate made for this value; MPI is finalised once, by the value that
        // initialised it.
        unsafe {
            farfield_mpi_free(self.number);
            if self.started {
                farfield_mpi_end();
            }
        }
    }
}

/// MPI counts in signed 32-bit integers; longer arrays are sent in pieces.
const MOST: usize = 1 << 27;

impl Communicator for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, own: &[u8]) -> Vec<u8> {
        let mut all = vec![0; own.len() * self.size];
        for (k, piece) in own.chunks(MOST).enumerate() {
            let mut part = vec![0; piece.len() * self.size];
            // SAFETY: every rank gives `piece.len()` bytes, and `part` has room for that number from every rank.
            unsafe { farfield_mpi_all_gather(self.number, piece.as_ptr(), piece.len() as i32, part.as_mut_ptr()) };
            for (rank, bytes) in part.chunks_exact(piece.len()).enumerate() {
                all[rank * own.len() + k * MOST..][..piece.len()].copy_from_slice(bytes);
            }
        }
        all
    }

    fn sum_all(&self, values: &mut [u64]) {
        for piece in values.chunks_mut(MOST) {
            // SAFETY: `piece` has `piece.len()` numbers.
            unsafe { farfield_mpi_sum_all(self.number, piece.as_mut_ptr(), piece.len() as i32) };
        }
    }

    fn max_all(&self, values: &mut [f64]) {
        for piece in values.chunks_mut(MOST) {
            // SAFETY: `piece` has `piece.len()` numbers.
            unsafe { farfield_mpi_max_all(self.number, piece.as_mut_ptr(), piece.len() as i32) };
        }
    }

    fn transpose(&self, numbers: &[u64]) -> Vec<u64> {
        let mut own = numbers.to_vec();
        own.resize(self.size, 0);
        let mut theirs = vec![0; self.size];
        // SAFETY: both arrays have one number for each rank.
        unsafe { farfield_mpi_transpose(self.number, own.as_ptr(), theirs.as_mut_ptr()) };
        theirs
    }

    fn exchange(&self, outgoing: &[Message], expected: &[(usize, usize)]) -> Vec<Vec<u8>> {
        let mut incoming: Vec<Vec<u8>> = expected.iter().map(|(_, length)| vec![0; *length]).collect();
        let from: Vec<i32> = expected.iter().map(|(rank, _)| *rank as i32).collect();
        let from_lengths: Vec<u64> = expected.iter().map(|(_, length)| *length as u64).collect();
        let into: Vec<*mut u8> = incoming.iter_mut().map(|bytes| bytes.as_mut_ptr()).collect();
        let to: Vec<i32> = outgoing.iter().map(|(rank, _)| *rank as i32).collect();
        let to_lengths: Vec<u64> = outgoing.iter().map(|(_, bytes)| bytes.len() as u64).collect();
        let out: Vec<*const u8> = outgoing.iter().map(|(_, bytes)| bytes.as_ptr()).collect();
        // SAFETY: every pointer is valid for its length, and all buffers outlive the call, which returns when
        // everything has been sent and received.
        let failed = unsafe {
            farfield_mpi_exchange(
                self.number,
                from.len(),
                from.as_ptr(),
                from_lengths.as_ptr(),
                into.as_ptr(),
                to.len(),
                to.as_ptr(),
                to_lengths.as_ptr(),
                out.as_ptr(),
            )
        };
        if failed != 0 {
            // The other ranks wait for messages that will not come.
            self.abort(1);
        }
        incoming
    }
}
