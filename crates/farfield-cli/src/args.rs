//! The command line as typed: options, their ranges and their help.

use crate::problem::Named;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use farfield::points::{ChargeDistribution, PointSet};
use farfield::simd::SimdLevel;
use farfield::{Method, kernel, plane};
use std::path::PathBuf;

/// Fast sums of long-range interactions: direct, treecode and FMM, to a tolerance you choose.
#[derive(Debug, Parser)]
#[command(name = "farfield", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a simulation: a case by name, or a case file
    Run(RunArgs),
    /// Go on with a run that was stopped
    Resume(ResumeArgs),
    /// Print the schema of case files: every key, its default and its meaning
    Schema,
    /// Check the simulations against theory and write tables and figures
    Validate(ValidateArgs),
    /// Sum a kernel over points, made up or from files, and report time, error, memory and rates
    Evaluate(Box<EvaluateArgs>),
    /// Solve the Poisson problem of a vorticity field in free space on a grid adapted to it
    Poisson(Box<PoissonArgs>),
    /// Measure the machine's ceilings and what share of them operators and methods reach
    Bench(BenchArgs),
    /// Say what this machine has and what this build uses of it
    Info(InfoArgs),
    /// Measure what a paper measured and put the numbers side by side
    Reproduce(ReproduceArgs),
    /// Compare every operator and method of a device with the truth
    Selftest(SelftestArgs),
}

/// `farfield evaluate`.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct EvaluateArgs {
    /// What is summed between the points
    #[arg(long, value_enum, default_value_t = KernelName::Coulomb, help_heading = "Kernel")]
    pub kernel: KernelName,
    /// What to compute, separated by commas; derivative is for the plane [default: potential, or velocity]
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = outputs(), help_heading = "Kernel")]
    pub outputs: Vec<String>,
    /// Regularisation of the sources (biot-savart, harmonic2d, log2d) [default: singular]
    #[arg(long, value_parser = cores(), value_name = "NAME", help_heading = "Kernel")]
    pub core: Option<String>,
    /// Size of the cores (biot-savart, harmonic2d, log2d)
    #[arg(long, value_name = "S", value_parser = size, requires = "core", help_heading = "Kernel")]
    pub core_size: Option<f64>,
    /// Accept the velocity gradient of the hu-polynomial core, unbounded at its centre (biot-savart)
    #[arg(long, help_heading = "Kernel")]
    pub allow_unbounded_gradient: bool,
    /// Softening length (gravity) [default: none]
    #[arg(long, value_name = "S", value_parser = size, help_heading = "Kernel")]
    pub softening: Option<f64>,
    /// Newton's constant (gravity) [default: 1]
    #[arg(long, value_name = "G", help_heading = "Kernel")]
    pub gravitational_constant: Option<f64>,
    /// Strengths are complex: two numbers each, real and imaginary part (harmonic2d, log2d)
    #[arg(long, help_heading = "Kernel")]
    pub complex: bool,

    /// Kind of point set to make; square, normal, layer and circle are in the plane, line and clusters in both
    /// [default: cube, in the plane square]
    #[arg(long, value_parser = point_sets(), value_name = "SET", conflicts_with = "sources", help_heading = "Points")]
    pub points: Option<String>,
    /// How many points to make: 1000000, 1_000_000 or 1e6 [default: 100000]
    #[arg(long, value_parser = count, conflicts_with = "sources", help_heading = "Points")]
    pub n: Option<usize>,
    /// Seed of points, charges and sampled targets
    #[arg(long, default_value_t = 1, value_name = "S", help_heading = "Points")]
    pub seed: u64,
    /// Distribution of made-up charges, masses or vortex strengths [default: signed]
    #[arg(long, value_parser = distributions(), value_name = "NAME", conflicts_with = "charges",
        help_heading = "Points")]
    pub charge_distribution: Option<ChargeDistribution>,
    /// How many vectors of charges to sum at once [default: 1, or what the file has]
    #[arg(long, value_name = "K", value_parser = count, help_heading = "Points")]
    pub charge_vectors: Option<usize>,
    /// File of the sources, and of their charges where it has them: .npy, .npz or .csv
    #[arg(long, value_name = "FILE", help_heading = "Points")]
    pub sources: Option<PathBuf>,
    /// File of the charges, masses or vortex strengths: .npy, .npz or .csv
    #[arg(long, value_name = "FILE", requires = "sources", help_heading = "Points")]
    pub charges: Option<PathBuf>,
    /// File of the targets: .npy, .npz or .csv [default: the targets are the sources]
    #[arg(long, value_name = "FILE", help_heading = "Points")]
    pub targets: Option<PathBuf>,
    /// File to write the results to, in the targets' order: .npy, .npz or .csv
    #[arg(long, value_name = "FILE", help_heading = "Points")]
    pub output: Option<PathBuf>,

    /// Relative error allowed in each output: 1e-12 to 1e-2 (f32: from 1e-5) [default: 1e-6, f32: 1e-4]
    #[arg(long, value_name = "E", help_heading = "Accuracy")]
    pub tolerance: Option<f64>,
    /// Precision of points, charges and results
    #[arg(long, value_enum, default_value_t = PrecisionName::F64, help_heading = "Accuracy")]
    pub precision: PrecisionName,
    /// Measure the true error at K random targets by a direct sum
    #[arg(long, default_value = "0", value_name = "K", value_parser = count, help_heading = "Accuracy")]
    pub verify: usize,
    /// For experts: one order for all expansions, in place of the tolerance
    #[arg(long, value_name = "P", value_parser = count, help_heading = "Accuracy")]
    pub order: Option<usize>,
    /// For experts: the treecode's opening criterion; in the plane, what couples boxes
    #[arg(long, help_heading = "Accuracy")]
    pub theta: Option<f64>,

    /// How to sum
    #[arg(long, value_parser = methods(), value_name = "METHOD", default_value = "auto", help_heading = "Execution")]
    pub method: Method,
    /// Where to sum
    #[arg(long, value_enum, default_value_t = Device::Auto, help_heading = "Execution")]
    pub device: Device,
    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads, help_heading = "Execution")]
    pub threads: Option<usize>,
    /// Instruction set to use [default: the machine's best]
    #[arg(long, value_name = "LEVEL", value_parser = simd_levels(), help_heading = "Execution")]
    pub simd: Option<SimdLevel>,
    /// For experts: how many points a box may hold before it is cut; in the plane, how many it should hold
    #[arg(long, value_name = "COUNT", value_parser = count, help_heading = "Execution")]
    pub leaf_capacity: Option<usize>,
    /// Machine profile [default: $FARFIELD_PROFILE, else farfield/profile.toml in the configuration folder]
    #[arg(long, value_name = "FILE", help_heading = "Execution")]
    pub profile: Option<PathBuf>,
    /// Evaluate R times from raw points and report the fastest
    #[arg(long, value_name = "R", default_value = "1", value_parser = at_least_one, help_heading = "Execution")]
    pub repeat: usize,
    /// Evaluate R more times with the same plan and report the fastest of these as well
    #[arg(long, value_name = "R", default_value = "0", value_parser = count, help_heading = "Execution")]
    pub reuse: usize,

    /// Print one JSON object instead of the summary
    #[arg(long)]
    pub json: bool,
}

