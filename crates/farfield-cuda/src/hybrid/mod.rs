//! Sums that the CPU's cores and a device share: the device sums pairs of points while the cores sum the far field.
//!
//! As in van Rees et al., figure 2: points travel while the cores build tree and lists; then strengths travel, the device
//! goes through the lists of pairs, and its sums come back, while the cores do P2M to L2P. Boxes are as large as makes both
//! take equally long by the rates of the machine profile; where the device would still be the slower one, the cores take the
//! last leaves. The split is a function of points, tolerance and profile, never of time: two runs give the same bits.

mod calibrate;
mod near;
mod plan;
pub mod plane;
mod tasks;
mod timeline;
mod tuning;

pub use calibrate::calibrate;
pub use plan::Plan;
pub use timeline::{Busy, Halves, Who};
pub use tuning::pairs_elsewhere;

use crate::compile::Program;
use crate::device::Precision;
use crate::fmm::{LARGE_LEAF, P2pBlocking};
use crate::kernel::PairKind;

/// The program of the near field.
pub fn program<T: Precision>(kind: &PairKind) -> Program {
    let program = near::Functions::<T>::check(Program::new("near", include_str!("../../kernels/near.cu")));
    kind.define::<T>(P2pBlocking::of::<T>(kind, LARGE_LEAF, 1).define(program))
}
