//! Evaluates the lists of bricks on a GPU, alone or concurrently with the CPU.

use super::kernel::Pair;
use super::multipole::unit;
use super::precision::Precision;
use super::report::SolveSeconds;
use super::sources::Sources;
use super::treecode::{OnCores, Parts, Share};
use crate::error::Error;
use farfield::cuda::bricks::{self, BrickPair, BrickSum, Expansions, Indirect, Node, Plans, Range};
use farfield::{Device, cuda};
use rayon::prelude::*;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

/// The device of a Poisson problem. Its text is that of a [`Device`], or `hybrid`, `hybrid:1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PoissonDevice {
    /// One device.
    One(Device),
    /// The treecode's direct lists on the GPU with this number, and concurrently its indirect lists on the CPU.
    Hybrid(usize),
}

impl PoissonDevice {
    /// The number of the GPU asked for.
    pub fn gpu(self) -> Option<usize> {
        match self {
            Self::One(device) => device.gpu(),
            Self::Hybrid(number) => Some(number),
        }
    }

    /// The device of sums over particles, which run on one device: for `hybrid`, the GPU.
    pub fn of_sums(self) -> Device {
        match self {
            Self::One(device) => device,
            Self::Hybrid(number) => Device::Cuda(number),
        }
    }

    /// The same device, with `auto` replaced by the first GPU if there is one, otherwise by the CPU.
    pub fn resolved(self) -> Self {
        match self {
            Self::One(Device::Auto) if farfield::all_gpus().is_ok_and(|gpus| !gpus.is_empty()) => {
                Device::Cuda(0).into()
            }
            Self::One(Device::Auto) => Device::Cpu.into(),
            device => device,
        }
    }

    /// The kind without the number: `cpu`, `cuda`, `hybrid` or `auto`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::One(device) => device.name(),
            Self::Hybrid(_) => "hybrid",
        }
    }
}

impl From<Device> for PoissonDevice {
    fn from(device: Device) -> Self {
        Self::One(device)
    }
}

impl fmt::Display for PoissonDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(device) => device.fmt(f),
            Self::Hybrid(0) => f.write_str("hybrid"),
            Self::Hybrid(number) => write!(f, "hybrid:{number}"),
        }
    }
}

impl FromStr for PoissonDevice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, number) = text
            .split_once(':')
            .map_or((text, None), |(kind, number)| (kind, Some(number)));
        if kind != "hybrid" {
            let or_hybrid = |error: String| error.replace(", auto", ", hybrid, hybrid:N, auto");
            return text.parse().map(Self::One).map_err(or_hybrid);
        }
        // The number has the syntax of `cuda:N`.
        let gpu: Device = number.map_or(Ok(Device::Cuda(0)), |number| format!("cuda:{number}").parse())?;
        Ok(Self::Hybrid(gpu.gpu().unwrap_or(0)))
    }
}

/// Transfers the sources to the GPU and loads the kernels for direct sums and for expansions of `order`, while `work`
/// runs on this thread.
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
                what: "the correction to the regularised kernel on a GPU",
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

/// The result of a thread; a panic in it is passed on.
fn joined<R>(thread: thread::ScopedJoinHandle<'_, R>) -> R {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The sums of the lists of `share`, in the order of a channel's values.
pub(super) fn evaluate<T: Precision>(
    mut sum: BrickSum<T>,
    parts: &Parts<T>,
    share: Share,
    seconds: &mut SolveSeconds,
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
    // Sequential, because the CPU cores may be busy with another share of the evaluation.
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

/// Evaluates direct lists on the GPU and indirect ones on the CPU, concurrently.
pub(super) fn evaluate_beside<T: Precision>(
    sum: BrickSum<T>,
    parts: &Parts<T>,
    cores: &OnCores,
    seconds: &mut SolveSeconds,
) -> Result<Vec<T>, Error> {
    let start = Instant::now();
    let (direct, mut values) = thread::scope(|scope| {
        let device = scope.spawn(|| {
            let mut seconds = SolveSeconds::default();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_parse_back_from_their_text() {
        for device in [
            Device::Cpu.into(),
            Device::Cuda(3).into(),
            Device::Auto.into(),
            PoissonDevice::Hybrid(0),
            PoissonDevice::Hybrid(2),
        ] {
            assert_eq!(device.to_string().parse(), Ok(device));
        }
        for wrong in ["", "gpu", "hybrid:", "hybrid:x", "hybrids", "cuda:-1"] {
            assert!(wrong.parse::<PoissonDevice>().is_err(), "{wrong}");
        }
        assert!("gpu".parse::<PoissonDevice>().unwrap_err().contains("hybrid:N"));
    }
}
