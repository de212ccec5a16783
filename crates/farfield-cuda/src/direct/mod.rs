//! The direct sum over all pairs on the device.

mod evaluate;

pub use evaluate::Blocking;
use evaluate::Kernels;
pub(crate) use evaluate::{AllPairs, Direct, SumInput, slices};

use crate::compile::Program;
use crate::device::Precision;
use crate::kernel::PairKind;

/// The program of a direct sum.
pub fn program<T: Precision>(kind: &PairKind, blocking: &Blocking) -> Program {
    let program = Program::new("direct", include_str!("../../kernels/direct.cu"));
    kind.define::<T>(blocking.define(Kernels::<T>::check(program)))
}
