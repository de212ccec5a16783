//! What a plan settled on and what its evaluation took: one report for every device.

use farfield_core::plan::Parameters;
pub use farfield_core::report::{Interactions, Phase, Seconds};
use farfield_core::simd::{Real, SimdLevel};
use farfield_cuda::device::Properties;

/// What did a sum.
#[derive(Debug, Clone)]
pub enum Processor {
    /// The processor's cores.
    Cpu {
        /// The instruction set.
        simd: SimdLevel,
        /// Numbers in a SIMD register.
        lanes: usize,
    },
    /// A graphics processor.
    Cuda(Properties),
}

impl Processor {
    /// The cores with an instruction set, in a precision.
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

    /// The graphics processor, if one took part.
    pub fn gpu(&self) -> Option<&Properties> {
        match self {
            Processor::Cpu { .. } => None,
            Processor::Cuda(gpu) => Some(gpu),
        }
    }
}

/// What a plan settled on and what its last evaluation took. With the feature `serde` it can be written as JSON; its keys
/// are those of `farfield evaluate --json`.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Report {
    /// How many sources there are.
    pub n_sources: usize,
    /// How many targets there are.
    pub n_targets: usize,
    /// `f32` or `f64`.
    pub precision: &'static str,
    /// The tolerance; `None` where an expert fixed the order.
    pub tolerance: Option<f64>,
    /// The method.
    pub method: &'static str,
    /// The highest degree kept in expansions.
    pub order: Option<usize>,
    /// The lowest order any M2L translation uses.
    pub lowest_m2l_order: Option<usize>,
    /// The opening criterion of the treecode; in the plane that of the couplings.
    pub theta: Option<f64>,
    /// How many points a box may hold.
    pub leaf_capacity: Option<usize>,
    /// The number of the deepest level.
    pub depth: Option<usize>,
    /// Boxes in the tree.
    pub boxes: usize,
    /// The kind of device: `cpu` or `cuda`.
    pub device: &'static str,
    /// The name of the graphics processor, if one took part.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub gpu: Option<String>,
    /// The instruction set: `avx512`, or `sm_90`.
    pub simd: String,
    /// Where the time of the last evaluation went; the first includes the planning.
    #[cfg_attr(feature = "serde", serde(serialize_with = "by_phase"))]
    pub seconds: Seconds,
    /// How many interactions of each kind one evaluation takes.
    pub interactions: Counts,
    /// Remarks on choices the caller may want to know of.
    pub notes: Vec<String>,
}

/// How many interactions of each kind an evaluation takes.
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

/// Where a report's numbers come from.
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
