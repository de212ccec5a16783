//! The rates that the split between cores and device comes from.

use super::{Plan, Who};
use crate::device::{Device, Precision};
use crate::error::Error;
use farfield_core::kernel::{Core, Kernel, Output};
use farfield_core::points::{ChargeDistribution, PointSet};
use farfield_core::report::Phase;
use farfield_core::tuning::{DeviceRates, MachineProfile, PairRates};
use farfield_core::{Method, Sum};
use std::sync::Arc;

/// Points summed over, and how many a leaf may hold: enough to keep every multiprocessor busy.
const POINTS: usize = 300_000;
const LEAF: usize = 400;
/// Evaluations, the fastest of which counts.
const RUNS: usize = 5;

/// Measures what a device does beside the cores, and how much faster these are together than one thread.
///
/// # Errors
/// Any of [`Error`].
pub fn calibrate(device: &Arc<Device>) -> Result<DeviceRates, Error> {
    Ok(DeviceRates {
        name: device.properties().name.clone(),
        speedup: speedup()?,
        bus: measure::<f64>(device, Kernel::Coulomb, &[Output::Potential, Output::Gradient])?.bus,
        f32: pair_rates::<f32>(device)?,
        f64: pair_rates::<f64>(device)?,
    })
}

fn pair_rates<T: Precision>(device: &Arc<Device>) -> Result<PairRates, Error> {
    let rate = |kernel, output| -> Result<f64, Error> { Ok(measure::<T>(device, kernel, &[output])?.pairs) };
    let (charge, vortex) = (Kernel::Coulomb, Kernel::BiotSavart { core: Core::Singular });
    Ok(PairRates {
        scalar: [
            rate(charge, Output::Potential)?,
            rate(charge, Output::Gradient)?,
            rate(charge, Output::Hessian)?,
        ],
        vector: [rate(vortex, Output::Velocity)?, rate(vortex, Output::VelocityGradient)?],
    })
}

/// Per second.
struct Measured {
    pairs: f64,
    bus: f64,
}

fn measure<T: Precision>(device: &Arc<Device>, kernel: Kernel, outputs: &[Output]) -> Result<Measured, Error> {
    let points = PointSet::Cube.generate::<T>(POINTS, 1);
    let components = kernel.strength_components();
    let strengths = ChargeDistribution::Signed.generate::<T>(POINTS * components, 1);
    let sum = Sum::new(kernel, &points)
        .outputs(outputs)
        .method(Method::Fmm)
        .tolerance(1e-4)
        .leaf_capacity(LEAF);
    let mut plan = Plan::new(device, &sum, &MachineProfile::default())?;
    let (mut pairs, mut receive) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..RUNS {
        plan.evaluate(&strengths)?;
        for busy in plan.timeline().iter().filter(|busy| busy.who == Who::Gpu) {
            match busy.phase {
                "p2p" => pairs = pairs.min(busy.end - busy.start),
                "receive" => receive = receive.min(busy.end - busy.start),
                _ => {}
            }
        }
    }
    let bytes = (plan.sums_received() * std::mem::size_of::<T>()) as f64;
    Ok(Measured {
        pairs: plan.device_pairs() as f64 / pairs,
        bus: bytes / receive,
    })
}

/// How many times as fast the far field is on all threads as on one.
fn speedup() -> Result<f64, Error> {
    let points = PointSet::Cube.generate::<f64>(POINTS / 2, 1);
    let strengths = ChargeDistribution::Signed.generate::<f64>(POINTS / 2, 1);
    let far_seconds = || -> Result<f64, Error> {
        let mut plan = Sum::new(Kernel::Coulomb, &points)
            .method(Method::Fmm)
            .tolerance(1e-6)
            .plan()?;
        let mut best = f64::INFINITY;
        for _ in 0..RUNS {
            plan.evaluate(&strengths)?;
            let far = Phase::ALL
                .into_iter()
                .filter(|phase| !matches!(phase, Phase::Tree | Phase::P2p));
            best = best.min(far.map(|phase| plan.seconds().of(phase)).sum());
        }
        Ok(best)
    };
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let alone = alone.map_err(|reason| Error::Threads {
        threads: 1,
        reason: reason.to_string(),
    })?;
    Ok(alone.install(far_seconds)? / far_seconds()?)
}
