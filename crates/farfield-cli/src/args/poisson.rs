//! Options of `farfield poisson`.

use super::value::{PrecisionName, count, number, simd_levels, threads, tolerance};
use clap::{Args, ValueEnum};
use farfield::Device;
use farfield::simd::SimdLevel;
use farfield_grid::poisson::PoissonDevice;
use std::path::PathBuf;

/// `farfield poisson`.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct PoissonArgs {
    /// two-rings (van Rees et al.), gaussian-ring, a case file (.toml: a box with rings, see docs/manual/poisson.md), or a file
    /// (.npz, .npy, .csv) with an array `vorticity`, `omega` or `values`: one or three numbers for each of n x n x n points of
    /// the unit cube, n = 16, 32, 64, ...
    #[arg(value_name = "CASE")]
    pub case: String,
    /// Order of the indices of a file's array: zyx, a[k, j, i] with x fastest, or xyz, a[i, j, k] with z fastest, as
    /// numpy's meshgrid makes it with indexing='ij' [default: zyx]
    #[arg(long, value_enum, value_name = "ORDER", help_heading = "Grid")]
    pub axes: Option<AxesOrder>,
    /// Component of the vorticity to solve for [default: all three at once]
    #[arg(long, value_enum, value_name = "AXIS")]
    pub component: Option<AxisName>,

    /// Points along a side of the cube at the finest level: 16, 32, 64, ... [default: 128, or that of the file]
    #[arg(long, value_parser = count, value_name = "N", help_heading = "Grid")]
    pub resolution: Option<usize>,
    /// Wavelet that relates the levels: values at nodes or averages over cells
    #[arg(long, value_enum, default_value_t = WaveletName::AverageInterpolating5, help_heading = "Grid")]
    pub wavelet: WaveletName,
    /// Refine blocks with a larger wavelet detail, as a share of the largest vorticity
    #[arg(long, default_value_t = 1e-5, value_name = "D", value_parser = number, help_heading = "Grid")]
    pub refine: f64,
    /// Join blocks whose wavelet details are all smaller, as a share of the largest vorticity
    #[arg(long, default_value_t = 1e-7, value_name = "D", value_parser = number, help_heading = "Grid")]
    pub compress: f64,
    /// Take --refine, --compress and --threshold in the units of the vorticity, not as shares
    #[arg(long, help_heading = "Grid")]
    pub absolute: bool,
    /// Largest memory of the grid, in MiB [default: the memory of the machine]
    #[arg(long, value_name = "MIB", value_parser = count, help_heading = "Grid")]
    pub memory_cap: Option<usize>,

    /// Interaction of a source with a point
    #[arg(long, value_enum, default_value_t = KernelChoice::Singular, help_heading = "Sum")]
    pub kernel: KernelChoice,
    /// Relative error allowed in the sum, on top of the grid's: 1e-12 to 1e-2 [default: 1e-6]
    #[arg(long, value_name = "E", conflicts_with_all = ["order", "theta"], value_parser = tolerance, help_heading = "Sum")]
    pub tolerance: Option<f64>,
    /// For experts: degree of the treecode's expansions, 4, 6, 8, 10 or 12 [default: 6]
    #[arg(long, value_name = "P", value_parser = count, help_heading = "Sum")]
    pub order: Option<usize>,
    /// For experts: the treecode's opening criterion a/r < T; 0 sums all pairs [default: 0.5]
    #[arg(long, value_name = "T", value_parser = number, help_heading = "Sum")]
    pub theta: Option<f64>,
    /// Method of summation
    #[arg(long, value_enum, default_value_t = PoissonMethod::Auto, help_heading = "Sum")]
    pub method: PoissonMethod,
    /// Smallest vorticity of a source, as a share of the largest vorticity
    #[arg(long, default_value_t = 1e-12, value_name = "W", value_parser = number, help_heading = "Sum")]
    pub threshold: f64,
    /// For experts: largest number of sources in a box before it is cut
    #[arg(long, value_name = "COUNT", value_parser = count, help_heading = "Sum")]
    pub leaf_capacity: Option<usize>,

    /// Precision of the fields
    #[arg(long, value_enum, default_value_t = PrecisionName::F64, help_heading = "Execution")]
    pub precision: PrecisionName,
    /// Device: cpu; cuda or cuda:N, a GPU; hybrid, the treecode's direct lists on a GPU and its indirect lists on the
    /// CPU; auto, a GPU if there is one
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Cpu.into(), help_heading = "Execution")]
    pub device: PoissonDevice,
    /// Number of threads [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads, help_heading = "Execution")]
    pub threads: Option<usize>,
    /// Instruction set to use [default: the machine's best]
    #[arg(long, value_name = "LEVEL", value_parser = simd_levels(), help_heading = "Execution")]
    pub simd: Option<SimdLevel>,

    /// Folder to write blocks.vtu, fields.vti, fields.pvd, fields.npz and pictures to
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// No progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
    /// Print one JSON object instead of the summary
    #[arg(long)]
    pub json: bool,
}

/// The order of the indices of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum AxesOrder {
    /// a[k, j, i]: x fastest
    #[default]
    Zyx,
    /// a[i, j, k]: z fastest
    Xyz,
}

/// The axes by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AxisName {
    /// The first component
    X,
    /// The second component
    Y,
    /// The third component
    Z,
}

/// The wavelets by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WaveletName {
    /// Values at nodes, fourth order
    #[value(name = "interpolating-4")]
    Interpolating4,
    /// Averages over cells, fifth order
    #[value(name = "average-interpolating-5")]
    AverageInterpolating5,
}

/// The kernels of the Poisson problem by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KernelChoice {
    /// 1/(4 pi r), with the self term that makes it fourth order
    Singular,
    /// Eq. 7 of van Rees et al., smoothed over the spacing of each source's block
    Regularised,
    /// Eq. 7 of van Rees et al., smoothed over the finest spacing of the grid
    RegularisedFinest,
}

/// How to solve the Poisson problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PoissonMethod {
    /// With a tolerance on the CPU, the faster of the two according to the cost model; otherwise the treecode
    Auto,
    /// Direct and indirect plans for bricks of points
    Treecode,
    /// The fast multipole method
    Fmm,
}
