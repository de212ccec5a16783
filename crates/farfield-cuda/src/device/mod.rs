//! A graphics processor: its context, its properties, its compiled programs and its memory.

mod memory;
mod open;
mod pinned;
mod staging;
mod timeline;
mod traffic;
mod values;

pub(crate) use memory::{Buffers, forecast_fits, vectors_at_once};
pub(crate) use open::Function;
pub use open::{Device, Properties};
pub(crate) use pinned::Pinned;
pub(crate) use timeline::Timeline;
pub use traffic::Traffic;
pub(crate) use values::Values;

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use farfield_core::simd::Real;

/// A precision that kernels are compiled for.
pub trait Precision: Real + DeviceRepr + ValidAsZeroBits + Unpin {
    /// Whether it is double.
    const DOUBLE: bool;
}

impl Precision for f32 {
    const DOUBLE: bool = false;
}

impl Precision for f64 {
    const DOUBLE: bool = true;
}

/// Launches a kernel on a stream: `launch!(stream, function, grid, threads, shared_bytes; arguments...)`.
///
/// The caller vouches that the arguments are those of the kernel and that it stays inside them.
macro_rules! launch {
    ($stream:expr, $function:expr, $grid:expr, $threads:expr, $shared:expr; $($argument:expr),+ $(,)?) => {{
        use cudarc::driver::PushKernelArg;
        let config = cudarc::driver::LaunchConfig {
            grid_dim: $grid,
            block_dim: ($threads, 1, 1),
            shared_mem_bytes: $shared,
        };
        let function = &$function;
        let mut builder = $stream.launch_builder(&function.function);
        $(builder.arg($argument);)+
        // SAFETY: each call lists the arguments of its kernel, in order, with lengths the kernel is told; kernels are
        // compared with the CPU by `selftest`.
        unsafe { builder.launch(config) }
            .map_err(<crate::error::Error as crate::error::DriverCall>::driver(format!("launch {}", function.name)))?;
    }};
}
pub(crate) use launch;

/// A struct of the kernels of one program, each field loaded by its own name:
/// `kernels! { /// Doc. struct Kernels { p2m, m2m } }` gives it `Kernels::load(device, program)`.
macro_rules! kernels {
    ($(#[$attribute:meta])* $visibility:vis struct $Name:ident { $($kernel:ident),+ $(,)? }) => {
        $(#[$attribute])*
        #[derive(Debug)]
        $visibility struct $Name {
            $(pub $kernel: crate::device::Function,)+
        }

        impl $Name {
            fn load(
                device: &crate::device::Device,
                program: &crate::compile::Program,
            ) -> Result<Self, crate::error::Error> {
                let [$($kernel),+] = device.functions(program, [$(stringify!($kernel)),+])?;
                Ok(Self { $($kernel),+ })
            }
        }
    };
}
pub(crate) use kernels;
