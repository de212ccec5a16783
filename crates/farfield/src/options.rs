//! How a sum is done: the same options in space and in the plane, on every device.

use crate::{Device, Method};
use farfield_core::simd::SimdLevel;
use farfield_core::tuning::MachineProfile;

/// How to sum. Whatever is not set is chosen.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The relative error allowed in each output; 1e-6 (1e-4 in single precision) if not set.
    pub tolerance: Option<f64>,
    /// The method.
    pub method: Method,
    /// Where to sum.
    pub device: Device,
    /// For experts: one order for all expansions instead of the tolerance.
    pub order: Option<usize>,
    /// For experts: the treecode's opening criterion; in the plane that of the couplings.
    pub theta: Option<f64>,
    /// For experts: how many points a box may hold.
    pub leaf_capacity: Option<usize>,
    /// The instruction set of the cores; the machine's best if not set.
    pub simd: Option<SimdLevel>,
    /// What the cost model believes about the machine; what ships with the library if not set.
    pub profile: Option<MachineProfile>,
    /// Do without a look at the error of every evaluation.
    pub no_check: bool,
    /// Refuse plans that need more than this many bytes of the host's memory; what is available if not set.
    pub memory_limit: Option<u64>,
}

impl Options {
    /// The machine profile.
    pub(crate) fn machine_profile(&self) -> MachineProfile {
        self.profile.clone().unwrap_or_default()
    }
}

/// Applies the options to one of the engine's sums, which have the same methods.
macro_rules! apply {
    ($sum:expr, $options:expr) => {{
        let options: &$crate::Options = $options;
        let mut sum = $sum
            .method(options.method)
            .check_errors(!options.no_check)
            .profile(options.machine_profile());
        if let Some(tolerance) = options.tolerance {
            sum = sum.tolerance(tolerance);
        }
        if let Some(order) = options.order {
            sum = sum.order(order);
        }
        if let Some(theta) = options.theta {
            sum = sum.theta(theta);
        }
        if let Some(capacity) = options.leaf_capacity {
            sum = sum.leaf_capacity(capacity);
        }
        if let Some(level) = options.simd {
            sum = sum.simd(level);
        }
        if let Some(bytes) = options.memory_limit {
            sum = sum.memory_limit(bytes);
        }
        sum
    }};
}
pub(crate) use apply;
