//! The direct sum on the device: every pair.

mod evaluate;

pub use evaluate::Blocking;
pub(crate) use evaluate::{Direct, SumInput};

use crate::compile::Program;
use crate::device::Precision;
use crate::kernel::PairKind;

/// The program of a direct sum.
pub fn program<T: Precision>(kind: &PairKind, blocking: &Blocking) -> Program {
    let program = Program::new("direct", include_str!("../../kernels/direct.cu"))
        .define("FARFIELD_THREADS", blocking.threads)
        .define("FARFIELD_TARGETS", blocking.targets)
        .define("FARFIELD_UNROLL", blocking.unroll);
    kind.define::<T>(program)
}
