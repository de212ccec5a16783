//! The free-space Poisson problem $\nabla^2\psi=-\omega$ on a multiresolution grid.
//!
//! $$ \psi(x)=\sum_j\omega_jh_j^3\\,G(|x-x_j|) $$
//! The sum runs over the grid points where $\omega$ is not zero and is evaluated at all grid points, for one, two or
//! three components together. Two methods share sources, kernels and self term:
//!
//! - [`Method::Treecode`] is the method of van Rees et al.: sources -> octree -> expansions (P2M, M2M) -> for each
//!   brick of $8^3$ points a direct and an indirect *list* -> evaluation of the lists (P2P, M2P).
//! - [`Method::Fmm`] hands the same sources and points to the fast multipole method, whose local expansions share the
//!   far field among neighbouring points.
//!
//! If no method is set, the one expected to be faster is used. If the device is a GPU, it evaluates the treecode's
//! lists.

mod bricks;
mod device;
mod fmm;
mod kernel;
mod lists;
mod memory;
mod multipole;
mod precision;
mod quadrature;
mod rates;
mod report;
mod self_term;
mod solve;
mod sources;
mod tree;
mod treecode;
mod tuning;
mod work;

pub use device::PoissonDevice;
pub use kernel::{Kernel, LATTICE_SELF_TERM, Pair, Quantity, Smoothing};
pub use lists::{BRICK_POINTS, BRICK_SIDE, BRICKS_PER_BLOCK, Brick, BrickLists, DirectRange};
pub use multipole::{Expansions, term_count};
pub use precision::Precision;
pub use report::{Interactions, Report, SolveSeconds};
pub use sources::Sources;
pub use tree::{Node, SourceTree};
pub use treecode::Parts;
pub use work::Work;

use crate::error::Error;
use farfield::Device;
use farfield::simd::SimdLevel;
use std::fmt;

/// The summation method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Lists of direct and indirect interactions for each brick.
    Treecode,
    /// Local expansions for points far from the sources.
    Fmm,
}

impl Method {
    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Treecode => "treecode",
            Method::Fmm => "fmm",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The accuracy of the sum; its error adds to the discretisation error of the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Accuracy {
    /// The relative error allowed in each component: the L2 norm of the errors over that of the values.
    Tolerance(f64),
    /// Fixed parameters of the treecode. $\theta=0$ sums every pair.
    Fixed {
        /// A node of radius $a$ at distance $r$ is evaluated through its expansion if $a/r<\theta$.
        theta: f64,
        /// The degree of the expansions: 4, 6, 8, 10 or 12.
        order: usize,
    },
}

/// A solver of the free-space Poisson problem on grids.
///
/// ```
/// use farfield_grid::poisson::{Accuracy, Poisson};
/// use farfield_grid::{Domain, Grid, Sampling};
///
/// // A Gaussian of unit strength; far away its potential is 1/(4 pi r).
/// let mut grid = Grid::<f64>::builder(Domain::unit_cube()).scalar("omega").scalar("psi").start_level(1).build()?;
/// let (width, norm) = (0.06f64, 0.06f64.powi(3) * std::f64::consts::PI.powf(1.5));
/// grid.fill_scalar("omega", Sampling::Point, |x| {
///     (-x.iter().map(|c| (c - 0.5).powi(2)).sum::<f64>() / width.powi(2)).exp() / norm
/// })?;
/// let report = Poisson::new(Accuracy::Tolerance(1e-6)).solve(&mut grid, "omega", "psi")?;
/// let corner = grid.position(0, [0; 3]);
/// let r = corner.iter().map(|c| (c - 0.5).powi(2)).sum::<f64>().sqrt();
/// let psi = grid.channel("psi")?.values()[0];
/// assert!((psi - 1.0 / (4.0 * std::f64::consts::PI * r)).abs() < 1e-5);
/// assert!(report.sources < grid.points());
/// # Ok::<(), farfield_grid::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Poisson {
    accuracy: Accuracy,
    kernel: Kernel,
    device: PoissonDevice,
    method: Option<Method>,
    threshold: f64,
    leaf_capacity: Option<usize>,
    simd: Option<SimdLevel>,
    interface_correction: Option<bool>,
    bricks_per_pass: Option<usize>,
}

