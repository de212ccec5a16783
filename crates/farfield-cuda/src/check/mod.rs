//! A sum on the device looks at its own error, as [`farfield_core::check`] does on the CPU.
//!
//! Values stay where they are. The device finds norms and large values, the host draws targets, the device sums the truth
//! at them in double precision from the engine's own packed sources, and some kilobytes come back.

mod correct;
mod device;
mod space;

pub(crate) use correct::{SelfChecked, check_and_correct};
pub(crate) use device::{Checker, Meaning, Summed};
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
