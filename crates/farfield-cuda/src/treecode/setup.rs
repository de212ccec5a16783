//! Tables and memory of a treecode, in addition to those it shares with the FMM.

use super::{Opening, THREADS, m2p_program};
use crate::device::{Buffers, In, Out, Precision, Source, device_struct, kernels, parameters};
use crate::error::Error;
use crate::kernel::PairKind;
use crate::tree::{BoxesArg, Header};
use cudarc::driver::CudaSlice;
use farfield_core::expansion::coefficient_count;

/// The parts of a treecode that an FMM does not have.
#[derive(Debug)]
pub(crate) struct Treecode<T: Precision> {
    opening: Opening,
    /// The ball around the sources of each box.
    pub(super) balls: CudaSlice<Ball>,
    /// For each box and strength vector, the multipoles of all sums.
    pub(super) derived: CudaSlice<T>,
    pub(super) kernels: Kernels<T>,
}

kernels! {
    /// The kernels of multipoles at targets.
    pub(super) struct Kernels<T> { balls: FindBalls<T>, derive_multipoles: DeriveMultipoles<T>, m2p: M2p<T> }
}

parameters! {
    /// Parameters of `balls`.
    pub(super) struct FindBalls<T> {
        tree: In<Header>,
        boxes: BoxesArg,
        box_count: u32,
        sources: In<Source<T>>,
        balls: Out<Ball>,
    }

    /// Parameters of `derive_multipoles`.
    pub(super) struct DeriveMultipoles<T> { multipoles: In<T>, streams: u32, derived: Out<T> }

    /// Parameters of `m2p`.
    pub(super) struct M2p<T> {
        boxes: BoxesArg,
        targets: In<T>,
        target_count: u32,
        opening: OpeningArg,
        derived: In<T>,
        far: Out<T>,
        interactions: Out<u64>,
    }
}

device_struct! {
    /// The ball around a box's sources, and its inverse side.
    pub(crate) struct Ball = "Ball" { centre: [f64; 3], radius: f64, inverse_side: f64 }
}

device_struct! {
    /// The criterion in the form that kernels take.
    pub(crate) struct OpeningArg = "Opening" { balls: In<Ball>, theta: f64, reach: f64, few_sources: u32 }
}

impl OpeningArg {
    /// The argument for an FMM, which has no criterion.
    pub const NONE: Self = Self {
        balls: In::NONE,
        theta: 0.0,
        reach: 0.0,
        few_sources: 0,
    };
}

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
            kernels: Kernels::load(buffers.device(), &m2p_program::<T>(kind, opening.order, opening.boxes))?,
            opening,
        })
    }

    /// The number of values of device memory for each box.
    pub fn per_box(kind: &PairKind, order: usize, vectors: usize) -> usize {
        vectors * derived_len(kind, order) + 10
    }

    /// The criterion in the form that kernels take; valid as long as `self`.
    pub fn arg(&self) -> OpeningArg {
        OpeningArg {
            balls: In::of(&self.balls),
            theta: self.opening.theta,
            reach: self.opening.reach,
            few_sources: self.opening.few_sources as u32,
        }
    }
}

/// The number of values in the multipoles of all sums of a box.
fn derived_len(kind: &PairKind, order: usize) -> usize {
    kind.sums() * coefficient_count(order + kind.derivatives)
}

/// Bytes of static shared memory of an M2P block: basis, sums and walk.
pub(super) fn shared_bytes<T>(kind: &PairKind, order: usize) -> usize {
    let basis = order + kind.derivatives;
    let numbers = 2 * coefficient_count(basis) + basis + 1 + THREADS as usize * kind.sums();
    numbers * std::mem::size_of::<T>() + 14 * 1024
}
