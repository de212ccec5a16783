//! The parameters of a plan and the costs of its evaluation: one report for every device.

use farfield_core::plan::Parameters;
pub use farfield_core::report::{Interactions, Phase, Seconds};
use farfield_core::simd::{Real, SimdLevel};
use farfield_cuda::device::Properties;

/// The processor that did a sum.
#[derive(Debug, Clone)]
pub enum Processor {
    /// The CPU.
    Cpu {
        /// The instruction set.
        simd: SimdLevel,
        /// The number of values in a SIMD register.
        lanes: usize,
    },
    /// A GPU.
    Cuda(Properties),
}

impl Processor {
    /// The CPU with an instruction set, in precision `T`.
    pub fn cpu<T: Real>(simd: SimdLevel) -> Self {
        Processor::Cpu {
            simd,
            lanes: simd.lanes::<T>(),
        }
    }

    /// The kind of device: `cpu` or `cuda`.
    pub fn device(&self) -> &'static str {
        match self {
            Processor::Cpu { .. } => "cpu",
            Processor::Cuda(_) => "cuda",
        }
    }

    /// The instruction set: `avx512`, or `sm_90`.
    pub fn instruction_set(&self) -> String {
        match self {
            Processor::Cpu { simd, .. } => simd.name().to_owned(),
            Processor::Cuda(gpu) => format!("sm_{}", gpu.architecture),
        }
    }

    /// The GPU, if one took part.
    pub fn gpu(&self) -> Option<&Properties> {
        match self {
            Processor::Cpu { .. } => None,
            Processor::Cuda(gpu) => Some(gpu),
        }
    }
}

/// The parameters of a plan and the costs of its last evaluation. With the feature `serde` it can be written as JSON,
/// with the keys of `farfield evaluate --json`.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Report {
    /// The number of sources.
    pub n_sources: usize,
    /// The number of targets.
    pub n_targets: usize,
    /// `f32` or `f64`.
    pub precision: &'static str,
    /// The tolerance; `None` if the order is fixed.
    pub tolerance: Option<f64>,
    /// The method.
    pub method: &'static str,
    /// The highest degree kept in expansions.
    pub order: Option<usize>,
    /// The lowest order of any M2L translation.
    pub lowest_m2l_order: Option<usize>,
    /// The opening criterion of the treecode; in the plane, the criterion of the couplings.
    pub theta: Option<f64>,
    /// The largest number of points in a box.
    pub leaf_capacity: Option<usize>,
    /// The index of the deepest level.
    pub depth: Option<usize>,
    /// The number of boxes in the tree.
    pub boxes: usize,
    /// The kind of device: `cpu` or `cuda`.
    pub device: &'static str,
    /// The name of the GPU, if one took part.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub gpu: Option<String>,
    /// The instruction set: `avx512`, or `sm_90`.
    pub simd: String,
    /// The time of the last evaluation by phase; the first includes the planning.
    #[cfg_attr(feature = "serde", serde(serialize_with = "by_phase"))]
    pub seconds: Seconds,
    /// The number of interactions of each kind in one evaluation.
    pub interactions: Counts,
    /// Remarks on the plan's choices.
    pub notes: Vec<String>,
}

/// The number of interactions of each kind in an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Counts {
    /// Pairs of points.
    pub p2p: u64,
    /// Translations between boxes.
    pub m2l: u64,
    /// Pairs of a multipole expansion and a target.
    pub m2p: u64,
    /// Pairs of a source and a local expansion.
    pub p2l: u64,
}

impl From<Interactions> for Counts {
    fn from(of: Interactions) -> Self {
        Self {
            p2p: of.p2p,
            m2l: of.m2l,
            m2p: of.m2p,
            p2l: of.p2l,
        }
    }
}

/// The sources of a report's values.
pub(crate) struct Facts<'a> {
    pub counts: (usize, usize),
    pub precision: &'static str,
    pub tolerance: Option<f64>,
    pub parameters: &'a Parameters,
    pub processor: Processor,
    pub seconds: Seconds,
    pub notes: &'a [String],
}

impl Report {
    pub(crate) fn new(facts: Facts<'_>) -> Self {
        let parameters = facts.parameters;
        Self {
            n_sources: facts.counts.0,
            n_targets: facts.counts.1,
            precision: facts.precision,
            tolerance: facts.tolerance,
            method: parameters.method.name(),
            order: parameters.order,
            lowest_m2l_order: parameters.lowest_m2l_order,
            theta: parameters.theta,
            leaf_capacity: parameters.leaf_capacity,
            depth: parameters.depth,
            boxes: parameters.boxes,
            device: facts.processor.device(),
            gpu: facts.processor.gpu().map(|gpu| gpu.name.clone()),
            simd: facts.processor.instruction_set(),
            seconds: facts.seconds,
            interactions: parameters.interactions.into(),
            notes: facts.notes.to_vec(),
        }
    }
}

/// Seconds as a map: the total, and each phase by its name.
#[cfg(feature = "serde")]
pub fn by_phase<S: serde::Serializer>(seconds: &Seconds, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap;
    let mut map = serializer.serialize_map(Some(1 + Phase::ALL.len()))?;
    map.serialize_entry("total", &seconds.total)?;
    for phase in Phase::ALL {
        map.serialize_entry(phase.name(), &seconds.of(phase))?;
    }
    map.end()
}
