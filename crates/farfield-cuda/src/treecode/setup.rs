//! Tables and memory of a treecode, beside those it shares with the FMM.

use super::{Opening, THREADS, m2p_program};
use crate::device::{Buffers, Precision, kernels};
use crate::error::Error;
use crate::kernel::PairKind;
use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr};
use farfield_core::expansion::coefficient_count;

/// What a treecode has that an FMM has not.
#[derive(Debug)]
pub(crate) struct Treecode<T> {
    opening: Opening,
    /// The ball around the sources of each box.
    pub(super) balls: CudaSlice<Ball>,
    /// For each box and strength vector, the multipoles of all sums.
    pub(super) derived: CudaSlice<T>,
    pub(super) kernels: Kernels,
}

kernels! {
    /// The kernels of multipoles at targets.
    pub(super) struct Kernels { balls, derive_multipoles, m2p }
}

/// `Ball` of `kernels/opening.cuh`: centre, radius, inverse side.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Ball([f64; 5]);

// SAFETY: five numbers, as in the kernels' struct.
unsafe impl DeviceRepr for Ball {}

/// `Opening` of `kernels/opening.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OpeningArg {
    balls: u64,
    theta: f64,
    reach: f64,
    few_sources: u32,
}

// SAFETY: an address and numbers, laid out as the kernels' struct.
unsafe impl DeviceRepr for OpeningArg {}

impl<T: Precision> Treecode<T> {
    pub fn new(
        buffers: &Buffers,
        kind: &PairKind,
        opening: Opening,
        vectors: usize,
        boxes: usize,
    ) -> Result<Self, Error> {
        Ok(Self {
            balls: buffers.uninit(boxes)?,
            derived: buffers.uninit(boxes * vectors * derived_len(kind, opening.order))?,
            kernels: Kernels::load(buffers.device(), &m2p_program::<T>(kind, opening.order))?,
            opening,
        })
    }

    /// Numbers of device memory for each box.
    pub fn per_box(kind: &PairKind, order: usize, vectors: usize) -> usize {
        vectors * derived_len(kind, order) + 10
    }

    /// The criterion as kernels take it; valid as long as this is.
    pub fn arg(&self, buffers: &Buffers) -> OpeningArg {
        OpeningArg {
            balls: self.balls.device_ptr(buffers.stream()).0,
            theta: self.opening.theta,
            reach: self.opening.reach,
            few_sources: self.opening.few_sources as u32,
        }
    }
}

/// Numbers of the multipoles of all sums of a box.
fn derived_len(kind: &PairKind, order: usize) -> usize {
    kind.sums() * coefficient_count(order + kind.derivatives)
}

/// Bytes of static shared memory of a block of M2P: basis, sums and walk.
pub(super) fn shared_bytes<T>(kind: &PairKind, order: usize) -> usize {
    let basis = order + kind.derivatives;
    let numbers = 2 * coefficient_count(basis) + basis + 1 + THREADS as usize * kind.sums();
    numbers * std::mem::size_of::<T>() + 14 * 1024
}