/// `farfield run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A case by name, or a file that ends in .toml [default: list the cases there are]
    pub case: Option<String>,
    /// Replace a value of the case: time.end=2, vortex.rings.0.radius=0.5, size=paper
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Folder for everything the run writes [default: runs/CASE]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// How the run is watched.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
    /// Machine profile [default: as for evaluate]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Where to sum: cpu or cuda
    #[arg(long, value_enum, default_value_t = Device::Cpu)]
    pub device: Device,
}

/// `farfield resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The folder of the run
    pub folder: PathBuf,
    /// Replace a value of the case from here on: time.end=20, time.step=0.01
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// How the run is watched.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
    /// Where to sum: cpu or cuda
    #[arg(long, value_enum, default_value_t = Device::Cpu)]
    pub device: Device,
}

/// `farfield validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// The validation, or `all` [default: list them]
    #[arg(value_parser = PossibleValuesParser::new(crate::validate::NAMES))]
    pub name: Option<String>,
    /// Folder to write NAME.csv and NAME.png to
    #[arg(short, long, value_name = "DIR", default_value = "validation")]
    pub output: PathBuf,
    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
}

/// How a run is watched.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Stop after K steps with a checkpoint, as Ctrl-C does
    #[arg(long, value_name = "K")]
    pub steps: Option<u64>,
    /// No progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
    /// Print one JSON object at the end instead of the summary
    #[arg(long)]
    pub json: bool,
}

