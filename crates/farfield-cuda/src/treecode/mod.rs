//! The treecode on the device: multipoles of boxes far enough away, pairs for the rest.
//!
//! It shares the FMM's tree, expansions and passes, as on the CPU; there are no lists and no local expansions. Each leaf
//! walks the tree twice, once for the multipoles that act on it and once for its pairs (`kernels/opening.cuh`).

mod evaluate;
mod setup;
mod tuning;

pub(crate) use setup::Treecode;
pub(crate) use tuning::Opening;

use crate::compile::Program;
use crate::device::Precision;
use crate::kernel::PairKind;

/// Threads of a block of M2P.
const THREADS: u32 = 128;

/// The program of M2P.
pub fn m2p_program<T: Precision>(kind: &PairKind, order: usize) -> Program {
    let program = Program::new("m2p", include_str!("../../kernels/m2p.cu"))
        .define("FARFIELD_ORDER", order)
        .define("FARFIELD_THREADS", THREADS);
    kind.define::<T>(program)
}
