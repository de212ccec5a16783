//! The treecode on the device: multipoles of distant boxes, pairs for the rest.
//!
//! It shares the FMM's tree, expansions and passes, as on the CPU, but has no lists and no local expansions. Each leaf
//! walks the tree twice, once for the multipoles that act on it and once for its pairs (`kernels/opening.cuh`). On
//! neighbour lists its pairs are the FMM's, and its multipoles those that the FMM would translate
//! (`kernels/neighbours.cuh`).

mod evaluate;
mod setup;
mod tuning;

pub(crate) use setup::{OpeningArg, Treecode};
pub use tuning::ActingBoxes;
pub(crate) use tuning::Opening;

use crate::compile::Program;
use crate::device::Precision;
use crate::kernel::PairKind;

/// The number of threads of an M2P block.
const THREADS: u32 = 128;

/// The program of M2P.
pub fn m2p_program<T: Precision>(kind: &PairKind, order: usize, boxes: ActingBoxes) -> Program {
    let program = Program::new("m2p", include_str!("../../kernels/m2p.cu"));
    let program = setup::Kernels::<T>::check(program)
        .define("FARFIELD_ORDER", order)
        .define("FARFIELD_THREADS", THREADS)
        .define("FARFIELD_ON_NEIGHBOURS", i32::from(boxes == ActingBoxes::OnNeighbours));
    kind.define::<T>(program)
}
