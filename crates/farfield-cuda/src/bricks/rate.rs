//! The rate of reciprocal square roots, which bounds direct plans in single precision.

use super::{Blocking, program};
use crate::compile::Program;
use crate::device::{Blocks, Buffers, Device, Out, Precision, Timeline, kernels, parameters};
use crate::error::Error;
use farfield_core::report::{Phase, Seconds};
use std::sync::Arc;

kernels! {
    /// The kernel that computes roots.
    struct RateKernels<T> { roots: Roots<T> }
}

parameters! {
    /// Parameters of `roots`.
    struct Roots<T> { rounds: u32, values: Out<T> }
}

/// The program that computes roots of numbers in registers.
pub fn rate_program<T: Precision>() -> Program {
    RateKernels::<T>::check(program::<T>("bricks-rate", 1, Blocking::INDIRECT)).define("FARFIELD_RATE", 1)
}

/// Reciprocal square roots per second, the best of several launches of a few milliseconds.
///
/// # Errors
/// [`Error::Driver`] and compilation errors.
pub fn root_rate<T: Precision>(device: &Arc<Device>) -> Result<f64, Error> {
    let (buffers, threads) = (Buffers::new(device)?, Blocking::INDIRECT.threads);
    let kernels = RateKernels::<T>::load(device, &rate_program::<T>())?;
    let blocks = 32 * device.properties().multiprocessors as u32;
    let rounds = 2048u32;
    let mut values = buffers.zeros::<T>((blocks * threads) as usize)?;
    let mut best = 0.0f64;
    for _ in 0..8 {
        let (stream, mut seconds) = (buffers.stream(), Seconds::default());
        let mut timeline = Timeline::start(stream)?;
        kernels.roots.launch(
            stream,
            Blocks::row(blocks, threads),
            &Roots {
                rounds,
                values: Out::of(&mut values),
            },
        )?;
        timeline.end(Phase::P2p)?;
        buffers.wait()?;
        timeline.add_to(&mut seconds)?;
        let count = 8.0 * f64::from(rounds) * f64::from(blocks) * f64::from(threads);
        best = best.max(count / seconds.of(Phase::P2p));
    }
    Ok(best)
}