impl Poisson {
    /// The supported orders of the expansions.
    pub const ORDERS: [usize; 5] = [4, 6, 8, 10, 12];
    /// The leaf capacity of van Rees et al., in source points; the default for fixed parameters.
    pub const PAPER_LEAF_CAPACITY: usize = 2048;

    /// A solver with the singular kernel, the source threshold 1e-12, and the fastest method that is accurate enough.
    pub fn new(accuracy: Accuracy) -> Self {
        Self {
            accuracy,
            kernel: Kernel::default(),
            device: Device::Cpu.into(),
            method: None,
            threshold: 1e-12,
            leaf_capacity: None,
            simd: None,
            interface_correction: None,
            bricks_per_pass: None,
        }
    }

    /// The kernel.
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// The number of bricks a GPU evaluates between two transfers (default: a few thousand). The result does not depend
    /// on it.
    pub fn bricks_per_pass(mut self, bricks: usize) -> Self {
        self.bricks_per_pass = Some(bricks);
        self
    }

    /// The device (default: CPU). For the treecode, a GPU evaluates the lists, which the CPU builds while the sources
    /// are transferred; [`PoissonDevice::Hybrid`] evaluates direct lists on the GPU and indirect ones on the CPU. The
    /// FMM is the library's and runs on any single device.
    pub fn device(mut self, device: impl Into<PoissonDevice>) -> Self {
        self.device = device.into();
        self
    }

    /// The method (default: the treecode for fixed parameters or on a GPU, otherwise the one expected to be faster).
    pub fn method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// The source threshold: points where the absolute value of some component exceeds it are sources.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = threshold;
        self
    }

    /// For experts: the largest number of sources in a box that is not cut.
    pub fn leaf_capacity(mut self, capacity: usize) -> Self {
        self.leaf_capacity = Some(capacity);
        self
    }

    /// Whether points next to a change of level are weighted so that integrals of smooth functions across it are of
    /// fourth order. The default is yes for potentials and no for velocities: near the interface the velocity kernel is
    /// far from smooth, and the weights would add larger errors there than they remove elsewhere.
    pub fn interface_correction(mut self, corrected: bool) -> Self {
        self.interface_correction = Some(corrected);
        self
    }

    /// Whether points next to a change of level get corrected weights.
    fn corrects_interfaces(&self, quantity: Quantity) -> bool {
        self.interface_correction.unwrap_or(quantity == Quantity::Potential)
    }

    /// The instruction set (default: the machine's best).
    pub fn simd(mut self, level: SimdLevel) -> Self {
        self.simd = Some(level);
        self
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |name, value, range| Err(Error::Parameter { name, value, range });
        match self.accuracy {
            Accuracy::Tolerance(tolerance) if !(1e-12..=1e-1).contains(&tolerance) => {
                return wrong("tolerance", tolerance, "1e-12 to 1e-1");
            }
            Accuracy::Fixed { theta, .. } if !(0.0..1.0).contains(&theta) => {
                return wrong("theta", theta, "0 to 1, excluding 1");
            }
            Accuracy::Fixed { order, .. } if !Self::ORDERS.contains(&order) => {
                return wrong("order", order as f64, "4, 6, 8, 10, 12");
            }
            _ => {}
        }
        if !(self.threshold.is_finite() && self.threshold >= 0.0) {
            return wrong("threshold", self.threshold, "finite and not negative");
        }
        if self.leaf_capacity == Some(0) {
            return wrong("leaf capacity", 0.0, "at least 1");
        }
        Ok(())
    }
}
