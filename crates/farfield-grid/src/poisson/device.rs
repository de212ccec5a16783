//! Lists of bricks on a graphics processor, alone or beside the processor's cores.

use super::kernel::Pair;
use super::multipole::unit;
use super::precision::Precision;
use super::report::Seconds;
use super::sources::Sources;
use super::treecode::{OnCores, Parts, Share};
use crate::error::Error;
use farfield::cuda::bricks::{self, BrickPair, BrickSum, Expansions, Indirect, Node, Plans, Range};
use farfield::{Device, cuda};
use rayon::prelude::*;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

/// Where the treecode's lists are evaluated: `auto` is a graphics processor where there is one.
pub(super) fn for_treecode(device: Device) -> Device {
    match device {
        Device::Auto if Device::all_gpus().is_ok_and(|gpus| !gpus.is_empty()) => Device::Cuda(0),
        Device::Auto => Device::Cpu,
        device => device,
    }
}

/// Sends sources to the device, and loads the kernels for them and for expansions of an order, while `work` is done here.
pub(super) fn upload_while<T: Precision, R>(
    device: &Arc<cuda::Device>,
    pair: Pair,
    order: Option<usize>,
    sources: &Sources<T>,
    work: impl FnOnce() -> R,
) -> Result<(BrickSum<T>, R), Error> {
    let pair = match pair {
        Pair::Singular => BrickPair::Singular,
        Pair::Regularised => BrickPair::Regularised,
        Pair::Velocity => BrickPair::Velocity,
        Pair::RegularisedVelocity => BrickPair::RegularisedVelocity,
        Pair::Correction => {
            return Err(Error::Unsupported {
                what: "correction of a sum on the device",
                instead: "the treecode",
            });
        }
    };
    let (sum, done) = thread::scope(|scope| {
        let upload = scope.spawn(|| {
            let [x, y, z] = &sources.position;
            let sources = bricks::Sources {
                position: [x, y, z],
                weights: &sources.weights,
                epsilon2: &sources.epsilon2,
            };
            BrickSum::new(device, pair, order, &sources)
        });
        let done = work();
        (joined(upload), done)
    });
    Ok((sum?, done))
}

/// What a thread returned; its panic is passed on.
fn joined<R>(thread: thread::ScopedJoinHandle<'_, R>) -> R {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The sums of the lists of `share`, ordered as a channel's numbers are.
pub(super) fn evaluate<T: Precision>(
    mut sum: BrickSum<T>,
    parts: &Parts<T>,
    share: Share,
    seconds: &mut Seconds,
) -> Result<Vec<T>, Error> {
    let start = Instant::now();
    let (direct, direct_offsets, indirect, indirect_offsets) = parts.lists.flat();
    let narrow = |offsets: &[usize]| -> Vec<u32> { offsets.iter().map(|offset| *offset as u32).collect() };
    let at = |brick: &super::lists::Brick| bricks::Brick {
        first: brick.first,
        spacing: brick.spacing,
    };
    let range = |range: &super::lists::DirectRange| Range {
        start: range.start,
        end: range.end,
        touching: u32::from(range.touching),
    };
    let node = |node: &super::tree::Node| Node {
        center: node.center,
        unit: unit(node),
    };
    // One after the other: beside an evaluation the cores have other work.
    let bricks: Vec<_> = parts.bricks.iter().map(at).collect();
    let ranges: Vec<_> = direct.iter().map(range).collect();
    let nodes: Vec<_> = parts.tree.nodes().iter().map(node).collect();
    let offsets = [narrow(direct_offsets), narrow(indirect_offsets)];
    let plans = Plans {
        bricks: &bricks,
        direct: &ranges,
        direct_offsets: &offsets[0],
        indirect: (share == Share::All).then(|| Indirect {
            expansions: Expansions {
                order: parts.expansions.order,
                coefficients: &parts.expansions.coefficients,
                nodes: &nodes,
            },
            nodes: indirect,
            offsets: &offsets[1],
        }),
    };
    let mut values = vec![T::ZERO; parts.bricks.len() * super::BRICK_POINTS * parts.sources.components()];
    let on_device = sum.evaluate(&plans, &mut values)?;
    seconds.direct += on_device.direct;
    seconds.indirect += on_device.indirect;
    seconds.transfer += on_device.transfer;
    seconds.evaluation = start.elapsed().as_secs_f64();
    Ok(values)
}

/// Direct lists on the device and indirect ones on the cores, at the same time.
pub(super) fn evaluate_beside<T: Precision>(
    sum: BrickSum<T>,
    parts: &Parts<T>,
    cores: &OnCores,
    seconds: &mut Seconds,
) -> Result<Vec<T>, Error> {
    let start = Instant::now();
    let (direct, mut values) = thread::scope(|scope| {
        let device = scope.spawn(|| {
            let mut seconds = Seconds::default();
            evaluate(sum, parts, Share::Direct, &mut seconds).map(|values| (values, seconds))
        });
        let values = cores.evaluate(parts, Share::Indirect, seconds);
        (joined(device), values)
    });
    let (direct, device_seconds) = direct?;
    values
        .par_chunks_mut(1 << 14)
        .zip(direct.par_chunks(1 << 14))
        .for_each(|(values, direct)| {
            values
                .iter_mut()
                .zip(direct)
                .for_each(|(value, direct)| *value += *direct)
        });
    seconds.direct = device_seconds.direct;
    seconds.transfer = device_seconds.transfer;
    seconds.evaluation = start.elapsed().as_secs_f64();
    Ok(values)
}
