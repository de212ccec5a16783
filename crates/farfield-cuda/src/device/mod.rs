//! A GPU: its context, its properties, its compiled programs and its memory.

mod memory;
mod open;
mod parameters;
mod staging;
mod timeline;
mod traffic;
mod values;

pub(crate) use memory::{Buffers, vectors_at_once};
pub use open::{Device, Properties};
pub(crate) use parameters::{
    ASSERTIONS, Blocks, Changing, Charges, Complex, Function, In, Member, Out, PackedSource, Pair, Parameters, RangeOf,
    Rectangle, Row, Source, device_struct, kernels, layout_checks, parameters, signature_checks,
};
pub use parameters::{AnyBits, DeviceType};
pub(crate) use timeline::Timeline;
pub use traffic::Transfers;
pub(crate) use values::Values;

use cudarc::driver::ValidAsZeroBits;
use farfield_core::simd::Real;

/// A precision that kernels are compiled for.
pub trait Precision: Real + AnyBits + ValidAsZeroBits + Unpin + DeviceType<Host = Self> {
    /// Whether it is double precision.
    const DOUBLE: bool;
}

impl Precision for f32 {
    const DOUBLE: bool = false;
}

impl Precision for f64 {
    const DOUBLE: bool = true;
}
