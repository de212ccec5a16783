//! Sums, plans and results: the library's front door.
//!
//! [`Sum`] collects what to sum and how well; [`Sum::plan`] checks it, chooses method and parameters and builds the
//! tree; [`Plan::evaluate`] sums, as often as wanted, for new strengths at the same points.

mod build;
mod check;
mod checked;
mod evaluate;
mod extremes;
mod far_field;
mod field;
pub(crate) mod input;
pub(crate) mod memory;
pub(crate) mod merge;
pub(crate) mod permutation;
pub(crate) mod units;

pub use check::output_kind;
pub use checked::CheckedSum;
pub use evaluate::{Parameters, Plan, first_sum};
pub use field::Field;
pub use input::{MOST_POINTS, check_strength_count, check_strengths};
pub use memory::MemoryForecast;

use crate::kernel::{Kernel, Output, Sizes};
use crate::simd::{Real, SimdLevel};
use crate::tuning::MachineProfile;
use std::fmt;

/// How to sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Method {
    /// The fastest, by the cost model.
    #[default]
    Auto,
    /// Every pair.
    Direct,
    /// Multipoles of far boxes at each target.
    Treecode,
    /// The treecode with the FMM's neighbour lists instead of an opening angle (Yokota and Barba), for the evidence. Unstable.
    #[doc(hidden)]
    TreecodeOnNeighbours,
    /// The fast multipole method.
    Fmm,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 4] = [Method::Auto, Method::Direct, Method::Treecode, Method::Fmm];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Direct => "direct",
            Method::Treecode => "treecode",
            Method::TreecodeOnNeighbours => "treecode-on-neighbours",
            Method::Fmm => "fmm",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A sum to be planned: which kernel between which points, which outputs, how exact.
#[derive(Debug, Clone)]
pub struct Sum<'a, T> {
    kernel: Kernel,
    sources: &'a [[T; 3]],
    targets: Option<&'a [[T; 3]]>,
    sizes: Sizes<T>,
    outputs: Vec<Output>,
    tolerance: f64,
    method: Method,
    vectors: usize,
    order: Option<usize>,
    theta: Option<f64>,
    leaf_capacity: Option<usize>,
    simd: Option<SimdLevel>,
    profile: MachineProfile,
    allow_unbounded_gradient: bool,
    memory_limit: Option<u64>,
    check: bool,
}

impl<'a, T: Real> Sum<'a, T> {
    /// A sum over `sources`, at the sources themselves, of the kernel's first output, to a tolerance of 1e-6 (1e-4 in
    /// single precision).
    pub fn new(kernel: Kernel, sources: &'a [[T; 3]]) -> Self {
        Self {
            kernel,
            sources,
            targets: None,
            sizes: Sizes::None,
            outputs: vec![kernel.outputs()[0]],
            tolerance: if T::EPSILON > 1e-10 { 1e-4 } else { 1e-6 },
            method: Method::Auto,
            vectors: 1,
            order: None,
            theta: None,
            leaf_capacity: None,
            simd: None,
            profile: MachineProfile::default(),
            allow_unbounded_gradient: false,
            memory_limit: None,
            check: true,
        }
    }

    /// Another kernel between the same points.
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// Evaluate at other points than the sources. They are others even where they share places with sources: a softened
    /// kernel then counts the source at a target's own place, which it does not where no targets are given.
    pub fn targets(mut self, targets: &'a [[T; 3]]) -> Self {
        self.targets = Some(targets);
        self
    }

    /// Count the term of each source at its own place too, where the targets are the sources: the same as
    /// `targets(sources)`. A singular kernel has none.
    pub fn count_self(mut self) -> Self {
        self.targets = Some(self.sources);
        self
    }

    /// Core sizes or softening lengths.
    pub fn sizes(mut self, sizes: Sizes<T>) -> Self {
        self.sizes = sizes;
        self
    }

    /// What to compute.
    pub fn outputs(mut self, outputs: &[Output]) -> Self {
        self.outputs = outputs.to_vec();
        self
    }

    /// The relative error allowed in each output: the root of the summed squared errors over that of the values, over
    /// all targets. From 1e-2 to 1e-12 in double, to 1e-5 in single precision.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// The method.
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// How many vectors of strengths are summed at once.
    pub fn vectors(mut self, vectors: usize) -> Self {
        self.vectors = vectors;
        self
    }

    /// For experts: one order for all expansions instead of the tolerance.
    pub fn order(mut self, order: usize) -> Self {
        self.order = Some(order);
        self
    }

    /// For experts: the treecode's opening criterion, a/r < theta.
    pub fn theta(mut self, theta: f64) -> Self {
        self.theta = Some(theta);
        self
    }

    /// For experts: how many points a box may hold before it is cut.
    pub fn leaf_capacity(mut self, capacity: usize) -> Self {
        self.leaf_capacity = Some(capacity);
        self
    }

    /// The instruction set to use; the machine's best by default.
    pub fn simd(mut self, level: SimdLevel) -> Self {
        self.simd = Some(level);
        self
    }

    /// What the cost model believes about the machine.
    pub fn profile(mut self, profile: MachineProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Accept the velocity gradient of [`crate::kernel::Core::HuPolynomial`], unbounded at the centre.
    pub fn allow_unbounded_gradient(mut self) -> Self {
        self.allow_unbounded_gradient = true;
        self
    }

    /// Refuse plans that need more than this many bytes; what the system has available by default.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Whether every evaluation computes the true sum at a few dozen targets, compares, and sums again more exactly where
    /// the tolerance is exceeded; it does by default. [`Field::check`] then holds the measured errors.
    pub fn check_errors(mut self, check: bool) -> Self {
        self.check = check;
        self
    }
}
