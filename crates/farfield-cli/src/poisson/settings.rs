//! The checked settings of a Poisson problem.

use super::field_on_grid::VorticitySource;
use crate::args::{AxesOrder, KernelChoice, PoissonArgs, PoissonMethod, WaveletName};
use crate::failure::Failure;
use crate::{device, print};
use farfield::simd::SimdLevel;
use farfield_grid::poisson::{Accuracy, Kernel, Method, Poisson, PoissonDevice, Smoothing};
use farfield_grid::{Adaptation, BLOCK_SIDE, MAX_LEVEL, Wavelet};

/// Which components of the vorticity are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Components {
    /// All three, in one traversal.
    All,
    /// One of them, as in van Rees et al.
    One(usize),
    /// The only value that a file has for each point.
    Scalar,
}

impl Components {
    /// The number of components.
    pub fn count(self) -> usize {
        match self {
            Components::All => 3,
            Components::One(_) | Components::Scalar => 1,
        }
    }

    /// Their names.
    pub fn name(self) -> &'static str {
        match self {
            Components::All => "all",
            Components::One(axis) => ["x", "y", "z"][axis.min(2)],
            Components::Scalar => "scalar",
        }
    }
}

/// A Poisson problem to be made and solved.
#[derive(Debug, Clone)]
pub struct PoissonSettings {
    pub field: VorticitySource,
    /// The requested number of points along a side of the cube.
    pub resolution: Option<usize>,
    pub axes: AxesOrder,
    /// Whether thresholds are in the units of the vorticity; otherwise they are shares of the largest.
    pub absolute: bool,
    pub components: Components,
    pub wavelet: Wavelet,
    pub adaptation: Adaptation,
    pub memory_cap: Option<u64>,
    pub accuracy: Accuracy,
    pub kernel: Kernel,
    pub method: Option<Method>,
    pub threshold: f64,
    pub leaf_capacity: Option<usize>,
    pub simd: Option<SimdLevel>,
    pub device: PoissonDevice,
    pub progress: Progress,
}

/// Prints progress on standard error, unless it is quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    quiet: bool,
}

impl Progress {
    /// Prints a line, unless it is quiet.
    pub fn say(self, line: &str) {
        if !self.quiet {
            print::progress(line);
        }
    }
}

impl PoissonSettings {
    /// Checks the command line.
    pub fn new(args: PoissonArgs) -> Result<Self, Failure> {
        let max_level = level_of(args.resolution.unwrap_or(DEFAULT_RESOLUTION))?;
        let accuracy = match (args.tolerance, args.theta, args.order) {
            (Some(tolerance), ..) => Accuracy::Tolerance(tolerance),
            (None, None, None) => Accuracy::Tolerance(1e-6),
            (None, theta, order) => Accuracy::Fixed {
                theta: theta.unwrap_or(0.5),
                order: order.unwrap_or(6),
            },
        };
        // A missing device is reported before any work.
        device::check(args.device)?;
        let field = VorticitySource::named(&args.case)?;
        if args.axes.is_some() && field.numbers().is_none() {
            return Err(Failure::Usage(format!(
                "--axes: {} is a formula, which has no order of indices",
                field.name()
            )));
        }
        if !(args.refine.is_finite() && args.compress > 0.0 && args.compress < args.refine) {
            return Err(farfield_grid::Error::Thresholds {
                refine: args.refine,
                compress: args.compress,
            }
            .into());
        }
        Ok(Self {
            field,
            resolution: args.resolution,
            axes: args.axes.unwrap_or_default(),
            absolute: args.absolute,
            components: match args.component {
                Some(component) => Components::One(component as usize),
                None => Components::All,
            },
            wavelet: match args.wavelet {
                WaveletName::Interpolating4 => Wavelet::Interpolating4,
                WaveletName::AverageInterpolating5 => Wavelet::AverageInterpolating5,
            },
            adaptation: Adaptation::new(args.refine, args.compress, max_level),
            memory_cap: args.memory_cap.map(|mebibytes| mebibytes as u64 * 1024 * 1024),
            accuracy,
            kernel: match args.kernel {
                KernelChoice::Singular => Kernel::Singular,
                KernelChoice::Regularised => Kernel::Regularised(Smoothing::OwnSpacing),
                KernelChoice::RegularisedFinest => Kernel::Regularised(Smoothing::FinestSpacing),
            },
            method: match args.method {
                PoissonMethod::Auto => None,
                PoissonMethod::Treecode => Some(Method::Treecode),
                PoissonMethod::Fmm => Some(Method::Fmm),
            },
            threshold: args.threshold,
            leaf_capacity: args.leaf_capacity,
            simd: args.simd,
            device: args.device,
            progress: Progress {
                quiet: args.quiet || args.json,
            },
        })
    }

    /// The unit of the thresholds: the largest vorticity, or 1 if thresholds are absolute.
    pub fn unit(&self, largest: f64) -> Result<f64, Failure> {
        if largest > 0.0 {
            return Ok(if self.absolute { 1.0 } else { largest });
        }
        Err(Failure::Data(format!(
            "{}: the vorticity is zero everywhere: there is nothing to solve for",
            self.field.name()
        )))
    }

    /// The thresholds of the grid in units of the vorticity, whose largest value is `largest`.
    pub fn adaptation(&self, largest: f64) -> Result<Adaptation, Failure> {
        let unit = self.unit(largest)?;
        let Adaptation {
            refine,
            compress,
            max_level,
        } = self.adaptation;
        Ok(Adaptation::new(unit * refine, unit * compress, max_level))
    }

    /// The solver for a field whose largest vorticity is `largest`.
    pub fn solver(&self, largest: f64) -> Result<Poisson, Failure> {
        let mut solver = Poisson::new(self.accuracy)
            .kernel(self.kernel)
            .device(self.device)
            .threshold(self.unit(largest)? * self.threshold);
        if let Some(method) = self.method {
            solver = solver.method(method);
        }
        if let Some(capacity) = self.leaf_capacity {
            solver = solver.leaf_capacity(capacity);
        }
        if let Some(simd) = self.simd {
            solver = solver.simd(simd);
        }
        Ok(solver)
    }
}

/// The default number of points along a side of the cube.
pub const DEFAULT_RESOLUTION: usize = 128;

/// The level at which the unit cube has `resolution` points along a side.
pub fn level_of(resolution: usize) -> Result<u8, Failure> {
    let blocks = resolution / BLOCK_SIDE;
    if !resolution.is_multiple_of(BLOCK_SIDE) || !blocks.is_power_of_two() || blocks > 1 << MAX_LEVEL {
        return Err(Failure::Usage(format!(
            "--resolution: {resolution} is not 16 times a power of two, such as 64, 128 or 256"
        )));
    }
    Ok(blocks.trailing_zeros() as u8)
}