/// `farfield poisson`.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct PoissonArgs {
    /// two-rings (van Rees et al.), gaussian-ring, or a file (.npz, .npy, .csv) with an array `vorticity`, `omega` or
    /// `values`: one or three numbers for each of n x n x n points of the unit cube, x fastest, n = 16, 32, 64, ...
    #[arg(value_name = "CASE")]
    pub case: String,
    /// Component of the vorticity to solve for [default: all three at once]
    #[arg(long, value_enum, value_name = "AXIS")]
    pub component: Option<AxisName>,

    /// Points along a side of the cube at the finest level: 16, 32, 64, ...
    #[arg(long, default_value = "128", value_parser = count, value_name = "N", help_heading = "Grid")]
    pub resolution: usize,
    /// What relates the levels: values at nodes or averages over cells
    #[arg(long, value_enum, default_value_t = WaveletName::AverageInterpolating5, help_heading = "Grid")]
    pub wavelet: WaveletName,
    /// Blocks with a larger wavelet detail are refined
    #[arg(long, default_value_t = 1e-2, value_name = "D", help_heading = "Grid")]
    pub refine: f64,
    /// Blocks whose wavelet details are all smaller are joined
    #[arg(long, default_value_t = 1e-4, value_name = "D", help_heading = "Grid")]
    pub compress: f64,
    /// Most memory the grid may take, in MiB [default: what the machine has]
    #[arg(long, value_name = "MIB", value_parser = count, help_heading = "Grid")]
    pub memory_cap: Option<usize>,

    /// What a source does to a point
    #[arg(long, value_enum, default_value_t = KernelChoice::Singular, help_heading = "Sum")]
    pub kernel: KernelChoice,
    /// Relative error allowed in the sum, on top of the grid's [default: 1e-6]
    #[arg(long, value_name = "E", conflicts_with_all = ["order", "theta"], help_heading = "Sum")]
    pub tolerance: Option<f64>,
    /// For experts: degree of the treecode's expansions, 4, 6, 8, 10 or 12 [default: 6]
    #[arg(long, value_name = "P", value_parser = count, help_heading = "Sum")]
    pub order: Option<usize>,
    /// For experts: the treecode's opening criterion a/r < T; 0 sums all pairs [default: 0.5]
    #[arg(long, value_name = "T", help_heading = "Sum")]
    pub theta: Option<f64>,
    /// How to sum
    #[arg(long, value_enum, default_value_t = PoissonMethod::Auto, help_heading = "Sum")]
    pub method: PoissonMethod,
    /// Points where the vorticity is larger are sources
    #[arg(long, default_value_t = 1e-12, value_name = "W", help_heading = "Sum")]
    pub threshold: f64,
    /// For experts: how many sources a box may hold before it is cut
    #[arg(long, value_name = "COUNT", value_parser = count, help_heading = "Sum")]
    pub leaf_capacity: Option<usize>,

    /// Precision of the fields
    #[arg(long, value_enum, default_value_t = PrecisionName::F64, help_heading = "Execution")]
    pub precision: PrecisionName,
    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads, help_heading = "Execution")]
    pub threads: Option<usize>,
    /// Instruction set to use [default: the machine's best]
    #[arg(long, value_name = "LEVEL", value_parser = simd_levels(), help_heading = "Execution")]
    pub simd: Option<SimdLevel>,

    /// Folder to write blocks.vtu, fields.vti, fields.pvd and pictures to
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Print one JSON object instead of the summary
    #[arg(long)]
    pub json: bool,
}

/// `farfield bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Measure this machine's operator costs and store them as the profile that plans are made from
    #[arg(long, conflicts_with = "json")]
    pub calibrate: bool,
    /// What to measure alone: `leapfrog`, steps of the simulation of that name [default: everything else]
    #[arg(value_parser = PossibleValuesParser::new(["leapfrog"]), conflicts_with = "calibrate")]
    pub case: Option<String>,
    /// Small sizes, for a first look
    #[arg(long)]
    pub quick: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
    /// Machine profile: to plan with, or with --calibrate to write [default: as for evaluate]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// What to measure: cpu or cuda
    #[arg(long, value_enum, default_value_t = Device::Cpu, conflicts_with_all = ["calibrate", "case"])]
    pub device: Device,
}

/// `farfield info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Machine profile to look at
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `farfield reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// The table or figure; see --list
    #[arg(value_parser = PossibleValuesParser::new(crate::reproduce::NAMES), hide_possible_values = true,
        required_unless_present = "list")]
    pub name: Option<String>,
    /// List the tables and figures there are
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
    /// Folder to write NAME.csv and NAME.png to [default: reproduce/NAME]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Much smaller sizes: to see it work, not to compare
    #[arg(long)]
    pub quick: bool,
    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "K", value_parser = threads)]
    pub threads: Option<usize>,
    /// Machine profile [default: as for evaluate]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
}

/// `farfield selftest`.
#[derive(Debug, Args)]
pub struct SelftestArgs {
    /// The device to test
    #[arg(long, value_enum, default_value_t = TestedDevice::Cuda)]
    pub device: TestedDevice,
    /// One precision alone [default: both]
    #[arg(long, value_enum)]
    pub precision: Option<PrecisionName>,
    /// Small sums only, for a memory checker
    #[arg(long)]
    pub quick: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Devices that test themselves; the CPU engine's tests are `cargo test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TestedDevice {
    /// A graphics processor of NVIDIA
    Cuda,
}

