//! The self-check of sums on the device, like [`farfield_core::check`] on the CPU.
//!
//! Values stay on the device. It finds norms and large values, the host draws targets, and the device computes the
//! true sums there in double precision from the engine's packed sources. A few kilobytes are copied back.

mod correct;
mod device;
mod space;

pub(crate) use correct::check_and_correct;
pub(crate) use device::{Checker, Meaning, SumOnDevice};
pub(crate) use space::InSpace;

use crate::compile::Program;
use crate::device::Precision;
use crate::kernel::PairKind;
use crate::plane;
use device::Kernels;

/// The program of true sums in space.
pub fn program<T: Precision>(kind: &PairKind) -> Program {
    let program = Program::new("truth", include_str!("../../kernels/truth.cu"));
    kind.define::<f64>(with_input::<T>(program))
}

/// The program of true sums in the plane.
pub fn plane_program<T: Precision>(kind: &plane::kind::PairKind) -> Program {
    let program = Program::new("plane_truth", include_str!("../../kernels/plane_truth.cu"));
    kind.define::<f64>(with_input::<T>(program))
}

fn with_input<T: Precision>(program: Program) -> Program {
    Kernels::<T>::check(program).define("FARFIELD_INPUT_DOUBLE", i32::from(T::DOUBLE))
}