/// The kernels by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KernelName {
    /// Charges: the potential sum of q/r
    Coulomb,
    /// Masses: the potential -G sum of m/r and the acceleration
    Gravity,
    /// Vortex elements: the velocity they induce
    BiotSavart,
    /// In the plane: the complex potential sum of gamma_j/(z_j - z_i)
    #[value(name = "harmonic2d")]
    Harmonic2d,
    /// In the plane: the potential sum of gamma_j log|z_i - z_j|
    #[value(name = "log2d")]
    Log2d,
}

impl KernelName {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            KernelName::Coulomb => "coulomb",
            KernelName::Gravity => "gravity",
            KernelName::BiotSavart => "biot-savart",
            KernelName::Harmonic2d => plane::Kernel::Harmonic.name(),
            KernelName::Log2d => plane::Kernel::Log.name(),
        }
    }
}

/// The precisions by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PrecisionName {
    /// Single
    F32,
    /// Double
    F64,
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
    /// The same, smoothed over the finest spacing of the grid
    RegularisedFinest,
}

/// How to solve the Poisson problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PoissonMethod {
    /// The FMM for a tolerance and the singular kernel, else the treecode
    Auto,
    /// Direct and indirect plans for bricks of points
    Treecode,
    /// The fast multipole method
    Fmm,
}

/// Where to sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Device {
    /// The processor's cores
    Cpu,
    /// A graphics processor of NVIDIA (sums in space)
    Cuda,
    /// Both at once (not yet)
    Hybrid,
    /// A graphics processor where there is one and it is faster, transfers included; else the processor's cores
    Auto,
}

/// A parser of names that each stand for a value.
macro_rules! named {
    ($name:ident, $type:ident, $all:expr) => {
        fn $name() -> impl TypedValueParser<Value = $type> {
            let names = PossibleValuesParser::new($all.map($type::name));
            names.try_map(|name| {
                $all.into_iter()
                    .find(|value| value.name() == name)
                    .ok_or("unknown name")
            })
        }
    };
}

/// A parser of names in space and in the plane; which of them fit is known when the kernel is.
fn names_of<A: Named, B: Named>(space: &[A], plane: &[B]) -> PossibleValuesParser {
    let mut names: Vec<&str> = space.iter().map(|value| value.name()).collect();
    for name in plane.iter().map(|value| value.name()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    PossibleValuesParser::new(names)
}

fn outputs() -> PossibleValuesParser {
    names_of(&kernel::Output::ALL, &plane::Output::ALL)
}

fn cores() -> PossibleValuesParser {
    names_of(&kernel::Core::ALL, &plane::Core::ALL)
}

fn point_sets() -> PossibleValuesParser {
    names_of(&PointSet::ALL, &plane::PlaneSet::ALL)
}

named!(distributions, ChargeDistribution, ChargeDistribution::ALL);
named!(methods, Method, Method::ALL);
named!(
    simd_levels,
    SimdLevel,
    [SimdLevel::Scalar, SimdLevel::Neon, SimdLevel::Avx2, SimdLevel::Avx512]
);

/// A whole number: `1000000`, `1_000_000` or `1e6`.
fn count(text: &str) -> Result<usize, String> {
    let plain = text.replace('_', "");
    if let Ok(number) = plain.parse() {
        return Ok(number);
    }
    match plain.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.fract() == 0.0 && value < usize::MAX as f64 => Ok(value as usize),
        Ok(value) if value >= usize::MAX as f64 => Err("too large to be counted".to_owned()),
        _ => Err("not a whole number".to_owned()),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match count(text)? {
        0 => Err("at least 1 is needed".to_owned()),
        number => Ok(number),
    }
}

/// Enough for the largest machines; far more would only fight each other.
fn threads(text: &str) -> Result<usize, String> {
    match count(text)? {
        number @ 1..=1024 => Ok(number),
        _ => Err("from 1 to 1024 threads".to_owned()),
    }
}

/// A length: finite and not negative.
fn size(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        Ok(_) => Err("a size is finite and not negative".to_owned()),
        Err(_) => Err("not a number".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn counts_are_whole_numbers() {
        assert_eq!(count("1_000"), Ok(1000));
        assert_eq!(count("2.5e3"), Ok(2500));
        assert_eq!(count("1e18"), Ok(1_000_000_000_000_000_000));
        for bad in ["", "-1", "1.5", "nan", "inf", "1e30", "ten"] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }
}
